//! Lines from a person at a terminal.

use crate::Shell;
use crate::input::Next;
use crate::names::listed;
use alloc::vec::Vec;
use askr_abi::terminal::{ECHO, ICANON, ISIG, Termios, VMIN, VTIME, Winsize};
use askr_abi::types::CLOCK_MONOTONIC;
use askr_userland::edit::{Editor, Size, Step, size_at_end};
use askr_userland::sys::Fd;
use askr_userland::{Errno, io, sys};
use core::time::Duration;

/// How long a terminal may take to tell its size, once a line is complete: what it tells must not become the input of
/// the command. A terminal that takes longer is not asked again.
const ANSWER_PATIENCE: Duration = Duration::from_millis(300);
/// Longest single wait for a part of the answer, in tenths of a second.
const TICK: u8 = 1;

/// The terminal at standard input, with the editor and its history.
pub(crate) struct Terminal {
    editor: Editor,
    /// It does not answer when asked for its size.
    silent: bool,
    /// Typed, and read while an answer was waited for.
    ahead: Vec<u8>,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        Self { editor: Editor::new(), silent: false, ahead: Vec::new() }
    }

    /// Shows the prompt and reads a line. The terminal is left in raw mode: what is typed from now on waits until the
    /// command sets the mode it wants, and is then typed to the command.
    pub(crate) fn next(&mut self, prompt: &str, shell: &Shell) -> Next {
        // Print what is left first: the editor takes the cursor to be where the output ends.
        match io::flush()
            .and_then(|()| set_raw(sys::STDIN, 1, 0, false))
            .and_then(|()| self.read_line(prompt, shell))
        {
            Ok(next) => next,
            Err(errno) => Next::Failed(errno),
        }
    }

    /// The lines that were typed, the oldest first.
    pub(crate) fn history(&self) -> impl Iterator<Item = &[u8]> {
        self.editor.history()
    }

    fn read_line(&mut self, prompt: &str, shell: &Shell) -> Result<Next, Errno> {
        let size = sys::window_size(sys::STDIN)?;
        // Where the size is not known there may be no screen at all, and nobody to answer.
        let ask = size.rows > 0 && !self.silent;
        let mut out = Vec::new();
        self.editor.start(prompt, Size::new(size.rows, size.columns), ask, &mut out);
        loop {
            io::write_all(sys::STDOUT, &out)?;
            out.clear();
            let byte = self.next_byte()?;
            let Some(step) = self.editor.feed(byte, &mut out) else { continue };
            match step {
                Step::Size { rows, columns } => self.resize(rows, columns, &mut out)?,
                Step::Complete { before, again } => self.complete(&before, again, shell, &mut out)?,
                last => {
                    io::write_all(sys::STDOUT, &out)?;
                    self.await_answer()?;
                    return Ok(match last {
                        Step::Line(line) => Next::Line(line),
                        Step::TooLong => Next::TooLong,
                        Step::Interrupted => Next::Interrupted,
                        Step::EndOfInput | Step::Size { .. } | Step::Complete { .. } => Next::End,
                    });
                }
            }
        }
    }

    /// Inserts the rest of the word, or shows what it could be.
    fn complete(
        &mut self,
        before: &[u8],
        again: bool,
        shell: &Shell,
        out: &mut Vec<u8>,
    ) -> Result<(), Errno> {
        let completion = shell.complete(before);
        if completion.insert.is_empty() {
            let columns = sys::window_size(sys::STDIN)?.columns;
            self.editor.list(&listed(&completion, columns, again), out);
        } else {
            self.editor.insert_text(&completion.insert, out);
        }
        Ok(())
    }

    fn resize(&mut self, rows: u16, columns: u16, out: &mut Vec<u8>) -> Result<(), Errno> {
        self.silent = false;
        let size = sys::window_size(sys::STDIN)?;
        if (size.rows, size.columns) != (rows, columns) {
            sys::set_window_size(sys::STDIN, Winsize { rows, columns, x_pixels: 0, y_pixels: 0 })?;
            self.editor.resize(Size::new(rows, columns), out);
        }
        Ok(())
    }

    /// One byte and no more: the rest may be for the command that this line starts.
    fn next_byte(&mut self) -> Result<u8, Errno> {
        if !self.ahead.is_empty() {
            return Ok(self.ahead.remove(0));
        }
        let mut byte = [0];
        match sys::read(sys::STDIN, &mut byte)? {
            0 => Err(Errno::EIO),
            _ => Ok(byte[0]),
        }
    }

    /// Waits for the answer of a terminal that was asked for its size. What is typed meanwhile is kept.
    fn await_answer(&mut self) -> Result<(), Errno> {
        if !self.editor.waits_for_size() {
            return Ok(());
        }
        set_raw(sys::STDIN, 0, TICK, false)?;
        let deadline = sys::clock_gettime(CLOCK_MONOTONIC)? + ANSWER_PATIENCE;
        let mut byte = [0];
        while sys::clock_gettime(CLOCK_MONOTONIC)? < deadline {
            if sys::read(sys::STDIN, &mut byte)? == 0 {
                continue;
            }
            self.ahead.push(byte[0]);
            if let Some((start, rows, columns)) = size_at_end(&self.ahead) {
                self.ahead.truncate(start);
                self.editor.give_up_size();
                let size = Winsize { rows, columns, x_pixels: 0, y_pixels: 0 };
                return sys::set_window_size(sys::STDIN, size);
            }
        }
        self.silent = true;
        self.editor.give_up_size();
        Ok(())
    }
}

/// Bytes as they come: no lines, no echo, and signals by keys only if `signals`. A newline still goes out as CR LF.
pub(crate) fn set_raw(terminal: Fd, min: u8, time: u8, signals: bool) -> Result<(), Errno> {
    let mut raw = Termios::CANONICAL;
    raw.local &= !(ICANON | ECHO);
    if !signals {
        raw.local &= !ISIG;
    }
    raw.control_chars[VMIN] = min;
    raw.control_chars[VTIME] = time;
    sys::set_terminal_attributes(terminal, &raw)
}
