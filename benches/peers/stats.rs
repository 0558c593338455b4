//! What many measurements of one thing come to.

/// One thing, measured many times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    /// How often.
    pub(crate) count: usize,
    /// The least.
    pub(crate) least: f64,
    /// Half of them are below: the middle one, or the mean of the two in the middle.
    pub(crate) median: f64,
    /// 99 of 100 are not above; the most if there are fewer than a hundred.
    pub(crate) p99: f64,
    /// The most.
    pub(crate) most: f64,
}

impl Summary {
    /// Of these, in any order; none of nothing.
    pub(crate) fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (count, middle) = (sorted.len(), sorted.len() / 2);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let median =
            if count % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) };
        let p99 = sorted[(count * 99).div_ceil(100) - 1];
        Some(Self { count, least, median, p99, most })
    }
}

/// Growth of the time per item up to which cost counts as flat.
pub(crate) const FLAT: f64 = 2.0;

/// How cost grows: the time per item at each size as a multiple of that at the first.
pub(crate) fn relative(points: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let first = points.first().map_or(1.0, |(_, time)| *time);
    points.iter().map(|(items, time)| (*items, time / first)).collect()
}

/// The largest of these multiples; 1 of nothing.
pub(crate) fn worst(points: &[(u64, f64)]) -> f64 {
    relative(points).iter().fold(1.0, |worst, (_, multiple)| multiple.max(worst))
}

/// In a word, whether the cost of these is flat.
pub(crate) fn verdict(points: &[(u64, f64)]) -> &'static str {
    if worst(points) <= FLAT { "flat" } else { "grows" }
}
