//! `qemu/setup.sh`: says what it would do on both roads, falls back from rustup to Debian, and does nothing twice.
//! The programs that would change the machine are stubs here.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A toolchain that gets complete when rustup is told to use Debian's. It writes down what it was told.
const RUSTUP: &str = r#"#!/bin/sh
echo "rustup $*" >> "$STUBS/log"
case "$1 $2" in
"toolchain install") exit "$INSTALL_STATUS" ;;
"override set") mkdir -p "$STUBS/root/bin" "$STUBS/root/lib/rustlib/x86_64-unknown-none/lib"
    for tool in cargo cargo-clippy rustfmt; do ln -s /bin/true "$STUBS/root/bin/$tool"; done ;;
esac
"#;
const RUSTC: &str = r#"#!/bin/sh
case "$1" in --version) echo "rustc 1.96.0 (stub)" ;; --print) echo "$STUBS/root" ;; esac
"#;
const APT_GET: &str = "#!/bin/sh\necho \"apt-get $*\" >> \"$STUBS/log\"\n";
const DPKG_QUERY_ALL: &str = "#!/bin/sh\nprintf installed\n";
const DPKG_QUERY_NONE: &str = "#!/bin/sh\nexit 1\n";

/// The script with stubs in front of the programs of the machine.
struct Setup(TempDir);

impl Setup {
    fn new(dpkg_query: &str) -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        for (name, script) in [
            ("rustup", RUSTUP),
            ("rustc", RUSTC),
            ("cargo", "#!/bin/sh\n"),
            ("apt-get", APT_GET),
            // Root needs no sudo, others have this one.
            ("sudo", "#!/bin/sh\n\"$@\"\n"),
            ("dpkg-query", dpkg_query),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, script).expect("stub");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("stub");
        }
        Self(folder)
    }

    fn run(&self, install_status: u8, arguments: &[&str]) -> Output {
        let mut path = self.0.path().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").expect("PATH"));
        let mut script = script();
        script.args(arguments).env("PATH", path).env("STUBS", self.0.path());
        script.env("INSTALL_STATUS", install_status.to_string());
        // Without toolchains, and not those of whoever runs this.
        script.env("RUSTUP_HOME", self.0.path().join("no toolchains")).output().expect("the script")
    }

    /// What the stubs were told, without questions.
    fn log(&self) -> String {
        let log = fs::read_to_string(self.0.path().join("log")).unwrap_or_default();
        log.lines().filter(|line| !line.contains(" show ")).fold(String::new(), |all, line| all + line + "\n")
    }
}

fn script() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("qemu/setup.sh"))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn with_nothing_missing_it_does_and_says_nothing() {
    // What built this test has everything.
    let output = script().output().expect("the script");
    assert!(output.status.success() && text(&output).is_empty(), "{}", text(&output));
}

#[test]
fn the_road_of_rustup_names_the_toolchain_and_its_parts() {
    let setup = Setup::new(DPKG_QUERY_NONE);
    let output = setup.run(0, &["--dry-run", "--road", "rustup"]);
    let expected = "would run: rustup toolchain install 1.96.0 --no-self-update --profile minimal --component \
                    rust-src,llvm-tools,clippy,rustfmt --target x86_64-unknown-none\n";
    assert!(output.status.success() && text(&output).contains(expected), "{}", text(&output));
    assert_eq!(setup.log(), "");
}

#[test]
fn the_road_of_debian_names_the_packages_and_the_link() {
    let setup = Setup::new(DPKG_QUERY_NONE);
    let output = setup.run(0, &["--dry-run", "--road", "debian"]);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    for package in [
        "rustc-web",
        "cargo-web",
        "rust-web-src",
        "rust-web-clippy",
        "rustfmt-web",
        "rust-web-llvm",
        "lld-22",
    ] {
        assert!(said.contains(&format!(" {package}")), "{package}: {said}");
    }
    for command in
        ["apt-get install", "rustup toolchain link askr-debian /usr", "rustup override set askr-debian"]
    {
        let is_shown = said.lines().any(|line| line.contains("would run: ") && line.contains(command));
        assert!(is_shown, "{command}: {said}");
    }
    assert_eq!(setup.log(), "");
}

#[test]
fn rustup_is_taken_where_it_can_fetch() {
    let setup = Setup::new(DPKG_QUERY_NONE);
    setup.run(0, &[]);
    let log = setup.log();
    assert!(log.starts_with("rustup toolchain install 1.96.0 ") && log.lines().count() == 1, "{log}");
}

#[test]
fn debian_is_taken_where_rustup_can_not_fetch() {
    for (dpkg_query, installs) in [(DPKG_QUERY_ALL, 0), (DPKG_QUERY_NONE, 1)] {
        let setup = Setup::new(dpkg_query);
        let output = setup.run(1, &[]);
        let said = text(&output);
        assert!(output.status.success() && said.contains("rustup can't fetch it"), "{said}");
        let log = setup.log();
        assert_eq!(log.matches("apt-get install").count(), installs, "{log}");
        let end = "rustup toolchain link askr-debian /usr\nrustup override set askr-debian\n";
        assert!(log.ends_with(end), "{log}");
        // The second time everything is there.
        let again = setup.run(1, &[]);
        assert!(again.status.success() && text(&again).is_empty(), "{}", text(&again));
        assert_eq!(setup.log(), log);
    }
}

#[test]
fn what_reads_captures_is_installed_where_it_is_wanted_and_missing() {
    let setup = Setup::new(DPKG_QUERY_NONE);
    let is_here = Command::new("tshark").arg("--version").output().is_ok();
    let said = text(&setup.run(0, &["--dry-run", "--road", "rustup", "--capture"]));
    assert_eq!(said.contains(" tshark"), !is_here, "{said}");
    assert!(!said.contains("unknown argument"), "{said}");
    assert!(!text(&setup.run(0, &["--dry-run", "--road", "rustup"])).contains("tshark"));
}

#[test]
fn a_wrong_word_is_told() {
    for (arguments, part) in [
        (&["--road", "mars"][..], "rustup or debian, not mars"),
        (&["--road"], "needs a word"),
        (&["-x"], "-x"),
    ] {
        let output = script().args(arguments).output().expect("the script");
        assert!(!output.status.success());
        assert!(text(&output).lines().count() == 1 && text(&output).contains(part), "{}", text(&output));
    }
}
