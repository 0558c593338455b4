//! What came after the base: files in pieces, jobs, facts, events.

use askr_wire::List;
use askr_wire::message::{
    Address, Choice, Context, EndCause, EventsReply, EventsRequest, Fact, FaultFacts, FsInfoReply,
    InputReply, InputRequest, JobState, KillReply, KillRequest, KillTarget, LoggedEvent, NodeEntry, NodeType,
    OutputReply, OutputRequest, OutputStream, PowerAction, PowerRequest, ProcessEvent, ProcessFacts,
    ProcessOrigin, Ps2Request, REGISTERS, ReaddirReply, ReaddirRequest, RenameRequest, SpawnReply,
    SpawnRequest, StdinPolicy, TaskState, TimeReply, TruncateRequest, UptimeReply, WaitReply, WaitRequest,
    Word, WriteAtRequest,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::{ROOM, closed, data, round_trip, string};

const NODE_TYPES: &[NodeType] =
    &[NodeType::File, NodeType::Directory, NodeType::Symlink, NodeType::Device, NodeType::Pipe];
const TASK_STATES: &[TaskState] =
    &[TaskState::Ready, TaskState::Running, TaskState::Blocked, TaskState::Zombie, TaskState::Stopped];
const ORIGINS: &[ProcessOrigin] = &[ProcessOrigin::Kernel, ProcessOrigin::Console, ProcessOrigin::Agent];
const JOB_STATES: &[JobState] = &[JobState::Running, JobState::Exited, JobState::Signalled];
const CAUSES: &[EndCause] = &[EndCause::Itself, EndCause::Deadline, EndCause::Killed, EndCause::OutOfMemory];
const TARGETS: &[KillTarget] = &[KillTarget::Process, KillTarget::Tree, KillTarget::Job];
const STREAMS: &[OutputStream] = &[OutputStream::Stdout, OutputStream::Stderr];
const ACTIONS: &[PowerAction] = &[PowerAction::Off, PowerAction::Reboot];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn changes(
        (path, other, content) in (data(), data(), data()),
        (number, sync) in any::<(u64, bool)>(),
    ) {
        let (path, data) = (path.as_slice(), content.as_slice());
        let buffer = &mut [0; ROOM];
        round_trip(&RenameRequest { from: path, to: &other }, buffer);
        round_trip(&TruncateRequest { size: number, path }, buffer);
        round_trip(&WriteAtRequest { offset: number, sync, path, data }, buffer);
        round_trip(&ReaddirRequest { cursor: number, path }, buffer);
    }

    #[test]
    fn filesystems(
        (block_size, blocks, blocks_free, name_max, read_only) in any::<(u32, u64, u64, u32, bool)>(),
        (kind, mount) in (string(), string()),
        entries in vec((select(NODE_TYPES), any::<(u16, u64, u64)>(), string()), 0..8),
        next in any::<u64>(),
    ) {
        let (scratch, buffer) = (&mut [0; ROOM], &mut [0; ROOM]);
        let (kind, mount) = (kind.as_slice(), mount.as_slice());
        closed(&FsInfoReply { block_size, blocks, blocks_free, name_max, read_only, kind, mount }, buffer);
        let entries = entries.iter().map(|(node_type, (mode, size, mtime), name)| NodeEntry {
            node_type: *node_type, mode: *mode, size: *size, mtime: *mtime, name,
        });
        let entries = List::build(entries, scratch).unwrap();
        closed(&ReaddirReply { next, entries }, buffer);
    }

    #[test]
    fn beginnings(
        (timeout_ms, output_limit, job, pid) in any::<(u32, u32, u32, u32)>(),
        (path, cwd, input) in (data(), string(), data()),
        (argv, env) in (vec(string(), 0..5), vec(string(), 0..5)),
    ) {
        let (argv_bytes, env_bytes, buffer) = (&mut [0; ROOM], &mut [0; ROOM], &mut [0; ROOM]);
        let argv = List::build(argv.iter().map(|word| Word(word)), argv_bytes).unwrap();
        let env = List::build(env.iter().map(|word| Word(word)), env_bytes).unwrap();
        for stdin in [StdinPolicy::Closed, StdinPolicy::Given, StdinPolicy::Open] {
            let input = if stdin == StdinPolicy::Closed { &[] } else { input.as_slice() };
            let (path, cwd) = (path.as_slice(), cwd.as_slice());
            let request = SpawnRequest { stdin, timeout_ms, output_limit, path, cwd, argv, env, input };
            round_trip(&request, buffer);
        }
        closed(&SpawnReply { job, pid }, buffer);
    }

    #[test]
    fn ends(
        (state, cause, job, wait_ms) in (select(JOB_STATES), select(CAUSES), any::<u32>(), any::<u32>()),
        (code, pid, processes) in any::<(u32, u32, u32)>(),
        (cpu_ns, stdout_total, stderr_total) in any::<(u64, u64, u64)>(),
        (signal, vector, [error, address, rip], registers) in any::<(u8, u8, [u64; 3], [u64; REGISTERS])>(),
        (backtrace, faulted) in (vec(any::<u64>(), 0..=16), any::<bool>()),
    ) {
        let (scratch, buffer) = (&mut [0; ROOM], &mut [0; ROOM]);
        let backtrace = List::build(backtrace.into_iter().map(Address), scratch).unwrap();
        let facts = FaultFacts { signal, vector, error, address, rip, registers, backtrace };
        closed(&facts, buffer);
        let fault = faulted.then_some(facts);
        closed(&WaitReply {
            state, cause, code, pid, processes, cpu_ns, stdout_total, stderr_total, fault,
        }, buffer);
        closed(&WaitRequest { job, wait_ms }, buffer);
    }

    #[test]
    fn streams_and_signals(
        (job, max, wait_ms, id, signal) in any::<(u32, u32, u32, u32, u8)>(),
        (cursor, lost, total, ended, eof) in any::<(u64, u64, u64, bool, bool)>(),
        (stream, target, content) in (select(STREAMS), select(TARGETS), data()),
    ) {
        let (buffer, data) = (&mut [0; ROOM], content.as_slice());
        closed(&OutputRequest { job, stream, cursor, max, wait_ms }, buffer);
        round_trip(&OutputReply { lost, total, ended, data }, buffer);
        round_trip(&InputRequest { job, eof, data }, buffer);
        closed(&InputReply { accepted: max }, buffer);
        closed(&KillRequest { target, id, signal }, buffer);
        closed(&KillReply { processes: id }, buffer);
    }

    #[test]
    fn processes(
        entries in vec(
            (any::<[u32; 5]>(), select(TASK_STATES), select(ORIGINS), any::<[u64; 3]>(), string()), 0..6,
        ),
        after in any::<u32>(),
    ) {
        let (scratch, buffer) = (&mut [0; ROOM], &mut [0; ROOM]);
        let entries = entries.iter().map(|(numbers, state, origin, sizes, name)| {
            let ([pid, parent, group, job, code], [cpu_ns, memory, age_ns]) = (*numbers, *sizes);
            let (state, origin) = (*state, *origin);
            ProcessFacts { pid, parent, group, job, state, origin, code, cpu_ns, memory, age_ns, name }
        });
        let list = List::build(entries.clone(), scratch).unwrap();
        prop_assert!(list.iter().eq(entries));
        closed(&list, buffer);
        closed(&Ps2Request { after }, buffer);
    }

    #[test]
    fn facts(
        (uptime_ns, unix_ns) in any::<(u64, u64)>(),
        facts in vec((string(), data()), 0..6),
        action in select(ACTIONS),
    ) {
        let (scratch, buffer) = (&mut [0; ROOM], &mut [0; ROOM]);
        closed(&UptimeReply { uptime_ns }, buffer);
        closed(&TimeReply { unix_ns }, buffer);
        let facts = List::build(facts.iter().map(|(name, value)| Fact { name, value }), scratch).unwrap();
        closed(&facts, buffer);
        closed(&PowerRequest { action }, buffer);
    }

    #[test]
    fn events(
        (cursor, lost, count) in any::<(u64, u64, u64)>(),
        events in vec((any::<(u64, u16, u32, u32, u32)>(), string(), data()), 0..6),
    ) {
        let (scratch, buffer) = (&mut [0; ROOM], &mut [0; ROOM]);
        let events = events.iter().map(|(numbers, name, ext)| {
            let (time_ns, code, pid, aux, info) = *numbers;
            LoggedEvent { time_ns, code, event: ProcessEvent { pid, aux, info, name }, ext }
        });
        let events = List::build(events, scratch).unwrap();
        closed(&EventsReply { lost, count, events }, buffer);
        closed(&EventsRequest { cursor }, buffer);
    }

    #[test]
    fn what_comes_with_an_ask((key, value) in (string(), data())) {
        let buffer = &mut [0; ROOM];
        closed(&Choice(&key), buffer);
        closed(&Context { key: &key, value: &value }, buffer);
    }
}
