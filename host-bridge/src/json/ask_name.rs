//! How asks are named in JSON.

use askr_wire::code::ASK_SEQ_FIRST;

use crate::session::{AskId, BootId};

/// How an ask is named in JSON: the first four bytes of the boot id in hex, a colon, and its number in that boot, so that an
/// answer never reaches an ask of another boot. The number is the one that the person at the console knows it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskName {
    /// The first bytes of the boot id.
    pub boot: [u8; 4],
    /// Its sequence number.
    pub seq: u32,
}

impl AskName {
    /// The ask in this boot, if it is of this boot.
    #[must_use]
    pub fn in_boot(self, boot: BootId) -> Option<AskId> {
        boot.0.starts_with(&self.boot).then_some(AskId { boot, seq: self.seq })
    }
}

impl From<AskId> for AskName {
    fn from(id: AskId) -> Self {
        let [a, b, c, d, ..] = id.boot.0;
        Self { boot: [a, b, c, d], seq: id.seq }
    }
}

impl std::fmt::Display for AskName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = self.seq.wrapping_sub(ASK_SEQ_FIRST);
        write!(f, "{:08x}:{number}", u32::from_be_bytes(self.boot))
    }
}

impl std::str::FromStr for AskName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (boot, number) = text.split_once(':').ok_or(())?;
        if boot.len() != 8 || !boot.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(());
        }
        let boot = u32::from_str_radix(boot, 16).map_err(|_| ())?.to_be_bytes();
        let number: u32 = number.parse().map_err(|_| ())?;
        Ok(Self { boot, seq: number.wrapping_add(ASK_SEQ_FIRST) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn names_of_asks_round_trip_and_never_look_like_numbers() {
        for seq in [0, 1, ASK_SEQ_FIRST, ASK_SEQ_FIRST + 1, u32::MAX] {
            for boot in [[0; 4], [0x12, 0x34, 0x56, 0x7e], [0xff; 4]] {
                let name = AskName { boot, seq };
                assert_eq!(name.to_string().parse(), Ok(name));
                assert!(serde_json::from_str::<Value>(&name.to_string()).is_err());
            }
        }
        assert_eq!(AskName { boot: [0x3f, 0x9a, 0x1c, 2], seq: ASK_SEQ_FIRST + 1 }.to_string(), "3f9a1c02:1");
        for text in
            ["", ":", "1", "3f9a1c02", "3f9a1c02:", "3f9a1c02:x", "+f9a1c02:1", "3f9a1c02:99999999999"]
        {
            assert_eq!(text.parse::<AskName>(), Err(()), "{text}");
        }
    }
}
