//! The agent's configuration as `ai` uses it, shows it and edits it.

use crate::EXIT_USAGE;
use alloc::vec::Vec;
use askr_abi::{AGENT_CONF, AGENT_CONF_MAX, ConfKey, conf_lines, conf_timeout_ms, conf_value};
use askr_userland::assist::config::{with_setting, without_setting};
use askr_userland::bytes::Bytes;
use askr_userland::fs::{self, File};
use askr_userland::{Errno, eprintln, io, names, println, sys};

/// Permission bits of its folder.
const FOLDER_MODE: u32 = 0o755;

/// When the person is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confirm {
    /// Before anything that may change state.
    Changes,
    /// Before anything that runs.
    Always,
    /// Never, but for settings.
    Never,
}

/// What `ai` itself obeys.
pub(crate) struct Settings {
    pub(crate) confirm: Confirm,
    pub(crate) timeout_ms: u32,
}

impl Settings {
    /// From the file; what it does not say is the default.
    pub(crate) fn load() -> Self {
        // A file that cannot be read asks for nothing less careful than the default.
        let text = read().unwrap_or_default();
        let confirm = match conf_value(&text, ConfKey::Confirm) {
            Some("always") => Confirm::Always,
            Some("never") => Confirm::Never,
            _ => Confirm::Changes,
        };
        Self { confirm, timeout_ms: conf_timeout_ms(&text) }
    }
}

/// The whole file; nothing if there is none.
fn read() -> Result<Vec<u8>, Errno> {
    match io::read_file(AGENT_CONF.as_bytes(), AGENT_CONF_MAX) {
        Err(Errno::ENOENT | Errno::ENOTDIR) => Ok(Vec::new()),
        other => other,
    }
}

/// `ai config [KEY [VALUE]]` or `ai config unset KEY`; the exit code.
pub(crate) fn command(words: &[&[u8]]) -> i32 {
    match words {
        [] => show_all(),
        [b"unset", key] => with_key(key, unset),
        [key] => with_key(key, |key| show(key.name())),
        [key, value @ ..] => with_key(key, |key| match str::from_utf8(&value.join(&b' ')) {
            Ok(value) => set(key.name(), value),
            Err(_) => refuse(key),
        }),
    }
}

fn with_key(name: &[u8], then: impl FnOnce(ConfKey) -> i32) -> i32 {
    let key = str::from_utf8(name).ok().and_then(ConfKey::from_name);
    key.map_or_else(|| unknown(name), then)
}

fn unknown(name: &[u8]) -> i32 {
    let keys: Vec<&str> = ConfKey::ALL.iter().map(|key| key.name()).collect();
    eprintln!("ai: config: there is no key '{}'; there are {}", Bytes(name), keys.join(", "));
    EXIT_USAGE
}

fn refuse(key: ConfKey) -> i32 {
    eprintln!("ai: config: {} must be {}; nothing was changed", key.name(), key.wants());
    EXIT_USAGE
}

fn complain(errno: Errno) -> i32 {
    let hint = if errno == Errno::EFBIG { "it is too large" } else { errno.message() };
    eprintln!("ai: {AGENT_CONF}: {hint}; nothing was changed");
    1
}

fn show_all() -> i32 {
    let text = match read() {
        Ok(text) => text,
        Err(errno) => return complain(errno),
    };
    println!("# {AGENT_CONF}");
    for key in ConfKey::ALL {
        match conf_value(&text, key) {
            Some(value) => println!("{}={value}", key.name()),
            None => println!("# {} is not set ({})", key.name(), key.wants()),
        }
    }
    let mut status = 0;
    for (number, line) in conf_lines(&text) {
        if let Err(why) = line {
            eprintln!("ai: {AGENT_CONF}: line {number} is ignored: {why}");
            status = 1;
        }
    }
    status
}

/// Shows the value of a key; the exit code.
pub(crate) fn show(name: &str) -> i32 {
    let Some(key) = ConfKey::from_name(name) else { return unknown(name.as_bytes()) };
    match read() {
        Ok(text) => match conf_value(&text, key) {
            Some(value) => println!("{name}={value}"),
            None => println!("{name} is not set"),
        },
        Err(errno) => return complain(errno),
    }
    0
}

/// Gives a key a value, for good; the exit code.
pub(crate) fn set(name: &str, value: &str) -> i32 {
    let Some(key) = ConfKey::from_name(name) else { return unknown(name.as_bytes()) };
    if !key.takes(value) {
        return refuse(key);
    }
    match read().and_then(|text| replace(&with_setting(&text, key, value))) {
        Ok(()) => {
            println!("{name}={value}");
            0
        }
        Err(errno) => complain(errno),
    }
}

/// Takes a key out; the exit code.
fn unset(key: ConfKey) -> i32 {
    match read().and_then(|text| replace(&without_setting(&text, key))) {
        Ok(()) => show(key.name()),
        Err(errno) => complain(errno),
    }
}

/// Replaces the file as one step that a power cut cannot halve.
fn replace(text: &[u8]) -> Result<(), Errno> {
    if text.len() > AGENT_CONF_MAX {
        return Err(Errno::EFBIG);
    }
    let path = AGENT_CONF.as_bytes();
    match fs::create_dir(names::parent(path), FOLDER_MODE) {
        Ok(()) | Err(Errno::EEXIST) => {}
        Err(errno) => return Err(errno),
    }
    let new = [path, b".new"].concat();
    let file = File::create(&new)?;
    file.write_all(text)?;
    file.sync()?;
    drop(file);
    fs::rename(&new, path)?;
    sys::sync();
    Ok(())
}
