//! A client that sees every line.
#![allow(clippy::needless_pass_by_value, reason = "calls are easier to read with json!() in place")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::guest::PATIENCE;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_askr-bridge");

/// The program with a conversation under way.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    next_id: u64,
    /// What came before the response that was waited for.
    pub(crate) seen: Vec<Value>,
}

impl Client {
    /// Starts the program and says nothing.
    pub(crate) fn silent(socket: &Path) -> Self {
        Self::of(Command::new(PROGRAM).arg("mcp").env("ASKR_SOCKET", socket))
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                let line = line.unwrap();
                let message: Value =
                    serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
                assert_eq!(message["jsonrpc"], "2.0", "no JSON-RPC: {line}");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, lines, next_id: 0, seen: Vec::new() }
    }

    /// Starts the program and opens a session as clients before 2026 do.
    pub(crate) fn start(socket: &Path) -> Self {
        Self::able(socket, json!({}))
    }

    /// The same, with a client that has told what it can do.
    pub(crate) fn able(socket: &Path, capabilities: Value) -> Self {
        Self::silent(socket).opened(capabilities)
    }

    /// The same with a program that lies elsewhere, and that is told no socket.
    pub(crate) fn elsewhere(program: &Path) -> Self {
        Self::of(Command::new(program).arg("mcp").env_remove("ASKR_SOCKET")).opened(json!({}))
    }

    fn opened(self, capabilities: Value) -> Self {
        let mut client = self;
        let who = json!({ "name": "test", "version": "1" });
        let opening =
            json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": who });
        client.request("initialize", opening).unwrap();
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and gives its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }));
        self.next_id
    }

    /// Begins the call of a tool.
    pub(crate) fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The next message; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(message) => Some(message),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("waited in vain; before that: {:?}", self.seen),
        }
    }

    /// Waits for the response to a request.
    pub(crate) fn response(&mut self, id: u64) -> Result<Value, Value> {
        outcome(self.find(|message| message["id"] == id && message.get("method").is_none()))
    }

    /// Waits for a request or notification of the server's.
    pub(crate) fn told(&mut self, method: &str) -> Value {
        self.find(|message| message["method"] == method)
    }

    /// The first message that `is_it`, of those that came and those that come.
    fn find(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.seen.iter().position(&is_it) {
            return self.seen.remove(at);
        }
        loop {
            let message = self.next().expect("the program ended");
            if is_it(&message) {
                return message;
            }
            self.seen.push(message);
        }
    }

    /// Responds to a request of the server's.
    pub(crate) fn respond(&mut self, request: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.begin(method, params);
        self.response(id)
    }

    /// Calls a tool: the structured content, or the error that the model sees.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let id = self.begin_call(tool, arguments);
        self.finish_call(id)
    }

    pub(crate) fn finish_call(&mut self, id: u64) -> Result<Value, Value> {
        let result = self.response(id).expect("a tool's failure is a result");
        let text = result["content"][0]["text"].as_str().expect("a text block");
        let same: Value = serde_json::from_str(text).expect("JSON in the text block");
        if result["isError"] == true {
            assert_eq!(result.get("structuredContent"), None, "{result}");
            for field in ["code", "message", "hint"] {
                assert!(same[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {same}");
            }
            return Err(same);
        }
        assert_eq!(result["structuredContent"], same);
        Ok(same)
    }

    /// The error code of a call that must fail.
    pub(crate) fn code(&mut self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).unwrap_err()["code"].as_str().unwrap().to_owned()
    }

    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn wait_for_end(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "the program does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

fn outcome(message: Value) -> Result<Value, Value> {
    match message.get("error") {
        Some(error) => Err(error.clone()),
        None => Ok(message["result"].clone()),
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
