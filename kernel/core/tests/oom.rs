//! Who ends when memory is used up.

use askr_core::oom::{Candidate, OFFERED_MAX, Victim, choose, offer};
use proptest::prelude::*;

const fn candidate(pid: u32, group: u32, resident: u64) -> Candidate {
    Candidate { pid, group, resident, is_shell: false }
}

const SHELL: Candidate = Candidate { pid: 2, group: 2, resident: 900, is_shell: true };

#[test]
fn the_largest_ends_and_a_shell_only_when_it_is_alone() {
    let (small, large) = (candidate(7, 7, 100), candidate(5, 5, 200));
    assert_eq!(choose(&mut [SHELL, small, large]), Some(Victim::Process(large)));
    assert_eq!(choose(&mut [SHELL, small]), Some(Victim::Process(small)));
    assert_eq!(choose(&mut [SHELL]), Some(Victim::Process(SHELL)));
    assert_eq!(choose(&mut []), None);
    // A child of the shell that is still in its group.
    let child = candidate(9, 2, 1);
    assert_eq!(choose(&mut [SHELL, child]), Some(Victim::Process(child)));
}

#[test]
fn of_equals_the_youngest_ends() {
    let (old, young) = (candidate(8, 8, 5), candidate(9, 9, 5));
    assert_eq!(choose(&mut [young, old]), Some(Victim::Process(young)));
    let (old, young) = (candidate(8, 8, 5), candidate(9, 8, 5));
    assert_eq!(choose(&mut [young, old]), Some(Victim::Process(young)));
}

#[test]
fn a_fork_bomb_ends_as_a_whole_and_not_the_program_that_comes_after_it() {
    let mut all: Vec<_> = (0..50).map(|index| candidate(10 + index, 10, 50)).collect();
    all.push(candidate(90, 90, 100));
    assert_eq!(choose(&mut all), Some(Victim::Job { group: 10, processes: 50, resident: 2500 }));
}

#[test]
fn the_largest_are_offered_after_the_kernels_choice_and_never_a_shell() {
    let chosen = candidate(5, 5, 50);
    let others: Vec<_> = (0..20).map(|index| candidate(10 + index, 10, 100 + u64::from(index))).collect();
    let all: Vec<_> = [SHELL, chosen, candidate(6, 6, 0)].into_iter().chain(others).collect();
    let (offered, count) = offer(&all, chosen);
    let pids: Vec<u32> = offered[..count].iter().map(|candidate| candidate.pid).collect();
    assert_eq!(pids, [5, 29, 28, 27, 26, 25, 24, 23]);
    assert_eq!(count, OFFERED_MAX);
    let (offered, count) = offer(&[SHELL, chosen, candidate(6, 6, 0)], chosen);
    assert_eq!((&offered[..count], count), (&[chosen][..], 1), "who has nothing is not worth ending");
    assert_eq!(offer(&[SHELL, candidate(7, 7, 0)], SHELL).1, 1);
}

#[test]
fn one_large_process_of_a_job_ends_alone() {
    let large = candidate(11, 10, 500);
    assert_eq!(
        choose(&mut [candidate(10, 10, 50), large, candidate(12, 10, 60)]),
        Some(Victim::Process(large))
    );
}

proptest! {
    #[test]
    fn no_job_is_larger(all in prop::collection::vec((1..99_u32, 1..9_u32, 0..99_u64), 1..40)) {
        let mut all: Vec<_> = all.into_iter().map(|(pid, group, resident)| candidate(pid, group, resident)).collect();
        let (group, least) = match choose(&mut all).unwrap() {
            Victim::Process(chosen) => {
                prop_assert!(all.contains(&chosen));
                (chosen.group, chosen.resident)
            }
            Victim::Job { group, processes, resident } => {
                prop_assert_eq!(processes, all.iter().filter(|other| other.group == group).count());
                (group, resident)
            }
        };
        let sum = |group| all.iter().filter(|other| other.group == group).map(|other| other.resident).sum::<u64>();
        prop_assert!(all.iter().all(|other| sum(other.group) <= sum(group)));
        prop_assert!(least >= sum(group) / 4);
    }
}
