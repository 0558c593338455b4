//! Numbers as people write and read them.

use core::fmt;

/// Reads a decimal number without a sign.
#[must_use]
pub fn parse_u64(text: &[u8]) -> Option<u64> {
    parse_radix(text, 10)
}

/// Reads a number without a sign in a base from 2 to 16.
#[must_use]
pub fn parse_radix(text: &[u8], base: u32) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |sum, &byte| {
        let digit = char::from(byte).to_digit(base)?;
        sum.checked_mul(u64::from(base))?.checked_add(u64::from(digit))
    })
}

/// Letters for the powers of 1024.
const POWERS: &[u8; 6] = b"KMGTPE";

/// Reads a number that a letter may multiply: `K` by 1024, `M` by 1024², `G`, `T`, `P`, `E`; small letters do too, and
/// `B` or `iB` may follow.
#[must_use]
pub fn parse_size(text: &[u8]) -> Option<u64> {
    let digits = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let number = parse_u64(&text[..digits])?;
    let shift = match &text[digits..] {
        [] => 0,
        [letter] | [letter, b'B' | b'b'] | [letter, b'i', b'B'] => {
            10 * (1 + POWERS.iter().position(|power| *power == letter.to_ascii_uppercase())?)
        }
        _ => return None,
    };
    number.checked_mul(1_u64.checked_shl(u32::try_from(shift).ok()?)?)
}

/// A size in bytes in at most four characters, rounded up, such as `512`, `1.5K`, `23M`: as `ls -h` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Human(
    /// Bytes.
    pub u64,
);

impl fmt::Display for Human {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut unit = 1_u128;
        let bytes = u128::from(self.0);
        if bytes < 1024 {
            return write!(f, "{bytes}");
        }
        for &letter in POWERS {
            unit *= 1024;
            let tenths = (10 * bytes).div_ceil(unit);
            if tenths < 100 {
                return write!(f, "{}.{}{}", tenths / 10, tenths % 10, char::from(letter));
            }
            let whole = bytes.div_ceil(unit);
            if whole < 1024 {
                return write!(f, "{whole}{}", char::from(letter));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Human, parse_radix, parse_size, parse_u64};
    use proptest::prelude::*;

    #[test]
    fn numbers() {
        assert_eq!(parse_u64(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse_radix(b"755", 8), Some(0o755));
        assert_eq!(parse_radix(b"fF", 16), Some(255));
        for (text, base) in
            [("", 10), ("18446744073709551616", 10), ("-1", 10), ("+1", 10), ("8", 8), ("0x1", 16)]
        {
            assert_eq!(parse_radix(text.as_bytes(), base), None, "{text}");
        }
    }

    #[test]
    fn sizes_with_a_letter() {
        for (text, size) in [
            ("0", 0),
            ("7", 7),
            ("4K", 4096),
            ("4k", 4096),
            ("2MB", 2 << 20),
            ("1GiB", 1 << 30),
            ("15E", 15 << 60),
        ] {
            assert_eq!(parse_size(text.as_bytes()), Some(size), "{text}");
        }
        for text in ["", "K", "16E", "1X", "1KK", "1.5K", "-1K", "1 K"] {
            assert_eq!(parse_size(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn sizes_for_people() {
        for (size, shown) in [
            (0, "0"),
            (1023, "1023"),
            (1024, "1.0K"),
            (1025, "1.1K"),
            (9 * 1024 + 1000, "10K"),
            (10 * 1024, "10K"),
            (1023 * 1024 + 1, "1.0M"),
            (128 << 20, "128M"),
            (u64::MAX, "16E"),
        ] {
            assert_eq!(Human(size).to_string(), shown, "{size}");
        }
    }

    proptest! {
        #[test]
        fn a_size_for_people_is_short_and_not_too_small(size: u64) {
            let shown = Human(size).to_string();
            // "1023K" is the longest.
            prop_assert!(!shown.is_empty() && shown.len() <= 5, "{}", shown);
            if !shown.contains('.') && shown != "16E" {
                prop_assert!(parse_size(shown.as_bytes()).unwrap() >= size);
            }
        }
    }
}
