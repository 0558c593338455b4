//! Builtins about variables, options and positional parameters.

use super::{done, misuse, print_assignment};
use crate::{Run, Shell};
use alloc::vec::Vec;
use askr_userland::bytes::Bytes;
use askr_userland::shell::name_length;
use askr_userland::{clock, eprintln, println};
use core::ops::ControlFlow::Continue;

/// `NAME` or `NAME=VALUE`.
fn declaration(argument: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let length = name_length(argument);
    let (name, rest) = argument.split_at(length);
    match rest {
        _ if length == 0 => None,
        [] => Some((name, None)),
        [b'=', value @ ..] => Some((name, Some(value))),
        _ => None,
    }
}

/// Does `mark` to each variable and then gives it the value that comes with it. Stops at the first mistake.
fn declare(
    shell: &mut Shell,
    command: &str,
    arguments: &[Vec<u8>],
    mark: fn(&mut Shell, &[u8]) -> bool,
) -> Run {
    for argument in arguments {
        let Some((name, value)) = declaration(argument) else {
            eprintln!("sh: {command}: {}: not a name", Bytes(argument));
            shell.status = crate::EXIT_USAGE;
            return core::ops::ControlFlow::Break(shell.fatal());
        };
        if command == "local" && !mark(shell, name) {
            eprintln!("sh: local: not in a function");
            return done(shell, crate::EXIT_USAGE);
        }
        if let Some(value) = value
            && let Err(failure) = shell.variables.set(name, value.to_vec())
        {
            return shell.fail(&failure);
        }
        if command != "local" {
            mark(shell, name);
        }
    }
    done(shell, 0)
}

/// The arguments without `-p`, and whether there are none left to declare.
fn without_print(arguments: &[Vec<u8>]) -> &[Vec<u8>] {
    match arguments {
        [option, rest @ ..] if option == b"-p" => rest,
        _ => arguments,
    }
}

pub(super) fn export(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let arguments = without_print(arguments);
    if arguments.is_empty() {
        for (name, variable) in shell.variables.iter().filter(|(_, variable)| variable.exported) {
            print_assignment("export ", name, variable.value.as_deref());
        }
        return done(shell, 0);
    }
    declare(shell, "export", arguments, |shell, name| {
        shell.variables.export(name);
        true
    })
}

pub(super) fn read_only(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let arguments = without_print(arguments);
    if arguments.is_empty() {
        for (name, variable) in shell.variables.iter().filter(|(_, variable)| variable.read_only) {
            print_assignment("readonly ", name, variable.value.as_deref());
        }
        return done(shell, 0);
    }
    declare(shell, "readonly", arguments, |shell, name| {
        shell.variables.make_read_only(name);
        true
    })
}

pub(super) fn local(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    declare(shell, "local", arguments, |shell, name| shell.variables.hide(name))
}

pub(super) fn unset(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let (functions, names) = match arguments {
        [option, names @ ..] if option == b"-f" => (true, names),
        [option, names @ ..] if option == b"-v" => (false, names),
        names => (false, names),
    };
    for name in names {
        if functions {
            shell.functions.remove(name);
        } else if let Err(failure) = shell.variables.unset(name) {
            return shell.fail(&failure);
        }
    }
    done(shell, 0)
}

pub(super) fn set(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    if arguments.is_empty() {
        for (name, variable) in shell.variables.iter().filter(|(_, variable)| variable.value.is_some()) {
            print_assignment("", name, variable.value.as_deref());
        }
        return done(shell, 0);
    }
    // All of it is checked before any of it counts.
    let mut options = shell.options;
    let mut rest = arguments;
    let mut replaces = false;
    while let [first, after @ ..] = rest
        && let [sign @ (b'-' | b'+'), letters @ ..] = first.as_slice()
    {
        let on = *sign == b'-';
        rest = after;
        match letters {
            b"-" | b"" if on => {
                replaces = replaces || letters == b"-";
                break;
            }
            b"o" => match after {
                [name, after @ ..] if options.set_name(name, on) => rest = after,
                [] => {
                    for (name, is_set) in options.all() {
                        println!("{:<10} {}", Bytes(name), if is_set { "on" } else { "off" });
                    }
                }
                _ => return misuse(shell, "set"),
            },
            _ if letters.iter().all(|&letter| options.set_letter(letter, on)) => {}
            _ => return misuse(shell, "set"),
        }
    }
    shell.options = options;
    if replaces || !rest.is_empty() {
        shell.positional = rest.to_vec();
    }
    done(shell, 0)
}

pub(super) fn shift(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let count = match arguments {
        [] => Some(1),
        [text] => clock::parse_u64(text).and_then(|count| usize::try_from(count).ok()),
        _ => None,
    };
    match count {
        Some(count) if count <= shell.positional.len() => {
            shell.positional.drain(..count);
            shell.status = 0;
            Continue(())
        }
        Some(_) => {
            eprintln!("sh: shift: there are only {}", shell.positional.len());
            shell.status = crate::EXIT_USAGE;
            core::ops::ControlFlow::Break(shell.fatal())
        }
        None => misuse(shell, "shift"),
    }
}
