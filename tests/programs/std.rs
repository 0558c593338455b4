//! A program with Rust's standard library, as it would be written for Linux.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, panic, process, thread};

fn main() {
    let arguments: Vec<String> = env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "child") {
        print!("from the child");
        process::exit(5);
    }
    println!("arguments: {arguments:?}");

    fs::create_dir("/tmp/std").unwrap();
    fs::write("/tmp/std/file", "written").unwrap();
    let names: Vec<_> = fs::read_dir("/tmp/std").unwrap().map(|entry| entry.unwrap().file_name()).collect();
    println!("files: '{}', {names:?}", fs::read_to_string("/tmp/std/file").unwrap());
    fs::remove_dir_all("/tmp/std").unwrap();

    let child = Command::new("/bin/std").arg("child").stdin(Stdio::null()).output().unwrap();
    println!("child: '{}', {}", String::from_utf8_lossy(&child.stdout), child.status);

    let start = Instant::now();
    thread::sleep(Duration::from_millis(20));
    assert!(start.elapsed() >= Duration::from_millis(20));

    let sums: BTreeMap<u32, u32> = (1..=3).map(|n| (n, (1..=n).sum())).collect();
    println!("sums: {sums:?}");

    panic::set_hook(Box::new(|_| {}));
    assert!(panic::catch_unwind(|| panic!("on purpose")).is_err());
    println!("panic: caught");
    process::exit(4);
}
