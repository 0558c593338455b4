//! `hello [ARGUMENT...]`: greets and shows its arguments. The sample to copy for a program of your own.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::{Args, println, sys};

askr_userland::main!(main);

fn main(args: Args) -> i32 {
    println!("hello from pid {}", sys::getpid());
    for (i, argument) in args.all().iter().enumerate() {
        println!("argv[{i}] = {}", Bytes(argument));
    }
    0
}
