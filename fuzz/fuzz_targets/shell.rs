//! Any line typed at `sh`. What it means can be written again with every word quoted, and then means the same.
#![no_main]

use askr_userland::shell::{Chain, Link, Part, Token, ai_text, parse, tokenize};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    if let Some(text) = ai_text(line) {
        assert!(line.windows(text.len().max(1)).any(|part| part == text) || text.is_empty());
        assert_eq!(text.trim_ascii(), text);
    }
    let tokens = match tokenize(line) {
        Ok(tokens) => tokens,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut again = Vec::new();
    tokens.iter().for_each(|token| write(&mut again, token));
    assert_eq!(tokenize(&again).as_deref().map(meanings), Ok(meanings(&tokens)), "{again:?}");
    if let Ok(chains) = parse(tokens.clone()) {
        chains.iter().for_each(check);
        let words = chains.iter().flat_map(|chain| &chain.commands).map(|(_, command)| command.0.len());
        let written = tokens.iter().filter(|token| matches!(token, Token::Word(_))).count();
        assert_eq!(words.sum::<usize>(), written, "words were lost");
    }
});

/// Each command of a chain has a word, and only the first runs whatever came before.
fn check(chain: &Chain) {
    assert!(!chain.commands.is_empty());
    for (index, (link, command)) in chain.commands.iter().enumerate() {
        assert!(!command.0.is_empty());
        assert_eq!(*link == Link::First, index == 0);
    }
}

/// The tokens, words as they come out for one set of variables.
fn meanings(tokens: &[Token]) -> Vec<Result<Option<Vec<u8>>, &Token>> {
    let lookup = |name: &[u8]| (name.len() != 1).then_some(&b"a 'value'"[..]);
    tokens
        .iter()
        .map(|token| match token {
            Token::Word(word) => Ok(word.expand(-1, lookup)),
            operator => Err(operator),
        })
        .collect()
}

/// Writes a token another way: literal parts between quotes of both kinds, blanks around it.
fn write(line: &mut Vec<u8>, token: &Token) {
    let word = match token {
        Token::Word(word) => word,
        Token::Semicolon => return line.extend(b" ; "),
        Token::Newline => return line.extend(b" \n "),
        Token::Background => return line.extend(b" & "),
        Token::And => return line.extend(b" && "),
        Token::Or => return line.extend(b" || "),
    };
    line.push(b' ');
    if word.quoted {
        line.extend(b"''");
    }
    for part in &word.parts {
        match part {
            Part::Literal(bytes) => {
                for &byte in bytes {
                    match byte {
                        b'\'' => line.extend(b"\"'\""),
                        _ => line.extend([b'\'', byte, b'\'']),
                    }
                }
            }
            Part::Status => line.extend(b"$?"),
            Part::Variable(name) => line.extend([b"$", name.as_slice()].concat()),
        }
    }
}
