//! `agent_ask`: a program asks the agent and waits. `agent_answer`: the person at the console answers instead.

use super::Call;
use crate::arch::clock;
use crate::bus::{self, Answer, Question};
use crate::process::terminal;
use crate::{mm, policy};
use alloc::vec::Vec;
use askr_abi::{
    ASK_EXTRA_MAX, AskArgs, AskBytes, AskPair, CHOICE_MAX, CHOICES_MAX, CONTEXT_KEY_MAX, CONTEXT_MAX,
    Decider, Errno, INTENT_GENERIC, INTENT_NATURAL_LANGUAGE, QUESTION_MAX,
};
use askr_agentbus::policy::Action;
use askr_agentbus::{AskExtra, ExtraError};
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
    let extra = read_extra(call, &args, default.as_deref())?;
    let answer_cap = usize::try_from(args.answer_cap).unwrap_or(usize::MAX).min(ANSWER_MAX);
    // Before the question goes out: an answer that cannot be delivered must not be asked for.
    call.process().with_space(|space| {
        mm::user::check(space, args.answer, answer_cap, Access::Write)?;
        mm::user::check(space, address, AskArgs::MIN_SIZE, Access::Write)
    })?;
    let deadline = call.deadline(clock::now() + u64::from(args.timeout_ms) * 1_000_000);
    let question = Question { code: args.intent as u16, text: &question, extra: &extra, deadline };
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
    // All that comes out is in the first version of the block.
    call.copy_out(address, &args.to_bytes()[..AskArgs::MIN_SIZE])?;
    Ok(0)
}

/// `agent_answer(number, answer, length)`: answers an ask for the person at the console, if it is one.
pub(super) fn answer(call: &mut Call<'_>) -> Result<u64, Errno> {
    let process = call.process();
    let in_foreground = terminal::is_foreground(process);
    policy::check(process.origin(), Action::AnswerAsk { in_foreground })?;
    let [number, address, length, ..] = call.args;
    let length = usize::try_from(length).ok().filter(|&length| length <= ANSWER_MAX).ok_or(Errno::E2BIG)?;
    let answer = read_bytes(call, address, length)?;
    bus::answer_by_hand(number as u32, &answer).map(|()| 0)
}

fn read_args(call: &Call<'_>, address: u64, size: u64) -> Result<AskArgs, Errno> {
    let size = usize::try_from(size).map_err(|_| Errno::E2BIG)?;
    if size < AskArgs::MIN_SIZE {
        return Err(Errno::EINVAL);
    }
    if size > ARGS_MAX {
        return Err(Errno::E2BIG);
    }
    let mut block = mm::zeroed(size.max(AskArgs::SIZE))?;
    call.copy_in(address, &mut block[..size])?;
    // What an older program does not know of is zero.
    let (known, unknown) = block.split_first_chunk().expect("at least SIZE");
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

/// Choices, context and default as they go to the agent.
fn read_extra(call: &Call<'_>, args: &AskArgs, default: Option<&[u8]>) -> Result<AskExtra, Errno> {
    let mut extra = AskExtra::default();
    let mut bytes = [0; ASK_EXTRA_MAX];
    for at in places(args.choices, args.choices_count, CHOICES_MAX, AskBytes::SIZE)? {
        let choice = read_into(call, array_item(call, at)?, &mut bytes[..CHOICE_MAX])?;
        extra.choice(choice).map_err(extra_errno)?;
    }
    for at in places(args.context, args.context_count, CONTEXT_MAX, AskPair::SIZE)? {
        let mut pair = [0; AskPair::SIZE];
        call.copy_in(at, &mut pair)?;
        let AskPair { key, value } = AskPair::from_bytes(&pair);
        let mut key_bytes = [0; CONTEXT_KEY_MAX];
        let key = read_into(call, key, &mut key_bytes)?;
        extra.context(key, read_into(call, value, &mut bytes)?).map_err(extra_errno)?;
    }
    if let Some(default) = default {
        extra.default_answer(default);
    }
    Ok(extra)
}

/// The addresses of the items of an array.
fn places(address: u64, count: u64, most: usize, size: usize) -> Result<impl Iterator<Item = u64>, Errno> {
    if count > most as u64 {
        return Err(Errno::E2BIG);
    }
    Ok((0..count).map(move |index| address.wrapping_add(index * size as u64)))
}

fn array_item(call: &Call<'_>, at: u64) -> Result<AskBytes, Errno> {
    let mut item = [0; AskBytes::SIZE];
    call.copy_in(at, &mut item)?;
    Ok(AskBytes::from_bytes(&item))
}

fn read_into<'b>(call: &Call<'_>, from: AskBytes, into: &'b mut [u8]) -> Result<&'b [u8], Errno> {
    let length = usize::try_from(from.length).map_err(|_| Errno::E2BIG)?;
    let into = into.get_mut(..length).ok_or(Errno::E2BIG)?;
    call.copy_in(from.address, into)?;
    Ok(into)
}

const fn extra_errno(error: ExtraError) -> Errno {
    match error {
        ExtraError::Invalid => Errno::EINVAL,
        ExtraError::TooLong => Errno::E2BIG,
    }
}

fn read_bytes(call: &Call<'_>, address: u64, length: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = mm::zeroed(length)?;
    call.copy_in(address, &mut bytes)?;
    Ok(bytes)
}
