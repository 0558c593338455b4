//! Any file as a program. Whatever plan comes out maps nothing outside what programs may use, nothing twice,
//! nothing both writable and executable, and takes no byte from outside the file.
#![no_main]

use askr_core::elf::{LoadPlan, PAGE_SIZE, SEGMENTS_MAX, USER_END, USER_MIN, plan};
use libfuzzer_sys::fuzz_target;

/// Where position-independent programs go: where the kernel puts them, and at the edges.
const BASES: [u64; 5] = [0x5555_5555_4000, USER_MIN, 0, USER_END - PAGE_SIZE, u64::MAX];

fuzz_target!(|file: &[u8]| {
    for base in BASES {
        match plan(file, base) {
            Ok(plan) => check(file, base, &plan),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
});

fn check(file: &[u8], base: u64, plan: &LoadPlan) {
    let segments = plan.segments();
    assert!((1..=SEGMENTS_MAX).contains(&segments.len()));
    let mut free_from = USER_MIN;
    for segment in segments {
        assert!(segment.vaddr >= free_from, "segments overlap or are out of order");
        let end = segment.vaddr.checked_add(segment.mem_size).expect("the end of a segment overflows");
        assert!(segment.mem_size > 0 && segment.file_size as u64 <= segment.mem_size);
        assert!(file.get(segment.file_range()).is_some(), "bytes from outside the file");
        assert!(!(segment.rights.write && segment.rights.execute), "writable and executable");
        free_from = end;
    }
    assert!(free_from <= USER_END);
    assert_eq!(plan.end, free_from.next_multiple_of(PAGE_SIZE));
    assert!(plan.bias == 0 || plan.bias >= base, "placed below where it was to go");

    let entry = |segment: &&askr_core::elf::Segment| (segment.vaddr..segment.end()).contains(&plan.entry);
    assert!(segments.iter().find(entry).is_some_and(|segment| segment.rights.execute));
    if let Some(phdr) = plan.phdr {
        let size = u64::from(plan.phent) * u64::from(plan.phnum);
        let inside =
            |segment: &&askr_core::elf::Segment| segment.vaddr <= phdr && phdr + size <= segment.end();
        assert!(segments.iter().find(inside).is_some(), "program headers outside every segment");
    }
    check_regions(plan);
}

/// Each page of each segment is mapped exactly once, with the rights of all segments that lie in it.
fn check_regions(plan: &LoadPlan) {
    let regions: Vec<_> = plan.regions().collect();
    for pair in regions.windows(2) {
        assert!(pair[0].end <= pair[1].start, "regions overlap");
    }
    for region in &regions {
        assert!(region.start < region.end && region.end <= USER_END && region.start >= USER_MIN);
        assert!(region.start.is_multiple_of(PAGE_SIZE) && region.end.is_multiple_of(PAGE_SIZE));
    }
    for segment in plan.segments() {
        let mut mapped = segment.vaddr;
        for region in
            regions.iter().filter(|region| region.end > segment.vaddr && region.start < segment.end())
        {
            assert!(region.start <= mapped, "a gap in a segment");
            assert_eq!(region.rights, segment.rights);
            mapped = region.end;
        }
        assert!(mapped >= segment.end(), "a segment is not mapped to its end");
    }
}
