//! The order of lines, as `sort` has it in the C locale.

use core::cmp::Ordering;

/// Compares two lines by their bytes, or by the decimal number at their front (POSIX, XCU `sort -n`): blanks, a minus,
/// digits, a point and more digits. Without a digit it is 0. Numbers have any length.
#[must_use]
pub fn compare(a: &[u8], b: &[u8], numeric: bool) -> Ordering {
    if !numeric {
        return a.cmp(b);
    }
    let (a, b) = (Number::at_front(a), Number::at_front(b));
    match (a.negative, b.negative) {
        (false, false) => a.compare_size(&b),
        (true, true) => b.compare_size(&a),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

struct Number<'a> {
    negative: bool,
    /// Digits before the point, without zeros in front.
    whole: &'a [u8],
    /// Digits after the point, without zeros at the end.
    fraction: &'a [u8],
}

impl<'a> Number<'a> {
    fn at_front(line: &'a [u8]) -> Self {
        let text = line.trim_ascii_start();
        let (minus, text) = text.strip_prefix(b"-").map_or((false, text), |text| (true, text));
        let (whole, rest) = split_digits(text);
        let fraction = rest.strip_prefix(b".").map_or(&b""[..], |rest| split_digits(rest).0);
        let zeros = whole.iter().take_while(|digit| **digit == b'0').count();
        let end = fraction.iter().rposition(|digit| *digit != b'0').map_or(0, |at| at + 1);
        let (whole, fraction) = (&whole[zeros..], &fraction[..end]);
        // There is one zero.
        Self { negative: minus && !(whole.is_empty() && fraction.is_empty()), whole, fraction }
    }

    fn compare_size(&self, other: &Self) -> Ordering {
        let length = self.whole.len().cmp(&other.whole.len());
        length.then_with(|| self.whole.cmp(other.whole)).then_with(|| self.fraction.cmp(other.fraction))
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

#[cfg(test)]
mod tests {
    use super::compare;
    use proptest::prelude::*;

    #[test]
    fn numbers_at_the_front_count() {
        let mut lines =
            ["10 b", "9 a", "-3", "", "x", "2.5", "2.50", "2.05", " 07", "-0", "99999999999999999999999"];
        lines.sort_by(|a, b| compare(a.as_bytes(), b.as_bytes(), true));
        let expected =
            ["-3", "", "x", "-0", "2.05", "2.5", "2.50", " 07", "9 a", "10 b", "99999999999999999999999"];
        assert_eq!(lines, expected);
    }

    proptest! {
        #[test]
        fn it_is_the_order_of_numbers(a in -1000_i32..1000, b in -1000_i32..1000) {
            prop_assert_eq!(compare(a.to_string().as_bytes(), b.to_string().as_bytes(), true), a.cmp(&b));
        }

        #[test]
        fn it_is_an_order(a in "[-0-9. ]{0,5}", b in "[-0-9. ]{0,5}", c in "[-0-9. ]{0,5}") {
            let [a, b, c] = [&a, &b, &c].map(|text| text.as_bytes());
            prop_assert_eq!(compare(a, b, true), compare(b, a, true).reverse());
            if compare(a, b, true).is_le() && compare(b, c, true).is_le() {
                prop_assert!(compare(a, c, true).is_le());
            }
        }
    }
}
