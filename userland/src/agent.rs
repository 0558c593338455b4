//! Asking the agent.

use crate::sys;
use alloc_crate::vec;
use alloc_crate::vec::Vec;
use askr_abi::{Decider, Errno};
use core::time::Duration;

pub use askr_abi::{INTENT_GENERIC, INTENT_NATURAL_LANGUAGE, QUESTION_MAX};

/// Room for an answer, in bytes. A longer one is cut, and [`Answer::total`] tells.
const ANSWER_ROOM: usize = 4096;

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// [`INTENT_GENERIC`] or [`INTENT_NATURAL_LANGUAGE`].
    pub intent: u32,
    /// 1 to [`QUESTION_MAX`] bytes.
    pub text: &'a [u8],
    /// How long to wait, 1 millisecond to 49 days.
    pub timeout: Duration,
    /// The answer to use when nobody decides.
    pub default: Option<&'a [u8]>,
    /// The answers that are taken, at most 16 of 1 to 64 bytes; any answer if there are none.
    pub choices: &'a [&'a [u8]],
    /// What helps to answer: at most 16 pairs of what it is, 1 to 64 bytes, and what it says.
    pub context: &'a [(&'a [u8], &'a [u8])],
}

impl<'a> Question<'a> {
    /// A plain question that any answer is taken to, without a default.
    #[must_use]
    pub const fn new(text: &'a [u8], timeout: Duration) -> Self {
        Self { intent: INTENT_GENERIC, text, timeout, default: None, choices: &[], context: &[] }
    }
}

/// What was decided, and by whom.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The answer's bytes, at most 4096 of them.
    pub text: Vec<u8>,
    /// Length of the whole answer; greater than `text` is long when it was cut.
    pub total: u64,
    /// Who decided.
    pub decider: Decider,
    /// Why the default was used, if it was.
    pub reason: Option<Errno>,
}

/// Asks, and waits for the answer.
///
/// # Errors
/// EAGAIN: no agent is attached, or too many questions are waiting; ETIMEDOUT: nobody answered in time; EACCES:
/// the agent refused; EINTR: a signal came first; E2BIG: question, choices or context are too long; EINVAL: one of them is
/// empty, or there twice, or the timeout is out of range; EIO: the kernel's answer makes no sense.
pub fn ask(question: &Question<'_>) -> Result<Answer, Errno> {
    let timeout = u32::try_from(question.timeout.as_millis()).map_err(|_| Errno::EINVAL)?;
    let mut text = vec![0; ANSWER_ROOM];
    let Question { intent, text: words, default, choices, context, .. } = *question;
    let block = sys::agent_ask(intent, words, timeout, default, choices, context, &mut text)?;
    let length = usize::try_from(block.answer_len).map_err(|_| Errno::EIO)?;
    if length > text.len() {
        return Err(Errno::EIO);
    }
    text.truncate(length);
    let reason = i32::try_from(block.reason).ok().and_then(Errno::from_i32);
    // An answer that nobody gave must never look like one.
    match Decider::from_u32(block.decider) {
        None | Some(Decider::Nobody) => Err(Errno::EIO),
        Some(decider) => Ok(Answer { text, total: block.answer_total, decider, reason }),
    }
}

/// What an error of [`ask`] means, in words.
#[must_use]
pub fn explain(errno: Errno) -> &'static str {
    match errno {
        Errno::EAGAIN => "no agent is attached, or too many questions wait",
        Errno::ETIMEDOUT => "nobody answered in time",
        Errno::EACCES => "the agent refused",
        Errno::EINTR => "interrupted",
        Errno::E2BIG => "the question or what goes with it is too long",
        Errno::ENOSYS => "this kernel cannot ask an agent",
        other => other.message(),
    }
}
