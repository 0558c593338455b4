//! `askr-bridge mcp`: the guest as tools of a Model Context Protocol server on stdin and stdout.
//!
//! [`stdio`] is the wire, [`server`] what is offered, [`call`] one call under way, [`tools`] what they do. To the
//! hub this is one more client of `docs/host.md`, with a connection for each call: it needs no guest to start, and
//! knows of none between two calls. `docs/mcp.md` is the contract for MCP clients.

mod boot;
mod call;
mod error;
mod guests;
mod page;
mod person;
mod prompts;
mod resources;
mod rounds;
mod schema;
mod server;
mod stdio;
mod tools;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use rmcp::service::{ServerInitializeError, serve_server};
use tokio::runtime;
use tokio_util::sync::CancellationToken;

use boot::OwnGuest;
use guests::Guests;
use server::Server;
use stdio::Wire;

use crate::exit::{Exit, Failure};
use crate::serve::socket_to_listen_at;
use crate::text;

/// Serves until the client is gone. With `boot`, options for the runner, there is a guest meanwhile.
pub(super) fn run(socket: Option<PathBuf>, boot: Option<&[OsString]>) -> Result<Exit, Failure> {
    if io::stdin().is_terminal() {
        eprintln!("askr-bridge: stdin is for JSON-RPC of an MCP client; docs/mcp.md tells how to set one up");
    }
    let stdout = stdio::claim_stdout().map_err(|error| format!("stdout: {error}"))?;
    let (socket, _guest) = match boot {
        None => (socket, None),
        Some(options) => {
            let socket = socket_to_listen_at(socket)?;
            let guest = OwnGuest::boot(&socket, options)?;
            (Some(socket), guest)
        }
    };
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let result = runtime.block_on(serve(stdout, Guests::new(socket)));
    // A read of stdin may be under way on a thread of its own, and it cannot be ended.
    runtime.shutdown_background();
    tools::end_jobs();
    result?;
    Ok(Exit::Done)
}

async fn serve(stdout: std::fs::File, guests: Guests) -> Result<(), String> {
    let gone = CancellationToken::new();
    let wire = Wire::new(stdout, gone.clone());
    match serve_server(Server::new(guests, gone), wire).await {
        Ok(running) => {
            running.waiting().await.map(|_| ()).map_err(|error| format!("the server ended: {error}"))
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(format!("no MCP client: {error}")),
    }
}
