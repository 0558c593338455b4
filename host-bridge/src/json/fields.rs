//! The fields of a request, each taken once.

use serde_json::{Map, Value};

use super::error::{Error, Problem};
use super::operations::Operation;
use super::{bytes, name};

/// The fields of one request that were not taken yet.
pub(super) struct Fields(pub(super) Map<String, Value>);

fn bad(message: String) -> Error {
    Error::new(Problem::BadRequest, message)
}

impl Fields {
    pub(super) fn text(&mut self, field: &str) -> Result<Option<String>, Error> {
        match self.0.remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(bad(format!("`{field}` must be a string"))),
        }
    }

    pub(super) fn number(&mut self, field: &str) -> Result<Option<u64>, Error> {
        match self.0.remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let wrong = || bad(format!("`{field}` must be a whole number from 0 to 2^64-1"));
                value.as_u64().map(Some).ok_or_else(wrong)
            }
        }
    }

    pub(super) fn flag(&mut self, field: &str) -> Result<Option<bool>, Error> {
        match self.0.remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(bad(format!("`{field}` must be true or false"))),
        }
    }

    /// Bytes given as text in `field` or as base64 in `field_base64`.
    pub(super) fn bytes(&mut self, field: &str) -> Result<Option<Vec<u8>>, Error> {
        let coded = format!("{field}{}", name::BASE64_SUFFIX);
        match (self.text(field)?, self.text(&coded)?) {
            (Some(_), Some(_)) => Err(bad(format!("give `{field}` or `{coded}`, not both"))),
            (text, None) => Ok(text.map(String::into_bytes)),
            (None, Some(text)) => decode(&coded, &text).map(Some),
        }
    }

    /// A number of 32 bits.
    pub(super) fn small(&mut self, field: &str) -> Result<Option<u32>, Error> {
        let too_large = |_| bad(format!("`{field}` must be at most {}", u32::MAX));
        self.number(field)?.map(|number| u32::try_from(number).map_err(too_large)).transpose()
    }

    /// Byte strings given as a list of texts in `field` or of base64 in `field_base64`.
    pub(super) fn list(&mut self, field: &str) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let coded = format!("{field}{}", name::BASE64_SUFFIX);
        match (self.texts(field)?, self.texts(&coded)?) {
            (Some(_), Some(_)) => Err(bad(format!("give `{field}` or `{coded}`, not both"))),
            (texts, None) => Ok(texts.map(|texts| texts.into_iter().map(String::into_bytes).collect())),
            (None, Some(texts)) => {
                texts.iter().map(|text| decode(&coded, text)).collect::<Result<_, _>>().map(Some)
            }
        }
    }

    fn texts(&mut self, field: &str) -> Result<Option<Vec<String>>, Error> {
        let wrong = || bad(format!("`{field}` must be a list of strings"));
        let items = match self.0.remove(field) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(wrong()),
        };
        let text = |item| if let Value::String(text) = item { Ok(text) } else { Err(wrong()) };
        items.into_iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// An environment: an object of names and values, or a list of `NAME=value`.
    pub(super) fn environment(&mut self) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let Some(Value::Object(_)) = self.0.get(name::ENV) else { return self.list(name::ENV) };
        let Some(Value::Object(pairs)) = self.0.remove(name::ENV) else { return Ok(None) };
        let word = |(key, value): (String, Value)| match value {
            Value::String(value) if !key.is_empty() && !key.contains('=') => {
                Ok(format!("{key}={value}").into_bytes())
            }
            _ => Err(bad(format!(
                "`{}`: `{key}` must be a name without `=`, and its value a string",
                name::ENV
            ))),
        };
        pairs.into_iter().map(word).collect::<Result<_, _>>().map(Some)
    }

    /// Bytes given as `content`, in the encoding that `encoding` names.
    pub(super) fn content(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let (content, encoding) = (self.text(name::CONTENT)?, self.text(name::ENCODING)?);
        let Some(content) = content else {
            return encoding.map_or(Ok(None), |_| Err(missing(name::CONTENT)));
        };
        match encoding.as_deref() {
            None | Some(name::TEXT) => Ok(Some(content.into_bytes())),
            Some(name::BASE64) => decode(name::CONTENT, &content).map(Some),
            Some(other) => Err(bad(format!("`{}` is `text` or `base64`, not `{other}`", name::ENCODING))),
        }
    }

    pub(super) fn path(&mut self) -> Result<Vec<u8>, Error> {
        self.bytes(name::PATH)?.ok_or_else(|| missing(name::PATH))
    }

    /// All must be fields of this operation.
    pub(super) fn are_of(&self, operation: &Operation) -> Result<(), Error> {
        match self.0.keys().find(|field| !operation.has(field)) {
            None => Ok(()),
            Some(field) => Err(bad(operation.unknown_field(field))),
        }
    }
}

fn decode(field: &str, text: &str) -> Result<Vec<u8>, Error> {
    bytes::decode(text).ok_or_else(|| bad(format!("`{field}` is no base64")))
}

pub(super) fn missing(field: &str) -> Error {
    bad(format!("`{field}` is missing"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_round_trip_as_a_name_and_as_a_content(given: Vec<u8>) {
            let mut fields = Map::new();
            bytes::put(&mut fields, name::PATH, &given);
            bytes::put_content(&mut fields, &given);
            let line = Value::Object(fields).to_string();
            let mut fields = Fields(serde_json::from_str(&line).unwrap());
            prop_assert_eq!(fields.path().unwrap(), &given[..]);
            prop_assert_eq!(fields.content().unwrap(), Some(given));
            prop_assert!(fields.0.is_empty());
        }

        #[test]
        fn any_line_is_taken_apart_without_a_panic(line: Vec<u8>, fields in "\\{(\"(id|op|path|ask)\":(1|\"fs.read\"|null|\\[\\]),?){0,4}\\}") {
            let _ = crate::json::parse(&line);
            let _ = crate::json::parse(fields.as_bytes());
        }
    }
}
