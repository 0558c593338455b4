//! Signals: what comes next, what it does, and what a handler finds and leaves.

use askr_abi::Errno;
use askr_abi::signal::{
    SA_NOCLDWAIT, SA_NODEFER, SA_ONSTACK, SA_RESETHAND, SA_RESTORER, SI_USER, SIG_DFL, SIG_IGN, SIGCHLD,
    SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGSEGV, SIGSTOP, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2,
    SIGWINCH, SS_AUTODISARM, SS_DISABLE, SS_ONSTACK,
};
use askr_core::signal::fault::FaultRecord;
use askr_core::signal::frame::{
    self, BadFrame, CONTEXT, CONTEXT_SIZE, FRAME_SIZE, INFO, NoRoom, Place, Registers,
};
use askr_core::signal::xstate::{Format, LEGACY_SIZE};
use askr_core::signal::{
    Action, AltStack, DefaultAction, Delivery, Detail, How, Info, Next, Posted, QUEUED_MAX, SignalSet,
    Signals,
};

const HANDLER: u64 = 0x40_0000;
const RT: u32 = 40;

fn handler(flags: u64) -> Action {
    Action { handler: HANDLER, flags: flags | SA_RESTORER, restorer: 0x40_1000, mask: SignalSet::EMPTY }
}

fn disposed(how: u64) -> Action {
    Action { handler: how, ..Action::default() }
}

fn post(signals: &mut Signals, signal: u32) -> Posted {
    signals.post(Info::from_process(signal, 7))
}

/// The signal whose handler runs next.
fn handled(signals: &mut Signals) -> Option<u32> {
    match signals.next_step()? {
        Next::Handle(delivery) => {
            signals.delivered(&delivery);
            Some(delivery.info.signal)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_signal_has_the_default_action_of_the_manual() {
    for signal in 1..65 {
        let expected = match signal {
            17 | 23 | 28 => DefaultAction::Ignore,
            18 => DefaultAction::Continue,
            19..=22 => DefaultAction::Stop,
            _ => DefaultAction::End,
        };
        assert_eq!(DefaultAction::of(signal), expected, "{signal}");
        let mut signals = Signals::new(false);
        let posted = post(&mut signals, signal);
        let next = signals.next_step();
        match expected {
            DefaultAction::End => assert_eq!((next, posted), (Some(Next::End(signal)), Posted::Pending)),
            DefaultAction::Stop => assert_eq!((next, posted), (Some(Next::Stop(signal)), Posted::Pending)),
            _ => assert_eq!((next, posted), (None, Posted::Dropped)),
        }
    }
}

#[test]
fn an_ignored_signal_leaves_no_trace_unless_it_is_blocked() {
    let mut signals = Signals::new(false);
    signals.set_action(SIGUSR1, disposed(SIG_IGN)).unwrap();
    assert_eq!(post(&mut signals, SIGUSR1), Posted::Dropped);
    signals.change_mask(How::Block, SignalSet::one(SIGUSR1));
    assert_eq!(post(&mut signals, SIGUSR1), Posted::Pending);
    assert!(!signals.interrupt() && signals.pending().has(SIGUSR1));
    signals.set_action(SIGUSR1, disposed(SIG_IGN)).unwrap();
    assert!(signals.pending().is_empty(), "ignoring it forgets it");
    // The default action of these is to be ignored.
    signals.change_mask(How::Set, SignalSet::of(&[SIGCHLD, SIGWINCH]));
    post(&mut signals, SIGCHLD);
    post(&mut signals, SIGWINCH);
    signals.set_action(SIGCHLD, disposed(SIG_DFL)).unwrap();
    assert_eq!(signals.pending(), SignalSet::one(SIGWINCH));
    signals.change_mask(How::Set, SignalSet::EMPTY);
    assert_eq!(signals.next_step(), None);
}

#[test]
fn nobody_blocks_catches_or_ignores_kill_and_stop() {
    let mut signals = Signals::new(false);
    for signal in [SIGKILL, SIGSTOP, 0, 65, u32::MAX] {
        assert_eq!(signals.set_action(signal, disposed(SIG_IGN)), Err(Errno::EINVAL), "{signal}");
    }
    signals.change_mask(How::Set, SignalSet::from_bits(u64::MAX));
    signals.set_temporary_mask(SignalSet::from_bits(u64::MAX));
    signals.returned(SignalSet::from_bits(u64::MAX));
    assert_eq!(signals.blocked(), SignalSet::from_bits(u64::MAX).without(SignalSet::ABSOLUTE));
    post(&mut signals, SIGTERM);
    assert!(!signals.deadly() && !signals.killed());
    post(&mut signals, SIGKILL);
    assert!(signals.deadly() && signals.killed());
    assert_eq!(signals.next_step(), Some(Next::End(SIGKILL)));
}

#[test]
fn what_an_instruction_caused_comes_first_then_the_lowest() {
    let mut signals = Signals::new(false);
    for signal in [SIGHUP, SIGUSR1, SIGSEGV, SIGTERM, RT] {
        signals.set_action(signal, handler(0)).unwrap();
    }
    for signal in [RT, SIGTERM, SIGUSR1, SIGSEGV, SIGHUP] {
        post(&mut signals, signal);
    }
    let order: Vec<u32> = core::iter::from_fn(|| handled(&mut signals)).collect();
    assert_eq!(order, [SIGSEGV, SIGHUP, SIGUSR1, SIGTERM, RT]);
    post(&mut signals, SIGSEGV);
    post(&mut signals, SIGKILL);
    assert_eq!(signals.next_step(), Some(Next::End(SIGKILL)));
}

#[test]
fn only_real_time_signals_queue_and_not_without_bound() {
    let mut signals = Signals::new(false);
    let all = SignalSet::of(&[SIGUSR1, RT]);
    signals.change_mask(How::Block, all);
    assert_eq!(post(&mut signals, SIGUSR1), Posted::Pending);
    assert_eq!(post(&mut signals, SIGUSR1), Posted::Dropped);
    for _ in 1..QUEUED_MAX {
        assert_eq!(post(&mut signals, RT), Posted::Pending);
    }
    assert_eq!(post(&mut signals, RT), Posted::Full);
    assert_eq!(post(&mut signals, SIGUSR2), Posted::Full, "it waits all the same");
    assert_eq!(signals.take(SignalSet::one(SIGUSR1)), Some(Info::from_process(SIGUSR1, 7)));
    let rt = core::iter::from_fn(|| signals.take(SignalSet::one(RT))).count();
    assert_eq!(rt, QUEUED_MAX - 1);
    let nameless = Info { signal: SIGUSR2, code: SI_USER, detail: Detail::Sender { pid: 0 } };
    assert_eq!(signals.take(SignalSet::one(SIGUSR2)), Some(nameless));
    assert_eq!((signals.take(all), signals.next_step()), (None, None));
}

#[test]
fn stopping_and_going_on_take_each_other_back() {
    let mut signals = Signals::new(false);
    signals.change_mask(How::Block, SignalSet::of(&[SIGCONT, SIGTSTP]));
    post(&mut signals, SIGTSTP);
    post(&mut signals, SIGSTOP);
    post(&mut signals, SIGCONT);
    assert_eq!(signals.pending(), SignalSet::one(SIGCONT));
    post(&mut signals, SIGTSTP);
    assert_eq!(signals.pending(), SignalSet::one(SIGTSTP));
}

#[test]
fn a_handler_runs_with_its_mask_and_the_old_one_is_in_its_frame() {
    let mut signals = Signals::new(false);
    let mask = SignalSet::of(&[SIGHUP, SIGKILL]);
    for (flags, own) in [(0, true), (SA_NODEFER, false)] {
        signals.change_mask(How::Set, SignalSet::one(SIGPIPE));
        signals.set_action(SIGUSR1, Action { mask, ..handler(flags) }).unwrap();
        post(&mut signals, SIGUSR1);
        let Some(Next::Handle(delivery)) = signals.next_step() else { panic!("no handler") };
        assert_eq!(delivery.mask, SignalSet::one(SIGPIPE));
        signals.delivered(&delivery);
        assert_eq!(signals.blocked().has(SIGUSR1), own);
        assert!(signals.blocked().has(SIGHUP) && !signals.blocked().has(SIGKILL));
        signals.returned(delivery.mask);
        assert_eq!(signals.blocked(), SignalSet::one(SIGPIPE));
    }
    signals.set_action(SIGUSR1, handler(SA_RESETHAND)).unwrap();
    post(&mut signals, SIGUSR1);
    assert_eq!(handled(&mut signals), Some(SIGUSR1));
    assert_eq!(signals.action(SIGUSR1).handler, SIG_DFL);
}

#[test]
fn a_temporary_mask_ends_with_the_handler_or_without_one() {
    let mut signals = Signals::new(false);
    signals.set_action(SIGUSR1, handler(0)).unwrap();
    signals.change_mask(How::Set, SignalSet::of(&[SIGUSR1, SIGUSR2]));
    post(&mut signals, SIGUSR1);
    assert!(!signals.interrupt());
    signals.set_temporary_mask(SignalSet::one(SIGHUP));
    assert!(signals.interrupt());
    let Some(Next::Handle(delivery)) = signals.next_step() else { panic!("no handler") };
    assert_eq!(delivery.mask, SignalSet::of(&[SIGUSR1, SIGUSR2]));
    signals.delivered(&delivery);
    assert!(signals.blocked().has(SIGHUP), "the handler runs with the temporary mask");
    signals.restore_mask();
    assert!(signals.blocked().has(SIGHUP), "and nothing is left to restore");
    signals.returned(delivery.mask);
    signals.set_temporary_mask(SignalSet::EMPTY);
    signals.set_temporary_mask(SignalSet::one(SIGHUP));
    signals.restore_mask();
    assert_eq!(signals.blocked(), delivery.mask);
}

#[test]
fn a_fault_cannot_be_put_off() {
    let fault = Info { signal: SIGSEGV, code: 1, detail: Detail::Fault { address: 16 } };
    let mut handled = Signals::new(false);
    handled.set_action(SIGSEGV, handler(0)).unwrap();
    assert!(handled.clone().force(fault));
    let mut blocked = handled.clone();
    blocked.change_mask(How::Block, SignalSet::one(SIGSEGV));
    assert!(!blocked.force(fault));
    assert_eq!(blocked.next_step(), Some(Next::End(SIGSEGV)));
    let mut ignored = Signals::new(true);
    ignored.set_action(SIGSEGV, disposed(SIG_IGN)).unwrap();
    assert!(!ignored.force(fault));
    assert_eq!(ignored.next_step(), Some(Next::End(SIGSEGV)), "process 1 too");
    // A frame without room is one itself, and its own frame gets no second try.
    handled.set_action(SIGUSR1, handler(0)).unwrap();
    post(&mut handled, SIGUSR1);
    let Some(Next::Handle(first)) = handled.next_step() else { panic!("no handler") };
    handled.undeliverable(&first);
    let Some(Next::Handle(second)) = handled.next_step() else { panic!("no handler") };
    assert_eq!(second.info, Info::from_kernel(SIGSEGV));
    handled.undeliverable(&second);
    assert_eq!(handled.next_step(), Some(Next::End(SIGSEGV)));
}

#[test]
fn children_and_new_programs_inherit_what_the_manuals_say() {
    let mut parent = Signals::new(true);
    parent.set_action(SIGUSR1, handler(SA_ONSTACK)).unwrap();
    parent.set_action(SIGUSR2, disposed(SIG_IGN)).unwrap();
    parent.change_mask(How::Set, SignalSet::one(SIGTERM));
    let stack = AltStack { base: 0x1000, flags: 0, size: 8192 };
    parent.set_stack(stack);
    post(&mut parent, SIGUSR1);
    let mut child = parent.inherit();
    assert_eq!((child.next_step(), child.blocked(), child.stack()), (None, SignalSet::one(SIGTERM), stack));
    assert_eq!(child.action(SIGUSR1), handler(SA_ONSTACK));
    assert_eq!(post(&mut child, SIGHUP), Posted::Pending, "only process 1 is protected");
    assert_eq!(post(&mut parent, SIGHUP), Posted::Dropped);
    assert_eq!(post(&mut parent, SIGKILL), Posted::Dropped);
    post(&mut child, SIGTERM);
    child.reset_for_exec();
    assert_eq!(child.action(SIGUSR1), Action::default());
    assert_eq!(child.action(SIGUSR2).handler, SIG_IGN);
    assert_eq!((child.pending(), child.stack()), (SignalSet::one(SIGTERM), AltStack::NONE));
}

#[test]
fn a_parent_may_want_to_know_nothing_of_its_children() {
    let mut signals = Signals::new(false);
    assert!(signals.keeps_zombies() && signals.wants_stops());
    signals.set_action(SIGCHLD, handler(SA_NOCLDWAIT)).unwrap();
    assert!(!signals.keeps_zombies());
    signals.set_action(SIGCHLD, disposed(SIG_IGN)).unwrap();
    assert!(!signals.keeps_zombies());
    signals.set_action(SIGCHLD, handler(1)).unwrap();
    assert!(signals.keeps_zombies() && !signals.wants_stops());
}

#[test]
fn the_alternate_stack_has_the_rules_of_the_manual() {
    let stack = AltStack { base: 0x10_0000, flags: 0, size: 0x4000 };
    let set = |flags, size| AltStack::NONE.replaced(AltStack { base: 0x10_0000, flags, size }, 0x7fff_0000);
    assert_eq!(set(0, 0x4000), Ok(stack));
    assert_eq!(set(SS_DISABLE, 5), Ok(AltStack::NONE));
    assert_eq!(set(0, 2047), Err(Errno::ENOMEM));
    assert_eq!(set(4, 0x4000), Err(Errno::EINVAL));
    assert_eq!(stack.replaced(AltStack::NONE, 0x10_0001), Err(Errno::EPERM));
    assert_eq!(stack.replaced(AltStack::NONE, 0x10_4000), Err(Errno::EPERM));
    assert!(stack.replaced(AltStack::NONE, 0x10_0000).is_ok(), "an empty stack grows from its end");
    assert_eq!(stack.seen_from(0x10_1000).flags, SS_ONSTACK);
    assert_eq!(stack.seen_from(0x20_0000).flags, 0);
    assert_eq!(AltStack::NONE.seen_from(0).flags, SS_DISABLE);
    let given_up = AltStack { flags: SS_AUTODISARM, ..stack };
    assert!(given_up.replaced(AltStack::NONE, 0x10_1000).is_ok());
    assert_eq!(AltStack::from_bytes(&given_up.to_bytes()), given_up);
}

fn delivery(flags: u64, stack: AltStack) -> Delivery {
    let info = Info { signal: SIGINT, code: -6, detail: Detail::Sender { pid: 0x0102_0304 } };
    Delivery { info, action: handler(flags), mask: SignalSet::from_bits(0x1022), stack }
}

/// Registers with a different value in each.
fn registers() -> Registers {
    Registers {
        r8: 1,
        r9: 2,
        r10: 3,
        r11: 4,
        r12: 5,
        r13: 6,
        r14: 7,
        r15: 8,
        rdi: 9,
        rsi: 10,
        rbp: 11,
        rbx: 12,
        rdx: 13,
        rax: 14,
        rcx: 15,
        rsp: 0x7fff_f000,
        rip: 0x40_2000,
        rflags: 0x246,
        cs: 0x23,
        ss: 0x1b,
    }
}

#[test]
fn a_frame_lies_where_the_abi_wants_it() {
    let none = AltStack::NONE;
    for rsp in 0x7fff_f000..0x7fff_f040_u64 {
        let place = Place::find(rsp, &delivery(0, none), 836).unwrap();
        assert_eq!(((place.frame + 8) % 16, place.fpstate % 64), (0, 0));
        assert!(place.frame + FRAME_SIZE as u64 <= place.fpstate);
        assert!(place.fpstate + 836 <= rsp - 128, "the red zone is untouched");
    }
    let stack = AltStack { base: 0x10_0000, flags: 0, size: 0x2000 };
    let on = |rsp, size| Place::find(rsp, &delivery(SA_ONSTACK, stack), size);
    assert!(stack.contains(on(0x7fff_f000, 836).unwrap().frame));
    assert!(on(0x10_1800, 836).unwrap().frame < 0x10_1800, "a nested handler goes on below");
    assert_eq!(on(0x10_0200, 836), Err(NoRoom));
    assert_eq!(on(0x7fff_f000, 0x2000), Err(NoRoom));
    assert!(!stack.contains(Place::find(0x7fff_f000, &delivery(0, stack), 836).unwrap().frame));
    for rsp in [0, 100, 1000] {
        assert!(Place::find(rsp, &delivery(0, none), 836).map_or(true, |place| place.frame > 1 << 63));
    }
    let with = |action| Place::find(0x7fff_f000, &Delivery { action, ..delivery(0, none) }, 836);
    assert_eq!(with(Action { flags: 0, ..handler(0) }), Err(NoRoom), "no way back");
    assert_eq!(with(Action { handler: 0x8000_0000_0000, ..handler(0) }), Err(NoRoom));
}

#[test]
fn a_frame_has_the_layout_of_linux_and_comes_back() {
    let place = Place { frame: 0x7fff_e008, fpstate: 0x7fff_e200 };
    let stack = AltStack { base: 0x10_0000, flags: 0, size: 0x2000 };
    let fault = FaultRecord { error: 0x61, trap: 0x62, cr2: 0x63 };
    let bytes = frame::build(place, &registers(), fault, &delivery(0, stack), true);
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    // Offsets of struct rt_sigframe, with ucontext_t at 8 and siginfo_t at 312.
    assert_eq!(word(0), 0x40_1000);
    assert_eq!((word(8), word(16)), (7, 0));
    assert_eq!((word(24), word(32), word(40)), (0x10_0000, 0, 0x2000));
    for (index, value) in (1..=15).chain([0x7fff_f000, 0x40_2000, 0x246]).enumerate() {
        assert_eq!(word(48 + 8 * index), value, "register {index}");
    }
    assert_eq!(word(192), 0x001b_0000_0000_0023);
    assert_eq!([200, 208, 216, 224, 232].map(word), [0x61, 0x62, 0x1022, 0x63, 0x7fff_e200]);
    assert_eq!(word(304), 0x1022);
    assert_eq!((word(312), word(320) & 0xffff_ffff, word(328) & 0xffff_ffff), (2, 0xffff_fffa, 0x0102_0304));
    assert_eq!((INFO, FRAME_SIZE), (312, 440));

    let context: &[u8; CONTEXT_SIZE] = bytes[CONTEXT..INFO].try_into().unwrap();
    let resume = frame::read(context, &registers()).unwrap();
    assert_eq!(resume.registers, registers());
    assert_eq!((resume.mask.bits(), resume.stack, resume.fpstate), (0x1022, stack, 0x7fff_e200));
    let entered = frame::enter(place, &Registers { rflags: 0x1_0746, ..registers() }, &delivery(0, stack));
    assert_eq!((entered.rip, entered.rsp, entered.rdi), (HANDLER, 0x7fff_e008, 2));
    assert_eq!((entered.rsi, entered.rdx, entered.rflags), (0x7fff_e140, 0x7fff_e010, 0x246));
}

#[test]
fn nobody_returns_to_where_programs_may_not_be() {
    let place = Place { frame: 0x7fff_e008, fpstate: 0x7fff_e200 };
    let bytes = frame::build(place, &registers(), FaultRecord::default(), &delivery(0, AltStack::NONE), true);
    let context: [u8; CONTEXT_SIZE] = bytes[CONTEXT..INFO].try_into().unwrap();
    let read = |at: usize, value: &[u8]| {
        let mut context = context;
        context[at..at + value.len()].copy_from_slice(value);
        frame::read(&context, &registers())
    };
    // rip, cs, ss
    for rip in [0x7fff_ffff_f000_u64, 0x8000_0000_0000, 0xffff_8000_0000_0000, u64::MAX] {
        assert_eq!(read(168, &rip.to_le_bytes()), Err(BadFrame), "{rip:#x}");
    }
    for (at, selectors) in [(184, [0x08_u16, 0x13, 0x2b]), (190, [0x10, 0x23, 0x00])] {
        for selector in selectors {
            assert_eq!(read(at, &selector.to_le_bytes()), Err(BadFrame), "{selector:#x}");
        }
    }
    assert!(read(184, &0x20_u16.to_le_bytes()).is_ok(), "the level is set, as on Linux");
    // IOPL, IF, NT, VM, VIF, VIP, ID are not the program's to set.
    let flags = read(176, &u64::MAX.to_le_bytes()).unwrap().registers.rflags;
    assert_eq!(flags, 0x246 | 0x0005_0dd5);
    assert_eq!(read(176, &0_u64.to_le_bytes()).unwrap().registers.rflags, 0x202);
    assert_eq!(read(296, &u64::MAX.to_le_bytes()).unwrap().mask, SignalSet::from_bits(!0x4_0100));
    // Whatever stands there, it is refused or within bounds.
    let mut rng = fastrand::Rng::with_seed(11);
    for _ in 0..100_000 {
        let context = core::array::from_fn(|_| rng.u8(..));
        if let Ok(resume) = frame::read(&context, &registers()) {
            assert!(resume.registers.rip < 0x7fff_ffff_f000);
        }
    }
}

const XSAVE: Format = Format { size: 832, components: 7, mxcsr_mask: 0xffff };
const FXSAVE: Format = Format { size: LEGACY_SIZE, components: 0, mxcsr_mask: 0xffbf };

fn area(format: Format) -> Vec<u8> {
    let mut area: Vec<u8> = (0..=250).cycle().take(format.size).collect();
    area[24..28].copy_from_slice(&0x1f80_u32.to_le_bytes());
    if format.is_xsave() {
        area[LEGACY_SIZE..LEGACY_SIZE + 64].fill(0);
        area[LEGACY_SIZE] = 4;
    }
    area
}

fn returned(format: Format, bytes: &[u8]) -> Result<Vec<u8>, BadFrame> {
    let head = bytes[..LEGACY_SIZE].try_into().unwrap();
    format.from_frame(&bytes[..format.extent(head)])
}

#[test]
fn vector_state_goes_through_a_frame() {
    for format in [XSAVE, FXSAVE] {
        let bytes = format.to_frame(&area(format));
        assert_eq!(bytes.len(), format.size_in_frame());
        let back = returned(format, &bytes).unwrap();
        let mut expected = area(format);
        expected[464..512].fill(0);
        if format.is_xsave() {
            expected[512] = 7; // x87 and SSE count as changed
        }
        assert_eq!(back, expected);
    }
    let bytes = XSAVE.to_frame(&area(XSAVE));
    assert_eq!(bytes[464..468], 0x4650_5853_u32.to_le_bytes());
    assert_eq!(bytes[468..472], 836_u32.to_le_bytes());
    assert_eq!(bytes[480..484], 832_u32.to_le_bytes());
    assert_eq!(bytes[832..], 0x4650_5845_u32.to_le_bytes());
}

#[test]
fn the_processor_is_never_given_state_that_it_refuses() {
    let good = XSAVE.to_frame(&area(XSAVE));
    let with = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        returned(XSAVE, &bytes)
    };
    assert_eq!(with(24, &0x1_0000_u32.to_le_bytes()), Err(BadFrame), "MXCSR");
    assert_eq!(with(512, &8_u64.to_le_bytes()), Err(BadFrame), "a component that is not on");
    for at in 520..576 {
        assert_eq!(with(at, &[1]), Err(BadFrame), "reserved byte {at}");
    }
    // Without the note or the mark it is x87 and SSE only.
    for (at, value) in [(464, [0; 4]), (832, [0; 4]), (480, 9999_u32.to_le_bytes()), (480, [1, 0, 0, 0])] {
        let area = with(at, &value).unwrap();
        assert_eq!(area[512..576], {
            let mut header = [0; 64];
            header[0] = 3;
            header
        });
        assert!(area[576..].iter().all(|&byte| byte == 0));
    }
    // Components that the note leaves out get their first state.
    assert_eq!(with(472, &3_u64.to_le_bytes()).unwrap()[512], 3);
    let mut rng = fastrand::Rng::with_seed(12);
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        for _ in 0..rng.usize(1..20) {
            let at = if rng.bool() { rng.usize(460..580) } else { rng.usize(..bytes.len()) };
            bytes[at] = rng.u8(..);
        }
        let Ok(area) = returned(XSAVE, &bytes) else { continue };
        assert_eq!(area.len(), XSAVE.size);
        assert_eq!(u32::from_le_bytes(area[24..28].try_into().unwrap()) & !XSAVE.mxcsr_mask, 0);
        assert_eq!(area[512] & !7, 0);
        assert!(area[513..576].iter().all(|&byte| byte == 0));
    }
}
