//! Plans that are as they should be.

use askr_abi::plan::{Ending, PlanWriter};
use askr_wire::message::{AnswerReply, Decision};

use crate::common::peer::Peer;
use crate::{GUEST, answer, plan, told};

#[test]
fn what_only_looks_runs_at_once_and_the_agent_knows_where() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    askr.run("mkdir -p /tmp/where/sub; echo x > /tmp/where/file; cd /tmp/where");
    askr.start("ai what is here, what's \"there\" & why; ls");
    let ask = answer(&mut peer, &plan(&["ls -1", "cat file"], false));
    assert_eq!(ask.payload, b"what is here, what's \"there\" & why; ls", "in the person's own words");
    assert_eq!(told(&ask, "plan").as_deref(), Some("1"));
    assert_eq!(told(&ask, "cwd").as_deref(), Some("/tmp/where"));
    assert_eq!(told(&ask, "listing").as_deref(), Some("file\nsub/"));
    assert!(told(&ask, "programs").unwrap().split(' ').any(|name| name == "ls"));
    assert_eq!(askr.finish(), "+ ls -1\r\nfile\r\nsub\r\n+ cat file\r\nx\r\n(decided by: agent)\r\n");
    assert_eq!(askr.status(), 0);
    askr.run("cd /; rm -r /tmp/where");
}

#[test]
fn what_may_change_something_waits_for_a_yes() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let both = plan(&["touch /tmp/yes", "ls /tmp/yes"], false);
    for (reply, status) in [("n", 1), ("", 1), ("yes please", 1), ("y", 0)] {
        askr.start("ai do it");
        answer(&mut peer, &both);
        askr.expect(
            "the agent's plan:\r\n  1. run: touch /tmp/yes\r\n  2. run: ls /tmp/yes\r\ndo it? [y/N] ",
        );
        assert!(
            peer.path_status(askr_wire::code::STAT, b"/tmp/yes") != askr_wire::status::Status::Ok,
            "it has not run"
        );
        askr.type_line(reply).unwrap();
        let shown = askr.finish();
        if status == 0 {
            let end = "+ touch /tmp/yes\r\n+ ls /tmp/yes\r\n/tmp/yes\r\n(decided by: agent)\r\n";
            assert_eq!(shown, format!("{reply}\r\n{end}"));
        } else {
            assert_eq!(shown, format!("{reply}\r\nai: nothing was done\r\n"));
        }
        assert_eq!(askr.status(), status, "{reply:?}");
    }
    askr.run("rm /tmp/yes");
}

#[test]
fn a_yes_from_before_the_question_is_none() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    askr.start("ai do it");
    let ask = peer.ask();
    askr.type_bytes(b"y\ny\n").unwrap();
    // It has been typed when it is shown.
    askr.expect("y\r\ny\r\n");
    let touch = plan(&["touch /tmp/early"], false);
    assert_eq!(peer.decide(ask.seq, Decision::Answer(&touch)), AnswerReply::Accepted);
    askr.expect("do it? [y/N] ");
    askr.type_bytes(b"\x04").unwrap();
    assert_eq!(askr.finish(), "\r\nai: nothing was done\r\n");
    assert!(askr.run("ls /tmp/early").contains("No such file"));
}

#[test]
fn results_go_back_for_at_most_four_rounds() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    askr.start("ai count");
    let ask = answer(&mut peer, &plan(&["echo one two", "ls /nowhere", "echo never"], true));
    assert_eq!((told(&ask, "round"), told(&ask, "result1")), (Some("1 of 4".into()), None));
    let ask = answer(&mut peer, &plan(&["seq 2000"], true));
    assert_eq!(told(&ask, "round").as_deref(), Some("2 of 4"));
    assert_eq!(told(&ask, "result1").as_deref(), Some("$ echo one two\nexit 0, 1 lines, 8 bytes\none two\n"));
    let failed = told(&ask, "result2").unwrap();
    assert!(
        failed.starts_with("$ ls /nowhere\nexit 2, 1 lines, ") && failed.contains("No such file"),
        "{failed}"
    );
    assert_eq!(told(&ask, "result3"), None, "a step that fails ends its plan");
    let ask = answer(&mut peer, &plan(&["true"], true));
    let long = told(&ask, "result3").unwrap();
    assert!(
        long.starts_with("$ seq 2000\nexit 0, 2000 lines, 8893 bytes\n[cut]\n")
            && long.ends_with("\n1999\n2000\n"),
        "{long}"
    );
    answer(&mut peer, &plan(&["true"], true));
    let shown = askr.finish();
    assert!(shown.ends_with("ai: the agent wants to go on after 4 rounds; that is the most\r\n"), "{shown}");
    assert_eq!(askr.status(), 1);

    // With the last word the exit code is that of the last program.
    askr.start("ai look");
    answer(&mut peer, &plan(&["ls /nowhere"], true));
    answer(&mut peer, b"SAY it is not there");
    assert!(askr.finish().ends_with("it is not there\r\n(decided by: agent)\r\n"));
    assert_eq!(askr.status(), 2);
}

#[test]
fn arguments_are_no_shell_text() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let mut writer = PlanWriter::default();
    writer
        .run(&["echo", "a;touch /tmp/evil", "$(touch /tmp/evil)", "*", "", "'", "> /tmp/evil", "`x`"])
        .unwrap();
    askr.start("ai echo");
    answer(&mut peer, writer.finish(Ending::Done).unwrap());
    let shown = askr.finish();
    assert!(
        shown.starts_with(
            "+ echo 'a;touch /tmp/evil' '$(touch /tmp/evil)' '*' '' ''\\''' '> /tmp/evil' '`x`'\r\n"
        ),
        "{shown}"
    );
    assert!(shown.contains("\r\na;touch /tmp/evil $(touch /tmp/evil) *  ' > /tmp/evil `x`\r\n"), "{shown}");
    assert!(askr.run("ls /tmp/evil").contains("No such file"));
}

#[test]
fn ctrl_c_leaves_nothing_running() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    // While it asks.
    askr.start("ai wait");
    let ask = peer.ask();
    askr.type_bytes(b"\x03").unwrap();
    assert_eq!(askr.finish().trim_end(), "^C");
    assert_eq!(peer.answer(ask.seq, "SAY late"), AnswerReply::Late);
    assert_eq!(askr.status(), 130);
    // While it waits for a yes, or is about to: the question is on the screen before it reads.
    for _ in 0..20 {
        askr.start("ai wait");
        answer(&mut peer, &plan(&["touch /tmp/no"], false));
        askr.expect("do it? [y/N] ");
        askr.type_bytes(b"\x03").unwrap();
        assert_eq!(askr.finish().trim_end(), "^C");
    }
    // While a program runs that has another in the background, where Ctrl-C is ignored.
    let mut writer = PlanWriter::default();
    writer.run(&["sh", "-c", "sleep 1001 & echo started; sleep 1002; touch /tmp/no"]).unwrap();
    writer.run(&["touch", "/tmp/no"]).unwrap();
    askr.start("ai wait");
    answer(&mut peer, writer.finish(Ending::Done).unwrap());
    askr.expect("do it? [y/N] ");
    askr.type_line("y").unwrap();
    askr.expect("started\r\n");
    askr.type_bytes(b"\x03").unwrap();
    assert_eq!(askr.finish().trim_end(), "^C");
    assert_eq!(askr.status(), 130);
    let ps = askr.run("ps");
    assert!(!ps.contains(" sleep\r\n") && !ps.contains(" ai\r\n"), "{ps}");
    assert!(askr.run("ls /tmp/no").contains("No such file"));
}

#[test]
fn a_program_gets_no_input_and_is_not_the_person() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let waiting = askr.run("ask -t 600 'may it?' &");
    assert!(waiting.starts_with("[1] "), "{waiting}");
    let ask = peer.ask();
    let number = ask.seq - askr_wire::code::ASK_SEQ_FIRST;
    askr.start("ai answer it");
    answer(&mut peer, &plan(&["cat", &format!("answer {number} yes")], false));
    askr.expect("do it? [y/N] ");
    askr.type_line("y").unwrap();
    let shown = askr.finish();
    assert!(shown.contains("only the person at the console may, in the foreground (EPERM)"), "{shown}");
    assert_eq!(peer.answer(ask.seq, "no"), AnswerReply::Accepted, "it waits on");
    askr.expect("decided by: agent\r\n");
    askr.run("wait");
}

#[test]
fn without_a_person_nothing_that_changes_runs() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let (job, _) = peer.spawn_line("ai do it");
    answer(&mut peer, &plan(&["touch /tmp/nobody"], false));
    peer.wait(job);
    let said = peer.all_output(job, askr_wire::message::OutputStream::Stderr).0;
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.ends_with("ai: this needs a yes from the person at the terminal; nothing was done\n"),
        "{said}"
    );
    // In the background of the console neither.
    askr.run("sh -c 'ai do it' &");
    answer(&mut peer, &plan(&["touch /tmp/nobody"], false));
    askr.expect("ai: this needs a yes from the person at the terminal; nothing was done\r\n");
    askr.settle();
    assert!(askr.run("wait; ls /tmp/nobody").contains("No such file"));
}
