//! `SYSCALL_AGENT_ASK`: a program asks the agent and waits.

use super::Call;
use crate::arch::clock;
use crate::bus::{self, Answer, Question};
use crate::mm;
use alloc::vec::Vec;
use askr_abi::{AskArgs, Decider, Errno, INTENT_GENERIC, INTENT_NATURAL_LANGUAGE, QUESTION_MAX};
use askr_core::areas::Access;

/// Longest answer that is brought to a program, and longest default, in bytes.
const ANSWER_MAX: usize = askr_wire::SESSION_PAYLOAD_MAX;
/// Largest argument block that is looked at: a later version's tail must be zero up to here.
const ARGS_MAX: usize = 4096;

/// `agent_ask(args, size)`: see [`AskArgs`] for what goes in, comes out and can fail.
pub(super) fn ask(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [address, size, ..] = call.args;
    let mut args = read_args(call, address, size)?;
    let question = read_question(call, &args)?;
    let default = read_default(call, &args)?;
    let answer_cap = usize::try_from(args.answer_cap).unwrap_or(usize::MAX).min(ANSWER_MAX);
    // Before the question goes out: an answer that cannot be delivered must not be asked for.
    call.process().with_space(|space| {
        mm::user::check(space, args.answer, answer_cap, Access::Write)?;
        mm::user::check(space, address, AskArgs::MIN_SIZE, Access::Write)
    })?;
    let deadline = call.deadline(clock::now() + u64::from(args.timeout_ms) * 1_000_000);
    let question = Question { code: args.intent as u16, text: &question, deadline };
    let (decider, reason, answer) = match (bus::ask(&question), default) {
        (Ok(Answer { decider, bytes }), _) => (decider, 0, bytes),
        (Err(errno @ (Errno::EAGAIN | Errno::ETIMEDOUT | Errno::EACCES)), Some(default)) => {
            (Decider::Default, errno as u32, default)
        }
        (Err(Errno::EINTR), _) => return Err(call.interrupted_before(deadline)),
        (Err(errno), _) => return Err(errno),
    };
    let written = answer.len().min(answer_cap);
    call.copy_out(args.answer, &answer[..written])?;
    args.decider = decider as u32;
    args.reason = reason;
    args.answer_len = written as u64;
    args.answer_total = answer.len() as u64;
    call.copy_out(address, &args.to_bytes())?;
    Ok(0)
}

fn read_args(call: &Call<'_>, address: u64, size: u64) -> Result<AskArgs, Errno> {
    let size = usize::try_from(size).map_err(|_| Errno::E2BIG)?;
    if size < AskArgs::MIN_SIZE {
        return Err(Errno::EINVAL);
    }
    if size > ARGS_MAX {
        return Err(Errno::E2BIG);
    }
    let mut block = mm::zeroed(size)?;
    call.copy_in(address, &mut block)?;
    let (known, unknown) = block.split_first_chunk().expect("at least MIN_SIZE");
    if unknown.iter().any(|&byte| byte != 0) {
        return Err(Errno::E2BIG);
    }
    let args = AskArgs::from_bytes(known);
    if ![INTENT_GENERIC, INTENT_NATURAL_LANGUAGE].contains(&args.intent) || args.timeout_ms == 0 {
        return Err(Errno::EINVAL);
    }
    Ok(args)
}

fn read_question(call: &Call<'_>, args: &AskArgs) -> Result<Vec<u8>, Errno> {
    match usize::try_from(args.question_len) {
        Ok(0) => Err(Errno::EINVAL),
        Ok(length @ 1..=QUESTION_MAX) => read_bytes(call, args.question, length),
        _ => Err(Errno::E2BIG),
    }
}

fn read_default(call: &Call<'_>, args: &AskArgs) -> Result<Option<Vec<u8>>, Errno> {
    if args.default == 0 {
        return Ok(None);
    }
    match usize::try_from(args.default_len) {
        Ok(length @ 0..=ANSWER_MAX) => read_bytes(call, args.default, length).map(Some),
        _ => Err(Errno::E2BIG),
    }
}

fn read_bytes(call: &Call<'_>, address: u64, length: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = mm::zeroed(length)?;
    call.copy_in(address, &mut bytes)?;
    Ok(bytes)
}
