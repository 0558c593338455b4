//! The client's side: requests from words on a command line, and replies taken apart.

use serde_json::{Map, Value};

use super::{bytes, name};

/// Fields whose value is text even if it looks like a number: what the command line says is taken as it is.
const TEXT_FIELDS: [&str; 11] = [
    name::PATH,
    name::FROM,
    name::TO,
    name::CONTENT,
    name::ENCODING,
    name::MODE,
    name::CWD,
    name::STDIN,
    name::ASK,
    name::ANSWER,
    name::BOOT,
];

/// The request for `op` with fields given as `key=value`. A value that is a JSON number, boolean, object or list is
/// taken as that, any other as a string.
///
/// # Errors
/// A sentence about a word that is no `key=value`.
pub fn request_of_words<'a>(op: &str, words: impl IntoIterator<Item = &'a str>) -> Result<Value, String> {
    let mut map = Map::new();
    map.insert(name::ID.into(), 1.into());
    map.insert(name::OP.into(), op.into());
    for word in words {
        let (key, text) =
            word.split_once('=').ok_or_else(|| format!("`{word}` is not of the form key=value"))?;
        if [name::ID, name::OP].contains(&key) {
            return Err(format!("`{key}` cannot be given as key=value"));
        }
        if map.insert(key.into(), value_of(key, text)).is_some() {
            return Err(format!("`{key}` is given twice"));
        }
    }
    Ok(Value::Object(map))
}

fn value_of(key: &str, text: &str) -> Value {
    let is_coded = key.ends_with(name::BASE64_SUFFIX) && !text.starts_with('[');
    let is_text = TEXT_FIELDS.contains(&key) || is_coded;
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::Object(_) | Value::Array(_))) if !is_text => {
            value
        }
        _ => text.into(),
    }
}

/// A reply as the client sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// What was asked for.
    Ok(Value),
    /// Why not.
    Error {
        /// For programs.
        code: String,
        /// For people.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// A line that was pushed, or no line of this protocol.
    Other,
}

impl Answer {
    /// Takes a line from the hub apart.
    #[must_use]
    pub fn of(line: &Value) -> Self {
        let text = |error: &Value, field: &str| error[field].as_str().unwrap_or_default().to_owned();
        match (line.get(name::ID), line.get(name::OK), line.get(name::ERROR)) {
            (Some(_), Some(ok), None) => Self::Ok(ok.clone()),
            (Some(_), None, Some(error)) => Self::Error {
                code: text(error, name::CODE),
                message: text(error, name::MESSAGE),
                hint: text(error, name::HINT),
            },
            _ => Self::Other,
        }
    }
}

/// JSON on one line, with nothing in it that a terminal obeys.
#[must_use]
pub fn line(value: &Value) -> String {
    bytes::escape_controls(value.to_string())
}

/// JSON for people: indented, with nothing in it that a terminal obeys.
#[must_use]
pub fn pretty(value: &Value) -> String {
    bytes::escape_controls(format!("{value:#}"))
}

/// The bytes of a reply to `fs.read`; `None` for any other reply.
#[must_use]
pub fn content_of(ok: &Value) -> Option<Vec<u8>> {
    let content = ok.get(name::CONTENT)?.as_str()?;
    match ok.get(name::ENCODING)?.as_str()? {
        name::TEXT => Some(content.as_bytes().to_vec()),
        name::BASE64 => bytes::decode(content),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_become_json_by_their_looks_but_text_stays_text() {
        let request = request_of_words("x", ["n=5", "b=true", "s=five", "q=\"5\"", "answer=5", "path=true"]);
        let expected = json!({
            "id": 1, "op": "x", "n": 5, "b": true, "s": "five", "q": "\"5\"", "answer": "5", "path": "true"
        });
        assert_eq!(request, Ok(expected));
        let list = request_of_words("x", ["argv=[\"ls\"]", "argv_base64=[\"/w==\"]"]).unwrap();
        assert_eq!((&list["argv"], &list["argv_base64"]), (&json!(["ls"]), &json!(["/w=="])));
        assert_eq!(request_of_words("x", ["a=b=c"]).unwrap()["a"], "b=c");
        assert!(request_of_words("x", ["word"]).is_err());
        assert!(request_of_words("x", ["a=1", "a=2"]).is_err());
        assert!(request_of_words("x", ["op=y"]).is_err());
    }
}
