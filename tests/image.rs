//! The disk image boots the same system by BIOS and by UEFI, and what a person sees and types at the machine itself
//! works. With the feature `disk-image` only, which builds a boot loader.
#![cfg(feature = "disk-image")]

mod common;

use std::fs;
use std::process::Command;

use askr::{Door, Exit, Machine, Model, Vm};
use common::PATIENCE;
use common::screen::{await_screen, last_row, type_text};
use common::shell::{Askr, number_after};

const PROMPT: &str = "askr$";

#[test]
fn bios_and_uefi_boot_to_the_prompt() {
    for (door, model, cpu, mib) in [
        (Door::Bios, Model::Q35, "max", 64),
        (Door::Bios, Model::Pc, "qemu64", 128),
        (Door::Uefi, Model::Q35, "qemu64", 128),
        (Door::Uefi, Model::Pc, "max", 4096),
    ] {
        let mut askr = Askr::boot(&Machine::new().door(door).model(model).cpu(cpu).memory_mib(mib));
        assert!(askr.run("cat /proc/version").contains("Askr"), "{door:?}");
        let total = number_after(&askr.run("cat /proc/meminfo"), "MemTotal:");
        // Firmware and screen keep some.
        assert!(total > u64::from(mib - 48) * 1024, "{door:?} with {mib} MiB: {total} kB");
        askr.power_off();
    }
}

/// A machine without a serial port, at its prompt.
fn machine_with_a_screen(door: Door) -> Vm {
    let vm = Machine::new().door(door).without_com1().without_com2().spawn().unwrap();
    await_screen(&vm, "a prompt", |rows| last_row(rows) == PROMPT);
    vm
}

#[test]
fn a_machine_without_a_serial_port_is_usable() {
    let mut vm = machine_with_a_screen(Door::Bios);
    let rows = await_screen(&vm, "the kernel's messages", |rows| rows.iter().any(|row| row.contains("COM1")));
    assert!(rows.iter().any(|row| row.starts_with("Welcome to Askr")), "{rows:#?}");

    // Editing in the middle, and the history.
    type_text(&vm, "echo wrld");
    for _ in 0..3 {
        vm.press(&["left"]).unwrap();
    }
    vm.press(&["o"]).unwrap();
    await_screen(&vm, "the letter in its place", |rows| last_row(rows) == "askr$ echo world");
    vm.press(&["ret"]).unwrap();
    await_screen(&vm, "the output", |rows| rows.iter().any(|row| row == "world"));
    vm.press(&["up"]).unwrap();
    await_screen(&vm, "the line before", |rows| last_row(rows) == "askr$ echo world");
    vm.press(&["home"]).unwrap();
    vm.press(&["ctrl", "k"]).unwrap();
    await_screen(&vm, "an empty line", |rows| last_row(rows) == PROMPT);

    // Ctrl-C ends a program.
    type_text(&vm, "sleep 1000");
    vm.press(&["ret"]).unwrap();
    vm.press(&["ctrl", "c"]).unwrap();
    await_screen(&vm, "the prompt after Ctrl-C", |rows| last_row(rows) == PROMPT);

    // More than a screen full.
    type_text(&vm, "cat /proc/meminfo");
    for _ in 0..12 {
        vm.press(&["ret"]).unwrap();
        await_screen(&vm, "the prompt", |rows| last_row(rows) == PROMPT);
        vm.press(&["up"]).unwrap();
        await_screen(&vm, "the line before", |rows| last_row(rows) == "askr$ cat /proc/meminfo");
    }
    let rows = await_screen(&vm, "scrolled", |rows| !rows.iter().any(|row| row.starts_with("Welcome")));
    assert!(rows.iter().filter(|row| row.starts_with("MemTotal:")).count() > 5, "{rows:#?}");
    vm.press(&["home"]).unwrap();
    vm.press(&["ctrl", "k"]).unwrap();
    await_screen(&vm, "an empty line", |rows| last_row(rows) == PROMPT);
    type_text(&vm, "poweroff");
    vm.press(&["ret"]).unwrap();
    assert_eq!(vm.wait(PATIENCE).unwrap(), Exit::PowerOff);
}

#[test]
fn ctrl_alt_delete_restarts_the_machine() {
    let mut vm = machine_with_a_screen(Door::Bios);
    vm.press(&["ctrl", "alt", "delete"]).unwrap();
    assert_eq!(vm.wait(PATIENCE).unwrap(), Exit::Reset);
}

#[test]
fn the_screen_shows_what_com1_shows() {
    let mut askr = Askr::boot(&Machine::new().door(Door::Uefi));
    let output = askr.run("ls -1 /bin | head -n 20");
    let programs: Vec<String> = output.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect();
    assert!(programs.len() > 10, "{output}");
    let vm = askr.vm();
    await_screen(vm, "the same lines", |rows| {
        let Some(start) = rows.iter().position(|row| row.trim() == "askr$ ls -1 /bin | head -n 20") else {
            return false;
        };
        programs.iter().zip(&rows[start + 1..]).all(|(line, row)| line.trim_end() == row)
            && last_row(rows) == PROMPT
    });
}

#[test]
fn a_panic_is_on_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.tar");
    fs::write(&empty, [0; 1024]).unwrap();
    let vm = Machine::new().door(Door::Bios).initrd(&empty).without_com1().spawn().unwrap();
    let rows = await_screen(&vm, "a panic", |rows| rows[0].starts_with("kernel panic: "));
    assert!(rows[1].contains("cannot start /bin/init"), "{rows:#?}");
    assert!(rows[2].contains("halted"), "{rows:#?}");
}

#[test]
fn one_line_runs_through_either_door() {
    for door in ["bios", "uefi"] {
        let mut askr = Command::new(env!("CARGO_BIN_EXE_askr"));
        askr.args(["--boot", door, "--accel", "tcg", "--throwaway", "--no-agent"]);
        let done = askr.args(["--run", "echo exactly this; exit 7"]).output().unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert_eq!(
            (done.stdout.as_slice(), done.status.code()),
            (&b"exactly this\n"[..], Some(7)),
            "{errors}"
        );
        assert_eq!(errors, "");
    }
}

#[test]
fn the_image_that_is_written_boots() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("out.img");
    let note = folder.path().join("note");
    fs::write(&note, "echo from the image\n").unwrap();
    let mut askr = Command::new(env!("CARGO_BIN_EXE_askr"));
    askr.arg("image").arg(&image).arg("--with").arg(format!("{}:/etc/run", note.display()));
    let done = askr.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.len() == 2, "{left:?}");

    // QEMU as anybody would start it.
    let mut qemu = Command::new("qemu-system-x86_64");
    qemu.args([
        "-nodefaults",
        "-nic",
        "none",
        "-display",
        "none",
        "-device",
        "VGA",
        "-serial",
        "stdio",
        "-snapshot",
    ]);
    qemu.arg("-drive").arg(format!("format=raw,file={}", image.display()));
    let done = qemu.output().unwrap();
    let output = String::from_utf8_lossy(&done.stdout);
    assert!(output.contains("from the image"), "{output} {}", String::from_utf8_lossy(&done.stderr));
}
