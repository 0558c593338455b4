//! Names that Tab may mean.

use crate::{Shell, builtin};
use alloc::string::String;
use alloc::vec::Vec;
use askr_abi::types::{S_IFDIR, S_IFMT};
use askr_userland::shell::complete::{Candidate, Completion, Target, complete, target};
use askr_userland::{io, sys};

/// Most names that are looked at to see whether they are folders.
const LOOKED_AT_MAX: usize = 1024;

impl Shell {
    /// What a Tab means behind `before`.
    pub(crate) fn complete(&self, before: &[u8]) -> Completion {
        let Some(target) = target(before) else { return Completion::default() };
        let candidates = if target.command { self.commands() } else { self.files(&target) };
        complete(&target, candidates)
    }

    /// Builtins, functions and programs.
    fn commands(&self) -> Vec<Candidate> {
        let own = builtin::names().map(<[u8]>::to_vec).chain(self.functions.keys().cloned());
        let path = self.variables.get(b"PATH").unwrap_or_default();
        let folders = path.split(|&byte| byte == b':').filter(|folder| !folder.is_empty());
        let programs = folders.flat_map(|folder| io::list_directory(folder).unwrap_or_default());
        let all = own.chain(programs.filter(|name| !name.starts_with(b".")));
        all.map(|name| Candidate { name, folder: false }).collect()
    }

    /// Names in the folder of the word that begin as it does.
    fn files(&self, target: &Target) -> Vec<Candidate> {
        let folder = match (target.folder.strip_prefix(b"~/"), self.variables.get(b"HOME")) {
            (Some(rest), Some(home)) => [home, b"/", rest].concat(),
            _ if target.folder.is_empty() => b"./".to_vec(),
            _ => target.folder.clone(),
        };
        let mut names = io::list_directory(&folder).unwrap_or_default();
        names.retain(|name| {
            let hidden = name.starts_with(b".") && !target.start.starts_with(b".");
            !hidden && !matches!(name.as_slice(), b"." | b"..") && name.starts_with(&target.start)
        });
        let looks = names.len() <= LOOKED_AT_MAX;
        let candidate = |name: Vec<u8>| {
            let folder = looks && is_folder(&[&folder, name.as_slice()].concat());
            Candidate { name, folder }
        };
        names.into_iter().map(candidate).collect()
    }
}

fn is_folder(path: &[u8]) -> bool {
    let stat = io::c_path(path).and_then(|path| sys::stat(&path));
    stat.is_ok_and(|stat| stat.mode & S_IFMT == S_IFDIR)
}

/// What is shown for names that cannot be told apart yet.
pub(crate) fn listed(completion: &Completion, columns: u16, again: bool) -> String {
    match again {
        true => askr_userland::shell::complete::listing(completion, usize::from(columns)),
        // The first Tab only rings the bell.
        false => String::new(),
    }
}
