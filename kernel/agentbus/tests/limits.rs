//! The limits on the page `docs/protocol.md` are those of the code.

use std::collections::BTreeMap;

use askr_abi::{ASK_EXTRA_MAX, CHOICES_MAX, CONTEXT_MAX, QUESTION_MAX};
use askr_agentbus::jobs::{JOBS_MAX, OUTPUT_LIMIT, OUTPUT_LIMIT_MAX, WAIT_MAX};
use askr_agentbus::{
    ASKS_MAX, BASE_REPLIES_MAX, Config, EVENT_BURST, EVENT_NAME_MAX, FAULTS_MAX, LOG_MAX, REFUSALS_MAX,
    URGENT_MAX, WINDOW_MAX,
};
use askr_wire::message::{BACKTRACE_MAX, LIST_ENTRIES_MAX};
use askr_wire::{BASE_PAYLOAD_MAX, PATH_MAX, SESSION_PAYLOAD_MAX};

const PAGE: &str = include_str!("../../../docs/protocol.md");
const SECOND: u64 = 1_000_000_000;

/// What the page's table says, by the thing that is limited.
fn rows() -> BTreeMap<&'static str, &'static str> {
    let (_, section) = PAGE.split_once("\n## Limits\n").expect("a section of that name");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows =
        section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    rows.skip(1).collect()
}

#[test]
fn the_page_has_the_numbers_of_the_code() {
    let Config { lease, base_lease, .. } = Config::new([0; 16], "");
    let limits = [
        ("payload of a base frame", format!("{BASE_PAYLOAD_MAX} bytes")),
        ("payload of a session frame, head and ext included", format!("{SESSION_PAYLOAD_MAX} bytes")),
        ("requests outstanding, of a session", WINDOW_MAX.to_string()),
        ("requests outstanding, of base peers at one door together", BASE_REPLIES_MAX.to_string()),
        ("answers to HELLO and PING in line", format!("{URGENT_MAX}; the others are dropped")),
        (
            "answers in line to requests that were not taken on",
            format!("{REFUSALS_MAX}; the others are dropped"),
        ),
        ("path", format!("{PATH_MAX} bytes")),
        ("question", format!("{QUESTION_MAX} bytes")),
        ("asks that wait", ASKS_MAX.to_string()),
        ("choices of an ask", CHOICES_MAX.to_string()),
        ("pairs of context of an ask", CONTEXT_MAX.to_string()),
        ("choices, context and default of an ask, as they are in the ext", format!("{ASK_EXTRA_MAX} bytes")),
        ("answer", format!("{SESSION_PAYLOAD_MAX} bytes")),
        ("jobs that are known", JOBS_MAX.to_string()),
        (
            "bytes kept of each output of a job",
            format!("{OUTPUT_LIMIT}, or what SPAWN says, up to {OUTPUT_LIMIT_MAX}"),
        ),
        ("WAIT and OUTPUT, each", format!("{} s", WAIT_MAX / SECOND)),
        ("WAIT and OUTPUT that wait at the same time", format!("{WINDOW_MAX}; EBUSY")),
        ("events sent in a row", format!("{EVENT_BURST}, then one in a millisecond")),
        ("events that are kept", format!("{LOG_MAX}, and the facts of {FAULTS_MAX} faults")),
        ("name in an event", format!("{EVENT_NAME_MAX} bytes")),
        ("return addresses in the facts of a fault", BACKTRACE_MAX.to_string()),
        ("entries of a response to LIST", LIST_ENTRIES_MAX.to_string()),
        ("lease of a session", format!("{} s", lease / SECOND)),
        ("lease of a base peer", format!("{} s", base_lease / SECOND)),
    ];
    let rows = rows();
    for (what, how_many) in &limits {
        assert_eq!(rows.get(what), Some(&how_many.as_str()), "{what}");
    }
    assert_eq!(rows.len(), limits.len(), "{rows:?}");
}
