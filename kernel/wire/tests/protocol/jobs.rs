//! Jobs and processes.

use askr_wire::message::{
    Address, EndCause, FaultFacts, InputReply, InputRequest, JobState, KillReply, KillRequest, KillTarget,
    OutputReply, OutputRequest, OutputStream, ProcessFacts, ProcessOrigin, Ps2Request, REGISTER_NAMES,
    REGISTERS, SpawnReply, SpawnRequest, StdinPolicy, TaskState, WaitReply, WaitRequest, Word,
};
use askr_wire::status::Status;
use askr_wire::{List, code};

use crate::page::Examples;

pub(crate) fn spawn(page: &mut Examples) {
    let (argv, env) = (&mut [0; 64], &mut [0; 64]);
    let request = SpawnRequest {
        stdin: StdinPolicy::Given,
        timeout_ms: 5000,
        output_limit: 65536,
        path: b"/bin/grep",
        cwd: b"/tmp",
        argv: List::build([Word(b"grep"), Word(b"a")], argv).unwrap(),
        env: List::build([Word(b"LANG=C")], env).unwrap(),
        input: b"a\nb\n",
    };
    page.request("spawn-request", code::SPAWN, &request);
    page.response("spawn-response", code::SPAWN, &SpawnReply { job: 1, pid: 9 });
    let argv = &mut [0; 64];
    let request = SpawnRequest {
        stdin: StdinPolicy::Closed,
        timeout_ms: 0,
        output_limit: 0,
        path: b"/bin/crash",
        cwd: b"",
        argv: List::build([Word(b"crash")], argv).unwrap(),
        env: List::EMPTY,
        input: b"",
    };
    page.request("spawn-closed-request", code::SPAWN, &request);
    page.response("spawn-closed-response", code::SPAWN, &SpawnReply { job: 2, pid: 10 });
    page.error("spawn-not-there", code::SPAWN, Status::NoEnt);
}

/// The fault of the program `crash`, as the page has it.
pub(crate) fn fault<'a>(scratch: &'a mut [u8]) -> FaultFacts<'a> {
    let register = |name: &str| match name {
        "rbx" => 1,
        "rbp" => 0x7fff_ffff_efa0,
        "rsp" => 0x7fff_ffff_ef90,
        "rflags" => 0x1_0202,
        _ => 0,
    };
    let mut registers = [0; REGISTERS];
    registers.iter_mut().zip(REGISTER_NAMES).for_each(|(value, name)| *value = register(name));
    let backtrace = List::build([Address(0x40_1180), Address(0x40_1010)], scratch).unwrap();
    FaultFacts { signal: 11, vector: 14, error: 6, address: 0, rip: 0x40_1136, registers, backtrace }
}

pub(crate) fn wait(page: &mut Examples) {
    page.request("wait-request", code::WAIT, &WaitRequest { job: 1, wait_ms: 1000 });
    let exited = WaitReply {
        state: JobState::Exited,
        cause: EndCause::Itself,
        code: 0,
        pid: 9,
        processes: 0,
        cpu_ns: 2_000_000,
        stdout_total: 2,
        stderr_total: 0,
        fault: None,
    };
    page.response("wait-response", code::WAIT, &exited);
    page.request("wait-poll-request", code::WAIT, &WaitRequest { job: 3, wait_ms: 0 });
    let (pid, stdout_total, stderr_total) = (12, 100_000, 17);
    let running = WaitReply {
        state: JobState::Running,
        processes: 2,
        cpu_ns: 30_000_000,
        pid,
        stdout_total,
        stderr_total,
        ..exited
    };
    page.response("wait-poll-response", code::WAIT, &running);
    let (state, cpu_ns) = (JobState::Signalled, 5_000_000_000);
    let killed = WaitReply { state, cause: EndCause::Deadline, code: 9, processes: 0, cpu_ns, ..running };
    page.response("wait-killed", code::WAIT, &killed);
    let scratch = &mut [0; 64];
    let (fault, cpu_ns) = (Some(fault(scratch)), 1_000_000);
    let faulted = WaitReply { state, code: 11, pid: 10, cpu_ns, stdout_total: 0, fault, ..exited };
    page.response("wait-fault", code::WAIT, &faulted);
}

pub(crate) fn streams(page: &mut Examples) {
    let (stream, max, wait_ms) = (OutputStream::Stdout, 4096, 1000);
    page.request("output-request", code::OUTPUT, &OutputRequest { job: 1, stream, cursor: 0, max, wait_ms });
    page.response(
        "output-response",
        code::OUTPUT,
        &OutputReply { lost: 0, total: 2, ended: true, data: b"b\n" },
    );
    let lost = OutputReply { lost: 34464, total: 100_000, ended: false, data: b"yyyy" };
    page.response("output-lost", code::OUTPUT, &lost);
    page.request("input-request", code::INPUT, &InputRequest { job: 3, eof: true, data: b"q\n" });
    page.response("input-response", code::INPUT, &InputReply { accepted: 2 });
}

pub(crate) fn processes(page: &mut Examples) {
    page.request("kill-request", code::KILL, &KillRequest { target: KillTarget::Job, id: 3, signal: 15 });
    page.response("kill-response", code::KILL, &KillReply { processes: 2 });
    page.request("ps2-request", code::PS2, &Ps2Request { after: 1 });
    let shell = ProcessFacts {
        pid: 2,
        parent: 1,
        group: 2,
        job: 0,
        state: TaskState::Blocked,
        origin: ProcessOrigin::Console,
        code: 0,
        cpu_ns: 40_000_000,
        memory: 409_600,
        age_ns: 60_000_000_000,
        name: b"sh",
    };
    let crashed = ProcessFacts {
        pid: 10,
        parent: 0,
        group: 10,
        job: 2,
        state: TaskState::Zombie,
        origin: ProcessOrigin::Agent,
        code: 139,
        cpu_ns: 1_000_000,
        memory: 0,
        age_ns: 2_000_000_000,
        name: b"crash",
    };
    let list = &mut [0; 256];
    page.response("ps2-response", code::PS2, &List::build([shell, crashed], list).unwrap());
}
