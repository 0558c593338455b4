//! The thread that follows the hub's lines, over one connection after the other.

use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use host_bridge::client::HubClient;
use serde_json::{Value, json};

use super::feed::Feed;
use super::{Message, socket};
use crate::waiting::Waiting;

/// Pause before a hub is looked for again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Follows until nobody listens any more.
pub(super) fn run(named: &Option<PathBuf>, since_boot: bool, messages: &SyncSender<Message>) {
    let mut feed = Feed::new(since_boot);
    let mut waiting = Waiting::default();
    loop {
        let Ok(end) = follow(named, &mut feed, messages) else { return };
        let is_news = feed.was_connected() || waiting.is_news(&end.why, end.is_absent);
        if feed.was_connected() {
            waiting.lost();
        }
        let line = json!({ "hub": { "connected": false, "reason": end.why } });
        if is_news && messages.send(Message::Lines(vec![line])).is_err() {
            return;
        }
        feed.disconnected();
        thread::sleep(LOOK_AGAIN);
    }
}

/// The main thread has ended.
struct NobodyListens;

/// Why a connection ended, or why there is none.
struct End {
    why: String,
    /// Nobody listens.
    is_absent: bool,
}

impl From<String> for End {
    fn from(why: String) -> Self {
        Self { why, is_absent: false }
    }
}

/// One connection, to its end.
fn follow(
    named: &Option<PathBuf>,
    feed: &mut Feed,
    messages: &SyncSender<Message>,
) -> Result<End, NobodyListens> {
    let opened = socket(named).and_then(|path| {
        let hub = HubClient::connect(&path).map_err(|error| error.to_string())?;
        Ok((hub, path))
    });
    let (mut hub, path) = match opened {
        Ok(opened) => opened,
        Err(why) => return Ok(End { why, is_absent: true }),
    };
    // The hub may turn us away with a line and close before this is written: then the line says why.
    let _ = hub.send(feed.hello().to_string().as_bytes());
    loop {
        let line: Value = match hub.receive() {
            Ok(Some(line)) => match serde_json::from_str(&line) {
                Ok(line) => line,
                Err(_) => {
                    let why = "its line is no JSON; are hub and askr-bridge of different versions?";
                    return Ok(why.to_owned().into());
                }
            },
            Ok(None) => {
                return Ok("the hub has ended, or it ended the connection".to_owned().into());
            }
            Err(error) => return Ok(error.to_string().into()),
        };
        let news = match feed.line(&path, line) {
            Ok(news) => news,
            Err(why) => return Ok(why.into()),
        };
        if !news.lines.is_empty() && messages.send(Message::Lines(news.lines)).is_err() {
            return Err(NobodyListens);
        }
        // A hub that is gone is noticed by the next read.
        let _ = news.request.map(|request| hub.send(request.to_string().as_bytes()));
    }
}
