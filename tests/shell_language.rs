//! The language of the shell: `tests/scripts` print in the guest what they print in Debian's `dash` on this host.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the scripts are in the guest, and where each works: a folder of its own with a tree of names.
const GUEST: &str = "/scripts";
/// Files of that tree, all empty.
const TREE: [&str; 3] = ["tree/dir/one", "tree/dir/sub/two", "tree/lib/one"];

/// The scripts, in the order of their names.
fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut scripts: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    assert!(scripts.len() > 5);
    scripts
}

fn name(script: &Path) -> &str {
    script.file_stem().unwrap().to_str().unwrap()
}

/// What `dash` prints on standard output, and its exit status.
fn expected(dash: &Path, script: &Path) -> String {
    let work = tempfile::tempdir().unwrap();
    for file in TREE {
        let path = work.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    // The scripts call `sh` too.
    let bin = work.path().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(dash, bin.join("sh")).unwrap();
    let output = Command::new(dash)
        .arg(script)
        .arg(work.path())
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).replace(work.path().to_str().unwrap(), "WORK");
    format!("{printed}status {}\n", output.status.code().unwrap())
}

/// What the guest prints for all scripts, each behind a line `== NAME`.
fn guest(scripts: &[PathBuf]) -> String {
    let mut runner = Command::new(env!("CARGO_BIN_EXE_askr"));
    runner.args(["--accel", "tcg", "--throwaway", "--no-agent"]);
    let empty = tempfile::NamedTempFile::new().unwrap();
    let mut line = String::from("cd /; ");
    for script in scripts {
        let name = name(script);
        runner.arg("--with").arg(format!("{}:{GUEST}/{name}.sh", script.display()));
        for file in TREE {
            runner.arg("--with").arg(format!("{}:{GUEST}/{name}/{file}", empty.path().display()));
        }
        line +=
            &format!("echo '== {name}'; sh {GUEST}/{name}.sh {GUEST}/{name} 2>/dev/null; echo status $?; ");
    }
    let output = runner.arg("--run").arg(line).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_scripts_print_what_dash_prints() {
    let found = ["/bin/dash", "/usr/bin/dash"].map(Path::new).into_iter().find(|path| path.exists());
    let Some(dash) = found else {
        eprintln!("skipped: there is no dash on this host to compare with");
        return;
    };
    let scripts = scripts();
    let output = guest(&scripts);
    let mut parts = output.split("== ").skip(1);
    for script in &scripts {
        let name = name(script);
        let part = parts.next().unwrap_or_else(|| panic!("nothing for {name}:\n{output}"));
        let printed = part.strip_prefix(&format!("{name}\n")).unwrap_or_else(|| panic!("not {name}: {part}"));
        let printed = printed.replace(&format!("{GUEST}/{name}"), "WORK");
        let expected = expected(dash, script);
        for (index, (ours, theirs)) in printed.lines().zip(expected.lines()).enumerate() {
            assert_eq!(ours, theirs, "{name}, line {} of the output", index + 1);
        }
        assert_eq!(printed, expected, "{name}");
    }
}
