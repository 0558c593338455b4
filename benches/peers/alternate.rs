//! Measures several in turn, so that what else the machine does slows all of them.

use std::time::{Duration, Instant};

use crate::Result;

/// How long to measure.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// How often each.
    pub(crate) rounds: usize,
    /// No further round begins after this time.
    pub(crate) budget: Duration,
}

/// One of those that are compared. What it gives is in the unit of what is measured: seconds for a time.
pub(crate) struct Contender<'a> {
    pub(crate) who: String,
    run: Box<dyn FnMut() -> Result<f64> + 'a>,
    pub(crate) samples: Vec<f64>,
}

impl<'a> Contender<'a> {
    pub(crate) fn new(who: impl Into<String>, run: impl FnMut() -> Result<f64> + 'a) -> Self {
        Self { who: who.into(), run: Box::new(run), samples: Vec::new() }
    }

    /// As [`Contender::new`], of something that is timed from begin to end.
    pub(crate) fn timed(who: impl Into<String>, mut run: impl FnMut() -> Result<()> + 'a) -> Self {
        Self::new(who, move || {
            let started = Instant::now();
            run()?;
            Ok(started.elapsed().as_secs_f64())
        })
    }
}

/// Runs all of them in each round, at least one round. The one that fails ends it, with its name.
pub(crate) fn alternate(pace: Pace, contenders: &mut [Contender<'_>]) -> Result<()> {
    let began = Instant::now();
    for round in 0..pace.rounds.max(1) {
        if round > 0 && began.elapsed() >= pace.budget {
            break;
        }
        for contender in &mut *contenders {
            let sample = (contender.run)().map_err(|error| format!("{}: {error}", contender.who))?;
            contender.samples.push(sample);
        }
    }
    Ok(())
}
