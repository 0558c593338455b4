//! Durations and dates as people write and read them.

use core::fmt;
use core::time::Duration;

pub use crate::number::parse_u64;

/// Digits after the decimal point that count: nanoseconds.
const FRACTION_DIGITS: usize = 9;

/// Reads a duration like `2`, `0.5`, `3m`: a decimal number with `s` (seconds, also without a letter), `m`, `h` or
/// `d`, as `sleep` in the GNU coreutils takes it. `None` if it is anything else or over 2^64 seconds.
#[must_use]
pub fn parse_duration(text: &[u8]) -> Option<Duration> {
    let (number, unit) = match text.split_last()? {
        (b's', number) => (number, 1),
        (b'm', number) => (number, 60),
        (b'h', number) => (number, 60 * 60),
        (b'd', number) => (number, 24 * 60 * 60),
        _ => (text, 1),
    };
    let point = number.iter().position(|&byte| byte == b'.').unwrap_or(number.len());
    let (whole, fraction) = (&number[..point], number.get(point + 1..).unwrap_or_default());
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let seconds = if whole.is_empty() { 0 } else { parse_u64(whole)? };
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = fraction.iter().copied().chain(core::iter::repeat(b'0')).take(FRACTION_DIGITS);
    let nanoseconds = digits.fold(0_u32, |sum, digit| sum * 10 + u32::from(digit - b'0'));
    Duration::new(seconds, nanoseconds).checked_mul(unit)
}

/// A point in time, shown as `YYYY-MM-DD HH:MM` in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub seconds: i64,
}

impl Date {
    /// Year, month (1 to 12) and day (1 to 31) in the Gregorian calendar.
    ///
    /// Counts in eras of 400 years (146,097 days) that begin on a 1st of March, so that the leap day is the last
    /// day of a year.
    #[must_use]
    pub fn civil(self) -> (i64, i64, i64) {
        const DAYS_TO_1970: i64 = 719_468;
        const DAYS_PER_ERA: i64 = 146_097;
        let days = self.seconds.div_euclid(86_400) + DAYS_TO_1970;
        let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // Months from March on repeat the lengths 31 30 31 30 31: 153 days in five months.
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        (era * 400 + year_of_era + i64::from(month <= 2), month, day)
    }
}

/// The parts of a point in time in UTC, in the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The year.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
    /// Days since the 1st of January, from 0.
    pub year_day: i64,
    /// 0 is Sunday.
    pub weekday: i64,
    /// 0 to 23.
    pub hour: i64,
    /// 0 to 59.
    pub minute: i64,
    /// 0 to 59.
    pub second: i64,
}

impl Date {
    /// Takes it apart.
    #[must_use]
    pub fn parts(self) -> Parts {
        let (year, month, day) = self.civil();
        let (days, in_day) = (self.seconds.div_euclid(86_400), self.seconds.rem_euclid(86_400));
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
        let month_start = usize::try_from(month - 1).ok().and_then(|at| before.get(at)).copied().unwrap_or(0);
        Parts {
            year,
            month,
            day,
            year_day: month_start + i64::from(leap && month > 2) + day - 1,
            // The 1st of January 1970 was a Thursday.
            weekday: (days + 4).rem_euclid(7),
            hour: in_day / 3_600,
            minute: in_day / 60 % 60,
            second: in_day % 60,
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        let minutes = self.seconds.rem_euclid(86_400) / 60;
        write!(f, "{year:04}-{month:02}-{day:02} {:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// A time since the start, shown like `2 days, 3:04:05`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uptime(
    /// Whole seconds.
    pub u64,
);

impl fmt::Display for Uptime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, rest) = (self.0 / 86_400, self.0 % 86_400);
        match days {
            0 => {}
            1 => f.write_str("1 day, ")?,
            _ => write!(f, "{days} days, ")?,
        }
        write!(f, "{}:{:02}:{:02}", rest / 3_600, rest / 60 % 60, rest % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::{Date, Uptime, parse_duration};
    use core::time::Duration;
    use proptest::prelude::*;

    #[test]
    fn durations_as_sleep_takes_them() {
        let read = |text: &str| parse_duration(text.as_bytes());
        assert_eq!(read("2"), Some(Duration::from_secs(2)));
        assert_eq!(read("0.25"), Some(Duration::from_millis(250)));
        assert_eq!(read(".5"), Some(Duration::from_millis(500)));
        assert_eq!(read("1."), Some(Duration::from_secs(1)));
        assert_eq!(read("1.5m"), Some(Duration::from_secs(90)));
        assert_eq!(read("2h"), Some(Duration::from_secs(7200)));
        assert_eq!(read("1d"), Some(Duration::from_secs(86_400)));
        for wrong in
            ["", ".", "s", "-1", "1e3", "1.2.3", "x", "18446744073709551616", "18446744073709551615d"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn known_dates() {
        let show = |seconds| Date { seconds }.to_string();
        assert_eq!(show(0), "1970-01-01 00:00");
        assert_eq!(show(951_782_340), "2000-02-28 23:59");
        assert_eq!(show(951_782_400), "2000-02-29 00:00");
        assert_eq!(show(1_709_210_096), "2024-02-29 12:34");
        assert_eq!(show(-1), "1969-12-31 23:59");
        assert_eq!(show(4_107_542_400), "2100-03-01 00:00");
    }

    #[test]
    fn uptimes() {
        assert_eq!(Uptime(5).to_string(), "0:00:05");
        assert_eq!(Uptime(90_061).to_string(), "1 day, 1:01:01");
        assert_eq!(Uptime(200_000).to_string(), "2 days, 7:33:20");
    }

    proptest! {
        #[test]
        fn days_follow_each_other(day in -1_000_000_i64..1_000_000) {
            let (year, month, date) = Date { seconds: day * 86_400 }.civil();
            let (next_year, next_month, next_date) = Date { seconds: (day + 1) * 86_400 }.civil();
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month { 2 => 28 + i64::from(leap), 4 | 6 | 9 | 11 => 30, _ => 31 };
            let expected = if date < last { (year, month, date + 1) }
                else if month < 12 { (year, month + 1, 1) } else { (year + 1, 1, 1) };
            prop_assert_eq!((next_year, next_month, next_date), expected);
        }
    }
}
