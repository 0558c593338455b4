//! Who ends when memory is used up.

/// A job of which the largest process has less than this part of its memory ends as a whole: to end one process of many
/// brings little, and they would soon be as many again.
const SWARM: u64 = 4;

/// A process that could end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its number.
    pub pid: u32,
    /// Its process group: a job of the shell.
    pub group: u32,
    /// Bytes of memory in use for it.
    pub resident: u64,
    /// Whether the person at the console would be left without a shell.
    pub is_shell: bool,
}

/// What ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// One process.
    Process(Candidate),
    /// Every process of a group.
    Job {
        /// The group.
        group: u32,
        /// How many processes it has.
        processes: usize,
        /// Bytes of memory in use for them.
        resident: u64,
    },
}

/// What is to end: the largest process of the job that has most memory, or that whole job when it is a swarm (a fork bomb).
/// Of equals it is the youngest. A shell of the console ends only when there is nobody else, and alone. `None` without
/// candidates, whose order is changed.
pub fn choose(candidates: &mut [Candidate]) -> Option<Victim> {
    candidates.sort_unstable_by_key(|candidate| (candidate.is_shell, candidate.group));
    let jobs = candidates.chunk_by(|one, next| (one.is_shell, one.group) == (next.is_shell, next.group));
    let sum = |job: &[Candidate]| job.iter().map(|candidate| candidate.resident).sum::<u64>();
    let job = jobs.max_by_key(|job| (!job[0].is_shell, sum(job), job[0].group))?;
    let largest = job.iter().max_by_key(|candidate| (candidate.resident, candidate.pid))?;
    let resident = sum(job);
    Some(if largest.is_shell || largest.resident >= resident / SWARM {
        Victim::Process(*largest)
    } else {
        Victim::Job { group: largest.group, processes: job.len(), resident }
    })
}
