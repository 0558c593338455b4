//! Asks the agent on the host and says who decided. Replace it by your own program.
#![no_std]
#![no_main]

use askr_userland::agent::{self, Question};
use askr_userland::bytes::Bytes;
use askr_userland::{Args, eprintln, println};
use core::time::Duration;

askr_userland::main!(main);

fn main(args: Args) -> i32 {
    let text = args.rest().first().copied().unwrap_or(b"may I?");
    let timeout = Duration::from_secs(10);
    match agent::ask(&Question { default: Some(b"no"), ..Question::new(text, timeout) }) {
        Ok(answer) => {
            println!("{}: {}", answer.decider.name(), Bytes(&answer.text));
            0
        }
        Err(errno) => {
            eprintln!("mine: {}", agent::explain(errno));
            1
        }
    }
}
