//! The vector state in a handler's frame (`struct _xstate`, `arch/x86/include/uapi/asm/sigcontext.h`): the area that
//! XSAVE writes (Intel SDM vol. 1, 13.4), with a note for programs in the part of it that the processor leaves alone,
//! and a mark after it. What comes back is checked so far that XRSTOR and FXRSTOR cannot fault on it.

use super::frame::BadFrame;
use alloc::vec;
use alloc::vec::Vec;

/// Bytes of the area of FXSAVE, which is the beginning of XSAVE's.
pub const LEGACY_SIZE: usize = 512;
/// Bytes of that and of the header of XSAVE.
const WITH_HEADER: usize = LEGACY_SIZE + HEADER_SIZE;
const HEADER_SIZE: usize = 64;
/// Where MXCSR lies.
const MXCSR: usize = 24;
/// Where the note for programs lies (`struct _fpx_sw_bytes`): magic, size of all, components, size of the area.
const NOTE: usize = 464;
const MAGIC1: u32 = 0x4650_5853;
/// After the area.
const MAGIC2: u32 = 0x4650_5845;
const MARK_SIZE: usize = 4;
/// Components x87 and SSE, which every area has.
const LEGACY_COMPONENTS: u64 = 3;

/// How the processor saves vector state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bytes of the area.
    pub size: usize,
    /// Components of XSAVE that are on; 0 for FXSAVE.
    pub components: u64,
    /// Bits of MXCSR that may be set.
    pub mxcsr_mask: u32,
}

impl Format {
    /// Whether it is that of XSAVE.
    #[must_use]
    pub const fn is_xsave(self) -> bool {
        self.components != 0
    }

    /// Bytes in a frame.
    #[must_use]
    pub const fn size_in_frame(self) -> usize {
        if self.is_xsave() { self.size + MARK_SIZE } else { LEGACY_SIZE }
    }

    /// What goes into a frame for the saved `area`.
    ///
    /// # Panics
    /// If the area is shorter than its format says.
    #[must_use]
    pub fn to_frame(self, area: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; self.size_in_frame()];
        bytes[..self.size].copy_from_slice(&area[..self.size]);
        bytes[NOTE..LEGACY_SIZE].fill(0);
        if self.is_xsave() {
            put(&mut bytes, NOTE, &MAGIC1.to_le_bytes());
            put(&mut bytes, NOTE + 4, &as_u32(self.size_in_frame()).to_le_bytes());
            put(&mut bytes, NOTE + 8, &self.components.to_le_bytes());
            put(&mut bytes, NOTE + 16, &as_u32(self.size).to_le_bytes());
            // Programs that know only FXSAVE change these without looking at the header.
            let there = u64_at(&bytes, LEGACY_SIZE) | LEGACY_COMPONENTS;
            put(&mut bytes, LEGACY_SIZE, &there.to_le_bytes());
            put(&mut bytes, self.size, &MAGIC2.to_le_bytes());
        }
        bytes
    }

    /// How many bytes to read from a frame that begins with `head`: what the note there says, if it can be true.
    #[must_use]
    pub fn extent(self, head: &[u8; LEGACY_SIZE]) -> usize {
        let size = u32_at(head, NOTE + 16) as usize;
        let believed = self.is_xsave()
            && u32_at(head, NOTE) == MAGIC1
            && (WITH_HEADER..=self.size).contains(&size)
            && size <= u32_at(head, NOTE + 4) as usize;
        if believed { size + MARK_SIZE } else { LEGACY_SIZE }
    }

    /// The area to load for what stood in a frame, `bytes` of the length that [`Self::extent`] says. A frame without
    /// the mark holds x87 and SSE only, as Linux takes it; what is not there gets the state that programs start with.
    ///
    /// # Errors
    /// [`BadFrame`] for bits of MXCSR, components or parts of the header that the processor would refuse.
    pub fn from_frame(self, bytes: &[u8]) -> Result<Vec<u8>, BadFrame> {
        if u32_at(bytes, MXCSR) & !self.mxcsr_mask != 0 {
            return Err(BadFrame);
        }
        let marked = bytes.len() > LEGACY_SIZE && u32_at(bytes, bytes.len() - MARK_SIZE) == MAGIC2;
        let used = if marked { bytes.len() - MARK_SIZE } else { LEGACY_SIZE };
        let mut area = vec![0; self.size];
        area[..used].copy_from_slice(&bytes[..used]);
        area[NOTE..LEGACY_SIZE].fill(0);
        if self.is_xsave() {
            let there = if marked { self.components_of(bytes)? } else { LEGACY_COMPONENTS };
            area[LEGACY_SIZE..LEGACY_SIZE + HEADER_SIZE].fill(0);
            put(&mut area, LEGACY_SIZE, &there.to_le_bytes());
        }
        Ok(area)
    }

    /// The components in a marked frame.
    fn components_of(self, bytes: &[u8]) -> Result<u64, BadFrame> {
        let header = &bytes[LEGACY_SIZE..WITH_HEADER];
        let (there, reserved) = (u64_at(header, 0), &header[8..]);
        if there & !self.components != 0 || reserved.iter().any(|&byte| byte != 0) {
            return Err(BadFrame);
        }
        Ok(there & u64_at(bytes, NOTE + 8))
    }
}

fn put(into: &mut [u8], at: usize, bytes: &[u8]) {
    into[at..at + bytes.len()].copy_from_slice(bytes);
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(core::array::from_fn(|index| bytes[at + index]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(core::array::from_fn(|index| bytes[at + index]))
}

/// Sizes of areas are those of CPUID, 32 bits.
fn as_u32(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
