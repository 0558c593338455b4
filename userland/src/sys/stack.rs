//! What the kernel leaves on a new program's stack, and the program's own relocation (System V AMD64 ABI,
//! section 3.4.1; ELF gABI, chapter 5).

use core::ffi::{CStr, c_char};

/// Most strings accepted in each of argv and envp; Linux allows about as many as fit.
const STRINGS_MAX: usize = 0x1_0000;
/// Most entries accepted in the auxiliary vector and in the dynamic section.
const ENTRIES_MAX: usize = 256;

/// Entry of the auxiliary vector: kind (`AT_*`) and value.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct AuxEntry {
    pub(crate) kind: u64,
    pub(crate) value: u64,
}

/// Kind that ends the auxiliary vector.
const AT_NULL: u64 = 0;

/// The three parts of the initial stack. The kernel writes them once and they live as long as the process.
pub(crate) struct InitialStack {
    pub(crate) arguments: &'static [*const c_char],
    pub(crate) environment: &'static [*const c_char],
    pub(crate) auxiliary: &'static [AuxEntry],
}

impl InitialStack {
    /// Reads the stack at `top`, the value of rsp at the entry point.
    ///
    /// # Safety
    /// `top` must point to argc, argv, NULL, envp, NULL, auxv, AT_NULL, as the ABI says.
    pub(crate) unsafe fn read(top: *const usize) -> Self {
        // SAFETY: the ABI puts argc at `top`, then argv, which ends with a NULL.
        let (count, arguments) = unsafe { (*top, top.add(1).cast::<*const c_char>()) };
        // SAFETY: envp follows argv's NULL.
        let environment = unsafe { arguments.add(count + 1) };
        // SAFETY: the ABI ends envp with a NULL, so every entry up to it is readable.
        let variables = (0..STRINGS_MAX).take_while(|&i| !unsafe { *environment.add(i) }.is_null()).count();
        // SAFETY: auxv follows envp's NULL; both are aligned to 8.
        let auxiliary = unsafe { environment.add(variables + 1) }.cast::<AuxEntry>();
        // SAFETY: the ABI ends auxv with AT_NULL, so every entry up to it is readable.
        let entries =
            (0..ENTRIES_MAX).take_while(|&i| unsafe { (*auxiliary.add(i)).kind } != AT_NULL).count();
        // SAFETY: each range was just measured, is never written again and lives until the process ends.
        unsafe {
            Self {
                arguments: core::slice::from_raw_parts(arguments, count),
                environment: core::slice::from_raw_parts(environment, variables),
                auxiliary: core::slice::from_raw_parts(auxiliary, entries),
            }
        }
    }
}

/// The bytes of a string of argv or envp, without the NUL.
///
/// # Safety
/// `string` must come from [`InitialStack`].
pub(crate) unsafe fn bytes_of(string: *const c_char) -> &'static [u8] {
    // SAFETY: strings of the initial stack are NUL-terminated and live until the process ends.
    unsafe { CStr::from_ptr(string) }.to_bytes()
}

/// Entry of the dynamic section, `Elf64_Dyn`.
#[repr(C)]
pub(crate) struct Dynamic {
    tag: u64,
    value: usize,
}

/// Relocation with addend, `Elf64_Rela`.
#[repr(C)]
struct Rela {
    offset: usize,
    info: u64,
    addend: usize,
}

const DT_NULL: u64 = 0;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
/// `B + A`: the only kind that a static-PIE without imported symbols has.
const R_X86_64_RELATIVE: u64 = 8;

/// Adds `base`, where the kernel put the program, to every address in the program's data. Returns false if there
/// is a relocation of another kind.
///
/// # Safety
/// `base` and `dynamic` must be the program's own, and it may be done only once. Until it is done nothing may
/// read data that holds addresses, so this function uses none.
#[inline(never)]
pub(crate) unsafe fn relocate(base: usize, dynamic: *const Dynamic) -> bool {
    let (mut table, mut size) = (0, 0);
    for i in 0..ENTRIES_MAX {
        // SAFETY: the linker ends the dynamic section with DT_NULL, where this loop stops.
        let entry = unsafe { &*dynamic.add(i) };
        match entry.tag {
            DT_NULL => break,
            DT_RELA => table = base.wrapping_add(entry.value),
            DT_RELASZ => size = entry.value,
            _ => {}
        }
    }
    for i in 0..size / size_of::<Rela>() {
        // SAFETY: DT_RELA and DT_RELASZ describe the table that the linker wrote.
        let rela = unsafe { &*core::ptr::with_exposed_provenance::<Rela>(table).add(i) };
        if rela.info != R_X86_64_RELATIVE {
            return false;
        }
        let place = core::ptr::with_exposed_provenance_mut::<usize>(base.wrapping_add(rela.offset));
        // SAFETY: the linker names only words of the program's writable data, before any of it is used.
        unsafe { place.write_unaligned(base.wrapping_add(rela.addend)) };
    }
    true
}
