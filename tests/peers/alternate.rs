//! Several, measured in turn.

use std::cell::RefCell;
use std::time::Duration;

use crate::alternate::{Contender, Pace, alternate};

const LONG: Duration = Duration::from_secs(60);

#[test]
fn each_has_its_turn_in_every_round() {
    let order = RefCell::new(String::new());
    let note = |name: char| {
        order.borrow_mut().push(name);
        Ok(1.0)
    };
    let mut both = [Contender::new("a", || note('a')), Contender::new("b", || note('b'))];
    alternate(Pace { rounds: 3, budget: LONG }, &mut both).unwrap();
    assert_eq!(*order.borrow(), "ababab");
    assert_eq!(both[1].samples, [1.0; 3]);
}

#[test]
fn time_ends_it_between_rounds_and_one_is_always_measured() {
    let mut one = [Contender::new("a", || Ok(1.0))];
    alternate(Pace { rounds: 1000, budget: Duration::ZERO }, &mut one).unwrap();
    assert_eq!(one[0].samples.len(), 1);
}

#[test]
fn a_failure_says_whose_it_is() {
    let mut one = [Contender::new("the peer", || Err("no answer".into()))];
    let error = alternate(Pace { rounds: 1, budget: LONG }, &mut one).unwrap_err();
    assert_eq!(error.to_string(), "the peer: no answer");
}
