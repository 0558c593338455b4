//! Arithmetic expansion (POSIX.1-2017, XCU 2.6.4): the operators of C on signed 64-bit integers, which wrap around.

use super::expand::{Failure, Host};
use super::name_length;
use alloc_crate::format;

/// How deep an expression may be.
const DEPTH_MAX: usize = 64;

/// Binary operators and how strongly they bind; of two that fit, the longer stands before the shorter.
const BINARY: [(&[u8], u8); 18] = [
    (b"||", 1),
    (b"&&", 2),
    (b"==", 6),
    (b"!=", 6),
    (b"<<", 8),
    (b">>", 8),
    (b"<=", 7),
    (b">=", 7),
    (b"|", 3),
    (b"^", 4),
    (b"&", 5),
    (b"<", 7),
    (b">", 7),
    (b"+", 9),
    (b"-", 9),
    (b"*", 10),
    (b"/", 10),
    (b"%", 10),
];
/// Assignments; the bytes before `=` are the operator.
const ASSIGNMENTS: [&[u8]; 11] =
    [b"<<=", b">>=", b"+=", b"-=", b"*=", b"/=", b"%=", b"&=", b"^=", b"|=", b"="];

/// The value of an expression.
///
/// # Errors
/// It is no expression, divides by zero, or uses a variable that is no number.
pub(super) fn evaluate(text: &[u8], host: &mut impl Host) -> Result<i64, Failure> {
    if text.trim_ascii().is_empty() {
        return Ok(0);
    }
    let mut expression = Expression { rest: text, host, skipping: 0, depth: 0 };
    let value = expression.assignment()?;
    if expression.peek().is_some() {
        return fail("what follows is no operator");
    }
    Ok(value)
}

fn fail<T>(what: &'static str) -> Result<T, Failure> {
    Err(Failure::Arithmetic(what))
}

struct Expression<'a, H> {
    rest: &'a [u8],
    host: &'a mut H,
    /// Greater than 0 where the value does not count, as behind `0 &&`.
    skipping: usize,
    depth: usize,
}

impl<H: Host> Expression<'_, H> {
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    fn take(&mut self, operator: &[u8]) -> bool {
        self.peek();
        let found = self.rest.strip_prefix(operator);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn deeper(&mut self, body: impl FnOnce(&mut Self) -> Result<i64, Failure>) -> Result<i64, Failure> {
        if self.depth >= DEPTH_MAX {
            return fail("too many levels");
        }
        self.depth += 1;
        let value = body(self);
        self.depth -= 1;
        value
    }

    /// Runs `body` for its syntax only, if `skip`.
    fn skip_if(
        &mut self,
        skip: bool,
        body: impl FnOnce(&mut Self) -> Result<i64, Failure>,
    ) -> Result<i64, Failure> {
        self.skipping += usize::from(skip);
        let value = self.deeper(body);
        self.skipping -= usize::from(skip);
        value
    }

    fn assignment(&mut self) -> Result<i64, Failure> {
        self.peek();
        let length = name_length(self.rest);
        let (name, after) = self.rest.split_at(length);
        let after = after.trim_ascii_start();
        let operator = ASSIGNMENTS.into_iter().find(|operator| after.starts_with(operator));
        match operator {
            Some(operator) if length > 0 && !after.starts_with(b"==") => {
                self.rest = &after[operator.len()..];
                let right = self.deeper(Self::assignment)?;
                let value = match operator {
                    b"=" => right,
                    _ => {
                        let left = self.variable(name)?;
                        self.apply(&operator[..operator.len() - 1], left, right)?
                    }
                };
                if self.skipping == 0 {
                    self.host.assign(name, format!("{value}").into_bytes())?;
                }
                Ok(value)
            }
            _ => self.conditional(),
        }
    }

    fn conditional(&mut self) -> Result<i64, Failure> {
        let condition = self.binary(1)?;
        if !self.take(b"?") {
            return Ok(condition);
        }
        let first = self.skip_if(condition == 0, Self::assignment)?;
        if !self.take(b":") {
            return fail("`?` without `:`");
        }
        let second = self.skip_if(condition != 0, Self::conditional)?;
        Ok(if condition != 0 { first } else { second })
    }

    /// Operators that bind at least as strongly as `least`.
    fn binary(&mut self, least: u8) -> Result<i64, Failure> {
        let mut left = self.unary()?;
        loop {
            self.peek();
            let rest = self.rest;
            let Some((operator, strength)) =
                BINARY.into_iter().find(|(operator, _)| rest.starts_with(operator))
            else {
                return Ok(left);
            };
            if strength < least {
                return Ok(left);
            }
            self.rest = &rest[operator.len()..];
            let skip = (operator == b"&&" && left == 0) || (operator == b"||" && left != 0);
            let right = self.skip_if(skip, |inner| inner.binary(strength + 1))?;
            left = self.apply(operator, left, right)?;
        }
    }

    fn apply(&self, operator: &[u8], left: i64, right: i64) -> Result<i64, Failure> {
        // Only the low six bits count, as for the processor.
        let shift = u32::try_from(right & 63).unwrap_or(0);
        Ok(match operator {
            b"||" => i64::from(left != 0 || right != 0),
            b"&&" => i64::from(left != 0 && right != 0),
            b"==" => i64::from(left == right),
            b"!=" => i64::from(left != right),
            b"<=" => i64::from(left <= right),
            b">=" => i64::from(left >= right),
            b"<" => i64::from(left < right),
            b">" => i64::from(left > right),
            b"|" => left | right,
            b"^" => left ^ right,
            b"&" => left & right,
            b"<<" => left.wrapping_shl(shift),
            b">>" => left.wrapping_shr(shift),
            b"+" => left.wrapping_add(right),
            b"-" => left.wrapping_sub(right),
            b"*" => left.wrapping_mul(right),
            b"/" | b"%" if right == 0 && self.skipping > 0 => 0,
            b"/" | b"%" if right == 0 => return fail("division by zero"),
            b"/" => left.wrapping_div(right),
            _ => left.wrapping_rem(right),
        })
    }

    fn unary(&mut self) -> Result<i64, Failure> {
        let operator = self.peek();
        if let Some(b'+' | b'-' | b'!' | b'~' | b'(') = operator {
            self.rest = &self.rest[1..];
        }
        match operator {
            Some(b'+') => self.deeper(Self::unary),
            Some(b'-') => self.deeper(Self::unary).map(i64::wrapping_neg),
            Some(b'!') => self.deeper(Self::unary).map(|value| i64::from(value == 0)),
            Some(b'~') => self.deeper(Self::unary).map(|value| !value),
            Some(b'(') => {
                let value = self.deeper(Self::assignment)?;
                if self.take(b")") { Ok(value) } else { fail("`(` without `)`") }
            }
            Some(b'0'..=b'9') => self.number(),
            _ => {
                let length = name_length(self.rest);
                if length == 0 {
                    return fail("a number or a name is missing");
                }
                let (name, rest) = self.rest.split_at(length);
                self.rest = rest;
                self.variable(name)
            }
        }
    }

    fn number(&mut self) -> Result<i64, Failure> {
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        parse(digits).map_or_else(|| fail("this is no number"), Ok)
    }

    fn variable(&self, name: &[u8]) -> Result<i64, Failure> {
        let Some(value) = self.host.parameter(name) else {
            if self.host.requires_values() && self.skipping == 0 {
                return Err(Failure::Parameter(name.to_vec(), b"parameter not set".to_vec()));
            }
            return Ok(0);
        };
        match constant(&value) {
            Some(number) => Ok(number),
            None if value.trim_ascii().is_empty() || self.skipping > 0 => Ok(0),
            None => fail("a variable is no number"),
        }
    }
}

/// A constant with a sign, blanks around it allowed.
pub(super) fn constant(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    match text.strip_prefix(b"-") {
        Some(digits) => parse(digits).map(i64::wrapping_neg),
        None => parse(text.strip_prefix(b"+").unwrap_or(text)),
    }
}

/// A constant as in C: decimal, octal after `0`, hexadecimal after `0x`. What is too large wraps around.
fn parse(digits: &[u8]) -> Option<i64> {
    let (radix, digits) = match digits {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest),
        [b'0', rest @ ..] if !rest.is_empty() => (8, rest),
        _ => (10, digits),
    };
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_i64, |number, &digit| {
        let digit = char::from(digit).to_digit(radix)?;
        Some(number.wrapping_mul(i64::from(radix)).wrapping_add(i64::from(digit)))
    })
}
