//! When something is shown on a console.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

/// Reads this console until its end, and tells when it has shown `text`: nothing if it never does.
pub(crate) fn for_text(mut console: UnixStream, text: &str) -> Receiver<Instant> {
    let (told, when) = mpsc::channel();
    let text = text.as_bytes().to_vec();
    thread::spawn(move || {
        let (mut shown, mut piece, mut told) = (Vec::new(), [0; 4096], Some(told));
        while let Ok(count @ 1..) = console.read(&mut piece) {
            let now = Instant::now();
            if told.is_none() {
                continue;
            }
            shown.extend_from_slice(&piece[..count]);
            if shown.windows(text.len()).any(|window| window == text)
                && let Some(told) = told.take()
            {
                // Nobody waits any more: then nobody is told.
                let _ = told.send(now);
            }
        }
    });
    when
}
