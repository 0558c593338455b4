//! The tables of a page.

use crate::page;
use crate::report::{Aim, PEER, Report, Unit};

#[test]
fn what_has_an_aim_is_in_the_table_with_whether_it_was_met() {
    let mut report = Report::default();
    report.add("ping", PEER, Unit::Time, &[0.002]);
    report.add("ping", "COM2", Unit::Time, &[0.001]);
    report.compare("ping", "COM2", PEER, Some(Aim::AtMost(0.4)));
    report.add("read", PEER, Unit::Rate(1_000_000), &[1.0]);
    report.add("read", "data door", Unit::Rate(1_000_000), &[0.1]);
    report.compare("read", "data door", PEER, Some(Aim::AtLeast(5.0)));
    report.add("read", "hub", Unit::Rate(1_000_000), &[0.1]);
    report.compare("read", "hub", PEER, None);
    for point in [(100, 1e-6), (1000, 3e-6)] {
        report.point("make files", "Askr", "entry", point);
    }
    let page = page::of(&report);
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(
        rows[1..3],
        [
            "| ping | COM2 | 1.00 ms | 0.50 x peer | at most 0.4 | missed |",
            "| read | data door | 10.0 MB/s | 10.0 x peer | at least 5 | met |",
        ]
    );
    assert_eq!(rows[4], "| make files, entry | Askr | 100 to 1000 | 3.00 x | at most 2 | grows |");
    assert_eq!(rows.len(), 5, "{page}");
}
