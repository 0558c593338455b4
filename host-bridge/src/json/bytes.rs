//! Bytes in JSON: text when they are UTF-8, base64 when not, never altered.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::name;

/// Puts a name: as `field` when it is UTF-8, else as `field_base64`.
pub(super) fn put(to: &mut Map<String, Value>, field: &str, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => to.insert(field.into(), text.into()),
        Err(_) => to.insert(format!("{field}{}", name::BASE64_SUFFIX), STANDARD.encode(bytes).into()),
    };
}

/// Puts a list of names: as `field` when all are UTF-8, else as `field_base64`.
pub(super) fn put_list(to: &mut Map<String, Value>, field: &str, list: &[Vec<u8>]) {
    let texts: Result<Vec<&str>, _> = list.iter().map(|bytes| std::str::from_utf8(bytes)).collect();
    match texts {
        Ok(texts) => to.insert(field.into(), texts.into()),
        Err(_) => {
            let coded: Vec<String> = list.iter().map(|bytes| STANDARD.encode(bytes)).collect();
            to.insert(format!("{field}{}", name::BASE64_SUFFIX), coded.into())
        }
    };
}

/// Bytes in a list: text when they are UTF-8, else an object with `base64`.
pub(super) fn value(bytes: &[u8]) -> Value {
    std::str::from_utf8(bytes).map_or_else(|_| json!({ name::BASE64: STANDARD.encode(bytes) }), Value::from)
}

/// Puts a content with the encoding it came out in.
pub(super) fn put_content(to: &mut Map<String, Value>, bytes: &[u8]) {
    put_encoded(to, std::str::from_utf8(bytes).ok(), bytes);
}

/// The same with the encoding that makes the shorter line: base64 also for text with many control characters, which take up
/// to six bytes of JSON each.
pub(super) fn put_short_content(to: &mut Map<String, Value>, bytes: &[u8]) {
    let extra = bytes.iter().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 1,
        0..=0x1f => 5,
        _ => 0,
    });
    let is_text_short = extra.sum::<usize>() <= bytes.len() / 3;
    put_encoded(to, std::str::from_utf8(bytes).ok().filter(|_| is_text_short), bytes);
}

fn put_encoded(to: &mut Map<String, Value>, text: Option<&str>, bytes: &[u8]) {
    let (content, encoding) = match text {
        Some(text) => (text.into(), name::TEXT),
        None => (STANDARD.encode(bytes).into(), name::BASE64),
    };
    to.insert(name::CONTENT.into(), content);
    to.insert(name::ENCODING.into(), encoding.into());
}

/// These bytes in base64, whatever they are.
pub(super) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes that this base64 text stands for (RFC 4648 section 4, with padding).
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// The same JSON with everything escaped that a terminal may obey: the controls that JSON itself lets pass (DEL
/// and C1, ECMA-48) and what reverses the order of text (Unicode UAX #9). They occur inside strings only.
pub(super) fn escape_controls(json: String) -> String {
    let obeyed = |symbol: char| matches!(symbol, '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !json.contains(obeyed) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for symbol in json.chars() {
        if obeyed(symbol) {
            escaped.push_str(&format!("\\u{:04x}", u32::from(symbol)));
        } else {
            escaped.push(symbol);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped_and_means_the_same() {
        for text in ["plain é €", "\u{9b}2J", "\u{7f}", "a\u{202e}b", "\u{1b}[2J"] {
            let value = Value::from(text);
            let escaped = escape_controls(value.to_string());
            assert!(!escaped.chars().any(|symbol| symbol.is_control() || symbol == '\u{202e}'), "{escaped}");
            assert_eq!(serde_json::from_str::<Value>(&escaped).unwrap(), value);
        }
        assert_eq!(escape_controls("\"é\"".into()), "\"é\"");
    }
}
