//! The command line.

use clap::{Arg, ArgAction, Command};

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Fewer rounds and smaller sizes.
    pub(crate) quick: bool,
    /// The sections to run, as they are named.
    pub(crate) only: Vec<String>,
    /// Leave the peer out.
    pub(crate) no_peer: bool,
}

fn command(sections: &[(&'static str, &'static str)]) -> Command {
    let listed: Vec<String> = sections.iter().map(|(name, what)| format!("  {name:<10}{what}")).collect();
    let names: Vec<&'static str> = sections.iter().map(|(name, _)| *name).collect();
    Command::new("peers")
        .bin_name("cargo bench --bench peers --")
        .about("Measures Askr beside QEMU's guest agent on Linux, in turn, and shows both with their ratios")
        .after_help(format!("Sections:\n{}", listed.join("\n")))
        .arg(flag(
            "quick",
            "Fewer rounds and smaller sizes: minutes instead of half an hour, for trying it out",
        ))
        .arg(
            Arg::new("only")
                .long("only")
                .value_name("SECTIONS")
                .value_delimiter(',')
                .value_parser(clap::builder::PossibleValuesParser::new(names))
                .hide_possible_values(true)
                .help("Only these sections, separated by commas"),
        )
        .arg(flag("no-peer", "Leave Linux and its agent out"))
        // cargo adds it.
        .arg(flag("bench", "").hide(true))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// Reads it, of the program's name and its arguments.
pub(crate) fn parse(
    sections: &[(&'static str, &'static str)],
    arguments: impl IntoIterator<Item = String>,
) -> Result<Options, clap::Error> {
    let mut found = command(sections).try_get_matches_from(arguments)?;
    let all = || sections.iter().map(|(name, _)| (*name).to_owned()).collect();
    let only = found.remove_many("only").map_or_else(all, Iterator::collect);
    Ok(Options { quick: found.get_flag("quick"), only, no_peer: found.get_flag("no-peer") })
}
