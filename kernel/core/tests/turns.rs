//! Kernel tasks and programs: who is next.

use askr_core::turns::{Side, TURN, Turns};
use proptest::prelude::*;

#[test]
fn kernel_tasks_go_first_until_they_have_had_their_turn() {
    let mut turns = Turns::new();
    assert_eq!(turns.choose(0, true, true), Some(Side::Kernel));
    turns.kernel_ran(TURN - 1);
    assert_eq!(turns.choose(TURN - 1, true, true), Some(Side::Kernel));
    turns.kernel_ran(1);
    assert_eq!(turns.choose(TURN, true, true), Some(Side::Programs));
    assert!(turns.programs_first(2 * TURN - 1));
    assert_eq!(turns.choose(2 * TURN - 1, true, true), Some(Side::Programs));
    assert!(!turns.programs_first(2 * TURN));
    assert_eq!(turns.choose(2 * TURN, true, true), Some(Side::Kernel));
}

#[test]
fn nobody_waits_for_who_is_not_ready() {
    let mut turns = Turns::new();
    turns.kernel_ran(5 * TURN);
    assert_eq!(turns.choose(0, false, false), None);
    turns.kernel_ran(5 * TURN);
    assert_eq!(turns.choose(0, true, false), Some(Side::Kernel));
    assert_eq!(turns.choose(0, true, true), Some(Side::Programs));
    // It is the programs' time, and none of them is ready.
    assert_eq!(turns.choose(1, true, false), Some(Side::Kernel));
}

#[test]
fn kernel_tasks_that_have_nothing_left_to_do_begin_anew() {
    let mut turns = Turns::new();
    turns.kernel_ran(TURN);
    assert_eq!(turns.choose(0, false, true), Some(Side::Programs));
    assert_eq!(turns.choose(1, true, true), Some(Side::Kernel));
}

proptest! {
    /// Both always ready: whatever the pieces are that kernel tasks run in, programs get about their half.
    #[test]
    fn programs_that_wait_get_their_share(pieces in prop::collection::vec(1..TURN / 2, 200..400)) {
        let (mut turns, mut now, mut programs) = (Turns::new(), 0_u64, 0_u64);
        for piece in pieces {
            match turns.choose(now, true, true) {
                Some(Side::Kernel) => turns.kernel_ran(piece),
                _ => programs += piece,
            }
            now += piece;
        }
        let share = programs as f64 / now as f64;
        prop_assert!((0.3..0.7).contains(&share), "{share}");
    }
}
