//! In which order lines are shown, against a scripted hub.

use super::*;

fn take(feed: &mut Feed, line: Value) -> News {
    feed.line(Path::new("/s"), line).unwrap()
}

fn event(boot: &str, number: u64) -> Value {
    json!({ "boot": boot, "event": { "kind": "spawn", "number": number } })
}

fn ready(boot: &str) -> Value {
    json!({ "boot": boot, "state": { "connected": true, "ready": true } })
}

fn welcome() -> Value {
    json!({ "id": "hello", "boot": null, "ok": {} })
}

fn page(boot: &str, lost: u64, numbers: std::ops::Range<u64>) -> Value {
    let next = numbers.end;
    let events: Vec<_> = numbers.map(|number| event(boot, number)["event"].clone()).collect();
    json!({ "id": MISSED, "boot": boot, "ok": { "events": events, "lost": lost, "next": next } })
}

/// Numbers of the events that are shown, and how many are told lost.
fn shown(news: &[News]) -> (Vec<u64>, u64) {
    let lines = || news.iter().flat_map(|news| &news.lines);
    let lost = lines().filter_map(|line| line["events_lost"]["count"].as_u64()).sum();
    (lines().filter_map(|line| line["event"]["number"].as_u64()).collect(), lost)
}

#[test]
fn at_first_only_what_comes_is_shown() {
    let mut feed = Feed::new(false);
    assert_eq!(take(&mut feed, welcome()).lines[0]["hub"]["socket"], "/s");
    assert_eq!(take(&mut feed, ready("a")).request.unwrap()["op"], "ping");
    assert_eq!(take(&mut feed, event("a", 7)).lines, [event("a", 7)]);
}

#[test]
fn what_was_missed_is_known_though_nothing_happened_before() {
    let mut feed = Feed::new(false);
    take(&mut feed, welcome());
    take(&mut feed, ready("a"));
    let pong = json!({ "id": NEXT, "boot": "a", "ok": { "event_cursor": 4 } });
    assert_eq!(take(&mut feed, pong), News::default());
    feed.disconnected();
    take(&mut feed, welcome());
    assert_eq!(take(&mut feed, ready("a")).request, Some(request(4)));
}

#[test]
fn what_was_missed_between_two_connections_comes_before_what_is_new_and_once() {
    let mut feed = Feed::new(false);
    take(&mut feed, welcome());
    take(&mut feed, ready("a"));
    take(&mut feed, event("a", 7));
    feed.disconnected();
    take(&mut feed, welcome());
    assert_eq!(take(&mut feed, ready("a")).request, Some(request(8)));
    let all =
        [event("a", 13), page("a", 2, 10..13), event("a", 14), page("a", 0, 13..15), page("a", 0, 15..15)]
            .map(|line| take(&mut feed, line));
    assert_eq!(shown(&all), (vec![10, 11, 12, 13, 14], 2));
    assert_eq!(all[1].request, Some(request(13)));
    assert_eq!(shown(&[take(&mut feed, event("a", 15))]), (vec![15], 0));
}

#[test]
fn events_that_cannot_be_fetched_are_counted() {
    let mut feed = Feed::new(false);
    take(&mut feed, welcome());
    take(&mut feed, event("a", 0));
    feed.disconnected();
    take(&mut feed, welcome());
    assert_eq!(take(&mut feed, ready("a")).request, Some(request(1)));
    assert_eq!(take(&mut feed, event("a", 5)).lines, [] as [Value; 0]);
    let error = json!({ "code": "not_ready", "message": "m", "hint": "h" });
    let failed = take(&mut feed, json!({ "id": MISSED, "boot": "a", "error": error }));
    assert_eq!(shown(&[failed]), (vec![5], 4));
}

/// A feed that has shown number 0 and fetches what came after it.
fn fetching() -> Feed {
    let mut feed = Feed::new(false);
    take(&mut feed, welcome());
    take(&mut feed, event("a", 0));
    feed.disconnected();
    take(&mut feed, welcome());
    assert_eq!(take(&mut feed, ready("a")).request, Some(request(1)));
    feed
}

const MANY: u64 = HELD_MAX as u64 + 500;

#[test]
fn of_a_flood_during_the_fetch_each_event_is_shown_once_and_in_order() {
    let mut feed = fetching();
    let mut all: Vec<_> = (100..MANY).map(|number| take(&mut feed, event("a", number))).collect();
    // Pages that end before, in and after what waits.
    for (from, to) in [(1, 60), (60, 300), (300, MANY - 10), (MANY - 10, MANY - 10)] {
        all.push(take(&mut feed, page("a", 0, from..to)));
    }
    assert_eq!(shown(&all), ((1..MANY).collect(), 0));
    assert_eq!(shown(&[take(&mut feed, event("a", MANY))]), (vec![MANY], 0), "nothing waits any more");
}

#[test]
fn of_a_flood_that_cannot_be_fetched_what_there_was_no_room_for_is_counted() {
    let mut feed = fetching();
    let mut all: Vec<_> = (1..MANY).map(|number| take(&mut feed, event("a", number))).collect();
    let error = json!({ "code": "not_ready", "message": "m", "hint": "h" });
    all.push(take(&mut feed, json!({ "id": MISSED, "boot": "a", "error": error })));
    let (numbers, lost) = shown(&all);
    assert_eq!(numbers, (MANY - HELD_MAX as u64..MANY).collect::<Vec<_>>());
    assert_eq!(lost, MANY - 1 - HELD_MAX as u64);
}

#[test]
fn a_loss_that_waited_is_told_only_as_far_as_the_pages_do_not_tell_of_it() {
    let gone = |from, count| json!({ "boot": "a", "events_lost": { "from": from, "count": count } });
    for (fetched, rest) in
        [(5, vec![gone(5, 5), gone(10, 10)]), (10, vec![gone(10, 10)]), (15, vec![gone(15, 5)]), (20, vec![])]
    {
        let mut feed = fetching();
        take(&mut feed, gone(10, 10));
        take(&mut feed, event("a", 20));
        take(&mut feed, page("a", 0, 1..fetched));
        let end = take(&mut feed, page("a", 0, fetched..fetched));
        assert_eq!(end.lines, [rest, vec![event("a", 20)]].concat(), "{fetched}");
    }
}

#[test]
fn of_a_boot_that_nobody_saw_begin_everything_was_missed() {
    let mut feed = Feed::new(false);
    take(&mut feed, welcome());
    take(&mut feed, event("a", 9));
    feed.disconnected();
    take(&mut feed, welcome());
    assert_eq!(take(&mut feed, ready("b")).request, Some(request(0)));
    // Rebooted again under it: the page is of another boot than was asked for.
    assert_eq!(take(&mut feed, event("c", 0)).lines, [] as [Value; 0]);
    assert_eq!(shown(&[take(&mut feed, page("c", 0, 0..3))]), (vec![0], 0));
}

#[test]
fn a_reboot_and_a_guest_that_is_set_back_begin_their_numbers_again() {
    let mut feed = Feed::new(true);
    take(&mut feed, welcome());
    assert_eq!(take(&mut feed, ready("a")).request, Some(request(0)));
    take(&mut feed, page("a", 0, 0..0));
    let all = [event("a", 5), event("a", 3), event("b", 0)].map(|line| take(&mut feed, line));
    assert_eq!(shown(&all), (vec![5, 3, 0], 0));
}

#[test]
fn a_hub_that_turns_us_away_is_no_connection() {
    let mut feed = Feed::new(false);
    let error = json!({ "code": "too_many_clients", "message": "64 clients", "hint": "h" });
    let away = feed.line(Path::new("/s"), json!({ "id": null, "boot": null, "error": error }));
    assert_eq!(away, Err("64 clients".into()));
    assert!(!feed.was_connected());
}
