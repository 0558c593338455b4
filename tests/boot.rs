//! Askr boots to a shell on every kind of machine, and `poweroff` ends it; where it can't boot, it says why.

mod common;

use std::fs;
use std::time::{Duration, Instant};

use askr::{Disk, Exit, ExtraFile, Machine, Model, Result};
use askr_wire::message::{
    HelloReply, HelloRequest, SpawnReply, SpawnRequest, StdinPolicy, Word, WriteMode, WriteRequest,
};
use askr_wire::status::Status;
use askr_wire::{FrameType, List, Message, code};
use common::peer::{Peer, bytes, nonce};
use common::shell::{Askr, number_after};
use host_bridge::link::OwnedFrame;

const PROMPT: &str = "askr$ ";
/// For anything the guest does; generous, because the machine may be busy with other tests.
const SOON: Duration = Duration::from_secs(60);

fn boots_and_powers_off(machine: &Machine) -> Result<()> {
    let mut guest = machine.start()?;
    guest.wait_for(PROMPT, SOON)?;
    guest.type_line("poweroff")?;
    assert_eq!(guest.exit(SOON)?, Exit::PowerOff);
    Ok(())
}

#[test]
fn q35() -> Result<()> {
    boots_and_powers_off(&Machine::new())
}

#[test]
fn pc_with_an_old_cpu() -> Result<()> {
    boots_and_powers_off(&Machine::new().model(Model::Pc).cpu("qemu64"))
}

#[test]
fn microvm_with_little_memory() -> Result<()> {
    boots_and_powers_off(&Machine::new().model(Model::Microvm).memory_mib(32))
}

#[test]
fn every_kind_of_machine_with_an_old_and_a_new_cpu() -> Result<()> {
    for (model, cpu) in [(Model::Q35, "qemu64"), (Model::Pc, "max"), (Model::Microvm, "qemu64")] {
        boots_and_powers_off(&Machine::new().model(model).cpu(cpu).memory_mib(64))?;
    }
    Ok(())
}

#[test]
fn without_an_agents_line() -> Result<()> {
    for model in [Model::Q35, Model::Microvm] {
        let mut guest = Machine::new().model(model).without_com2().start()?;
        guest.wait_for("COM2: no 16550 answers", SOON)?;
        guest.wait_for(PROMPT, SOON)?;
    }
    Ok(())
}

/// Without COM1, and without a screen, nobody sees anything; but an agent works.
#[test]
fn without_com1() {
    let vm = Machine::new().without_com1().spawn().unwrap();
    let mut agent = Peer::in_session(&vm);
    let version = String::from_utf8(agent.read("/proc/version")).unwrap();
    assert!(version.starts_with("Askr"), "{version}");
}

#[test]
fn all_of_a_large_memory_is_there() {
    for (mib, model) in [(4096, Model::Q35), (6144, Model::Pc), (4096, Model::Microvm)] {
        let mut askr = Askr::boot(&Machine::new().model(model).memory_mib(mib));
        let total = number_after(&askr.run("cat /proc/meminfo"), "MemTotal:");
        // Tables for so much memory take some.
        assert!(total > u64::from(mib) * 1024 * 99 / 100, "{model:?} with {mib} MiB: {total} kB");
    }
}

/// Most of this machine's memory lies above 4 GiB, so a program of this size does not fit below.
#[test]
fn memory_above_4_gib_is_used() {
    let mut askr = Askr::boot(&Machine::new().memory_mib(512).low_memory_mib(64));
    let said = askr.run("hog -x 256M; echo status=$?");
    assert!(said.contains("status=0"), "{said}");
}

#[test]
fn too_little_memory_is_told() -> Result<()> {
    let mut guest = Machine::new().memory_mib(8).start()?;
    guest.wait_for("kernel panic", SOON)?;
    guest.wait_for("memory for the kernel heap", SOON)?;
    Ok(())
}

#[test]
fn a_processor_without_long_mode_is_told() -> Result<()> {
    let mut guest = Machine::new().model(Model::Pc).cpu("qemu32").start()?;
    guest.wait_for("needs a 64-bit processor", SOON)?;
    Ok(())
}

#[test]
fn a_file_of_the_host_arrives() -> Result<()> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let note = folder.path().join("note");
    fs::write(&note, "brought from the host\n").expect("note");
    let mut guest = Machine::new().with(ExtraFile { host: note, guest: "/opt/notes/a".into() }).start()?;
    guest.wait_for(PROMPT, SOON)?;
    guest.type_line("cat /opt/notes/a")?;
    guest.wait_for("brought from the host", SOON)?;
    Ok(())
}

/// A session that is opened as soon as the kernel hears: what is sent before is lost.
fn earliest_session(peer: &mut Peer) {
    let hello =
        HelloRequest { generation: 1, payload_limit: 4096, window: 8, nonce: nonce(), client: b"early" };
    let until = Instant::now() + SOON;
    loop {
        assert!(Instant::now() < until, "no answer to HELLO");
        peer.send(code::HELLO, &bytes(&hello));
        let is_answer = |frame: &OwnedFrame| frame.kind == FrameType::Response && frame.code == code::HELLO;
        if let Some(answer) = peer.find(Duration::from_millis(20), is_answer) {
            let reply = HelloReply::decode(&answer.frame.payload[1..]).unwrap();
            return peer.set_session(Some(reply.session));
        }
    }
}

#[test]
fn an_agent_that_is_there_before_everything_else_takes_nobodys_place() {
    let folder = tempfile::tempdir().unwrap();
    // A new disk is made ready first, which gives an agent that is early the time to be too early.
    let disk = Disk::open(&folder.path().join("disk.img"), false).unwrap();
    let mut guest = Machine::new().disk(disk).start().unwrap();
    let mut peer = Peer::connect(guest.vm());
    earliest_session(&mut peer);
    let write = WriteRequest { mode: WriteMode::Replace, path: b"/disk/early", data: b"bird" };
    let written = peer.send(code::WRITE, &bytes(&write));
    let mut argv = [0; 64];
    let spawn = SpawnRequest {
        stdin: StdinPolicy::Closed,
        timeout_ms: 0,
        output_limit: 0,
        path: b"/bin/crash",
        cwd: b"",
        argv: List::build([Word(b"crash")], &mut argv).unwrap(),
        env: List::EMPTY,
        input: b"",
    };
    let spawned = peer.send(code::SPAWN, &bytes(&spawn));
    let (status, body) = peer.response(spawned, code::SPAWN);
    assert_eq!(status, Status::Ok);
    assert_ne!(SpawnReply::decode(&body).unwrap().pid, 1, "the first process is init");
    assert_eq!(peer.response(written, code::WRITE).0, Status::Ok);
    guest.wait_for(PROMPT, SOON).unwrap();
    guest.type_line("cat /disk/early; poweroff").unwrap();
    guest.wait_for("\nbird", SOON).unwrap();
    assert_eq!(guest.exit(SOON).unwrap(), Exit::PowerOff);
    let image = std::fs::read(folder.path().join("disk.img")).unwrap();
    assert!(image.windows(4).any(|bytes| bytes == b"bird"), "it is on the disk");
}
