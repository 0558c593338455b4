//! The library that drives QEMU keeps its promises: nothing is left behind, every failure says why.

use std::time::Duration;

use askr::{Error, Exit, Machine, Result};
use serde_json::json;

const PROMPT: &str = "askr$ ";
/// For anything the guest does.
const SOON: Duration = Duration::from_secs(60);

#[test]
fn a_guest_can_be_paused() -> Result<()> {
    let mut guest = Machine::new().start()?;
    guest.wait_for(PROMPT, SOON)?;
    let vm = guest.vm();
    let is_running =
        |vm: &askr::Vm| vm.qmp("query-status", &json!({})).map(|status| status["running"] == true);
    assert!(is_running(vm)?);
    vm.pause()?;
    assert!(!is_running(vm)?);
    vm.resume()?;
    assert!(is_running(vm)?);
    assert!(matches!(vm.qmp("no-such-command", &json!({})), Err(Error::Qmp { .. })));
    Ok(())
}

#[test]
fn com2_can_be_connected_again() -> Result<()> {
    let mut guest = Machine::new().start()?;
    guest.wait_for(PROMPT, SOON)?;
    let frontend_open = |vm: &askr::Vm| -> Result<bool> {
        let chardevs = vm.qmp("query-chardev", &json!({}))?;
        let com2 = chardevs.as_array().and_then(|all| all.iter().find(|one| one["label"] == "com2").cloned());
        Ok(com2.is_some_and(|com2| !com2["filename"].as_str().unwrap_or("").starts_with("disconnected")))
    };
    for _ in 0..2 {
        let com2 = guest.vm().com2()?;
        await_that(|| frontend_open(guest.vm()))?;
        drop(com2);
        await_that(|| frontend_open(guest.vm()).map(|open| !open))?;
    }
    Ok(())
}

/// Asks until it is so, or until the deadline.
fn await_that(mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let until = std::time::Instant::now() + SOON;
    while !is_so()? {
        assert!(std::time::Instant::now() < until, "not within {SOON:?}");
        std::thread::yield_now();
    }
    Ok(())
}

#[test]
fn dropping_a_guest_ends_qemu_and_removes_its_folder() -> Result<()> {
    let mut guest = Machine::new().start()?;
    let pid = guest.vm().pid();
    let folder = guest.vm().com2_path().parent().expect("run folder").to_owned();
    assert!(folder.is_dir() && std::path::Path::new(&format!("/proc/{pid}")).exists());
    drop(guest);
    assert!(!folder.exists() && !std::path::Path::new(&format!("/proc/{pid}")).exists());
    Ok(())
}

#[test]
fn a_killed_qemu_is_told_from_a_guest_that_powered_off() -> Result<()> {
    let mut guest = Machine::new().start()?;
    guest.wait_for(PROMPT, SOON)?;
    guest.vm().kill();
    let exit = guest.exit(SOON)?;
    assert!(matches!(&exit, Exit::Failed { status, .. } if status.contains("signal: 9")), "{exit}");
    let error = guest.wait_for("more", SOON).expect_err("it is gone");
    assert!(error.to_string().contains("the guest ended") && error.to_string().contains(PROMPT), "{error}");
    Ok(())
}

#[test]
fn a_qemu_that_does_not_start_says_why() {
    let Err(error) = Machine::new().cpu("abacus").start() else { panic!("there is no such CPU") };
    assert!(matches!(&error, Error::QemuDidNotStart { stderr, .. } if stderr.contains("abacus")), "{error}");
}
