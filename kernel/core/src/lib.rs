//! What of the kernel can be decided without hardware: ELF plans, initrd, paths, terminal.
#![no_std]
#![forbid(unsafe_code)]
