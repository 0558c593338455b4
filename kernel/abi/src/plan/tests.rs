use super::{ARGUMENTS_MAX, Ending, PLAN_MAX, Plan, PlanError, PlanWriter, SAY_MAX, STEPS_MAX, Step};
use proptest::prelude::*;

extern crate std;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

/// A step as the tests make it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Own {
    Say(String),
    Run(Vec<String>),
    Set(String, String),
    Get(String),
}

impl From<Step<'_>> for Own {
    fn from(step: Step<'_>) -> Self {
        match step {
            Step::Say(text) => Self::Say(text.into()),
            Step::Run(arguments) => {
                assert_eq!(arguments.iter().count(), arguments.len());
                Self::Run(arguments.iter().map(Into::into).collect())
            }
            Step::Set { key, value } => Self::Set(key.into(), value.into()),
            Step::Get { key } => Self::Get(key.into()),
        }
    }
}

fn put(writer: &mut PlanWriter, step: &Own) -> Result<(), PlanError> {
    match step {
        Own::Say(text) => writer.say(text),
        Own::Run(arguments) => writer.run(arguments),
        Own::Set(key, value) => writer.set(key, value),
        Own::Get(key) => writer.get(key),
    }
}

/// A plan of one step that is written as it stands.
fn raw(kind: u8, body: &[u8]) -> Vec<u8> {
    let len = u16::try_from(body.len()).unwrap().to_le_bytes();
    [&[0, b'P', 1, 0, 1, kind][..], &len, body].concat()
}

#[test]
fn the_bytes_are_these() {
    let mut writer = PlanWriter::default();
    writer.say("é").unwrap();
    writer.run(&["ls", ""]).unwrap();
    writer.set("model", "m 1").unwrap();
    writer.get("model").unwrap();
    let golden = b"\0P\x01\x01\x04\
        \x01\x02\0\xc3\xa9\
        \x02\x07\0\x02\x02\0ls\0\0\
        \x03\x09\0\x05modelm 1\
        \x04\x05\0model";
    assert_eq!(writer.finish(Ending::More).unwrap(), golden);
    let plan = Plan::decode(golden).unwrap();
    assert_eq!(plan.ending(), Ending::More);
    let own: Vec<Own> = plan.steps().map(Own::from).collect();
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    assert_eq!(
        own,
        [
            Own::Say("é".into()),
            Own::Run(words(&["ls", ""])),
            Own::Set("model".into(), "m 1".into()),
            Own::Get("model".into())
        ]
    );
}

#[test]
fn what_is_wrong_is_told_and_nothing_is_taken() {
    let mut nine: Vec<u8> = raw(1, b"x");
    nine[4] = 2;
    let cases: [(&[u8], PlanError); 21] = [
        (b"", PlanError::Cut),
        (b"\0P\x01\0", PlanError::Cut),
        (b"\0P\x01\0\0", PlanError::StepCount),
        (b"\0P\x01\0\x11", PlanError::StepCount),
        (b"\0P\x02\0\x01\x01\x01\0x", PlanError::OtherLayout),
        (b"SAY x", PlanError::OtherLayout),
        (b"\0P\x01\x03\x01\x01\x01\0x", PlanError::UnknownFlags),
        (&nine, PlanError::Cut),
        (&[raw(1, b"x"), vec![0]].concat(), PlanError::BytesLeft),
        (&raw(0, b"x"), PlanError::UnknownKind),
        (&raw(5, b"x"), PlanError::UnknownKind),
        (&raw(1, b""), PlanError::SayLength),
        (&raw(1, &[b'x'; SAY_MAX + 1]), PlanError::SayLength),
        (&raw(1, b"\xff"), PlanError::NotUtf8),
        (&raw(1, b"\x1b[2J"), PlanError::HiddenCharacter),
        (&raw(2, b"\0"), PlanError::Arguments),
        (&raw(2, b"\x01\0\0"), PlanError::Arguments),
        (&raw(2, b"\x01\x02\0ls!"), PlanError::BytesLeft),
        (&raw(2, b"\x01\x03\0l\ns"), PlanError::HiddenCharacter),
        (&raw(3, b"\x03a=bc"), PlanError::Setting),
        (&raw(4, b""), PlanError::Setting),
    ];
    for (bytes, error) in cases {
        assert_eq!(Plan::decode(bytes), Err(error), "{}", bytes.escape_ascii());
    }
    assert_eq!(Plan::decode(&vec![0; PLAN_MAX + 1]), Err(PlanError::TooLong));
}

#[test]
fn the_writer_refuses_what_the_reader_would() {
    let mut writer = PlanWriter::default();
    assert_eq!(writer.finish(Ending::Done), Err(PlanError::StepCount));
    assert_eq!(writer.run(&[""; 0]), Err(PlanError::Arguments));
    assert_eq!(writer.run(&vec!["x"; ARGUMENTS_MAX + 1]), Err(PlanError::Arguments));
    assert_eq!(writer.run(&["echo", "a\0b"]), Err(PlanError::HiddenCharacter));
    assert_eq!(writer.say("\u{202e}x"), Err(PlanError::HiddenCharacter));
    assert_eq!(writer.set("Key", ""), Err(PlanError::Setting));
    assert_eq!(writer.set("key", "a\nb"), Err(PlanError::Setting));
    writer.say(&"x".repeat(SAY_MAX)).unwrap();
    assert_eq!(writer.say(&"x".repeat(SAY_MAX)), Err(PlanError::TooLong));
    for _ in 1..STEPS_MAX {
        writer.get("k").unwrap();
    }
    assert_eq!(writer.get("k"), Err(PlanError::StepCount));
    assert_eq!(Plan::decode(writer.finish(Ending::Done).unwrap()).unwrap().len(), STEPS_MAX);
}

fn any_step() -> impl Strategy<Value = Own> {
    prop_oneof![
        any::<String>().prop_map(Own::Say),
        "[ -~é中\t\n]{1,200}".prop_map(Own::Say),
        prop::collection::vec(any::<String>(), 0..40).prop_map(Own::Run),
        prop::collection::vec("[ -~é中]{0,40}", 1..5).prop_map(Own::Run),
        ("[a-z_0-9]{0,40}", any::<String>()).prop_map(|(key, value)| Own::Set(key, value)),
        "[a-z_]{1,12}".prop_map(Own::Get),
    ]
}

proptest! {
    #[test]
    fn what_the_writer_took_comes_out_again(steps in prop::collection::vec(any_step(), 0..20), failed: bool) {
        let mut writer = PlanWriter::default();
        let taken: Vec<Own> = steps.into_iter().filter(|step| put(&mut writer, step).is_ok()).collect();
        let ending = if failed { Ending::Failed } else { Ending::Done };
        match writer.finish(ending) {
            Ok(bytes) => {
                let plan = Plan::decode(bytes).unwrap();
                prop_assert_eq!(plan.steps().map(Own::from).collect::<Vec<_>>(), taken);
                prop_assert_eq!(plan.ending(), ending);
            }
            Err(error) => prop_assert!(taken.is_empty() && error == PlanError::StepCount),
        }
    }

    #[test]
    fn any_bytes_are_a_plan_within_its_limits_or_none(
        start in prop::collection::vec(any::<u8>(), 0..64),
        steps in prop::collection::vec((1_u8..5, prop::collection::vec(any::<u8>(), 0..40)), 0..18),
    ) {
        let count = u8::try_from(steps.len()).unwrap();
        let bodies = steps.iter().flat_map(|(kind, body)| raw(*kind, body).split_off(5));
        let bytes: Vec<u8> = [0, b'P', 1, 0, count].into_iter().chain(bodies).collect();
        for bytes in [&start, &bytes] {
            let Ok(plan) = Plan::decode(bytes) else { continue };
            // Each of its steps is one that the writer takes, and together they are the same bytes.
            let mut writer = PlanWriter::default();
            plan.steps().for_each(|step| put(&mut writer, &step.into()).unwrap());
            prop_assert_eq!(writer.finish(plan.ending()).unwrap(), &bytes[..]);
        }
    }
}
