//! Asks: told once, fetched when lost, gone with their time.

use super::*;

fn ask_frame(bench: &Bench, seq: u32) -> OwnedFrame {
    let facts = payload_of(&AskFacts { pid: 9, left_ms: 2000, program: b"ask" });
    let mut items = [0; 64];
    let mut writer = Writer::new(&mut items);
    ext::put_item(&mut writer, (200, b"from a later generation")).unwrap();
    ext::put_item(&mut writer, (ext::ASK_FACTS, &facts)).unwrap();
    let len = writer.len();
    OwnedFrame {
        kind: FrameType::DecisionReq,
        seq,
        code: code::DECISION_GENERIC,
        session: Some((bench.session, items[..len].to_vec())),
        payload: b"may I?".to_vec(),
    }
}

#[test]
fn an_ask_is_told_once_and_ends_with_its_time() {
    let mut bench = Bench::ready();
    let frame = ask_frame(&bench, code::ASK_SEQ_FIRST);
    bench.machine.on_frame(bench.now, Door::Com2, &frame);
    bench.machine.on_frame(bench.now, Door::Com2, &frame);
    bench.sent();
    let told = bench.notices.iter().filter(|notice| matches!(notice, Notice::Ask(_))).count();
    assert_eq!(told, 1);
    let asks = bench.machine.asks();
    assert_eq!(asks[0].question, b"may I?");
    assert_eq!(asks[0].asker, Some((9, b"ask".to_vec())));
    bench.sent_after(2 * SECOND);
    assert!(bench.machine.asks().is_empty());
    let ended = Notice::AskEnded { ask: asks[0].id, end: AskEnd::TimedOut };
    assert!(bench.notices.contains(&ended));
}

#[test]
fn a_lost_ask_is_noticed_by_the_next_ping_and_fetched() {
    let mut bench = Bench::ready();
    let ping = bench.sent_after(SECOND);
    bench.answer_ping(&ping[0], 1, 1);
    let pull = bench.sent();
    assert_eq!(codes(&pull), [code::ASKS]);
    let facts = AskFacts { pid: 9, left_ms: 2000, program: b"ask" };
    let pending = PendingAsk { seq: code::ASK_SEQ_FIRST + 4, code: 0, facts, question: b"may I?", ext: &[] };
    let mut scratch = [0; 128];
    let page = payload_of(&List::build([pending], &mut scratch).unwrap());
    bench.answer(&pull[0], Status::Ok, &page);
    let next = bench.sent();
    assert_eq!((codes(&next), &next[0].payload[..]), (vec![code::ASKS], &[1, 0][..]));
    bench.answer(&next[0], Status::Ok, &[0, 0]);
    assert_eq!(bench.machine.asks()[0].id.seq, code::ASK_SEQ_FIRST + 4);
}

#[test]
fn a_guest_that_was_set_back_asks_another_question_with_the_number_of_a_known_one() {
    let mut bench = Bench::ready();
    let frame = ask_frame(&bench, code::ASK_SEQ_FIRST);
    bench.machine.on_frame(bench.now, Door::Com2, &frame);
    bench.set_back();
    assert!(bench.machine.asks().is_empty());
    let other = OwnedFrame { payload: b"may I not?".to_vec(), ..ask_frame(&bench, code::ASK_SEQ_FIRST) };
    bench.machine.on_frame(bench.now, Door::Com2, &other);
    assert_eq!(bench.machine.asks()[0].question, b"may I not?");
}
