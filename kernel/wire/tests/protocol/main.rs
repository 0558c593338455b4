//! The examples and tables of `docs/protocol.md` are what this crate does.

mod asks;
mod base;
mod files;
mod jobs;
mod page;
mod sessions;

use std::collections::BTreeSet;

use askr_wire::status::Status;
use askr_wire::vectors::deframe;
use askr_wire::{FRAME_MAX, FrameError, FrameType, code, encode, ext};

use page::{Examples, PAGE, blocks, on_the_wire};

#[test]
fn every_example_is_a_frame_and_is_what_is_sent() {
    let examples = blocks("hex ");
    assert!(examples.len() > 30, "{}", examples.len());
    for (name, raw) in &examples {
        let wire = on_the_wire(raw);
        let verdicts = deframe(&wire);
        let [Ok(frame)] = verdicts.as_slice() else { panic!("{name}: {verdicts:?}") };
        let mut out = [0; FRAME_MAX];
        let len = encode(&frame.as_frame(), &mut out).expect(name);
        assert_eq!(&out[..len], wire, "{name}");
    }
    let wires = blocks("wire ");
    assert!(!wires.is_empty());
    for (name, wire) in wires {
        assert_eq!(on_the_wire(&examples[name]), wire, "{name}");
    }
}

#[test]
fn every_example_says_what_the_page_says() {
    let mut page = Examples::new();
    for compare in [
        base::files,
        base::processes,
        sessions::sessions,
        sessions::system,
        files::changes,
        files::facts,
        jobs::spawn,
        jobs::wait,
        jobs::streams,
        jobs::processes,
        asks::asks,
        asks::asks_with_choices,
        asks::events,
    ] {
        compare(&mut page);
    }
    assert!(page.left.is_empty(), "not compared: {:?}", page.left.keys());
}

/// First two cells of the table rows on the page, without code marks.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        Some((cells.next()?, cells.next()?))
    })
}

#[test]
fn the_tables_have_the_numbers_of_the_code() {
    let rows: BTreeSet<_> = rows().collect();
    for &status in Status::ALL {
        let number = (status as u8).to_string();
        assert!(rows.contains(&(&number, status.name())), "{status}");
    }
    for kind in FrameError::ALL {
        assert!(rows.iter().any(|(name, _)| *name == kind.name()), "{kind}");
    }
    for (kind, name) in
        [(1, "REQUEST"), (2, "RESPONSE"), (3, "EVENT"), (4, "DECISION_REQ"), (5, "DECISION_RESP")]
    {
        assert!(rows.contains(&(kind.to_string().as_str(), name)), "{name}");
        assert_eq!(FrameType::from_u8(kind).map(|kind| kind as u8), Some(kind));
    }
    for &(code, _) in code::VERBS {
        let name = code::verb_name(code).unwrap();
        let is_in_a_table = rows.contains(&(&format!("{code:#06x}"), name));
        assert!(is_in_a_table || code == code::HELLO, "{code:#06x}");
    }
    for (kind, name) in [
        (ext::ASK_FACTS, "ask facts"),
        (ext::ASK_CHOICES, "choices"),
        (ext::ASK_CONTEXT, "context"),
        (ext::ASK_DEFAULT, "default"),
        (ext::FAULT_FACTS, "fault facts"),
    ] {
        assert!(rows.contains(&(kind.to_string().as_str(), name)), "{name}");
    }
    for (event, name) in [
        (code::EVENT_SPAWN, "spawn"),
        (code::EVENT_EXIT, "exit"),
        (code::EVENT_FAULT, "fault"),
        (code::EVENT_OOM, "out of memory"),
        (code::EVENT_DISK_FULL, "disk full"),
        (code::EVENT_BOOT, "boot"),
        (code::EVENT_LINK_LOST, "link lost"),
        (code::EVENT_PANIC, "panic"),
    ] {
        assert!(rows.contains(&(event.to_string().as_str(), name)), "{name}");
    }
}

#[test]
fn every_verb_has_an_example_of_its_request_and_of_its_response() {
    let frames = Examples::new().left;
    for &(code, _) in code::VERBS {
        for kind in [FrameType::Request, FrameType::Response] {
            let has_one = frames.values().any(|frame| (frame.kind, frame.code) == (kind, code));
            assert!(has_one, "{kind:?} of {code:#06x}");
        }
    }
}
