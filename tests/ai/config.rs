//! `ai config`, and what the configuration decides.

use std::path::Path;

use askr::{Disk, Machine};
use askr_wire::code;
use askr_wire::message::{RenameRequest, WriteMode, WriteRequest};
use askr_wire::status::Status;

use crate::common::peer::{Peer, bytes};
use crate::common::shell::Askr;
use crate::{GUEST, answer, plan};

/// Bytes of a disk.
const SIZE: u64 = 4 << 20;

/// A machine with a disk that stays in the folder.
pub(crate) fn machine(folder: &Path) -> Machine {
    let image = folder.join("disk.img");
    if !image.exists() {
        std::fs::File::create(&image).unwrap().set_len(SIZE).unwrap();
    }
    Machine::new().disk(Disk::open(&image, false).unwrap())
}

#[test]
fn settings_are_checked_kept_and_survive_a_reboot() {
    let folder = tempfile::tempdir().unwrap();
    let mut askr = Askr::boot(&machine(folder.path()));
    assert!(askr.run("ai config").starts_with("# /disk/etc/agent.conf\r\n# provider is not set"));
    assert_eq!(askr.run("ai config model llama3.2:1b"), "model=llama3.2:1b\r\n");
    assert_eq!(askr.run("ai config provider ollama"), "provider=ollama\r\n");
    let refused = askr.run("ai config confirm sometimes");
    assert_eq!(refused, "ai: config: confirm must be changes, always or never; nothing was changed\r\n");
    assert_eq!(askr.status(), 2);
    let refused = askr.run("ai config api_key_env sk-12345");
    assert!(refused.contains("the key itself never belongs here") && !refused.contains("12345"), "{refused}");
    assert!(
        askr.run("ai config colour red").contains("there is no key 'colour'; there are provider, endpoint")
    );
    // Lines that are wrong are told with their number, and kept.
    askr.run("echo '# mine' >> /disk/etc/agent.conf; echo nonsense >> /disk/etc/agent.conf; echo model= >> /disk/etc/agent.conf");
    let shown = askr.run("ai config");
    assert!(shown.contains("model=llama3.2:1b\r\n"), "{shown}");
    assert!(shown.contains("ai: /disk/etc/agent.conf: line 4 is ignored: it is no key=value\r\n"), "{shown}");
    assert!(shown.contains("line 5 is ignored: model must be the name of a model\r\n"), "{shown}");
    askr.run("ai config model other");
    assert_eq!(askr.run("ai config endpoint http://127.0.0.1:1/v1"), "endpoint=http://127.0.0.1:1/v1\r\n");
    assert_eq!(askr.run("ai config unset endpoint"), "endpoint is not set\r\n");
    assert!(askr.run("ai config unset colour").contains("there is no key 'colour'"));
    askr.power_off();
    drop(askr);
    let mut askr = Askr::boot(&machine(folder.path()));
    assert_eq!(askr.run("ai config model"), "model=other\r\n");
    let text = askr.run("cat /disk/etc/agent.conf");
    assert_eq!(text, "model=other\r\nprovider=ollama\r\n# mine\r\nnonsense\r\nmodel=\r\n");
    askr.power_off();
}

#[test]
fn when_a_person_is_asked_is_not_the_agents_to_change() {
    let folder = tempfile::tempdir().unwrap();
    let mut askr = Askr::boot(&machine(folder.path()));
    askr.run("ai config confirm always");
    let mut peer = Peer::in_session(askr.vm());
    // In place, by another file or directory in its place, and by what the agent starts.
    let setting = &b"confirm=never\n"[..];
    let write = |path| WriteRequest { mode: WriteMode::Replace, path, data: setting };
    peer.ok(code::MKDIR, b"/disk/other");
    peer.ok(code::WRITE, &bytes(&write(b"/disk/other/agent.conf")));
    let rename = |from, to| bytes(&RenameRequest { from, to });
    for (verb, request) in [
        (code::WRITE, bytes(&write(b"/disk/etc/agent.conf"))),
        (code::WRITE, bytes(&write(b"/disk/other/../etc/new"))),
        (code::UNLINK, b"/disk/etc/agent.conf".to_vec()),
        (code::RENAME, rename(b"/disk/etc", b"/disk/gone")),
        (code::RENAME, rename(b"/disk/other", b"/disk/etc")),
        (code::RENAME, rename(b"/disk/other/agent.conf", b"/disk/etc/agent.conf")),
    ] {
        assert_eq!(peer.call(verb, &request).0, Status::Perm, "{}", request.escape_ascii());
    }
    let (job, _) = peer.spawn_line("echo confirm=never > /disk/etc/agent.conf");
    assert_ne!(peer.wait(job).code, 0);
    assert_eq!(askr.run("cat /disk/etc/agent.conf"), "confirm=always\r\n");
    askr.power_off();
}

#[test]
fn without_a_disk_nothing_can_be_kept_and_that_is_said() {
    let mut askr = GUEST.take();
    let said = askr.run("ai config model x");
    assert_eq!(said, "ai: /disk/etc/agent.conf: No such file or directory; nothing was changed\r\n");
    assert_eq!(askr.status(), 1);
}

#[test]
fn confirm_decides_what_is_asked_but_settings_always_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut askr = Askr::boot(&machine(folder.path()));
    let mut peer = Peer::in_session(askr.vm());
    askr.run("ai config confirm never");
    askr.start("ai do it");
    answer(&mut peer, &plan(&["touch /tmp/done", "ls /tmp/done"], false));
    assert_eq!(askr.finish(), "+ touch /tmp/done\r\n+ ls /tmp/done\r\n/tmp/done\r\n(decided by: agent)\r\n");
    askr.start("ai use a model");
    let ask = peer.ask();
    peer.answer(ask.seq, "SET model theirs");
    askr.expect("  1. set in the agent's configuration: model=theirs\r\ndo it? [y/N] ");
    askr.type_line("n").unwrap();
    assert!(askr.finish().ends_with("ai: nothing was done\r\n"));
    askr.start("ai use a model");
    let ask = peer.ask();
    peer.answer(ask.seq, "SET model theirs");
    askr.expect("do it? [y/N] ");
    askr.type_line("y").unwrap();
    assert!(askr.finish().contains("model=theirs\r\n(decided by: agent)"));
    askr.start("ai which model");
    let ask = peer.ask();
    peer.answer(ask.seq, "GET model");
    assert_eq!(askr.finish(), "model=theirs\r\n(decided by: agent)\r\n");

    askr.run("ai config confirm always");
    askr.start("ai look");
    answer(&mut peer, &plan(&["ls /etc"], false));
    askr.expect("  1. run: ls /etc\r\ndo it? [y/N] ");
    askr.type_line("y").unwrap();
    assert!(askr.finish().contains("motd\r\n"));
    askr.power_off();
}
