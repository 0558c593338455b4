//! The SDK, as `docs/sdk.md` shows it: its examples run against a booted guest, by the commands that stand there.

#[path = "../common/mod.rs"]
mod common;

use std::path::Path;
use std::process::Command;

use askr::Machine;
use common::bridge::Bridge;
use common::python::{interpreter, output_of};
use common::shell::Shared;

const PAGE: &str = include_str!("../../docs/sdk.md");
const WORKSPACE: &str = env!("CARGO_MANIFEST_DIR");

static GUEST: Shared = Shared::new(Machine::new);

/// The blocks of the page in this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let start = format!("\n```{language}\n");
    let rest = PAGE.split(&start).skip(1);
    rest.map(|rest| &rest[..rest.find("```").expect("the end of a block")]).collect()
}

/// What a command of the page says, in the checkout, with the hub at this socket.
fn said(line: &str, socket: &Path) -> String {
    let mut shell = Command::new("sh");
    shell
        .args(["-ec", line])
        .current_dir(WORKSPACE)
        .env("ASKR_SOCKET", socket)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    output_of(&mut shell).unwrap_or_else(|said| panic!("{said}"))
}

#[test]
fn the_page_shows_the_examples_as_they_are() {
    assert_eq!(blocks("rust"), [include_str!("../../host-bridge/examples/tour.rs")]);
    assert_eq!(blocks("python"), [include_str!("../../host-bridge/python/tour.py")]);
}

#[test]
fn the_examples_do_what_the_page_says() {
    let mut askr = GUEST.take();
    let bridge = Bridge::on(askr.vm());
    let motd = askr.run("wc -c < /etc/motd");
    let [text] = blocks("text")[..] else { panic!("one block of text") };
    let rust = text.replace("MOTD", motd.trim());
    let python = rust.replace("Exited(3)", "exit code 3");
    let [commands] = blocks("sh")[..] else { panic!("one block of commands") };
    let [first, second] = commands.lines().collect::<Vec<_>>()[..] else { panic!("{commands}") };
    assert_eq!(said(first, &bridge.socket()), rust);
    assert_eq!(askr.run("cat /tmp/copy"), askr.run("cat /etc/motd"));
    askr.run("rm /tmp/copy");
    if interpreter().is_some() {
        assert_eq!(said(second, &bridge.socket()), python);
        assert_eq!(askr.run("cat /tmp/copy"), askr.run("cat /etc/motd"));
    }
}

/// The dependency of the page is resolved, in a package of its own: name, place and feature are right.
#[test]
fn a_package_elsewhere_can_depend_on_the_library() {
    let [dependency] = blocks("toml")[..] else { panic!("one block") };
    let folder = tempfile::tempdir().unwrap();
    let package = "[package]\nname = \"mine\"\nedition = \"2024\"\n\n";
    let manifest = package.to_owned() + &dependency.replace("/path/to/askr", WORKSPACE) + "\n[workspace]\n";
    std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/main.rs"), blocks("rust")[0]).unwrap();
    // What this workspace has locked is on this machine.
    std::fs::copy(Path::new(WORKSPACE).join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--quiet", "--offline"]).current_dir(folder.path());
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk")).env_remove("RUSTFLAGS");
    output_of(&mut cargo).unwrap_or_else(|said| panic!("{said}"));
}

mod python;
