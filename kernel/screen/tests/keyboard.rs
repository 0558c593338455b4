//! The keyboard: scan codes of set 1 to what a terminal sends.

use askr_screen::{Keyboard, Typed};
use proptest::prelude::*;

const SHIFT: u8 = 0x2a;
const CTRL: u8 = 0x1d;
const ALT: u8 = 0x38;
/// Added to a code when the key goes up.
const UP: u8 = 0x80;

/// What is typed by keys, each a code or, from 0xe000 on, an extended one, pressed and let go.
fn typed(keys: &[u16]) -> Vec<u8> {
    let mut keyboard = Keyboard::new();
    keys.iter().flat_map(|&key| press(&mut keyboard, key)).collect()
}

fn press(keyboard: &mut Keyboard, key: u16) -> Vec<u8> {
    let [prefix, code] = key.to_be_bytes();
    let mut out = Vec::new();
    for part in [code, code | UP] {
        for byte in [prefix, part].into_iter().filter(|&byte| byte != 0) {
            match keyboard.scan_code(byte) {
                Some(Typed::Bytes(bytes)) => out.extend_from_slice(bytes.as_bytes()),
                Some(Typed::Restart) => out.extend_from_slice(b"<restart>"),
                None => {}
            }
        }
    }
    out
}

/// The same with a key held.
fn held(modifiers: &[u8], key: u16) -> Vec<u8> {
    let mut keyboard = Keyboard::new();
    for &code in modifiers {
        assert_eq!(keyboard.scan_code(code), None);
    }
    press(&mut keyboard, key)
}

#[test]
fn letters_digits_and_signs() {
    assert_eq!(typed(&[0x1e, 0x30, 0x02, 0x39, 0x35]), b"ab1 /");
    assert_eq!(held(&[SHIFT], 0x1e), b"A");
    assert_eq!(held(&[SHIFT], 0x02), b"!");
    assert_eq!(held(&[SHIFT], 0x2b), b"|");
    // Caps lock.
    assert_eq!(typed(&[0x3a, 0x1e, 0x02, 0x3a, 0x1e]), b"A1a");
}

#[test]
fn keys_that_a_terminal_names_otherwise() {
    assert_eq!(typed(&[0x1c]), b"\r");
    assert_eq!(typed(&[0xe01c]), b"\r");
    assert_eq!(typed(&[0x0e]), b"\x7f");
    assert_eq!(typed(&[0xe053]), b"\x1b[3~");
    assert_eq!(typed(&[0x01]), b"\x1b");
    assert_eq!(typed(&[0x0f]), b"\t");
}

#[test]
fn arrows_and_their_neighbours() {
    assert_eq!(typed(&[0xe048, 0xe050, 0xe04d, 0xe04b]), b"\x1b[A\x1b[B\x1b[C\x1b[D");
    assert_eq!(typed(&[0xe047, 0xe04f, 0xe049, 0xe051, 0xe052]), b"\x1b[H\x1b[F\x1b[5~\x1b[6~\x1b[2~");
    assert_eq!(held(&[CTRL], 0xe04b), b"\x1b[1;5D");
    assert_eq!(held(&[ALT], 0xe04d), b"\x1b[1;3C");
    // The numeric pad, with NumLock as it is at the start, and without.
    assert_eq!(typed(&[0x48, 0x45, 0x48, 0x53]), b"8\x1b[A\x1b[3~");
}

#[test]
fn control_and_alt() {
    assert_eq!(held(&[CTRL], 0x2e), [3]);
    assert_eq!(held(&[CTRL], 0x20), [4]);
    assert_eq!(held(&[CTRL], 0x1a), [0x1b]);
    assert_eq!(held(&[CTRL], 0x39), [0]);
    assert_eq!(held(&[ALT], 0x21), b"\x1bf");
    assert_eq!(held(&[ALT], 0x0e), b"\x1b\x7f");
    assert_eq!(held(&[CTRL, ALT], 0xe053), b"<restart>");
}

#[test]
fn keys_without_a_meaning_type_nothing() {
    // F1, Windows, scroll lock, codes that no keyboard sends.
    assert_eq!(typed(&[0x3b, 0xe05b, 0x46, 0x7e, 0xe07f]), b"");
}

proptest! {
    #[test]
    fn no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut keyboard = Keyboard::new();
        for byte in bytes {
            let _ = keyboard.scan_code(byte);
        }
        // All modifiers up again: letters are letters.
        for code in [0xaa, 0xb6, 0x9d, 0xb8] {
            keyboard.scan_code(code);
        }
        keyboard.scan_code(0xe0);
        keyboard.scan_code(0x9d);
        keyboard.scan_code(0xe0);
        keyboard.scan_code(0xb8);
        let typed = press(&mut keyboard, 0x1e);
        prop_assert!(typed == b"a" || typed == b"A");
    }
}
