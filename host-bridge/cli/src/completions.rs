//! `askr-bridge completions`: scripts for shells.
//!
//! Commands, options and operations come from the command line itself. Which fields there are depends on the operation,
//! which no generator knows, so that part is added here, from the table of operations.

use std::io::{self, Write};

use clap::{ArgMatches, Command};
use clap_complete::{Shell, generate};
use host_bridge::json::OPERATIONS;

use crate::exit::{Exit, Failure};

const NAME: &str = "askr-bridge";
/// The name that scripts for bash are generated for: the generator (clap_complete 4.6) loses the commands of a program
/// with a hyphen in its name.
const PLAIN_NAME: &str = "askr_bridge";

pub(super) fn run(mut command: Command, matches: &ArgMatches) -> Result<Exit, Failure> {
    let shell = matches.get_one::<String>("shell").map_or("", String::as_str);
    let (shell, name, add): (_, _, fn(&str) -> String) = match shell {
        "zsh" => (Shell::Zsh, NAME, zsh),
        "fish" => (Shell::Fish, NAME, fish),
        _ => (Shell::Bash, PLAIN_NAME, bash),
    };
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    let script = add(&String::from_utf8_lossy(&script));
    match io::stdout().lock().write_all(script.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("stdout: {error}").into()),
        _ => Ok(Exit::Done),
    }
}

/// The names of all operations, with this between them.
fn operations(between: &str) -> String {
    OPERATIONS.iter().map(|operation| operation.name).collect::<Vec<_>>().join(between)
}

/// A line for each operation, made of its name and its fields as words that end in `=`. Bytes in base64 are for programs.
fn each_operation(line: impl Fn(&str, &str) -> String) -> String {
    let words = |fields: &[&str]| {
        let for_people = fields.iter().filter(|field| !field.ends_with("_base64"));
        for_people.chain(&["timeout_ms"]).map(|field| format!("{field}=")).collect::<Vec<_>>().join(" ")
    };
    OPERATIONS.iter().map(|operation| line(operation.name, &words(operation.fields))).collect()
}

/// Sets the variable `fields` to those of the operation that `$op` is.
fn cases() -> String {
    each_operation(|op, fields| format!("    {op}) fields=\"{fields}\" ;;\n"))
}

/// The generated function, called by one that completes the words after `call` itself.
fn bash(generated: &str) -> String {
    let (cases, patterns, words) = (cases(), operations(" | "), operations(" "));
    // Its registration comes last; there is another one below.
    let (generated, _) = generated.rsplit_once("\nif [[").unwrap_or((generated, ""));
    format!(
        "{generated}
_askr_bridge_call() {{
    local word op= fields= command=
    for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do
        case $command,$word in
        call,{}) op=${{op:-$word}} ;;
        ,call) command=call ;;
        esac
    done
    if [ -z \"$command\" ] || [[ $2 == -* || $3 == --socket ]]; then
        _askr_bridge \"$@\"
        return
    fi
    if [ -z \"$op\" ]; then
        COMPREPLY=($(compgen -W \"{words}\" -- \"$2\"))
        return
    fi
    case $op in
{cases}    esac
    COMPREPLY=()
    # Readline breaks words at `=`: what stands behind it is not completed.
    [[ $2 == = || $3 == = ]] && return
    compopt -o nospace
    COMPREPLY=($(compgen -W \"$fields\" -- \"$2\"))
}}
complete -F _askr_bridge_call -o bashdefault -o default {NAME}
",
        patterns.replace(" | ", " | call,")
    )
}

/// The generated function, with fields in place of nothing.
fn zsh(generated: &str) -> String {
    let (cases, patterns) = (cases(), operations("|"));
    let function = format!(
        "
_askr-bridge-fields() {{
    local op=${{words[(r)({patterns})]}} fields=
    case $op in
{cases}    esac
    compadd -S '' -- ${{=fields}}
}}
"
    );
    // Before the rest, which calls it at once when the file is loaded by the first completion.
    let (head, rest) = generated.split_once('\n').unwrap_or((generated, ""));
    let rest = rest.replacen("'::fields -- Its fields:'", "'*:fields -- Its fields:_askr-bridge-fields'", 1);
    format!("{head}\n{function}{rest}")
}

fn fish(generated: &str) -> String {
    let names = operations(" ");
    let called = "__fish_seen_subcommand_from call";
    let line = |condition: &str, words: &str| {
        format!("complete -c {NAME} -f -n \"{called}; and {condition}\" -a \"{words}\"\n")
    };
    let operations = line(&format!("not __fish_seen_subcommand_from {names}"), &names);
    let fields = each_operation(|op, fields| line(&format!("__fish_seen_subcommand_from {op}"), fields));
    format!("{generated}{operations}{fields}")
}
