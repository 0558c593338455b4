#![no_std]
#![no_main]
//! The Askr kernel.
