//! What the tools do. Each is a type: its arguments, its result, and how one comes from the other.

mod asks;
mod files;
mod processes;
mod status;

use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{CallToolResult, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::call::Call;
use super::error::{Code, Failure};
use super::guests::Reply;
use super::schema;
use super::server::Server;
use super::text::{Shape, show, unescape};

/// What a tool does to the guest, as far as clients ask before they call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Changes nothing.
    Reads,
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
    ) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// All tools.
pub(super) fn router() -> ToolRouter<Server> {
    ToolRouter::new()
        .with_route(route::<status::GuestStatus>())
        .with_route(route::<files::FsList>())
        .with_route(route::<files::FsRead>())
        .with_route(route::<files::FsStat>())
        .with_route(route::<processes::ProcList>())
        .with_route(route::<asks::AsksWait>())
        .with_route(route::<asks::AskAnswer>())
}

fn route<T: Tool + 'static>() -> ToolRoute<Server> {
    let annotations = ToolAnnotations::new()
        .read_only(T::EFFECT == Effect::Reads)
        .destructive(T::EFFECT == Effect::Decides)
        .idempotent(true)
        // Nothing outside this guest.
        .open_world(false);
    let tool = rmcp::model::Tool::new(T::NAME, T::DESCRIPTION, schema::arguments::<T::Arguments>())
        .with_title(T::TITLE)
        .with_raw_output_schema(schema::result::<T::Output>())
        .with_annotations(annotations);
    ToolRoute::new_dyn(tool, |context| Box::pin(async { Ok(answer::<T>(context).await.into()) }))
}

async fn answer<T: Tool>(context: ToolCallContext<'_, Server>) -> CallToolResult {
    let arguments = Value::Object(context.arguments.unwrap_or_default());
    let call = Call::new(context.service, context.request_context);
    let result = call.run(async {
        let arguments = serde_json::from_value(arguments).map_err(|error| {
            Failure::new(Code::BadRequest, format!("the arguments of {}: {error}", T::NAME))
        })?;
        let output = T::call(arguments, &call).await?;
        serde_json::to_value(output).map_err(|error| Failure::new(Code::Internal, error.to_string()))
    });
    result.await.map_or_else(Failure::into_result, CallToolResult::structured)
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
    let mut request = Map::new();
    request.insert("op".into(), op.into());
    match String::from_utf8(bytes) {
        Ok(text) => request.insert(field.into(), text.into()),
        Err(error) => request.insert(format!("{field}_base64"), encode(error.as_bytes()).into()),
    };
    Value::Object(request)
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
