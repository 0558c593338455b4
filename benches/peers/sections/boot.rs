//! From QEMU's start to the prompt, and to the first answer over the wire.

use std::time::{Duration, Instant};

use askr::{Machine, Model};

use crate::Result;
use crate::door::Door;
use crate::guest::{BOOT, Guest, PROMPT};
use crate::line::Line;
use crate::report::{Aim, PEER, Unit};

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
    /// By door, in the order of [`Door::ALL`].
    prompt: [Vec<f64>; Door::ALL.len()],
    answer: [Vec<f64>; Door::ALL.len()],
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
            for (at, door) in Door::ALL.into_iter().enumerate() {
                let (prompt, answer) = boot(*model, door)?;
                times.prompt[at].push(prompt.as_secs_f64());
                times.answer[at].push(answer.as_secs_f64());
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
        for (door, prompts) in Door::ALL.into_iter().zip(&times.prompt) {
            report.add(WORDS, &format!("{} on {name}", door.name()), Unit::Time, prompts);
        }
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
    let machine = Machine::new().model(model).memory_mib(MEMORY);
    let Guest { vm, screen } = Guest::start(&door.built_into(machine))?;
    Line::new(door.connect(&vm)?, screen.clone())?.hello()?;
    let answered = Instant::now();
    let shown = screen.shows(PROMPT, BOOT)?;
    Ok((shown - started, answered - started))
}
