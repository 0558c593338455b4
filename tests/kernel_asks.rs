//! What the kernel itself asks: who ends when memory is used up, and what runs a file of unknown type.

mod common;

use std::time::Instant;

use askr::Machine;
use askr_agentbus::{choices, context, default_answer};
use askr_wire::message::{
    AnswerReply, AskFacts, AsksRequest, Decision, KillTarget, PendingAsk, ProcessEvent, SpawnReply, TaskState,
};
use askr_wire::status::Status;
use askr_wire::{FrameType, List, Message, code, ext_items};
use common::PATIENCE;
use common::jobs::{Process, Start};
use common::peer::{Peer, bytes, counters};
use common::program::program;
use common::shell::{Askr, number_after};
use host_bridge::link::OwnedFrame;

/// A question of the kernel's.
#[derive(Debug)]
struct Question {
    seq: u32,
    left_ms: u32,
    text: String,
    choices: Vec<String>,
    context: Vec<(String, String)>,
    default: Option<String>,
}

impl Question {
    fn context(&self, key: &str) -> &str {
        &self.context.iter().find(|(of, _)| of == key).unwrap_or_else(|| panic!("no {key}: {self:?}")).1
    }
}

/// The next question, which is the kernel's.
#[track_caller]
fn question(peer: &mut Peer) -> Question {
    let OwnedFrame { seq, code, session, payload, .. } = peer.ask();
    assert_eq!(code, code::DECISION_GENERIC);
    let (_, ext) = session.expect("an ask in a session");
    let facts = AskFacts::decode(ext_items(&ext).next().unwrap().unwrap().1).unwrap();
    assert_eq!((facts.pid, facts.program), (0, &b"kernel"[..]));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Question {
        seq,
        left_ms: facts.left_ms,
        text: text(&payload),
        choices: choices(&ext).map(text).collect(),
        context: context(&ext).map(|(key, value)| (text(key), text(value))).collect(),
        default: default_answer(&ext).map(text),
    }
}

/// The next end for want of memory: who.
#[track_caller]
fn victim(peer: &mut Peer) -> u64 {
    let is_oom = |frame: &OwnedFrame| frame.kind == FrameType::Event && frame.code == code::EVENT_OOM;
    let frame = peer.expect("out of memory", is_oom).frame;
    ProcessEvent::decode(&frame.payload).unwrap().pid.into()
}

/// Starts a program that takes this many MiB and keeps them.
#[track_caller]
fn holder(askr: &mut Askr, mib: u64) -> u64 {
    let shown = askr.run(&format!("hog {mib}M &"));
    if !shown.contains("taken, as wanted") {
        askr.expect("taken, as wanted\r\n");
    }
    askr.settle();
    number_after(&shown, "] ")
}

fn small() -> Machine {
    Machine::new().memory_mib(64)
}

/// A third of the memory that is free, in MiB.
fn third(askr: &mut Askr) -> u64 {
    number_after(&askr.run("cat /proc/meminfo"), "MemFree:") / 1024 / 3
}

fn counter(askr: &mut Askr, name: &str) -> u64 {
    counters(&askr.run("cat /proc/bus"))[name]
}

#[test]
fn the_agent_chooses_who_ends_when_memory_is_used_up() {
    let mut askr = Askr::boot(&small());
    let mut peer = Peer::in_session(askr.vm());
    let third = third(&mut askr);
    let (large, small) = (holder(&mut askr, third), holder(&mut askr, third / 2));
    askr.start("hog");
    let asked = question(&mut peer);
    assert!(asked.text.starts_with("memory is used up: which process is to end? "), "{asked:?}");
    assert!(asked.left_ms <= 2_000, "{asked:?}");
    let who = asked.context("wanted_by").strip_suffix(" hog").expect("the third one").to_owned();
    // The kernel's choice is the largest, and comes first; no shell is offered.
    assert_eq!(asked.default.as_ref(), Some(&who));
    assert_eq!(asked.choices, [who.clone(), large.to_string(), small.to_string()], "by size");
    let held = number_after(asked.context(&large.to_string()), "hog,");
    assert!(held / 1024 >= third && held / 1024 <= third + 2, "{asked:?}");
    for wrong in ["1", "2", "", "0", "nobody"] {
        assert_eq!(peer.answer(asked.seq, wrong), AnswerReply::NotAChoice);
    }
    assert_eq!(peer.answer(asked.seq, &small.to_string()), AnswerReply::Accepted);
    assert_eq!(victim(&mut peer), small);
    // It goes on, and memory is used up again.
    let asked = question(&mut peer);
    assert_eq!(asked.choices, [who.clone(), large.to_string()]);
    assert_eq!(peer.decide(asked.seq, Decision::Refuse), AnswerReply::Accepted);
    assert_eq!(victim(&mut peer).to_string(), who, "the kernel's own choice");
    let shown = askr.finish();
    assert_eq!(shown.matches("is killed, ").count(), 2, "{shown}");
    assert!(askr.run(&format!("kill {large}; wait; hello")).contains("hello from pid "));
}

#[test]
fn memory_that_comes_back_meanwhile_spares_everybody() {
    let mut askr = Askr::boot(&small());
    let mut peer = Peer::in_session(askr.vm());
    let third = third(&mut askr);
    let large = holder(&mut askr, third);
    askr.start(&format!("hog -x {}M", 2 * third + third / 2));
    let asked = question(&mut peer);
    peer.kill(KillTarget::Process, u32::try_from(large).unwrap(), 9).unwrap();
    // Whatever is said now: there is enough for all.
    peer.answer(asked.seq, &asked.choices[0]);
    let shown = askr.finish();
    assert!(shown.contains("taken, as wanted") && !shown.contains("out of memory"), "{shown}");
}

#[test]
fn a_silent_agent_costs_two_seconds_once_a_minute() {
    let mut askr = Askr::boot(&small());
    let mut peer = Peer::in_session(askr.vm());
    let third = third(&mut askr);
    let held = holder(&mut askr, third);
    let asked = counter(&mut askr, "asks_opened");
    let shown = askr.run("cat /proc/uptime; hog; cat /proc/uptime; hog; cat /proc/uptime");
    let times: Vec<f64> = shown
        .lines()
        .filter_map(|line| line.strip_suffix(" 0.00").and_then(|time| time.parse().ok()))
        .collect();
    assert_eq!((times.len(), shown.matches("] is killed, ").count()), (3, 2), "{shown}");
    assert!(times[1] - times[0] > 1.9, "{times:?}");
    assert_eq!(counter(&mut askr, "asks_opened"), asked + 1, "{times:?}");
    assert_eq!(question(&mut peer).choices.len(), 2);
    assert_eq!(counter(&mut askr, "asks_timed_out"), 1);
    askr.run(&format!("kill {held}; wait"));
}

/// Starts two at once, before the first has taken what the second needs to begin; returns who they are.
fn spawn_two(peer: &mut Peer, start: Start<'_>) -> [u32; 2] {
    let session = peer.session();
    let requests = [(); 2].map(|()| peer.make(session, code::SPAWN, &start.bytes()));
    peer.send_raw(&[&requests[0].1[..], &requests[1].1].concat());
    requests.map(|(seq, _)| {
        let (status, body) = peer.response(seq, code::SPAWN);
        assert_eq!(status, Status::Ok);
        SpawnReply::decode(&body).unwrap().pid
    })
}

#[test]
fn who_waits_for_the_agents_choice_can_be_killed() {
    let mut askr = Askr::boot(&small());
    let mut peer = Peer::in_session(askr.vm());
    let third = third(&mut askr);
    let large = holder(&mut askr, third);
    let hogs = spawn_two(&mut peer, Start::program("/bin/hog", &[]));
    let asked = question(&mut peer);
    let asker = asked.context("wanted_by").strip_suffix(" hog").expect("one of them").parse().unwrap();
    let other = hogs.into_iter().find(|&pid| pid != asker).expect("two of them");
    let waits = |process: &Process| process.pid == other && process.state == TaskState::Blocked;
    let give_up = Instant::now() + PATIENCE;
    while !peer.processes().iter().any(waits) {
        assert!(Instant::now() < give_up, "{:?}", peer.processes());
    }
    assert_eq!(peer.kill(KillTarget::Process, other, 9), Ok(1));
    let is_exit = |frame: &OwnedFrame| frame.kind == FrameType::Event && frame.code == code::EVENT_EXIT;
    let ended = |frame: &OwnedFrame| is_exit(frame) && frame.payload.starts_with(&other.to_le_bytes());
    let frame = peer.expect("end of who waits", ended).frame;
    assert_eq!(ProcessEvent::decode(&frame.payload).unwrap().info, 128 + 9);
    peer.answer(asked.seq, &large.to_string());
    peer.kill(KillTarget::Process, asker, 9).unwrap();
    askr.settle();
    let shown = askr.transcript();
    assert!(!shown.contains(&format!("[{other}] ended by signal")), "it had no fault: {shown}");
}

#[test]
fn one_question_about_memory_waits_at_a_time() {
    let mut askr = Askr::boot(&small());
    let mut peer = Peer::in_session(askr.vm());
    askr.start("hog -x & hog -x & hog -x & wait");
    for _ in 0..3 {
        let is_ask = |frame: &OwnedFrame| frame.kind == FrameType::DecisionReq;
        let Some(asked) = peer.find(std::time::Duration::from_secs(5), is_ask) else { break };
        let body = peer.ok(code::ASKS, &bytes(&AsksRequest { start: 0 }));
        let waiting: Vec<u32> =
            List::<PendingAsk<'_>>::decode(&body).unwrap().iter().map(|ask| ask.seq).collect();
        assert!(waiting.len() <= 1, "{waiting:?}");
        peer.decide(asked.frame.seq, Decision::Refuse);
    }
    askr.finish();
    askr.run("wait");
    assert!(askr.run("hello").contains("hello from pid "));
}

/// A file that a shell runs as commands, since nothing else does.
fn file(askr: &mut Askr) {
    askr.run("echo 'echo as commands: $0 $1' > /tmp/file; chmod +x /tmp/file");
}

const AS_COMMANDS: &str = "as commands: /tmp/file one\r\n";

#[test]
fn the_agent_says_what_runs_a_file_of_unknown_type() {
    let mut askr = Askr::boot(&Machine::new());
    file(&mut askr);
    assert_eq!(askr.run("/tmp/file one"), AS_COMMANDS, "with nobody there");
    let mut peer = Peer::in_session(askr.vm());
    let mut ask = |answer: Decision<'_>| {
        askr.start("/tmp/file one");
        let asked = question(&mut peer);
        assert_eq!(asked.text, "which program runs /tmp/file?");
        assert!(asked.left_ms <= 1_000 && asked.choices.is_empty() && asked.default.is_none(), "{asked:?}");
        assert_eq!(asked.context("path"), "/tmp/file");
        assert_eq!(asked.context("head"), "echo as commands: $0 $1\n");
        assert_eq!(peer.decide(asked.seq, answer), AnswerReply::Accepted);
        askr.finish()
    };
    assert_eq!(ask(Decision::Answer(b"/bin/echo")), "/tmp/file one\r\n", "its path and arguments");
    for no_program in [&b"bin/echo"[..], b"/bin/nothing", b"/tmp/file", b"/tmp", b"", b"/bin/echo\0"] {
        assert_eq!(ask(Decision::Answer(no_program)), AS_COMMANDS);
    }
    assert_eq!(ask(Decision::Refuse), AS_COMMANDS);
    // A script whose interpreter is no program: its own arguments come after.
    askr.run("echo '#!/tmp/file extra' > /tmp/script; chmod +x /tmp/script");
    askr.start("/tmp/script two");
    let asked = question(&mut peer);
    assert_eq!(asked.context("path"), "/tmp/file");
    assert_eq!(peer.answer(asked.seq, "/bin/echo"), AnswerReply::Accepted);
    assert_eq!(askr.finish(), "/tmp/file extra /tmp/script two\r\n");
    // An empty file has nothing to be run.
    let before = counter(&mut askr, "asks_opened");
    askr.run(": > /tmp/empty; chmod +x /tmp/empty; /tmp/empty");
    assert_eq!(counter(&mut askr, "asks_opened"), before);
}

#[test]
fn what_the_agent_names_to_run_a_file_is_not_the_persons() {
    let mut askr = Askr::boot(&Machine::new().with(program("named")));
    file(&mut askr);
    let mut peer = Peer::in_session(askr.vm());
    askr.start("/tmp/file");
    let asked = question(&mut peer);
    assert_eq!(peer.answer(asked.seq, "/bin/named"), AnswerReply::Accepted);
    let refused = "console changed: -5\r\nfile in /bin: -1\r\nanswered: -1\r\nfile of a child: -1\r\n";
    let told = askr.finish();
    let said = |shown: &str| -> String {
        let lines = shown.split_inclusive('\n').filter(|line| !line.starts_with("agent may not "));
        lines.collect()
    };
    assert_eq!(said(&told), refused, "{told}");
    // The same program, run by the person; the ask was settled, which is ESTALE.
    let own = "console changed: 0\r\nfile in /bin: 3\r\nanswered: -116\r\nfile of a child: 4\r\n";
    assert_eq!(askr.run("named"), own);
}

#[test]
fn a_silent_agent_keeps_nobody_from_their_commands() {
    let mut askr = Askr::boot(&Machine::new());
    file(&mut askr);
    let mut peer = Peer::in_session(askr.vm());
    let before = counter(&mut askr, "asks_opened");
    for _ in 0..5 {
        assert_eq!(askr.run("/tmp/file one"), AS_COMMANDS);
    }
    assert_eq!(question(&mut peer).text, "which program runs /tmp/file?");
    assert_eq!(counter(&mut askr, "asks_opened"), before + 1, "one in a minute");
}
