//! The `syscall` instruction.

use askr_abi::Errno;
use core::arch::asm;

/// Highest error number that a call can return, as in Linux (`MAX_ERRNO` in `include/linux/err.h`).
const MAX_ERRNO: isize = 4095;

/// Does system call `number` with up to six arguments (System V AMD64 ABI, appendix A.2.1); the missing ones
/// are 0.
///
/// An error number that `askr_abi` does not know is reported as [`Errno::EIO`].
///
/// # Safety
/// The arguments must be what that call takes, and every address among them must stay valid for the access that
/// the call makes.
pub(super) unsafe fn syscall<const N: usize>(number: u64, arguments: [u64; N]) -> Result<usize, Errno> {
    const { assert!(N <= 6) };
    let mut all = [0; 6];
    all[..N].copy_from_slice(&arguments);
    let result: isize;
    // SAFETY: the kernel changes rax, rcx and r11 and the memory that the arguments name; the caller vouches for
    // the arguments. The stack pointer is unchanged and no red zone is in use on this target.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") all[0],
            in("rsi") all[1],
            in("rdx") all[2],
            in("r10") all[3],
            in("r8") all[4],
            in("r9") all[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    if (-MAX_ERRNO..0).contains(&result) {
        let number = i32::try_from(-result).unwrap_or(Errno::EIO as i32);
        return Err(Errno::from_i32(number).unwrap_or(Errno::EIO));
    }
    Ok(result.cast_unsigned())
}
