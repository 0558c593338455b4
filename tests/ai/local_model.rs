//! A real language model on this machine, from the shell to the model and back: SmolLM2 135M, served by llama.cpp.
//!
//! It is small, so nothing here depends on how good its plans are: only on that they are plans, or are refused, and on what the
//! guest makes of them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::common::python;
use crate::common::shell::Askr;
use crate::endpoint::{receive_bytes, told};
use crate::model::guest;

const REQUIREMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ai/requirements.txt");
const SERVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ai/serve.py");

/// Longest that the model may take: as long as `ai config timeout_ms` can say. It takes seconds where nobody else computes.
const THINKING: Duration = Duration::from_secs(600);

/// What the model is asked, one after the other, until it has made plans enough.
const REQUESTS: [&str; 8] = [
    "make the directory /tmp/made",
    "delete the file /tmp/kept",
    "copy /etc/motd to /tmp/motd",
    "make the directory d",
    "list the files in /tmp",
    "what is in /bin?",
    "show /etc/motd",
    "make a directory named new",
];

/// The model's server.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Waits until the model is loaded; `None` after a line that says why the test is skipped.
    fn start(folder: &Path) -> Option<Self> {
        let python = python::environment("local-model", REQUIREMENTS, &["--no-deps"])?;
        let log = folder.join("server.log");
        let mut command = Command::new(python);
        command.arg(SERVE).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log).unwrap());
        let mut child = command.spawn().unwrap();
        let (mut lines, (sender, loaded)) = (BufReader::new(child.stdout.take().unwrap()), mpsc::channel());
        thread::spawn(move || {
            let mut line = String::new();
            lines.read_line(&mut line).map(|_| sender.send(line.trim().parse().ok()))
        });
        let Ok(Some(port)) = loaded.recv_timeout(THINKING) else {
            let _ = child.kill();
            panic!("the model's server did not start: {}", std::fs::read_to_string(&log).unwrap_or_default())
        };
        Some(Self { child, port })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Stands between the bridge and the model, passes on what they say, and keeps it.
struct Relay {
    port: u16,
    exchanges: Receiver<(Value, Value)>,
}

impl Relay {
    fn before(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, to) = (listener.local_addr().unwrap().port(), server.port);
        let (sender, exchanges) = mpsc::channel();
        // Ends with the test.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some((_, request)) = receive_bytes(&stream) else { continue };
                let Some(reply) = pass_on(stream, &request, to) else { continue };
                if sender.send((serde_json::from_slice(&request).unwrap(), reply)).is_err() {
                    return;
                }
            }
        });
        Self { port, exchanges }
    }
}

/// Passes on a request byte for byte, for the order of a form counts, and the reply; its body. `None` if one side went away.
fn pass_on(mut from: TcpStream, request: &[u8], to: u16) -> Option<Value> {
    let mut server = TcpStream::connect(("127.0.0.1", to)).ok()?;
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        request.len()
    );
    server.write_all(&[head.as_bytes(), request].concat()).ok()?;
    let mut reply = Vec::new();
    server.read_to_end(&mut reply).ok()?;
    from.write_all(&reply).ok()?;
    let head = reply.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    serde_json::from_slice(&reply[head + 4..]).ok()
}

/// What the model planned: the steps, and whether it wants the results. `None` if it is no plan.
fn planned(reply: &Value) -> Option<(Vec<Value>, bool)> {
    let choice = &reply["choices"][0];
    let plan: Value = serde_json::from_str(choice["message"]["content"].as_str()?).ok()?;
    let is_whole = choice["finish_reason"] == "stop";
    let steps = plan["steps"].as_array().filter(|_| is_whole)?.clone();
    Some((steps, plan["more"].as_bool()?))
}

/// The schema that the model was held to has steps of these kinds.
fn assert_schema(request: &Value) {
    let form = &request["response_format"];
    assert_eq!(form["type"], "json_schema");
    let kinds = form["json_schema"]["schema"]["properties"]["steps"]["items"]["anyOf"].as_array().unwrap();
    let kinds: Vec<_> = kinds.iter().map(|kind| kind["required"][0].as_str().unwrap()).collect();
    assert_eq!(kinds, ["say", "run", "set", "get"]);
}

/// What a person could find changed.
fn state(askr: &mut Askr) -> String {
    askr.run("ls -A / /tmp /disk; cat /tmp/kept /disk/etc/agent.conf")
}

/// Asks the model and checks what the guest makes of its answer. A plan that runs something is shown and asked about, and gets
/// this reply: whether there was one. Nothing but a `y` changes anything.
fn try_once(askr: &mut Askr, relay: &Relay, request: &str, wanted: &str) -> bool {
    let before = state(askr);
    askr.start(&format!("ai {request}"));
    let begins = format!("Request: {request}\n\n[round]\n1 of 4\n");
    // A round of an earlier request may come first, if that was ended meanwhile.
    let is_ours = |sent: &Value| told(sent).starts_with(&begins);
    let next = || relay.exchanges.recv_timeout(THINKING).expect("the model answers");
    let (sent, answer) = std::iter::repeat_with(next).find(|(sent, _)| is_ours(sent)).unwrap();
    assert_schema(&sent);
    let plan = planned(&answer);
    eprintln!("{request}: {} ({})", answer["choices"][0]["message"]["content"], answer["timings"]);
    let Some((steps, more)) = plan else {
        let shown = askr.finish();
        assert!(shown.contains("Nothing was done.") || shown.ends_with("; nothing was done\r\n"), "{shown}");
        assert_eq!(state(askr), before);
        return false;
    };
    let runs = steps.iter().filter(|step| step["run"].is_array() || step["set"].is_array()).count();
    if runs == 0 {
        // Words; Ctrl-C ends the round after them.
        if more {
            askr.type_bytes(b"\x03").unwrap();
        }
        askr.finish();
        assert_eq!(state(askr), before);
        return false;
    }
    let shown = askr.expect("do it? [y/N] ");
    assert!(shown.contains("the agent's plan:\r\n  1. "), "{shown}");
    let lines = shown.lines().filter(|line| line.contains(". run: ") || line.contains(". set in ")).count();
    assert_eq!(lines, runs, "{shown}");
    // A plan of several rounds would ask again.
    let reply = if more { "n" } else { wanted };
    askr.type_line(reply).unwrap();
    let done = askr.finish();
    if reply == "n" {
        assert!(done.ends_with("ai: nothing was done\r\n"), "{done}");
        assert_eq!(state(askr), before);
    } else if let Some((_, words)) = shown.lines().find_map(|line| line.split_once(". run: ")) {
        assert!(done.contains(&format!("+ {words}\r\n")), "{shown}{done}");
    }
    reply == wanted
}

#[test]
fn a_real_model_plans_and_the_person_decides() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(folder.path()) else { return };
    let relay = Relay::before(&server);
    let (mut askr, _hub, _folder) = guest();
    askr.run("echo kept > /tmp/kept");
    for (key, value) in [
        ("provider", "openai".to_owned()),
        ("model", "smollm2".to_owned()),
        ("endpoint", format!("http://127.0.0.1:{}/v1", relay.port)),
        ("timeout_ms", THINKING.as_millis().to_string()),
        ("confirm", "always".to_owned()),
    ] {
        assert_eq!(askr.run(&format!("ai config {key} {value}")), format!("{key}={value}\r\n"));
    }
    for reply in ["n", "y"] {
        let made = REQUESTS.iter().any(|request| try_once(&mut askr, &relay, request, reply));
        assert!(made, "the model made no plan of {REQUESTS:?} that could be answered with {reply}");
    }

    // It has no time: so many names take longer than that to read.
    askr.run("ai config timeout_ms 100");
    let names = (1000..1100).map(|name| name.to_string()).collect::<Vec<_>>().join(" ");
    askr.run(&format!("mkdir /tmp/many; cd /tmp/many; touch {names}"));
    let shown = askr.run("ai what is here?");
    assert!(shown.contains("did not answer in time. (ai config timeout_ms)"), "{shown}");
    assert_eq!(askr.status(), 1);
}
