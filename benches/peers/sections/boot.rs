//! From QEMU's start to the prompt, and to the first answer over the wire.

use std::time::{Duration, Instant};

use askr::{Machine, Model};

use crate::Result;
use crate::door::Door;
use crate::guest::{self, PATIENCE, PROMPT};
use crate::line::Line;
use crate::report::{Aim, PEER, Unit};
use crate::watch;

use super::{Bench, MEMORY};

const MODELS: [(Model, &str); 2] = [(Model::Q35, "q35"), (Model::Microvm, "microvm")];
const ANSWER: &str = "boot to first answer";
const WORDS: &str = "boot to prompt";
/// Against the peer's first ping.
const PEER_AIM: Aim = Aim::AtMost(0.08);
/// Against the smallest guest that boots on the same machine.
const FLOOR_AIM: Aim = Aim::AtMost(2.0);

/// What one kind of machine has taken, in seconds.
#[derive(Default)]
struct Times {
    floor: Vec<f64>,
    prompt: Vec<f64>,
    answer: Vec<Vec<f64>>,
}

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    let pace = bench.pace(15, 240);
    let mut times = [Times::default(), Times::default()];
    let mut peer = Vec::new();
    let began = Instant::now();
    for round in 0..pace.rounds {
        if round > 0 && began.elapsed() > pace.budget {
            break;
        }
        for ((model, _), times) in MODELS.iter().zip(&mut times) {
            times.floor.push(bench.floor.boot(*model, MEMORY)?);
            times.answer.resize(Door::ALL.len(), Vec::new());
            for (door, answers) in Door::ALL.into_iter().zip(&mut times.answer) {
                let (prompt, answer) = boot(*model, door)?;
                times.prompt.push(prompt.as_secs_f64());
                answers.push(answer.as_secs_f64());
            }
        }
        if let Some(other) = &bench.peer {
            let started = Instant::now();
            peer.push((other.boot(MEMORY)?.1 - started).as_secs_f64());
        }
    }
    report(bench, &times, &peer);
    Ok(())
}

fn report(bench: &mut Bench, times: &[Times], peer: &[f64]) {
    let report = &mut bench.report;
    for ((_, name), times) in MODELS.iter().zip(times) {
        report.add(WORDS, &format!("Askr on {name}"), Unit::Time, &times.prompt);
    }
    report.add(ANSWER, PEER, Unit::Time, peer);
    for ((_, name), times) in MODELS.iter().zip(times) {
        let floor = format!("least on {name}");
        report.add(ANSWER, &floor, Unit::Time, &times.floor);
        for (door, answers) in Door::ALL.into_iter().zip(&times.answer) {
            let who = format!("{} on {name}", door.name());
            report.add(ANSWER, &who, Unit::Time, answers);
            report.compare(ANSWER, &who, PEER, Some(PEER_AIM));
            report.compare(ANSWER, &who, &floor, Some(FLOOR_AIM));
        }
    }
}

/// Boots Askr; the times to its prompt and to its answer to HELLO.
fn boot(model: Model, door: Door) -> Result<(Duration, Duration)> {
    let started = Instant::now();
    let mut vm = guest::spawn(&door.built_into(Machine::new().model(model).memory_mib(MEMORY)))?;
    let prompt = watch::for_text(vm.take_com1().ok_or("no COM1")?, PROMPT);
    Line::new(door.connect(&vm)?)?.hello()?;
    let answered = Instant::now();
    let shown = prompt.recv_timeout(PATIENCE)?;
    Ok((shown - started, answered - started))
}
