//! Files, directories, processes, counters.

use serde_json::json;

use crate::bench::Bench;
use crate::guest::{Fate, is_response};

#[test]
fn files_are_written_read_listed_and_removed() {
    let bench = Bench::new();
    assert_eq!(bench.call(json!({ "op": "fs.mkdir", "path": "/tmp/d" })), Ok(json!({})));
    let write = json!({ "op": "fs.write", "path": "/tmp/d/a", "content": "héllo" });
    assert_eq!(bench.call(write), Ok(json!({ "written": 6 })));
    let append = json!({ "op": "fs.write", "path": "/tmp/d/a", "content": "IQ==", "encoding": "base64", "mode": "append" });
    assert_eq!(bench.call(append), Ok(json!({ "written": 1 })));
    let read = bench.call(json!({ "op": "fs.read", "path": "/tmp/d/a" })).unwrap();
    let expected = json!({
        "content": "héllo!", "encoding": "text", "nread": 7, "offset": 0, "total": 7, "truncated": false
    });
    assert_eq!(read, expected);
    let list = bench.call(json!({ "op": "fs.list", "path": "/tmp/d" })).unwrap();
    let entry = json!({ "name": "a", "size": 7, "type": "file", "mode": 0o644, "mtime": 3 });
    assert_eq!(list, json!({ "entries": [entry], "truncated": false }));
    let stat = bench.call(json!({ "op": "fs.stat", "path": "/tmp/d" })).unwrap();
    let expected = json!({
        "type": "dir", "mode": 0o755, "uid": 1, "gid": 2, "size": 0, "mtime": 3, "atime": 4, "ctime": 5
    });
    assert_eq!(stat, expected);
    assert_eq!(bench.call(json!({ "op": "fs.remove", "path": "/tmp/d/a" })), Ok(json!({})));
    let gone = bench.call(json!({ "op": "fs.read", "path": "/tmp/d/a" }));
    assert_eq!(gone, Err("ENOENT".into()));
    let empty = json!({ "op": "fs.write", "path": "/tmp/empty", "content": "" });
    assert_eq!(bench.call(empty), Ok(json!({ "written": 0 })));
    let read = bench.call(json!({ "op": "fs.read", "path": "/tmp/empty" })).unwrap();
    assert_eq!((&read["content"], &read["total"]), (&json!(""), &json!(0)));
}

#[test]
fn errors_are_those_of_the_guest() {
    let bench = Bench::new();
    for (request, code) in [
        (json!({ "op": "fs.mkdir", "path": "/tmp" }), "EEXIST"),
        (json!({ "op": "fs.read", "path": "/tmp" }), "EISDIR"),
        (json!({ "op": "fs.list", "path": "/proc/version" }), "ENOTDIR"),
        (json!({ "op": "fs.stat", "path": "tmp" }), "EINVAL"),
        (json!({ "op": "fs.stat", "path": "/a\u{0}b" }), "EINVAL"),
        (json!({ "op": "fs.stat", "path": format!("/{}", "x".repeat(1023)) }), "ENAMETOOLONG"),
        (json!({ "op": "fs.stat", "path": format!("/{}", "x".repeat(5000)) }), "too_large"),
        (json!({ "op": "fs.write", "path": format!("/{}", "x".repeat(5000)), "content": "" }), "too_large"),
    ] {
        assert_eq!(bench.call(request.clone()), Err(code.into()), "{request}");
    }
}

#[test]
fn large_files_cross_in_many_frames_unaltered() {
    let bench = Bench::new();
    let content: String = (0..20_000).map(|n| char::from(b'a' + u8::try_from(n % 23).unwrap())).collect();
    let write = json!({ "op": "fs.write", "path": "/tmp/big", "content": content });
    assert_eq!(bench.call(write), Ok(json!({ "written": 20_000 })));
    assert_eq!(bench.guest.lock().files[&b"/tmp/big"[..]].as_deref(), Some(content.as_bytes()));
    let read = bench.call(json!({ "op": "fs.read", "path": "/tmp/big" })).unwrap();
    assert_eq!(read["content"], content);
    assert_eq!((&read["total"], &read["truncated"]), (&json!(20_000), &json!(false)));
}

#[test]
fn a_write_goes_to_its_offset_and_a_rename_replaces() {
    let bench = Bench::new();
    let content = "0123456789".repeat(2_000);
    bench.call(json!({ "op": "fs.write", "path": "/tmp/a", "content": content })).unwrap();
    let patch = "x".repeat(10_000);
    let write =
        json!({ "op": "fs.write", "path": "/tmp/a", "content": patch, "offset": 15_000, "sync": true });
    assert_eq!(bench.call(write), Ok(json!({ "written": 10_000 })));
    assert_eq!(bench.call(json!({ "op": "fs.rename", "from": "/tmp/a", "to": "/tmp/b" })), Ok(json!({})));
    let guest = bench.guest.lock();
    let expected = [&content.as_bytes()[..15_000], patch.as_bytes()].concat();
    assert_eq!(guest.files[&b"/tmp/b"[..]].as_deref(), Some(&expected[..]));
    assert!(!guest.files.contains_key(&b"/tmp/a"[..]));
    // The last frame of each says that all is to be on the device, when all others have arrived.
    let places: Vec<_> =
        (0..).zip(&guest.done).filter(|(_, done)| done.ends_with("sync")).map(|(at, _)| at).collect();
    assert_eq!(places, [4, 7], "{:?}", guest.done);
}

#[test]
fn a_large_write_survives_a_cut_line_and_ends_whole() {
    let bench = Bench::new();
    let content: String = (0..100_000).map(|n| char::from(b'a' + u8::try_from(n % 23).unwrap())).collect();
    let mut frames = 0;
    bench.guest.lock().line = Box::new(move |frame| {
        frames += 1;
        if is_response(frame) && frames % 5 == 0 { Fate::Lost } else { Fate::Arrives }
    });
    let cutter = bench.guest.clone();
    let cuts = std::thread::spawn(move || {
        cutter.wait_for("a part of the file", |state| state.done.len() > 8);
        cutter.unplug();
    });
    let write = json!({ "op": "fs.write", "path": "/tmp/big", "content": content });
    assert_eq!(bench.call(write), Ok(json!({ "written": 100_000 })));
    cuts.join().unwrap();
    assert_eq!(bench.guest.lock().files[&b"/tmp/big"[..]].as_deref(), Some(content.as_bytes()));
}

#[test]
fn a_part_of_a_file_says_that_it_goes_on() {
    let bench = Bench::new();
    let read = |offset: u64, length: u64| {
        bench
            .call(json!({ "op": "fs.read", "path": "/proc/version", "offset": offset, "length": length }))
            .unwrap()
    };
    let whole = (json!("Askr"), json!(true), json!(11));
    let part = read(0, 4);
    assert_eq!((part["content"].clone(), part["truncated"].clone(), part["total"].clone()), whole);
    let end = read(5, 6);
    assert_eq!(
        (&end["content"], &end["truncated"], &end["total"]),
        (&json!("0.1.0\n"), &json!(false), &json!(11))
    );
    let beyond = read(1 << 31, 10);
    assert_eq!(
        (&beyond["nread"], &beyond["truncated"], &beyond["total"]),
        (&json!(0), &json!(false), &json!(11))
    );
    let nothing = read(0, 0);
    assert_eq!((&nothing["nread"], &nothing["truncated"]), (&json!(0), &json!(true)));
}

#[test]
fn bytes_that_are_no_text_round_trip() {
    let bench = Bench::new();
    let write = json!({
        "op": "fs.write", "path_base64": "L3RtcC//", "content": "gP8A", "encoding": "base64"
    });
    assert_eq!(bench.call(write), Ok(json!({ "written": 3 })));
    assert_eq!(bench.guest.lock().files[&b"/tmp/\xff"[..]].as_deref(), Some(&b"\x80\xff\0"[..]));
    let list = bench.call(json!({ "op": "fs.list", "path": "/tmp" })).unwrap();
    assert_eq!(
        (&list["entries"][0]["name_base64"], &list["entries"][0]["name"]),
        (&json!("/w=="), &json!(null))
    );
    let read = bench.call(json!({ "op": "fs.read", "path_base64": "L3RtcC//" })).unwrap();
    assert_eq!((&read["content"], &read["encoding"]), (&json!("gP8A"), &json!("base64")));
}

#[test]
fn listings_of_many_pages_are_whole() {
    let bench = Bench::new();
    for n in 0..100 {
        bench.guest.lock().files.insert(format!("/tmp/{n:03}").into_bytes(), Some(vec![0; n]));
    }
    let list = bench.call(json!({ "op": "fs.list", "path": "/tmp" })).unwrap();
    let entries = list["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 100);
    assert!(
        entries.iter().enumerate().all(|(n, entry)| entry["name"] == format!("{n:03}") && entry["size"] == n)
    );
    let processes = bench.call(json!({ "op": "proc.list" })).unwrap();
    let process = |pid: u32, state: &str, origin: &str, name: &str| {
        json!({
            "pid": pid, "parent": 0, "group": pid, "job": null, "state": state, "origin": origin, "cpu_ns": 5,
            "memory": 4096, "age_ns": 9, "name": name
        })
    };
    let expected = json!([process(1, "blocked", "console", "init"), process(2, "running", "kernel", "bus")]);
    assert_eq!(processes["processes"], expected);
}

#[test]
fn status_ping_and_stats_tell_how_things_stand() {
    let bench = Bench::new();
    let ping = bench.call(json!({ "op": "ping" })).unwrap();
    assert!(ping["uptime_ns"].as_u64().unwrap() > 0 && ping["pending_asks"] == 0, "{ping}");
    let status = bench.call(json!({ "op": "status" })).unwrap();
    assert_eq!((&status["connected"], &status["ready"]), (&json!(true), &json!(true)));
    let guest = &status["guest"];
    assert_eq!((&guest["kernel"], &guest["version"]), (&json!("askr"), &json!("0.1.0")));
    assert_eq!(guest["boot"], bench.boot());
    assert_eq!(guest["boot"], "01".repeat(16));
    assert!(guest["verbs"].as_array().unwrap().contains(&json!([1, 1])));
    let stats = bench.call(json!({ "op": "stats" })).unwrap();
    assert!(stats["guest"]["frames_in"].as_u64().unwrap() > 2, "{stats}");
    assert_eq!((&stats["session"]["sessions"], &stats["link"]["connects"]), (&json!(1), &json!(1)));
    assert_eq!(stats["link"]["frames_broken"]["crc"], 0);
}
