//! Sessions, and facts about the system.

use askr_wire::message::{
    Counter, Fact, GENERATION, HelloReply, HelloRequest, PingReply, PingRequest, PowerAction, PowerRequest,
    TimeReply, UptimeReply, VerbGeneration,
};
use askr_wire::status::Status;
use askr_wire::{List, code};

use crate::page::{Examples, SESSION};

pub(crate) fn sessions(page: &mut Examples) {
    let hello = HelloRequest {
        generation: GENERATION,
        payload_limit: 4096,
        window: 8,
        nonce: *b"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f",
        client: b"askr-bridge",
    };
    page.request("hello-request", code::HELLO, &hello);
    let scratch = &mut [0; 256];
    let verbs = code::VERBS.iter().map(|&(code, generation)| VerbGeneration { code, generation });
    let reply = HelloReply {
        generation: GENERATION,
        payload_limit: 4096,
        window: 8,
        lease_ms: 10_000,
        ping_ms: 2_000,
        boot_id: 0x6f1d_0e2b_9c8a_4735_5a60_b1c2_d3e4_f501_u128.to_be_bytes(),
        session: SESSION,
        event_cursor: 3,
        kernel: b"askr",
        version: b"0.1.0",
        verbs: List::build(verbs, scratch).unwrap(),
    };
    page.response("hello-response", code::HELLO, &reply);
    page.request("ping-request", code::PING, &PingRequest { counter: 2 });
    let pong = PingReply { previous_counter: 1, pending_asks: 1, event_cursor: 3, uptime_ns: 12_500_000_000 };
    page.response("ping-response", code::PING, &pong);
    page.request("stats-request", code::STATS, &());
    let counters =
        [Counter { name: b"frames_in", value: 41 }, Counter { name: b"frame_error_crc", value: 1 }];
    page.response("stats-response", code::STATS, &List::build(counters, &mut [0; 64]).unwrap());
    page.error("stale-response", code::STAT, Status::Stale);
}

pub(crate) fn system(page: &mut Examples) {
    page.request("uptime-request", code::UPTIME, &());
    page.response("uptime-response", code::UPTIME, &UptimeReply { uptime_ns: 12_500_000_000 });
    page.request("time-request", code::TIME, &());
    page.response("time-response", code::TIME, &TimeReply { unix_ns: 1_700_000_000_000_000_000 });
    page.request("meminfo-request", code::MEMINFO, &());
    let sizes = [Counter { name: b"total", value: 128 << 20 }, Counter { name: b"free", value: 96 << 20 }];
    page.response("meminfo-response", code::MEMINFO, &List::build(sizes, &mut [0; 64]).unwrap());
    page.request("info-request", code::INFO, &());
    let facts = [Fact { name: b"kernel", value: b"Askr" }, Fact { name: b"release", value: b"0.1.0" }];
    page.response("info-response", code::INFO, &List::build(facts, &mut [0; 64]).unwrap());
    page.request("power-request", code::POWER, &PowerRequest { action: PowerAction::Reboot });
    page.response("power-response", code::POWER, &());
}
