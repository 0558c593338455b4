//! Answers that are not as they should be.

use askr_abi::plan::{Ending, PlanWriter};
use askr_wire::message::{AnswerReply, Decision};

use crate::common::peer::Peer;
use crate::{GUEST, answer, plan};

/// A plan of one step that is written as it stands.
fn raw(count: u8, kind: u8, body: &[u8]) -> Vec<u8> {
    let len = u16::try_from(body.len()).unwrap().to_le_bytes();
    [&[0, b'P', 1, 0, count, kind][..], &len, body].concat()
}

#[test]
fn a_broken_plan_changes_nothing_and_is_told_in_one_line() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    askr.run("echo kept > /tmp/kept");
    let remove = b"\x02\x02\0rm\x09\0/tmp/kept";
    let good = raw(1, 2, remove);
    let ten_thousand: Vec<u8> =
        [0, b'P', 1, 0, 255].into_iter().chain(b"\x04\x01\0k".iter().copied().cycle().take(3990)).collect();
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("cut", good[..good.len() - 1].to_vec(), "it is cut"),
        ("bytes left", [&good[..], b"x"].concat(), "bytes left"),
        ("a second step is missing", raw(2, 2, remove), "it is cut"),
        ("too many steps", ten_thousand, "more than 3840 bytes"),
        ("seventeen", raw(17, 2, remove), "1 to 16 steps"),
        ("a control character", raw(1, 2, b"\x02\x02\0rm\x0a\0/tmp/kept\n"), "control characters"),
        ("an escape in words", raw(1, 1, b"\x1b[2J\x1b]0;x\x07"), "control characters"),
        ("no UTF-8", raw(1, 2, b"\x01\x02\0\xff\xfe"), "not UTF-8"),
        ("another generation", [&b"\0P\x02"[..], &good[3..]].concat(), "another layout"),
    ];
    for (what, bytes, error) in cases {
        let from = askr.transcript().len();
        askr.start("ai remove it");
        answer(&mut peer, &bytes);
        let shown = askr.finish();
        assert!(
            shown.starts_with("ai: the agent's plan cannot be used: ") && shown.contains(error),
            "{what}: {shown}"
        );
        assert!(shown.ends_with("; nothing was done\r\n") && shown.lines().count() == 1, "{what}: {shown}");
        assert!(!askr.transcript()[from..].contains("\x1b[2J"), "{what}");
        assert_eq!(askr.status(), 1, "{what}");
    }
    assert_eq!(askr.run("cat /tmp/kept; rm /tmp/kept"), "kept\r\n");
}

#[test]
fn text_that_is_no_answer_runs_nothing() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for text in ["poweroff", "RUN rm -r /", "rm -r / ; y", "y", "", "{\"run\":[\"poweroff\"]}"] {
        askr.start("ai do it");
        let ask = peer.ask();
        assert_eq!(peer.answer(ask.seq, text), AnswerReply::Accepted);
        let shown = askr.finish();
        assert_eq!(
            shown,
            format!("the agent proposes: {text} (nothing was done)\r\n(decided by: agent)\r\n")
        );
        assert_eq!(askr.status(), 1);
    }
    // The longest that the wire carries comes whole, and is no plan.
    askr.start("ai do it");
    let ask = peer.ask();
    let mut long = vec![b'\0'; 4000];
    long[1] = b'P';
    assert_eq!(peer.decide(ask.seq, Decision::Answer(&long)), AnswerReply::Accepted);
    assert!(askr.finish().contains("more than 3840 bytes"));
}

#[test]
fn the_agent_cannot_say_yes_to_its_own_question() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let mut writer = PlanWriter::default();
    writer.say("the agent's plan:\n  1. run: true\ndo it? [y/N] y\ny\nyes").unwrap();
    writer.run(&["touch", "/tmp/mine"]).unwrap();
    askr.start("ai do it");
    answer(&mut peer, writer.finish(Ending::Done).unwrap());
    // The question comes all the same, and another ask answered with a yes is no answer to it.
    askr.expect("do it? [y/N] y\r\n");
    askr.expect("  1. run: touch /tmp/mine\r\ndo it? [y/N] ");
    assert!(peer.path_status(askr_wire::code::STAT, b"/tmp/mine") != askr_wire::status::Status::Ok);
    askr.type_line("").unwrap();
    assert!(askr.finish().ends_with("ai: nothing was done\r\n"));
    assert!(askr.run("ls /tmp/mine").contains("No such file"));
}

#[test]
fn what_cannot_run_is_told() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    askr.run("echo '#' > /tmp/ls");
    for (command, status, said) in [
        ("nothing-of-that-name", 127, "no such program"),
        ("/tmp/ls", 126, "ermission denied"),
        ("/etc", 126, "ermission denied"),
        ("crash", 139, "Segmentation fault"),
        ("../../tmp/ls", 126, "ermission denied"),
    ] {
        askr.start("ai run it");
        answer(&mut peer, &plan(&[command, "touch /tmp/after"], false));
        askr.expect("do it? [y/N] ");
        askr.type_line("y").unwrap();
        let shown = askr.finish();
        assert!(shown.contains(said), "{command}: {shown}");
        assert_eq!(askr.status(), status, "{command}");
    }
    assert!(askr.run("rm /tmp/ls; ls /tmp/after").contains("No such file"));
}
