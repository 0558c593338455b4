//! The hub through the library's types.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::time::Duration;

use askr_agentbus::AskOutcome;
use askr_wire::code::{DECISION_GENERIC, EVENT_EXIT};
use host_bridge::client::{Ask, Error, Guest, Pushed};
use host_bridge::socket;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::guest::PATIENCE;

fn guest(bench: &Bench) -> Guest {
    let mut guest = Guest::connect(&bench.socket).unwrap();
    guest.set_patience(PATIENCE);
    guest
}

/// The ask that waits.
fn one_ask(guest: &mut Guest) -> Ask {
    let mut asks = guest.asks(PATIENCE).unwrap();
    assert_eq!(asks.len(), 1);
    asks.remove(0)
}

#[test]
fn files_are_read_and_written_byte_for_byte() {
    let bench = Bench::new();
    let mut guest = guest(&bench);
    let every = (0..=255).collect::<Vec<u8>>();
    // More than a piece, which is more than a frame.
    let long: Vec<u8> = every.iter().copied().cycle().take((1 << 20) + 777).collect();
    // A control character takes six bytes of JSON, and a line to the hub has room for four for each.
    let zeros = vec![0; long.len()];
    for content in [&b""[..], b"plain", &every, &long, &zeros] {
        guest.write(b"/tmp/\xff", content).unwrap();
        assert!(guest.read(b"/tmp/\xff").unwrap() == content);
    }
    let refused = guest.read("/nothing").unwrap_err();
    assert_eq!(refused.code(), Some("ENOENT"));
    let Error::Refused(refusal) = refused else { panic!("{refused}") };
    assert!(refusal.message.starts_with("/nothing: ") && refusal.hint.contains("fs.list"), "{refusal:?}");
    assert_eq!(refusal.boot, Some("01".repeat(16)));
    let unknown = guest.call("fs.nonsense", &[("path", "/".into())]).unwrap_err();
    assert_eq!(unknown.code(), Some("unknown_op"));
    let status = guest.call("status", &[]).unwrap();
    assert_eq!((status.boot, &status.ok["ready"]), (Some("01".repeat(16)), &Value::Bool(true)));
}

#[test]
fn asks_are_answered_refused_and_late() {
    let bench = Bench::new();
    let mut guest = guest(&bench);
    assert_eq!(guest.asks(Duration::ZERO).unwrap(), []);
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I, \xff?", PATIENCE);
    let ask = one_ask(&mut guest);
    assert_eq!((&ask.question[..], &ask.asker), (&b"may I, \xff?"[..], &Some((7, b"/bin/ask".to_vec()))));
    guest.answer(&ask, b"\0\xfe").unwrap();
    assert_eq!(asked.outcome().1, b"\0\xfe");
    assert_eq!(guest.answer(&ask, "again").unwrap_err().code(), Some("late"));
    let asked = bench.guest.ask(DECISION_GENERIC, b"and now?", PATIENCE);
    let ask = one_ask(&mut guest);
    guest.refuse(&ask).unwrap();
    assert_eq!(asked.outcome().0, AskOutcome::Refused);
}

#[test]
fn a_follower_is_told_and_tells_when_nothing_comes() {
    let bench = Bench::new();
    bench.boot();
    let mut follower = guest(&bench).follow(true, true).unwrap();
    assert_eq!(follower.next(Duration::ZERO).unwrap(), None);
    bench.guest.event(EVENT_EXIT, 9, b"p\xff");
    let Some(Pushed::Event { boot, event }) = follower.next(PATIENCE).unwrap() else { panic!("no event") };
    assert_eq!((event.kind.as_str(), event.pid, event.exit_code()), ("exit", Some(9), Some(3)));
    assert_eq!((event.name, boot), (b"p\xff".to_vec(), "01".repeat(16)));
    let _asked = bench.guest.ask(DECISION_GENERIC, b"x", PATIENCE);
    let Some(Pushed::Ask { ask, .. }) = follower.next(PATIENCE).unwrap() else { panic!("no ask") };
    assert_eq!(ask.question, b"x");
    drop(bench);
    assert!(matches!(follower.next(PATIENCE), Err(Error::Lost(_))), "the hub has ended");
}

/// A hub that does as it is told, once.
fn scripted(play: impl FnOnce(&mut UnixStream, &mut BufReader<UnixStream>) + Send + 'static) -> Guest {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sock");
    let listener = socket::bind(&path).unwrap();
    let guest = Guest::connect(&path).unwrap();
    let mut stream = listener.accept().unwrap();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        play(&mut stream, &mut lines);
    });
    guest
}

#[test]
fn a_reply_that_was_not_waited_for_is_not_taken_for_the_next() {
    let mut guest = scripted(|stream, lines| {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        // Half of a reply, and the rest when nobody waits for it any more.
        stream.write_all(b"{\"boot\":null,\"id\":1,\"ok\":{\"n").unwrap();
        lines.read_line(&mut line).unwrap();
        stream.write_all(b"\":1}}\n{\"boot\":null,\"id\":2,\"ok\":{\"n\":2}}\n").unwrap();
        lines.read_line(&mut line).unwrap();
    });
    guest.set_patience(Duration::from_millis(200));
    assert!(matches!(guest.call("status", &[]), Err(Error::NoReply(_))));
    guest.set_patience(PATIENCE);
    assert_eq!(guest.call("status", &[]).unwrap().ok["n"], 2);
}

#[test]
fn a_follower_is_not_told_a_reply_that_was_not_waited_for() {
    let mut guest = scripted(|stream, lines| {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        lines.read_line(&mut line).unwrap();
        stream
            .write_all(
                b"{\"boot\":\"b\",\"id\":2,\"ok\":{}}\n{\"boot\":\"b\",\"id\":1,\"ok\":{\"asks\":[]}}\n",
            )
            .unwrap();
        stream.write_all(b"{\"boot\":\"b\",\"events_lost\":{\"from\":7,\"count\":1}}\n").unwrap();
        lines.read_line(&mut line).unwrap();
    });
    guest.set_patience(Duration::from_millis(200));
    assert!(matches!(guest.asks(PATIENCE), Err(Error::NoReply(_))));
    guest.set_patience(PATIENCE);
    let mut follower = guest.follow(true, true).unwrap();
    let told = follower.next(PATIENCE).unwrap();
    assert_eq!(told, Some(Pushed::EventsLost { boot: "b".into(), from: 7, count: 1 }));
    assert_eq!(follower.next(Duration::ZERO).unwrap(), None);
}

#[test]
fn who_sent_half_a_line_sends_no_more() {
    let (given_up, is_given_up) = mpsc::channel();
    let (heard, told) = mpsc::channel();
    let mut guest = scripted(move |_, lines| {
        is_given_up.recv().unwrap();
        let mut bytes = Vec::new();
        // Makes room for more.
        bytes.extend_from_slice(lines.fill_buf().unwrap());
        lines.consume(bytes.len());
        is_given_up.recv().unwrap();
        lines.read_to_end(&mut bytes).unwrap();
        heard.send(bytes).unwrap();
    });
    guest.set_patience(Duration::from_millis(200));
    let lost = guest.write("/x", vec![0; 1 << 20]).unwrap_err();
    assert!(matches!(&lost, Error::Lost(_)) && lost.to_string().contains("within 0.2 seconds"), "{lost}");
    given_up.send(()).unwrap();
    guest.set_patience(PATIENCE);
    assert!(matches!(guest.call("status", &[]), Err(Error::Lost(_))));
    given_up.send(()).unwrap();
    let bytes = told.recv_timeout(PATIENCE).unwrap();
    assert!(bytes.starts_with(b"{") && !bytes.contains(&b'\n'));
    assert!(!String::from_utf8(bytes).unwrap().contains("status"));
}

#[test]
fn a_hub_that_closes_before_it_is_asked_has_said_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sock");
    let listener = socket::bind(&path).unwrap();
    let mut guest = Guest::connect(&path).unwrap();
    let mut stream = listener.accept().unwrap();
    let full = json!({ "boot": null, "id": null, "error": { "code": "too_many_clients", "message": "64", "hint": "wait" } });
    writeln!(stream, "{full}").unwrap();
    drop(stream);
    assert_eq!(guest.call("status", &[]).unwrap_err().code(), Some("too_many_clients"));
    assert!(matches!(guest.call("status", &[]), Err(Error::Lost(_))));
}

/// A hub that takes a little now and then keeps nobody longer than they want to wait.
#[test]
fn the_time_of_a_call_is_that_of_its_line_too() {
    let (done, is_done) = mpsc::channel::<()>();
    let mut guest = scripted(move |_, lines| {
        let mut piece = vec![0; 16 * 1024];
        while is_done.recv_timeout(Duration::from_millis(20)) == Err(mpsc::RecvTimeoutError::Timeout)
            && lines.read_exact(&mut piece).is_ok()
        {}
    });
    guest.set_patience(Duration::from_millis(300));
    // At this pace it takes seconds.
    let lost = guest.call("fs.write", &[("content", "x".repeat(4 << 20).into())]).unwrap_err();
    assert!(matches!(lost, Error::Lost(_)), "{lost}");
    drop(done);
}

#[test]
fn a_hub_that_ends_or_talks_nonsense_is_told() {
    let ended =
        scripted(|_, lines| drop(lines.read_line(&mut String::new()))).call("status", &[]).unwrap_err();
    assert!(ended.to_string().contains("has the guest been stopped?"), "{ended}");
    for nonsense in ["nonsense\n", "{}\n", "{\"id\":1}\n"] {
        let mut guest = scripted(move |stream, lines| {
            lines.read_line(&mut String::new()).unwrap();
            stream.write_all(nonsense.as_bytes()).unwrap();
            lines.read_line(&mut String::new()).unwrap();
        });
        guest.set_patience(PATIENCE);
        assert!(matches!(guest.call("status", &[]), Err(Error::Protocol(_))), "{nonsense}");
    }
    let nobody = Guest::connect(std::path::Path::new("/nonexistent/socket")).map(drop).unwrap_err();
    assert!(Error::from(nobody).to_string().contains("no hub is running at /nonexistent/socket"));
}
