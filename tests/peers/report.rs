//! Rows, their ratios, and how they are shown.

use crate::report::{Aim, PEER, Report, Unit, shown};

fn report() -> Report {
    let mut report = Report::default();
    report.add("ping", PEER, Unit::Time, &[0.002]);
    report.add("ping", "COM2", Unit::Time, &[0.001, 0.001, 0.003]);
    report.add("read", PEER, Unit::Rate(2_000_000), &[1.0]);
    report.add("read", "COM2", Unit::Rate(1_000_000), &[2.0]);
    report
}

#[test]
fn a_time_is_compared_by_its_length_and_a_rate_by_its_speed() {
    let mut report = report();
    report.compare("ping", "COM2", PEER, Some(Aim::AtMost(0.4)));
    report.compare("read", "COM2", PEER, Some(Aim::AtLeast(0.2)));
    let factor = |at: usize| report.rows[at].ratios[0].factor;
    assert_eq!((factor(1), factor(3)), (0.5, 0.25));
    let table = report.table(0, 0);
    assert!(table.contains("1.00 ms     3.00 ms  0.50 x peer (aim: at most 0.4, missed)"), "{table}");
    assert!(table.contains("0.50 MB/s   0.50 MB/s  0.25 x peer (aim: at least 0.2)"), "{table}");
}

#[test]
fn another_metric_is_named_and_what_was_not_measured_is_not_compared() {
    let mut report = report();
    report.add("stat", "COM2", Unit::Time, &[0.002]);
    report.compare("stat", "COM2", "ping/COM2", None);
    report.compare("stat", "COM2", PEER, None);
    report.compare("list", "COM2", PEER, None);
    let ratios = &report.rows[4].ratios;
    assert_eq!((ratios.len(), ratios[0].to.as_str(), ratios[0].factor), (1, "ping COM2", 2.0));
}

#[test]
fn nothing_measured_is_no_row() {
    let mut report = Report::default();
    report.add("ping", PEER, Unit::Time, &[]);
    assert!(report.rows.is_empty() && report.table(0, 0).is_empty());
}

#[test]
fn json_has_every_row_with_its_aims_and_every_curve() {
    let mut report = report();
    report.compare("ping", "COM2", PEER, Some(Aim::AtMost(0.4)));
    for point in [(100, 1e-6), (1000, 3e-6)] {
        report.point("create", "Askr", "entry", point);
        report.point("create", "Linux", "entry", point);
    }
    let json = report.json();
    assert_eq!(json["rows"].as_array().unwrap().len(), 4);
    assert_eq!(json["rows"][1]["ratios"][0]["aim_at_most"], 0.4);
    assert_eq!(json["rows"][2]["bytes"], 2_000_000);
    assert_eq!(json["curves"].as_array().unwrap().len(), 2);
    assert!((json["curves"][0]["worst"].as_f64().unwrap() - 3.0).abs() < 1e-9);
    assert_eq!(json["curves"][0]["verdict"], "grows");
}

#[test]
fn a_curve_is_flat_up_to_twice_its_first_point() {
    let mut report = Report::default();
    for (who, last) in [("even", 1.9e-6), ("steep", 2.1e-6)] {
        // What is measured several times counts by its median.
        for point in [(100, 1e-6), (1000, 0.9e-6), (1000, 0.8e-6), (1000, 9e-6), (10_000, last)] {
            report.point("create", who, "entry", point);
        }
    }
    let table = report.table(0, 0);
    let verdicts = ["even                     flat, worst 1.90 x", "steep                    grows, worst 2.10 x"];
    assert!(verdicts.iter().all(|verdict| table.contains(verdict)), "{table}");
}

#[test]
fn values_are_shown_with_three_digits_and_their_unit() {
    let all = [
        (Unit::Time, 4.2e-8, "42 ns"),
        (Unit::Time, 1.234e-4, "123 us"),
        (Unit::Time, 0.012_34, "12.3 ms"),
        (Unit::Time, 2.5, "2.50 s"),
        (Unit::Rate(1 << 20), 2.0, "0.52 MB/s"),
        (Unit::Percent, 0.35, "0.35 %"),
        (Unit::Mebibytes, 256.4, "256 MiB"),
    ];
    for (unit, value, text) in all {
        assert_eq!(shown(unit, value), text);
    }
}
