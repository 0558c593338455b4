//! A pcapng file with one interface, written block by block. It is one for both doors, since what the hub could not keep is
//! counted for both together; which door a packet is of is in the packet.
//!
//! The format is draft-ietf-opsawg-pcapng; it takes four kinds of block. The crates that write it are unfinished or no
//! longer looked after, and bring more code than this.

use std::io::{self, Write};

/// LINKTYPE_USER0: what it holds is agreed between who writes and who reads, see `docs/capture.md`.
const LINK_TYPE: u16 = 147;
/// Times are in units of 10^-9 s.
const NANOSECONDS: u8 = 9;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Bits of a packet's flags.
pub(super) mod flag {
    pub(in super::super) const INBOUND: u32 = 1;
    pub(in super::super) const OUTBOUND: u32 = 2;
    pub(in super::super) const CRC_ERROR: u32 = 1 << 24;
    pub(in super::super) const TOO_LONG: u32 = 1 << 25;
    pub(in super::super) const TOO_SHORT: u32 = 1 << 26;
    pub(in super::super) const SYMBOL_ERROR: u32 = 1 << 31;
}

/// One packet.
pub(super) struct Packet<'a> {
    /// Nanoseconds since 1970.
    pub(super) unix_ns: u64,
    /// What was kept of it.
    pub(super) bytes: &'a [u8],
    /// How long it was.
    pub(super) length: u64,
    /// See [`flag`].
    pub(super) flags: u32,
    /// Packets lost between the one before and this one.
    pub(super) lost: u64,
}

/// Counts over the whole file.
pub(super) struct Statistics {
    /// When it was begun and ended, in nanoseconds since 1970.
    pub(super) unix_ns: [u64; 2],
    /// Packets that there were, lost ones among them.
    pub(super) received: u64,
    /// Packets that were lost.
    pub(super) lost: u64,
}

/// A file under construction.
pub(super) struct File<W> {
    out: W,
}

impl<W: Write> File<W> {
    /// Writes what stands before the first packet.
    pub(super) fn begin(out: W) -> io::Result<Self> {
        let mut file = Self { out };
        let mut section = Block::default();
        section.put(&0x1a2b_3c4d_u32.to_le_bytes());
        section.put(&[1, 0, 0, 0]);
        // The length of the section is not known.
        section.put(&u64::MAX.to_le_bytes());
        section.option(4, concat!("askr-bridge ", env!("CARGO_PKG_VERSION")).as_bytes());
        file.write(SECTION_HEADER, &section.ended())?;
        let mut interface = Block::default();
        interface.put(&LINK_TYPE.to_le_bytes());
        // Two bytes that mean nothing, and no limit of the length of a packet.
        interface.put(&[0; 6]);
        interface.option(2, b"askr");
        interface.option(3, b"frames at the doors of an Askr guest");
        interface.option(9, &[NANOSECONDS]);
        file.write(INTERFACE_DESCRIPTION, &interface.ended())?;
        Ok(file)
    }

    pub(super) fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let mut block = Block::default();
        block.put(&0_u32.to_le_bytes());
        block.put(&time(packet.unix_ns));
        for length in [packet.bytes.len() as u64, packet.length] {
            block.put(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        }
        block.put_padded(packet.bytes);
        block.option(2, &packet.flags.to_le_bytes());
        if packet.lost > 0 {
            block.option(4, &packet.lost.to_le_bytes());
        }
        self.write(ENHANCED_PACKET, &block.ended())
    }

    /// Ends the file.
    pub(super) fn statistics(&mut self, statistics: &Statistics) -> io::Result<()> {
        let [begun, ended] = statistics.unix_ns.map(time);
        let mut block = Block::default();
        block.put(&0_u32.to_le_bytes());
        block.put(&ended);
        block.option(2, &begun);
        block.option(3, &ended);
        block.option(4, &statistics.received.to_le_bytes());
        block.option(5, &statistics.lost.to_le_bytes());
        self.write(INTERFACE_STATISTICS, &block.ended())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn write(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len() + 12).unwrap_or(u32::MAX).to_le_bytes();
        let parts = [&kind.to_le_bytes()[..], &length, body, &length];
        parts.iter().try_for_each(|part| self.out.write_all(part))
    }
}

/// The upper and the lower half of a time.
fn time(unix_ns: u64) -> [u8; 8] {
    unix_ns.rotate_left(32).to_le_bytes()
}

/// The body of a block.
#[derive(Default)]
struct Block(Vec<u8>);

impl Block {
    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// With zeros up to a multiple of four bytes.
    fn put_padded(&mut self, bytes: &[u8]) {
        self.put(bytes);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.put(&code.to_le_bytes());
        self.put(&u16::try_from(value.len()).unwrap_or(u16::MAX).to_le_bytes());
        self.put_padded(value);
    }

    /// With the end of its options.
    fn ended(mut self) -> Vec<u8> {
        self.put(&[0; 4]);
        self.0
    }
}
