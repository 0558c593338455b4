//! Where rows go: a terminal with a status line, or lines for a file, a pipe or a program.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use chrono::{DateTime, Local, SecondsFormat};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::tcgetwinsize;
use serde_json::Value;

use super::figures::Missing;
use super::row::Memory;
use super::status_line::Standing;
use crate::style::{Style, Tone};

/// To the line's start, and from the cursor to the line's end (ECMA-48 CR and EL).
const START: &str = "\r";
const CLEAR: &str = "\x1b[K";
/// Columns of a terminal that does not tell.
const COLUMNS: usize = 80;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Terminal,
    Lines,
    Json,
}

pub(super) struct Screen {
    kind: Kind,
    style: Style,
    memory: Memory,
    standing: Standing,
    /// The status line that is on the terminal.
    drawn: String,
}

impl Screen {
    pub(super) fn new(json: bool) -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let kind = match (json, io::stdout().is_terminal() && !is_dumb) {
            (true, _) => Kind::Json,
            (false, true) => Kind::Terminal,
            (false, false) => Kind::Lines,
        };
        let (memory, standing) = (Memory::default(), Standing::default());
        Self { kind, style: Style::of_stdout(), memory, standing, drawn: String::new() }
    }

    pub(super) fn has_status(&self) -> bool {
        self.kind == Kind::Terminal
    }

    pub(super) fn show(&mut self, lines: &[Value]) -> io::Result<()> {
        let at = Local::now();
        let mut text: String = lines.iter().map(|line| self.text(line, at)).collect();
        if self.kind == Kind::Terminal {
            // In one write, so that nothing flickers.
            text = format!("{START}{CLEAR}{text}{}", self.status());
        }
        write(&text)
    }

    pub(super) fn figures(&mut self, figures: Result<Value, Missing>) -> io::Result<()> {
        match (self.kind, &figures) {
            (Kind::Terminal, _) => {
                self.standing.update(figures, Instant::now());
                self.tick()
            }
            // Why there are none is told by the lines about hub and guest.
            (_, Err(_)) => Ok(()),
            (_, Ok(line)) => self.show(std::slice::from_ref(line)),
        }
    }

    /// Draws the status line anew, if it has changed. Where there is none a reader that has gone is noticed here, not
    /// only when there is something to write.
    pub(super) fn tick(&mut self) -> io::Result<()> {
        let before = std::mem::take(&mut self.drawn);
        if self.kind != Kind::Terminal {
            return if has_reader()? { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) };
        }
        let status = self.status();
        if self.drawn == before { Ok(()) } else { write(&format!("{START}{status}{CLEAR}")) }
    }

    /// Leaves the terminal as it was.
    pub(super) fn end(&self) -> io::Result<()> {
        if self.kind == Kind::Terminal { write(&format!("{START}{CLEAR}")) } else { Ok(()) }
    }

    /// A line as it is printed; empty if there is nothing to tell.
    fn text(&mut self, line: &Value, at: DateTime<Local>) -> String {
        if self.kind == Kind::Json {
            let mut line = line.clone();
            line["time"] = at.to_rfc3339_opts(SecondsFormat::Millis, false).into();
            return host_bridge::json::line(&line) + "\n";
        }
        match self.memory.row(line, Instant::now(), at) {
            Some(row) => self.style.paint(row.tone, &row.to_text(at)) + "\n",
            None => String::new(),
        }
    }

    /// The status line, cut so that the cursor stays on it.
    fn status(&mut self) -> String {
        let columns = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
        let columns = if columns == 0 { COLUMNS } else { columns };
        let mut line = self.standing.line(&self.memory, Instant::now());
        line.truncate(columns - 1);
        self.drawn = line;
        self.style.paint(Tone::Faint, &self.drawn)
    }
}

/// Whether what is written to stdout can still be read: of a pipe whose other end is closed poll(2) tells an error.
fn has_reader() -> io::Result<bool> {
    let stdout = io::stdout();
    let mut stdout = [PollFd::new(&stdout, PollFlags::empty())];
    match poll(&mut stdout, Some(&Timespec::default())) {
        Ok(_) | Err(Errno::INTR) => Ok(!stdout[0].revents().contains(PollFlags::ERR)),
        Err(error) => Err(error.into()),
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}
