//! What the shells make of `askr-bridge completions`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Lines up to the cursor, and the words that are offered for the last one; `…` for more than are listed.
const LINES: [(&str, &[&str]); 7] = [
    ("askr-bridge wat", &["watch"]),
    ("askr-bridge call fs.re", &["fs.read", "fs.remove", "fs.rename"]),
    ("askr-bridge call --json fs.rea", &["fs.read"]),
    ("askr-bridge call fs.read o", &["offset="]),
    ("askr-bridge call fs.read path=/x l", &["length="]),
    ("askr-bridge call --json ask.answer a", &["answer=", "ask="]),
    ("askr-bridge watch --s", &["--since-boot", "--socket", "--stats"]),
];

/// Completes `$1` with bash's own machinery, as far as it works without a terminal.
const IN_BASH: &str = r#"
compopt() { :; }
source "$SCRIPT"
read -ra COMP_WORDS <<< "$1"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
registered=$(complete -p askr-bridge)
function=${registered#*-F }
${function%% *} askr-bridge "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// Completes `$1` in a terminal of its own, up to the list that the second tab shows, or the word that the first puts in.
const IN_ZSH: &str = r#"
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1='ready> '; fpath=($FOLDER \$fpath); autoload -U compinit; compinit -u -D; LISTMAX=999; unsetopt list_beep"
zpty -r -m shell out '*ready> *ready> *'
zpty -w -n shell "$1"$'\t\t'
zpty -w shell $'\x01echo "\x05"; echo do""ne'
zpty -r -m shell out '*done*'
print -r -- "$out"
"#;

struct Shell {
    name: &'static str,
    folder: TempDir,
}

impl Shell {
    /// `None` after a line that says why a test is skipped. CI has all of them.
    fn new(name: &'static str) -> Option<Self> {
        let missing = Command::new(name).arg("--version").stdout(Stdio::null()).status().err();
        match missing {
            Some(error) if std::env::var_os("CI").is_none() => {
                eprintln!("SKIPPED: no {name}: {error}");
                return None;
            }
            missing => assert!(missing.is_none(), "{name}: {missing:?}"),
        }
        let shell = Self { name, folder: tempfile::tempdir().unwrap() };
        let mut program = Command::new(env!("CARGO_BIN_EXE_askr-bridge"));
        let output = program.args(["completions", name]).output().unwrap();
        assert!(output.status.success());
        fs::write(shell.script(), output.stdout).unwrap();
        Some(shell)
    }

    /// zsh finds it by this name.
    fn script(&self) -> PathBuf {
        self.folder.path().join("_askr-bridge")
    }

    fn run(&self, words: &[&str]) -> String {
        let mut command = Command::new(self.name);
        command
            .env("SCRIPT", self.script())
            .env("FOLDER", self.folder.path())
            .env("HOME", self.folder.path());
        let output = command.args(words).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Words of what a shell printed, without descriptions.
fn offered(said: &str) -> Vec<&str> {
    let mut words: Vec<_> = said.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect();
    words.sort_unstable();
    words
}

#[test]
fn bash_completes_commands_operations_and_fields() {
    let Some(bash) = Shell::new("bash") else { return };
    for (line, words) in LINES {
        let said = bash.run(&["--norc", "-c", IN_BASH, "bash", line]);
        assert_eq!(offered(&said), words, "{line}");
    }
}

#[test]
fn fish_completes_commands_operations_and_fields() {
    let Some(fish) = Shell::new("fish") else { return };
    for (line, words) in LINES {
        let said = fish.run(&["--no-config", "-c", &format!("source $SCRIPT; complete -C '{line}'")]);
        assert_eq!(offered(&said), words, "{line}");
    }
}

#[test]
fn zsh_completes_commands_operations_and_fields() {
    let Some(zsh) = Shell::new("zsh") else { return };
    for (line, words) in LINES {
        let said = zsh.run(&["-f", "-c", IN_ZSH, "zsh", line]);
        for word in words {
            assert!(said.contains(word), "{line}: no {word} in {said:?}");
        }
    }
}
