//! What goes with a request to the agent: where the person is, what is there, which programs there are, and what the steps
//! of the rounds before brought.

use super::tail::Tail;
use super::words::Words;
use alloc_crate::format;
use alloc_crate::string::String;
use alloc_crate::vec::Vec;
use askr_abi::{ASK_EXTRA_MAX, CONTEXT_MAX};

/// What is known as a pair of context.
pub type Pair = (Vec<u8>, Vec<u8>);

/// Bytes that a pair takes beside its own.
const PAIR_HEAD: usize = 3;
/// Bytes that the list of pairs takes beside them.
const LIST_HEAD: usize = 3;
/// Which layouts of plans are understood.
const PLAN_GENERATION: &[u8] = b"1";
/// Fewest bytes that a listing or a result is worth.
const WORTH: usize = 48;
/// Most results that are told.
const RESULTS_MAX: usize = CONTEXT_MAX - 4;

/// What a step brought.
#[derive(Clone, Debug)]
pub struct StepResult {
    /// The command.
    pub arguments: Vec<String>,
    /// Its exit code; `None` if it did not run.
    pub code: Option<i32>,
    /// Its output.
    pub output: Tail,
}

/// Pairs that fit into one ask.
#[derive(Debug)]
struct Room {
    pairs: Vec<Pair>,
    left: usize,
}

impl Room {
    /// Bytes for the value of this key.
    fn of(&self, key: &[u8]) -> usize {
        self.left.saturating_sub(PAIR_HEAD + key.len())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) {
        if value.len() <= self.of(key) && self.pairs.len() < CONTEXT_MAX {
            self.left -= PAIR_HEAD + key.len() + value.len();
            self.pairs.push((key.to_vec(), value.to_vec()));
        }
    }
}

/// The context of a request. What does not fit is left out, and what is cut says so.
#[must_use]
pub fn context(
    round: usize,
    rounds: usize,
    directory: &[u8],
    listing: &[Vec<u8>],
    programs: &[Vec<u8>],
    results: &[StepResult],
) -> Vec<Pair> {
    let mut room = Room { pairs: Vec::new(), left: ASK_EXTRA_MAX - LIST_HEAD };
    room.put(b"plan", PLAN_GENERATION);
    room.put(b"round", format!("{round} of {rounds}").as_bytes());
    room.put(b"cwd", directory);
    // The newest first: of the older ones less is told.
    for (number, result) in results.iter().enumerate().rev().take(RESULTS_MAX) {
        let key = format!("result{}", number + 1).into_bytes();
        let space = room.of(&key);
        if space < WORTH {
            break;
        }
        room.put(&key, &told(result, space));
    }
    if results.is_empty() {
        room.put(b"programs", &list(programs, b' ', room.of(b"programs")));
        if room.of(b"listing") >= WORTH {
            room.put(b"listing", &list(listing, b'\n', room.of(b"listing")));
        }
    }
    room.pairs
}

/// A result: the command, how it ended and how much it printed, and the end of that.
fn told(result: &StepResult, room: usize) -> Vec<u8> {
    let words: Vec<&str> = result.arguments.iter().map(String::as_str).collect();
    let ended = result.code.map_or(String::from("did not run"), |code| format!("exit {code}"));
    let Tail { lines, bytes, .. } = result.output;
    let mut text = format!("$ {}\n{ended}, {lines} lines, {bytes} bytes\n", Words(&words)).into_bytes();
    if text.len() > room {
        text = format!("{ended}, {lines} lines, {bytes} bytes\n").into_bytes();
    }
    const CUT: &[u8] = b"[cut]\n";
    let (end, is_cut) = result.output.end(room.saturating_sub(text.len() + CUT.len()));
    if is_cut {
        text.extend_from_slice(CUT);
    }
    text.extend_from_slice(end);
    text
}

/// Names one after the other, as many as there is room for; the rest is counted.
fn list(names: &[Vec<u8>], separator: u8, room: usize) -> Vec<u8> {
    const COUNT_ROOM: usize = 24;
    let mut text = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let is_last = index + 1 == names.len();
        if text.len() + name.len() + 1 + if is_last { 0 } else { COUNT_ROOM } > room {
            text.extend(format!("[{} more]", names.len() - index).into_bytes());
            break;
        }
        if index > 0 {
            text.push(separator);
        }
        text.extend_from_slice(name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{StepResult, context};
    use crate::assist::tail::Tail;
    use askr_abi::{ASK_EXTRA_MAX, CONTEXT_KEY_MAX, CONTEXT_MAX};
    use proptest::prelude::*;

    fn result(words: &[&str], code: i32, output: &[u8]) -> StepResult {
        let mut tail = Tail::default();
        tail.push(output);
        StepResult {
            arguments: words.iter().map(ToString::to_string).collect(),
            code: Some(code),
            output: tail,
        }
    }

    fn names(names: &[&str]) -> Vec<Vec<u8>> {
        names.iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    #[test]
    fn the_first_round_tells_where_and_with_what() {
        let pairs = context(1, 4, b"/tmp", &names(&["a", "d/"]), &names(&["cat", "ls"]), &[]);
        let expected: [(&[u8], &[u8]); 5] = [
            (b"plan", b"1"),
            (b"round", b"1 of 4"),
            (b"cwd", b"/tmp"),
            (b"programs", b"cat ls"),
            (b"listing", b"a\nd/"),
        ];
        let pairs: Vec<(&[u8], &[u8])> = pairs.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn later_rounds_tell_results_the_newest_whole() {
        let results = [result(&["ls", "a b"], 1, &[b'x'; 900]), result(&["ps"], 0, b"one\ntwo\n")];
        let pairs = context(2, 4, b"/", &[], &names(&["ls"]), &results);
        assert_eq!(pairs[3], (b"result2".to_vec(), b"$ ps\nexit 0, 2 lines, 8 bytes\none\ntwo\n".to_vec()));
        assert!(pairs[4].1.starts_with(b"$ ls 'a b'\nexit 1, 0 lines, 900 bytes\n[cut]\nxxx"), "{pairs:?}");
        assert_eq!(pairs.len(), 5);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let many: Vec<Vec<u8>> = (0..500).map(|number| format!("name{number}").into_bytes()).collect();
        let pairs = context(1, 4, b"/", &many, &names(&["ls"]), &[]);
        let listing = String::from_utf8(pairs[4].1.clone()).unwrap();
        assert!(listing.starts_with("name0\nname1\n") && listing.ends_with(" more]"), "{listing}");
    }

    proptest! {
        #[test]
        fn it_always_fits(
            directory in prop::collection::vec(any::<u8>(), 0..1200),
            listing in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..60),
            results in prop::collection::vec(("[a-z ]{0,400}", prop::collection::vec(any::<u8>(), 0..2000)), 0..20),
        ) {
            let results: Vec<StepResult> =
                results.iter().map(|(word, output)| result(&[word], 0, output)).collect();
            let pairs = context(1, 4, &directory, &listing, &listing, &results);
            let size: usize = pairs.iter().map(|(key, value)| 3 + key.len() + value.len()).sum();
            prop_assert!(3 + size <= ASK_EXTRA_MAX && pairs.len() <= CONTEXT_MAX);
            let mut keys: Vec<_> = pairs.iter().map(|pair| &pair.0).collect();
            keys.dedup();
            prop_assert!(keys.len() == pairs.len() && keys.iter().all(|key| key.len() <= CONTEXT_KEY_MAX));
        }
    }
}
