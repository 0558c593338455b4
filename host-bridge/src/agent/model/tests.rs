use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use askr_abi::plan::Ending;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::config::Config;
use super::super::patience::Patience;
use super::super::plan::{Plan, Step};
use super::super::request::Request;
use super::openai::{self, Dialect};
use super::reading;

const KEY: &str = "sk-very-secret-123";

/// What the endpoint got: the head's lines, and the body.
type Got = (Vec<String>, Value);

/// An endpoint that answers one connection after the other with these bytes, and then is gone. No bytes: it does not answer
/// and keeps the connection.
fn endpoint(answers: Vec<Vec<u8>>) -> (String, Receiver<Got>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, got) = mpsc::channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = sender.send(receive(&stream));
            let _ = stream.write_all(&answer);
            if answer.is_empty() {
                kept.push(stream);
            }
        }
        drop(listener);
        thread::sleep(Duration::from_secs(if kept.is_empty() { 0 } else { 30 }));
    });
    (format!("http://127.0.0.1:{port}/v1"), got)
}

fn receive(stream: &TcpStream) -> Got {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    let length =
        head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap_or_default())
}

fn http(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn completion(content: &str) -> Vec<u8> {
    http(
        "200 OK",
        &json!({ "choices": [{ "message": { "role": "assistant", "content": content } }] }).to_string(),
    )
}

fn config(endpoint: &str, more: &str) -> Config {
    Config::parse(
        format!("provider=openai\nmodel=m\nendpoint={endpoint}\ntimeout_ms=5000\n{more}").as_bytes(),
    )
}

fn request() -> Request {
    let context = vec![("plan".into(), "1".into()), ("cwd".into(), "/tmp".into())];
    Request { text: "list files".into(), reads_plans: true, context, ..Request::default() }
}

fn ask(config: &Config) -> Result<Plan, String> {
    let environment = |name: &str| (name == "TEST_API_KEY").then(|| KEY.to_owned());
    let deadline = Instant::now() + Duration::from_secs(20);
    super::try_answer(config, &request(), &Patience { deadline, is_wanted: Arc::new(|| true) }, environment)
}

const PLAN: &str = r#"{"steps":[{"run":["ls","-l"]}],"more":true}"#;

#[test]
fn a_completion_is_asked_for_with_key_and_context_and_read_as_a_plan() {
    let (endpoint, got) = endpoint(vec![completion(PLAN)]);
    let plan = ask(&config(&endpoint, "api_key_env=TEST_API_KEY\n")).unwrap();
    assert_eq!(
        (&plan.steps[..], plan.ending),
        (&[Step::Run(vec!["ls".into(), "-l".into()])][..], Ending::More)
    );
    let (head, body) = got.recv().unwrap();
    assert_eq!(head[0], "POST /v1/chat/completions HTTP/1.1");
    assert!(
        head.iter().any(|line| line.eq_ignore_ascii_case(&format!("authorization: bearer {KEY}"))),
        "{head:?}"
    );
    assert_eq!((&body["model"], &body["stream"]), (&json!("m"), &json!(false)));
    let told = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(told["content"], "Request: list files\n\n[cwd]\n/tmp\n");
    assert_eq!(body["response_format"]["json_schema"]["schema"]["required"], json!(["steps", "more"]));
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&json!(4096), &json!(0)));
}

#[test]
fn a_model_is_shown_plans_that_are_plans_and_a_schema_that_says_what_is_possible() {
    let text = openai::body("m", &request(), Dialect::Others);
    let schema = text.find("\"schema\":").unwrap();
    assert!(
        text[schema..].find("\"steps\":{") < text[schema..].find("\"more\":{"),
        "a model plans, and then knows"
    );
    let body: Value = serde_json::from_str(&text).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
    for shown in messages.iter().filter(|message| message["role"] == "assistant") {
        let plan = reading::plan(shown["content"].as_str().unwrap(), str::to_owned).unwrap();
        assert!(matches!(plan.steps[..], [Step::Run(_)]), "{plan:?}");
    }
    let schema = &body["response_format"]["json_schema"]["schema"];
    let steps = &schema["properties"]["steps"]["items"]["anyOf"];
    let keys = json!(["provider", "endpoint", "model", "api_key_env", "timeout_ms", "confirm"]);
    assert_eq!(steps[2]["properties"]["set"]["prefixItems"][0]["enum"], keys);
    assert_eq!(steps[3]["properties"]["get"]["enum"], keys);
}

#[test]
fn openai_itself_gets_what_its_newer_models_take() {
    let body: Value = serde_json::from_str(&openai::body("m", &request(), Dialect::OpenAi)).unwrap();
    assert_eq!(body["max_completion_tokens"], 4096);
    assert!(body["max_tokens"].is_null() && body["temperature"].is_null());
    assert!(body["response_format"].is_object());
}

#[test]
fn messages_of_anthropic_call_a_tool() {
    let reply = json!({ "content": [{ "type": "tool_use", "name": "plan", "input": { "steps": [{ "say": "hi" }] } }] });
    let (endpoint, got) = endpoint(vec![http("200 OK", &reply.to_string())]);
    let text = format!(
        "provider=anthropic\nmodel=m\nendpoint={}\napi_key_env=TEST_API_KEY\n",
        endpoint.trim_end_matches("/v1")
    );
    assert_eq!(ask(&Config::parse(text.as_bytes())).unwrap(), Plan::say("hi"));
    let (head, body) = got.recv().unwrap();
    assert_eq!(head[0], "POST /v1/messages HTTP/1.1");
    assert!(
        head.contains(&format!("x-api-key: {KEY}")) && head.contains(&"anthropic-version: 2023-06-01".into()),
        "{head:?}"
    );
    assert_eq!(body["tool_choice"]["name"], "plan");
}

#[test]
fn what_the_endpoint_does_wrong_is_told_and_never_with_the_key() {
    let big = "x".repeat((1 << 20) + 1);
    let refused = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    let cases: [(&str, Vec<u8>, &str); 13] = [
        (
            "a refused key",
            http("401 Unauthorized", &refused),
            "refused the key (status 401) that the host has in TEST_API_KEY",
        ),
        ("a forbidden one", http("403 Forbidden", &refused), "refused the key (status 403)"),
        (
            "a message with the key",
            http("404 Not Found", &refused),
            "status 404, \"Incorrect API key provided: [key]\"",
        ),
        (
            "an unknown model",
            http("404 Not Found", r#"{"error":"model 'm' not found"}"#),
            "\"model 'm' not found\"",
        ),
        (
            "another place",
            http("302 Found\r\nlocation: http://127.0.0.1:1/", ""),
            "leads elsewhere (status 302)",
        ),
        ("no JSON", http("200 OK", "<html>hello</html>"), "talks nonsense: its answer is no JSON"),
        ("no HTTP", b"SSH-2.0-OpenSSH_9.2\r\n\r\n".to_vec(), "talks nonsense"),
        ("too much", http("200 OK", &big), "talks nonsense: its answer has more than 1048576 bytes"),
        ("no text", http("200 OK", "{}"), "without any text"),
        (
            "an answer that was cut",
            http(
                "200 OK",
                r#"{"choices":[{"message":{"content":"{\"steps\":["},"finish_reason":"length"}]}"#,
            ),
            "was cut: it has more than 4096 tokens",
        ),
        ("a broken plan", completion(r#"{"steps":[{"run":["rm"#), "cannot be used: it is no whole JSON"),
        ("an escape", completion(r#"{"steps":[{"run":["echo","\u001b[2J"]}]}"#), "control characters"),
        ("hidden in an error", http("404 Not Found", "{\"error\":\"a\\u001b[2Jb\"}"), "\"a[2Jb\""),
    ];
    for (what, answer, expected) in cases {
        let (endpoint, _got) = endpoint(vec![answer]);
        let told = ask(&config(&endpoint, "api_key_env=TEST_API_KEY\n")).unwrap_err();
        assert!(told.contains(expected), "{what}: {told}");
        assert!(!told.contains(KEY) && !told.contains("secret"), "{what}: {told}");
    }
    // In the plan neither, however JSON writes it.
    let escaped = KEY.bytes().map(|byte| format!("\\u{byte:04x}")).collect::<String>();
    for key in [KEY, &escaped] {
        let (endpoint, _got) =
            endpoint(vec![completion(&format!(r#"{{"steps":[{{"say":"it is {key}"}}]}}"#))]);
        assert_eq!(ask(&config(&endpoint, "api_key_env=TEST_API_KEY\n")).unwrap(), Plan::say("it is [key]"));
    }
}

#[test]
fn a_busy_endpoint_is_tried_again_and_a_silent_one_is_not_waited_for() {
    let busy = || http("503 Service Unavailable", r#"{"error":"busy"}"#);
    let (three, got) = endpoint(vec![busy(), http("429 Too Many Requests", ""), completion("hello")]);
    assert_eq!(ask(&config(&three, "")).unwrap(), Plan::say("hello"));
    assert_eq!(got.iter().count(), 3);
    let (always, got) = endpoint(vec![busy(), busy(), busy()]);
    assert!(ask(&config(&always, "")).unwrap_err().contains("status 503, \"busy\""));
    assert_eq!(got.iter().count(), 3);
    // A server that knows no schema is asked without.
    let (old, got) =
        endpoint(vec![http("400 Bad Request", r#"{"error":"response_format"}"#), completion("hello")]);
    assert_eq!(ask(&config(&old, "")).unwrap(), Plan::say("hello"));
    let bodies: Vec<Value> = got.iter().map(|(_, body)| body).collect();
    assert!(bodies[0]["response_format"].is_object() && bodies[1]["response_format"].is_null());
    assert!(bodies[1]["temperature"].is_null() && bodies[1]["max_tokens"].is_null());
    // Silence.
    let (silent, _got) = endpoint(vec![Vec::new()]);
    let start = Instant::now();
    let told = ask(&config(&silent, "timeout_ms=300\n")).unwrap_err();
    assert!(told.contains("did not answer in time"), "{told}");
    assert!(start.elapsed() >= Duration::from_millis(300) && start.elapsed() < Duration::from_secs(4));
    // Nobody.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let told = ask(&config(&format!("http://127.0.0.1:{port}"), "")).unwrap_err();
    assert!(told.contains("cannot be reached"), "{told}");
}

#[test]
fn an_answer_that_nobody_waits_for_any_more_is_given_up_and_the_connection_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let waits = Arc::new(AtomicBool::new(true));
    let is_wanted = Arc::clone(&waits);
    let patience = Patience {
        deadline: Instant::now() + Duration::from_secs(60),
        is_wanted: Arc::new(move || is_wanted.load(Ordering::SeqCst)),
    };
    let asking = thread::spawn(move || {
        super::try_answer(&config(&endpoint, "timeout_ms=60000\n"), &request(), &patience, |_| None)
    });
    let (mut stream, _) = listener.accept().unwrap();
    receive(&stream);
    waits.store(false, Ordering::SeqCst);
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "it is closed");
    assert!(asking.join().unwrap().is_err());
}

#[test]
fn the_host_decides_where_a_guest_may_send_what() {
    let target = |text: &str, hosts: &str| {
        let environment = |name: &str| match name {
            "TEST_API_KEY" => Some(KEY.to_owned()),
            "BLANK_API_KEY" => Some(" \n".to_owned()),
            super::target::HOSTS_VARIABLE => Some(hosts.to_owned()),
            _ => None,
        };
        let config = Config::parse(format!("provider=openai\nmodel=m\n{text}").as_bytes());
        super::target::Target::new(&config, environment).map(|target| (target.url, target.key.is_some()))
    };
    let refused = |text: &str, hosts: &str| target(text, hosts).unwrap_err();
    for text in [
        "endpoint=http://evil.example/v1",
        "endpoint=http://127.0.0.1.evil.example",
        "endpoint=http://10.0.0.1:80",
        "endpoint=http://[::2]:80",
    ] {
        assert!(refused(text, "").contains("does not let its guests reach"), "{text}");
        assert!(refused(text, "other, 10.0.0.2").contains("does not let its guests reach"), "{text}");
    }
    assert_eq!(
        target("endpoint=http://10.0.0.1:80/v1/", "a, 10.0.0.1").unwrap(),
        ("http://10.0.0.1:80/v1/chat/completions".into(), false)
    );
    assert!(target("endpoint=http://10.0.0.1:80", "10.0.0.1:80").is_ok());
    assert!(refused("endpoint=http://10.0.0.1:81", "10.0.0.1:80").contains("does not let"));
    assert!(
        refused("endpoint=http://10.0.0.1\napi_key_env=TEST_API_KEY", "10.0.0.1").contains("in the clear")
    );
    assert!(target("endpoint=http://localhost:8\napi_key_env=TEST_API_KEY", "").unwrap().1);
    let missing = refused("endpoint=http://localhost:8\napi_key_env=OTHER_API_KEY", "");
    assert!(
        missing.contains("The variable OTHER_API_KEY is not set in the environment of the bridge"),
        "{missing}"
    );
    assert!(
        refused("endpoint=http://localhost:8\napi_key_env=BLANK_API_KEY", "")
            .contains("BLANK_API_KEY is not set")
    );
    // The key of a provider goes to that provider.
    for text in [
        "endpoint=http://localhost:8\napi_key_env=OPENAI_API_KEY",
        "endpoint=http://localhost:8\napi_key_env=ANTHROPIC_API_KEY",
    ] {
        assert!(refused(text, "").contains("does not go to localhost"), "{text}");
        assert!(
            refused(text, "localhost").contains("is not set"),
            "whoever runs the bridge allows it: {text}"
        );
    }
    if cfg!(feature = "tls") {
        assert!(refused("", "").contains("OPENAI_API_KEY is not set"));
        let crossed = "endpoint=https://api.anthropic.com";
        assert!(!target(crossed, "").unwrap().1, "no key goes where nobody said that one should");
        let crossed = format!("{crossed}\napi_key_env=OPENAI_API_KEY");
        assert!(refused(&crossed, "").contains("is meant for api.openai.com"));
        assert_eq!(
            target("api_key_env=TEST_API_KEY", "").unwrap(),
            ("https://api.openai.com/v1/chat/completions".into(), true)
        );
    } else {
        assert!(refused("", "").contains("without TLS"));
    }
    assert_eq!(
        target("provider=ollama", "").unwrap(),
        ("http://127.0.0.1:11434/v1/chat/completions".into(), false)
    );
    assert!(ask(&Config::parse(b"provider=ollama\n")).unwrap_err().contains("ai config model NAME"));
}

#[test]
fn what_a_model_says_is_a_plan_words_or_refused() {
    let steps = |text: &str| reading::plan(text, str::to_owned).unwrap().steps;
    assert_eq!(steps("Hello there."), [Step::Say("Hello there.".into())]);
    assert_eq!(steps("```json\n{\"steps\":[{\"get\":\"model\"}]}\n```"), [Step::Get("model".into())]);
    assert_eq!(
        steps(r#"{"steps":[{"set":["model","x"]}],"more":false}"#),
        [Step::Set("model".into(), "x".into())]
    );
    let many = format!(r#"{{"steps":[{}]}}"#, vec![r#"{"run":["true"]}"#; 10_000].join(","));
    for (text, error) in [
        (many.as_str(), "it has 10000 steps"),
        ("", "empty"),
        ("[]", "no JSON object"),
        ("{}", "no list of steps"),
        (r#"{"steps":[]}"#, "0 steps"),
        (r#"{"steps":[{"run":"rm -r /"}]}"#, "\"run\" is impossible"),
        (r#"{"steps":[{"run":[]}]}"#, "\"run\" is impossible"),
        (r#"{"steps":[{"run":["ls",1]}]}"#, "\"run\" is impossible"),
        (r#"{"steps":[{"run":[""]}]}"#, "the first its name"),
        (r#"{"steps":[{"run":["ls"],"confirm":"yes"}]}"#, "one field"),
        (r#"{"steps":[{"sudo":["ls"]}]}"#, "no kind of step \"sudo\""),
        (r#"{"steps":[{"say":"x"}],"confirmed":true}"#, "unknown field \"confirmed\""),
        (r#"{"steps":[{"say":"x"}],"more":"yes"}"#, "neither true nor false"),
        (r#"{"steps":[{"set":["confirm=never\nx","y"]}]}"#, "\"set\" is impossible"),
    ] {
        let told = reading::plan(text, str::to_owned).unwrap_err();
        assert!(told.contains(error), "{text}: {told}");
    }
}

proptest! {
    #[test]
    fn whatever_a_model_says_can_be_sent_or_is_refused(text: String, json in "[{}\\[\\]\"a-z:,0-9]{0,60}") {
        for text in [text, json] {
            if let Ok(plan) = reading::plan(&text, str::to_owned) {
                prop_assert!(plan.encode().is_ok());
            }
        }
    }
}
