//! Messages, as Anthropic has them.

use serde_json::{Value, json};

use super::super::request::Request;
use super::prompt;

/// Most tokens of an answer: a plan is short.
const TOKENS_MAX: u32 = 2048;

/// The body of a request. The model is made to call a tool whose input is a plan.
pub(super) fn body(model: &str, request: &Request) -> String {
    let schema: Value = serde_json::from_str(&prompt::schema()).unwrap_or_default();
    let body = json!({
        "model": model,
        "max_tokens": TOKENS_MAX,
        "system": prompt::SYSTEM,
        "messages": [{ "role": "user", "content": prompt::user(request) }],
        "tools": [{ "name": "plan", "description": "Answers with a plan.", "input_schema": schema }],
        "tool_choice": { "type": "tool", "name": "plan" },
    });
    body.to_string()
}

/// What the model said: the input of the tool, else its words.
pub(super) fn text(reply: &Value) -> Option<String> {
    let blocks = reply["content"].as_array()?;
    let tool =
        blocks.iter().find(|block| block["type"] == "tool_use").map(|block| block["input"].to_string());
    tool.or_else(|| {
        let words: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        (!words.is_empty()).then_some(words)
    })
}
