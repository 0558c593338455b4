//! What a guest's screen shows, and keys for its keyboard.

use std::io::{self, ErrorKind};

use serde_json::json;

use crate::{Error, Result, Vm};

/// Name of the picture in the run folder.
const PICTURE: &str = "screen.ppm";

/// A picture of a screen.
pub struct Screenshot {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Pixels row by row, as 0xRRGGBB.
    pub pixels: Vec<u32>,
}

impl Vm {
    /// Takes a picture of the guest's screen.
    ///
    /// # Errors
    /// As [`Vm::qmp`]: the machine may have no screen.
    pub fn screenshot(&self) -> Result<Screenshot> {
        self.qmp("screendump", &json!({ "filename": PICTURE }))?;
        let bytes = std::fs::read(self.folder().join(PICTURE)).map_err(Error::io(PICTURE))?;
        Screenshot::parse(&bytes).ok_or_else(|| {
            let source = io::Error::new(ErrorKind::InvalidData, "not a picture in PPM form");
            Error::Io { what: PICTURE.into(), source }
        })
    }

    /// Presses keys of the guest's keyboard together and lets them go. The names are those of QEMU's `QKeyCode`
    /// (`a`, `ret`, `ctrl`, …). A keyboard holds 16 bytes, which is two for most keys: let the guest take them.
    ///
    /// # Errors
    /// As [`Vm::qmp`].
    pub fn press(&self, keys: &[&str]) -> Result<()> {
        let event = |key: &&str, down: bool| json!({ "type": "key", "data": { "down": down, "key": { "type": "qcode", "data": key } } });
        let down = keys.iter().map(|key| event(key, true));
        let events: Vec<_> = down.chain(keys.iter().rev().map(|key| event(key, false))).collect();
        self.qmp("input-send-event", &json!({ "events": events })).map(drop)
    }
}

impl Screenshot {
    /// Reads a binary PPM file: `P6`, width, height, 255, a blank, three bytes for each pixel.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut word = || {
            let end = rest.iter().position(u8::is_ascii_whitespace)?;
            let (word, after) = rest.split_at(end);
            rest = &after[1..];
            std::str::from_utf8(word).ok()
        };
        let (magic, width, height, most) = (word()?, word()?, word()?, word()?);
        let (width, height) = (width.parse().ok()?, height.parse().ok()?);
        let pixels: Vec<u32> =
            rest.chunks_exact(3).map(|rgb| u32::from_be_bytes([0, rgb[0], rgb[1], rgb[2]])).collect();
        (magic == "P6" && most == "255" && pixels.len() == usize::checked_mul(width, height)?)
            .then_some(Self { width, height, pixels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_read_pixel_by_pixel() {
        let picture = Screenshot::parse(b"P6\n2 1\n255\n\x01\x02\x03\x00\xff\x0a").unwrap();
        assert_eq!((picture.width, picture.height), (2, 1));
        assert_eq!(picture.pixels, [0x01_02_03, 0x00_ff_0a]);
        assert!(Screenshot::parse(b"P6\n2 2\n255\n\x01\x02\x03").is_none());
        assert!(Screenshot::parse(b"P5\n1 1\n255\n\x01").is_none());
    }
}
