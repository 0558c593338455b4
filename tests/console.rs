//! COM1 with a person at it: editing keys, the history, wide characters, terminals of all sizes, large pastes; and
//! with nobody who reads what is written.

mod common;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use askr::Machine;
use askr_wire::message::{ProcessEntry, ProcessState, PsRequest};
use askr_wire::{List, Message, code};
use common::PATIENCE;
use common::peer::{Peer, bytes};
use common::shell::{Askr, PROMPT, Shared, number_after};

static GUEST: Shared = Shared::new(Machine::new);
static SIZED: Shared = Shared::new(|| Machine::new().word("winsize=10x20"));

const UP: &str = "\x1b[A";
const LEFT: &str = "\x1b[D";
const ENTER: &str = "\r";

/// What a command line made of these keys shows after it was entered.
fn shown(askr: &mut Askr, keys: &str) -> String {
    askr.type_bytes(keys.as_bytes()).unwrap();
    askr.type_bytes(ENTER.as_bytes()).unwrap();
    askr.expect("\r\n");
    askr.finish()
}

#[test]
fn keys_edit_the_line() {
    let mut askr = GUEST.take();
    for (keys, output) in [
        (format!("echo ac{LEFT}b"), "abc"),
        ("cho x\x01e\x05y".to_owned(), "xy"),
        ("echo one two\x1bbx\x1b[1;5D\x1b[1;5Dy".to_owned(), "yone xtwo"),
        ("echo one\x1b[H\x1b[4~ two\x17three".to_owned(), "one three"),
        ("gone\x15echo a\x0b".to_owned(), "a"),
        (format!("echo abc{LEFT}{LEFT}\x0b"), "a"),
        ("xecho b\x01\x1b[3~".to_owned(), "b"),
        ("xecho c\x01\x04".to_owned(), "c"),
        (format!("echo 日本語{LEFT}{LEFT}\x7f"), "本語"),
        ("echo e\u{301}x\x7f\x7fe".to_owned(), "e"),
        ("echo '\x1b[200~a\tb\x1b[201~'".to_owned(), "a\tb"),
        ("echo a\x1b[[A\x1b[24~\x1b[200~b\x1b[201~".to_owned(), "ab"),
    ] {
        assert_eq!(shown(&mut askr, &keys), format!("{output}\r\n"), "{keys:?}");
    }
}

#[test]
fn lines_come_back_from_the_history() {
    let mut askr = GUEST.take();
    askr.run("echo first");
    askr.run("echo second");
    assert_eq!(shown(&mut askr, UP), "second\r\n");
    assert_eq!(shown(&mut askr, &format!("{UP}{UP}{UP}\x1b[B")), "first\r\n");
    assert_eq!(shown(&mut askr, "\x12sec"), "second\r\n");
    assert_eq!(shown(&mut askr, "\x12fir\x05 again"), "first again\r\n");
    // In a pipeline, too, where the shell is a copy of itself.
    let found = askr.run("history | grep first | head -n 1");
    assert!(found.ends_with(" echo first\r\n"), "{found}");
}

#[test]
fn a_program_gets_what_was_typed_after_its_line() {
    let mut askr = GUEST.take();
    // All at once: the shell must leave the second line and the end of file to `cat`.
    askr.type_bytes(b"cat\rfor the program\r\x04echo after\r").unwrap();
    askr.expect("\nfor the program\r\nfor the program\r\n");
    askr.expect("\nafter\r\n");
    askr.finish();
    // The program has ordinary modes, with editing by the kernel.
    askr.start("cat");
    askr.type_bytes(b"helo\x7flo\r").unwrap();
    askr.expect("\nhello\r\n");
    askr.type_bytes(b"\x03").unwrap();
    assert_eq!(askr.finish(), "^C\r\n");
}

#[test]
fn ctrl_c_during_the_start_of_a_program_ends_it() {
    let mut askr = GUEST.take();
    for _ in 0..10 {
        // In one piece, so that the key is there before the program is.
        askr.type_bytes(b"sleep 1000\r\x03").unwrap();
        askr.finish();
        assert_eq!(askr.status(), 130);
    }
}

#[test]
fn ten_kilobytes_in_one_line_arrive() {
    let mut askr = GUEST.take();
    let text: String = ('a'..='z').cycle().take(10 * 1024).collect();
    askr.type_bytes(format!("echo {text}\r").as_bytes()).unwrap();
    // Once as echo, once from the program.
    askr.expect(&text);
    let between = askr.expect(&text);
    assert_eq!(between, "\r\n");
    askr.finish();
}

#[test]
fn many_pasted_lines_are_run_one_after_another() {
    let mut askr = GUEST.take();
    let lines: String = (0..100).map(|i| format!("echo line-{i}-{}\r", "x".repeat(90))).collect();
    assert!(lines.len() > 10 * 1024);
    askr.type_bytes(lines.as_bytes()).unwrap();
    for i in 0..100 {
        askr.expect(&format!("\nline-{i}-{}\r\n", "x".repeat(90)));
    }
    askr.finish();
}

#[test]
fn a_program_that_does_not_read_loses_nothing_and_ctrl_c_reaches_it() {
    let mut askr = GUEST.take();
    askr.start("sleep 2 && cat");
    let lines: String = (0..4000).map(|i| format!("typed ahead {i:04}\r")).collect();
    askr.type_bytes(lines.as_bytes()).unwrap();
    askr.type_bytes(b"\x04").unwrap();
    // More bytes than the kernel queues, so that the host has to wait. Each line is echoed when there is room for it, and
    // printed by `cat`; the two may mix, but all bytes are there twice. Only echo that found COM1 busy is missing, and that
    // is counted.
    let shown = askr.finish();
    let lost = number_after(&askr.run("cat /proc/console"), "lost ");
    let expected = 2 * lines.replace('\r', "\r\n").len() as u64;
    assert_eq!(shown.len() as u64 + lost, expected, "{lost} lost");
    askr.start("sleep 1000");
    askr.type_bytes(&lines.as_bytes()[..16 * 1024]).unwrap();
    askr.type_bytes(b"\x03").unwrap();
    askr.expect("^C\r\n");
    askr.finish();
    assert_eq!(askr.status(), 130);
}

#[test]
fn a_narrow_screen_is_known_and_used() {
    let mut askr = SIZED.take();
    // The row ends after 14 characters; a blank takes the cursor to the next row.
    askr.type_bytes(b"echo 456789abc").unwrap();
    askr.expect("echo 456789abc \r");
    askr.type_bytes(b"d\x01").unwrap();
    askr.expect("d\x1b[A\x1b[5C");
    askr.type_bytes(b"\x05\r").unwrap();
    // Pastes are marked only while a line is typed.
    askr.expect("\x1b[?2004l\r\n456789abcd\r\n");
    askr.finish();
}

#[test]
fn a_terminal_that_tells_its_size_is_believed() {
    let mut askr = Askr::boot(&Machine::new().word("winsize=24x80"));
    // The question came before the first prompt; the answer is no input.
    assert!(askr.transcript().contains("\x1b7\x1b[999;999H\x1b[6n\x1b8askr$ "));
    askr.type_bytes(b"\x1b[10;20R").unwrap();
    askr.type_bytes(b"echo 456789abc").unwrap();
    askr.expect("echo 456789abc \r");
    askr.type_bytes(b"\r").unwrap();
    askr.expect("\x1b[?2004l\x1b[A\r\n456789abc\r\n");
    // It is asked again for each line, and a late answer does not become the input of the command.
    askr.expect("\x1b[6n\x1b8askr$ ");
    askr.type_bytes(b"cat\r\x1b[24;80R").unwrap();
    askr.expect("cat");
    askr.type_bytes(b"x\r\x03").unwrap();
    assert_eq!(askr.finish().matches('R').count(), 0);
}

#[test]
fn a_terminal_that_tells_nothing_is_asked_once() {
    for (machine, questions) in [(Machine::new().word("winsize=24x80"), 1), (Machine::new(), 0)] {
        let mut askr = Askr::boot(&machine);
        askr.run("echo one");
        askr.run("echo two");
        assert_eq!(askr.transcript().matches("\x1b[6n").count(), questions);
    }
}

/// Reads COM1 until `text` comes; nothing is read any more after that.
fn read_until(com1: &mut UnixStream, text: &str) {
    com1.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut shown, mut byte) = (Vec::new(), [0]);
    while !shown.ends_with(text.as_bytes()) {
        com1.read_exact(&mut byte).unwrap();
        shown.push(byte[0]);
    }
}

/// What the program of this name is doing, if it is there.
fn state_of(agent: &mut Peer, program: &str) -> Option<ProcessState> {
    let body = agent.ok(code::PS, &bytes(&PsRequest { start: 0 }));
    let list = List::<ProcessEntry<'_>>::decode(&body).unwrap();
    list.iter().find(|process| process.name == program.as_bytes()).map(|process| process.state)
}

/// Waits until `wanted` holds for the state of a program in so many looks in a row.
fn wait_for_state(agent: &mut Peer, program: &str, looks: u32, wanted: Option<ProcessState>) {
    let until = Instant::now() + PATIENCE;
    let mut held = 0;
    while held < looks {
        let state = state_of(agent, program);
        held = if state == wanted { held + 1 } else { 0 };
        assert!(Instant::now() < until, "{program} is {state:?}, not {wanted:?}");
    }
}

fn lost_output(agent: &mut Peer) -> u64 {
    number_after(&String::from_utf8(agent.read("/proc/console")).unwrap(), "lost ")
}

#[test]
fn a_console_that_nobody_reads_stalls_nothing_else() {
    let mut vm = Machine::new().spawn().unwrap();
    let mut com1 = vm.take_com1().unwrap();
    read_until(&mut com1, PROMPT);
    let mut agent = Peer::in_session(&vm);
    assert_eq!(lost_output(&mut agent), 0);

    // The program writes without end, and nothing is read: it waits, and goes on waiting.
    com1.write_all(b"cat /dev/zero\r").unwrap();
    wait_for_state(&mut agent, "cat", 100, Some(ProcessState::Blocked));
    for counter in 1..100 {
        agent.ping(counter);
    }

    // What the kernel has to show finds no room either; it does not wait, and the loss is counted.
    com1.write_all(&[b'x'; 1000]).unwrap();
    let until = Instant::now() + PATIENCE;
    while lost_output(&mut agent) < 900 {
        assert!(Instant::now() < until, "lost {}", lost_output(&mut agent));
    }

    // The writer can be ended, and when somebody reads again, the shell is there.
    com1.write_all(b"\x03").unwrap();
    wait_for_state(&mut agent, "cat", 1, None);
    read_until(&mut com1, PROMPT);
    com1.write_all(b"echo back\r").unwrap();
    read_until(&mut com1, "\nback\r\n");
}
