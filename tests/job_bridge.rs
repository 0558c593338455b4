//! Jobs through the hub, as a script or an agent has them.

mod common;

use std::path::PathBuf;

use askr::Machine;
use common::bridge::{hub_on, outcome, reply};
use common::program::program;
use common::shell::{Askr, Own};
use host_bridge::hub::Hub;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A guest with a hub.
struct Bench {
    socket: PathBuf,
    _hub: Hub,
    _folder: TempDir,
    _askr: Own,
}

impl Bench {
    fn new() -> Self {
        let mut askr = Askr::boot(&Machine::new().with(program("job")));
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("agent.sock");
        let hub = hub_on(askr.vm(), &socket, false);
        Self { socket, _hub: hub, _folder: folder, _askr: askr }
    }

    /// One call on a connection of its own; the code of the error if it fails.
    fn call(&self, request: &Value) -> Result<Value, String> {
        outcome(&reply(&self.socket, request))
    }

    #[track_caller]
    fn ok(&self, request: &Value) -> Value {
        self.call(request).unwrap_or_else(|code| panic!("{request}: {code}"))
    }
}

#[test]
fn programs_run_through_the_hub() {
    let bench = Bench::new();
    let run = bench.ok(
        &json!({ "op": "proc.run", "argv": ["sh", "-c", "cat; echo oops >&2; exit 3"], "stdin": "given\n" }),
    );
    assert_eq!(
        (&run["state"], &run["exit_code"], &run["cause"]),
        (&json!("exited"), &json!(3), &json!("itself"))
    );
    assert_eq!((&run["stdout"]["content"], &run["stderr"]["content"]), (&json!("given\n"), &json!("oops\n")));
    assert_eq!(bench.call(&json!({ "op": "proc.run", "argv": ["/bin/nothing"] })), Err("ENOENT".into()));

    let run = bench.ok(&json!({ "op": "proc.run", "argv": ["job", "deaf"], "deadline_ms": 700 }));
    assert_eq!((&run["signal"], &run["cause"]), (&json!("KILL"), &json!("deadline")));
    let run = bench.ok(&json!({ "op": "proc.run", "argv": ["job", "x"] }));
    assert_eq!((&run["signal"], &run["fault"]["address"]), (&json!("SEGV"), &json!("0x10")));

    // A large output: its last bytes, and how many came before.
    let run = bench.ok(&json!({ "op": "proc.run", "argv": ["job", "flood", "1000000"] }));
    let stdout = &run["stdout"];
    assert_eq!((&stdout["total"], &stdout["ended"]), (&json!(1_000_000), &json!(true)));
    // Where something was read before the program outran the reader, that comes first, and the gap with the next look.
    let next =
        json!({ "op": "proc.wait", "job": run["job"], "stdout_cursor": stdout["next"], "until": "exit" });
    let lost = |stdout: &Value| stdout["lost"].as_u64().unwrap();
    assert!(lost(stdout) > 0 || lost(&bench.ok(&next)["stdout"]) > 0, "{stdout}");

    // What is written after nothing more was wanted is counted too.
    let line = "seq 1 2000; sleep 1; seq 1 2000";
    let run = bench.ok(&json!({ "op": "proc.run", "argv": ["sh", "-c", line], "max": 100 }));
    let stdout = &run["stdout"];
    assert_eq!((&stdout["total"], &stdout["ended"]), (&json!(2 * 8893), &json!(true)), "{stdout}");
    assert_eq!((&stdout["truncated"], &stdout["next"]), (&json!(true), &json!(100)), "{stdout}");
}

#[test]
fn a_program_is_talked_to_through_the_hub() {
    let bench = Bench::new();
    let job = bench.ok(&json!({ "op": "proc.spawn", "argv": ["cat"], "stdin_open": true }))["job"].clone();
    bench.ok(&json!({ "op": "proc.input", "job": job, "content": "hello\n" }));
    let heard = bench.ok(&json!({ "op": "proc.wait", "job": job, "wait_ms": 60_000 }));
    assert_eq!((&heard["stdout"]["content"], &heard["state"]), (&json!("hello\n"), &json!("running")));
    let list = bench.ok(&json!({ "op": "proc.list" }));
    let me = list["processes"].as_array().unwrap().iter().find(|process| process["job"] == job).unwrap();
    assert_eq!((&me["name"], &me["origin"], &me["parent"]), (&json!("cat"), &json!("agent"), &json!(0)));
    assert_eq!(bench.ok(&json!({ "op": "proc.kill", "job": job }))["processes"], 1);
    let end = bench.ok(&json!({ "op": "proc.wait", "job": job, "until": "exit", "wait_ms": 60_000 }));
    assert_eq!((&end["signal"], &end["cause"]), (&json!("TERM"), &json!("killed")));
    assert_eq!(bench.call(&json!({ "op": "proc.kill", "job": job })), Err("ESRCH".into()));
}
