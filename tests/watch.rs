//! `askr-bridge watch` on a booted guest: in a pipe, on a terminal, and through the ends of hub and guest.

mod common;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use askr::Machine;
use askr_screen::Screen;
use common::PATIENCE;
use common::bridge::{Bridge, program};
use common::shell::{Askr, Shared};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;

static GUEST: Shared = Shared::new(Machine::new);

const ROWS: usize = 12;
const COLUMNS: usize = 100;

/// The program, and what it wrote.
struct Watch {
    child: Child,
    pieces: Receiver<Vec<u8>>,
    /// All of it.
    text: String,
    /// What was awaited before ends here.
    seen: usize,
    /// What a terminal shows of it.
    screen: Screen,
}

impl Watch {
    /// With its output in a pipe.
    fn piped(socket: &Path, options: &[&str]) -> Self {
        let mut command = Command::new(program());
        command.arg("--socket").arg(socket).arg("watch").args(options).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = child.stdout.take().unwrap();
        Self::of(child, output)
    }

    /// On a terminal of its own, whose keys and size it has.
    fn on_terminal(socket: &Path) -> (Self, File) {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).and_then(|()| unlockpt(&ours)).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let device = File::options().read(true).write(true).open(name).unwrap();
        let (rows, columns) = (u16::try_from(ROWS).unwrap(), u16::try_from(COLUMNS).unwrap());
        tcsetwinsize(&device, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let end = || Stdio::from(OwnedFd::from(device.try_clone().unwrap()));
        // util-linux: the terminal is then the one that Ctrl-C on it concerns.
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).arg(program()).arg("--socket").arg(socket).arg("watch");
        command.env("TERM", "xterm").env_remove("NO_COLOR").stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().unwrap();
        let keyboard = File::from(ours);
        (Self::of(child, keyboard.try_clone().unwrap()), keyboard)
    }

    fn of(child: Child, mut output: impl Read + Send + 'static) -> Self {
        let (sender, pieces) = mpsc::channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            // A pseudo terminal ends with EIO.
            while let Ok(count @ 1..) = output.read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, pieces, text: String::new(), seen: 0, screen: Screen::new(ROWS, COLUMNS) }
    }

    /// Takes in more; `false` at the end.
    #[track_caller]
    fn take(&mut self, until: Instant, what: &str) -> bool {
        match self.pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(piece) => {
                self.text.push_str(&String::from_utf8_lossy(&piece));
                self.screen.write(&piece);
                true
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => false,
            Err(error) => panic!("no {what:?}: {error}; so far:\n{}", self.text),
        }
    }

    /// Waits for a line with this in it, after what was awaited before.
    #[track_caller]
    fn line(&mut self, part: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let fresh = &self.text[self.seen..];
            if let Some(at) = fresh.find(part).filter(|&at| fresh[at..].contains('\n')) {
                let start = fresh[..at].rfind('\n').map_or(0, |feed| feed + 1);
                let end = at + fresh[at..].find('\n').unwrap();
                let line = fresh[start..end].to_owned();
                self.seen += end;
                return line;
            }
            assert!(self.take(until, part), "ended without {part:?}:\n{}", self.text);
        }
    }

    /// Waits until the terminal's last row but blank ones is like this, and returns all rows up to it.
    #[track_caller]
    fn shows(&mut self, what: &str, is_so: impl Fn(&[String]) -> bool) -> Vec<String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let (row, _) = self.screen.cursor();
            let rows: Vec<_> = (0..=row).map(|row| self.screen.text(row).trim_end().to_owned()).collect();
            if is_so(&rows) {
                return rows;
            }
            assert!(self.take(until, what), "ended without {what}: {rows:#?}");
        }
    }

    /// The status that it ends with, after all that it writes.
    fn ends(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        while self.take(until, "its end") {}
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a line tells of no fault on the link. On a busy machine an answer may be late, and the request is sent again.
fn is_well(line: &str) -> bool {
    line.contains("no faults") || (line.contains(" sent again") && !line.contains("broken"))
}

#[test]
fn in_a_pipe_it_tells_what_a_guest_does_line_by_line() {
    let mut askr = GUEST.take();
    let bridge = Bridge::on(askr.vm());
    let mut watch = Watch::piped(&bridge.socket(), &["--stats", "1"]);
    watch.line("in session: boot ");
    askr.run("hello a b");
    assert!(watch.line("  spawn     hello[").ends_with("by process 2"));
    assert!(watch.line("  exit      hello[").ends_with("with 0"));
    askr.run("crash");
    let fault = watch.line("  fault     crash[");
    assert!(fault.contains("SEGV at 0x"), "{fault}");
    assert!(watch.line("  exit      crash[").ends_with("with 139"));

    askr.start(r#"ask "$(printf '\033[2Jmay I?')""#);
    let ask = watch.line("  ask       ask[");
    assert!(ask.contains(r#""\x1b[2Jmay I?"  until "#), "{ask}");
    let name = bridge.ok(json!({ "op": "asks.list" }))["asks"][0]["ask"].clone();
    bridge.ok(json!({ "op": "ask.answer", "ask": name, "answer": "yes" }));
    assert!(watch.line("  answered  ask[").contains(r#""yes"  by a client  after "#));
    askr.finish();
    // Its program is gone: the hub hears so with the next ping.
    askr.start("ask nobody");
    watch.line("nobody");
    askr.type_bytes(b"\x03").unwrap();
    assert!(watch.line("  ended     ask[").contains("its program no longer waits"));
    let link = watch.line("  link      up ");
    assert!(is_well(&link), "{link}");
    assert!(!watch.text.chars().any(|symbol| symbol.is_control() && symbol != '\n'), "{:?}", watch.text);
}

#[test]
fn it_outlives_hub_and_guest_and_misses_nothing() {
    let mut askr = Askr::boot(&Machine::new().restarts());
    let bridge = Bridge::on(askr.vm());
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let link = |to: &Path| {
        let next = folder.path().join("next");
        std::os::unix::fs::symlink(to, &next).unwrap();
        std::fs::rename(next, &socket).unwrap();
    };
    link(&bridge.socket());
    let mut watch = Watch::piped(&socket, &["--stats", "0"]);
    watch.line("in session");
    // From the first event on it is known what comes next.
    askr.run("hello first");
    watch.line("  exit      hello[");
    drop(bridge);
    watch.line("waiting for one");
    assert!(!watch.text.contains("gone"), "the guest is still there: {}", watch.text);
    askr.run("hello meanwhile");
    let bridge = Bridge::on(askr.vm());
    link(&bridge.socket());
    watch.line("connected at");
    watch.line("  spawn     hello[");
    watch.line("  exit      hello[");
    askr.start("reboot");
    watch.line("restarted: boot ");
    // Of a boot that the hub saw begin all is told.
    watch.line("the guest has booted");
    watch.line("  spawn     init[1]");
    askr.finish();
    askr.power_off();
    watch.line("gone: no door is open");
    assert!(!watch.text.contains("lost"), "{}", watch.text);
}

#[test]
fn on_a_terminal_the_last_line_tells_how_things_stand() {
    let mut askr = GUEST.take();
    let bridge = Bridge::on(askr.vm());
    let (mut watch, mut keyboard) = Watch::on_terminal(&bridge.socket());
    let boot: String = bridge.guest()["boot"].as_str().unwrap().chars().take(8).collect();
    let guest = format!("guest:com2 {boot} | ");
    let status = format!("{guest}up 0:");
    let has_status = |rows: &[String]| rows.last().unwrap().starts_with(&status);
    let rows = watch.shows("the status line", has_status);
    assert!(rows.last().unwrap().ends_with(" frames") && is_well(rows.last().unwrap()), "{rows:#?}");
    // More lines than the terminal has.
    for _ in 0..ROWS {
        askr.run("hello");
    }
    askr.start("ask \"may I?\"");
    let rows = watch.shows("an ask, and its time on the last line", |rows| {
        let last = rows.last().unwrap();
        last.strip_prefix(&guest)
            .is_some_and(|rest| rest.starts_with("1 ask, ") && rest.contains(" s left | up 0:"))
    });
    assert_eq!(rows.len(), ROWS, "{rows:#?}");
    let is_line = |row: &String| row.get(2..3) == Some(":") && row.get(8..10) == Some("  ");
    assert!(rows[..ROWS - 1].iter().all(is_line), "nothing of a status line is left above it: {rows:#?}");
    assert!(rows[ROWS - 2].contains("  ask       ask["), "{rows:#?}");
    // It is drawn over, not wiped first: nothing flickers.
    assert!(!watch.text.contains("\x1b[2K") && !watch.text.contains("\x1b[2J"));

    keyboard.write_all(b"\x03").unwrap();
    assert_eq!(watch.ends(), Some(130));
    let (row, column) = watch.screen.cursor();
    assert_eq!((column, watch.screen.text(row).trim_end()), (0, ""), "the status line is gone");
}
