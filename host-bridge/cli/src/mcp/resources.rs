//! The same as some of the tools, for clients that show resources to people.

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::json;

use super::call::Call;
use super::error::{Code, Failure};
use super::tools;

const JSON: &str = "application/json";
/// Begins the address of a file in the guest; its absolute path follows.
const FILE: &str = "guest://";
/// Most bytes of a file that is read as a resource.
const FILE_MAX: u64 = 256 * 1024;

pub(super) fn list() -> ListResourcesResult {
    let resource = |uri: &str, name: &str, title: &str, text: &str| {
        Resource::new(uri, name).with_title(title).with_description(text).with_mime_type(JSON)
    };
    ListResourcesResult::with_all_items(vec![
        resource("askr://status", "status", "Status of the guest", "As guest_status tells it."),
        resource(
            "askr://events",
            "events",
            "Events",
            "The oldest events that are kept, as events_read tells them.",
        ),
        resource("askr://asks", "asks", "Waiting questions", "As asks_wait tells them, without waiting."),
    ])
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let file = ResourceTemplate::new("guest:///{+path}", "file")
        .with_title("A file of the guest")
        .with_description("Its bytes, at most 256 KiB. Untrusted. `%XX` stands for a byte.");
    ListResourceTemplatesResult::with_all_items(vec![file])
}

pub(super) async fn read(uri: &str, call: &Call<'_>) -> Result<ReadResourceResult, ErrorData> {
    let contents = call.run(async {
        let text = match uri {
            "askr://status" => tools::text_of("guest_status", json!({}), call).await?,
            "askr://events" => tools::text_of("events_read", json!({}), call).await?,
            "askr://asks" => tools::text_of("asks_wait", json!({ "wait_ms": 0 }), call).await?,
            _ => return file(uri, call).await,
        };
        Ok(ResourceContents::text(text, uri).with_mime_type(JSON))
    });
    contents.await.map(|contents| ReadResourceResult::new(vec![contents])).map_err(|failure| error(&failure))
}

fn error(failure: &Failure) -> ErrorData {
    match failure.code() {
        Code::NotFound => ErrorData::resource_not_found(failure.text(), None),
        Code::BadRequest | Code::WrongKind | Code::TooLarge | Code::Refused => {
            ErrorData::invalid_params(failure.text(), None)
        }
        _ => ErrorData::internal_error(failure.text(), None),
    }
}

async fn file(uri: &str, call: &Call<'_>) -> Result<ResourceContents, Failure> {
    let path = uri.strip_prefix(FILE).filter(|path| path.starts_with('/'));
    let path = path.ok_or_else(|| Failure::new(Code::NotFound, format!("there is no resource `{uri}`")))?;
    let path = unescaped(path)
        .ok_or_else(|| Failure::new(Code::BadRequest, format!("`{uri}` has a % that begins no byte")))?;
    let (bytes, goes_on) = tools::file_bytes(path, FILE_MAX, call).await?;
    if goes_on {
        let message = format!("`{uri}` is longer than {FILE_MAX} bytes; fs_read gives it in parts");
        return Err(Failure::new(Code::TooLarge, message));
    }
    Ok(match tools::plain_text(bytes) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type("text/plain"),
        Err(base64) => ResourceContents::blob(base64, uri).with_mime_type("application/octet-stream"),
    })
}

/// The bytes that this part of an address stands for (RFC 3986 section 2.1).
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.as_bytes();
    while let Some((&byte, rest)) = left.split_first() {
        left = rest;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, rest) = left.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        left = rest;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn percent_stands_for_a_byte() {
        assert_eq!(unescaped("/a%20b%ff%2F"), Some(b"/a b\xff/".to_vec()));
        for text in ["/%", "/%2", "/%xx", "/%+1"] {
            assert_eq!(unescaped(text), None, "{text}");
        }
    }
}
