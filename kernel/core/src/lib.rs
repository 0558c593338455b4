//! What of the kernel can be decided without hardware: how a program is laid out in memory ([`elf`],
//! [`stack`]), what it may use of that ([`areas`]) and of the machine ([`limits`]), what the initial archive holds
//! ([`initrd`]), what a path means ([`path`]), what a signal does ([`signal`]), who belongs to whom ([`family`]), what `clone` makes
//! ([`clone`]), which program runs a script ([`script`]), what a terminal does with the bytes typed at
//! it ([`tty`]), whose turn it is ([`turns`]), what was told already ([`told`]) and what the date is ([`wall`]). Nothing here waits, maps memory or touches a device.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod areas;
pub mod clone;
pub mod elf;
pub mod family;
pub mod initrd;
pub mod limits;
pub mod oom;
pub mod path;
pub mod rest;
pub mod script;
pub mod signal;
pub mod stack;
pub mod told;
pub mod tty;
pub mod turns;
pub mod wall;
