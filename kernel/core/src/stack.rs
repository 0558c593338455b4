//! The initial stack of a program: arguments, environment and auxiliary vector as the System V x86-64 psABI
//! lays them out (section 3.4.1), with the entries that Linux gives (`getauxval(3)`).

use alloc::vec::Vec;

use askr_abi::Errno;

use crate::elf::LoadPlan;

/// Most bytes of the whole image: Linux's traditional ARG_MAX.
pub const STACK_IMAGE_MAX: usize = 128 * 1024;
/// The stack pointer at the first instruction is a multiple of this.
pub const STACK_ALIGN: u64 = 16;
/// Ticks per second of `times(2)` (AT_CLKTCK): a constant of the ABI, whatever the timer does.
pub const CLOCK_TICKS: u64 = 100;

const AT_NULL: u64 = 0;
const AT_PHDR: u64 = 3;
const AT_PHENT: u64 = 4;
const AT_PHNUM: u64 = 5;
const AT_PAGESZ: u64 = 6;
const AT_BASE: u64 = 7;
const AT_FLAGS: u64 = 8;
const AT_ENTRY: u64 = 9;
const AT_UID: u64 = 11;
const AT_EUID: u64 = 12;
const AT_GID: u64 = 13;
const AT_EGID: u64 = 14;
const AT_HWCAP: u64 = 16;
const AT_CLKTCK: u64 = 17;
const AT_SECURE: u64 = 23;
const AT_RANDOM: u64 = 25;
const AT_EXECFN: u64 = 31;

/// What goes onto the stack of a new program.
#[derive(Clone, Copy, Debug)]
pub struct StackSpec<'a, A, E> {
    /// First address above the stack, a multiple of [`STACK_ALIGN`].
    pub top: u64,
    /// Arguments without their NUL.
    pub argv: &'a [A],
    /// Environment, `NAME=value` without NUL.
    pub envp: &'a [E],
    /// Path that was executed (AT_EXECFN).
    pub exec_path: &'a [u8],
    /// Sixteen random bytes (AT_RANDOM), the seed of stack protectors and hash tables.
    pub random: [u8; 16],
    /// EDX of CPUID leaf 1 (AT_HWCAP).
    pub hwcap: u32,
}

/// Bytes for the stack of a new program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackImage {
    /// Stack pointer at the first instruction and the address where `bytes` go; a multiple of [`STACK_ALIGN`].
    pub rsp: u64,
    /// What to copy there; it ends at [`StackSpec::top`].
    pub bytes: Vec<u8>,
}

/// Builds the stack for the program that `plan` describes.
///
/// # Errors
/// E2BIG when arguments and environment need more than [`STACK_IMAGE_MAX`]; EINVAL when one holds a NUL byte
/// or `top` is not aligned or too low; ENOMEM.
pub fn build<A, E>(spec: &StackSpec<'_, A, E>, plan: &LoadPlan) -> Result<StackImage, Errno>
where
    A: AsRef<[u8]>,
    E: AsRef<[u8]>,
{
    let strings = Strings::gather(spec)?;
    let auxv = auxv(plan, &strings, spec.hwcap);
    // argc, the pointers with a null after each list, the vector of pairs.
    let words = 1 + strings.argv.len() + 1 + strings.envp.len() + 1 + 2 * auxv.len();
    let rsp = strings
        .base
        .checked_sub(words as u64 * 8)
        .map(|below| below & !(STACK_ALIGN - 1))
        .ok_or(Errno::EINVAL)?;
    let total = usize::try_from(spec.top - rsp).map_err(|_| Errno::E2BIG)?;
    if total > STACK_IMAGE_MAX {
        return Err(Errno::E2BIG);
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(total).map_err(|_| Errno::ENOMEM)?;
    let mut word = |value: u64| bytes.extend_from_slice(&value.to_le_bytes());
    word(spec.argv.len() as u64);
    strings.argv.iter().copied().chain([0]).for_each(&mut word);
    strings.envp.iter().copied().chain([0]).for_each(&mut word);
    auxv.iter().flat_map(|&(kind, value)| [kind, value]).for_each(&mut word);
    // The gap that alignment leaves lies between the vectors and the strings.
    bytes.resize(total - strings.bytes.len(), 0);
    bytes.extend_from_slice(&strings.bytes);
    Ok(StackImage { rsp, bytes })
}

/// The strings at the top of the stack and where each one lies.
struct Strings {
    base: u64,
    bytes: Vec<u8>,
    argv: Vec<u64>,
    envp: Vec<u64>,
    exec_path: u64,
    random: u64,
}

impl Strings {
    fn gather<A, E>(spec: &StackSpec<'_, A, E>) -> Result<Self, Errno>
    where
        A: AsRef<[u8]>,
        E: AsRef<[u8]>,
    {
        if !spec.top.is_multiple_of(STACK_ALIGN) {
            return Err(Errno::EINVAL);
        }
        let mut bytes = spec.random.to_vec();
        let argv = append_all(&mut bytes, spec.argv)?;
        let envp = append_all(&mut bytes, spec.envp)?;
        let exec_path = append(&mut bytes, spec.exec_path)?;
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let base = spec.top.checked_sub(bytes.len() as u64).ok_or(Errno::EINVAL)?;
        let at = |offset: usize| base + offset as u64;
        Ok(Self {
            argv: argv.into_iter().map(at).collect(),
            envp: envp.into_iter().map(at).collect(),
            exec_path: at(exec_path),
            random: base,
            base,
            bytes,
        })
    }
}

fn append_all<S: AsRef<[u8]>>(bytes: &mut Vec<u8>, strings: &[S]) -> Result<Vec<usize>, Errno> {
    // Each string takes at least a pointer of eight bytes.
    if strings.len() > STACK_IMAGE_MAX / 8 {
        return Err(Errno::E2BIG);
    }
    let mut offsets = Vec::new();
    offsets.try_reserve_exact(strings.len()).map_err(|_| Errno::ENOMEM)?;
    for string in strings {
        offsets.push(append(bytes, string.as_ref())?);
    }
    Ok(offsets)
}

/// Appends one string with its NUL and returns its offset.
fn append(bytes: &mut Vec<u8>, string: &[u8]) -> Result<usize, Errno> {
    if string.contains(&0) {
        return Err(Errno::EINVAL);
    }
    if string.len() >= STACK_IMAGE_MAX - bytes.len().min(STACK_IMAGE_MAX) {
        return Err(Errno::E2BIG);
    }
    let offset = bytes.len();
    // The padding behind the last string is room for eight more.
    bytes.try_reserve(string.len() + 1 + 8).map_err(|_| Errno::ENOMEM)?;
    bytes.extend_from_slice(string);
    bytes.push(0);
    Ok(offset)
}

fn auxv(plan: &LoadPlan, strings: &Strings, hwcap: u32) -> Vec<(u64, u64)> {
    let mut auxv = Vec::from([
        (AT_HWCAP, u64::from(hwcap)),
        (AT_PAGESZ, crate::elf::PAGE_SIZE),
        (AT_CLKTCK, CLOCK_TICKS),
        (AT_BASE, 0),
        (AT_FLAGS, 0),
        (AT_ENTRY, plan.entry),
        (AT_UID, 0),
        (AT_EUID, 0),
        (AT_GID, 0),
        (AT_EGID, 0),
        (AT_SECURE, 0),
        (AT_RANDOM, strings.random),
        (AT_EXECFN, strings.exec_path),
    ]);
    if let Some(phdr) = plan.phdr {
        auxv.extend([(AT_PHDR, phdr), (AT_PHENT, u64::from(plan.phent)), (AT_PHNUM, u64::from(plan.phnum))]);
    }
    auxv.push((AT_NULL, 0));
    auxv
}
