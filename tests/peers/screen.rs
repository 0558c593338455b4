//! A guest's console, and what is said when something does not come.

use std::io::{Error, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::screen::Screen;

const SOON: Duration = Duration::from_secs(60);

fn screen() -> (Screen, UnixStream) {
    let (ours, guest) = UnixStream::pair().unwrap();
    (Screen::new(ours), guest)
}

#[test]
fn a_text_is_timed_when_it_is_whole_however_late_somebody_asks() {
    let (screen, mut guest) = screen();
    let began = Instant::now();
    guest.write_all(b"boot\r\nas").unwrap();
    screen.shows("as", SOON).unwrap();
    let before = Instant::now();
    guest.write_all(b"kr$ ").unwrap();
    let shown = screen.shows("askr$ ", SOON).unwrap();
    guest.write_all(b"one\r\nmore").unwrap();
    screen.shows("more", SOON).unwrap();
    assert!(shown >= before && screen.shows("boot", SOON).unwrap() >= began);
    assert_eq!(screen.shows("askr$ ", SOON).unwrap(), shown);
}

#[test]
fn what_does_not_come_is_named_with_the_last_lines() {
    let (screen, mut guest) = screen();
    for line in 0..40 {
        write!(guest, "line {line}\r\n\r\n").unwrap();
    }
    guest.write_all(b"\x1b[31mit's a panic").unwrap();
    screen.shows("panic", SOON).unwrap();
    let error = screen.shows("askr$ ", Duration::from_millis(10)).unwrap_err().to_string();
    assert!(error.starts_with("no \"askr$ \" on the console within 10ms; the console shows last:\n  | line 29\n"));
    assert!(error.ends_with("\n  | line 39\n  | \\u{1b}[31mit's a panic"), "{error}");
}

#[test]
fn a_time_that_is_over_is_no_error_of_the_system() {
    let (screen, mut guest) = screen();
    guest.write_all(b"panic").unwrap();
    screen.shows("panic", SOON).unwrap();
    let missed = |kind| screen.missed("no answer", Duration::from_secs(2), &Error::from(kind));
    let shown = "; the console shows last:\n  | panic";
    assert_eq!(missed(ErrorKind::WouldBlock), format!("no answer within 2s{shown}"));
    assert_eq!(missed(ErrorKind::BrokenPipe), format!("no answer: broken pipe{shown}"));
}

#[test]
fn a_guest_that_ends_is_not_waited_for() {
    let (screen, guest) = screen();
    drop(guest);
    let began = Instant::now();
    let error = screen.shows("askr$ ", SOON).unwrap_err().to_string();
    assert!(began.elapsed() < SOON, "it was waited for");
    assert_eq!(error, "no \"askr$ \" on the console before QEMU ended; the console shows nothing");
}

#[test]
fn of_a_flood_the_end_is_kept() {
    let (screen, mut guest) = screen();
    guest.write_all(b"begin\n").unwrap();
    screen.shows("begin", SOON).unwrap();
    guest.write_all(&b"flood\n".repeat(50_000)).unwrap();
    let before = Instant::now();
    guest.write_all(b"askr$ ").unwrap();
    assert!(screen.shows("askr$ ", SOON).unwrap() >= before);
    assert!(screen.blame("late").ends_with("  | flood\n  | askr$ "));
    assert!(screen.shows("begin", Duration::from_millis(1)).is_err(), "all of it is kept");
}
