//! Bytes of the guest as a client gets them, and as it gives them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{decode, encode};
use crate::mcp::error::{Code, Failure};
use crate::mcp::text::{Shape, escape, is_plain, unescape};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ContentEncoding {
    Text,
    Escaped,
    Base64,
}

/// The bytes that a client means by this content; `text` unless it says otherwise.
pub(super) fn bytes_of_content(
    content: String,
    encoding: Option<ContentEncoding>,
) -> Result<Vec<u8>, Failure> {
    let bad = |what| Failure::new(Code::BadRequest, what);
    match encoding.unwrap_or(ContentEncoding::Text) {
        ContentEncoding::Text => Ok(content.into_bytes()),
        ContentEncoding::Escaped => {
            unescape(&content).ok_or_else(|| bad("the content has a backslash that begins no escape"))
        }
        ContentEncoding::Base64 => decode(&content).ok_or_else(|| bad("the content is no base64")),
    }
}

/// Bytes as a client gets them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) content: String,
    pub(super) encoding: ContentEncoding,
    /// How many of the bytes given it stands for.
    pub(super) len: usize,
}

impl Part {
    /// As many of `bytes` as fit `room` bytes of JSON, or all. `goes_on` when the file has more after them.
    pub(super) fn of(
        bytes: &[u8],
        goes_on: bool,
        wanted: Option<ContentEncoding>,
        room: Option<usize>,
    ) -> Self {
        let whole = if goes_on { whole_characters(bytes) } else { bytes };
        let encoding = encoding_for(whole, wanted);
        let take = |bytes: &[u8]| match encoding {
            ContentEncoding::Base64 => encode(bytes),
            ContentEncoding::Escaped => escape(bytes, Shape::Lines),
            ContentEncoding::Text => String::from_utf8_lossy(bytes).into_owned(),
        };
        let fits = |content: &str| room.is_none_or(|room| json_len(content) <= room);
        // A base64 content is cut anywhere, any other between characters.
        let mut part = if encoding == ContentEncoding::Base64 { bytes } else { whole };
        let mut content = take(part);
        while !fits(&content) && part.len() > 1 {
            let shorter = &part[..part.len() * 7 / 8];
            part = if encoding == ContentEncoding::Base64 { shorter } else { whole_characters(shorter) };
            content = take(part);
        }
        // The carriage return of a CR LF that was cut in two does not stand for itself.
        let split = encoding == ContentEncoding::Text && !is_plain(&content, Shape::Lines);
        if split && part.len() > 1 {
            part = &part[..part.len() - 1];
            content.pop();
        }
        Self { content, encoding, len: part.len() }
    }
}

/// The encoding that `wanted` comes to for these bytes.
fn encoding_for(bytes: &[u8], wanted: Option<ContentEncoding>) -> ContentEncoding {
    let text = std::str::from_utf8(bytes);
    match wanted {
        Some(exact @ (ContentEncoding::Base64 | ContentEncoding::Escaped)) => exact,
        _ if text.is_ok_and(|text| is_plain(text, Shape::Lines)) => ContentEncoding::Text,
        None if text.is_err() => ContentEncoding::Base64,
        _ => ContentEncoding::Escaped,
    }
}

/// These bytes without the beginning of a character at their end, unless there is nothing before it.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// Length of this text as a JSON string.
pub(super) fn json_len(text: &str) -> usize {
    serde_json::to_string(text).map_or(usize::MAX, |json| json.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the tests take for the room of a result.
    const CONTENT_MAX: usize = 7680;

    fn part(bytes: &[u8], goes_on: bool) -> (String, ContentEncoding, usize) {
        let Part { content, encoding, len } = Part::of(bytes, goes_on, None, Some(CONTENT_MAX));
        (content, encoding, len)
    }

    #[test]
    fn the_encoding_is_what_the_bytes_need() {
        assert_eq!(part("é\n".as_bytes(), false), ("é\n".into(), ContentEncoding::Text, 3));
        assert_eq!(part(b"\x1b[1m", false), ("\\x1b[1m".into(), ContentEncoding::Escaped, 4));
        assert_eq!(part(b"\xff\0", false), ("/wA=".into(), ContentEncoding::Base64, 2));
        let wanted = |bytes: &[u8], wanted| Part::of(bytes, false, Some(wanted), None).content;
        assert_eq!(wanted(b"a", ContentEncoding::Base64), "YQ==");
        assert_eq!(wanted(b"\\", ContentEncoding::Escaped), "\\\\");
        assert_eq!(wanted(b"\xff", ContentEncoding::Text), "\\xff");
    }

    #[test]
    fn a_character_is_not_cut_in_two() {
        assert_eq!(part(b"a\xc3", true), ("a".into(), ContentEncoding::Text, 1));
        assert_eq!(part(b"a\xc3", false).1, ContentEncoding::Base64, "it is cut in the file itself");
        assert_eq!(
            part(b"\xc3", true),
            ("ww==".into(), ContentEncoding::Base64, 1),
            "or nothing would be read"
        );
        assert_eq!(part(b"\xa9b", true).1, ContentEncoding::Base64, "it began before");
    }

    #[test]
    fn a_long_part_is_cut_to_what_fits() {
        let long = "é\r\n".repeat(4000);
        let (content, encoding, len) = part(long.as_bytes(), true);
        assert!(json_len(&content) <= CONTENT_MAX && content.len() > CONTENT_MAX / 2);
        assert_eq!((encoding, len), (ContentEncoding::Text, content.len()));
        assert!(long.starts_with(&content) && is_plain(&content, Shape::Lines));
    }

    proptest! {
        #[test]
        fn parts_put_together_are_the_file(
            bytes in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..400),
                "([a-z]|é|€|\\r\\n|\\x1b|\u{202e}){0,150}".prop_map(String::into_bytes),
            ],
            length in 1usize..100,
            room in proptest::option::of(8usize..60),
        ) {
            let (mut read, mut at) = (Vec::new(), 0);
            while at < bytes.len() {
                let end = bytes.len().min(at + length);
                let part = Part::of(&bytes[at..end], end < bytes.len(), None, room);
                prop_assert!(part.len > 0);
                prop_assert!(room.is_none_or(|room| json_len(&part.content) <= room) || part.len == 1);
                read.extend(match part.encoding {
                    ContentEncoding::Text => {
                        prop_assert!(is_plain(&part.content, Shape::Lines));
                        part.content.into_bytes()
                    }
                    ContentEncoding::Escaped => unescape(&part.content).unwrap(),
                    ContentEncoding::Base64 => super::super::decode(&part.content).unwrap(),
                });
                at += part.len;
            }
            prop_assert_eq!(read, bytes);
        }
    }
}
