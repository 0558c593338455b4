//! Two doors in one capture: each packet is of its own, and what goes on at another door belongs together all the same.

use std::collections::BTreeSet;

use host_bridge::link::Door;
use serde_json::json;

use crate::bench::Bench;
use crate::line::Capture;
use crate::tshark;

/// Of a guest that loses its data door and gets it again.
fn conversation() -> crate::line::Ended {
    let bench = Bench::with_both_doors();
    let mut capture = Capture::start(&bench.socket, &[]);
    assert!(bench.call(json!({ "op": "fs.stat", "path": "/data" })).is_err());
    for door in Door::ALL {
        bench.guest.babble_at(door, &[0, 9, 1, 2, 0]);
    }
    bench.guest.lock().has_data = false;
    bench.guest.unplug_at(Door::Data);
    bench.until(json!({ "op": "status" }), |status| status["door"] == "com2");
    assert!(bench.call(json!({ "op": "fs.stat", "path": "/com2" })).is_err());
    bench.guest.lock().has_data = true;
    bench.until(json!({ "op": "status" }), |status| status["door"] == "data");
    let said = capture.wait_for("the connection to the data door was made");
    assert!(said.contains("the connection to the data door ended") && !said.contains("COM2"), "{said}");
    capture.interrupt()
}

#[test]
fn each_packet_is_of_its_door_and_a_session_is_one_at_all_of_them() {
    if tshark::is_missing() {
        return;
    }
    let ended = conversation();
    tshark::check_script(&ended.file);
    let rows = |filter: &str, fields: &[&str]| tshark::fields(&ended.file, filter, fields);
    let columns = ["askr.door", "_ws.col.Source", "_ws.col.Destination", "askr.session"];
    let mut sessions = BTreeSet::new();
    for door in Door::ALL {
        let (name, guest) = (door.name(), format!("guest:{}", door.name()));
        let path = format!("askr.path == \"/{name}\"");
        // On a busy machine it may have been sent again, and through the other door if that was open.
        for (kind, from, to) in [("REQUEST", "host", &guest[..]), ("RESPONSE", &guest, "host")] {
            let packets = rows(&format!("{path} && askr.type == \"{kind}\""), &columns);
            let is_of_door = |packet: &Vec<String>| packet[..3] == [name, from, to];
            assert!(packets.iter().any(is_of_door), "{packets:?}");
            assert!(door == Door::Data || packets.iter().all(is_of_door), "it was closed: {packets:?}");
            sessions.extend(packets.into_iter().map(|packet| packet[3].clone()));
        }
        let broken = rows(&format!("askr.expert.broken && askr.door == \"{name}\""), &["askr.line"]);
        assert_eq!(broken, [["090102"]]);
    }
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let links = rows("askr.expert.link", &["askr.door", "_ws.col.Info"]);
    assert_eq!(
        links[..2],
        [
            ["data", "The connection to the data door ended"],
            ["data", "The connection to the data door was made"]
        ]
    );
    assert!(rows("askr.expert.malformed || askr.expert.wrong_way", &["frame.number"]).is_empty());
}

/// HELLO is the same at both doors, but no frame of a base peer belongs to one at the other.
#[test]
fn what_is_asked_at_a_door_without_a_session_is_answered_there() {
    if tshark::is_missing() {
        return;
    }
    let bench = Bench::with_both_doors();
    bench.guest.lock().deaf = true;
    bench.guest.unplug();
    let capture = Capture::start(&bench.socket, &[]);
    for door in [1, 2] {
        // Version, to guest, whole.
        capture.wait_for_bytes(&[1, 1, 0, door]);
    }
    bench.guest.hear();
    bench.until(json!({ "op": "status" }), |status| status["door"] == "data");
    let ended = capture.interrupt();
    let rows = |filter: &str, fields: &[&str]| tshark::fields(&ended.file, filter, fields);
    let requests = rows("askr.verb == \"HELLO\" && askr.type == \"REQUEST\"", &["frame.number", "askr.door"]);
    let answers = rows("askr.verb == \"HELLO\" && askr.request_in", &["askr.request_in", "askr.door"]);
    assert!(answers.iter().all(|answer| requests.contains(answer)), "{answers:?} of {requests:?}");
    assert!(Door::ALL.iter().all(|door| answers.iter().any(|row| row[1] == door.name())), "{answers:?}");
}
