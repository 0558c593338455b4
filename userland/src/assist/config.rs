//! Editing the agent's configuration.

use alloc_crate::vec::Vec;
use askr_abi::{ConfKey, conf_lines};

/// The text of the file with `key` set. Comments and other lines stay as they are; of several lines with the key the last one
/// is changed.
#[must_use]
pub fn with_setting(text: &[u8], key: ConfKey, value: &str) -> Vec<u8> {
    let line = [key.name().as_bytes(), b"=", value.as_bytes()].concat();
    let place = conf_lines(text).filter(|(_, line)| line.is_ok_and(|(of, _)| of == key)).last();
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    // What is after the last end of a line is a line only if there is something.
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    match place {
        Some((number, _)) => lines[number - 1] = &line,
        None => lines.push(&line),
    }
    let mut text = lines.join(&b'\n');
    text.push(b'\n');
    text
}

/// The text without any line that gives `key` a value.
#[must_use]
pub fn without_setting(text: &[u8], key: ConfKey) -> Vec<u8> {
    let places: Vec<usize> = conf_lines(text)
        .filter(|(_, line)| line.is_ok_and(|(of, _)| of == key))
        .map(|(number, _)| number - 1)
        .collect();
    let lines = text.split_inclusive(|&byte| byte == b'\n').enumerate();
    lines.filter(|(number, _)| !places.contains(number)).flat_map(|(_, line)| line).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::{with_setting, without_setting};
    use askr_abi::{ConfKey, conf_value};
    use proptest::prelude::*;

    #[test]
    fn other_lines_stay() {
        let text = b"# mine\nmodel=a\nnonsense\nmodel=b\n";
        assert_eq!(with_setting(text, ConfKey::Model, "c"), b"# mine\nmodel=a\nnonsense\nmodel=c\n");
        assert_eq!(with_setting(b"", ConfKey::Confirm, "never"), b"confirm=never\n");
        assert_eq!(with_setting(b"x", ConfKey::Confirm, "never"), b"x\nconfirm=never\n");
    }

    #[test]
    fn a_key_is_taken_out_wherever_it_is() {
        let text = b"# mine\nmodel=a\nnonsense\nconfirm=never\nmodel=b";
        assert_eq!(without_setting(text, ConfKey::Model), b"# mine\nnonsense\nconfirm=never\n");
        assert_eq!(without_setting(b"", ConfKey::Model), b"");
    }

    proptest! {
        #[test]
        fn the_value_is_read_again(text: Vec<u8>, lines in "(model=[a-z]{0,3}\n|#\n|x=1\n){0,6}") {
            for text in [&text[..], lines.as_bytes()] {
                let after = with_setting(text, ConfKey::Model, "m 1");
                prop_assert_eq!(conf_value(&after, ConfKey::Model), Some("m 1"));
                prop_assert_eq!(conf_value(&after, ConfKey::Confirm), conf_value(text, ConfKey::Confirm));
                prop_assert_eq!(with_setting(&after, ConfKey::Model, "m 1"), after);
            }
        }
    }
}
