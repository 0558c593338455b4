//! Any text for `sh`. What is a script means the same when it is printed and parsed again; words become what they
//! become without a limit being passed, whatever the variables hold.
#![no_main]

use askr_userland::shell::expand::{EXPANSION_MAX, Failure, Host, fields};
use askr_userland::shell::print::script;
use askr_userland::shell::tree::{Command, List};
use askr_userland::shell::{Parser, ai_text};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

fuzz_target!(|text: &[u8]| {
    if let Some(words) = ai_text(text) {
        assert!(text.windows(words.len().max(1)).any(|part| part == words) || words.is_empty());
        assert_eq!(words.trim_ascii(), words);
    }
    let list = match parse(text) {
        Ok(list) => list,
        Err(error) => return assert!(!error.is_empty()),
    };
    let printed = script(&list);
    assert_eq!(parse(&printed).as_ref(), Ok(&list), "{:?}", String::from_utf8_lossy(&printed));
    let mut host = Fake::default();
    for item in &list.0 {
        for command in &item.chain.first.commands {
            let Command::Simple(simple) = command else { continue };
            if let Ok(fields) = fields(&simple.words, &mut host) {
                assert!(fields.iter().map(Vec::len).sum::<usize>() <= EXPANSION_MAX);
            }
        }
    }
});

/// All commands of a text, or what is wrong with it.
fn parse(text: &[u8]) -> Result<List, String> {
    let mut parser = Parser::new(text);
    let mut all = List::default();
    while let Some(List(items)) = parser.next_command().map_err(|error| error.to_string())? {
        all.0.extend(items);
    }
    Ok(all)
}

/// A shell with a few variables, files and positional parameters.
#[derive(Default)]
struct Fake {
    variables: BTreeMap<Vec<u8>, Vec<u8>>,
    positional: Vec<Vec<u8>>,
}

impl Host for Fake {
    fn parameter(&self, name: &[u8]) -> Option<Vec<u8>> {
        match name {
            [b'a'] => Some(b" 1:2 *".to_vec()),
            [b'b'] => Some(Vec::new()),
            _ => self.variables.get(name).cloned(),
        }
    }

    fn positional(&self) -> &[Vec<u8>] {
        &self.positional
    }

    fn assign(&mut self, name: &[u8], value: Vec<u8>) -> Result<(), Failure> {
        if value.len() < 4096 {
            self.variables.insert(name.to_vec(), value);
        }
        Ok(())
    }

    fn substitute(&mut self, list: &List) -> Result<Vec<u8>, Failure> {
        let output = script(list);
        self.positional = vec![output.clone(), Vec::new()];
        Ok(output)
    }

    fn names(&mut self, directory: &[u8]) -> Vec<Vec<u8>> {
        let names: &[&[u8]] = if directory == b"." { &[b"a", b"b.c", b".d", b"\xff"] } else { &[b"x"] };
        names.iter().map(|name| name.to_vec()).collect()
    }

    fn exists(&mut self, path: &[u8]) -> bool {
        path.len().is_multiple_of(2)
    }

    fn requires_values(&self) -> bool {
        false
    }

    fn ignores_patterns(&self) -> bool {
        false
    }
}
