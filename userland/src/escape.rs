//! Backslash escapes in text, as `echo -e` and `printf` have them (POSIX, XCU `printf`).

use alloc_crate::vec::Vec;

/// The escapes of `text` replaced by what they stand for, and whether `\c` ended it early.
///
/// `octal_zero`: octal numbers begin with `\0` (as in `echo -e`), else with `\` (as in the format of `printf`).
#[must_use]
pub fn unescape(text: &[u8], octal_zero: bool) -> (Vec<u8>, bool) {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some((&letter, after)) = rest.split_first() else {
            out.push(b'\\');
            break;
        };
        let simple = match letter {
            b'\\' => Some(b'\\'),
            b'a' => Some(0x07),
            b'b' => Some(0x08),
            b'e' => Some(0x1B),
            b'f' => Some(0x0C),
            b'n' => Some(b'\n'),
            b'r' => Some(b'\r'),
            b't' => Some(b'\t'),
            b'v' => Some(0x0B),
            _ => None,
        };
        if let Some(byte) = simple {
            out.push(byte);
            rest = after;
            continue;
        }
        let number = match letter {
            b'c' => return (out, true),
            b'x' => digits(after, 16, 2),
            b'0' if octal_zero => digits(after, 8, 3).or(Some((0, after))),
            b'0'..=b'7' if !octal_zero => digits(rest, 8, 3),
            _ => None,
        };
        match number {
            Some((byte, after)) => {
                out.push(byte);
                rest = after;
            }
            None => out.push(b'\\'),
        }
    }
    (out, false)
}

/// The byte that up to `most` digits at the front of `text` stand for, and what follows. `None` without a digit.
fn digits(text: &[u8], base: u32, most: usize) -> Option<(u8, &[u8])> {
    let count = text.iter().take(most).take_while(|&&byte| char::from(byte).is_digit(base)).count();
    let value = text[..count]
        .iter()
        .fold(0_u32, |sum, &byte| sum * base + char::from(byte).to_digit(base).unwrap_or(0));
    // Three octal digits are up to 511: the lower eight bits count, as in shells.
    (count > 0).then(|| (value.to_le_bytes()[0], &text[count..]))
}

#[cfg(test)]
mod tests {
    use super::unescape;
    use proptest::prelude::*;

    #[test]
    fn escapes_of_echo() {
        let echo = |text: &str| unescape(text.as_bytes(), true).0;
        assert_eq!(echo(r"a\tb\n\\"), b"a\tb\n\\");
        assert_eq!(echo(r"\x41\x4a4\0101\0"), b"AJ4A\0");
        assert_eq!(echo(r"\q\101\x\"), br"\q\101\x\");
        assert_eq!(unescape(br"ab\cde", true), (b"ab".to_vec(), true));
    }

    #[test]
    fn escapes_of_printf() {
        let printf = |text: &str| unescape(text.as_bytes(), false).0;
        assert_eq!(printf(r"\101\1012\0"), b"AA2\0");
        assert_eq!(printf(r"\8\777"), b"\\8\xff");
    }

    proptest! {
        #[test]
        fn text_without_a_backslash_stays(text: Vec<u8>, zero: bool) {
            let text: Vec<u8> = text.into_iter().filter(|&byte| byte != b'\\').collect();
            prop_assert_eq!(unescape(&text, zero), (text, false));
        }

        #[test]
        fn it_never_gets_longer(text in r"[\\0-9a-fxcn]{0,30}", zero: bool) {
            prop_assert!(unescape(text.as_bytes(), zero).0.len() <= text.len());
        }
    }
}
