//! A guest of this server's own, for when none runs.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use host_bridge::socket;
use rustix::process::{Pid, Signal, kill_process};

/// The program that boots guests, beside this one.
const RUNNER: &str = "askr";
/// Runs its arguments only if this process is still the parent: `setpriv` comes too late for one that died before it.
const EXEC_IF_PARENT_LIVES: &str = r#"parent=$1; shift; [ "$PPID" = "$parent" ] && exec "$@""#;
/// Longest that the runner may take to end.
const END_MAX: Duration = Duration::from_secs(5);
/// Pause between two looks whether it has.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The runner. Dropping it ends the guest.
pub(super) struct OwnGuest {
    runner: Child,
}

impl OwnGuest {
    /// Boots a guest with a hub at this socket, unless a hub is there: then there is none of our own. Must be called on
    /// the main thread: the guest ends with the thread that started it, however that ends (`man 2 prctl`,
    /// PR_SET_PDEATHSIG).
    pub(super) fn boot(hub: &Path, options: &[OsString]) -> Result<Option<Self>, String> {
        if socket::connect(hub).is_ok() {
            return Ok(None);
        }
        let program = std::env::current_exe().map_err(|error| format!("where this program lies: {error}"))?;
        let runner = program.with_file_name(RUNNER);
        if !runner.is_file() {
            let missing = runner.display();
            return Err(format!("--boot: there is no {missing}; `cargo build` in Askr's folder makes it"));
        }
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "TERM", "--", "sh", "-c", EXEC_IF_PARENT_LIVES, "sh"])
            .arg(std::process::id().to_string())
            .arg(runner)
            .args(["--headless", "--agent-socket"])
            .arg(hub)
            .args(options)
            // Nobody types, and stdout is the client's.
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let started = command.spawn().map_err(|error| format!("--boot: setpriv (util-linux): {error}"));
        started.map(|runner| Some(Self { runner }))
    }
}

impl Drop for OwnGuest {
    fn drop(&mut self) {
        // It may have ended by itself, as it does when the guest powers off.
        let _ = kill_process(Pid::from_child(&self.runner), Signal::TERM);
        let give_up = Instant::now() + END_MAX;
        while matches!(self.runner.try_wait(), Ok(None)) && Instant::now() < give_up {
            std::thread::sleep(LOOK_AGAIN);
        }
        let _ = self.runner.kill();
        let _ = self.runner.wait();
    }
}
