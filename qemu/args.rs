//! The command line of `cargo run`.

use std::ffi::OsString;
use std::path::PathBuf;

use askr::{Accel, ExtraFile, Machine, Model};
use clap::builder::{PossibleValue, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};

/// Least memory that the guest may get, in MiB: the kernel, the programs and some room.
const MEMORY_MIN_MIB: u32 = 32;
/// Most memory, in MiB.
const MEMORY_MAX_MIB: u32 = 1 << 20;

const EXAMPLES: &str = "\
Examples:
  cargo run                                        boot to a shell in this terminal
  cargo run -- --with target/x86_64-unknown-none/release/prog
                                                   the same, with your program as /bin/prog
  cargo run -- --with motd.txt:/etc/motd           the same, with a file of your own
  printf 'ps\\npoweroff\\n' | cargo run -- --headless
                                                   no terminal: COM1 is stdin and stdout
  cargo run -- --machine microvm --memory 64M      another machine

In the terminal: Ctrl-A x quits, Ctrl-A h helps, Ctrl-A Ctrl-A sends Ctrl-A.";

/// Where agents connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AgentSocket {
    /// Nothing attaches to COM2.
    Off,
    /// In the target folder.
    Default,
    /// At this path.
    At(PathBuf),
}

/// What the command line asks for.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) with: Vec<ExtraFile>,
    pub(crate) memory_mib: Option<u32>,
    pub(crate) model: Model,
    pub(crate) accel: Accel,
    pub(crate) agent: AgentSocket,
    pub(crate) headless: bool,
}

impl Options {
    /// Parses the arguments after the program's name.
    pub(crate) fn parse<I: IntoIterator<Item = OsString>>(arguments: I) -> Result<Self, clap::Error> {
        command().try_get_matches_from(arguments).map(|matches| Self::from_matches(&matches))
    }

    fn from_matches(matches: &ArgMatches) -> Self {
        let agent = match matches.get_one::<PathBuf>("agent-socket") {
            _ if matches.get_flag("no-agent") => AgentSocket::Off,
            Some(path) => AgentSocket::At(path.clone()),
            None => AgentSocket::Default,
        };
        Self {
            with: matches.get_many("with").unwrap_or_default().cloned().collect(),
            memory_mib: matches.get_one("memory").copied(),
            model: matches.get_one("machine").copied().unwrap_or_default(),
            accel: matches.get_one("accel").copied().unwrap_or_default(),
            agent,
            headless: matches.get_flag("headless"),
        }
    }

    /// The machine that these options describe.
    pub(crate) fn machine(&self) -> Machine {
        let machine = Machine::new().model(self.model).accel(self.accel);
        let machine = match self.memory_mib {
            Some(mib) => machine.memory_mib(mib),
            None => machine,
        };
        self.with.iter().cloned().fold(machine, Machine::with)
    }
}

fn command() -> Command {
    Command::new("askr")
        .bin_name("cargo run --")
        .about("Boots Askr in QEMU, with COM1 on this terminal")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(EXAMPLES)
        .args([
            option(
                "with",
                "FILE[:/guest/path]",
                "Puts a file into the guest [default path: /bin/NAME]; may be repeated",
            )
            .action(ArgAction::Append)
            .value_parser(|text: &str| ExtraFile::parse(text)),
            option("memory", "SIZE", "Memory of the guest, such as 64M or 1G [default: 128M]")
                .value_parser(memory),
            option("machine", "KIND", "Kind of PC [default: q35]").value_parser(models()),
            option(
                "accel",
                "HOW",
                "What runs the guest's code; auto is kvm where it works, else tcg [default: auto]",
            )
            .value_parser(accels()),
            flag("no-agent", "Attaches nothing to COM2: no hub, no built-in agent"),
            option(
                "agent-socket",
                "PATH",
                "Where agents connect [default: askr/agent.sock in the target folder]",
            )
            .value_parser(ValueParser::path_buf())
            .conflicts_with("no-agent"),
            flag(
                "headless",
                "COM1 on stdin and stdout without terminal control; ends when the guest powers off",
            ),
        ])
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

fn models() -> impl TypedValueParser<Value = Model> {
    choice(&[("q35", Model::Q35), ("pc", Model::Pc), ("microvm", Model::Microvm)])
}

fn accels() -> impl TypedValueParser<Value = Accel> {
    choice(&[("auto", Accel::Auto), ("kvm", Accel::Kvm), ("tcg", Accel::Tcg)])
}

/// A parser for one of these words.
fn choice<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = words.iter().map(|(name, _)| PossibleValue::new(*name));
    clap::builder::PossibleValuesParser::new(names).try_map(move |found| {
        let same = words.iter().find(|(name, _)| *name == found);
        same.map(|(_, value)| *value).ok_or_else(|| format!("{found} is not one of the words"))
    })
}

/// Parses `64M`, `1G` or a number of MiB.
fn memory(text: &str) -> Result<u32, String> {
    let (digits, unit) = match text.strip_suffix(['G', 'g']) {
        Some(digits) => (digits, 1024),
        None => (text.strip_suffix(['M', 'm']).unwrap_or(text), 1),
    };
    let mib = digits.parse::<u32>().ok().and_then(|count| count.checked_mul(unit));
    match mib {
        Some(mib) if (MEMORY_MIN_MIB..=MEMORY_MAX_MIB).contains(&mib) => Ok(mib),
        Some(_) => Err(format!("must be between {MEMORY_MIN_MIB}M and {}G", MEMORY_MAX_MIB / 1024)),
        None => Err("write it like 64M or 1G".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Options, clap::Error> {
        Options::parse(["askr"].into_iter().chain(words.split_whitespace()).map(OsString::from))
    }

    #[test]
    fn nothing_means_the_defaults() {
        let options = parse("").unwrap();
        assert_eq!((options.model, options.accel), (Model::Q35, Accel::Auto));
        assert_eq!(options.agent, AgentSocket::Default);
        assert!(options.with.is_empty() && options.memory_mib.is_none() && !options.headless);
    }

    #[test]
    fn every_option_arrives() {
        let options = parse(
            "--with a --with b:/opt/b --memory 1G --machine microvm --accel tcg --agent-socket s --headless",
        )
        .unwrap();
        let guest: Vec<_> = options.with.iter().map(|file| &*file.guest).collect();
        assert_eq!(guest, ["/bin/a", "/opt/b"]);
        assert_eq!((options.model, options.accel), (Model::Microvm, Accel::Tcg));
        assert_eq!(options.memory_mib, Some(1024));
        assert_eq!(options.agent, AgentSocket::At("s".into()));
        assert!(options.headless);
        assert_eq!(parse("--no-agent").unwrap().agent, AgentSocket::Off);
    }

    #[test]
    fn memory_has_units_and_limits() {
        assert_eq!(memory("64M"), Ok(64));
        assert_eq!(memory("64"), Ok(64));
        assert_eq!(memory("2g"), Ok(2048));
        for text in ["", "M", "1K", "-1", "31M", "9999999G", "1.5G"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (words, part) in [
            ("--machine i440fx", "q35, pc, microvm"),
            ("--memory lots", "write it like 64M or 1G"),
            ("--with a:/../b", "may not contain"),
            ("--no-agent --agent-socket s", "cannot be used with"),
            ("--headles", "--headless"),
        ] {
            let text = parse(words).unwrap_err().to_string();
            assert!(text.contains(part), "{words}: {text}");
        }
    }

    #[test]
    fn help_has_examples() {
        assert!(parse("--help").unwrap_err().to_string().contains("cargo run -- --with"));
    }
}
