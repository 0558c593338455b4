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

/// Most processes that an agent may choose from.
pub const OFFERED_MAX: usize = 8;

/// The processes that an agent may choose from instead of `chosen`, which is the first of them: the others are the largest,
/// and none is a shell of the console. Returns how many there are. Nobody is offered in place of a shell.
pub fn offer(candidates: &[Candidate], chosen: Candidate) -> ([Candidate; OFFERED_MAX], usize) {
    let mut offered = [chosen; OFFERED_MAX];
    let mut count = 1;
    while count < OFFERED_MAX && !chosen.is_shell {
        let known = &offered[..count];
        let left = candidates.iter().filter(|candidate| {
            !candidate.is_shell && candidate.resident > 0 && known.iter().all(|one| one.pid != candidate.pid)
        });
        let Some(next) = left.max_by_key(|candidate| (candidate.resident, candidate.pid)) else { break };
        offered[count] = *next;
        count += 1;
    }
    (offered, count)
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
