//! The blocks of a pcapng file, as its specification (draft-ietf-opsawg-pcapng) tells.

use std::collections::BTreeMap;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const ENHANCED_PACKET: u32 = 6;
const INTERFACE_STATISTICS: u32 = 5;

/// A file, taken apart.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) packets: Vec<Packet>,
    /// Of the statistics that end it: received, dropped.
    pub(crate) statistics: Option<(u64, u64)>,
}

#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) bytes: Vec<u8>,
    pub(crate) lost: u64,
    pub(crate) unix_ns: u64,
}

impl File {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut file = Self::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            assert!(file.statistics.is_none(), "something follows the statistics");
            let (kind, length) = (u32_at(rest, 0), u32_at(rest, 4) as usize);
            assert_eq!(rest.as_ptr() == bytes.as_ptr(), kind == SECTION_HEADER, "it begins with a section");
            assert_eq!(u32_at(rest, length - 4) as usize, length, "both lengths are the same");
            let body = &rest[8..length - 4];
            match kind {
                ENHANCED_PACKET => file.packets.push(packet(body)),
                INTERFACE_STATISTICS => {
                    let options = options(&body[12..]);
                    file.statistics = Some((number(&options, 4), number(&options, 5)));
                }
                _ => {}
            }
            rest = &rest[length..];
        }
        file
    }
}

fn packet(body: &[u8]) -> Packet {
    let captured = u32_at(body, 12) as usize;
    let options = options(&body[20 + captured.next_multiple_of(4)..]);
    let unix_ns = u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8));
    Packet { bytes: body[20..20 + captured].to_vec(), lost: number(&options, 4), unix_ns }
}

fn options(mut rest: &[u8]) -> BTreeMap<u32, Vec<u8>> {
    let mut options = BTreeMap::new();
    while let [a, b, c, d, tail @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*c, *d]));
        options.insert(u16::from_le_bytes([*a, *b]).into(), tail[..length].to_vec());
        rest = &tail[length.next_multiple_of(4)..];
    }
    options
}

fn number(options: &BTreeMap<u32, Vec<u8>>, code: u32) -> u64 {
    options.get(&code).map_or(0, |bytes| u64::from_le_bytes(bytes[..].try_into().unwrap()))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}
