//! The initial stack, read back as a program reads it.

use askr_abi::Errno;
use askr_core::elf::{LoadPlan, plan};
use askr_core::stack::{STACK_ALIGN, STACK_IMAGE_MAX, StackImage, StackSpec, build};
use proptest::prelude::*;

const TOP: u64 = 0x7fff_f000_0000;
const RANDOM: [u8; 16] = *b"0123456789abcdef";

fn program() -> LoadPlan {
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0".to_vec();
    for word in [0x40_0080_u64, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0]);
    for word in [0_u64, 0x40_0000, 0x40_0000, 0x100, 0x100, 0x1000] {
        file.extend(word.to_le_bytes());
    }
    file.resize(0x200, 0);
    plan(&file, 0).unwrap()
}

fn spec<'a>(argv: &'a [Vec<u8>], envp: &'a [Vec<u8>]) -> StackSpec<'a, Vec<u8>, Vec<u8>> {
    StackSpec { top: TOP, argv, envp, exec_path: b"/bin/sh", random: RANDOM, hwcap: 0x0178_bfbf }
}

/// A view of the image at its addresses.
struct Memory<'a>(&'a StackImage);

impl Memory<'_> {
    fn at(&self, address: u64) -> &[u8] {
        &self.0.bytes[usize::try_from(address - self.0.rsp).unwrap()..]
    }
    fn word(&self, address: u64) -> u64 {
        u64::from_le_bytes(self.at(address)[..8].try_into().unwrap())
    }
    fn string(&self, address: u64) -> Vec<u8> {
        self.at(address).split(|&byte| byte == 0).next().unwrap().to_vec()
    }
    /// The strings of a list of pointers that ends in a null, and the address after it.
    fn list(&self, mut address: u64) -> (Vec<Vec<u8>>, u64) {
        let mut strings = Vec::new();
        while self.word(address) != 0 {
            strings.push(self.string(self.word(address)));
            address += 8;
        }
        (strings, address + 8)
    }
    fn auxv(&self, mut address: u64) -> Vec<(u64, u64)> {
        let mut pairs = Vec::new();
        while self.word(address) != 0 {
            pairs.push((self.word(address), self.word(address + 8)));
            address += 16;
        }
        pairs
    }
}

fn check(argv: &[Vec<u8>], envp: &[Vec<u8>]) {
    let plan = program();
    let image = build(&spec(argv, envp), &plan).unwrap();
    assert_eq!(image.rsp % STACK_ALIGN, 0);
    assert_eq!(image.rsp + image.bytes.len() as u64, TOP);
    let memory = Memory(&image);
    assert_eq!(memory.word(image.rsp), argv.len() as u64);
    let (args, after) = memory.list(image.rsp + 8);
    assert_eq!(args, argv);
    let (env, after) = memory.list(after);
    assert_eq!(env, envp);
    let auxv = memory.auxv(after);
    let get = |kind: u64| auxv.iter().find(|pair| pair.0 == kind).map(|pair| pair.1);
    assert_eq!(memory.at(get(25).unwrap())[..16], RANDOM);
    assert_eq!(memory.string(get(31).unwrap()), b"/bin/sh");
    for (kind, value) in [(3, 0x40_0040), (4, 56), (5, 1), (6, 4096), (7, 0), (9, 0x40_0080)] {
        assert_eq!(get(kind), Some(value), "auxv entry {kind}");
    }
    for (kind, value) in [(11, 0), (12, 0), (13, 0), (14, 0), (16, 0x0178_bfbf), (17, 100), (23, 0)] {
        assert_eq!(get(kind), Some(value), "auxv entry {kind}");
    }
}

fn string() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(1..=255_u8, 0..40)
}

proptest! {
    #[test]
    fn a_program_finds_what_it_was_given(
        argv in prop::collection::vec(string(), 0..20),
        envp in prop::collection::vec(string(), 0..20),
    ) {
        check(&argv, &envp);
    }
}

#[test]
fn too_much_is_e2big_and_the_rest_fits() {
    let plan = program();
    let room = STACK_IMAGE_MAX - 1024;
    check(&[vec![b'a'; room]], &[]);
    for argv in [vec![vec![b'a'; STACK_IMAGE_MAX]], vec![Vec::new(); STACK_IMAGE_MAX / 8 + 1]] {
        assert_eq!(build(&spec(&argv, &[]), &plan).unwrap_err(), Errno::E2BIG);
        assert_eq!(build(&spec(&[], &argv), &plan).unwrap_err(), Errno::E2BIG);
    }
    // Neither the strings nor the pointers alone are too much, but the two together.
    let both = vec![b"0123456".to_vec(); STACK_IMAGE_MAX / 8 - 1000];
    assert_eq!(build(&spec(&both, &[]), &plan).unwrap_err(), Errno::E2BIG);
}

#[test]
fn bad_input_is_refused() {
    let plan = program();
    let argv = [b"a\0b".to_vec()];
    assert_eq!(build(&spec(&argv, &[]), &plan).unwrap_err(), Errno::EINVAL);
    for top in [TOP + 8, 64] {
        let bad = StackSpec { top, ..spec(&[], &[]) };
        assert_eq!(build(&bad, &plan).unwrap_err(), Errno::EINVAL);
    }
}

#[test]
fn headers_that_are_not_loaded_are_not_promised() {
    let mut plan = program();
    plan.phdr = None;
    let image = build(&spec(&[], &[]), &plan).unwrap();
    let memory = Memory(&image);
    let auxv = memory.auxv(image.rsp + 3 * 8);
    assert!(auxv.iter().all(|pair| !(3..=5).contains(&pair.0)));
}
