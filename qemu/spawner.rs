//! Starts QEMU so that it never outlives this process, not even after SIGKILL.
//!
//! `setpriv --pdeathsig KILL` (util-linux) asks the kernel to kill the child when its parent is gone
//! (`man 2 prctl`, PR_SET_PDEATHSIG). "Parent" means the *thread* that forked, so all children are started by
//! one thread that lives as long as the process.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Sender, SyncSender};
use std::sync::{LazyLock, Mutex};

/// Runs its arguments only if the process that started all this is still the parent: `setpriv` comes too late
/// for a parent that died before it, and the shell's `PPID` tells. No shell syntax in the arguments matters.
const EXEC_IF_PARENT_LIVES: &str = r#"parent=$1; shift; [ "$PPID" = "$parent" ] && exec "$@""#;

struct Order {
    command: Command,
    done: SyncSender<io::Result<Child>>,
}

static SPAWNER: LazyLock<Mutex<Sender<Order>>> = LazyLock::new(|| {
    let (orders, inbox) = mpsc::channel::<Order>();
    std::thread::spawn(move || {
        for mut order in inbox {
            let result = order.command.spawn();
            // Nobody waits any more only if the asking thread panicked; its child is then of no use.
            if let Err(mpsc::SendError(Ok(mut orphan))) = order.done.send(result) {
                let _ = orphan.kill();
                let _ = orphan.wait();
            }
        }
    });
    Mutex::new(orders)
});

/// A command that runs `program` with `arguments`, in its own process group (so that Ctrl-C on the terminal
/// reaches us and not QEMU) and bound to our life.
pub(crate) fn bound_command(program: &PathBuf, arguments: &[OsString]) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL", "--", "sh", "-c", EXEC_IF_PARENT_LIVES, "sh"])
        .arg(std::process::id().to_string())
        .arg(program)
        .args(arguments)
        .process_group(0);
    command
}

/// Starts the command from the thread that lives as long as the process.
pub(crate) fn spawn(command: Command) -> io::Result<Child> {
    let (done, result) = mpsc::sync_channel(1);
    let order = Order { command, done };
    let gone = || io::Error::other("the thread that starts programs is gone");
    let spawner = SPAWNER.lock().map_err(|_| gone())?;
    spawner.send(order).map_err(|_| gone())?;
    drop(spawner);
    result.recv().map_err(|_| gone())?
}

/// The file that running `program` would start, if it is in PATH.
pub(crate) fn find_program(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(is_executable)
}

fn is_executable(file: &PathBuf) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
