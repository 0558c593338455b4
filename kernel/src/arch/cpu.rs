//! Processor features and per-process vector state.

use super::trap::TrapFrame;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use askr_core::signal::fault;
use askr_core::signal::frame::BadFrame;
use askr_core::signal::xstate::{Format, LEGACY_SIZE};
use core::arch::x86_64::{__cpuid, __cpuid_count};
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use spin::Once;
use x86_64::registers::control::{Cr0, Cr0Flags, Cr4, Cr4Flags};
use x86_64::registers::model_specific::{FsBase, Msr};
use x86_64::registers::xcontrol::{XCr0, XCr0Flags};

/// How vector state is saved.
#[derive(Clone, Copy)]
enum Save {
    /// FXSAVE: x87 and SSE, 512 bytes.
    Fx,
    /// XSAVE with the enabled components and the size that they take.
    X { bytes: usize, components: u64 },
}

static SAVE: Once<Save> = Once::new();
/// Bits of MXCSR that may be set.
static MXCSR_MASK: AtomicU32 = AtomicU32::new(MXCSR_MASK_OLD);
/// Those of processors that do not tell (Intel SDM vol. 1, 11.6.6).
const MXCSR_MASK_OLD: u32 = 0xffbf;
/// Whether SMAP is on.
static SMAP: AtomicBool = AtomicBool::new(false);

/// Turns on SSE (and AVX where there is XSAVE), supervisor protections where the processor has them.
pub(crate) fn init() {
    let features = __cpuid(1);
    let has_xsave = features.ecx & (1 << 26) != 0;
    let structured = if __cpuid(0).eax >= 7 { __cpuid_count(7, 0) } else { __cpuid(0x8000_0000) };
    let has = |bit: u32| __cpuid(0).eax >= 7 && structured.ebx & (1 << bit) != 0;

    SMAP.store(has(20), Ordering::Relaxed);
    let mut cr4 = Cr4Flags::PAGE_GLOBAL | Cr4Flags::OSFXSR | Cr4Flags::OSXMMEXCPT_ENABLE;
    cr4.set(Cr4Flags::OSXSAVE, has_xsave);
    cr4.set(Cr4Flags::SUPERVISOR_MODE_EXECUTION_PROTECTION, has(7));
    cr4.set(Cr4Flags::SUPERVISOR_MODE_ACCESS_PREVENTION, has(20));
    cr4.set(
        Cr4Flags::USER_MODE_INSTRUCTION_PREVENTION,
        __cpuid(0).eax >= 7 && structured.ecx & (1 << 2) != 0,
    );
    // SAFETY: only features that CPUID reports; the kernel never touches user addresses itself (mm/user).
    unsafe {
        Cr0::update(|flags| {
            flags.remove(Cr0Flags::EMULATE_COPROCESSOR | Cr0Flags::TASK_SWITCHED);
            flags.insert(Cr0Flags::MONITOR_COPROCESSOR | Cr0Flags::NUMERIC_ERROR | Cr0Flags::WRITE_PROTECT);
        });
        Cr4::update(|flags| flags.insert(cr4));
    }
    if features.edx & (1 << 16) != 0 {
        gather_writes_in_entry_1();
    }
    SAVE.call_once(|| if has_xsave { enable_xsave() } else { Save::Fx });
    let mask = mxcsr_mask();
    if mask != 0 {
        MXCSR_MASK.store(mask, Ordering::Relaxed);
    }
}

/// The mask that FXSAVE tells, 0 on old processors.
fn mxcsr_mask() -> u32 {
    let mut area = [Line([0; 64]); 8];
    // SAFETY: 512 bytes, aligned; SSE is on.
    unsafe { core::arch::asm!("fxsave64 [{}]", in(reg) area.as_mut_ptr(), options(nostack)) };
    u32::from_le_bytes(core::array::from_fn(|index| area[0].0[28 + index]))
}

/// The processor's name as it says it (CPUID leaves 0x80000002 to 4), at most 48 bytes; empty if it says none.
pub(crate) fn name() -> Vec<u8> {
    const FIRST: u32 = 0x8000_0002;
    const LAST: u32 = 0x8000_0004;
    if __cpuid(0x8000_0000).eax < LAST {
        return Vec::new();
    }
    let registers = (FIRST..=LAST).flat_map(|leaf| {
        let found = __cpuid(leaf);
        [found.eax, found.ebx, found.ecx, found.edx]
    });
    let bytes: Vec<u8> = registers.flat_map(u32::to_le_bytes).take_while(|&byte| byte != 0).collect();
    bytes.trim_ascii().to_vec()
}

/// Makes entry 1 of the page attribute table "write-combining" (Intel SDM vol. 3A, 12.12). It is write-through at reset,
/// and no page uses it yet.
fn gather_writes_in_entry_1() {
    const IA32_PAT: u32 = 0x277;
    const WRITE_COMBINING: u64 = 1;
    let mut pat = Msr::new(IA32_PAT);
    // SAFETY: CPUID reports the register; only entry 1 changes.
    unsafe {
        let entries = pat.read();
        pat.write(entries & !0xff00 | WRITE_COMBINING << 8);
    }
}

fn enable_xsave() -> Save {
    let supported = __cpuid_count(0xd, 0).eax;
    let wanted = XCr0Flags::X87 | XCr0Flags::SSE | XCr0Flags::AVX;
    let mut enabled = XCr0Flags::from_bits_truncate(u64::from(supported)) & wanted;
    let avx512 = XCr0Flags::OPMASK | XCr0Flags::ZMM_HI256 | XCr0Flags::HI16_ZMM;
    if u64::from(supported) & avx512.bits() == avx512.bits() && enabled.contains(XCr0Flags::AVX) {
        enabled |= avx512;
    }
    // SAFETY: CPUID leaf 0xD reports every component set here, and AVX-512 only as a whole with AVX.
    unsafe { XCr0::write(enabled) };
    // EBX: bytes that the components enabled now take (Intel SDM vol. 1, 13.2).
    Save::X { bytes: __cpuid_count(0xd, 0).ebx as usize, components: enabled.bits() }
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// x87, SSE and wider vector registers of one process, in the layout of FXSAVE or XSAVE.
#[derive(Clone)]
pub(crate) struct VectorState(Box<[Line]>);

impl VectorState {
    /// The state a program starts with: all exceptions masked, registers zero (SysV ABI, 3.4.1).
    pub(crate) fn new() -> Self {
        let mut area = vec![Line([0; 64]); vector_format().size.div_ceil(64)].into_boxed_slice();
        area[0].0[0..2].copy_from_slice(&0x037f_u16.to_le_bytes()); // x87 control word
        area[0].0[24..28].copy_from_slice(&0x1f80_u32.to_le_bytes()); // MXCSR
        Self(area)
    }

    /// What was saved, as it goes into the frame of a signal handler.
    pub(crate) fn to_frame(&self) -> Vec<u8> {
        let area: Vec<u8> = self.0.iter().flat_map(|line| line.0).collect();
        vector_format().to_frame(&area)
    }

    /// The state that stood in the frame of a signal handler.
    ///
    /// # Errors
    /// [`BadFrame`] for what the processor would refuse to load.
    pub(crate) fn from_frame(bytes: &[u8]) -> Result<Self, BadFrame> {
        let area = vector_format().from_frame(bytes)?;
        let mut state = Self::new();
        for (line, bytes) in state.0.iter_mut().zip(area.chunks(64)) {
            line.0 = [0; 64];
            line.0[..bytes.len()].copy_from_slice(bytes);
        }
        Ok(state)
    }

    /// Floating-point exceptions that happened and are not masked: those of the x87 unit (vector 16) or of SSE.
    pub(crate) fn unmasked_exceptions(&self, vector: u64) -> u32 {
        let short = |at: usize| u16::from_le_bytes([self.0[0].0[at], self.0[0].0[at + 1]]);
        match vector {
            16 => fault::unmasked_x87(short(0), short(2)),
            _ => fault::unmasked_sse(u32::from(short(24)) | u32::from(short(26)) << 16),
        }
    }

    /// Stores the processor's registers here.
    pub(crate) fn save(&mut self) {
        let area = self.0.as_mut_ptr();
        // SAFETY: the area is 64-byte aligned and as large as the enabled components need.
        unsafe {
            match SAVE.get() {
                Some(Save::X { .. }) => core::arch::asm!(
                    "xsave64 [{}]", in(reg) area, in("eax") u32::MAX, in("edx") u32::MAX, options(nostack)),
                _ => core::arch::asm!("fxsave64 [{}]", in(reg) area, options(nostack)),
            }
        }
    }

    /// Loads the processor's registers from here.
    pub(crate) fn load(&self) {
        let area = self.0.as_ptr();
        // SAFETY: written by `save`, `new` or `from_frame`, so no reserved bit is set that would fault.
        unsafe {
            match SAVE.get() {
                Some(Save::X { .. }) => core::arch::asm!(
                    "xrstor64 [{}]", in(reg) area, in("eax") u32::MAX, in("edx") u32::MAX, options(nostack)),
                _ => core::arch::asm!("fxrstor64 [{}]", in(reg) area, options(nostack)),
            }
        }
    }
}

/// How vector state is saved.
pub(crate) fn vector_format() -> Format {
    let mxcsr_mask = MXCSR_MASK.load(Ordering::Relaxed);
    match SAVE.get() {
        Some(&Save::X { bytes, components }) => Format { size: bytes, components, mxcsr_mask },
        _ => Format { size: LEGACY_SIZE, components: 0, mxcsr_mask },
    }
}

/// EDX of CPUID leaf 1, which programs get as AT_HWCAP.
pub(crate) fn hwcap() -> u32 {
    __cpuid(1).edx
}

/// Clears AC, which user code can set and with which SMAP does not protect. SYSCALL clears it by its mask, a trap
/// does not.
pub(crate) fn deny_user_memory() {
    if SMAP.load(Ordering::Relaxed) {
        // SAFETY: the instruction exists where SMAP does, and changes that flag only.
        unsafe { core::arch::asm!("clac", options(nomem, nostack)) };
    }
}

/// Sets the user's FS base (thread-local storage). `base` lies in the user half.
pub(crate) fn set_fs_base(base: u64) {
    FsBase::write(x86_64::VirtAddr::new_truncate(base));
}

/// 64 random bits from RDRAND, if the processor has it and it delivers.
pub(crate) fn hardware_random() -> Option<u64> {
    /// Intel's advice: ten tries, then the unit is broken (DRNG guide, 5.2.1).
    const TRIES: usize = 10;
    if __cpuid(1).ecx & (1 << 30) == 0 {
        return None;
    }
    (0..TRIES).find_map(|_| {
        let (value, ok): (u64, u8);
        // SAFETY: CPUID reports RDRAND.
        unsafe {
            core::arch::asm!("rdrand {}", "setc {}", out(reg) value, out(reg_byte) ok, options(nomem, nostack));
        };
        (ok == 1).then_some(value)
    })
}

/// Prints the general registers, for reports.
pub(crate) struct Registers<'a>(pub(crate) &'a TrapFrame);

impl fmt::Display for Registers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let r = self.0;
        writeln!(f, "rax {:016x} rbx {:016x} rcx {:016x}", r.rax, r.rbx, r.rcx)?;
        writeln!(f, "rdx {:016x} rsi {:016x} rdi {:016x}", r.rdx, r.rsi, r.rdi)?;
        writeln!(f, "rbp {:016x} rsp {:016x} r8  {:016x}", r.rbp, r.rsp, r.r8)?;
        writeln!(f, "r9  {:016x} r10 {:016x} r11 {:016x}", r.r9, r.r10, r.r11)?;
        writeln!(f, "r12 {:016x} r13 {:016x} r14 {:016x}", r.r12, r.r13, r.r14)?;
        write!(f, "r15 {:016x} rflags {:x}", r.r15, r.rflags)
    }
}
