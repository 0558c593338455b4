//! What is known of a fault that ended a program.

use askr_wire::List;
use askr_wire::message::{Address, BACKTRACE_MAX, FaultFacts, REGISTERS};

/// Bytes of the longest backtrace on the wire.
const BACKTRACE_LEN: usize = 8 * BACKTRACE_MAX;

/// The facts of a fault, kept until somebody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The signal that ended the program.
    pub signal: u8,
    /// Vector of the exception (Intel SDM vol. 3A, 6.3).
    pub vector: u8,
    /// The error code that the processor gave, 0 if it gave none.
    pub error: u64,
    /// The address that was accessed, for a page fault; else 0.
    pub address: u64,
    /// Where the program was.
    pub rip: u64,
    /// Its registers, in the order of [`askr_wire::message::REGISTER_NAMES`].
    pub registers: [u64; REGISTERS],
    /// Where it would have returned to.
    pub backtrace: Backtrace,
}

/// Return addresses, the innermost first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backtrace {
    addresses: [u64; BACKTRACE_MAX],
    depth: usize,
}

impl Backtrace {
    /// No addresses.
    pub const EMPTY: Self = Self { addresses: [0; BACKTRACE_MAX], depth: 0 };

    /// Adds the address that the last function added returns to; beyond [`BACKTRACE_MAX`] there is no room.
    pub fn push(&mut self, address: u64) {
        if let Some(slot) = self.addresses.get_mut(self.depth) {
            *slot = address;
            self.depth += 1;
        }
    }

    /// Whether another address would be dropped.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.depth == BACKTRACE_MAX
    }

    /// The addresses.
    #[must_use]
    pub fn addresses(&self) -> &[u64] {
        &self.addresses[..self.depth]
    }
}

impl Fault {
    /// Gives `use_it` the facts as they go over the wire.
    pub fn with_facts<R>(&self, use_it: impl FnOnce(FaultFacts<'_>) -> R) -> R {
        let mut scratch = [0; BACKTRACE_LEN];
        let addresses = self.backtrace.addresses().iter().copied().map(Address);
        use_it(FaultFacts {
            signal: self.signal,
            vector: self.vector,
            error: self.error,
            address: self.address,
            rip: self.rip,
            registers: self.registers,
            // The scratch holds the longest there is.
            backtrace: List::build(addresses, &mut scratch).unwrap_or(List::EMPTY),
        })
    }
}

#[cfg(test)]
mod tests {
    use askr_wire::Message;
    use askr_wire::message::{Address, BACKTRACE_MAX, FaultFacts, REGISTERS};

    use super::{Backtrace, Fault};

    fn fault(depth: u64) -> Fault {
        let mut backtrace = Backtrace::default();
        (0..depth).for_each(|n| backtrace.push(0x40_0000 + n));
        let registers = core::array::from_fn(|n| n as u64);
        Fault { signal: 11, vector: 14, error: 6, address: 8, rip: 0x40_1000, registers, backtrace }
    }

    #[test]
    fn a_fault_goes_over_the_wire_with_all_its_facts() {
        for depth in [0, 1, BACKTRACE_MAX as u64] {
            let fault = fault(depth);
            let mut out = [0; 512];
            let length = fault.with_facts(|facts| facts.encode(&mut out)).unwrap();
            let facts = FaultFacts::decode(&out[..length]).unwrap();
            assert_eq!((facts.signal, facts.vector, facts.error, facts.address), (11, 14, 6, 8));
            assert_eq!((facts.rip, facts.registers[REGISTERS - 1]), (0x40_1000, 16));
            let wanted = (0..depth).map(|n| Address(0x40_0000 + n));
            assert!(facts.backtrace.iter().eq(wanted));
        }
    }

    #[test]
    fn a_backtrace_keeps_the_innermost_addresses() {
        let deep = fault(100).backtrace;
        assert!(deep.is_full() && !fault(15).backtrace.is_full());
        assert_eq!(deep.addresses().len(), BACKTRACE_MAX);
        assert_eq!(deep.addresses().last(), Some(&(0x40_0000 + 15)));
    }
}
