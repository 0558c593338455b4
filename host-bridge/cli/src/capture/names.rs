//! `host-bridge/wireshark/askr_names.lua` has the numbers and names of `askr-wire`, and those of our packets.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use askr_wire::message::{
    AnswerReply, EndCause, FileType, JobState, KillTarget, NodeType, OutputStream, PowerAction,
    ProcessOrigin, REGISTER_NAMES, StdinPolicy, TaskState, WriteMode,
};
use askr_wire::status::Status;
use askr_wire::{Door, FrameError, FrameType, code, ext};

use super::packet::{CUT, FIRST_BROKEN, HEAD_LEN, LINK_DOWN, LINK_UP, RESUMED, VERSION, WHOLE, door_number};

/// Set to write the file as it should be.
const BLESS: &str = "ASKR_BLESS";
const FILE: &str = "../wireshark/askr_names.lua";

struct Lua(String);

impl Lua {
    fn table(&mut self, name: &str, entries: impl IntoIterator<Item = (u32, impl AsRef<str>)>) {
        let _ = writeln!(self.0, "    {name} = {{");
        for (number, text) in entries {
            let _ = writeln!(self.0, "        [{number:#06x}] = \"{}\",", text.as_ref());
        }
        let _ = writeln!(self.0, "    }},");
    }
}

fn expected() -> String {
    let mut lua = Lua(
        "-- Numbers and their names. A test makes this file anew from the tables of askr-wire and compares; with\n\
         -- ASKR_BLESS=1 it writes it.\n\nreturn {\n"
            .into(),
    );
    let types = [
        (FrameType::Request, "REQUEST"),
        (FrameType::Response, "RESPONSE"),
        (FrameType::Event, "EVENT"),
        (FrameType::DecisionReq, "DECISION_REQ"),
        (FrameType::DecisionResp, "DECISION_RESP"),
    ];
    lua.table("frame_type", types.map(|(kind, name)| (kind as u32, name)));
    lua.table(
        "verb",
        code::VERBS.iter().map(|&(code, _)| (code.into(), code::verb_name(code).unwrap_or_default())),
    );
    lua.table("status", Status::ALL.iter().map(|&status| (status as u32, status.name())));
    let events = [
        (code::EVENT_SPAWN, "spawn"),
        (code::EVENT_EXIT, "exit"),
        (code::EVENT_FAULT, "fault"),
        (code::EVENT_OOM, "oom"),
        (code::EVENT_DISK_FULL, "disk_full"),
        (code::EVENT_BOOT, "boot"),
        (code::EVENT_LINK_LOST, "link_lost"),
        (code::EVENT_PANIC, "panic"),
    ];
    lua.table("event", events.map(|(code, name)| (code.into(), name)));
    let intents = [(code::DECISION_GENERIC, "generic"), (code::DECISION_NATURAL, "natural_language")];
    lua.table("intent", intents.map(|(code, name)| (code.into(), name)));
    let ext = [
        (ext::ASK_FACTS, "ask facts"),
        (ext::ASK_CHOICES, "choices"),
        (ext::ASK_CONTEXT, "context"),
        (ext::ASK_DEFAULT, "default"),
        (ext::FAULT_FACTS, "fault facts"),
    ];
    lua.table("ext", ext.map(|(kind, name)| (kind.into(), name)));
    enums(&mut lua);
    lua.table("register", (1..).zip(REGISTER_NAMES));
    lua.table("door", Door::ALL.map(|door| (door_number(door).into(), door.name())));
    let _ = writeln!(lua.0, "    door_text = {{");
    for door in Door::ALL {
        let _ = writeln!(lua.0, "        {} = \"{door}\",", door.name());
    }
    let _ = writeln!(lua.0, "    }},");
    let broken = FrameError::ALL.map(|error| (broken(error), error.name()));
    lua.table("verdict", broken.into_iter().chain([(WHOLE.into(), "whole"), (CUT.into(), "cut")]));
    let _ = writeln!(lua.0, "    verdict_text = {{");
    for error in FrameError::ALL {
        let _ = writeln!(lua.0, "        {} = \"{error}\",", error.name());
    }
    let _ = writeln!(lua.0, "        cut = \"the line stopped before its end\",\n    }},");
    let _ = writeln!(
        lua.0,
        "    capture = {{ version = {VERSION}, head_length = {HEAD_LEN}, link_up = {LINK_UP}, \
         link_down = {LINK_DOWN}, resumed = {RESUMED} }},\n}}"
    );
    lua.0
}

fn broken(error: FrameError) -> u32 {
    u32::from(FIRST_BROKEN) + u32::try_from(error.index()).unwrap_or(u32::MAX)
}

/// Enumerations of one byte, by what their variants are called.
fn enums(lua: &mut Lua) {
    macro_rules! list {
        ($name:literal, $($variant:expr),+ $(,)?) => {
            lua.table($name, [$(($variant as u32, snake(&format!("{:?}", $variant)))),+])
        };
    }
    list!("file_type", FileType::File, FileType::Directory);
    list!(
        "node_type",
        NodeType::File,
        NodeType::Directory,
        NodeType::Symlink,
        NodeType::Device,
        NodeType::Pipe,
    );
    list!("write_mode", WriteMode::Replace, WriteMode::Append);
    list!(
        "process_state",
        TaskState::Ready,
        TaskState::Running,
        TaskState::Blocked,
        TaskState::Zombie,
        TaskState::Stopped,
    );
    list!("origin", ProcessOrigin::Kernel, ProcessOrigin::Console, ProcessOrigin::Agent);
    list!("stdin", StdinPolicy::Closed, StdinPolicy::Given, StdinPolicy::Open);
    list!("job_state", JobState::Running, JobState::Exited, JobState::Signalled);
    list!("cause", EndCause::Itself, EndCause::Deadline, EndCause::Killed, EndCause::OutOfMemory);
    list!("target", KillTarget::Process, KillTarget::Tree, KillTarget::Job);
    list!("stream", OutputStream::Stdout, OutputStream::Stderr);
    list!("action", PowerAction::Off, PowerAction::Reboot);
    list!(
        "answer_verdict",
        AnswerReply::Accepted,
        AnswerReply::Late,
        AnswerReply::Unknown,
        AnswerReply::NotAChoice,
    );
    lua.table("decision", [(0, "answer"), (1, "refuse")]);
}

/// `OutOfMemory` as `out_of_memory`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for symbol in name.chars() {
        if symbol.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(symbol.to_lowercase());
    }
    snake
}

#[test]
fn the_dissector_has_the_numbers_and_names_of_the_protocol() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let expected = expected();
    if std::env::var_os(BLESS).is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let file = fs::read_to_string(&path).unwrap();
    assert!(
        file == expected,
        "{FILE} is not what askr-wire says; run this with {BLESS}=1, and see its layouts"
    );
}
