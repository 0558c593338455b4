//! What a model said, read as a plan. Words alone are words; anything that claims to be a plan is one as a whole or is
//! refused as a whole.

use askr_abi::plan::{ARGUMENTS_MAX, Ending, STEPS_MAX, is_key, is_value};
use serde_json::{Map, Value};

use super::super::plan::{Plan, Step};

/// `clean` takes out of a text what is not for the guest. It is given the text as it came, and what the strings in it mean.
///
/// # Errors
/// Why it is no plan, for people.
pub(in crate::agent) fn plan(text: &str, clean: impl Fn(&str) -> String) -> Result<Plan, String> {
    read(&clean(text), &clean).map_err(|why| clean(&why))
}

fn read(text: &str, clean: &impl Fn(&str) -> String) -> Result<Plan, String> {
    let text = without_fence(text.trim());
    if text.is_empty() {
        return Err("it is empty".into());
    }
    if !text.starts_with(['{', '[']) {
        return Ok(Plan::say(text));
    }
    let mut value = serde_json::from_str(text).map_err(|_| "it is no whole JSON")?;
    clean_strings(&mut value, clean);
    let Value::Object(object) = value else { return Err("it is no JSON object".into()) };
    let plan = from_object(&object)?;
    plan.encode().map_err(|error| error.to_string())?;
    Ok(plan)
}

/// JSON has many ways to write a letter.
fn clean_strings(value: &mut Value, clean: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = clean(text),
        Value::Array(values) => values.iter_mut().for_each(|value| clean_strings(value, clean)),
        Value::Object(fields) => fields.values_mut().for_each(|value| clean_strings(value, clean)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What stands between the marks that models like to put around JSON.
fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|inner| inner.trim().strip_suffix("```")).map_or(text, str::trim)
}

fn from_object(object: &Map<String, Value>) -> Result<Plan, String> {
    if let Some(other) = object.keys().find(|key| !matches!(key.as_str(), "steps" | "more")) {
        return Err(format!("it has an unknown field {other:?}"));
    }
    let more = match object.get("more") {
        None => false,
        Some(more) => more.as_bool().ok_or("\"more\" is neither true nor false")?,
    };
    let steps = object.get("steps").and_then(Value::as_array).ok_or("it has no list of steps")?;
    if !(1..=STEPS_MAX).contains(&steps.len()) {
        return Err(format!("it has {} steps, and 1 to {STEPS_MAX} are possible", steps.len()));
    }
    let steps: Result<Vec<Step>, String> = steps.iter().map(step).collect();
    Ok(Plan { steps: steps?, ending: if more { Ending::More } else { Ending::Done } })
}

fn step(value: &Value) -> Result<Step, String> {
    let mut fields = value.as_object().into_iter().flatten();
    let (Some((kind, value)), None) = (fields.next(), fields.next()) else {
        return Err("a step is no object with one field".into());
    };
    let step = match kind.as_str() {
        "say" => value.as_str().map(|text| Step::Say(text.to_owned())),
        "run" => strings(value).filter(|words| (1..=ARGUMENTS_MAX).contains(&words.len())).map(Step::Run),
        "set" => match strings(value).as_deref() {
            Some([key, value]) if is_key(key) && is_value(value) => {
                Some(Step::Set(key.clone(), value.clone()))
            }
            _ => None,
        },
        "get" => value.as_str().filter(|key| is_key(key)).map(|key| Step::Get(key.to_owned())),
        _ => return Err(format!("there is no kind of step {kind:?}")),
    };
    step.ok_or_else(|| format!("the value of a step {kind:?} is impossible"))
}

/// All of a list, if all are strings.
fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|one| one.as_str().map(str::to_owned)).collect()
}
