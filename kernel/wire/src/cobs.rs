//! COBS, run by run. The `cobs` crate's encoder goes byte by byte, which shows where frames are large and many.

use memchr::memchr;

/// Longest run of bytes that one code stands before.
const RUN_MAX: usize = 254;

/// Writes bytes in COBS.
pub(crate) struct Encoder<'a> {
    out: &'a mut [u8],
    /// Where the code of the current run goes.
    code: usize,
    /// Where the next byte goes; what lies between is the run.
    next: usize,
}

impl<'a> Encoder<'a> {
    /// An encoder that writes to `out`; `None` if not even a code fits.
    pub(crate) const fn new(out: &'a mut [u8]) -> Option<Self> {
        if out.is_empty() { None } else { Some(Self { out, code: 0, next: 1 }) }
    }

    /// Appends bytes; `None` if there is no room.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Option<()> {
        while !bytes.is_empty() {
            if self.run() == RUN_MAX {
                // No zero is meant after a run of full length, so a zero that follows is still to come.
                self.begin()?;
            }
            let window = &bytes[..bytes.len().min(RUN_MAX - self.run())];
            let run = memchr(0, window).unwrap_or(window.len());
            self.out.get_mut(self.next..self.next + run)?.copy_from_slice(&window[..run]);
            self.next += run;
            bytes = &bytes[run..];
            if run < window.len() {
                bytes = &bytes[1..];
                self.begin()?;
            }
        }
        Some(())
    }

    /// Ends the last run; returns how many bytes were written.
    pub(crate) fn finish(mut self) -> usize {
        self.set_code();
        self.next
    }

    const fn run(&self) -> usize {
        self.next - self.code - 1
    }

    /// Ends the run and begins another.
    fn begin(&mut self) -> Option<()> {
        self.set_code();
        self.code = self.next;
        self.next += 1;
        (self.code < self.out.len()).then_some(())
    }

    fn set_code(&mut self) {
        // At most 255.
        self.out[self.code] = u8::try_from(self.run() + 1).unwrap_or(u8::MAX);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;

    use cobs::CobsEncoder;
    use proptest::prelude::*;

    use super::Encoder;

    proptest! {
        /// As the `cobs` crate has it, however the bytes are split, and with too little room an error.
        #[test]
        fn the_same_bytes_as_from_the_byte_wise_encoder(
            runs in prop::collection::vec(prop_oneof![Just(1usize), Just(253), Just(254), Just(255), 0usize..600], 0..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let bytes: vec::Vec<u8> = runs.iter().flat_map(|&run| [vec![7; run], vec![0]].concat()).collect();
            let (one, other) = bytes.split_at(cut.index(bytes.len() + 1));
            let mut expected = vec![0; 2 * bytes.len() + 8];
            let mut encoder = CobsEncoder::new(&mut expected);
            encoder.push(&bytes).unwrap();
            let len = encoder.finalize();
            for room in [len, expected.len()] {
                let mut out = vec![0xAA; room];
                let mut encoder = Encoder::new(&mut out).unwrap();
                prop_assert!(encoder.push(one).is_some() && encoder.push(other).is_some());
                prop_assert_eq!(encoder.finish(), len);
                prop_assert_eq!(&out[..len], &expected[..len]);
            }
            let mut out = vec![0; len - 1];
            let fits = Encoder::new(&mut out).is_some_and(|mut encoder| encoder.push(&bytes).is_some());
            prop_assert!(!fits);
        }
    }
}
