//! How busy others keep the processors while something is measured.

use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// From so many processors on that others keep busy, times are doubtful.
const DOUBTFUL: f64 = 0.2;
/// Units of the times in `/proc` in a second (`man 5 proc`; sysconf(_SC_CLK_TCK) is 100 on every Linux that we run on).
const TICKS: f64 = 100.0;

/// The process ids of all QEMUs that were started.
static OURS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// From now on this process is one of ours.
pub(crate) fn is_ours(pid: u32) {
    OURS.lock().unwrap_or_else(PoisonError::into_inner).push(pid);
}

/// A moment from which on others are watched.
pub(crate) struct Watch {
    began: Instant,
    busy: u64,
    own: u64,
}

impl Watch {
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), busy: busy(), own: own() }
    }

    /// How many processors others have kept busy since then.
    #[expect(clippy::cast_precision_loss, reason = "times of some minutes")]
    pub(crate) fn others(&self) -> f64 {
        let (busy, own) = (busy().saturating_sub(self.busy), own().saturating_sub(self.own));
        busy.saturating_sub(own) as f64 / TICKS / self.began.elapsed().as_secs_f64()
    }
}

/// What to say of such a load, if anything.
pub(crate) fn warning(others: f64) -> Option<String> {
    (others >= DOUBTFUL).then(|| {
        format!("others kept {others:.1} processors busy meanwhile: these figures are doubtful, their ratios less so")
    })
}

/// What all processors have done since boot, in ticks.
pub(crate) fn busy() -> u64 {
    busy_in(&fs::read_to_string("/proc/stat").unwrap_or_default())
}

pub(crate) fn busy_in(stat: &str) -> u64 {
    let first = stat.lines().next().unwrap_or_default();
    let fields: Vec<u64> = first.split_whitespace().skip(1).map(|field| field.parse().unwrap_or(0)).collect();
    // user nice system idle iowait irq softirq steal; what comes after is in user and nice already.
    [0, 1, 2, 5, 6, 7].iter().filter_map(|at| fields.get(*at)).sum()
}

/// What this process, its children that have ended, and the QEMUs that run have taken, in ticks.
pub(crate) fn own() -> u64 {
    let ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |pid: &str| fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let running: u64 = ours.iter().map(|pid| taken_in(&of(&pid.to_string()), 2)).sum();
    taken_in(&of("self"), 4) + running
}

/// The first `fields` of utime, stime, cutime and cstime together.
pub(crate) fn taken_in(stat: &str, fields: usize) -> u64 {
    // The name before may have spaces and brackets in it.
    let after = stat.rsplit_once(") ").map_or("", |(_, after)| after);
    after.split_whitespace().skip(11).take(fields).filter_map(|field| field.parse::<u64>().ok()).sum()
}
