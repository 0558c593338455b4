//! `askr-bridge hub`: a hub of its own.

use std::fs;
use std::path::PathBuf;

use clap::ArgMatches;
use host_bridge::client::{SOCKET_IN_TARGET, socket_from_environment};
use host_bridge::{Hub, HubConfig};

use crate::exit::{Exit, Failure};

pub(super) fn run(socket: Option<PathBuf>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let com2 = matches.get_one::<PathBuf>("com2").cloned().unwrap_or_default();
    let data = matches.get_one::<PathBuf>("data").cloned();
    let socket = socket_to_listen_at(socket)?;
    let agent = !matches.get_flag("no-agent");
    let hub = Hub::start(HubConfig { com2, data, socket: socket.clone(), agent })
        .map_err(|error| format!("cannot listen at {}: {error}", socket.display()))?;
    println!("agents connect to {}", hub.socket().display());
    loop {
        // The hub works on its own threads until this process is ended.
        std::thread::park();
    }
}

/// Where a hub listens: the socket named, else the one in the environment, else the default.
pub(crate) fn socket_to_listen_at(named: Option<PathBuf>) -> Result<PathBuf, String> {
    named.or_else(socket_from_environment).map_or_else(default_socket, Ok)
}

/// `askr/agent.sock` in the target folder that this program lies in (`target/debug/askr-bridge`).
fn default_socket() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("where this program lies: {error}"))?;
    let target = program.ancestors().nth(2).ok_or("this program lies in no folder; use --socket")?;
    let socket = target.join(SOCKET_IN_TARGET);
    if let Some(folder) = socket.parent() {
        fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    }
    Ok(socket)
}
