//! Commands that the shell carries out itself.

mod control;
mod file;
mod process;
mod variable;

use crate::{EXIT_USAGE, Run, Shell};
use alloc::vec::Vec;
use askr_userland::bytes::Bytes;
use askr_userland::shell::variables::quoted;
use askr_userland::{eprintln, io, print, println};
use core::ops::ControlFlow::Continue;

/// A command of the shell's own.
#[derive(Clone, Copy)]
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    /// How it is used.
    usage: &'static str,
    /// What it does.
    what: &'static str,
    /// Found before functions; what is assigned with it stays (XCU 2.14).
    pub(crate) special: bool,
    /// Takes the arguments and sets the status.
    pub(crate) run: fn(&mut Shell, &[Vec<u8>]) -> Run,
}

const fn special(
    name: &'static str,
    usage: &'static str,
    what: &'static str,
    run: fn(&mut Shell, &[Vec<u8>]) -> Run,
) -> Builtin {
    Builtin { name, usage, what, special: true, run }
}

const fn ordinary(
    name: &'static str,
    usage: &'static str,
    what: &'static str,
    run: fn(&mut Shell, &[Vec<u8>]) -> Run,
) -> Builtin {
    Builtin { name, usage, what, special: false, run }
}

const BUILTINS: &[Builtin] = &[
    ordinary("ai", "ai TEXT", "asks the agent in your own words", process::ai),
    special(".", ". FILE", "runs the commands in FILE here", control::source),
    special(":", ":", "does nothing, with success", control::succeed),
    ordinary("[", "[ CONDITION ]", "the same as test", file::bracket),
    ordinary("bg", "bg [%N]", "lets a stopped job go on in the background", process::background),
    special("break", "break [N]", "leaves N loops", control::leave_loop),
    ordinary(
        "cd",
        "cd [DIR | -]",
        "changes the working directory, to HOME without DIR",
        file::change_directory,
    ),
    ordinary(
        "command",
        "command [-v] NAME",
        "runs a command that is no function; -v shows what it is",
        command,
    ),
    special("continue", "continue [N]", "begins the next round of a loop", control::next_round),
    ordinary("echo", "echo [-n] TEXT...", "prints TEXT; -n without a line end", file::echo),
    special("eval", "eval TEXT...", "runs TEXT as commands", control::evaluate),
    special("exec", "exec [PROGRAM]", "replaces the shell by PROGRAM; or redirects it", control::replace),
    special("exit", "exit [N]", "ends the shell with status N", control::exit),
    special("export", "export [NAME[=X]]", "gives variables to programs", variable::export),
    ordinary("false", "false", "fails", control::fail),
    ordinary("fg", "fg [%N]", "brings a job to the foreground", process::foreground),
    ordinary("help", "help", "shows this", help),
    ordinary("history", "history", "lists the lines that were typed", process::history),
    ordinary("jobs", "jobs [-l]", "lists what runs in the background", process::jobs),
    ordinary("kill", "kill [-SIG] %N|PID", "sends a signal, or with -l lists their names", process::kill),
    ordinary("local", "local NAME[=X]...", "variables of this call of a function", variable::local),
    ordinary("printf", "printf FORMAT [ARG...]", "prints ARGs as FORMAT says", file::print_format),
    ordinary("pwd", "pwd", "prints the working directory", file::print_directory),
    ordinary("read", "read [-r] NAME...", "reads a line into variables", file::read),
    special("readonly", "readonly NAME[=X]", "variables that stay as they are", variable::read_only),
    special("return", "return [N]", "leaves a function with status N", control::return_from),
    special("set", "set [-efuxC] [ARG...]", "sets options and $1, $2, ...", variable::set),
    special("shift", "shift [N]", "drops the first N of $1, $2, ...", variable::shift),
    ordinary("test", "test CONDITION", "tests files, texts and numbers", file::test),
    ordinary("true", "true", "succeeds", control::succeed),
    ordinary("type", "type NAME...", "says what a command is", describe),
    ordinary("umask", "umask [MODE]", "permissions that new files do not get, in octal", file::mask),
    special("unset", "unset [-f] NAME...", "takes variables or functions away", variable::unset),
    ordinary("wait", "wait [%N|PID]", "waits for what runs in the background", process::wait),
];

/// The builtin with this name.
pub(crate) fn find(name: &[u8]) -> Option<Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name.as_bytes() == name).copied()
}

/// Names of all builtins.
pub(crate) fn names() -> impl Iterator<Item = &'static [u8]> {
    BUILTINS.iter().map(|builtin| builtin.name.as_bytes())
}

/// Sets the status; the next command runs.
pub(super) fn done(shell: &mut Shell, status: i32) -> Run {
    shell.status = status;
    Continue(())
}

/// Says that `name` was used wrongly.
pub(super) fn misuse(shell: &mut Shell, name: &str) -> Run {
    let usage = find(name.as_bytes()).map_or(name, |builtin| builtin.usage);
    eprintln!("usage: {usage}");
    done(shell, EXIT_USAGE)
}

fn help(shell: &mut Shell, _: &[Vec<u8>]) -> Run {
    println!("Commands of the shell:");
    for builtin in BUILTINS {
        println!("  {:<22} {}", builtin.usage, builtin.what);
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
        "Between commands: `|` `;` `&&` `||`, `&` for the background; `>` `>>` `<` `2>` to and from files."
    );
    println!(
        "if, while, until, for, case, functions, $NAME, $(...), '...' and \"...\" are those of every sh."
    );
    println!(
        "Tab completes, the arrow keys recall, Ctrl-R searches. Ctrl-C ends the program in the foreground,"
    );
    println!("Ctrl-Z stops it. `poweroff` switches the machine off.");
    done(shell, 0)
}

/// `command -v` and `type`: what a name is.
enum Meaning {
    Builtin(Builtin),
    Function,
    Program(Vec<u8>),
}

fn meaning(shell: &Shell, name: &[u8]) -> Option<Meaning> {
    if shell.functions.contains_key(name) {
        return Some(Meaning::Function);
    }
    if let Some(builtin) = find(name) {
        return Some(Meaning::Builtin(builtin));
    }
    let path = shell.find_program(name)?;
    let exists = io::c_path(&path).and_then(|path| askr_userland::sys::stat(&path)).is_ok();
    exists.then_some(Meaning::Program(path))
}

fn describe(shell: &mut Shell, names: &[Vec<u8>]) -> Run {
    let mut status = 0;
    for name in names {
        match meaning(shell, name) {
            Some(Meaning::Builtin(builtin)) if builtin.special => {
                println!("{} is a special shell builtin", Bytes(name));
            }
            Some(Meaning::Builtin(_)) => println!("{} is a shell builtin", Bytes(name)),
            Some(Meaning::Function) => println!("{} is a shell function", Bytes(name)),
            Some(Meaning::Program(path)) => println!("{} is {}", Bytes(name), Bytes(&path)),
            None => {
                eprintln!("sh: type: {}: not found", Bytes(name));
                status = 127;
            }
        }
    }
    done(shell, status)
}

fn command(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    match arguments {
        [] => done(shell, 0),
        [option, names @ ..] if option == b"-v" => {
            let mut status = 0;
            for name in names {
                match meaning(shell, name) {
                    Some(Meaning::Program(path)) => println!("{}", Bytes(&path)),
                    Some(_) => println!("{}", Bytes(name)),
                    None => status = 127,
                }
            }
            done(shell, status)
        }
        [option, ..] if option.len() > 1 && option.starts_with(b"-") => misuse(shell, "command"),
        [name, rest @ ..] => match find(name) {
            Some(builtin) => shell.run_builtin(&builtin, rest),
            None => {
                shell.run_program(arguments, &Vec::new(), &[], &arguments.join(&b' '), false);
                Continue(())
            }
        },
    }
}

/// A variable as a command that sets it.
pub(super) fn print_assignment(prefix: &str, name: &[u8], value: Option<&[u8]>) {
    io::print_bytes(prefix.as_bytes());
    io::print_bytes(name);
    if let Some(value) = value {
        io::print_bytes(b"=");
        io::print_bytes(&quoted(value));
    }
    io::print_bytes(b"\n");
}
