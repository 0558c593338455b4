//! Schemas as every client takes them: an object at the root, nothing but plain types inside.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of a tool's arguments.
pub(super) fn arguments<T: JsonSchema>() -> Arc<JsonObject> {
    generate::<T>(SchemaSettings::draft2020_12())
}

/// The schema of a tool's result.
pub(super) fn result<T: JsonSchema>() -> Arc<JsonObject> {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Arc<JsonObject> {
    let settings = settings.with(|settings| {
        // No `$defs` and no `$ref`: several clients do not follow them.
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let generator = settings.with_transform(RecursiveTransform(plain)).into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.remove("description");
    match schema.to_value() {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

/// Fields that are not there are left out and never null; formats such as `uint64` are no standard; the line ends of
/// this source mean nothing.
fn plain(schema: &mut Schema) {
    schema.remove("title");
    schema.remove("format");
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    let Some(Value::Array(types)) = schema.get_mut("type") else { return };
    types.retain(|name| name != "null");
    if let [one] = &types[..] {
        let one = one.clone();
        schema.insert("type".into(), one);
    }
}
