//! Randomness: SipHash-2-4 in counter mode under a key made at boot from the processor's generator, if it has
//! one, the host's seed on the command line (`seed=HEX`), and the clocks. Good for identifiers and hash seeds; not a
//! replacement for a cryptographic generator where none of the first two was there.

use crate::arch::{boot, clock, cpu};
use core::hash::Hasher;
use siphasher::sip128::{Hasher128, SipHasher24};
use spin::Mutex;

/// Rounds of clock jitter that are mixed in.
const JITTER_ROUNDS: usize = 64;

struct Generator {
    key: [u8; 16],
    count: u64,
}

static GENERATOR: Mutex<Generator> = Mutex::new(Generator { key: [0; 16], count: 0 });

/// Makes the key. Call once the clock runs.
pub(crate) fn init() {
    let mut hasher = SipHasher24::new();
    hasher.write(boot::cmdline());
    hasher.write_u64(clock::wall());
    for _ in 0..JITTER_ROUNDS {
        hasher.write_u64(clock::counter());
        hasher.write_u64(cpu::hardware_random().unwrap_or(0));
    }
    GENERATOR.lock().key = hasher.finish128().as_bytes();
}

/// Sixteen fresh random bytes.
pub(crate) fn bytes() -> [u8; 16] {
    let mut generator = GENERATOR.lock();
    generator.count += 1;
    let mut hasher = SipHasher24::new_with_key(&generator.key);
    hasher.write_u64(generator.count);
    hasher.write_u64(clock::counter());
    hasher.finish128().as_bytes()
}
