//! The work of others, apart from our own.

use std::time::{Duration, Instant};

use crate::load::{busy, busy_in, own, taken_in, warning};

#[test]
fn idle_time_is_not_busy_and_a_guests_time_is_not_counted_twice() {
    assert_eq!(busy_in("cpu  1 2 4 1000 2000 8 16 32 64 128\ncpu0 9 9 9\n"), 63);
    assert_eq!(busy_in(""), 0);
}

#[test]
fn times_are_found_behind_any_name() {
    let stat = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 100 20 3000 400 20 0";
    assert_eq!((taken_in(stat, 2), taken_in(stat, 4)), (120, 3520));
    assert_eq!(taken_in("", 4), 0);
}

#[test]
fn own_work_is_not_the_work_of_others() {
    let own_before = own();
    let until = Instant::now() + Duration::from_millis(200);
    while Instant::now() < until {
        std::hint::black_box(busy());
    }
    assert!(own() > own_before, "some of 200 ms was counted");
}

#[test]
fn a_busy_machine_is_told() {
    assert_eq!(warning(0.1), None);
    assert!(warning(1.5).unwrap().contains("others kept 1.5 processors busy"));
}
