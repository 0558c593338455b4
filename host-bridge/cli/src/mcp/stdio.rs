//! JSON-RPC on stdin and stdout, and nothing else on stdout.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::Stdin;
use tokio_util::sync::CancellationToken;

/// Takes stdout for the protocol. Whatever else this program prints, a panic included, goes to stderr from now on.
pub(super) fn claim_stdout() -> io::Result<File> {
    let ours = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(File::from(ours))
}

/// The client's end of the line.
pub(super) struct Wire {
    lines: AsyncRwTransport<RoleServer, Stdin, tokio::fs::File>,
    /// Cancelled once the client is gone: it closed our stdin, or does not take what we write.
    gone: CancellationToken,
    /// The conversation has begun.
    begun: bool,
}

impl Wire {
    pub(super) fn new(stdout: File, gone: CancellationToken) -> Self {
        let lines = AsyncRwTransport::new(tokio::io::stdin(), tokio::fs::File::from_std(stdout));
        Self { lines, gone, begun: false }
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (sending, gone) = (self.lines.send(item), self.gone.clone());
        async move { sending.await.inspect_err(|_| gone.cancel()) }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = tokio::select! {
                message = self.lines.receive() => message,
                () = self.gone.cancelled() => None,
            };
            let Some(mut message) = message else {
                self.gone.cancel();
                return None;
            };
            self.begun |= begins(&mut message);
            // The library ends the server at a notification that comes before any conversation, such as the
            // cancellation of a probe.
            if self.begun || matches!(message, JsonRpcMessage::Request(_)) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close().await
    }
}

/// Whether a conversation begins with this message: by `initialize`, or by a request that carries all of the
/// metadata that takes its place since 2026-07-28.
fn begins(message: &mut RxJsonRpcMessage<RoleServer>) -> bool {
    let JsonRpcMessage::Request(message) = message else { return false };
    match &mut message.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, exit};

    use super::*;

    /// Set where this test runs in a process of its own.
    const INSIDE: &str = "ASKR_TEST_CLAIMS_STDOUT";

    #[test]
    fn nothing_else_reaches_stdout_not_even_a_panic() {
        if std::env::var_os(INSIDE).is_some() {
            let mut ours = claim_stdout().unwrap();
            println!("a stray line");
            std::thread::spawn(|| panic!("a stray panic")).join().unwrap_err();
            ours.write_all(b"the protocol\n").unwrap();
            exit(0);
        }
        let mut inside = Command::new(std::env::current_exe().unwrap());
        inside.args([
            "--exact",
            "mcp::stdio::tests::nothing_else_reaches_stdout_not_even_a_panic",
            "--nocapture",
        ]);
        let output = inside.env(INSIDE, "1").output().unwrap();
        let (out, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{errors}");
        assert!(out.contains("the protocol\n") && !out.contains("stray"), "{out}");
        assert!(errors.contains("a stray line") && errors.contains("a stray panic"), "{errors}");
    }
}
