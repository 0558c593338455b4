//! Askr boots to a shell on every kind of machine, and `poweroff` ends it; where it can't boot, it says why.

mod common;

use std::fs;
use std::time::Duration;

use askr::{Exit, ExtraFile, Machine, Model, Result};
use common::peer::Peer;
use common::shell::{Askr, number_after};

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
