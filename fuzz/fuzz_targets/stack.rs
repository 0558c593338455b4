//! Any arguments and environment. The stack that comes out is read back the way a program reads it.
//!
//! The input: `[top:8][hwcap:4][random:16]`, then strings, each `[list:1][len:2][bytes]`. Bit 0 of `list` means the
//! environment, else the arguments; the other bits say how many more times it is there. The last string is the path
//! of the program too.
#![no_main]

use askr_core::elf::{LoadPlan, plan};
use askr_core::stack::{STACK_ALIGN, STACK_IMAGE_MAX, StackImage, StackSpec, build};
use askr_wire::{DecodeError, Reader};
use libfuzzer_sys::fuzz_target;

/// A program with its headers in memory, and one without.
const PROGRAMS: [&[u8]; 2] =
    [include_bytes!("../corpus/elf/static"), include_bytes!("../corpus/elf/no-headers")];

const AT_PHDR: u64 = 3;
const AT_ENTRY: u64 = 9;
const AT_HWCAP: u64 = 16;
const AT_RANDOM: u64 = 25;
const AT_EXECFN: u64 = 31;

type Spec<'a> = StackSpec<'a, &'a [u8], &'a [u8]>;

fuzz_target!(|input: &[u8]| {
    let _ = run(&mut Reader::new(input));
});

fn run(input: &mut Reader<'_>) -> Result<(), DecodeError> {
    let (top, hwcap, random) = (input.u64()?, input.u32()?, input.array()?);
    let (mut argv, mut envp) = (Vec::new(), Vec::new());
    let mut exec_path: &[u8] = b"";
    while !input.rest().is_empty() {
        let kind = input.u8()?;
        let list = if kind & 1 == 0 { &mut argv } else { &mut envp };
        exec_path = input.long_string()?;
        list.extend((0..=kind >> 1).map(|_| exec_path));
    }
    let spec = StackSpec { top, argv: &argv, envp: &envp, exec_path, random, hwcap };
    for program in PROGRAMS {
        let plan = plan(program, 0).expect("a program of the corpus");
        match build(&spec, &plan) {
            Ok(image) => Image(&image).check(&spec, &plan),
            Err(_) => assert!(is_refusable(&spec), "refused for no reason"),
        }
    }
    Ok(())
}

/// Whether there is any reason to refuse.
fn is_refusable(spec: &Spec<'_>) -> bool {
    let strings = || spec.argv.iter().chain(spec.envp).copied().chain([spec.exec_path]);
    let bytes: usize = strings().map(|string| string.len() + 1 + 8).sum();
    // 64 words are more than the vector of pairs and all the ends of lists take.
    !spec.top.is_multiple_of(STACK_ALIGN)
        || strings().any(|string| string.contains(&0))
        || bytes + 64 * 8 > STACK_IMAGE_MAX
        || spec.top < (bytes + 64 * 8) as u64
}

struct Image<'a>(&'a StackImage);

impl Image<'_> {
    fn at(&self, address: u64) -> &[u8] {
        let offset = usize::try_from(address.checked_sub(self.0.rsp).expect("points below the stack"));
        self.0.bytes.get(offset.expect("an offset")..).expect("points above the stack")
    }

    fn word(&self, address: u64) -> u64 {
        u64::from_le_bytes(*self.at(address).first_chunk().expect("a word over the end"))
    }

    fn string(&self, address: u64) -> &[u8] {
        self.at(address).split(|&byte| byte == 0).next().expect("at least one part")
    }

    /// Checks the strings that the pointers from `at` on lead to and returns the address after their null.
    fn strings(&self, mut at: u64, wanted: &[&[u8]]) -> u64 {
        for &string in wanted {
            assert_eq!(self.string(self.word(at)), string);
            at += 8;
        }
        assert_eq!(self.word(at), 0);
        at + 8
    }

    fn check(&self, spec: &Spec<'_>, plan: &LoadPlan) {
        let rsp = self.0.rsp;
        assert!(rsp.is_multiple_of(STACK_ALIGN) && self.0.bytes.len() <= STACK_IMAGE_MAX);
        assert_eq!(rsp + self.0.bytes.len() as u64, spec.top);
        assert_eq!(self.word(rsp), spec.argv.len() as u64);
        let mut at = self.strings(rsp + 8, spec.argv);
        at = self.strings(at, spec.envp);
        let mut phdr = None;
        // The vector has fewer pairs than this; without its end `word` panics at the latest.
        while self.word(at) != 0 {
            let value = self.word(at + 8);
            match self.word(at) {
                AT_PHDR => phdr = Some(value),
                AT_ENTRY => assert_eq!(value, plan.entry),
                AT_HWCAP => assert_eq!(value, u64::from(spec.hwcap)),
                AT_RANDOM => assert_eq!(self.at(value)[..16], spec.random),
                AT_EXECFN => assert_eq!(self.string(value), spec.exec_path),
                _ => {}
            }
            at += 16;
        }
        assert_eq!(phdr, plan.phdr);
    }
}
