//! The picture.

use crate::picture::draw;
use crate::report::{PEER, Report, Unit};

fn report() -> Report {
    let mut report = Report::default();
    report.add("ping", PEER, Unit::Time, &[0.002]);
    report.add("ping", "COM2 <raw>", Unit::Time, &[0.001]);
    report.compare("ping", "COM2 <raw>", PEER, None);
    report.add("read 1 MiB", PEER, Unit::Rate(1 << 20), &[0.1]);
    report.add("read 1 MiB", "COM2", Unit::Rate(1 << 20), &[2.0]);
    report.compare("read 1 MiB", "COM2", PEER, None);
    for point in [(100, 1e-6), (1000, 1e-6), (10_000, 9e-6)] {
        report.point("create", "Askr", "entry", point);
    }
    report
}

#[test]
fn what_is_faster_and_what_is_slower_look_different() {
    let picture = draw(&report(), "today");
    assert_eq!(picture.matches("class=\"better\"").count(), 1);
    assert_eq!(picture.matches("class=\"worse\"").count(), 1);
    assert!(picture.contains("2.0 times as fast") && picture.contains("20 times as slow"), "{picture}");
    assert!(picture.contains("COM2 &lt;raw&gt;"), "names are escaped");
}

#[test]
fn a_curve_has_all_its_points_and_its_worst() {
    let picture = draw(&report(), "today");
    let line = picture.lines().find(|line| line.contains("<polyline")).unwrap();
    assert_eq!(line.matches(',').count(), 3, "{line}");
    assert!(picture.contains("worst 9.00 x, grows"), "{picture}");
}

#[test]
fn what_makes_figures_doubtful_is_on_the_picture() {
    let mut report = report();
    report.notes.push("boot: others were busy".into());
    report.notes.push("bus: no answer; the console shows last:\n  | panic".into());
    let picture = draw(&report, "today");
    assert!(picture.contains(">boot: others were busy<"), "{picture}");
    assert!(picture.contains(">bus: no answer; the console shows last:<") && !picture.contains("panic"));
}

#[test]
fn numbers_of_nothing_are_no_picture_of_anything() {
    let picture = draw(&Report::default(), "nothing");
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
}
