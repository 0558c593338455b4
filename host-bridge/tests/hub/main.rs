//! The hub from the byte stream to the clients' socket, against the kernel's own router in memory.

mod asks;
mod bench;
mod captures;
mod clients;
mod faults;
mod files;
mod guest;
mod typed;
