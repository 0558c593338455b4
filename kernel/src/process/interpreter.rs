//! What runs a file that is neither a program nor a script: the agent may know.

use crate::arch::clock::{Nanos, SECOND};
use crate::bus::{Decided, Turn, ask_for_kernel};
use alloc::vec::Vec;
use askr_agentbus::AskExtra;
use askr_agentbus::policy::Origin;
use core::fmt::Write;
use core::sync::atomic::AtomicBool;

/// Bytes from the start of the file that the agent is shown.
const HEAD: usize = 64;
/// Longest path that the agent is asked about, and longest answer.
const ASKED_PATH_MAX: usize = 200;
/// How long the agent may think. A shell takes what cannot be executed for commands, and a person waits for that.
const PATIENCE: Nanos = SECOND;

static ASKING: AtomicBool = AtomicBool::new(false);

/// The start of a file, kept while the rest is given back.
pub(super) struct Head {
    bytes: [u8; HEAD],
    length: usize,
}

impl Head {
    pub(super) fn of(file: &[u8]) -> Self {
        let length = file.len().min(HEAD);
        let mut bytes = [0; HEAD];
        bytes[..length].copy_from_slice(&file[..length]);
        Self { bytes, length }
    }
}

/// The absolute path of the program that the agent wants to run the file at `path`, and who has named it: a person may have
/// answered. `None` if it names none, or is not
/// asked: with nobody attached, about a long path or an empty file, or while another file is asked about.
pub(super) fn named_by_agent(path: &[u8], head: &Head) -> Option<(Vec<u8>, Origin)> {
    let head = &head.bytes[..head.length];
    if path.len() > ASKED_PATH_MAX || head.is_empty() {
        return None;
    }
    let _turn = Turn::take(&ASKING)?;
    let mut extra = AskExtra::default();
    extra.context(b"path", path).ok()?;
    extra.context(b"head", head).ok()?;
    let mut question = heapless::String::<256>::new();
    // A path with many bytes to escape has no room there; the context has it as it is.
    if write!(question, "which program runs {}?", path.escape_ascii()).is_err() {
        question.clear();
        question.push_str("which program runs this file?").ok()?;
    }
    let mut answer = [0; ASKED_PATH_MAX];
    let Decided { length, by } = ask_for_kernel(question.as_bytes(), &extra, PATIENCE, &mut answer)?;
    let answer = &answer[..length];
    (answer.starts_with(b"/") && !answer.contains(&0)).then(|| (answer.to_vec(), by))
}
