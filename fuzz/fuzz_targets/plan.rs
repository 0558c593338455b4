//! Answers to requests in natural language: what decodes as a plan is within its limits, and writing its steps again gives
//! the same bytes. Lines and the agent's configuration come from the same input.
#![no_main]

use askr_abi::plan::{
    ARGUMENT_MAX, ARGUMENTS_MAX, PLAN_MAX, Plan, PlanWriter, SAY_MAX, STEPS_MAX, Step, is_key, is_value,
};
use askr_abi::{conf_lines, is_hidden};
use askr_userland::answer::Action;
use askr_userland::assist::allow::only_looks;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Action::parse(bytes);
    conf_lines(bytes)
        .for_each(|(_, line)| assert!(line.is_err() || line.is_ok_and(|(key, value)| key.takes(value))));
    let Ok(plan) = Plan::decode(bytes) else { return };
    assert!(bytes.len() <= PLAN_MAX && (1..=STEPS_MAX).contains(&plan.len()));
    assert_eq!(plan.steps().count(), plan.len());
    let mut writer = PlanWriter::default();
    for step in plan.steps() {
        let written = match step {
            Step::Say(text) => {
                assert!(text.len() <= SAY_MAX);
                writer.say(text)
            }
            Step::Run(arguments) => {
                let arguments: Vec<&str> = arguments.iter().collect();
                assert!(arguments.len() <= ARGUMENTS_MAX && !arguments[0].is_empty());
                assert!(arguments.iter().all(|one| one.len() <= ARGUMENT_MAX && !one.contains(is_hidden)));
                let _ = only_looks(&arguments, b"/");
                writer.run(&arguments)
            }
            Step::Set { key, value } => {
                assert!(is_key(key) && is_value(value));
                writer.set(key, value)
            }
            Step::Get { key } => writer.get(key),
        };
        written.expect("what was read can be written");
    }
    assert_eq!(writer.finish(plan.ending()), Ok(bytes));
});
