//! Who belongs to whom, which program runs a script, and what `clone` makes.

use askr_abi::Errno;
use askr_core::clone::CloneRequest;
use askr_core::family::{Family, INIT, Member};
use askr_core::script::{Interpreter, LINE_MAX, interpreter};
use std::collections::BTreeSet;

/// Process 1, a shell (2) with a session of its own, and its jobs 3 and 4.
fn family() -> Family {
    let mut family = Family::new();
    family.add(INIT, 0);
    family.add(2, INIT);
    family.new_session(2).unwrap();
    for job in [3, 4] {
        family.add(job, 2);
        family.set_group(2, job, job).unwrap();
    }
    family
}

#[test]
fn children_are_in_the_group_and_session_of_their_parent() {
    let mut family = family();
    family.add(5, 3);
    let child = family.member(5).unwrap();
    assert_eq!((child.parent, child.group, child.session), (3, 3, 2));
    assert_eq!(family.children(2).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(family.group(3).collect::<Vec<_>>(), [3, 5]);
    assert_eq!((family.session_of_group(3), family.session_of_group(9)), (Some(2), None));
}

#[test]
fn setpgid_has_the_errors_of_the_manual() {
    let mut family = family();
    family.add(5, 3);
    assert_eq!(family.set_group(2, 9, 9), Err(Errno::ESRCH), "nobody");
    assert_eq!(family.set_group(2, 5, 5), Err(Errno::ESRCH), "a grandchild");
    assert_eq!(family.set_group(3, 2, 3), Err(Errno::ESRCH), "the parent");
    assert_eq!(family.set_group(2, 2, 3), Err(Errno::EPERM), "the leader of a session");
    assert_eq!(family.set_group(2, 3, 9), Err(Errno::EPERM), "no such group");
    assert_eq!(family.set_group(2, 3, INIT), Err(Errno::EPERM), "a group of another session");
    family.note_execution(4);
    assert_eq!(family.set_group(2, 4, 3), Err(Errno::EACCES));
    assert_eq!(family.set_group(4, 4, 3), Ok(()), "itself it may");
    family.new_session(5).unwrap();
    assert_eq!(family.set_group(3, 5, 3), Err(Errno::EPERM), "a child in another session");
}

#[test]
fn a_group_leader_gets_no_session() {
    let mut family = family();
    assert_eq!(family.new_session(3), Err(Errno::EPERM));
    family.add(5, 3);
    family.new_session(5).unwrap();
    let member = family.member(5).unwrap();
    assert_eq!((member.group, member.session), (5, 5));
    // 3 has left, but the group of its number lives on.
    family.add(6, 3);
    family.set_group(3, 3, 4).unwrap();
    assert_eq!(family.new_session(3), Err(Errno::EPERM));
}

#[test]
fn a_number_is_not_given_while_anything_has_it() {
    let mut family = family();
    family.add(5, 3);
    family.end(3);
    family.remove(3);
    assert!(family.member(3).is_none() && family.group(3).eq([5]));
    let numbers: Vec<u32> = core::iter::from_fn(|| family.next_number(8)).take(20).collect();
    assert!(numbers.iter().all(|&number| [6, 7, 8].contains(&number)), "{numbers:?}");
    family.end(5);
    family.remove(5);
    let numbers: BTreeSet<u32> = core::iter::from_fn(|| family.next_number(8)).take(20).collect();
    assert_eq!(numbers, BTreeSet::from([3, 5, 6, 7, 8]));
    for number in [3, 5, 6, 7, 8] {
        family.add(number, 2);
    }
    assert_eq!(family.next_number(8), None);
}

#[test]
fn groups_are_orphaned_when_nobody_looks_after_them() {
    let mut family = family();
    assert!(!family.is_orphaned(3) && family.is_orphaned(2) && family.is_orphaned(INIT));
    // A job's own children do not count, its shell does.
    family.add(5, 3);
    assert_eq!(family.end(3), [3], "its leader was the one with a parent outside of it");
    assert_eq!(family.member(5).unwrap().parent, INIT);
    assert!(family.is_orphaned(3));
    assert_eq!(family.end(2), [4], "the shell was all that 4 had");
    assert!(family.children(INIT).eq([2, 3, 4, 5]));
}

/// The same questions answered by looking at everybody.
#[test]
fn the_indices_say_what_a_look_at_everybody_says() {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut family = family();
    let mut living: Vec<u32> = vec![INIT, 2, 3, 4];
    for _ in 0..4_000 {
        let pid = living[rng.usize(..living.len())];
        match rng.u8(..9) {
            0..=2 if living.len() < 40 => {
                let child = family.next_number(64).unwrap();
                family.add(child, pid);
                living.push(child);
            }
            3 => {
                let moved = if rng.bool() { pid } else { living[rng.usize(..living.len())] };
                let group = if rng.bool() { moved } else { rng.u32(1..64) };
                let _ = family.set_group(pid, moved, group);
            }
            4 => drop(family.new_session(pid)),
            5 => family.note_execution(pid),
            6 if pid != INIT => drop(family.end(pid)),
            _ if pid != INIT => {
                family.end(pid);
                family.remove(pid);
                living.retain(|&other| other != pid);
            }
            _ => {}
        }
        let all: Vec<_> = living.iter().map(|&pid| (pid, family.member(pid).unwrap())).collect();
        assert_eq!(family.len(), all.len());
        for &(pid, member) in &all {
            assert!(pid == INIT || family.member(member.parent).is_some(), "{pid} has no parent");
            assert!(family.group(member.group).any(|other| other == pid));
            let sessions =
                all.iter().filter(|(_, other)| other.group == member.group).map(|(_, other)| other.session);
            assert_eq!(sessions.collect::<BTreeSet<_>>().len(), 1, "a group lies in one session");
            let children: BTreeSet<u32> =
                all.iter().filter(|(_, other)| other.parent == pid).map(|&(pid, _)| pid).collect();
            assert!(family.children(pid).eq(children.iter().copied()));
            let mut living = all.iter().filter(|(_, other)| other.group == member.group && !other.ended);
            let looks_after = |(_, other): &(u32, Member)| {
                let parent = family.member(other.parent).filter(|_| other.parent != INIT);
                parent.is_some_and(|parent| parent.group != other.group && parent.session == other.session)
            };
            assert_eq!(family.is_orphaned(member.group), !living.any(looks_after), "{}", member.group);
            let (from, to) = (rng.u32(..64), rng.u32(..64));
            let first = |wanted: &dyn Fn(u32) -> bool| {
                children.iter().copied().find(|child| (from..=to).contains(child) && wanted(*child))
            };
            let has_ended = |child| family.member(child).unwrap().ended;
            assert_eq!(family.first_child(pid, from..=to), first(&|_| true));
            assert_eq!(family.first_ended_child(pid, from..=to), first(&has_ended));
        }
    }
}

#[test]
fn the_first_line_of_a_script_names_its_program() {
    let found = |path: &'static str, argument: Option<&'static str>| {
        Ok(Some(Interpreter { path: path.as_bytes(), argument: argument.map(str::as_bytes) }))
    };
    for (head, expected) in [
        ("#!/bin/sh\necho", found("/bin/sh", None)),
        ("#! /bin/sh -e  \n", found("/bin/sh", Some("-e"))),
        ("#!\t/bin/sh\t-e -x\n", found("/bin/sh", Some("-e -x"))),
        ("#!/bin/sh", found("/bin/sh", None)),
        ("#!\n/bin/sh\n", Err(Errno::ENOEXEC)),
        ("#!  \t ", Err(Errno::ENOEXEC)),
        ("#!/bin\0/sh\n", Err(Errno::ENOEXEC)),
        ("\x7fELF", Ok(None)),
        ("#", Ok(None)),
        ("", Ok(None)),
    ] {
        assert_eq!(interpreter(head.as_bytes()), expected, "{head:?}");
    }
    let longest = format!("#!/{}\n", "x".repeat(LINE_MAX - 4));
    assert!(interpreter(longest.as_bytes()).unwrap().is_some());
    let longer = format!("#!/{}\nrest of the file", "x".repeat(LINE_MAX - 3));
    assert_eq!(interpreter(longer.as_bytes()), Err(Errno::ENOEXEC));
}

#[test]
fn clone_makes_processes_and_nothing_that_it_cannot_keep() {
    assert_eq!(CloneRequest::from_flags(17), Ok(CloneRequest::FORK));
    assert_eq!(CloneRequest::from_flags(0x4111), Ok(CloneRequest::VFORK));
    let request = CloneRequest::from_flags(0x0138_0000 | 17).unwrap();
    assert!(request.set_tls && request.set_parent_tid && request.set_child_tid && request.clear_child_tid);
    assert_eq!(CloneRequest::from_flags(0).unwrap().end_signal, 0);
    for (flags, errno) in [
        (0x111, Errno::ENOSYS),      // CLONE_VM alone
        (0x3d_0f00, Errno::ENOSYS),  // what pthread_create asks for
        (0x400 | 17, Errno::ENOSYS), // CLONE_FILES
        (0x2000_0011, Errno::ENOSYS),
        (0x811, Errno::EINVAL),
        (0x1_0011, Errno::EINVAL),
        (65, Errno::EINVAL),
    ] {
        assert_eq!(CloneRequest::from_flags(flags), Err(errno), "{flags:#x}");
    }
}

#[test]
fn a_tree_is_all_who_descend_from_somebody() {
    let mut family = Family::new();
    for (pid, parent) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (6, 1)] {
        family.add(pid, parent);
    }
    family.new_session(5).unwrap();
    assert_eq!(family.tree(2), [2, 3, 4, 5], "whatever session they are in");
    assert_eq!(family.tree(6), [6]);
    assert_eq!(family.tree(9), []);
    family.end(3);
    assert_eq!(family.tree(2), [2, 3, 4], "an orphan descends from process 1");
    assert_eq!(family.tree(1), [1, 2, 5, 6, 3, 4]);
}
