//! Who belongs to whom: parents and children, process groups, sessions (`credentials(7)`, `setpgid(2)`, `setsid(2)`;
//! POSIX.1-2017, 3.293 and 11.1). Every question is answered by an index, so none costs a look at all processes.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use askr_abi::Errno;
use core::ops::RangeInclusive;

/// Number of a process, a group or a session.
pub type Pid = u32;

/// The process that becomes the parent of orphans.
pub const INIT: Pid = 1;

/// What is known about one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its parent; 0 for process 1.
    pub parent: Pid,
    /// Its process group.
    pub group: Pid,
    /// Its session.
    pub session: Pid,
    /// Whether it has called `execve`.
    pub executed: bool,
    /// Whether it has ended and waits to be reaped.
    pub ended: bool,
}

/// All processes that have not been reaped.
#[derive(Debug, Default)]
pub struct Family {
    members: BTreeMap<Pid, Member>,
    /// Pairs of parent and child, group and member, session and member.
    children: BTreeSet<(Pid, Pid)>,
    /// Those of them of a child that has ended.
    ended: BTreeSet<(Pid, Pid)>,
    groups: BTreeSet<(Pid, Pid)>,
    sessions: BTreeSet<(Pid, Pid)>,
    /// Those of group and member of a living member that somebody outside of the group looks after.
    guarded: BTreeSet<(Pid, Pid)>,
    last: Pid,
}

impl Family {
    /// Nobody.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            members: BTreeMap::new(),
            children: BTreeSet::new(),
            ended: BTreeSet::new(),
            groups: BTreeSet::new(),
            sessions: BTreeSet::new(),
            guarded: BTreeSet::new(),
            last: 0,
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is nobody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The next number from 1 to `max` that is neither a process nor a group nor a session: somebody may still mean
    /// those by it. After `max` numbers start over above process 1.
    pub fn next_number(&mut self, max: Pid) -> Option<Pid> {
        // Each process can hold at most three numbers, and each number is tried once.
        for _ in 0..max {
            self.last = if self.last >= max { INIT + 1 } else { self.last + 1 };
            if !self.is_used(self.last) {
                return Some(self.last);
            }
        }
        None
    }

    fn is_used(&self, number: Pid) -> bool {
        self.members.contains_key(&number)
            || first(&self.groups, number).is_some()
            || first(&self.sessions, number).is_some()
    }

    /// Adds a child of `parent`, in its group and session; without such a process, the leader of a session of its own.
    pub fn add(&mut self, pid: Pid, parent: Pid) {
        let (group, session) =
            self.member(parent).map_or((pid, pid), |parent| (parent.group, parent.session));
        self.members.insert(pid, Member { parent, group, session, executed: false, ended: false });
        self.children.insert((parent, pid));
        self.groups.insert((group, pid));
        self.sessions.insert((session, pid));
        self.note_guard(pid);
    }

    /// What is known about a process.
    #[must_use]
    pub fn member(&self, pid: Pid) -> Option<Member> {
        self.members.get(&pid).copied()
    }

    /// Forgets a process that has ended and was reaped.
    pub fn remove(&mut self, pid: Pid) {
        if let Some(member) = self.members.remove(&pid) {
            self.children.remove(&(member.parent, pid));
            self.ended.remove(&(member.parent, pid));
            self.groups.remove(&(member.group, pid));
            self.sessions.remove(&(member.session, pid));
        }
    }

    /// It has called `execve`.
    pub fn note_execution(&mut self, pid: Pid) {
        if let Some(member) = self.members.get_mut(&pid) {
            member.executed = true;
        }
    }

    /// The children of a process, by number.
    pub fn children(&self, pid: Pid) -> impl Iterator<Item = Pid> + '_ {
        seconds(&self.children, pid)
    }

    /// The first child of a process with a number among these.
    #[must_use]
    pub fn first_child(&self, pid: Pid, numbers: RangeInclusive<Pid>) -> Option<Pid> {
        first_among(&self.children, pid, numbers)
    }

    /// As [`Family::first_child`], of those that have ended.
    #[must_use]
    pub fn first_ended_child(&self, pid: Pid, numbers: RangeInclusive<Pid>) -> Option<Pid> {
        first_among(&self.ended, pid, numbers)
    }

    /// A process and all that descend from it, each after its parent; those whose parent has ended descend from process 1.
    #[must_use]
    pub fn tree(&self, pid: Pid) -> Vec<Pid> {
        let mut all: Vec<Pid> = self.members.contains_key(&pid).then_some(pid).into_iter().collect();
        // Nobody descends from himself, so each process comes once.
        let mut next = 0;
        while let Some(&parent) = all.get(next) {
            all.extend(self.children(parent));
            next += 1;
        }
        all
    }

    /// The members of a group, by number, those that have ended included.
    pub fn group(&self, group: Pid) -> impl Iterator<Item = Pid> + '_ {
        seconds(&self.groups, group)
    }

    /// The session of a group, if it has a member.
    #[must_use]
    pub fn session_of_group(&self, group: Pid) -> Option<Pid> {
        self.member(first(&self.groups, group)?).map(|member| member.session)
    }

    /// A process has ended: its children get process 1 as their parent. Returns the groups that are orphaned from now
    /// on; if somebody in them is stopped, nobody is left to make him go on (POSIX.1-2017, `_exit()`).
    pub fn end(&mut self, pid: Pid) -> Vec<Pid> {
        let children: Vec<Pid> = self.children(pid).collect();
        let concerned = children.iter().chain([&pid]).filter_map(|&pid| self.member(pid));
        let concerned: BTreeSet<Pid> = concerned.map(|member| member.group).collect();
        let kept: Vec<Pid> = concerned.into_iter().filter(|&group| !self.is_orphaned(group)).collect();
        if let Some(member) = self.members.get_mut(&pid) {
            member.ended = true;
            self.ended.insert((member.parent, pid));
        }
        self.note_guard(pid);
        for child in children {
            self.adopt(child);
        }
        kept.into_iter().filter(|&group| self.is_orphaned(group)).collect()
    }

    /// Makes process 1 the parent of a process.
    pub fn adopt(&mut self, pid: Pid) {
        if let Some(member) = self.members.get_mut(&pid) {
            self.children.remove(&(member.parent, pid));
            if self.ended.remove(&(member.parent, pid)) {
                self.ended.insert((INIT, pid));
            }
            member.parent = INIT;
            self.children.insert((INIT, pid));
        }
        self.note_guard(pid);
    }

    /// Notes whether a process is alive and has a parent in the same session and another group, who could look after its
    /// group. Process 1 looks after nobody.
    fn note_guard(&mut self, pid: Pid) {
        let Some(Member { parent, group, session, ended, .. }) = self.member(pid) else { return };
        let guards = |parent: Member| parent.group != group && parent.session == session;
        if !ended && parent != INIT && self.member(parent).is_some_and(guards) {
            self.guarded.insert((group, pid));
        } else {
            self.guarded.remove(&(group, pid));
        }
    }

    /// Whether nobody outside of a group looks after a living member of it (POSIX.1-2017, 3.264).
    #[must_use]
    pub fn is_orphaned(&self, group: Pid) -> bool {
        first(&self.guarded, group).is_none()
    }

    /// `setpgid`: `caller` moves `pid`, itself or a child, to `group`.
    ///
    /// # Errors
    /// ESRCH for any other process; EACCES for a child that has called `execve`; EPERM for the leader of a session, a child
    /// in another one, and a group that is not in the caller's.
    pub fn set_group(&mut self, caller: Pid, pid: Pid, group: Pid) -> Result<(), Errno> {
        let session = self.member(caller).ok_or(Errno::ESRCH)?.session;
        let member = self.member(pid).ok_or(Errno::ESRCH)?;
        match pid {
            _ if pid == caller => {}
            _ if member.parent != caller => return Err(Errno::ESRCH),
            _ if member.session != session => return Err(Errno::EPERM),
            _ if member.executed => return Err(Errno::EACCES),
            _ => {}
        }
        let joins = group == pid || self.session_of_group(group) == Some(session);
        if member.session == pid || !joins {
            return Err(Errno::EPERM);
        }
        self.move_to(pid, group, member.session);
        Ok(())
    }

    /// `setsid`: a session and a group of its own.
    ///
    /// # Errors
    /// EPERM if a group has its number, as that of a group's leader.
    pub fn new_session(&mut self, pid: Pid) -> Result<(), Errno> {
        if first(&self.groups, pid).is_some() {
            return Err(Errno::EPERM);
        }
        self.move_to(pid, pid, pid);
        Ok(())
    }

    fn move_to(&mut self, pid: Pid, group: Pid, session: Pid) {
        if let Some(member) = self.members.get_mut(&pid) {
            self.groups.remove(&(member.group, pid));
            self.sessions.remove(&(member.session, pid));
            self.guarded.remove(&(member.group, pid));
            (member.group, member.session) = (group, session);
            self.groups.insert((group, pid));
            self.sessions.insert((session, pid));
        }
        self.note_guard(pid);
        for child in self.children(pid).collect::<Vec<_>>() {
            self.note_guard(child);
        }
    }
}

fn seconds(pairs: &BTreeSet<(Pid, Pid)>, first: Pid) -> impl Iterator<Item = Pid> + '_ {
    pairs.range((first, 0)..=(first, Pid::MAX)).map(|&(_, second)| second)
}

fn first_among(pairs: &BTreeSet<(Pid, Pid)>, first: Pid, seconds: RangeInclusive<Pid>) -> Option<Pid> {
    let (from, to) = seconds.into_inner();
    // A range that ends before it begins is none to ask a set for.
    let mut found = (from <= to).then(|| pairs.range((first, from)..=(first, to))).into_iter().flatten();
    found.next().map(|&(_, second)| second)
}

fn first(pairs: &BTreeSet<(Pid, Pid)>, key: Pid) -> Option<Pid> {
    seconds(pairs, key).next()
}
