//! Areas against a model: a map from page to rights.

use std::collections::BTreeMap;
use std::ops::Range;

use askr_abi::Errno;
use askr_core::areas::{AREAS_MAX, Access, Area, Areas};
use askr_core::elf::{PAGE_SIZE, Rights, USER_END, USER_MIN};
use proptest::prelude::*;

const FIRST: u64 = USER_MIN / PAGE_SIZE;
const READ_ONLY: Rights = Rights { read: true, write: false, execute: false };

fn pages(range: &Range<u64>) -> Range<u64> {
    range.start * PAGE_SIZE..range.end * PAGE_SIZE
}

#[derive(Clone, Debug)]
enum Step {
    Add(Range<u64>, bool),
    Remove(Range<u64>),
    Protect(Range<u64>, bool),
    Room(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let range = || (0..40_u64, 0..12_u64).prop_map(|(start, length)| FIRST + start..FIRST + start + length);
    prop_oneof![
        (range(), any::<bool>()).prop_map(|(range, write)| Step::Add(range, write)),
        range().prop_map(Step::Remove),
        (range(), any::<bool>()).prop_map(|(range, write)| Step::Protect(range, write)),
        (1..12_u64).prop_map(Step::Room),
    ]
}

fn rights(write: bool) -> Rights {
    if write { Rights::READ_WRITE } else { READ_ONLY }
}

fn apply(areas: &mut Areas, model: &mut BTreeMap<u64, Rights>, step: &Step) {
    match step {
        Step::Add(range, write) => {
            let expected = if range.is_empty() {
                Err(Errno::EINVAL)
            } else if range.clone().any(|page| model.contains_key(&page)) {
                Err(Errno::EEXIST)
            } else {
                model.extend(range.clone().map(|page| (page, rights(*write))));
                Ok(())
            };
            assert_eq!(areas.add(pages(range), rights(*write)), expected);
        }
        Step::Remove(range) => {
            assert_eq!(areas.remove(&pages(range)), Ok(()));
            model.retain(|page, _| !range.contains(page));
        }
        Step::Protect(range, write) => {
            let whole = range.clone().all(|page| model.contains_key(&page));
            let expected = if whole { Ok(()) } else { Err(Errno::ENOMEM) };
            assert_eq!(areas.protect(&pages(range), rights(*write)), expected);
            if whole {
                model.extend(range.clone().map(|page| (page, rights(*write))));
            }
        }
        Step::Room(length) => {
            let within = FIRST..FIRST + 64;
            let free = |start: u64| (start..start + length).all(|page| !model.contains_key(&page));
            let expected = (within.start..=within.end - length).rev().find(|&start| free(start));
            let found = areas.highest_room(length * PAGE_SIZE, pages(&within));
            assert_eq!(found, expected.map(|start| pages(&(start..start + length))));
        }
    }
}

proptest! {
    #[test]
    fn areas_do_what_a_map_of_pages_does(steps in prop::collection::vec(step(), 1..60)) {
        let (mut areas, mut model) = (Areas::new(), BTreeMap::new());
        for step in &steps {
            apply(&mut areas, &mut model, step);
            for page in FIRST..FIRST + 56 {
                for address in [page * PAGE_SIZE, page * PAGE_SIZE + PAGE_SIZE - 1] {
                    prop_assert_eq!(areas.rights(address), model.get(&page).copied());
                }
            }
            for start in FIRST..FIRST + 56 {
                let range = start..start + 5;
                prop_assert_eq!(areas.is_free(&pages(&range)), !range.clone().any(|page| model.contains_key(&page)));
                let covered = range.clone().take_while(|page| model.contains_key(page)).count() as u64;
                prop_assert_eq!(areas.covered(&pages(&range)), covered * PAGE_SIZE);
            }
            prop_assert_eq!(areas.bytes(|_| true), model.len() as u64 * PAGE_SIZE);
            let merged = |pair: &[Area]| pair[0].range.end < pair[1].range.start || pair[0].rights != pair[1].rights;
            let listed: Vec<_> = areas.iter().cloned().collect();
            prop_assert!(listed.windows(2).all(merged), "neighbours that differ in nothing: {:?}", listed);
            prop_assert!(listed.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
            prop_assert!(listed.iter().all(|area| !area.range.is_empty()));
        }
    }
}

#[test]
fn a_heap_that_grows_stays_one_area() {
    let mut areas = Areas::new();
    for page in FIRST..FIRST + 10_000 {
        areas.add(pages(&(page..page + 1)), Rights::READ_WRITE).unwrap();
    }
    assert_eq!(areas.iter().count(), 1);
    areas.add(pages(&(FIRST + 10_000..FIRST + 10_001)), READ_ONLY).unwrap();
    assert_eq!(areas.iter().count(), 2, "other rights are another area");
}

#[test]
fn shared_memory_stays_apart_from_private_memory() {
    let mut areas = Areas::new();
    let area = |page: u64, shared| Area { range: pages(&(page..page + 1)), rights: READ_ONLY, shared };
    for (page, shared) in [(FIRST, false), (FIRST + 1, true), (FIRST + 3, true), (FIRST + 2, true)] {
        areas.add_area(area(page, shared)).unwrap();
    }
    let listed: Vec<_> = areas.iter().map(|area| (area.len() / PAGE_SIZE, area.shared)).collect();
    assert_eq!(listed, [(1, false), (3, true)]);
    let copy = areas.try_clone().unwrap();
    assert!(copy.iter().eq(areas.iter()));
}

#[test]
fn ranges_outside_the_user_half_are_refused() {
    let mut areas = Areas::new();
    for range in [0..PAGE_SIZE, USER_MIN - 1..USER_MIN, USER_END..USER_END + 1, USER_END - 1..u64::MAX] {
        assert_eq!(areas.add(range, READ_ONLY), Err(Errno::EINVAL));
    }
    assert_eq!(areas.add(USER_MIN..USER_END, READ_ONLY), Ok(()));
    let backwards = Range { start: PAGE_SIZE, end: 1 };
    for range in [1..PAGE_SIZE, backwards, USER_MIN..USER_END + PAGE_SIZE, 0..u64::MAX] {
        assert_eq!(areas.remove(&range), Err(Errno::EINVAL));
        assert_eq!(areas.protect(&range, READ_ONLY), Err(Errno::EINVAL));
    }
    assert_eq!(areas.remove(&(0..USER_END)), Ok(()));
    assert_eq!(areas.iter().count(), 0);
}

#[test]
fn the_number_of_areas_is_bounded() {
    let mut areas = Areas::new();
    let page = |index: usize| FIRST + 2 * index as u64;
    for index in 0..AREAS_MAX {
        areas.add(pages(&(page(index)..page(index) + 1)), READ_ONLY).unwrap();
    }
    assert_eq!(areas.add(pages(&(page(AREAS_MAX)..page(AREAS_MAX) + 1)), READ_ONLY), Err(Errno::ENOMEM));
    let wide = page(AREAS_MAX - 1)..page(AREAS_MAX - 1) + 1;
    assert_eq!(areas.remove(&pages(&wide)), Ok(()), "a removal that cuts nothing always works");
    areas.add(pages(&(wide.start..wide.start + 3)), READ_ONLY).unwrap();
    let middle = pages(&(wide.start + 1..wide.start + 2));
    assert_eq!(areas.remove(&middle), Err(Errno::ENOMEM), "one area would become two");
    assert_eq!(areas.iter().count(), AREAS_MAX, "and nothing has changed");
}

#[test]
fn rights_cover_what_they_name() {
    let code = Rights { read: true, write: false, execute: true };
    assert!(code.allow(Access::Read) && code.allow(Access::Execute) && !code.allow(Access::Write));
    assert!(Rights::READ_WRITE.allow(Access::Write) && !Rights::READ_WRITE.allow(Access::Execute));
    let none = Rights::default();
    assert!(![Access::Read, Access::Write, Access::Execute].into_iter().any(|access| none.allow(access)));
}
