//! A booted guest in the hands of a client that knows `docs/protocol.md` and nothing else of ours: Python, with its
//! standard library only.

#[path = "../common/mod.rs"]
mod common;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use askr::{Exit, Machine};
use common::PATIENCE;
use common::python;
use common::shell::{Askr, Shared};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/scenarios.py");
const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");

static GUEST: Shared = Shared::new(Machine::new);

/// One scenario under way.
struct Scenario {
    child: Child,
}

impl Scenario {
    fn start(name: &str, arguments: &[&OsStr]) -> Option<Self> {
        let mut python = Command::new(python::interpreter()?);
        python.args(["-B", SCRIPT, name]).args(arguments);
        let child = python.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Some(Self { child })
    }

    #[track_caller]
    fn ends_well(self) {
        let output = self.child.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert_eq!(said, ["ok\n".to_owned(), String::new()], "{}", said[1]);
    }
}

#[track_caller]
fn run(name: &str, arguments: &[&OsStr]) {
    if let Some(scenario) = Scenario::start(name, arguments) {
        scenario.ends_well();
    }
}

/// Runs a scenario that needs nobody at the shell.
#[track_caller]
fn play(name: &str) {
    let mut askr = GUEST.take();
    run(name, &[askr.vm().com2_path().as_os_str()]);
}

/// The scenarios of these names, a test each.
macro_rules! scenarios {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            play(stringify!($name));
        })*
    };
}

scenarios! {
    base_files
    base_errors
    session
    stale
    at_most_once
    cut_line
    full_window
    changes
    directories
    large
    programs
    guarded
    conversation
    ends_by_force
    much_output
    facts
    asks
    choices
    defaults
    lost_ask
    lost_events
    events
    replay_after_a_cut
}

#[test]
fn the_page_and_the_vectors_say_the_same_to_an_implementation_of_its_own() {
    run("examples_of_the_page", &[Path::new(DOCS).join("protocol.md").as_os_str()]);
    run("shared_vectors", &[Path::new(DOCS).join("vectors/frames.txt").as_os_str()]);
}

/// Waits until the guest counts a peer as attached.
#[track_caller]
fn until_attached(askr: &mut Askr) {
    let until = Instant::now() + PATIENCE;
    while !askr.run("grep attached /proc/bus").contains("attached true") {
        assert!(Instant::now() < until, "nobody is attached");
    }
}

#[test]
fn a_client_that_never_says_hello_answers_asks() {
    let mut askr = Askr::boot(&Machine::new());
    let Some(scenario) = Scenario::start("base_ask", &[askr.vm().com2_path().as_os_str()]) else { return };
    until_attached(&mut askr);
    askr.start("ask -t 300 \"may I?\"");
    assert_eq!(askr.finish(), "answer: yes, says base\r\ndecided by: agent\r\n");
    scenario.ends_well();
}

#[test]
fn a_client_that_never_says_hello_is_told_events() {
    let mut askr = Askr::boot(&Machine::new());
    let Some(scenario) = Scenario::start("base_events", &[askr.vm().com2_path().as_os_str()]) else { return };
    until_attached(&mut askr);
    askr.run("crash");
    scenario.ends_well();
}

#[test]
fn a_session_ends_with_its_boot() {
    let mut first = Askr::boot(&Machine::new());
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let after = folder.path().join("after");
    let com2 = first.vm().com2_path();
    let Some(scenario) = Scenario::start("another_boot", &[com2.as_os_str(), after.as_os_str()]) else {
        return;
    };
    assert_eq!(first.exit(PATIENCE).unwrap(), Exit::Reset);
    drop(first);
    let mut second = Askr::boot(&Machine::new());
    std::os::unix::fs::symlink(second.vm().com2_path(), &after).unwrap();
    scenario.ends_well();
}
