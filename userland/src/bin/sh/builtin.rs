//! Commands that the shell carries out itself.

use crate::{EXIT_USAGE, Shell};
use alloc::vec::Vec;
use askr_userland::bytes::Bytes;
use askr_userland::{clock, env, eprintln, io, print, println, sys};

/// A builtin: takes the arguments, returns the exit status.
type Builtin = fn(&mut Shell, &[Vec<u8>]) -> i32;

/// Name, use, what it does, what does it. `ai` is listed by [`help`] too, but has a module of its own.
const BUILTINS: &[(&str, &str, &str, Builtin)] = &[
    ("cd", "cd [DIR]", "changes the working directory, to / without DIR", change_directory),
    ("exit", "exit [N]", "ends the shell with status N", exit),
    ("help", "help", "shows this", help),
    ("jobs", "jobs", "lists what runs in the background", jobs),
    ("pwd", "pwd", "prints the working directory", print_directory),
    ("wait", "wait", "waits for what runs in the background", wait),
];

/// The builtin with this name.
pub(crate) fn find(name: &[u8]) -> Option<Builtin> {
    BUILTINS.iter().find(|entry| entry.0.as_bytes() == name).map(|entry| entry.3)
}

fn help(_: &mut Shell, _: &[Vec<u8>]) -> i32 {
    println!("Builtins:");
    println!("  {:<10} asks the agent in your own words", "ai TEXT");
    for (_, usage, what, _) in BUILTINS {
        println!("  {usage:<10} {what}");
    }
    print!("Programs in /bin:");
    match io::list_directory(b"/bin") {
        Ok(mut names) => {
            names.retain(|name| !name.starts_with(b"."));
            names.sort_unstable();
            for name in names {
                print!(" {}", Bytes(&name));
            }
            println!();
        }
        Err(errno) => println!(" /bin: {errno}"),
    }
    println!(
        "Between commands: `;` `&&` `||`, `&` for the background. In words: '...' \"...\" \\x $? $NAME."
    );
    println!("Ctrl-C ends the program in the foreground. `poweroff` switches the machine off.");
    0
}

fn change_directory(_: &mut Shell, arguments: &[Vec<u8>]) -> i32 {
    let path = match arguments {
        [] => env::variable(b"HOME").unwrap_or(b"/"),
        [path] => path,
        _ => {
            eprintln!("sh: cd: too many arguments");
            return EXIT_USAGE;
        }
    };
    match io::c_path(path).and_then(|path| sys::chdir(&path)) {
        Ok(()) => 0,
        Err(errno) => {
            eprintln!("sh: cd: {}: {errno}", Bytes(path));
            1
        }
    }
}

fn exit(shell: &mut Shell, arguments: &[Vec<u8>]) -> i32 {
    let code = match arguments {
        [] => Some(shell.status),
        [text] => clock::parse_u64(text).and_then(|code| u8::try_from(code).ok()).map(i32::from),
        _ => None,
    };
    let Some(code) = code else {
        eprintln!("sh: exit: the status is a number from 0 to 255");
        return EXIT_USAGE;
    };
    shell.leaving = true;
    code
}

fn jobs(shell: &mut Shell, _: &[Vec<u8>]) -> i32 {
    shell.jobs.report_ended();
    shell.jobs.print();
    0
}

fn wait(shell: &mut Shell, _: &[Vec<u8>]) -> i32 {
    shell.jobs.wait_all(shell.interactive)
}

fn print_directory(_: &mut Shell, _: &[Vec<u8>]) -> i32 {
    match sys::getcwd() {
        Ok(path) => {
            io::print_bytes(&path);
            io::print_bytes(b"\n");
            0
        }
        Err(errno) => {
            eprintln!("sh: pwd: {errno}");
            1
        }
    }
}
