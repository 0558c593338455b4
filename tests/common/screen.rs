//! A person at the screen and the keyboard of the machine itself. The screen is read as the kernel paints it: every
//! cell is compared with the characters of the same font.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use askr::{Screenshot, Vm};
use askr_screen::{Cell, Colors, font};

use super::PATIENCE;

/// Pause between two looks at the screen: nothing tells when it changes.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Characters typed before their echo is awaited: the keyboard holds 16 bytes.
const AT_ONCE: usize = 3;

/// The rows of text on a screen, without blanks at their ends. What is no character of the font is `?`.
pub(crate) fn read(picture: &Screenshot) -> Vec<String> {
    let characters = characters();
    let rows = picture.height / font::HEIGHT;
    let row = |row: usize| -> String {
        let cells = (0..picture.width / font::WIDTH).map(|column| {
            let pixels: Vec<u32> = (0..font::HEIGHT)
                .flat_map(|y| {
                    let start = (row * font::HEIGHT + y) * picture.width + column * font::WIDTH;
                    picture.pixels[start..start + font::WIDTH].iter().copied()
                })
                .collect();
            characters.get(&pixels).copied().unwrap_or('?')
        });
        cells.collect()
    };
    (0..rows).map(|at| row(at).trim_end().to_owned()).collect()
}

/// Every character as it looks, in the usual colours, under the cursor, and in an alarm.
fn characters() -> HashMap<Vec<u32>, char> {
    let latin = (' '..='~').chain('\u{a1}'..='\u{17f}').chain(['\u{fffd}']);
    let looks = [Colors::DEFAULT, Colors::DEFAULT.inverted(), Colors::ALARM];
    // Of those that look the same, the first one counts: the blank, and what the font shows as a box.
    let mut found = HashMap::new();
    for character in latin {
        for colors in looks {
            let mut pixels = vec![0; font::WIDTH * font::HEIGHT];
            font::paint(Cell { character, colors }, |x, y, color| pixels[y * font::WIDTH + x] = color);
            found.entry(pixels).or_insert(character);
        }
    }
    found
}

/// Waits until `is_so` of what the screen shows, and returns that.
#[track_caller]
pub(crate) fn await_screen(vm: &Vm, what: &str, is_so: impl Fn(&[String]) -> bool) -> Vec<String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let rows = read(&vm.screenshot().unwrap());
        if is_so(&rows) {
            return rows;
        }
        assert!(
            Instant::now() < until,
            "{what}: not within {PATIENCE:?}; the screen shows\n{}",
            rows.join("\n")
        );
        thread::sleep(LOOK_AGAIN);
    }
}

/// Types text of lower-case letters, digits, blanks and a few signs, and waits until the cursor's row ends with it.
#[track_caller]
pub(crate) fn type_text(vm: &Vm, text: &str) {
    let before = last_row(&read(&vm.screenshot().unwrap()));
    let mut typed = String::new();
    for piece in text.as_bytes().chunks(AT_ONCE) {
        for &byte in piece {
            vm.press(&keys_of(char::from(byte))).unwrap();
            typed.push(char::from(byte));
        }
        let expected = format!("{before} {typed}").trim_end().to_owned();
        await_screen(vm, &format!("the echo of {typed:?}"), |rows| last_row(rows) == expected);
    }
}

/// The last row with something in it.
pub(crate) fn last_row(rows: &[String]) -> String {
    rows.iter().rev().find(|row| !row.is_empty()).cloned().unwrap_or_default()
}

fn keys_of(character: char) -> Vec<&'static str> {
    const LETTERS: [&str; 26] = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t",
        "u", "v", "w", "x", "y", "z",
    ];
    const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    match character {
        'a'..='z' => vec![LETTERS[usize::from(character as u8 - b'a')]],
        'A'..='Z' => vec!["shift", LETTERS[usize::from(character as u8 - b'A')]],
        '0'..='9' => vec![DIGITS[usize::from(character as u8 - b'0')]],
        ' ' => vec!["spc"],
        '/' => vec!["slash"],
        '-' => vec!["minus"],
        '?' => vec!["shift", "slash"],
        other => panic!("no key for {other:?} is known here"),
    }
}
