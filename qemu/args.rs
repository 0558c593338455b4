//! The command line of `cargo run`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use askr::{Accel, Door, ExtraFile, Machine, Model, NEW_DISK_SIZE};
use clap::builder::{OsStringValueParser, PossibleValue, StyledStr, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};

/// Least memory that the guest may get, in MiB: the kernel, the programs and some room.
const MEMORY_MIN_MIB: u32 = 32;
/// Most memory, in MiB.
const MEMORY_MAX_MIB: u32 = 1 << 20;
/// Longest line for `--run`, in bytes: `init` reads no more.
const RUN_MAX: usize = 64 * 1024;

const EXAMPLES: &str = "\
Examples:
  cargo run                                        boot to a shell in this terminal
  cargo run -- --with target/mine --with motd.txt:/etc/motd
                                                   the same, with your program as /bin/mine, and a file
  cargo run -- --run 'ls /bin' > list.txt          one line of the guest's shell: its output, its exit status
  cargo run -- --run '/bin/mine' --with target/mine --no-agent
                                                   try one program
  printf 'ps\\npoweroff\\n' | cargo run -- --headless
                                                   no terminal: COM1 is stdin and stdout
  cargo run -- --machine microvm --memory 64M --accel tcg
                                                   another machine
  cargo run -- --agent-socket /tmp/askr.sock       agents connect there
  cargo run -- --no-data-door                      agents have the serial port only
  cargo run -- --disk data.img --throwaway         a disk image that is not changed
  cargo run -- --format-disk                       begin with an empty /disk
  cargo run -- --gdb                               wait for a debugger
  cargo run --features disk-image -- --boot uefi   boot from a disk image; the feature builds a boot loader first
  cargo run --features disk-image -- image out.img write that image, for a real machine

In the terminal: Ctrl-A x quits, Ctrl-A h helps, Ctrl-A Ctrl-A sends Ctrl-A.

Exit status: 0 when the guest powered off, 1 when something failed, 2 for a wrong command line, 128 and the
signal's number after a signal. With --run it is the line's own, or 125 when there is none because something failed.";

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
    pub(crate) data_door: bool,
    pub(crate) headless: bool,
    pub(crate) run: Option<Vec<u8>>,
    pub(crate) disk: Option<PathBuf>,
    pub(crate) throwaway: bool,
    pub(crate) format_disk: bool,
    pub(crate) gdb: bool,
    pub(crate) door: Door,
    /// Write a disk image here, and boot nothing.
    pub(crate) image: Option<PathBuf>,
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
        let to_image = matches.subcommand_matches("image");
        Self {
            image: to_image.and_then(|image| image.get_one("OUT").cloned()),
            door: matches.get_one("boot").copied().unwrap_or_default(),
            with: to_image.unwrap_or(matches).get_many("with").unwrap_or_default().cloned().collect(),
            memory_mib: matches.get_one("memory").copied(),
            model: matches.get_one("machine").copied().unwrap_or_default(),
            accel: matches.get_one("accel").copied().unwrap_or_default(),
            agent,
            data_door: !matches.get_flag("no-data-door"),
            headless: matches.get_flag("headless"),
            run: matches.get_one("run").cloned(),
            disk: matches.get_one("disk").cloned(),
            throwaway: matches.get_flag("throwaway"),
            format_disk: matches.get_flag("format-disk"),
            gdb: matches.get_flag("gdb"),
        }
    }

    /// The machine that these options describe, without its disk.
    pub(crate) fn machine(&self) -> Machine {
        let mut machine = Machine::new().model(self.model).accel(self.accel).door(self.door);
        if let Some(mib) = self.memory_mib {
            machine = machine.memory_mib(mib);
        }
        if let Some(line) = &self.run {
            machine = machine.run(line.clone());
        }
        if self.format_disk {
            machine = machine.word("disk=format");
        }
        // The end of a guest that runs one line is the end of the run. One that was told to make an empty /disk would do so
        // again.
        if self.run.is_none() && !self.format_disk {
            machine = machine.restarts();
        }
        if !self.data_door {
            machine = machine.without_data_door();
        }
        if self.gdb {
            machine = machine.wait_for_debugger();
        }
        self.with.iter().cloned().fold(machine, Machine::with)
    }
}

fn command() -> Command {
    Command::new("askr")
        .bin_name("cargo run --")
        .about("Boots Askr in QEMU, with COM1 on this terminal")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(EXAMPLES)
        .args_conflicts_with_subcommands(true)
        .disable_help_subcommand(true)
        .subcommand(image_command())
        .args([
            option(
                "run",
                "LINE",
                "Runs a line of the guest's shell, prints exactly its output, and exits with its status; stdin of \
                 the line is empty, the kernel's messages go to stderr",
            )
            .value_parser(OsStringValueParser::new().try_map(run_line)),
            with_option(),
            option("memory", "SIZE", "Memory of the guest, such as 64M or 1G [default: 128M]")
                .value_parser(memory),
            option("machine", "KIND", "Kind of PC [default: q35]").value_parser(models()),
            option(
                "boot",
                "HOW",
                "How the kernel gets into the machine; bios and uefi take a disk image and need the feature \
                 disk-image [default: direct]",
            )
            .value_parser(doors()),
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
            flag("no-data-door", "Leaves the fast port for agents out: they have COM2 only"),
            flag(
                "headless",
                "COM1 on stdin and stdout without terminal control; ends when the guest powers off",
            ),
            option(
                "disk",
                "PATH",
                format!(
                    "Disk image of the guest, raw, for /disk; made with {} MiB if it is missing \
                     [default: askr/disk.img in the target folder]",
                    NEW_DISK_SIZE >> 20
                ),
            )
            .value_parser(ValueParser::path_buf()),
            flag("throwaway", "Leaves the disk image as it is: what the guest writes is gone at the end"),
            flag(
                "format-disk",
                "Makes an empty file system on the disk image: what was there is lost. Needed only for an image that \
                 is damaged or was used for something else; a new one needs nothing",
            ),
            flag("gdb", "Does not start the guest until a debugger does; prints the command to attach one"),
        ])
}

fn image_command() -> Command {
    Command::new("image")
        .about("Writes a disk image that PCs boot by BIOS and by UEFI; needs the feature disk-image")
        .args([
            Arg::new("OUT").help("The file to write").required(true).value_parser(ValueParser::path_buf()),
            with_option(),
        ])
}

fn with_option() -> Arg {
    option(
        "with",
        "FILE[:/guest/path]",
        "Puts a file into the guest [default path: /bin/NAME]; may be repeated",
    )
    .action(ArgAction::Append)
    .value_parser(|text: &str| ExtraFile::parse(text))
}

/// Checks the line for `--run`.
fn run_line(line: OsString) -> Result<Vec<u8>, String> {
    if line.len() > RUN_MAX {
        return Err(format!(
            "the line is longer than {RUN_MAX} bytes; bring a script with --with and run that"
        ));
    }
    Ok(line.into_vec())
}

fn option(name: &'static str, value: &'static str, help: impl Into<StyledStr>) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

fn models() -> impl TypedValueParser<Value = Model> {
    choice(&[("q35", Model::Q35), ("pc", Model::Pc), ("microvm", Model::Microvm)])
}

fn doors() -> impl TypedValueParser<Value = Door> {
    choice(&[("direct", Door::Direct), ("bios", Door::Bios), ("uefi", Door::Uefi)])
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
    fn an_image_is_written_or_booted_from() {
        let options = parse("image out.img --with a").unwrap();
        assert_eq!(options.image.as_deref(), Some(std::path::Path::new("out.img")));
        assert_eq!(options.with.len(), 1);
        let options = parse("--boot uefi --with a --with b").unwrap();
        assert_eq!((options.door, options.image, options.with.len()), (Door::Uefi, None, 2));
        assert_eq!(parse("").unwrap().door, Door::Direct);
        for wrong in ["image", "image a b", "--boot floppy", "--memory 64M image a"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
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
        assert!(options.headless && options.data_door);
        assert!(!parse("--no-data-door").unwrap().data_door);
        assert_eq!(parse("--no-agent").unwrap().agent, AgentSocket::Off);
    }

    #[test]
    fn a_line_disks_and_a_debugger_arrive() {
        let words = [
            "askr",
            "--run",
            "echo 'a b' \u{ff}",
            "--disk",
            "d.img",
            "--throwaway",
            "--format-disk",
            "--gdb",
        ];
        let options = Options::parse(words.map(OsString::from)).unwrap();
        assert_eq!(options.run.as_deref(), Some(&b"echo 'a b' \xc3\xbf"[..]));
        assert_eq!(options.disk, Some("d.img".into()));
        assert!(options.throwaway && options.format_disk && options.gdb);
        let raw = [b"askr".to_vec(), b"--run".to_vec(), b"echo \xff".to_vec()];
        let options = Options::parse(raw.map(OsString::from_vec)).unwrap();
        assert_eq!(options.run.as_deref(), Some(&b"echo \xff"[..]));
        let long = |length: usize| Options::parse(["askr".into(), "--run".into(), "x".repeat(length).into()]);
        assert!(long(RUN_MAX).is_ok());
        assert!(long(RUN_MAX + 1).unwrap_err().to_string().contains("longer than 65536 bytes"));
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
    fn every_option_is_in_the_help_and_in_an_example() {
        let help = parse("--help").unwrap_err().to_string();
        for option in command().get_arguments().filter_map(Arg::get_long) {
            assert!(help.contains(&format!("--{option}")), "{option}");
            assert!(EXAMPLES.contains(&format!("--{option}")), "{option}");
        }
    }
}
