//! The driver on a chip in software, healthy and faulty.

mod fake;

use std::num::NonZeroU16;

use askr_uart::{Config, FIFO_DEPTH, FifoTriggerLevel, InterruptType, Received, Uart, UartError};
use fake::{BREAK, Chip, FRAMING, FakeBackend, PARITY};
use proptest::prelude::*;

fn healthy() -> Chip {
    Chip { fifo_bits: 0xC0, ..Chip::default() }
}

fn set_up(chip: Chip) -> (Uart<FakeBackend>, FakeBackend) {
    let backend = FakeBackend::new(chip);
    let mut uart = Uart::new(backend.clone());
    uart.configure(Config::LOW_LATENCY).unwrap();
    (uart, backend)
}

fn received(count: usize) -> Received {
    Received { count, ..Received::default() }
}

#[test]
fn setting_up_programs_format_speed_fifo_and_interrupt_line() {
    // Even a chip left with its divisor latch open and interrupts on.
    let (_, backend) = set_up(Chip { line_control: 0x80, interrupt_enable: 0x0F, ..healthy() });
    let chip = backend.0.borrow();
    assert_eq!((chip.divisor, chip.line_control), ([1, 0], 0b011));
    assert_eq!(chip.fifo_control & 0xC1, 0xC1, "FIFOs on, trigger at 14");
    assert_eq!(chip.modem_control, 0b1011, "DTR, RTS, OUT2");
    assert_eq!(chip.interrupt_enable, 0);
}

#[test]
fn other_speeds_and_triggers_can_be_had() {
    let backend = FakeBackend::new(healthy());
    let config = Config { divisor: NonZeroU16::new(0x1234).unwrap(), trigger: FifoTriggerLevel::One };
    Uart::new(backend.clone()).configure(config).unwrap();
    let chip = backend.0.borrow();
    assert_eq!((chip.divisor, chip.fifo_control >> 6), ([0x34, 0x12], 0));
}

#[test]
fn where_no_chip_is_nothing_is_found_read_or_awaited() {
    let backend = FakeBackend::new(Chip { absent: true, ..healthy() });
    let mut uart = Uart::new(backend.clone());
    assert_eq!(uart.configure(Config::LOW_LATENCY), Err(UartError::Absent));
    assert_eq!(backend.0.borrow().all_writes, 0);
    assert_eq!(uart.receive(&mut [0; 16]), Received { absent: true, ..Received::default() });
    assert_eq!(uart.transmit(b"x"), 0);
    let mut looks = 0;
    let sent = uart.write_until(b"x", || {
        looks += 1;
        looks > 9
    });
    assert_eq!((sent, looks), (0, 1), "it gives up at once");
    assert_eq!(uart.pending(), None);
}

#[test]
fn a_chip_that_goes_away_is_noticed() {
    let (mut uart, backend) = set_up(healthy());
    backend.0.borrow_mut().arrives(b'a', 0);
    backend.0.borrow_mut().absent = true;
    assert_eq!(uart.receive(&mut [0; 16]), Received { absent: true, ..Received::default() });
    assert_eq!(backend.0.borrow().reads_of_data, 0);
}

#[test]
fn a_stuck_transmitter_stops_nothing() {
    let (mut uart, backend) = set_up(Chip { stuck: true, ..healthy() });
    assert_eq!(uart.transmit(b"x"), 0);
    let mut looks = 0;
    let sent = uart.write_until(b"last words", || {
        looks += 1;
        looks > 5
    });
    assert_eq!((sent, looks), (0, 6));
    backend.0.borrow_mut().arrives(b'a', 0);
    assert_eq!(uart.receive(&mut [0; 16]), received(1));
}

#[test]
fn sending_moves_one_fifo_and_only_into_an_empty_one() {
    let (mut uart, backend) = set_up(healthy());
    let bytes: Vec<u8> = (0..40).collect();
    assert_eq!(uart.transmit(&bytes), FIFO_DEPTH);
    assert_eq!(uart.transmit(&bytes[16..]), 0, "the first sixteen are still there");
    backend.0.borrow_mut().drain();
    assert_eq!(uart.transmit(&bytes[16..]), FIFO_DEPTH);
    backend.0.borrow_mut().drain();
    assert_eq!(uart.transmit(&bytes[32..]), 8);
    backend.0.borrow_mut().drain();
    assert_eq!(backend.0.borrow().sent, bytes);
}

#[test]
fn last_words_go_out_as_the_line_takes_them() {
    let (mut uart, backend) = set_up(healthy());
    let words = b"panic: something that is longer than one FIFO";
    let sent = uart.write_until(words, || {
        backend.0.borrow_mut().drain();
        false
    });
    backend.0.borrow_mut().drain();
    assert_eq!(sent, words.len());
    assert_eq!(backend.0.borrow().sent, words);
}

#[test]
fn a_chip_without_working_fifos_gets_one_byte_at_a_time() {
    for fifo_bits in [0, 0x80] {
        let (mut uart, backend) = set_up(Chip { fifo_bits, ..healthy() });
        assert_eq!(uart.transmit(b"abc"), 1);
        backend.0.borrow_mut().drain();
        assert_eq!(uart.transmit(b"bc"), 1);
    }
}

#[test]
fn receiving_moves_at_most_one_fifo_or_what_fits() {
    let (mut uart, backend) = set_up(healthy());
    for byte in 0..16 {
        backend.0.borrow_mut().arrives(byte, 0);
    }
    let mut buffer = [0xEE; 20];
    assert_eq!(uart.receive(&mut buffer[..3]), received(3));
    backend.0.borrow_mut().arrives(16, 0);
    assert_eq!(uart.receive(&mut buffer[3..]), received(14));
    assert_eq!(buffer[..17], std::array::from_fn::<u8, 17, _>(|n| u8::try_from(n).unwrap()));
    assert_eq!(uart.receive(&mut buffer), received(0));
    assert_eq!(backend.0.borrow().reads_of_data, 17, "an empty FIFO is not read");
}

#[test]
fn bytes_lost_to_a_full_fifo_are_counted() {
    let (mut uart, backend) = set_up(healthy());
    for byte in 0..18 {
        backend.0.borrow_mut().arrives(byte, 0);
    }
    let mut buffer = [0; 16];
    assert_eq!(uart.receive(&mut buffer), Received { overruns: 1, ..received(16) });
    assert_eq!(buffer[15], 15);
}

#[test]
fn damaged_bytes_are_kept_and_counted_and_breaks_are_no_bytes() {
    let (mut uart, backend) = set_up(healthy());
    for (byte, errors) in [(b'a', 0), (b'b', PARITY), (0, BREAK | FRAMING), (b'c', FRAMING), (b'd', 0)] {
        backend.0.borrow_mut().arrives(byte, errors);
    }
    let mut buffer = [0; 16];
    assert_eq!(uart.receive(&mut buffer), Received { damaged: 3, ..received(4) });
    assert_eq!(&buffer[..4], b"abcd");
}

#[test]
fn errors_seen_while_sending_are_not_lost() {
    let (mut uart, backend) = set_up(healthy());
    for byte in 0..17 {
        backend.0.borrow_mut().arrives(byte, if byte == 0 { PARITY } else { 0 });
    }
    assert_eq!(uart.transmit(b"x"), 1);
    assert_eq!(uart.transmit(b"y"), 0);
    let expected = Received { overruns: 1, damaged: 1, ..received(16) };
    assert_eq!(uart.receive(&mut [0; 16]), expected);
}

#[test]
fn each_interrupt_tells_its_cause() {
    let (mut uart, backend) = set_up(healthy());
    uart.set_interrupts(true, false);
    assert_eq!(uart.pending(), None);
    backend.0.borrow_mut().arrives(b'a', 0);
    assert_eq!(uart.pending(), Some(InterruptType::ReceptionTimeout));
    for _ in 0..13 {
        backend.0.borrow_mut().arrives(b'a', 0);
    }
    assert_eq!(uart.pending(), Some(InterruptType::ReceivedDataReady));
    uart.set_interrupts(false, true);
    assert_eq!(uart.pending(), Some(InterruptType::TransmitterHoldingRegisterEmpty));
    assert_eq!(uart.pending(), None, "reading it took it back");
    assert_eq!(uart.transmit(b"x"), 1);
    backend.0.borrow_mut().drain();
    assert_eq!(uart.pending(), Some(InterruptType::TransmitterHoldingRegisterEmpty));
}

#[test]
fn choosing_interrupts_makes_an_edge_for_what_is_pending() {
    let (mut uart, backend) = set_up(healthy());
    for _ in 0..2 {
        backend.0.borrow_mut().interrupt_enable_writes.clear();
        uart.set_interrupts(true, true);
        assert_eq!(backend.0.borrow().interrupt_enable_writes, [0, 0b11]);
        assert_eq!(uart.pending(), Some(InterruptType::TransmitterHoldingRegisterEmpty));
    }
}

#[derive(Clone, Debug)]
enum Event {
    Arrive(u8, u8),
    Drain,
    Receive(usize),
    Transmit(usize),
    Interrupts(bool, bool),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (any::<u8>(), prop_oneof![5 => Just(0), 1 => Just(PARITY)]).prop_map(|(b, e)| Event::Arrive(b, e)),
        1 => Just(Event::Drain),
        2 => (0..20_usize).prop_map(Event::Receive),
        2 => (0..40_usize).prop_map(Event::Transmit),
        1 => any::<(bool, bool)>().prop_map(|(r, t)| Event::Interrupts(r, t)),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_no_byte_is_invented_changed_or_lost_in_silence(
        events in prop::collection::vec(event(), 0..200))
    {
        let (mut uart, backend) = set_up(healthy());
        let chip = backend.0;
        let (mut kept, mut lost_times, mut damaged) = (Vec::new(), 0_u64, 0_u64);
        let (mut got, mut overruns, mut wrong) = (Vec::new(), 0_u64, 0_u64);
        let mut handed = Vec::new();
        let mut take = |uart: &mut Uart<FakeBackend>, room: usize| {
            let mut buffer = vec![0; room];
            let received = uart.receive(&mut buffer);
            got.extend_from_slice(&buffer[..received.count]);
            overruns += u64::from(received.overruns);
            wrong += u64::from(received.damaged);
            received.count
        };
        for event in events {
            match event {
                Event::Arrive(byte, errors) => {
                    let fits = chip.borrow().waiting() < 16;
                    chip.borrow_mut().arrives(byte, errors);
                    if fits { kept.push(byte) } else { lost_times += 1 }
                    damaged += u64::from(fits && errors != 0);
                }
                Event::Drain => chip.borrow_mut().drain(),
                Event::Receive(room) => { take(&mut uart, room); }
                Event::Transmit(count) => {
                    let bytes: Vec<u8> = (0..40).map(|n| n ^ 0x55).take(count).collect();
                    let sent = uart.transmit(&bytes);
                    prop_assert!(sent <= FIFO_DEPTH);
                    handed.extend_from_slice(&bytes[..sent]);
                }
                Event::Interrupts(receive, transmit) => uart.set_interrupts(receive, transmit),
            }
        }
        while take(&mut uart, 16) > 0 {}
        chip.borrow_mut().drain();
        prop_assert_eq!(got, kept);
        prop_assert_eq!(&chip.borrow().sent, &handed);
        prop_assert_eq!(wrong, damaged);
        prop_assert!(overruns <= lost_times && (overruns > 0) == (lost_times > 0));
    }
}
