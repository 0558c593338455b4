//! Bytes in JSON: text when they are UTF-8, base64 when not, never altered.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::name;

/// Puts a name: as `field` when it is UTF-8, else as `field_base64`.
pub(super) fn put(to: &mut Map<String, Value>, field: &str, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => to.insert(field.into(), text.into()),
        Err(_) => to.insert(format!("{field}{}", name::BASE64_SUFFIX), STANDARD.encode(bytes).into()),
    };
}

/// Puts a content with the encoding it came out in.
pub(super) fn put_content(to: &mut Map<String, Value>, bytes: &[u8]) {
    let (content, encoding) = match std::str::from_utf8(bytes) {
        Ok(text) => (text.into(), name::TEXT),
        Err(_) => (STANDARD.encode(bytes).into(), name::BASE64),
    };
    to.insert(name::CONTENT.into(), content);
    to.insert(name::ENCODING.into(), encoding.into());
}

/// The bytes that this base64 text stands for (RFC 4648 section 4, with padding).
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
