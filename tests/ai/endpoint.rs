//! A scripted endpoint for chat completions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{Value, json};

use crate::common::PATIENCE;

/// What the endpoint does with a request.
pub(crate) enum Reply {
    /// Answers with this text of the model.
    Says(String),
    /// Answers with this status and body.
    Http(&'static str, String),
    /// Takes the request and never answers.
    Silence,
}

/// An endpoint that serves one request after the other as it was told.
pub(crate) struct Endpoint {
    pub(crate) port: u16,
    requests: Receiver<(String, Value)>,
    hung_up: Receiver<()>,
}

impl Endpoint {
    /// Serves these; then it is gone.
    pub(crate) fn new(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = mpsc::channel();
        let (hangs_up, hung_up) = mpsc::channel();
        thread::spawn(move || serve(&listener, replies, &sender, &hangs_up));
        Self { port, requests, hung_up }
    }

    /// Waits until a connection that gets no answer is closed.
    pub(crate) fn expect_hangup(&self) {
        self.hung_up.recv_timeout(PATIENCE).unwrap();
    }

    /// The head and the body of the next request.
    pub(crate) fn request(&self) -> (String, Value) {
        self.requests.recv_timeout(PATIENCE).unwrap()
    }

    /// What the model was told in the next request.
    pub(crate) fn told(&self) -> String {
        told(&self.request().1)
    }
}

/// What the model was told in this body, after the examples.
pub(crate) fn told(body: &Value) -> String {
    let message = body["messages"].as_array().unwrap().last().unwrap();
    message["content"].as_str().unwrap().to_owned()
}

fn serve(
    listener: &TcpListener,
    replies: Vec<Reply>,
    requests: &mpsc::Sender<(String, Value)>,
    hangs_up: &mpsc::Sender<()>,
) {
    for reply in replies {
        let Ok((mut stream, _)) = listener.accept() else { return };
        let Some(request) = receive(&stream) else { continue };
        let (status, body) = match reply {
            Reply::Says(text) => (
                "200 OK",
                json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] }).to_string(),
            ),
            Reply::Http(status, body) => (status, body),
            Reply::Silence => {
                let _ = requests.send(request);
                let hangs_up = hangs_up.clone();
                thread::spawn(move || stream.read(&mut [0]).map(|_| hangs_up.send(())));
                continue;
            }
        };
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        let _ = stream.write_all((head + &body).as_bytes());
        let _ = requests.send(request);
    }
}

/// The head and the body of a request; `None` if the other side went away first.
pub(crate) fn receive_bytes(stream: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}

fn receive(stream: &TcpStream) -> Option<(String, Value)> {
    let (head, body) = receive_bytes(stream)?;
    Some((head, serde_json::from_slice(&body).ok()?))
}
