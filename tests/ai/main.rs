//! `ai …` in a booted guest: what is shown, what is agreed to, what runs, and what does not.

#[path = "../common/mod.rs"]
mod common;

mod builtin;
mod config;
mod endpoint;
mod hostile;
mod local_model;
mod model;
mod plans;

use askr::Machine;
use askr_abi::plan::{Ending, PlanWriter};
use askr_agentbus::context;
use askr_wire::ext_items;
use askr_wire::message::{AnswerReply, Decision};
use common::peer::Peer;
use common::shell::Shared;
use host_bridge::link::OwnedFrame;

/// The guest that the tests share.
static GUEST: Shared = Shared::new(Machine::new);

/// A plan that runs these commands; words are what is between blanks.
fn plan(commands: &[&str], more: bool) -> Vec<u8> {
    let mut writer = PlanWriter::default();
    for command in commands {
        writer.run(&command.split(' ').collect::<Vec<_>>()).unwrap();
    }
    writer.finish(if more { Ending::More } else { Ending::Done }).unwrap().to_vec()
}

/// Answers the next ask with these bytes; the ask.
fn answer(peer: &mut Peer, bytes: &[u8]) -> OwnedFrame {
    let ask = peer.ask();
    assert_eq!(peer.decide(ask.seq, Decision::Answer(bytes)), AnswerReply::Accepted);
    ask
}

/// What the ask tells under a key.
fn told(ask: &OwnedFrame, key: &str) -> Option<String> {
    let (_, ext) = ask.session.as_ref().expect("an ask in a session");
    let facts = ext_items(ext).next().unwrap().unwrap().1.len();
    let value = context(&ext[3 + facts..]).find(|pair| pair.0 == key.as_bytes())?.1.to_vec();
    Some(String::from_utf8(value).unwrap())
}
