//! `userland/c/askr.h` says what `askr_abi` says: the C compiler checks the header's numbers and layouts against those of
//! the Rust code, with and without a C library.

use std::fmt::Write as _;
use std::mem::{offset_of, size_of};
use std::path::Path;
use std::process::Command;

use askr_abi::{
    AskArgs, AskBytes, AskPair, CHOICE_MAX, CHOICES_MAX, CONTEXT_KEY_MAX, CONTEXT_MAX, Decider,
    INTENT_GENERIC, INTENT_NATURAL_LANGUAGE, QUESTION_MAX, number,
};

/// Fields of `AskArgs` and of `struct askr_ask`. `default` is a word of C's.
macro_rules! fields {
    ($($rust:ident = $c:ident),*) => {{
        // The pattern names all fields, so a new one does not compile here.
        let AskArgs { $($rust),* } = AskArgs::default();
        [$((stringify!($c), offset_of!(AskArgs, $rust), size_of_val(&$rust))),*]
    }};
}

/// A C file that compiles only if the header is right.
fn checks() -> String {
    let mut source = String::from("#include <askr.h>\n");
    let mut check = |condition: String| writeln!(source, "_Static_assert({condition}, \"\");").unwrap();
    for (name, offset, size) in fields!(
        intent = intent,
        timeout_ms = timeout_ms,
        question = question,
        question_len = question_len,
        answer = answer,
        answer_cap = answer_cap,
        default = default_answer,
        default_len = default_len,
        decider = decider,
        reason = reason,
        answer_len = answer_len,
        answer_total = answer_total,
        choices = choices,
        choices_count = choices_count,
        context = context,
        context_count = context_count
    ) {
        check(format!("offsetof(struct askr_ask, {name}) == {offset}"));
        check(format!("sizeof ((struct askr_ask *)0)->{name} == {size}"));
    }
    check(format!("sizeof(struct askr_ask) == {}", size_of::<AskArgs>()));
    check(format!("sizeof(struct askr_bytes) == {}", size_of::<AskBytes>()));
    check(format!("offsetof(struct askr_bytes, length) == {}", offset_of!(AskBytes, length)));
    check(format!("sizeof(struct askr_pair) == {}", size_of::<AskPair>()));
    check(format!("offsetof(struct askr_pair, value) == {}", offset_of!(AskPair, value)));
    check(format!("ASKR_SYS_AGENT_ASK == {}", number::AGENT_ASK));
    check(format!("ASKR_SYS_AGENT_ANSWER == {}", number::AGENT_ANSWER));
    for (name, value) in [
        ("QUESTION", QUESTION_MAX),
        ("CHOICES", CHOICES_MAX),
        ("CHOICE", CHOICE_MAX),
        ("CONTEXT", CONTEXT_MAX),
        ("CONTEXT_KEY", CONTEXT_KEY_MAX),
    ] {
        check(format!("ASKR_{name}_MAX == {value}"));
    }
    check(format!("ASKR_INTENT_GENERIC == {INTENT_GENERIC}"));
    check(format!("ASKR_INTENT_NATURAL_LANGUAGE == {INTENT_NATURAL_LANGUAGE}"));
    for decider in (0..).map_while(Decider::from_u32) {
        check(format!("ASKR_DECIDER_{} == {}", decider.name().to_uppercase(), decider as u32));
    }
    source
}

fn compile(name: &str, source: &str, options: &[&str]) -> Result<(), String> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, source).unwrap();
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../userland/c");
    let output = Command::new("cc")
        .args(["-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"])
        .args(options)
        .arg("-I")
        .args([&header, &file])
        .output()
        .expect("a C compiler, `cc`: run ./qemu/setup.sh");
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[test]
fn the_header_for_c_agrees_with_the_rust_code() {
    compile("askr_h.c", &checks(), &[]).unwrap();
    compile("askr_h_freestanding.c", &checks(), &["-ffreestanding"]).unwrap();
    // The checks do check.
    let wrong = checks().replace("ASKR_SYS_AGENT_ASK == ", "ASKR_SYS_AGENT_ASK == 1 + ");
    assert!(compile("askr_h_wrong.c", &wrong, &[]).unwrap_err().contains("static assertion failed"));
}
