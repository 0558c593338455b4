//! The CMOS clock (Motorola MC146818). The date arithmetic follows the proleptic Gregorian
//! calendar with years that begin in March.

use x86_64::instructions::port::Port;

const SECONDS: u8 = 0x00;
const MINUTES: u8 = 0x02;
const HOURS: u8 = 0x04;
const DAY: u8 = 0x07;
const MONTH: u8 = 0x08;
const YEAR: u8 = 0x09;
const STATUS_A: u8 = 0x0a;
const STATUS_B: u8 = 0x0b;
const UPDATE_IN_PROGRESS: u8 = 0x80;
const BINARY: u8 = 0x04;
const HOURS_24: u8 = 0x02;
const AFTERNOON: u8 = 0x80;

/// Most readings for who has to know: an update takes 2 ms once a second.
pub(super) const PATIENT: usize = 4000;
/// Most readings for who looks again later.
pub(super) const HASTY: usize = 3;

/// Seconds since 1970 in UTC; `None` when there is no clock or it does not settle in that many readings. Two equal ones in a
/// row are a settled one.
pub(super) fn unix_seconds(readings_max: usize) -> Option<u64> {
    let mut last = None;
    for _ in 0..readings_max {
        let now = read();
        if now.is_some() && now == last {
            return now;
        }
        last = now;
    }
    None
}

fn read() -> Option<u64> {
    if register(STATUS_A) & UPDATE_IN_PROGRESS != 0 {
        return None;
    }
    let status = register(STATUS_B);
    let number = |raw: u8| u64::from(if status & BINARY != 0 { raw } else { (raw >> 4) * 10 + (raw & 15) });
    let value = |index: u8| number(register(index));
    let raw_hours = register(HOURS);
    let hours = if status & HOURS_24 == 0 {
        // The top bit says afternoon, whatever the digits are.
        number(raw_hours & !AFTERNOON) % 12 + if raw_hours & AFTERNOON != 0 { 12 } else { 0 }
    } else {
        number(raw_hours)
    };
    let (year, month, day) = (2000 + value(YEAR), value(MONTH), value(DAY));
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(((days_since_1970(year, month, day) * 24 + hours) * 60 + value(MINUTES)) * 60 + value(SECONDS))
}

fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let days_before_month = (153 * month_from_march + 2) / 5;
    365 * year + year / 4 - year / 100 + year / 400 + days_before_month + day - 1 - 719_468
}

fn register(index: u8) -> u8 {
    // SAFETY: selecting and reading a CMOS register changes nothing; bit 7 of the index keeps NMI as it was.
    unsafe {
        Port::<u8>::new(0x70).write(index);
        Port::<u8>::new(0x71).read()
    }
}
