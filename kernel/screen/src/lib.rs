//! What a person at the machine itself sees and types, as far as it needs no hardware.
//!
//! [`Screen`] is a terminal: it takes what programs write and keeps a grid of cells. [`font`] makes pixels of a cell.
//! [`Keyboard`] turns scan codes into the bytes that a terminal sends for these keys. The kernel connects them to a
//! frame buffer and to the keyboard controller; tests read a screenshot back with the same font.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod cell;
pub mod font;
mod grid;
mod keyboard;
mod screen;

pub use cell::{Cell, Colors};
pub use keyboard::{Keyboard, SEQUENCE_MAX, Sequence, Typed};
pub use screen::{COLUMNS_MAX, Change, ROWS_MAX, Screen};
