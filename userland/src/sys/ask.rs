//! The calls that only Askr has.

use super::raw::syscall;
use askr_abi::{AskArgs, AskBytes, AskPair, CHOICES_MAX, CONTEXT_MAX, Errno, number};

/// What something is, and what it says.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// `agent_ask`: puts `question` to the agent, waits up to `timeout_ms` milliseconds, and leaves the answer in
/// `answer`. The returned block says who decided and how long the answer is; see [`AskArgs`] for the errors.
///
/// # Errors
/// Those of the call; E2BIG also for more than [`CHOICES_MAX`] choices or [`CONTEXT_MAX`] pairs.
pub fn agent_ask(
    intent: u32,
    question: &[u8],
    timeout_ms: u32,
    default: Option<&[u8]>,
    choices: &[&[u8]],
    context: &[Pair<'_>],
    answer: &mut [u8],
) -> Result<AskArgs, Errno> {
    let (mut places, mut pairs) = ([AskBytes::default(); CHOICES_MAX], [AskPair::default(); CONTEXT_MAX]);
    if choices.len() > places.len() || context.len() > pairs.len() {
        return Err(Errno::E2BIG);
    }
    for (place, choice) in places.iter_mut().zip(choices) {
        *place = bytes(choice);
    }
    for (pair, (key, value)) in pairs.iter_mut().zip(context) {
        *pair = AskPair { key: bytes(key), value: bytes(value) };
    }
    let mut block = AskArgs {
        intent,
        timeout_ms,
        question: question.as_ptr() as u64,
        question_len: question.len() as u64,
        answer: answer.as_mut_ptr() as u64,
        answer_cap: answer.len() as u64,
        default: default.map_or(0, |text| text.as_ptr() as u64),
        default_len: default.map_or(0, |text| text.len() as u64),
        choices: places.as_ptr() as u64,
        choices_count: choices.len() as u64,
        context: pairs.as_ptr() as u64,
        context_count: context.len() as u64,
        ..AskArgs::default()
    };
    // SAFETY: the block, the byte ranges and the arrays it names are live, and we hold `block` and `answer` exclusively.
    unsafe { syscall(number::AGENT_ASK, [&raw mut block as u64, size_of::<AskArgs>() as u64]) }?;
    Ok(block)
}

fn bytes(text: &[u8]) -> AskBytes {
    AskBytes { address: text.as_ptr() as u64, length: text.len() as u64 }
}

/// `agent_answer`: answers the ask with this number for the person at the console.
///
/// # Errors
/// EPERM, ENOENT, ESTALE, EINVAL, E2BIG.
pub fn agent_answer(ask: u32, answer: &[u8]) -> Result<(), Errno> {
    let arguments = [ask.into(), answer.as_ptr() as u64, answer.len() as u64];
    // SAFETY: the kernel reads the answer, which is live.
    unsafe { syscall(number::AGENT_ANSWER, arguments) }.map(drop)
}
