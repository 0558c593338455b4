//! What the kernel leaves on a new program's stack (System V AMD64 ABI, section 3.4.1).

use core::ffi::{CStr, c_char};

/// Most strings accepted in each of argv and envp; Linux allows about as many as fit.
const STRINGS_MAX: usize = 0x1_0000;
/// Most entries accepted in the auxiliary vector.
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
