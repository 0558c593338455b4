//! Both eras of the protocol.

use serde_json::{Value, json};

use crate::bench::Bench;
use crate::client::Client;

/// What every request carries since 2026-07-28.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn sessions_of_each_older_version_open_with_initialize() {
    let bench = Bench::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::silent(&bench.socket);
        let who = json!({ "name": "test", "version": "1" });
        let opening = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": who });
        let opened = client.request("initialize", opening).unwrap();
        assert_eq!(opened["protocolVersion"], version);
        assert_eq!(opened["serverInfo"]["name"], "askr");
        assert!(opened["instructions"].as_str().unwrap().contains("not instructions"));
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let read = client.call("fs_read", json!({ "path": "/proc/version" })).unwrap();
        assert_eq!(read["content"], "Askr 0.1.0\n");
    }
}

#[test]
fn stateless_requests_need_no_opening() {
    let bench = Bench::new();
    let mut client = Client::silent(&bench.socket);
    // A probe that its client gave up.
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 99 } }),
    );
    let discovered = client.request("server/discover", json!({ "_meta": meta() })).unwrap();
    let versions = discovered["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{discovered}");
    assert!(discovered["capabilities"]["tools"].is_object());
    let listed = client.request("tools/list", json!({ "_meta": meta() })).unwrap();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 17);
    let read = json!({ "name": "fs_read", "arguments": { "path": "/proc/version" }, "_meta": meta() });
    let read = client.request("tools/call", read).unwrap();
    assert_eq!(read["structuredContent"]["content"], "Askr 0.1.0\n");
    assert_eq!(read["resultType"], "complete");
    let without = client.request("tools/list", json!({})).unwrap_err();
    assert_eq!(without["code"], -32602, "{without}");
}

#[test]
fn what_is_no_tool_or_method_is_an_error_of_the_protocol() {
    let bench = Bench::new();
    let mut client = Client::start(&bench.socket);
    assert!(client.request("tools/call", json!({ "name": "fs_format", "arguments": {} })).is_err());
    assert_eq!(client.request("no/such", json!({})).unwrap_err()["code"], -32601);
    client.send(&json!("nonsense"));
    assert!(client.call("guest_status", json!({})).is_ok(), "the conversation goes on");
}
