//! The library that drives QEMU keeps its promises: nothing is left behind, every failure says why.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use askr::{Disk, Error, Exit, Machine, Model, Result};
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

/// A command of QEMU's monitor for people.
fn monitor(vm: &askr::Vm, line: &str) -> Result<String> {
    let said = vm.qmp("human-monitor-command", &json!({ "command-line": line }))?;
    Ok(said.as_str().unwrap_or_default().to_owned())
}

#[test]
fn there_is_no_network_device() -> Result<()> {
    for model in [Model::Q35, Model::Pc, Model::Microvm] {
        let mut guest = Machine::new().model(model).start()?;
        let vm = guest.vm();
        assert_eq!(monitor(vm, "info network")?, "");
        let devices = monitor(vm, "info qtree")?.to_lowercase();
        assert!(devices.contains("serial"), "{devices}");
        for word in ["e1000", "virtio-net", "rtl8139", "ne2k", "netdev", "mac ="] {
            assert!(!devices.contains(word), "{model:?}: {word}");
        }
    }
    Ok(())
}

#[test]
fn every_boot_has_a_seed_of_its_own() -> Result<()> {
    let seeds = [(); 2].map(|()| {
        let vm = Machine::new().spawn().expect("a machine");
        let words = fs::read(format!("/proc/{}/cmdline", vm.pid())).expect("its command line");
        let words = String::from_utf8_lossy(&words).into_owned();
        let (_, seed) = words.split_once("seed=").expect("a seed");
        seed[..32].to_owned()
    });
    assert!(
        seeds[0] != seeds[1] && seeds.iter().all(|seed| seed.bytes().all(|digit| digit.is_ascii_hexdigit()))
    );
    Ok(())
}

#[test]
fn a_disk_takes_what_is_written_unless_it_is_thrown_away() -> Result<()> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("disk.img");
    for (throwaway, model) in [(false, Model::Q35), (true, Model::Pc), (false, Model::Microvm)] {
        let mut guest = Machine::new().model(model).disk(Disk::open(&path, throwaway)?).start()?;
        let disks = guest.vm().qmp("query-block", &json!({}))?;
        let disk =
            &disks.as_array().and_then(|all| all.iter().find(|one| one["device"] == "disk")).expect("it");
        assert!(disk["qdev"].is_string(), "a device has it: {disk}");
        let inserted = &disk["inserted"];
        assert_eq!(inserted["ro"], false);
        // What is thrown away is an overlay of which the image is the unchanged ground.
        let (format, ground) = if throwaway { ("qcow2", path.to_str()) } else { ("raw", None) };
        assert_eq!(inserted["drv"], format, "{inserted}");
        assert_eq!(inserted["backing_file"].as_str(), ground, "{inserted}");
        guest.wait_for(PROMPT, SOON)?;
    }
    Ok(())
}

/// A kernel in assembly that stands for ours.
fn kernel(name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.s"));
    let kernel = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut cc = Command::new("cc");
    cc.args(["-static", "-nostdlib", "-Wl,-Ttext-segment=0x100000,--build-id=none", "-o"])
        .arg(&kernel)
        .arg(&source);
    assert!(cc.status().expect("a C compiler, `cc`").success());
    kernel
}

#[test]
fn a_kernel_that_panics_is_told_from_one_that_powers_off() -> Result<()> {
    let mut vm = Machine::new().kernel(kernel("panicked")).spawn()?;
    assert_eq!(vm.wait(SOON)?, Exit::Panic);
    Ok(())
}

#[test]
fn a_kernel_that_cannot_start_is_not_started_for_ever() -> Result<()> {
    let fallen = kernel("fallen");
    for model in [Model::Q35, Model::Pc, Model::Microvm] {
        let machine = Machine::new().model(model).kernel(&fallen).restarts();
        assert_eq!(machine.spawn()?.wait(SOON)?, Exit::ResetLoop, "{model:?}");
    }
    Ok(())
}

#[test]
fn a_guest_that_resets_itself_starts_again_on_every_kind_of_machine() -> Result<()> {
    for model in [Model::Q35, Model::Pc, Model::Microvm] {
        let mut guest = Machine::new().model(model).restarts().start()?;
        guest.wait_for(PROMPT, SOON)?;
        guest.type_line("echo kept > /tmp/file; cat /tmp/file")?;
        guest.wait_for("\nkept\r\n", SOON)?;
        guest.wait_for(PROMPT, SOON)?;
        guest.type_line("reboot")?;
        guest.wait_for("Askr ", SOON)?;
        guest.wait_for(PROMPT, SOON)?;
        guest.type_line("cat /tmp/file; poweroff")?;
        guest.wait_for("/tmp/file: No such file or directory", SOON)?;
        assert_eq!(guest.exit(SOON)?, Exit::PowerOff, "{model:?}");
    }
    Ok(())
}
