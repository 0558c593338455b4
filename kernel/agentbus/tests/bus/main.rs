//! The router as a peer sees it: every frame goes through its bytes, both ways.

mod asks;
mod at_most_once;
mod base;
mod doors;
mod events;
mod model;
mod order;
mod peer;
mod session;
