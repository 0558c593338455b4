//! The texts of `printf` (POSIX.1-2017, XCU `printf`).

use alloc_crate::format;
use alloc_crate::string::String;
use alloc_crate::vec::Vec;
use core::iter::repeat_n;

/// Largest width and precision; a larger one is taken for this.
const WIDTH_MAX: usize = 4096;
/// Most bytes of output.
pub const OUTPUT_MAX: usize = 1024 * 1024;

/// What `printf` prints, and what was wrong with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The output.
    pub text: Vec<u8>,
    /// The last argument that is no number where one is expected, or the conversion that there is not.
    pub mistake: Option<Vec<u8>>,
    /// There was more than [`OUTPUT_MAX`]; the rest is missing.
    pub cut: bool,
}

/// Prints `arguments` by `template`, which is used again as long as arguments are left.
#[must_use]
pub fn print(template: &[u8], arguments: &[Vec<u8>]) -> Printed {
    let mut printer = Printer { out: Printed::default(), arguments, used: 0, ended: false };
    loop {
        let before = printer.used;
        printer.round(template);
        printer.out.cut |= printer.out.text.len() > OUTPUT_MAX;
        if printer.ended || printer.used == before || printer.used >= arguments.len() || printer.out.cut {
            printer.out.text.truncate(OUTPUT_MAX);
            return printer.out;
        }
    }
}

struct Printer<'a> {
    out: Printed,
    arguments: &'a [Vec<u8>],
    used: usize,
    /// `\c` came: nothing more is printed.
    ended: bool,
}

/// The flags, width and precision of a conversion.
#[derive(Clone, Copy, Default)]
struct Shape {
    left: bool,
    zeros: bool,
    sign: bool,
    blank: bool,
    alternative: bool,
    width: usize,
    precision: Option<usize>,
}

impl Printer<'_> {
    fn argument(&mut self) -> Option<Vec<u8>> {
        let argument = self.arguments.get(self.used).cloned();
        self.used += 1;
        argument
    }

    fn round(&mut self, template: &[u8]) {
        let mut rest = template;
        while let Some((&byte, after)) = rest.split_first() {
            if self.ended || self.out.text.len() > OUTPUT_MAX {
                return;
            }
            rest = match byte {
                b'\\' => self.escape(after, false),
                b'%' => self.conversion(after),
                _ => {
                    self.out.text.push(byte);
                    after
                }
            };
        }
    }

    /// What stands for a backslash and the text behind it; the rest. In an argument of `%b` octal numbers begin with a
    /// zero, and `\c` ends the output.
    fn escape<'t>(&mut self, text: &'t [u8], argument: bool) -> &'t [u8] {
        let Some((&byte, rest)) = text.split_first() else {
            self.out.text.push(b'\\');
            return text;
        };
        let simple = match byte {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'\\' => b'\\',
            b'c' if argument => {
                self.ended = true;
                return rest;
            }
            b'0'..=b'7' => {
                let digits = if argument && byte == b'0' { rest } else { text };
                let length = digits.iter().take(3).take_while(|digit| matches!(digit, b'0'..=b'7')).count();
                let value =
                    digits[..length].iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                self.out.text.push(value.to_le_bytes()[0]);
                return &digits[length..];
            }
            _ => {
                self.out.text.extend([b'\\', byte]);
                return rest;
            }
        };
        self.out.text.push(simple);
        rest
    }

    fn conversion<'t>(&mut self, text: &'t [u8]) -> &'t [u8] {
        let mut shape = Shape::default();
        let mut rest = text;
        while let Some((flag @ (b'-' | b'0' | b'+' | b' ' | b'#'), after)) = rest.split_first() {
            match flag {
                b'-' => shape.left = true,
                b'0' => shape.zeros = true,
                b'+' => shape.sign = true,
                b' ' => shape.blank = true,
                _ => shape.alternative = true,
            }
            rest = after;
        }
        let (width, after) = self.size(rest);
        shape.left |= width.is_some_and(|width| width < 0);
        shape.width = bounded(width.unwrap_or(0).unsigned_abs());
        rest = after;
        if let Some(after) = rest.strip_prefix(b".") {
            let (precision, after) = self.size(after);
            // A negative one counts as none.
            shape.precision = u64::try_from(precision.unwrap_or(0)).ok().map(bounded);
            rest = after;
        }
        let Some((&kind, rest)) = rest.split_first() else {
            self.out.mistake = Some(b"%".to_vec());
            return rest;
        };
        self.convert(kind, shape);
        rest
    }

    /// A number in the template, or `*` for that of an argument.
    fn size<'t>(&mut self, text: &'t [u8]) -> (Option<i64>, &'t [u8]) {
        if let Some(rest) = text.strip_prefix(b"*") {
            return (Some(self.number()), rest);
        }
        let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let value = text[..length]
            .iter()
            .fold(0_i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
        ((length > 0).then_some(value), &text[length..])
    }

    fn convert(&mut self, kind: u8, shape: Shape) {
        match kind {
            b'%' => self.out.text.push(b'%'),
            b's' => {
                let text = self.argument().unwrap_or_default();
                self.pad(&text[..shape.precision.unwrap_or(text.len()).min(text.len())], shape);
            }
            b'c' => {
                let text = self.argument().unwrap_or_default();
                self.pad(&text[..text.len().min(1)], shape);
            }
            b'b' => {
                let text = self.argument().unwrap_or_default();
                let before = self.out.text.len();
                let mut rest = text.as_slice();
                while let Some((&byte, after)) = rest.split_first().filter(|_| !self.ended) {
                    rest = if byte == b'\\' {
                        self.escape(after, true)
                    } else {
                        self.out.text.push(byte);
                        after
                    };
                }
                let text = self.out.text.split_off(before);
                self.pad(&text[..shape.precision.unwrap_or(text.len()).min(text.len())], shape);
            }
            b'd' | b'i' => {
                let value = self.number();
                let sign = match (value < 0, shape.sign, shape.blank) {
                    (true, ..) => "-",
                    (_, true, _) => "+",
                    (_, _, true) => " ",
                    _ => "",
                };
                self.digits(sign, &format!("{}", value.unsigned_abs()), shape);
            }
            b'u' | b'o' | b'x' | b'X' => {
                let value = self.number().cast_unsigned();
                let (prefix, digits) = match kind {
                    b'u' => ("", format!("{value}")),
                    b'o' => ("0", format!("{value:o}")),
                    b'x' => ("0x", format!("{value:x}")),
                    _ => ("0X", format!("{value:X}")),
                };
                self.digits(if shape.alternative && value != 0 { prefix } else { "" }, &digits, shape);
            }
            other => self.out.mistake = Some([b'%', other].to_vec()),
        }
    }

    fn digits(&mut self, prefix: &str, digits: &str, shape: Shape) {
        let zeros = shape.precision.unwrap_or(1).saturating_sub(digits.len());
        let mut text = String::from(prefix);
        text.extend(repeat_n('0', zeros));
        if !(digits == "0" && shape.precision == Some(0)) {
            text.push_str(digits);
        }
        if shape.zeros && !shape.left && shape.precision.is_none() && text.len() < shape.width {
            let missing = shape.width - text.len();
            text.insert_str(prefix.len(), &repeat_n('0', missing).collect::<String>());
        }
        self.pad(text.as_bytes(), shape);
    }

    fn pad(&mut self, text: &[u8], shape: Shape) {
        let blanks = shape.width.saturating_sub(text.len());
        let out = &mut self.out.text;
        if !shape.left {
            out.extend(repeat_n(b' ', blanks));
        }
        out.extend_from_slice(text);
        if shape.left {
            out.extend(repeat_n(b' ', blanks));
        }
    }

    /// The next argument as a number as in C, or the character behind a quote; 0, and a mistake, if it is none.
    fn number(&mut self) -> i64 {
        let Some(argument) = self.argument() else { return 0 };
        if let [b'\'' | b'"', byte, ..] = argument.as_slice() {
            return i64::from(*byte);
        }
        match super::arithmetic::constant(&argument) {
            Some(value) => value,
            None if argument.is_empty() => 0,
            None => {
                self.out.mistake = Some(argument);
                0
            }
        }
    }
}

fn bounded(size: u64) -> usize {
    usize::try_from(size).unwrap_or(WIDTH_MAX).min(WIDTH_MAX)
}

#[cfg(test)]
mod tests {
    use super::{OUTPUT_MAX, print};
    use proptest::prelude::*;

    fn printed(line: &[&str]) -> String {
        let arguments: Vec<Vec<u8>> = line[1..].iter().map(|&text| text.into()).collect();
        String::from_utf8(print(line[0].as_bytes(), &arguments).text).unwrap()
    }

    #[test]
    fn templates_are_filled_in() {
        for (line, text) in [
            (&["a\\tb\\n"][..], "a\tb\n"),
            (&["%s-%s\\n", "a", "b", "c"], "a-b\nc-\n"),
            (&["%5s|%-5s|%.2s|", "ab", "cd", "efg"], "   ab|cd   |ef|"),
            (&["%d %i %u", "-5", "0x10", "7"], "-5 16 7"),
            (&["%05d|%+d|% d|%5.3d|", "42", "1", "2", "7"], "00042|+1| 2|  007|"),
            (&["%x %X %o %#x %#o", "255", "255", "8", "255", "8"], "ff FF 10 0xff 010"),
            (&["%c%c", "xyz", ""], "x"),
            (&["%b|%s", "a\\n\\0101", "a\\n"], "a\nA|a\\n"),
            (&["%b%s", "a\\cb", "c"], "a"),
            (&["\\101\\\\%%"], "A\\%"),
            (&["%*d|%-*d|", "4", "1", "3", "2"], "   1|2  |"),
            (&["%d", "'A"], "65"),
            (&["none", "a", "b"], "none"),
            (&["%s"], ""),
        ] {
            assert_eq!(printed(line), text, "{line:?}");
        }
        assert_eq!(print(b"%d", &[b"x".to_vec()]).mistake.as_deref(), Some(&b"x"[..]));
        assert_eq!(print(b"%q", &[]).mistake.as_deref(), Some(&b"%q"[..]));
        let all = vec![b"x".to_vec(); 1024];
        assert!(print(b"%4096s", &all).cut);
    }

    proptest! {
        #[test]
        fn any_template_ends(template in "[%\\\\a-d0-9.*sdxcbu #+-]{0,16}", arguments: Vec<Vec<u8>>) {
            prop_assert!(print(template.as_bytes(), &arguments).text.len() <= OUTPUT_MAX);
        }
    }
}
