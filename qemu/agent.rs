//! The hub for agents, in this process, on the doors to the guest.

use std::io;
use std::path::{Path, PathBuf};

use askr::{Vm, state_dir};
use host_bridge::hub::{Hub, HubConfig};

use crate::args::AgentSocket;

/// Most runs in one checkout that get an agent socket of their own.
const SOCKETS_MAX: u32 = 16;
/// A call that shows a newcomer that it works.
const EXAMPLE: &str = "cargo run -p host-bridge -- call fs.read path=/proc/version";

/// Starts the hub where the options say and, if `announced`, prints one line that tells how to reach it, or COM2 if there is none.
pub(crate) fn start(vm: &Vm, wanted: &AgentSocket, announced: bool) -> Result<Option<Hub>, String> {
    let hub = match wanted {
        AgentSocket::Off => {
            if announced {
                eprintln!("askr: COM2 is at {}, for one client at a time", shown(&vm.com2_path()));
            }
            return Ok(None);
        }
        AgentSocket::At(path) => start_at(vm, path).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => format!("--agent-socket {}: something else is there", path.display()),
            _ => format!("--agent-socket {}: {error}", path.display()),
        })?,
        AgentSocket::Default => start_at_free(vm, state_dir())?,
    };
    if announced {
        eprintln!("{}", announcement(hub.socket(), hub.socket() == socket(state_dir(), 1)));
    }
    Ok(Some(hub))
}

fn start_at(vm: &Vm, path: &Path) -> io::Result<Hub> {
    Hub::start(HubConfig { com2: vm.com2_path(), data: vm.data_path(), socket: path.to_owned(), agent: true })
}

/// The first socket in `folder` that no other run has.
fn start_at_free(vm: &Vm, folder: &Path) -> Result<Hub, String> {
    for number in 1..=SOCKETS_MAX {
        let path = socket(folder, number);
        match start_at(vm, &path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(format!("agent socket {}: {error}", path.display())),
            Ok(hub) => return Ok(hub),
        }
    }
    let folder = folder.display();
    Err(format!(
        "{SOCKETS_MAX} runs of this checkout have an agent socket in {folder}; use --agent-socket PATH"
    ))
}

/// `agent.sock`, `agent-2.sock`, …
fn socket(folder: &Path, number: u32) -> PathBuf {
    folder.join(if number == 1 { "agent.sock".to_owned() } else { format!("agent-{number}.sock") })
}

/// A path as somebody in this folder would write it.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

/// Clients find the first default socket by themselves.
fn announcement(socket: &Path, found_by_default: bool) -> String {
    let setting =
        if found_by_default { String::new() } else { format!("ASKR_SOCKET='{}' ", socket.display()) };
    format!("askr: agents connect at {}; try in another terminal: {setting}{EXAMPLE}", shown(socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_of_further_runs_are_numbered() {
        assert_eq!(socket(Path::new("/t"), 1), Path::new("/t/agent.sock"));
        assert_eq!(socket(Path::new("/t"), 2), Path::new("/t/agent-2.sock"));
    }

    #[test]
    fn another_socket_is_told_with_the_setting_that_reaches_it() {
        let default = announcement(Path::new("/t/agent.sock"), true);
        assert!(default.contains("/t/agent.sock") && !default.contains("ASKR_SOCKET"), "{default}");
        let second = announcement(Path::new("/t/agent-2.sock"), false);
        assert!(second.contains("ASKR_SOCKET='/t/agent-2.sock' cargo run -p host-bridge"), "{second}");
    }
}
