//! Python packages for tests with clients that others wrote.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use askr::state_dir;

/// Runs a command to its end: what it said on stdout, or all that it said.
pub(crate) fn output_of(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    Err(format!("{command:?}: {}\n{said}{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

/// The Python of this machine, or `None` after a line that says why a test is skipped. CI has one.
pub(crate) fn interpreter() -> Option<&'static str> {
    const PYTHON: &str = "python3";
    match output_of(Command::new(PYTHON).arg("--version")) {
        Ok(_) => Some(PYTHON),
        Err(error) if std::env::var_os("CI").is_none() => {
            eprintln!("SKIPPED: no Python: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The Python of an environment `name` in the target folder with what the file `requirements` lists, or `None` after a
/// line that says why a test is skipped: somebody's own machine may have no network. CI has what it takes. `options` are
/// pip's.
pub(crate) fn environment(name: &str, requirements: &str, options: &[&str]) -> Option<PathBuf> {
    match install(name, requirements, options) {
        Ok(python) => Some(python),
        Err(error) if std::env::var_os("CI").is_none() => {
            eprintln!("SKIPPED: {name} cannot be installed: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Made on first use, and again when the requirements change; by one test at a time.
fn install(name: &str, requirements: &str, options: &[&str]) -> Result<PathBuf, String> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = state_dir().join(name);
    let (python, complete) = (folder.join("bin/python"), folder.join("requirements.txt"));
    let wanted = fs::read_to_string(requirements).unwrap();
    if fs::read_to_string(&complete).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    output_of(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements];
    output_of(Command::new(&python).args(pip).args(options))?;
    fs::write(complete, wanted).unwrap();
    Ok(python)
}
