//! `answer NUMBER TEXT...`: answers a question that waits, in place of the agent. `asks` shows them with their numbers.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use askr_userland::bytes::Bytes;
use askr_userland::cli::Syntax;
use askr_userland::number::parse_u64;
use askr_userland::tool::{self, misuse};
use askr_userland::{Args, Errno, eprintln, sys};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "answer",
    operands: "NUMBER TEXT...",
    about: "Answers the question of this number, which asks shows. Only for the person at the console.",
    flags: &[],
};

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 2);
    let [number, words @ ..] = &given.operands[..] else {
        misuse(&SYNTAX, 2, format_args!("which question?"));
    };
    let Some(number) = parse_u64(number).and_then(|number| u32::try_from(number).ok()) else {
        misuse(&SYNTAX, 2, format_args!("invalid number '{}'", Bytes(number)));
    };
    if words.is_empty() {
        // An empty answer has to be meant.
        misuse(&SYNTAX, 2, format_args!("what is the answer to {number}? an empty one is ''"));
    }
    match sys::agent_answer(number, &words.join(&b' ')) {
        Ok(()) => 0,
        Err(errno) => {
            eprintln!("answer: {number}: {} ({})", explain(errno), errno.name());
            1
        }
    }
}

/// What an error means here, in words.
fn explain(errno: Errno) -> &'static str {
    match errno {
        Errno::ENOENT => "nobody has asked that",
        Errno::ESTALE => "it has been settled",
        Errno::EINVAL => "this is none of its choices; it waits on",
        Errno::EPERM => "only the person at the console may, in the foreground",
        other => other.message(),
    }
}
