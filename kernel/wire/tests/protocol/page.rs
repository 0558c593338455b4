//! The page and its examples.

use std::collections::BTreeMap;

use askr_wire::message::Response;
use askr_wire::status::Status;
use askr_wire::vectors::{OwnedFrame, deframe};
use askr_wire::{FRAME_MAX, FrameType, Message, SessionId, Writer, ext};

pub(crate) const PAGE: &str = include_str!("../../../../docs/protocol.md");
pub(crate) const SESSION: SessionId = SessionId([0x8c, 0x1f, 0x3a, 0x5b, 0x2d, 0x40, 0x9e, 0x77]);

/// The bytes of every fenced block of `kind`, by name; what follows a `#` in a line is a comment.
pub(crate) fn blocks(kind: &str) -> BTreeMap<&'static str, Vec<u8>> {
    let mut blocks = BTreeMap::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("```").and_then(|info| info.strip_prefix(kind)) else { continue };
        let body = lines.by_ref().take_while(|line| *line != "```");
        let words = body.flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace());
        let bytes = words.map(|word| u8::from_str_radix(word, 16).expect(line)).collect();
        assert!(blocks.insert(name.trim(), bytes).is_none(), "two blocks are called {name}");
    }
    blocks
}

/// The bytes on the line for a frame that already has its checksum.
pub(crate) fn on_the_wire(raw: &[u8]) -> Vec<u8> {
    let mut out = [0; FRAME_MAX];
    let len = cobs::try_encode_including_sentinels(raw, &mut out).unwrap();
    out[..len].to_vec()
}

/// Takes the examples of the page out one by one, and compares each with what is sent for given fields.
pub(crate) struct Examples {
    pub(crate) left: BTreeMap<&'static str, OwnedFrame>,
}

impl Examples {
    pub(crate) fn new() -> Self {
        let frames = blocks("hex ").into_iter().map(|(name, raw)| {
            (name, deframe(&on_the_wire(&raw)).remove(0).unwrap_or_else(|error| panic!("{name}: {error}")))
        });
        Self { left: frames.collect() }
    }

    pub(crate) fn take(&mut self, name: &str, kind: FrameType, code: u16) -> OwnedFrame {
        let frame = self.left.remove(name).unwrap_or_else(|| panic!("no example is called {name}"));
        assert_eq!((frame.kind, frame.code), (kind, code), "{name}");
        if let Some((session, _)) = &frame.session {
            assert_eq!(*session, SESSION, "{name}");
        }
        frame
    }

    pub(crate) fn is<'a>(&mut self, name: &str, kind: FrameType, code: u16, message: &impl Message<'a>) {
        let frame = self.take(name, kind, code);
        let out = encoded(message);
        assert_eq!(out, frame.payload, "{name}");
    }

    pub(crate) fn request<'a>(&mut self, name: &str, code: u16, message: &impl Message<'a>) {
        self.is(name, FrameType::Request, code, message);
    }

    pub(crate) fn response<'a>(&mut self, name: &str, code: u16, message: &impl Message<'a>) {
        let body = encoded(message);
        self.is(name, FrameType::Response, code, &Response { status: Status::Ok, body: &body });
    }

    pub(crate) fn error(&mut self, name: &str, code: u16, status: Status) {
        self.is(name, FrameType::Response, code, &Response::error(status));
    }
}

pub(crate) fn encoded<'a>(message: &impl Message<'a>) -> Vec<u8> {
    let mut out = vec![0; 1024];
    let len = message.encode(&mut out).unwrap();
    out.truncate(len);
    out
}

/// An ext of these items.
pub(crate) fn ext_of(items: &[(u8, &[u8])]) -> Vec<u8> {
    let mut out = vec![0; 1024];
    let mut writer = Writer::new(&mut out);
    items.iter().for_each(|&item| ext::put_item(&mut writer, item).unwrap());
    let len = writer.len();
    out.truncate(len);
    out
}
