//! A model over HTTP, from the shell to the endpoint and back.

use std::process::Command;
use std::time::Instant;

use host_bridge::hub::Hub;
use tempfile::TempDir;

use crate::common::PATIENCE;
use crate::common::bridge::hub_on;
use crate::common::shell::{Askr, Own};
use crate::config::machine;
use crate::endpoint::{Endpoint, Reply, told};

/// A guest with a disk and a hub with the built-in agent.
pub(crate) fn guest() -> (Own, Hub, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut askr = Askr::boot(&machine(folder.path()));
    let socket = folder.path().join("agent.sock");
    let hub = hub_on(askr.vm(), &socket, true);
    (askr, hub, folder)
}

/// The guest's agent is this endpoint from now on.
fn configure(askr: &mut Askr, endpoint: &Endpoint) {
    askr.run("ai config provider openai");
    askr.run("ai config model scripted");
    let address = format!("http://127.0.0.1:{}/v1", endpoint.port);
    assert_eq!(askr.run(&format!("ai config endpoint {address}")), format!("endpoint={address}\r\n"));
}

fn says(text: &str) -> Reply {
    Reply::Says(text.into())
}

#[test]
fn a_model_plans_sees_results_and_answers() {
    let (mut askr, _hub, _folder) = guest();
    let endpoint = Endpoint::new(vec![
        says(r#"{"steps":[{"run":["wc","-l","/etc/motd"]}],"more":true}"#),
        says(r#"{"steps":[{"say":"It has lines. 有几行。"}],"more":false}"#),
        says(r#"{"steps":[{"say":"I make it."},{"run":["mkdir","/tmp/made"]}],"more":false}"#),
        says("Just words."),
    ]);
    configure(&mut askr, &endpoint);
    let shown = askr.run("ai how long is the motd?");
    assert!(shown.starts_with("+ wc -l /etc/motd\r\n"), "{shown}");
    assert!(shown.ends_with("It has lines. 有几行。\r\n(decided by: agent)\r\n"), "{shown}");
    let (head, body) = endpoint.request();
    assert!(
        head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n") && !head.contains("uthorization"),
        "{head}"
    );
    assert_eq!(body["model"], "scripted");
    let told = told(&body);
    assert!(told.starts_with("Request: how long is the motd?\n\n[round]\n1 of 4\n\n[cwd]\n/\n"), "{told}");
    assert!(
        told.contains("[programs]\n") && told.contains(" ls ") && told.contains("[listing]\nbin/\n"),
        "{told}"
    );
    let told = endpoint.told();
    assert!(told.contains("[result1]\n$ wc -l /etc/motd\nexit 0, 1 lines, "), "{told}");

    // What it wants to change is asked about.
    askr.start("ai make it");
    askr.expect("I make it.\r\nthe agent's plan:\r\n  1. run: mkdir /tmp/made\r\ndo it? [y/N] ");
    askr.type_line("n").unwrap();
    askr.finish();
    assert!(askr.run("ls /tmp/made").contains("No such file"));
    assert_eq!(askr.run("ai talk"), "Just words.\r\n(decided by: agent)\r\n");
}

#[test]
fn what_goes_wrong_is_one_clear_line_and_changes_count_at_once() {
    let (mut askr, _hub, _folder) = guest();
    let many = format!(r#"{{"steps":[{}]}}"#, vec![r#"{"run":["touch","/tmp/bad"]}"#; 10_000].join(","));
    let cases = [
        (Reply::Says(many), "The answer of the model cannot be used: it has 10000 steps"),
        (says(r#"{"steps":[{"run":["touch","/tmp/bad\u001b[2J"]}]}"#), "control characters"),
        (says(r#"{"steps":[{"run":["touch","/tmp/bad"]}],"confirm":"yes"}"#), "unknown field"),
        (Reply::Http("200 OK", "<html>".into()), "talks nonsense: its answer is no JSON"),
        (Reply::Http("401 Unauthorized", "{}".into()), "wants a key (status 401)"),
        (
            Reply::Http("404 Not Found", r#"{"error":{"message":"no such model"}}"#.into()),
            "status 404, \"no such model\"",
        ),
    ];
    let (replies, expected): (Vec<Reply>, Vec<&str>) = cases.into_iter().unzip();
    let endpoint = Endpoint::new(replies);
    configure(&mut askr, &endpoint);
    for expected in expected {
        let shown = askr.run("ai do it");
        assert!(shown.contains(expected) && shown.lines().count() == 2, "{expected}: {shown}");
        assert_eq!(askr.status(), 1, "{expected}");
    }
    // The endpoint has gone.
    let shown = askr.run("ai do it");
    assert!(shown.contains("cannot be reached") && shown.contains("Is the server running?"), "{shown}");
    assert!(askr.run("ls /tmp/bad").contains("No such file"));
    // Elsewhere the host does not let it.
    askr.run("ai config endpoint http://example.com/v1");
    let shown = askr.run("ai do it");
    assert!(shown.contains("does not let its guests reach example.com"), "{shown}");
    // Another provider, with lines that are wrong.
    askr.run("ai config provider builtin");
    askr.run("echo nonsense >> /disk/etc/agent.conf");
    let shown = askr.run("ai where am i");
    let first = shown.lines().next().unwrap();
    assert!(
        first.starts_with("/disk/etc/agent.conf: line ")
            && first.ends_with(" is ignored: it is no key=value"),
        "{shown}"
    );
    assert!(shown.ends_with("/\r\n(decided by: agent)\r\n"), "{shown}");
}

#[test]
fn a_model_that_thinks_for_ever_holds_nobody() {
    let (mut askr, _hub, _folder) = guest();
    let endpoint = Endpoint::new(vec![Reply::Silence, Reply::Silence]);
    configure(&mut askr, &endpoint);
    askr.run("ai config timeout_ms 600000");
    askr.start("ai think");
    endpoint.request();
    let start = Instant::now();
    askr.type_bytes(b"\x03").unwrap();
    assert_eq!(askr.finish().trim_end(), "^C");
    assert!(start.elapsed() < PATIENCE / 2);
    // Nor does it go on with it, in the way of the next.
    endpoint.expect_hangup();
    askr.run("ai config timeout_ms 500");
    let shown = askr.run("ai think");
    assert!(shown.contains("did not answer in time. (ai config timeout_ms)"), "{shown}");
    assert_eq!(askr.status(), 1);
}

#[test]
fn the_key_is_of_the_hosts_environment_and_nowhere_else() {
    const KEY: &str = "sk-0123456789-do-not-tell";
    let folder = tempfile::tempdir().unwrap();
    let says = format!(r#"{{"steps":[{{"say":"your key is {KEY}"}}]}}"#);
    let refused = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    let endpoint = Endpoint::new(vec![Reply::Says(says), Reply::Http("401 Unauthorized", refused)]);
    let lines = [
        "ai config provider openai",
        "ai config model scripted",
        &format!("ai config endpoint http://127.0.0.1:{}/v1", endpoint.port),
        "ai config api_key_env ASKR_TEST_API_KEY",
        "sh -c 'ai config timeout_ms 20000'",
        "sh -c 'ai tell me'",
        "sh -c 'ai tell me'",
        "ai config api_key_env ASKR_MISSING_API_KEY",
        "sh -c 'ai tell me'",
        "cat /disk/etc/agent.conf",
    ];
    let script = folder.path().join("script");
    std::fs::write(&script, lines.join("\n")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_askr"))
        .args(["--run", "sh /script", "--with"])
        .arg(format!("{}:/script", script.display()))
        .arg("--disk")
        .arg(folder.path().join("disk.img"))
        .arg("--agent-socket")
        .arg(folder.path().join("s"))
        .env("ASKR_TEST_API_KEY", KEY)
        .env_remove("ASKR_MISSING_API_KEY")
        .output()
        .unwrap();
    let shown =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(endpoint.request().0.contains(&format!("Bearer {KEY}")), "{shown}");
    assert!(shown.contains("your key is [key]"), "{shown}");
    assert!(shown.contains("refused the key (status 401) that the host has in ASKR_TEST_API_KEY"), "{shown}");
    assert!(
        shown.contains("The variable ASKR_MISSING_API_KEY is not set in the environment of the bridge"),
        "{shown}"
    );
    assert!(shown.contains("api_key_env=ASKR_MISSING_API_KEY"), "{shown}");
    assert!(!shown.contains(KEY) && !shown.contains("do-not-tell"), "{shown}");
    let disk = std::fs::read(folder.path().join("disk.img")).unwrap();
    assert!(!disk.windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes()));
}
