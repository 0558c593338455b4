//! What a client is told that captures the line.

use host_bridge::client::HubClient;
use host_bridge::json::{Captured, captured_of};
use host_bridge::link::Door;
use host_bridge::tap::{Direction, Verdict};
use serde_json::{Value, json};

use crate::bench::{Bench, ask, line, until};

fn start(bench: &Bench) -> HubClient {
    let mut client = bench.client();
    let begun = ask(&mut client, json!({ "op": "link.capture" }));
    assert_eq!(begun, Ok(json!({ "on": true, "captured": 0, "dropped": 0 })), "before the first line");
    client
}

/// Ends the capture: the lines until then, and the counts.
fn finish(client: &mut HubClient) -> (Vec<Captured>, Value) {
    client.send(br#"{"id":"end","op":"link.capture","on":false}"#).unwrap();
    let mut captured = Vec::new();
    loop {
        let line = line(client);
        match captured_of(&line) {
            Some(one) => captured.push(one),
            None => return (captured, line["ok"].clone()),
        }
    }
}

#[test]
fn both_directions_and_the_line_are_told_in_order_and_counted() {
    let bench = Bench::new();
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    let (mut client, mut other) = (start(&bench), start(&bench));
    assert!(bench.call(json!({ "op": "fs.stat", "path": "/proc/version" })).is_ok());
    bench.guest.babble(&[0, 9, 1, 2, 0]);
    bench.guest.unplug();
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    until("another session", || bench.call(json!({ "op": "fs.stat", "path": "/" })).is_ok());
    let (captured, counts) = finish(&mut client);
    assert_eq!(counts, json!({ "on": false, "captured": captured.len(), "dropped": 0 }));
    // The answer to a ping from before the capture may come first.
    let is_stat = |one: &Captured| matches!(one, Captured::Bytes { bytes, .. } if bytes.windows(8).any(|at| at == b"/version"));
    let asked = find(&captured, |one| is(one, Direction::ToGuest, Verdict::Whole) && is_stat(one));
    let places = [
        asked,
        asked + find(&captured[asked..], |one| is(one, Direction::ToHost, Verdict::Whole)),
        find(
            &captured,
            |one| matches!(one, Captured::Bytes { bytes, verdict: Verdict::Broken(_), .. } if bytes == &[9, 1, 2]),
        ),
        find(&captured, |one| matches!(one, Captured::Link { up: false, .. })),
        find(&captured, |one| matches!(one, Captured::Link { up: true, .. })),
    ];
    assert!(places.is_sorted(), "{places:?} in {captured:?}");
    let times: Vec<_> = captured.iter().map(time).collect();
    assert!(times.is_sorted() && times[0] > 1_600_000_000_000_000_000, "{times:?}");
    let (others, _) = finish(&mut other);
    // It began a little later.
    let same = others.iter().position(|one| *one == captured[asked]).unwrap();
    assert_eq!(others[same..][..captured.len() - asked], captured[asked..], "both are told the same");
}

fn find(captured: &[Captured], is_it: impl Fn(&Captured) -> bool) -> usize {
    captured.iter().position(is_it).unwrap_or_else(|| panic!("not all is in {captured:?}"))
}

fn is(one: &Captured, way: Direction, what: Verdict) -> bool {
    matches!(one, Captured::Bytes { direction, verdict, .. } if (*direction, *verdict) == (way, what))
}

fn time(one: &Captured) -> u64 {
    match one {
        Captured::Bytes { unix_ns, .. } | Captured::Link { unix_ns, .. } => *unix_ns,
        Captured::Lost(_) => panic!("nothing was lost"),
    }
}

#[test]
fn what_is_seen_at_each_door_is_told_as_of_that_door() {
    let bench = Bench::with_both_doors();
    let mut client = start(&bench);
    assert!(bench.call(json!({ "op": "fs.stat", "path": "/at-data" })).is_err());
    for (door, noise) in [(Door::Com2, 1), (Door::Data, 2)] {
        bench.guest.babble_at(door, &[0, 9, 1, noise, 0]);
    }
    bench.guest.lock().has_data = false;
    bench.guest.unplug_at(Door::Data);
    bench.until(json!({ "op": "status" }), |status| status["door"] == "com2");
    assert!(bench.call(json!({ "op": "fs.stat", "path": "/at-com2" })).is_err());
    bench.guest.lock().has_data = true;
    bench.until(json!({ "op": "status" }), |status| status["door"] == "data");
    let (captured, _) = finish(&mut client);
    // On a busy machine it may have been sent again, and through the other door if that was open.
    for (path, door) in [(&b"/at-data"[..], Door::Data), (b"/at-com2", Door::Com2)] {
        let holds = |bytes: &[u8]| bytes.windows(path.len()).any(|at| at == path);
        let doors: Vec<_> = captured.iter().filter(|one| bytes(one).is_some_and(holds)).map(at).collect();
        assert!(doors.contains(&Some(door)), "{doors:?}");
        assert!(door == Door::Data || !doors.contains(&Some(Door::Data)), "it was closed: {doors:?}");
    }
    let noise = captured.iter().filter(|one| bytes(one).is_some_and(|bytes| bytes.starts_with(&[9, 1])));
    let mut noise: Vec<_> = noise.map(|one| (at(one), bytes(one).unwrap()[2])).collect();
    noise.sort();
    assert_eq!(noise, [(Some(Door::Com2), 1), (Some(Door::Data), 2)]);
    let links: Vec<_> = captured
        .iter()
        .filter_map(|one| match one {
            Captured::Link { door, up, .. } => Some((*door, *up)),
            _ => None,
        })
        .collect();
    assert_eq!(links[..2], [(Door::Data, false), (Door::Data, true)]);
}

fn at(one: &Captured) -> Option<Door> {
    match one {
        Captured::Bytes { door, .. } | Captured::Link { door, .. } => Some(*door),
        Captured::Lost(_) => None,
    }
}

fn bytes(one: &Captured) -> Option<&[u8]> {
    match one {
        Captured::Bytes { bytes, .. } => Some(bytes),
        _ => None,
    }
}

#[test]
fn a_capture_that_has_ended_is_told_nothing_more_and_may_begin_again() {
    let bench = Bench::new();
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    let mut client = start(&bench);
    // A ping of the session's own may have been told.
    assert_eq!(finish(&mut client).1["on"], false);
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    let nothing = ask(&mut client, json!({ "op": "link.capture", "on": false }));
    assert_eq!(nothing, Ok(json!({ "on": false, "captured": 0, "dropped": 0 })));
    assert!(ask(&mut client, json!({ "op": "link.capture" })).is_ok());
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    let (captured, _) = finish(&mut client);
    assert!(captured.iter().any(|one| is(one, Direction::ToHost, Verdict::Whole)), "{captured:?}");
}
