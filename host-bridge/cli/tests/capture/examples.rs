//! The examples of `docs/protocol.md`: every line of an example is a field, with the value that its comment tells.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::Path;

use crate::line::{Capture, Line};
use crate::tshark;

const PAGE: &str = include_str!("../../../../docs/protocol.md");
/// The names of the fields of each example, in their order.
const GOLDEN: &str = "tests/capture/examples.txt";
/// Set to write them as they are now.
const BLESS: &str = "ASKR_BLESS";
/// Fields of the packet, and such as repeat what another one says.
const NOT_OF_THE_FRAME: [&str; 5] = ["capture_version", "direction", "verdict", "door", "line"];
/// Names of values, and how the page says it in other words.
const OTHER_WORDS: [(&str, &str); 4] = [
    ("symlink", "symbolic link"),
    ("signalled", "ended by a signal"),
    ("reboot", "start again"),
    ("itself", "none yet"),
];

/// One line of an example: where it is in the frame, its bytes, its comment.
struct Part {
    bytes: Vec<u8>,
    at: usize,
    comment: &'static str,
}

/// The examples, in the order of the page. A line without a comment belongs to the one before.
fn examples() -> Vec<(&'static str, Vec<Part>)> {
    let (mut examples, mut lines) = (Vec::new(), PAGE.lines());
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("```hex ") else { continue };
        let (mut parts, mut at) = (Vec::<Part>::new(), 0);
        for line in lines.by_ref().take_while(|line| *line != "```") {
            let (hex, comment) = line.split_once('#').unwrap_or((line, ""));
            let bytes: Vec<_> =
                hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
            let len = bytes.len();
            match parts.last_mut() {
                Some(last) if comment.is_empty() => last.bytes.extend(bytes),
                _ => parts.push(Part { bytes, at, comment: comment.trim() }),
            }
            at += len;
        }
        examples.push((name, parts));
    }
    examples
}

/// A field as `tshark -T pdml` tells it.
#[derive(Debug)]
struct Field {
    name: String,
    at: usize,
    size: usize,
    show: String,
    showname: String,
}

fn attribute(element: &str, name: &str) -> Option<String> {
    let begin = element.find(&format!(" {name}=\""))? + name.len() + 3;
    let value = &element[begin..begin + element[begin..].find('"')?];
    let plain = [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&apos;", "'"), ("&amp;", "&")];
    Some(plain.iter().fold(value.to_owned(), |text, (coded, plain)| text.replace(coded, plain)))
}

/// The fields of each packet that have bytes.
fn packets(pdml: &str) -> Vec<Vec<Field>> {
    let mut packets = Vec::new();
    for line in pdml.lines().map(str::trim) {
        if line == "<packet>" {
            packets.push(Vec::new());
        }
        let Some(name) =
            attribute(line, "name").and_then(|name| Some(name.strip_prefix("askr.")?.to_owned()))
        else {
            continue;
        };
        let number = |of| attribute(line, of).and_then(|number| number.parse().ok()).unwrap_or(0);
        let text = |of| attribute(line, of).unwrap_or_default();
        let field = Field {
            at: number("pos"),
            size: number("size"),
            show: text("show"),
            showname: text("showname"),
            name,
        };
        if field.size > 0 && !NOT_OF_THE_FRAME.contains(&&field.name[..]) {
            packets.last_mut().unwrap().push(field);
        }
    }
    packets
}

/// Little-endian.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn parsed(show: &str) -> Option<u64> {
    match (show.strip_prefix("0x"), show.strip_prefix('0')) {
        (Some(hex), _) => u64::from_str_radix(hex, 16).ok(),
        (None, Some(octal)) if !octal.is_empty() => u64::from_str_radix(octal, 8).ok(),
        _ => show.parse().ok(),
    }
}

/// That the value is that of the bytes, and the words those of the page.
fn check(name: &str, part: &Part, field: &Field) {
    let of = format!("{name}, `{}`: {field:?}", part.comment);
    if let Some(text) = part.comment.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        let is_text = field.show.trim_end_matches("\\n") == text.0;
        let is_hex = field.show.replace(':', "")
            == part.bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert!(is_text || is_hex, "{of}");
    } else if part.bytes.len() <= 8
        && parsed(&field.show).is_some()
        && field.name != "session"
        && field.name != "new_session"
    {
        assert_eq!(parsed(&field.show), Some(number(&part.bytes)), "{of}");
    }
    // "Cause: deadline (1)": the field has names for its values.
    let named = field.showname.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    let named = named.filter(|(_, number)| number.parse::<u64>().is_ok());
    if let Some(value) = named.and_then(|(rest, _)| Some(rest.split_once(": ")?.1)) {
        let is_said = part.comment.to_lowercase().contains(&value.replace('_', " ").to_lowercase());
        let is_said_otherwise =
            OTHER_WORDS.iter().any(|&(word, other)| word == value && part.comment.contains(other));
        assert!(is_said || is_said_otherwise || field.name == "known_verb", "{of}");
    }
}

/// That the fields of a packet are the lines of the example.
fn compare(name: &str, parts: &[Part], fields: &[Field]) {
    let places: BTreeSet<_> = fields.iter().map(|field| (field.at, field.size)).collect();
    let mut lines: BTreeSet<_> = parts.iter().map(|part| (part.at, part.bytes.len())).collect();
    if name == "hello-response" {
        // The page tells a verb and its generation in one line.
        for part in parts.iter().filter(|part| part.comment.contains(", generation ")) {
            lines.remove(&(part.at, 4));
            lines.extend([(part.at, 2), (part.at + 2, 2)]);
        }
    }
    assert_eq!(places, lines, "{name}");
    for part in parts {
        for field in fields.iter().filter(|field| (field.at, field.size) == (part.at, part.bytes.len())) {
            if !matches!(
                &field.name[..],
                "type" | "verb" | "event" | "intent" | "status" | "event_number" | "in_session"
            ) {
                check(name, part, field);
            }
        }
    }
}

#[test]
fn the_fields_of_a_frame_are_the_lines_of_its_example_on_the_page() {
    if tshark::is_missing() {
        return;
    }
    let line = Line::new();
    let capture = Capture::start(&line.socket(), &[]);
    let (mut port, examples) = (line.port(), examples());
    let mut last = Vec::new();
    for (_, parts) in &examples {
        let raw: Vec<_> = parts.iter().flat_map(|part| &part.bytes).copied().collect();
        last = cobs::encode_vec(&raw);
        port.write_all(&[&[0], &last[..], &[0]].concat()).unwrap();
    }
    capture.wait_for_bytes(&last);
    let ended = capture.interrupt();
    tshark::check_script(&ended.file);
    assert_eq!(tshark::run(&ended.file, &["-Y", "askr.expert.malformed || askr.expert.broken"]), "");
    let pdml = tshark::run(&ended.file, &["-Y", "askr.direction == \"to host\"", "-T", "pdml"]);
    let packets = packets(&pdml);
    assert_eq!(packets.len(), examples.len());
    let mut names = BTreeMap::new();
    for ((name, parts), fields) in examples.iter().zip(&packets) {
        compare(name, parts, fields);
        names.insert(*name, fields.iter().map(|field| &field.name[..]).collect::<Vec<_>>().join(" "));
    }
    let names = names.into_iter().fold(String::new(), |mut all, (name, fields)| {
        let _ = writeln!(all, "{name}: {fields}");
        all
    });
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    if std::env::var_os(BLESS).is_some() {
        fs::write(&golden, &names).unwrap();
    }
    let expected = fs::read_to_string(&golden).unwrap();
    assert!(names == expected, "not {GOLDEN}; if that is meant, run this with {BLESS}=1:\n{names}");
}
