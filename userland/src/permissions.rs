//! Permissions in words, as `chmod(1)` takes them (POSIX.1-2017, XCU chmod, "Extended Description").

/// All permission bits of user, group and others.
const ALL: u32 = 0o777;
/// The bits to execute.
const EXECUTE: u32 = 0o111;
/// All bits that a number can set: set-user-ID, set-group-ID and sticky too.
const NUMBER_MAX: u32 = 0o7777;

/// What `text` makes of `mode`: an octal number, or clauses such as `u+x,go-w`. A clause that names nobody leaves alone
/// what `umask` has. `None` for a text that says nothing of the kind.
#[must_use]
pub fn apply(text: &[u8], mode: u32, is_directory: bool, umask: u32) -> Option<u32> {
    if text.first()?.is_ascii_digit() {
        let number = u32::from_str_radix(core::str::from_utf8(text).ok()?, 8).ok()?;
        return (number <= NUMBER_MAX).then_some(number);
    }
    text.split(|&byte| byte == b',').try_fold(mode, |mode, clause| change(clause, mode, is_directory, umask))
}

fn change(clause: &[u8], mode: u32, is_directory: bool, umask: u32) -> Option<u32> {
    let at = clause.iter().position(|byte| matches!(byte, b'+' | b'-' | b'='))?;
    let (who, what) = (who(&clause[..at])?, &clause[at + 1..]);
    let mut bits = 0;
    for letter in what {
        bits |= match letter {
            b'r' => 0o444,
            b'w' => 0o222,
            b'x' => EXECUTE,
            b'X' if is_directory || mode & EXECUTE != 0 => EXECUTE,
            b'X' => 0,
            _ => return None,
        };
    }
    let (named, bits) = match who {
        0 => (ALL, bits & !umask),
        who => (who, bits & who),
    };
    Some(match clause[at] {
        b'+' => mode | bits,
        b'-' => mode & !bits,
        _ => mode & !named | bits,
    })
}

/// The bits of those who are named, 0 if nobody is.
fn who(letters: &[u8]) -> Option<u32> {
    letters.iter().try_fold(0, |bits, letter| match letter {
        b'u' => Some(bits | 0o700),
        b'g' => Some(bits | 0o070),
        b'o' => Some(bits | 0o007),
        b'a' => Some(ALL),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::apply;

    #[test]
    fn numbers_and_clauses_change_what_they_name() {
        for (text, mode, result) in [
            ("755", 0o600, Some(0o755)),
            ("4711", 0, Some(0o4711)),
            ("0", 0o777, Some(0)),
            ("+x", 0o644, Some(0o755)),
            ("+w", 0o444, Some(0o644)),
            ("a+w", 0o444, Some(0o666)),
            ("u+x,go-r", 0o644, Some(0o700)),
            ("g=rw", 0o755, Some(0o765)),
            ("o=", 0o777, Some(0o770)),
            ("a=rX", 0o700, Some(0o555)),
            ("a=rX", 0o600, Some(0o444)),
            ("-x", 0o4755, Some(0o4644)),
        ] {
            assert_eq!(apply(text.as_bytes(), mode, false, 0o022), result, "{text} of {mode:o}");
        }
        assert_eq!(apply(b"a+X", 0o600, true, 0), Some(0o711));
        for text in ["", "x", "u", "u+z", "y+x", "10000", "8", "+x,", "7a"] {
            assert_eq!(apply(text.as_bytes(), 0o644, false, 0), None, "{text}");
        }
    }
}
