//! The bridge on a line that others use before it and between.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use askr_wire::{FrameType, code};
use host_bridge::hub::Hub;
use host_bridge::link::{Connect, Stream};
use host_bridge::socket;
use serde_json::{Value, json};

use crate::common::peer::{Peer, frame};
use crate::common::{PATIENCE, bridge};
use crate::{GUEST, newcomer, reads, write};

/// How often the line is taken away from the bridge.
const TIMES: usize = 4;

/// The line to COM2, and the connection that a hub has.
#[derive(Clone)]
struct Line {
    com2: PathBuf,
    current: Arc<Mutex<Option<UnixStream>>>,
}

impl Line {
    /// What a hub connects with.
    fn connect(&self) -> Connect {
        let line = self.clone();
        Box::new(move || {
            let mut current = line.current.lock().unwrap();
            let stream = socket::connect(&line.com2)?;
            *current = Some(stream.try_clone()?);
            Stream::try_from(stream)
        })
    }

    /// Cuts the hub off. It comes back when `meanwhile` is over.
    fn cut(&self, meanwhile: impl FnOnce()) {
        let mut current = self.current.lock().unwrap();
        current.take().expect("the hub has been connected").shutdown(Shutdown::Both).unwrap();
        meanwhile();
    }
}

#[track_caller]
fn call(socket: &Path, request: Value) -> Value {
    let shown = request.to_string();
    bridge::call(socket, request).unwrap_or_else(|code| panic!("{shown}: {code}"))
}

/// Appends a line over the bridge, and reads what it appended so far.
fn append(socket: &Path, expected: &mut String) {
    let line = format!("{}\n", expected.len());
    let write = json!({ "op": "fs.write", "path": "/bridge", "content": line, "mode": "append" });
    assert_eq!(call(socket, write)["written"], line.len());
    *expected += &line;
    let read = call(socket, json!({ "op": "fs.read", "path": "/bridge" }));
    assert_eq!(read["content"].as_str(), Some(expected.as_str()));
    assert_eq!(call(socket, json!({ "op": "fs.stat", "path": "/bridge" }))["size"], expected.len());
}

#[test]
fn the_bridge_takes_no_answer_of_another_client_and_does_all_once() {
    let mut askr = GUEST.take();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sock");
    let line = Line { com2: askr.vm().com2_path(), current: Arc::default() };
    let mut expected = String::new();
    for _ in 0..2 {
        // A bridge of its own each time, and the same one after others had the line.
        let hub = Hub::start_on(line.connect(), &path, false).unwrap();
        hub.wait_ready(PATIENCE).unwrap();
        append(&path, &mut expected);
        for time in 0..TIMES {
            line.cut(|| {
                // Another one in a session of its own, with the numbers and verbs that the bridge uses, or a base peer;
                // its answers are left on the line. Or nobody: then the bridge goes on in its session.
                match time % 3 {
                    0 => {
                        let (peer, session) = newcomer(askr.vm());
                        peer.send_raw(&reads(Some(session)));
                        let write = write("/bridge-not", b"another one");
                        peer.send_raw(
                            &frame(FrameType::Request, 9, code::WRITE, Some(session), &write)[..30],
                        );
                    }
                    1 => Peer::connect(askr.vm()).send_raw(&reads(None)),
                    _ => {}
                }
            });
            append(&path, &mut expected);
        }
    }
    assert_eq!(askr.run("cat /bridge"), expected.replace('\n', "\r\n"));
}
