//! The data door: the same frames as on COM2, through a port of a VirtIO console. One session goes through whichever works.

#[path = "../common/mod.rs"]
mod common;

mod line;
mod moves;
mod parked;

use askr::{Machine, Model, Vm};
use common::bridge::Bridge;
use common::peer::Peer;
use common::shell::{Askr, Shared};
use common::until;
use host_bridge::link::{Connect, Door, Doors, Stream};
use host_bridge::socket;
use serde_json::json;

static GUEST: Shared = Shared::new(Machine::new);

/// Every kind of machine that the runner has.
const MODELS: [Model; 3] = [Model::Q35, Model::Pc, Model::Microvm];

/// COM2 as it is.
fn com2(vm: &Vm) -> Connect {
    let path = vm.com2_path();
    Box::new(move || Stream::try_from(socket::connect(&path)?))
}

/// Waits until the hub is at a door.
#[track_caller]
fn until_at(bridge: &Bridge, door: &str) {
    until(door, || bridge.ok(json!({ "op": "status" }))["door"] == door);
}

#[test]
fn a_session_goes_through_the_data_door_on_every_machine() {
    for model in MODELS {
        let mut askr = Askr::boot(&Machine::new().model(model));
        let mut peer = Peer::at(askr.vm(), Door::Data);
        peer.hello();
        for counter in 1..=100 {
            peer.ping(counter);
        }
        let version = peer.read("/proc/version");
        assert!(version.starts_with(b"Askr "), "{model:?}: {version:?}");
    }
}

#[test]
fn com2_works_alone_on_every_machine_without_the_device() {
    for model in MODELS {
        let mut askr = Askr::boot(&Machine::new().model(model).without_data_door());
        assert!(askr.vm().data_path().is_none());
        let bridge = Bridge::through(com2(askr.vm()));
        until_at(&bridge, "com2");
        assert!(bridge.read("/proc/version").starts_with("Askr "), "{model:?}");
    }
}

/// The kernel of a machine whose port has another name, or none, has no data door: the hub's connection to it leads nowhere.
#[test]
fn a_door_behind_which_nobody_answers_harms_nobody() {
    let mut askr = GUEST.take();
    // A socket that is always connected and never read stands for a kernel that does not know the device.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let data: Connect = Box::new(move || Stream::try_from(socket::connect(&path)?));
    let bridge = Bridge::through(Doors { com2: com2(askr.vm()), data: Some(data) });
    let _nobody = listener.accept().unwrap();
    until_at(&bridge, "com2");
    for _ in 0..20 {
        bridge.ok(json!({ "op": "ping" }));
    }
    assert_eq!(bridge.ok(json!({ "op": "status" }))["door"], "com2");
    assert!(askr.run("hello").starts_with("hello from pid "));
}
