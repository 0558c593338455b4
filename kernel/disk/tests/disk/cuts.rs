//! Power cuts: after every sector that is written, in order and out of order, with half sectors. Each step of a program is
//! done as a whole or not at all, and what was before is there.

use std::sync::Arc;

use askr_disk::SECTOR;
use askr_vfs::Vnode;
use fastrand::Rng;

use crate::device::{Event, Ram};
use crate::state::{State, state};

const SIZE: usize = 256 * 1024;
/// Orders of the sectors that are tried after each flush, for each place of the cut.
const ORDERS: usize = 3;

/// Something that a program does, from the root directory.
type Step<'s> = &'s dyn Fn(&Arc<dyn Vnode>);

/// A program's steps, with what the disk is to show after each.
struct Recording {
    /// The disk before the first step.
    before: Vec<u8>,
    events: Vec<Event>,
    /// State after each step, and how many events there were by then. The first is that before all steps.
    states: Vec<(usize, State)>,
}

impl Recording {
    /// Does the steps on a fresh disk, one after the other.
    fn of(steps: &[Step<'_>]) -> Self {
        let ram = Ram::formatted(SIZE);
        let fs = ram.mount();
        let before = ram.image();
        ram.0.lock().unwrap().log = Some(Vec::new());
        let events = |ram: &Ram| ram.0.lock().unwrap().log.clone().unwrap_or_default();
        let mut states = vec![(0, State::new())];
        for step in steps {
            step(&fs.root());
            // Nothing waits in memory after a step.
            fs.write_back(0);
            let done = events(&ram).len();
            states.push((done, state(&fs.root())));
            assert_eq!(events(&ram).len(), done, "reading wrote something");
        }
        Self { before, events: events(&ram), states }
    }

    /// The two states that a cut after `done` events may show.
    fn allowed(&self, done: usize) -> &[(usize, State)] {
        let passed = self.states.partition_point(|(events, _)| *events <= done);
        &self.states[passed - 1..(passed + 1).min(self.states.len())]
    }

    /// Checks a disk after a cut: it mounts, shows one of the two states, and takes more.
    fn check(&self, image: Vec<u8>, done: usize, what: &str) {
        let ram = Ram::of(image);
        let fs = ram.mount();
        let found = state(&fs.root());
        assert!(
            self.allowed(done).iter().any(|(_, state)| *state == found),
            "{what}, cut after {done} of {} events: {:?} is none of {:?}",
            self.events.len(),
            keys(&found),
            self.allowed(done).iter().map(|(_, state)| keys(state)).collect::<Vec<_>>(),
        );
        let node = fs.root().create(b"afterwards", 0o644).unwrap();
        node.write_at(0, &[7; 700]).unwrap();
        node.sync().unwrap();
        drop((node, fs));
        let again = ram.mount();
        assert_eq!(state(&again.root()).len(), found.len() + 1);
    }
}

fn keys(state: &State) -> Vec<(&String, usize)> {
    use crate::state::Thing;
    let size = |thing: &Thing| match thing {
        Thing::Directory => 0,
        Thing::File(bytes) | Thing::Link(bytes) => bytes.len(),
    };
    state.iter().map(|(path, thing)| (path, size(thing))).collect()
}

fn apply(image: &mut [u8], event: &Event, bytes: usize) {
    if let Event::Write(sector, content) = event {
        let at = usize::try_from(*sector).unwrap() * SECTOR;
        image[at..at + bytes].copy_from_slice(&content[..bytes]);
    }
}

/// What a program does that keeps its data in files that it replaces.
fn replaces(round: u8, size: usize) -> impl Fn(&Arc<dyn Vnode>) {
    move |root| {
        let node = root.lookup(b"tmp").unwrap();
        let content: Vec<u8> = (0..size).map(|at| (at as u8).wrapping_mul(13) ^ round).collect();
        let mut done = 0;
        while done < size {
            done += node.write_at(done as u64, &content[done..]).unwrap();
        }
        node.flush().unwrap();
    }
}

fn creates(root: &Arc<dyn Vnode>) {
    root.create(b"tmp", 0o644).unwrap().flush().unwrap();
}

fn renames(to: &'static [u8]) -> impl Fn(&Arc<dyn Vnode>) {
    move |root| root.rename(b"tmp", &**root, to, true).unwrap()
}

fn appends(bytes: usize) -> impl Fn(&Arc<dyn Vnode>) {
    move |root| {
        let node = root.lookup(b"a").unwrap();
        let (mut left, piece) = (bytes, [b'+'; 1000]);
        while left > 0 {
            left -= node.append(&piece[..left.min(1000)]).unwrap().0;
        }
        node.sync().unwrap();
    }
}

fn recording() -> Recording {
    let (small, large, larger) = (replaces(1, 100), replaces(2, 9_000), replaces(3, 30_000));
    let (to_a, to_b) = (renames(b"a"), renames(b"b"));
    let (append, append_more) = (appends(50), appends(6_000));
    let mkdir = |root: &Arc<dyn Vnode>| drop(root.mkdir(b"dir", 0o755).unwrap());
    let into_dir = |root: &Arc<dyn Vnode>| {
        root.rename(b"b", &*root.lookup(b"dir").unwrap(), b"inner", true).unwrap();
    };
    let in_place = |root: &Arc<dyn Vnode>| {
        let node = root.lookup(b"a").unwrap();
        node.write_at(300, &[b'!'; 5000]).unwrap();
        node.sync().unwrap();
    };
    let cut = |root: &Arc<dyn Vnode>| {
        let node = root.lookup(b"a").unwrap();
        node.truncate(4_500).unwrap();
        node.sync().unwrap();
    };
    let unlink = |root: &Arc<dyn Vnode>| root.unlink(b"a").unwrap();
    let rename_dir = |root: &Arc<dyn Vnode>| root.rename(b"dir", &**root, b"moved", true).unwrap();
    let empty_dir = |root: &Arc<dyn Vnode>| root.lookup(b"moved").unwrap().unlink(b"inner").unwrap();
    let rmdir = |root: &Arc<dyn Vnode>| root.rmdir(b"moved").unwrap();
    Recording::of(&[
        &creates,
        &small,
        &to_a,
        &creates,
        &large,
        &to_a,
        &append,
        &append_more,
        &in_place,
        &cut,
        &mkdir,
        &creates,
        &larger,
        &to_b,
        &into_dir,
        &creates,
        &small,
        &to_b,
        &rename_dir,
        &empty_dir,
        &rmdir,
        &unlink,
        &creates,
        &large,
        &to_b,
    ])
}

#[test]
fn a_cut_at_any_sector_leaves_each_step_done_or_not() {
    let recording = recording();
    let mut image = recording.before.clone();
    for (done, event) in recording.events.iter().enumerate() {
        recording.check(image.clone(), done, "in order");
        apply(&mut image, event, SECTOR);
    }
    recording.check(image, recording.events.len(), "at the end");
}

#[test]
fn a_cut_in_the_middle_of_a_sector_leaves_each_step_done_or_not() {
    let recording = recording();
    let mut image = recording.before.clone();
    for (done, event) in recording.events.iter().enumerate() {
        if matches!(event, Event::Write(..)) {
            for half in [4, 256, 508] {
                let mut torn = image.clone();
                apply(&mut torn, event, half);
                recording.check(torn, done, "torn");
            }
        }
        apply(&mut image, event, SECTOR);
    }
}

#[test]
fn a_cut_after_any_order_of_the_sectors_between_two_flushes_leaves_each_step_done_or_not() {
    let recording = recording();
    let mut rng = Rng::with_seed(5);
    // What was written before the last flush is there.
    let (mut flushed, mut since) = (recording.before.clone(), 0);
    for (done, event) in recording.events.iter().enumerate() {
        if matches!(event, Event::Write(..)) {
            for _ in 0..ORDERS {
                let mut image = flushed.clone();
                let mut some: Vec<usize> = (since..=done).filter(|_| rng.bool()).collect();
                rng.shuffle(&mut some);
                some.iter().for_each(|&at| apply(&mut image, &recording.events[at], SECTOR));
                recording.check(image, done, "out of order");
            }
        } else {
            recording.events[since..=done].iter().for_each(|event| apply(&mut flushed, event, SECTOR));
            since = done + 1;
        }
    }
}
