//! The call that only Askr has.

use super::raw::syscall;
use askr_abi::{AskArgs, Errno, number};

/// `agent_ask`: puts `question` to the agent, waits up to `timeout_ms` milliseconds, and leaves the answer in
/// `answer`. The returned block says who decided and how long the answer is; see [`AskArgs`] for the errors.
pub fn agent_ask(
    intent: u32,
    question: &[u8],
    timeout_ms: u32,
    default: Option<&[u8]>,
    answer: &mut [u8],
) -> Result<AskArgs, Errno> {
    let mut block = AskArgs {
        intent,
        timeout_ms,
        question: question.as_ptr() as u64,
        question_len: question.len() as u64,
        answer: answer.as_mut_ptr() as u64,
        answer_cap: answer.len() as u64,
        default: default.map_or(0, |text| text.as_ptr() as u64),
        default_len: default.map_or(0, |text| text.len() as u64),
        ..AskArgs::default()
    };
    // SAFETY: the block and the three byte ranges it names are live, and we hold `block` and `answer` exclusively.
    unsafe { syscall(number::AGENT_ASK, [&raw mut block as u64, size_of::<AskArgs>() as u64]) }?;
    Ok(block)
}
