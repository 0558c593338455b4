//! What the tools do. Each is a type: its arguments, its result, and how one comes from the other.

mod asks;
mod content;
mod events;
mod fault;
mod files;
mod jobs;
mod power;
mod processes;
mod status;

use host_bridge::json::content_of;
use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{CallToolResponse, CallToolResult, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::call::{Call, End};
use super::error::{Code, Failure};
use super::guests::Reply;
use super::schema;
use super::server::Server;
use super::text::{Shape, is_plain, show, unescape};

pub(super) use asks::GoesOn;
pub(super) use jobs::end_jobs;

/// What a tool does to the guest, as far as clients ask before they call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Changes nothing.
    Reads,
    /// Makes something new and touches nothing that is there.
    Adds,
    /// May end or replace what is there; doing it twice is not the same as doing it once.
    Changes,
    /// Cannot be taken back; doing it twice is the same as doing it once.
    Decides,
}

/// A tool.
trait Tool {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect = Effect::Reads;
    type Arguments: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema;

    /// Does it.
    fn call(
        arguments: Self::Arguments,
        call: &Call<'_>,
    ) -> impl Future<Output = Result<Self::Output, End>> + Send;
}

/// All tools.
pub(super) fn router() -> ToolRouter<Server> {
    ToolRouter::new()
        .with_route(route::<status::GuestStatus>())
        .with_route(route::<power::GuestPower>())
        .with_route(route::<files::FsRead>())
        .with_route(route::<files::FsWrite>())
        .with_route(route::<files::FsList>())
        .with_route(route::<files::FsStat>())
        .with_route(route::<files::FsMkdir>())
        .with_route(route::<files::FsRemove>())
        .with_route(route::<files::FsRename>())
        .with_route(route::<jobs::ProcSpawn>())
        .with_route(route::<jobs::ProcWait>())
        .with_route(route::<jobs::ProcInput>())
        .with_route(route::<jobs::ProcKill>())
        .with_route(route::<processes::ProcList>())
        .with_route(route::<events::EventsRead>())
        .with_route(route::<asks::AsksWait>())
        .with_route(route::<asks::AskAnswer>())
}

fn route<T: Tool + 'static>() -> ToolRoute<Server> {
    let annotations = ToolAnnotations::new()
        .read_only(T::EFFECT == Effect::Reads)
        .destructive(matches!(T::EFFECT, Effect::Changes | Effect::Decides))
        .idempotent(matches!(T::EFFECT, Effect::Reads | Effect::Decides))
        // Nothing outside this guest.
        .open_world(false);
    let tool = rmcp::model::Tool::new(T::NAME, T::DESCRIPTION, schema::arguments::<T::Arguments>())
        .with_title(T::TITLE)
        .with_raw_output_schema(schema::result::<T::Output>())
        .with_annotations(annotations);
    ToolRoute::new_dyn(tool, |context| Box::pin(async { Ok(answer::<T>(context).await) }))
}

async fn answer<T: Tool>(context: ToolCallContext<'_, Server>) -> CallToolResponse {
    let (call, arguments) = Call::of_tool(T::NAME, context);
    let result = call.run(async {
        let arguments = serde_json::from_value(arguments).map_err(|error| {
            Failure::new(Code::BadRequest, format!("the arguments of {}: {error}", T::NAME))
        })?;
        let output = T::call(arguments, &call).await?;
        serde_json::to_value(output).map_err(|error| Failure::new(Code::Internal, error.to_string()).into())
    });
    match result.await {
        Ok(output) => CallToolResult::structured(output).into(),
        Err(End::Failed(failure)) => failure.into_result().into(),
        Err(End::GivenBack(input)) => (*input).into(),
    }
}

/// What a tool says, as text; `name` is that of a tool that only looks.
pub(super) async fn text_of(name: &str, arguments: Value, call: &Call<'_>) -> Result<String, Failure> {
    match name {
        status::GuestStatus::NAME => said::<status::GuestStatus>(arguments, call).await,
        events::EventsRead::NAME => said::<events::EventsRead>(arguments, call).await,
        asks::AsksWait::NAME => said::<asks::AsksWait>(arguments, call).await,
        _ => Err(Failure::new(Code::Internal, format!("{name} is not shown as a resource"))),
    }
}

async fn said<T: Tool>(arguments: Value, call: &Call<'_>) -> Result<String, Failure> {
    let output = T::call(parsed(arguments)?, call).await.map_err(End::into_failure)?;
    serde_json::to_string(&output).map_err(|error| Failure::new(Code::Internal, error.to_string()))
}

/// The first bytes of a file, and whether it goes on after them.
pub(super) async fn file_bytes(path: Vec<u8>, max: u64, call: &Call<'_>) -> Result<(Vec<u8>, bool), Failure> {
    let mut request = with_bytes("fs.read", "path", path);
    request["length"] = max.into();
    let reply = call.request(None, request).await?;
    let bytes = content_of(&reply.ok)
        .ok_or_else(|| Failure::new(Code::Protocol, "the hub's reply has no content"))?;
    Ok((bytes, reply.ok["truncated"] == true))
}

/// Bytes as text where that is exact and safe, else as base64.
pub(super) fn plain_text(bytes: Vec<u8>) -> Result<String, String> {
    match String::from_utf8(bytes) {
        Ok(text) if is_plain(&text, Shape::Lines) => Ok(text),
        Ok(text) => Err(encode(text.as_bytes())),
        Err(error) => Err(encode(error.as_bytes())),
    }
}

/// How text from the guest, or for it, stands for bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Encoding {
    #[default]
    Text,
    Escaped,
}

/// The bytes that a client means by this text.
fn bytes_of(field: &str, text: String, encoding: Option<Encoding>) -> Result<Vec<u8>, Failure> {
    match encoding.unwrap_or_default() {
        Encoding::Text => Ok(text.into_bytes()),
        Encoding::Escaped => unescape(&text).ok_or_else(|| {
            Failure::new(Code::BadRequest, format!("`{field}` has a backslash that begins no escape"))
        }),
    }
}

/// Text from the guest, and how it is to be read where that is not as it is.
fn shown(bytes: &[u8], shape: Shape) -> (String, Option<Encoding>) {
    let (text, is_escaped) = show(bytes, shape);
    (text, is_escaped.then_some(Encoding::Escaped))
}

/// A request to the hub with bytes in it, as `docs/host.md` wants them.
fn with_bytes(op: &str, field: &str, bytes: Vec<u8>) -> Value {
    let mut request = Value::Object(Map::new());
    request["op"] = op.into();
    put_bytes(&mut request, field, bytes);
    request
}

/// One more field with bytes in it.
fn put_bytes(request: &mut Value, field: &str, bytes: Vec<u8>) {
    match String::from_utf8(bytes) {
        Ok(text) => request[field] = text.into(),
        Err(error) => request[format!("{field}_base64")] = encode(error.as_bytes()).into(),
    }
}

/// The bytes of a field in a reply of the hub.
fn bytes_in(object: &Value, field: &str) -> Option<Vec<u8>> {
    if let Some(text) = object.get(field).and_then(Value::as_str) {
        return Some(text.as_bytes().to_vec());
    }
    decode(object.get(format!("{field}_base64"))?.as_str()?)
}

fn encode(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn decode(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

/// The boot that a reply of the guest is of.
fn boot_of(reply: &Reply) -> Result<String, Failure> {
    reply
        .boot
        .clone()
        .ok_or_else(|| Failure::new(Code::Protocol, "the hub's reply names no boot of the guest"))
}

/// What the hub's reply says, in the types of this program.
fn parsed<T: DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value)
        .map_err(|error| Failure::new(Code::Protocol, format!("the hub's reply is not understood: {error}")))
}
