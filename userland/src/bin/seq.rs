//! `seq [FIRST [STEP]] LAST`: prints whole numbers, one a line.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::cli::Syntax;
use askr_userland::number::parse_u64;
use askr_userland::tool::misuse;
use askr_userland::{Args, print, println};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "seq",
    operands: "[FIRST [STEP]] LAST",
    about: "Prints the whole numbers from FIRST (1) to LAST in steps of STEP (1), one a line.",
    flags: &[],
};

fn main(args: Args) -> i32 {
    // A negative number is no option, so this is not read like other command lines.
    let (first, step, last) = match args.rest() {
        [b"--help"] => {
            print!("{SYNTAX}");
            return 0;
        }
        [last] => (1, 1, number(last)),
        [first, last] => (number(first), 1, number(last)),
        [first, step, last] => (number(first), number(step), number(last)),
        [] => misuse(&SYNTAX, 1, format_args!("missing operand")),
        [_, _, _, more, ..] => misuse(&SYNTAX, 1, format_args!("extra operand '{}'", Bytes(more))),
    };
    if step == 0 {
        misuse(&SYNTAX, 1, format_args!("the step is 0"));
    }
    let mut next = Some(first);
    while let Some(number) = next.filter(|&number| if step > 0 { number <= last } else { number >= last }) {
        println!("{number}");
        next = number.checked_add(step);
    }
    0
}

fn number(text: &[u8]) -> i64 {
    let (minus, digits) = text.strip_prefix(b"-").map_or((false, text), |digits| (true, digits));
    let number = parse_u64(digits).and_then(|number| i64::try_from(number).ok());
    let number =
        number.unwrap_or_else(|| misuse(&SYNTAX, 1, format_args!("invalid number '{}'", Bytes(text))));
    if minus { -number } else { number }
}
