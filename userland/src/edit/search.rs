//! The state of an incremental search through the history (Ctrl-R).

use super::Unit;
use super::history::History;
use alloc_crate::vec::Vec;

/// A search that is going on.
#[derive(Debug)]
pub(super) struct Search {
    part: Vec<Unit>,
    /// The line that was found last; one past the newest at first.
    index: usize,
    /// Nothing older contains the part.
    failed: bool,
    /// The line and its cursor before the search.
    before: (Vec<Unit>, usize),
}

/// A line that was found: its units, and the one where the part begins.
pub(super) type Found = (Vec<Unit>, usize);

impl Search {
    pub(super) fn new(history: &History, line: Vec<Unit>, cursor: usize) -> Self {
        Self { part: Vec::new(), index: history.len(), failed: false, before: (line, cursor) }
    }

    /// What is shown instead of the prompt.
    pub(super) fn prompt(&self) -> Vec<Unit> {
        let text = if self.failed { "(no older line) '" } else { "(search) '" };
        let characters = |text: &str| text.chars().map(Unit::Char).collect::<Vec<_>>();
        [&characters(text)[..], &self.part, &characters("': ")].concat()
    }

    pub(super) fn into_before(self) -> (Vec<Unit>, usize) {
        self.before
    }

    /// The part is longer by this: the line found may still do.
    pub(super) fn extend(&mut self, unit: Unit, history: &History) -> Option<Found> {
        self.part.push(unit);
        self.find(history, self.index.saturating_add(1))
    }

    /// The part is shorter: again from the newest line.
    pub(super) fn shorten(&mut self, history: &History) -> Option<Found> {
        self.part.pop();
        self.index = history.len();
        self.find(history, self.index)
    }

    /// The next older line.
    pub(super) fn older(&mut self, history: &History) -> Option<Found> {
        self.find(history, self.index)
    }

    fn find(&mut self, history: &History, end: usize) -> Option<Found> {
        self.failed = false;
        if self.part.is_empty() {
            return None;
        }
        let mut part = Vec::new();
        self.part.iter().for_each(|unit| unit.write(&mut part));
        let Some((index, at)) = history.find(&part, end) else {
            self.failed = true;
            return None;
        };
        self.index = index;
        let line: Vec<Unit> = Unit::all(history.get(index)?).collect();
        let unit = unit_at(&line, at);
        Some((line, unit))
    }
}

/// The unit of `line` in which byte `at` is. A part that begins with a stray byte may be found in the middle of a
/// character, so the bytes before it are no measure: alone they are more units than in the line.
fn unit_at(line: &[Unit], at: usize) -> usize {
    let ends = line.iter().scan(0, |end, unit| {
        *end += unit.byte_len();
        Some(*end)
    });
    ends.take_while(|&end| end <= at).count()
}
