//! What was told already, so that it is told once.

/// The first few different numbers of something that may come again and again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    numbers: [u64; TOLD_MAX],
    count: usize,
}

/// Numbers that one [`Told`] remembers. What comes after that many is not told at all.
pub const TOLD_MAX: usize = 16;

impl Told {
    /// One that remembers nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { numbers: [0; TOLD_MAX], count: 0 }
    }

    /// Whether to tell of `number` now: the first time, and while there is room to remember it.
    #[must_use]
    pub fn is_new(&mut self, number: u64) -> bool {
        if self.numbers[..self.count].contains(&number) {
            return false;
        }
        let Some(slot) = self.numbers.get_mut(self.count) else { return false };
        *slot = number;
        self.count += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{TOLD_MAX, Told};

    #[test]
    fn each_number_is_told_once_and_only_so_many_are() {
        let mut told = Told::new();
        assert!(told.is_new(0) && !told.is_new(0));
        assert!(told.is_new(7) && !told.is_new(7) && !told.is_new(0));
        let more = (100..1000).filter(|&number| told.is_new(number)).count();
        assert_eq!(more, TOLD_MAX - 2);
        assert!(!told.is_new(100) && !told.is_new(5000));
    }
}
