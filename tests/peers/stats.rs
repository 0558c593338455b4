//! Many measurements of one thing.

use crate::stats::{Summary, relative, worst};

#[test]
fn a_summary_does_not_depend_on_the_order() {
    let summary = Summary::of(&[3.0, 1.0, 2.0]).unwrap();
    assert_eq!(summary, Summary { count: 3, least: 1.0, median: 2.0, p99: 3.0, most: 3.0 });
    assert_eq!(Summary::of(&[1.0, 2.0, 3.0]), Some(summary));
}

#[test]
fn two_in_the_middle_are_averaged_and_nothing_has_no_summary() {
    assert_eq!(Summary::of(&[4.0, 1.0, 2.0, 9.0]).unwrap().median, 3.0);
    assert_eq!(Summary::of(&[]), None);
}

#[test]
fn one_of_a_hundred_is_above_the_99th_percentile() {
    let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
    let summary = Summary::of(&hundred).unwrap();
    assert_eq!((summary.p99, summary.most), (99.0, 100.0));
    assert_eq!(Summary::of(&hundred[..99]).unwrap().p99, 99.0, "the most of fewer");
    let thousand: Vec<f64> = (1..=1000).map(f64::from).collect();
    assert_eq!(Summary::of(&thousand).unwrap().p99, 990.0);
}

#[test]
fn growth_is_told_by_the_worst_size_against_the_first() {
    let points = [(100, 2.0), (1000, 1.0), (10_000, 5.0)];
    assert_eq!(relative(&points), [(100, 1.0), (1000, 0.5), (10_000, 2.5)]);
    assert_eq!(worst(&points), 2.5);
    assert_eq!((worst(&points[..2]), worst(&[])), (1.0, 1.0));
}
