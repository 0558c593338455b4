//! Points in time as text: the formats of `date`, after `strftime(3)` in the C locale.

use crate::clock::{Date, Parts};
use core::fmt::{self, Write};

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Letters of an abbreviated name.
const SHORT: usize = 3;

/// What `date` prints if nothing is said.
pub const DEFAULT: &[u8] = b"%a %b %e %H:%M:%S %Z %Y";

/// Writes `format` with the time put in; always UTC.
///
/// # Errors
/// Those of `to`.
pub fn write(to: &mut dyn Write, format: &str, seconds: i64, nanoseconds: u32) -> fmt::Result {
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        to.write_str(before)?;
        let mut letters = after.chars();
        match letters.next() {
            Some(letter) => put(to, letter, seconds, nanoseconds)?,
            None => to.write_char('%')?,
        }
        rest = letters.as_str();
    }
    to.write_str(rest)
}

fn put(to: &mut dyn Write, letter: char, seconds: i64, nanoseconds: u32) -> fmt::Result {
    let parts = Date { seconds }.parts();
    let Parts { year, month, day, year_day, weekday, hour, minute, second } = parts;
    let name = |names: &[&'static str], at: i64| {
        usize::try_from(at).ok().and_then(|at| names.get(at)).copied().unwrap_or("?")
    };
    let short = |name: &'static str| name.get(..SHORT).unwrap_or(name);
    let (weekday_name, month_name) = (name(&WEEKDAYS, weekday), name(&MONTHS, month - 1));
    let half = if hour % 12 == 0 { 12 } else { hour % 12 };
    let mut again = |format| write(to, format, seconds, nanoseconds);
    match letter {
        'c' => again("%a %b %e %H:%M:%S %Y"),
        'D' | 'x' => again("%m/%d/%y"),
        'F' => again("%Y-%m-%d"),
        'R' => again("%H:%M"),
        'r' => again("%I:%M:%S %p"),
        'T' | 'X' => again("%H:%M:%S"),
        'A' => to.write_str(weekday_name),
        'a' => to.write_str(short(weekday_name)),
        'B' => to.write_str(month_name),
        'b' | 'h' => to.write_str(short(month_name)),
        'C' => write!(to, "{:02}", year.div_euclid(100)),
        'd' => write!(to, "{day:02}"),
        'e' => write!(to, "{day:2}"),
        'H' => write!(to, "{hour:02}"),
        'I' => write!(to, "{half:02}"),
        'j' => write!(to, "{:03}", year_day + 1),
        'k' => write!(to, "{hour:2}"),
        'l' => write!(to, "{half:2}"),
        'M' => write!(to, "{minute:02}"),
        'm' => write!(to, "{month:02}"),
        'N' => write!(to, "{nanoseconds:09}"),
        'n' => to.write_char('\n'),
        'p' => to.write_str(if hour < 12 { "AM" } else { "PM" }),
        'S' => write!(to, "{second:02}"),
        's' => write!(to, "{seconds}"),
        't' => to.write_char('\t'),
        'u' => write!(to, "{}", (weekday + 6) % 7 + 1),
        'w' => write!(to, "{weekday}"),
        'Y' => write!(to, "{year}"),
        'y' => write!(to, "{:02}", year.rem_euclid(100)),
        'Z' => to.write_str("UTC"),
        'z' => to.write_str("+0000"),
        '%' => to.write_char('%'),
        other => write!(to, "%{other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT, write};
    use proptest::prelude::*;

    fn show(format: &str, seconds: i64) -> String {
        let mut text = String::new();
        write(&mut text, format, seconds, 7).unwrap();
        text
    }

    #[test]
    fn the_default_is_what_date_prints() {
        let format = std::str::from_utf8(DEFAULT).unwrap();
        assert_eq!(show(format, 0), "Thu Jan  1 00:00:00 UTC 1970");
        assert_eq!(show(format, 1_709_210_096), "Thu Feb 29 12:34:56 UTC 2024");
    }

    /// Compared with the host's `date`, where there is one that takes `-d @N`.
    #[test]
    fn every_letter_is_that_of_date() {
        let format = "%A %a %B %b %C %c %D %d %e %F %H %h %I %j %k %l %M %m %p %R %r %S %s %T %u %w %X %x %Y %y %Z %z %%";
        for seconds in [0, 951_827_696, 1_709_210_096, 4_107_542_399, 1_735_689_599, 1_700_000_000] {
            let date = std::process::Command::new("date")
                .args(["-u", "-d", &format!("@{seconds}"), &format!("+{format}")])
                .env("LC_ALL", "C")
                .output();
            let Ok(output) = date else { return };
            assert_eq!(show(format, seconds) + "\n", String::from_utf8(output.stdout).unwrap());
        }
        assert_eq!(show("%N%n%t|%Q %", 0), "000000007\n\t|%Q %");
    }

    proptest! {
        #[test]
        fn any_format_at_any_time_is_written(format: String, seconds in -1_000_000_000_000_i64..1_000_000_000_000) {
            show(&format, seconds);
        }
    }
}
