//! The signals of one process: what it wants to happen, what is blocked, what waits, and which comes next.

use super::action::Action;
use super::altstack::AltStack;
use super::info::{Detail, Info};
use super::set::{How, SignalSet};
use alloc::boxed::Box;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::signal::{
    NSIG, SA_NOCLDSTOP, SA_NOCLDWAIT, SA_NODEFER, SA_RESETHAND, SI_USER, SIG_DFL, SIG_IGN, SIGCHLD, SIGCONT,
    SIGKILL, SIGRTMIN, SIGSEGV, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
};

/// Signals of one process that wait with all that is known about them. One more is still pending, but its handler
/// does not learn who sent it.
pub const QUEUED_MAX: usize = 128;

/// What became of a signal that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// It is ignored, or waits already: nothing to do.
    Dropped,
    /// It waits to be delivered.
    Pending,
    /// It waits, but what is known about it was lost for want of room.
    Full,
}

/// A handler to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The signal.
    pub info: Info,
    /// The handler and how to run it.
    pub action: Action,
    /// What is blocked again when it returns.
    pub mask: SignalSet,
    /// The alternate stack.
    pub stack: AltStack,
}

/// What the next signal does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Runs a handler. When its frame is on the stack, call [`Signals::delivered`], else [`Signals::undeliverable`].
    Handle(Delivery),
    /// Stops the process; all but SIGSTOP do that only if its group is not orphaned (POSIX.1-2017, 2.4.3).
    Stop(u32),
    /// Ends the process.
    End(u32),
}

/// All about the signals of one process.
#[derive(Clone, Debug)]
pub struct Signals {
    actions: Box<[Action; NSIG as usize - 1]>,
    blocked: SignalSet,
    /// What was blocked before `sigsuspend`.
    saved: Option<SignalSet>,
    pending: SignalSet,
    queue: Vec<Info>,
    stack: AltStack,
    /// Process 1: signals without a handler do nothing.
    protected: bool,
}

impl Signals {
    /// All default, nothing blocked. `protected` is for process 1, which gets only what it handles.
    #[must_use]
    pub fn new(protected: bool) -> Self {
        Self {
            actions: Box::new([Action::default(); NSIG as usize - 1]),
            blocked: SignalSet::EMPTY,
            saved: None,
            pending: SignalSet::EMPTY,
            queue: Vec::new(),
            stack: AltStack::NONE,
            protected,
        }
    }

    /// What a child gets: the same but for what waits (`fork(2)`).
    #[must_use]
    pub fn inherit(&self) -> Self {
        Self {
            actions: self.actions.clone(),
            saved: None,
            pending: SignalSet::EMPTY,
            queue: Vec::new(),
            protected: false,
            ..*self
        }
    }

    /// A new program: no handler, no alternate stack; what is ignored, blocked or waits stays (`execve(2)`).
    pub fn reset_for_exec(&mut self) {
        for action in self.actions.iter_mut() {
            let handler = if action.handler == SIG_IGN { SIG_IGN } else { SIG_DFL };
            *action = Action { handler, ..Action::default() };
        }
        self.stack = AltStack::NONE;
    }

    /// The action of a signal from 1 to 64.
    #[must_use]
    pub fn action(&self, signal: u32) -> Action {
        self.actions[slot(signal)]
    }

    /// `sigaction`. A signal that is ignored from now on and waits is forgotten (POSIX.1-2017, 2.4.3).
    ///
    /// # Errors
    /// EINVAL for SIGKILL, SIGSTOP and numbers that are no signal.
    pub fn set_action(&mut self, signal: u32, action: Action) -> Result<(), Errno> {
        if SignalSet::one(signal).blockable().is_empty() {
            return Err(Errno::EINVAL);
        }
        self.actions[slot(signal)] = action;
        if action.ignores(signal) {
            self.forget(SignalSet::one(signal));
        }
        Ok(())
    }

    /// What is blocked.
    #[must_use]
    pub const fn blocked(&self) -> SignalSet {
        self.blocked
    }

    /// `sigprocmask`.
    pub fn change_mask(&mut self, how: How, set: SignalSet) {
        self.blocked = self.blocked.changed(how, set);
    }

    /// Blocks these until the program runs again, or until a handler returns: `sigsuspend` and `ppoll`.
    pub fn set_temporary_mask(&mut self, mask: SignalSet) {
        self.saved.get_or_insert(self.blocked);
        self.blocked = mask.blockable();
    }

    /// Ends what [`Self::set_temporary_mask`] began.
    pub fn restore_mask(&mut self) {
        if let Some(mask) = self.saved.take() {
            self.blocked = mask;
        }
    }

    /// What waits and is blocked: `sigpending`.
    #[must_use]
    pub const fn pending(&self) -> SignalSet {
        self.pending.and(self.blocked)
    }

    /// The alternate stack.
    #[must_use]
    pub const fn stack(&self) -> AltStack {
        self.stack
    }

    /// Sets the alternate stack.
    pub fn set_stack(&mut self, stack: AltStack) {
        self.stack = stack;
    }

    /// Adds a signal that somebody sent. SIGCONT takes back what would stop the process, and the other way round;
    /// whether the process goes on is the caller's business, because that does not depend on anything here.
    pub fn post(&mut self, info: Info) -> Posted {
        let signal = info.signal;
        match signal {
            SIGCONT => self.forget(SignalSet::STOPPING),
            SIGSTOP | SIGTSTP | SIGTTIN | SIGTTOU => self.forget(SignalSet::CONTINUING),
            _ => {}
        }
        let action = self.action(signal);
        let ignored = action.ignores(signal) && !self.blocked.has(signal);
        if ignored || (self.protected && action.handler == SIG_DFL) {
            return Posted::Dropped;
        }
        if signal < SIGRTMIN && self.pending.has(signal) {
            return Posted::Dropped;
        }
        self.pending = self.pending.or(SignalSet::one(signal));
        self.enqueue(info)
    }

    /// Adds a signal that an instruction of the program's caused. It cannot be put off: if it is blocked or ignored,
    /// it does its default action. Returns whether there is a handler for it.
    pub fn force(&mut self, info: Info) -> bool {
        let one = SignalSet::one(info.signal);
        let action = &mut self.actions[slot(info.signal)];
        if self.blocked.has(info.signal) || action.handler == SIG_IGN {
            *action = Action::default();
            self.blocked = self.blocked.without(one);
        }
        let handled = action.is_handler();
        self.forget(one);
        self.pending = self.pending.or(one);
        self.enqueue(info);
        handled
    }

    /// Whether a signal waits that is not blocked: a call that waits gives up.
    #[must_use]
    pub const fn interrupt(&self) -> bool {
        !self.pending.without(self.blocked).is_empty()
    }

    /// Whether one waits that ends the process, so that nothing it does matters any more.
    #[must_use]
    pub fn deadly(&self) -> bool {
        let mut ready = self.pending.without(self.blocked);
        // At most one round for each signal.
        while let Some(signal) = ready.lowest() {
            if self.action(signal).ends(signal) {
                return true;
            }
            ready = ready.without(SignalSet::one(signal));
        }
        false
    }

    /// Whether SIGKILL waits.
    #[must_use]
    pub const fn killed(&self) -> bool {
        self.pending.has(SIGKILL)
    }

    /// Takes the next signal and says what it does; `None` when none waits.
    pub fn next_step(&mut self) -> Option<Next> {
        loop {
            let info = self.take_next()?;
            let signal = info.signal;
            let action = self.action(signal);
            if action.is_handler() {
                if action.has(SA_RESETHAND) {
                    self.actions[slot(signal)].handler = SIG_DFL;
                }
                let mask = self.saved.unwrap_or(self.blocked);
                return Some(Next::Handle(Delivery { info, action, mask, stack: self.stack }));
            }
            if action.ends(signal) {
                return Some(Next::End(signal));
            }
            if SignalSet::STOPPING.has(signal) && !action.ignores(signal) {
                return Some(Next::Stop(signal));
            }
            // Ignored since it was sent: each round takes one away.
        }
    }

    /// The handler of this delivery begins to run.
    pub fn delivered(&mut self, delivery: &Delivery) {
        let own = if delivery.action.has(SA_NODEFER) {
            SignalSet::EMPTY
        } else {
            SignalSet::one(delivery.info.signal)
        };
        self.saved = None;
        self.blocked = self.blocked.or(delivery.action.mask).or(own).blockable();
        if self.stack.is_given_up() {
            self.stack = AltStack::NONE;
        }
    }

    /// The frame of this delivery found no room: SIGSEGV instead, which ends the process if that was the signal.
    pub fn undeliverable(&mut self, delivery: &Delivery) {
        if delivery.info.signal == SIGSEGV {
            self.actions[slot(SIGSEGV)] = Action::default();
        }
        self.force(Info::from_kernel(SIGSEGV));
    }

    /// A handler has returned.
    pub fn returned(&mut self, mask: SignalSet) {
        self.blocked = mask.blockable();
    }

    /// Takes one of `set` that waits, blocked or not: `sigtimedwait`.
    pub fn take(&mut self, set: SignalSet) -> Option<Info> {
        self.pending.and(set.blockable()).lowest().map(|signal| self.dequeue(signal))
    }

    /// Whether children that end stay until they are waited for, and are told about at all.
    #[must_use]
    pub fn keeps_zombies(&self) -> bool {
        let action = self.action(SIGCHLD);
        action.handler != SIG_IGN && !action.has(SA_NOCLDWAIT)
    }

    /// Whether children that stop or go on are told about.
    #[must_use]
    pub fn wants_stops(&self) -> bool {
        !self.action(SIGCHLD).has(SA_NOCLDSTOP)
    }

    /// SIGKILL first, then what an instruction caused, then the lowest.
    fn take_next(&mut self) -> Option<Info> {
        let ready = self.pending.without(self.blocked);
        let first = match ready.and(SignalSet::SYNCHRONOUS) {
            _ if ready.has(SIGKILL) => SignalSet::one(SIGKILL),
            SignalSet::EMPTY => ready,
            caused => caused,
        };
        first.lowest().map(|signal| self.dequeue(signal))
    }

    fn enqueue(&mut self, info: Info) -> Posted {
        if self.queue.len() >= QUEUED_MAX {
            return Posted::Full;
        }
        self.queue.push(info);
        Posted::Pending
    }

    fn dequeue(&mut self, signal: u32) -> Info {
        let found = self.queue.iter().position(|info| info.signal == signal);
        let info = found.map(|index| self.queue.remove(index));
        if !self.queue.iter().any(|info| info.signal == signal) {
            self.pending = self.pending.without(SignalSet::one(signal));
        }
        info.unwrap_or(Info { signal, code: SI_USER, detail: Detail::Sender { pid: 0 } })
    }

    fn forget(&mut self, set: SignalSet) {
        self.pending = self.pending.without(set);
        self.queue.retain(|info| !set.has(info.signal));
    }
}

/// Index of a signal's action. Callers have checked the number, or got it from here.
fn slot(signal: u32) -> usize {
    debug_assert!((1..NSIG).contains(&signal), "{signal} is no signal");
    signal as usize - 1
}
