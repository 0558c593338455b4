//! ELF plans: what is accepted, what is refused and why, and what holds whatever the file says.

use askr_abi::Errno;
use askr_core::elf::{
    ElfError, LoadPlan, PAGE_SIZE, PROGRAM_HEADERS_MAX, Rights, SEGMENTS_MAX, USER_END, USER_MIN, plan,
};
use proptest::prelude::*;

const EXEC: u16 = 2;
const DYN: u16 = 3;
const LOAD: u32 = 1;
const INTERP: u32 = 3;
const R: u32 = 4;
const W: u32 = 2;
const X: u32 = 1;
const FILE_LEN: usize = 0x4000;
const PIE_BASE: u64 = 0x5555_5000_0000;

#[derive(Clone, Copy)]
struct Ph {
    kind: u32,
    flags: u32,
    offset: u64,
    vaddr: u64,
    file: u64,
    mem: u64,
    align: u64,
}

const fn ph(flags: u32, offset: u64, vaddr: u64, file: u64, mem: u64) -> Ph {
    Ph { kind: LOAD, flags, offset, vaddr, file, mem, align: 0x1000 }
}

/// A file of `FILE_LEN` bytes with these program headers right after the ELF header.
fn elf(kind: u16, entry: u64, headers: &[Ph]) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend(kind.to_le_bytes());
    file.extend(62_u16.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    file.extend(entry.to_le_bytes());
    file.extend(64_u64.to_le_bytes());
    file.extend(0_u64.to_le_bytes());
    file.extend(0_u32.to_le_bytes());
    for half in [64_u16, 56, u16::try_from(headers.len()).unwrap(), 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    for h in headers {
        file.extend(h.kind.to_le_bytes());
        file.extend(h.flags.to_le_bytes());
        for word in [h.offset, h.vaddr, h.vaddr, h.file, h.mem, h.align] {
            file.extend(word.to_le_bytes());
        }
    }
    file.resize(FILE_LEN, 0xAA);
    file
}

/// What GNU ld makes with `-z noseparate-code`: one file page mapped twice, at two addresses.
fn typical() -> Vec<Ph> {
    vec![ph(R | X, 0, 0x40_0000, 0x1234, 0x1234), ph(R | W, 0x1234, 0x40_2234, 0x100, 0x9000)]
}

fn refusal(headers: &[Ph], entry: u64) -> ElfError {
    plan(&elf(EXEC, entry, headers), 0).expect_err("must be refused")
}

#[test]
fn a_static_program_is_planned_as_written() {
    let plan = plan(&elf(EXEC, 0x40_0100, &typical()), PIE_BASE).unwrap();
    assert_eq!((plan.entry, plan.bias, plan.end), (0x40_0100, 0, 0x40_C000));
    assert_eq!((plan.phdr, plan.phent, plan.phnum), (Some(0x40_0040), 56, 2));
    let [text, data] = plan.segments() else { panic!("two segments") };
    assert_eq!(text.rights, Rights { read: true, write: false, execute: true });
    assert_eq!(data.rights, Rights { read: true, write: true, execute: false });
    assert_eq!(data.file_range(), 0x1234..0x1334);
    let regions: Vec<_> = plan.regions().map(|region| (region.start, region.end)).collect();
    assert_eq!(regions, [(0x40_0000, 0x40_2000), (0x40_2000, 0x40_C000)]);
}

#[test]
fn a_position_independent_program_moves_to_the_base_as_its_alignment_asks() {
    let mut headers = [ph(R | X, 0, 0, 0x1000, 0x1000), ph(R | W, 0x1000, 0x20_0000, 0x10, 0x20)];
    let file = elf(DYN, 0x100, &headers);
    let plan_small = plan(&file, PIE_BASE + 0x3000).unwrap();
    assert_eq!(plan_small.bias, PIE_BASE + 0x3000);
    assert_eq!(plan_small.entry, PIE_BASE + 0x3100);
    assert_eq!(plan_small.phdr, Some(PIE_BASE + 0x3040));
    headers[1].align = 0x20_0000;
    let plan_large = plan(&elf(DYN, 0x100, &headers), PIE_BASE + 0x3000).unwrap();
    assert_eq!(plan_large.bias, PIE_BASE + 0x20_0000);
    headers[1].align = 0x3000;
    assert_eq!(plan(&elf(DYN, 0x100, &headers), PIE_BASE), Err(ElfError::Align(0x3000)));
}

#[test]
fn neighbours_may_share_a_page_only_with_the_same_rights() {
    let code = ph(R | X, 0, 0x40_0000, 0x800, 0x800);
    let alike = [code, ph(R | W, 0x1000, 0x40_1000, 0x10, 0x10), ph(R | W, 0x1010, 0x40_1800, 0x10, 0x1000)];
    let shared = plan(&elf(EXEC, 0x40_0000, &alike), 0).unwrap();
    let regions: Vec<_> = shared.regions().map(|region| (region.start, region.end)).collect();
    assert_eq!(regions, [(0x40_0000, 0x40_1000), (0x40_1000, 0x40_2000), (0x40_2000, 0x40_3000)]);
    let mixed = [code, ph(R | W, 0x800, 0x40_0800, 0x10, 0x10)];
    assert_eq!(refusal(&mixed, 0x40_0000), ElfError::SharedPage(0x40_0800));
}

#[test]
fn each_defect_has_its_own_refusal() {
    let code = ph(R | X, 0, 0x40_0000, 0x100, 0x100);
    let entry = 0x40_0000;
    let with = |other: Ph| refusal(&[code, other], entry);
    assert_eq!(with(ph(R | W | X, 0, 0x50_0000, 1, 1)), ElfError::WriteExecute(0x50_0000));
    assert_eq!(with(ph(R, 0, 0x50_0000, 2, 1)), ElfError::FileSize(0x50_0000));
    assert_eq!(with(ph(R, 0x3FFF, 0x50_0000, 2, 2)), ElfError::Truncated(0x50_0000));
    assert_eq!(with(ph(R, u64::MAX, 0x50_0000, 2, 2)), ElfError::Truncated(0x50_0000));
    assert_eq!(with(ph(R, 0, 0x40_0080, 1, 1)), ElfError::Overlap(0x40_0080));
    assert_eq!(with(ph(R, 0, 0x30_0000, 1, 1)), ElfError::Order(0x30_0000));
    assert_eq!(with(ph(R, 0, USER_END - 1, 1, 2)), ElfError::OutsideUser(USER_END - 1));
    assert_eq!(with(ph(R, 0, u64::MAX, 1, 2)), ElfError::OutsideUser(u64::MAX));
    assert_eq!(refusal(&[ph(R | X, 0, USER_MIN - 1, 1, 1)], entry), ElfError::OutsideUser(USER_MIN - 1));
    assert_eq!(refusal(&[ph(R, 0, entry, 9, 9)], entry), ElfError::Entry(entry));
    assert_eq!(refusal(&[code], 0x40_0100), ElfError::Entry(0x40_0100));
    assert_eq!(refusal(&[], entry), ElfError::NoSegments);
    assert_eq!(refusal(&[ph(R | X, 0, entry, 0, 0)], entry), ElfError::NoSegments);
    assert_eq!(with(Ph { kind: INTERP, ..code }), ElfError::Dynamic);
    let many: Vec<_> =
        (0..=SEGMENTS_MAX as u64).map(|n| ph(R | X, 0, 0x40_0000 + n * 0x1000, 1, 1)).collect();
    assert_eq!(refusal(&many, entry), ElfError::TooManySegments);
    assert_eq!(refusal(&[code; PROGRAM_HEADERS_MAX + 1], entry), ElfError::TooManySegments);
}

#[test]
fn what_is_no_program_for_this_machine_is_refused() {
    let good = elf(EXEC, 0x40_0000, &typical());
    let with = |at: usize, byte: u8| {
        let mut file = good.clone();
        file[at] = byte;
        plan(&file, 0).expect_err("must be refused")
    };
    assert_eq!(plan(b"#!/bin/sh\n", 0), Err(ElfError::NotElf));
    assert_eq!(plan(b"", 0), Err(ElfError::NotElf));
    assert_eq!(plan(&good[..63], 0), Err(ElfError::Malformed));
    assert_eq!(with(5, 2), ElfError::Malformed);
    assert_eq!(with(18, 183), ElfError::Machine(183));
    assert_eq!(with(16, 1), ElfError::Type(1));
    assert_eq!(ElfError::Dynamic.errno(), Errno::ENOEXEC);
    assert_eq!(ElfError::OutsideUser(0).errno(), Errno::ENOMEM);
}

#[test]
fn the_test_itself_is_refused_as_dynamic() {
    let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    assert_eq!(plan(&own, PIE_BASE), Err(ElfError::Dynamic));
}

fn holds(plan: &LoadPlan, file_len: usize) {
    let mut last = USER_MIN;
    for segment in plan.segments() {
        assert!(segment.vaddr >= last && segment.mem_size > 0);
        assert!(segment.file_size as u64 <= segment.mem_size);
        assert!(segment.file_range().end <= file_len);
        assert!(!(segment.rights.write && segment.rights.execute));
        last = segment.end();
    }
    assert!(last <= USER_END && plan.end >= last && plan.end <= USER_END);
    let regions: Vec<_> = plan.regions().collect();
    for pair in regions.windows(2) {
        assert!(pair[0].end <= pair[1].start);
    }
    for segment in plan.segments() {
        for address in [segment.vaddr, segment.end() - 1] {
            let region = regions.iter().find(|region| (region.start..region.end).contains(&address));
            assert_eq!(region.expect("mapped").rights, segment.rights);
        }
    }
    assert!(regions.iter().all(|r| r.start % PAGE_SIZE == 0 && r.end % PAGE_SIZE == 0 && r.start < r.end));
    let entry = regions.iter().find(|region| (region.start..region.end).contains(&plan.entry));
    assert!(entry.expect("entry is mapped").rights.execute);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]
    #[test]
    fn a_damaged_program_never_panics_and_a_plan_always_holds(
        edits in prop::collection::vec((0..64 + 3 * 56_usize, any::<u8>()), 0..6),
        position_independent in any::<bool>(),
        base in prop_oneof![Just(PIE_BASE), any::<u64>()],
    ) {
        let kind = if position_independent { DYN } else { EXEC };
        let mut headers = typical();
        headers.push(ph(R | W, 0x1334, 0x40_B300, 0x40, 0x40));
        let mut file = elf(kind, 0x40_0100, &headers);
        for (at, byte) in edits {
            file[at] = byte;
        }
        if let Ok(plan) = plan(&file, base) {
            holds(&plan, file.len());
        }
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), base in any::<u64>()) {
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.extend(bytes);
        if let Ok(plan) = plan(&file, base) {
            holds(&plan, file.len());
        }
    }
}

/// Mutations of each base, so that all of them are at least 100,000.
const MUTATIONS: usize = 6_000;
/// Numbers at which signs, widths and halves of the address space change.
const EDGES: [u64; 12] = [
    0,
    1,
    u64::MAX,
    1 << 63,
    1 << 47,
    USER_END,
    USER_END - 1,
    USER_MIN,
    0xffff_8000_0000_0000,
    PAGE_SIZE,
    1 << 32,
    0x40_0100,
];

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }
}

/// Good programs, and every program of the fuzz target's corpus that has the two headers' size at least.
fn bases() -> Vec<Vec<u8>> {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/elf");
    let mut paths: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let files = paths.iter().map(|path| std::fs::read(path).unwrap()).filter(|file| file.len() >= 64 + 56);
    let own = [EXEC, DYN].map(|kind| elf(kind, 0x40_0100, &typical()));
    files.chain(own).collect()
}

/// One to four changes, three of four in the headers: a field of 8, 4 or 2 bytes at its place, a byte, or a bit.
fn mutate(file: &mut [u8], numbers: &mut Numbers) {
    for _ in 0..=numbers.below(4) {
        let range = if numbers.below(4) > 0 { file.len().min(64 + 3 * 56) } else { file.len() };
        let at = numbers.below(range - 8);
        let edge = EDGES[numbers.below(EDGES.len())].wrapping_add(numbers.next() % 3).wrapping_sub(1);
        match numbers.below(5) {
            0 => file[at & !7..][..8].copy_from_slice(&edge.to_le_bytes()),
            1 => file[at & !3..][..4].copy_from_slice(&edge.to_le_bytes()[..4]),
            2 => file[at & !1..][..2].copy_from_slice(&edge.to_le_bytes()[..2]),
            3 => file[at] = numbers.next().to_le_bytes()[0],
            _ => file[at] ^= 1 << numbers.below(8),
        }
    }
}

#[test]
fn a_hundred_thousand_mutations_are_refused_or_planned_well() {
    let (bases, mut numbers) = (bases(), Numbers(1));
    let (mut planned, mut refused) = (0, 0);
    for base in &bases {
        for _ in 0..MUTATIONS {
            let mut file = base.clone();
            mutate(&mut file, &mut numbers);
            match plan(&file, PIE_BASE) {
                Ok(plan) => {
                    planned += 1;
                    holds(&plan, file.len());
                }
                Err(error) => {
                    refused += 1;
                    assert!(!error.to_string().is_empty());
                }
            }
        }
    }
    assert!(planned + refused >= 100_000, "{} bases", bases.len());
    // Mutations that are all refused would reach nothing behind the first check, and the other way round.
    assert!(planned > 10_000 && refused > 10_000, "{planned} planned, {refused} refused");
}
