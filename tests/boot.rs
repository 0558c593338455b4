//! Askr boots to a shell on every kind of machine, and `poweroff` ends it.

use std::fs;
use std::time::Duration;

use askr::{Exit, ExtraFile, Machine, Model, Result};

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
