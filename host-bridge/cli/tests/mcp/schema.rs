//! The schemas: rules that every client relies on, and nothing that clients know ever goes away.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::client::Client;

/// Set to write the schemas as they are now.
const BLESS: &str = "ASKR_BLESS";

fn tools() -> Vec<Value> {
    let mut client = Client::start(Path::new("/nonexistent/agent.sock"));
    let listed = client.request("tools/list", json!({})).unwrap();
    listed["tools"].as_array().unwrap().clone()
}

/// Calls `check` for each schema inside this one, itself included.
fn each_schema(schema: &Value, check: &mut impl FnMut(&Map<String, Value>)) {
    let object = schema.as_object().unwrap_or_else(|| panic!("no schema: {schema}"));
    check(object);
    if let Some(properties) = object.get("properties").and_then(Value::as_object) {
        properties.values().for_each(|property| each_schema(property, check));
    }
    object.get("items").into_iter().for_each(|items| each_schema(items, check));
}

#[test]
fn schemas_are_plain_objects() {
    for tool in tools() {
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(schema["type"], "object", "{tool}");
            each_schema(schema, &mut |schema| {
                for word in ["$ref", "$defs", "oneOf", "anyOf", "allOf", "not", "format", "title", "default"]
                {
                    assert!(!schema.contains_key(word), "{word}: {schema:?}");
                }
                assert!(schema["type"].is_string(), "one type: {schema:?}");
            });
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert_eq!(tool["inputSchema"]["properties"]["guest"]["type"], "string", "{tool}");
        assert!(tool["outputSchema"]["properties"]["boot"].is_object(), "{tool}");
    }
}

#[test]
fn tools_say_what_they_are_in_few_words() {
    let tools = tools();
    let mut total = 0;
    for tool in &tools {
        let (title, text) = (tool["title"].as_str().unwrap(), tool["description"].as_str().unwrap());
        assert!((1..=40).contains(&title.len()), "{title}");
        assert!((1..600).contains(&text.len()), "{text}");
        total += text.len();
        let (reads, destroys, is_idempotent) = match tool["name"].as_str().unwrap() {
            "ask_answer" => (false, true, true),
            "fs_mkdir" => (false, false, false),
            "fs_write" | "fs_remove" | "fs_rename" | "guest_power" | "proc_input" | "proc_kill"
            | "proc_spawn" => (false, true, false),
            _ => (true, false, true),
        };
        let hints = json!({
            "readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": is_idempotent,
            "openWorldHint": false
        });
        assert_eq!(tool["annotations"], hints, "{tool}");
    }
    assert!(total < 8 * 1024);
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "ask_answer",
            "asks_wait",
            "events_read",
            "fs_list",
            "fs_mkdir",
            "fs_read",
            "fs_remove",
            "fs_rename",
            "fs_stat",
            "fs_write",
            "guest_power",
            "guest_status",
            "proc_input",
            "proc_kill",
            "proc_list",
            "proc_spawn",
            "proc_wait",
        ]
    );
}

#[test]
fn the_page_tells_all_arguments_and_results() {
    let page = include_str!("../../../../docs/mcp.md");
    for tool in tools() {
        let name = tool["name"].as_str().unwrap();
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}`"))).expect(name);
        for (schema, told_once) in [
            (&tool["inputSchema"], &["guest", "answer", "refuse"][..]),
            (&tool["outputSchema"], &["boot", "answer"]),
        ] {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            for field in schema["properties"].as_object().unwrap().keys() {
                if told_once.contains(&field.as_str()) {
                    continue; // told once for all, or in words
                }
                let optional = !required.contains(&json!(field));
                let told = [format!("`{field}`"), format!("`{field}?`")];
                assert!(row.contains(&told[0]) || (optional && row.contains(&told[1])), "{name}: {field}");
            }
        }
    }
}

#[test]
fn a_number_of_the_guest_can_be_given_with_its_boot() {
    for tool in tools() {
        let arguments = tool["inputSchema"]["properties"].as_object().unwrap();
        let numbers = ["job", "pid"].iter().any(|name| arguments.contains_key(*name));
        assert_eq!(numbers, arguments.contains_key("boot"), "{tool}");
    }
}

#[test]
fn schemas_only_grow() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/tools.json");
    let now = Value::Array(tools());
    let before: Value = serde_json::from_str(&std::fs::read_to_string(&golden).unwrap()).unwrap();
    assert_eq!(lost(&before, &now, ""), None, "clients rely on what is gone");
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&golden, format!("{now:#}\n")).unwrap();
    } else {
        assert!(
            before == now,
            "tools.json is not what the tools say; if it only grew, run this with {BLESS}=1"
        );
    }
}

/// What of `before` is not in `now`, if anything. Text for readers may change.
fn lost(before: &Value, now: &Value, at: &str) -> Option<String> {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => before.iter().find_map(|(key, value)| {
            let at = format!("{at}/{key}");
            match (key.as_str(), now.get(key)) {
                ("description" | "title", _) if value.is_string() => None,
                // An argument that becomes required breaks those who leave it out.
                ("required", now) if at.ends_with("inputSchema/required") => {
                    let added = now.and_then(|now| lost(now, value, &at));
                    added.map(|what| format!("it is newly required: {what}"))
                }
                (_, Some(now)) => lost(value, now, &at),
                (_, None) => Some(at),
            }
        }),
        (Value::Array(before), Value::Array(now)) => before.iter().find_map(|item| {
            let name = item.get("name");
            let same =
                |other: &&Value| if name.is_some() { other.get("name") == name } else { *other == item };
            match now.iter().find(same) {
                Some(other) => lost(item, other, &format!("{at}/{}", name.unwrap_or(item))),
                None => Some(format!("{at}/{}", name.unwrap_or(item))),
            }
        }),
        _ => (before != now).then(|| at.to_owned()),
    }
}

#[test]
fn what_a_schema_may_not_lose() {
    let tool =
        |input: Value, output: Value| json!([{ "name": "t", "inputSchema": input, "outputSchema": output }]);
    let fields = json!({ "a": { "type": "string", "enum": ["x", "y"] }, "b": { "type": "integer" } });
    let schema = |required: Value| json!({ "type": "object", "properties": fields, "required": required });
    let before = tool(schema(json!(["a"])), schema(json!(["a"])));
    let changed = |path: &str, value: Value| {
        let mut now = before.clone();
        *now.pointer_mut(path).unwrap() = value;
        lost(&before, &now, "")
    };
    assert_eq!(lost(&before, &before, ""), None);
    assert_eq!(changed("/0/inputSchema/required", json!([])), None, "no longer required");
    assert!(changed("/0/inputSchema/required", json!(["a", "b"])).is_some(), "newly required");
    assert_eq!(changed("/0/outputSchema/required", json!(["a", "b"])), None, "newly sure");
    assert!(changed("/0/outputSchema/required", json!([])).is_some(), "no longer sure");
    assert!(changed("/0/inputSchema/properties/a/enum", json!(["x"])).is_some());
    assert_eq!(changed("/0/inputSchema/properties/a/enum", json!(["x", "z", "y"])), None);
    assert!(changed("/0/outputSchema/properties/b/type", json!("string")).is_some());
    assert!(changed("/0/outputSchema/properties", json!({})).is_some());
    assert!(changed("/0/name", json!("u")).is_some());
    assert!(lost(&before, &json!([]), "").is_some());
}
