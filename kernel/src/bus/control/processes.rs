//! Processes.

use super::too_big;
use crate::bus::jobs;
use crate::process::{self, Facts, Target};
use askr_abi::Errno;
use askr_agentbus::policy::Origin;
use askr_wire::message::{
    KillReply, KillRequest, KillTarget, ProcessEntry, ProcessFacts, ProcessOrigin, ProcessState, Ps2Request,
    TaskState,
};
use askr_wire::{ListWriter, Message};

pub(super) fn ps(start: u32, body: &mut [u8]) -> Result<usize, Errno> {
    let mut writer = ListWriter::new(body).map_err(too_big)?;
    for facts in process::facts_from(0).skip(start as usize) {
        let Facts { pid, state, name, .. } = facts;
        let state = match state {
            b'Z' => ProcessState::Zombie,
            b'S' | b'T' => ProcessState::Blocked,
            _ => ProcessState::Ready,
        };
        let entry = ProcessEntry { pid, tid: pid, state, is_user: true, name: &name };
        if writer.push(&entry).is_err() {
            break;
        }
    }
    Ok(writer.finish())
}

/// Processes above `after`, with all that is known of them.
pub(super) fn ps2(Ps2Request { after }: Ps2Request, body: &mut [u8]) -> Result<usize, Errno> {
    let mut writer = ListWriter::new(body).map_err(too_big)?;
    let Some(first) = after.checked_add(1) else { return Ok(writer.finish()) };
    for facts in process::facts_from(first) {
        if writer.push(&process_facts(&facts)).is_err() {
            break;
        }
    }
    Ok(writer.finish())
}

fn process_facts(facts: &Facts) -> ProcessFacts<'_> {
    let state = match facts.state {
        b'Z' => TaskState::Zombie,
        b'T' => TaskState::Stopped,
        b'S' => TaskState::Blocked,
        _ => TaskState::Ready,
    };
    let origin = match facts.origin {
        Origin::Kernel => ProcessOrigin::Kernel,
        Origin::Console => ProcessOrigin::Console,
        Origin::Agent { .. } => ProcessOrigin::Agent,
    };
    ProcessFacts {
        pid: facts.pid,
        parent: facts.parent,
        group: facts.group,
        job: facts.agent_job,
        state,
        origin,
        code: facts.ended.map_or(0, process::ExitStatus::shell_code),
        cpu_ns: facts.time,
        memory: facts.resident,
        age_ns: facts.age,
        name: &facts.name,
    }
}

/// Sends a signal for the agent.
pub(super) fn kill(origin: Origin, request: KillRequest, body: &mut [u8]) -> Result<usize, Errno> {
    let KillRequest { target, id, signal } = request;
    let target = match target {
        KillTarget::Process => Target::Process(id),
        KillTarget::Tree => Target::Tree(id),
        KillTarget::Job => Target::Job(id),
    };
    let signal = signal.into();
    let processes = process::kill_target(origin, target, signal, |process| jobs::note_kill(process, signal))?;
    KillReply { processes }.encode(body).map_err(too_big)
}
