//! Messages of files in pieces, jobs, facts and events.

use askr_wire::List;
use askr_wire::message::{
    Address, Choice, Context, EndCause, EventsReply, EventsRequest, Fact, FaultFacts, FsInfoReply,
    InputReply, InputRequest, JobState, KillReply, KillRequest, KillTarget, LoggedEvent, NodeEntry, NodeType,
    OutputReply, OutputRequest, OutputStream, PowerAction, PowerRequest, ProcessEvent, ProcessFacts,
    ProcessOrigin, Ps2Request, REGISTERS, ReaddirReply, ReaddirRequest, RenameRequest, SpawnReply,
    SpawnRequest, StdinPolicy, TaskState, TimeReply, TruncateRequest, UptimeReply, WaitReply, WaitRequest,
    Word, WriteAtRequest,
};

use crate::wire::{bytes, list};

/// One of each layout, in the order of the target's table.
pub(crate) fn messages() -> Vec<(&'static str, Vec<u8>)> {
    [files(), jobs(), facts()].concat()
}

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let info = FsInfoReply {
        block_size: 4096,
        blocks: 16384,
        blocks_free: 9,
        name_max: 255,
        read_only: false,
        kind: b"ramfs",
        mount: b"/",
    };
    let entry = |node_type, name| NodeEntry { node_type, mode: 0o644, size: 12, mtime: 1_700_000_000, name };
    let entries = [entry(NodeType::File, b"notes".as_slice()), entry(NodeType::Symlink, b"last")];
    let mut scratch = [0; 128];
    let page = ReaddirReply { next: 2, entries: List::build(entries, &mut scratch).expect("two entries") };
    let write = WriteAtRequest { offset: 1 << 32, sync: true, path: b"/disk/a", data: b"middle" };
    vec![
        ("rename", bytes(&RenameRequest { from: b"/tmp/a", to: b"/tmp/b" })),
        ("truncate", bytes(&TruncateRequest { size: 7, path: b"/tmp/a" })),
        ("write-at", bytes(&write)),
        ("fsinfo-reply", bytes(&info)),
        ("readdir", bytes(&ReaddirRequest { cursor: 2, path: b"/tmp" })),
        ("readdir-reply", bytes(&page)),
        ("nodes", list(entries)),
    ]
}

fn jobs() -> Vec<(&'static str, Vec<u8>)> {
    let words = [Word(b"sh"), Word(b"-c"), Word(b"cat")];
    let (mut argv, mut env, mut scratch) = ([0; 64], [0; 64], [0; 64]);
    let spawn = SpawnRequest {
        stdin: StdinPolicy::Open,
        timeout_ms: 5000,
        output_limit: 65536,
        path: b"/bin/sh",
        cwd: b"/tmp",
        argv: List::build(words, &mut argv).expect("three words"),
        env: List::build([Word(b"PATH=/bin")], &mut env).expect("a word"),
        input: b"first line\n",
    };
    let addresses = [Address(0x40_1000), Address(u64::MAX)];
    let fault = FaultFacts {
        signal: 11,
        vector: 14,
        error: 6,
        address: 8,
        rip: 0x40_1136,
        registers: [1; REGISTERS],
        backtrace: List::build(addresses, &mut scratch).expect("two addresses"),
    };
    let ended = WaitReply {
        state: JobState::Signalled,
        cause: EndCause::Itself,
        code: 11,
        pid: 9,
        processes: 0,
        cpu_ns: 1,
        stdout_total: 2,
        stderr_total: 3,
        fault: Some(fault),
    };
    let output = OutputRequest { job: 1, stream: OutputStream::Stderr, cursor: 0, max: 4096, wait_ms: 1000 };
    let process = ProcessFacts {
        pid: 9,
        parent: 1,
        group: 9,
        job: 1,
        state: TaskState::Stopped,
        origin: ProcessOrigin::Agent,
        code: 0,
        cpu_ns: 1,
        memory: 4096,
        age_ns: 2,
        name: b"sh",
    };
    vec![
        ("spawn", bytes(&spawn)),
        ("spawn-reply", bytes(&SpawnReply { job: 1, pid: 9 })),
        ("words", list(words)),
        ("wait", bytes(&WaitRequest { job: 1, wait_ms: 1000 })),
        ("wait-reply", bytes(&ended)),
        ("fault", bytes(&fault)),
        ("addresses", list(addresses)),
        ("kill", bytes(&KillRequest { target: KillTarget::Job, id: 1, signal: 9 })),
        ("kill-reply", bytes(&KillReply { processes: 2 })),
        ("output", bytes(&output)),
        ("output-reply", bytes(&OutputReply { lost: 1, total: 6, ended: true, data: b"lines" })),
        ("input", bytes(&InputRequest { job: 1, eof: true, data: b"line\n" })),
        ("input-reply", bytes(&InputReply { accepted: 5 })),
        ("ps2", bytes(&Ps2Request { after: 1 })),
        ("ps2-reply", list([process])),
    ]
}

fn facts() -> Vec<(&'static str, Vec<u8>)> {
    let event = ProcessEvent { pid: 7, aux: 1, info: 0, name: b"sh" };
    let logged = [LoggedEvent { time_ns: 5, code: 1, event, ext: b"\x07\x01\0x" }];
    let mut scratch = [0; 64];
    let events = List::build(logged, &mut scratch).expect("an event");
    vec![
        ("uptime-reply", bytes(&UptimeReply { uptime_ns: 1 << 40 })),
        ("time-reply", bytes(&TimeReply { unix_ns: 1 << 60 })),
        ("info-reply", list([Fact { name: b"kernel", value: b"askr" }])),
        ("power", bytes(&PowerRequest { action: PowerAction::Reboot })),
        ("events", bytes(&EventsRequest { cursor: 3 })),
        ("events-reply", bytes(&EventsReply { lost: 2, count: 6, events })),
        ("logged", list(logged)),
        ("choice", bytes(&Choice(b"yes"))),
        ("context", bytes(&Context { key: b"path", value: b"/tmp/a" })),
    ]
}
