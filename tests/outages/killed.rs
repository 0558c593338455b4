//! The bridge is killed, as the program that it is, and started again.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use host_bridge::client::HubClient;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::common::bridge::{call, program};
use crate::common::peer::counters;
use crate::common::shell::Askr;
use crate::{GUEST, SLACK, is_served, until};

/// Most time from the start of the program to its first answer, for a machine under heavy load. The aim is 2 s on an idle one.
const UP_AGAIN: Duration = Duration::from_secs(20);

/// How long the guest takes a session for attached whose bridge says nothing any more.
const LEASE: Duration = Duration::from_secs(10);

/// `askr-bridge hub`, which is killed at its end.
struct Program {
    child: Child,
    socket: PathBuf,
    up_after: Duration,
}

impl Program {
    /// Starts it and waits until the guest answers through it.
    fn start(askr: &mut Askr, program: &Path, folder: &Path) -> Self {
        let socket = folder.join("agent.sock");
        let mut command = Command::new(program);
        command.arg("hub").arg("--com2").arg(askr.vm().com2_path()).arg("--socket").arg(&socket);
        let begin = Instant::now();
        let mut this = Self { child: command.spawn().unwrap(), socket, up_after: Duration::ZERO };
        until("a client of the new bridge", || HubClient::connect(&this.socket).is_ok());
        call(&this.socket, json!({ "op": "ping" })).unwrap();
        this.up_after = begin.elapsed();
        this
    }

    /// A call whose outcome nobody will hear of.
    fn begin(&self, request: Value) {
        let mut client = HubClient::connect(&self.socket).unwrap();
        thread::spawn(move || client.request(&request).is_ok());
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Fails only if it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn stalls(askr: &mut Askr) -> u64 {
    counters(&askr.run("cat /proc/bus"))["link_stalls"]
}

#[test]
fn a_bridge_that_is_killed_finds_the_guest_again_at_once() {
    let program = program();
    let mut askr = GUEST.take();
    let folder = tempfile::tempdir().unwrap();
    askr.run("seq 1 40000 > /long");
    let (mut ups, mut memory) = (Vec::new(), None);
    for time in 0..6 {
        let bridge = Program::start(&mut askr, &program, folder.path());
        ups.push(bridge.up_after);
        let kept = format!("kept {time}\n");
        let write = json!({ "op": "fs.write", "path": "/kept", "content": kept, "sync": true });
        call(&bridge.socket, write).unwrap();
        // Once with nothing under way; else in the middle of long answers, and once with a line that stands still.
        let before = stalls(&mut askr);
        if time % 3 > 0 {
            bridge.begin(json!({ "op": "proc.run", "argv": ["sleep", "2"] }));
            (0..4).for_each(|_| bridge.begin(json!({ "op": "fs.read", "path": "/long" })));
            let outstanding =
                || call(&bridge.socket, json!({ "op": "status" })).unwrap()["outstanding"].as_u64();
            until("requests under way", || outstanding() > Some(2));
        }
        if time % 3 == 2 {
            bridge.signal(Signal::STOP);
            until("a line that stands still", || stalls(&mut askr) > before);
        }
        drop(bridge);
        is_served(&mut askr);
        assert_eq!(askr.run("cat /kept"), format!("kept {time}\r\n"));
        memory = memory.or_else(|| Some(askr.memory()));
    }
    eprintln!("the guest answered after {ups:?}");
    assert!(ups.iter().all(|up| *up < UP_AGAIN), "{ups:?}");
    // However busy the machine is, not all of them are held up for as long as the session of the one before would last.
    assert!(ups[1..].iter().min().unwrap() < &(LEASE / 2), "{ups:?}");
    askr.expect_memory(memory.unwrap(), SLACK);
}
