//! Where in its source a program was: from the debug information in its file on the host.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use addr2line::{Loader, demangle_auto};

/// Where the guest puts position-independent programs (`docs/syscalls.md`).
const PIE_BASE: u64 = 0x5555_5555_0000;
/// ELF: where the kind of file stands, and that of one that is position-independent (System V ABI, ELF header).
const E_TYPE: usize = 16;
const ET_DYN: u16 = 3;

/// A place in a program's source; what the debug information does not tell is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The address in the guest.
    pub address: u64,
    /// The function, as its language writes it.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
}

/// The files of programs, by their names in the guest.
#[derive(Default)]
pub(crate) struct Symbols {
    files: Mutex<BTreeMap<Vec<u8>, Program>>,
}

enum Program {
    /// Nobody has asked yet.
    Unread(PathBuf),
    /// With what the guest adds to the file's addresses.
    Read(Box<Loader>, u64),
    /// It is gone, or has nothing to tell.
    Useless,
}

impl Symbols {
    /// From now on `name` in the guest is this file.
    pub(crate) fn add(&self, name: &[u8], file: PathBuf) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(name.to_vec(), Program::Unread(file));
    }

    /// The places of a fault: where it happened, and the calls that led there. Empty for a program that is not known.
    pub(crate) fn places(&self, name: &[u8], rip: u64, backtrace: &[u64]) -> Vec<Place> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(program) = files.get_mut(name) else { return Vec::new() };
        if let Program::Unread(path) = program {
            *program = read(path).unwrap_or(Program::Useless);
        }
        let Program::Read(loader, base) = program else { return Vec::new() };
        // A return address is that of the instruction after the call, which may be of another line.
        let calls = backtrace.iter().map(|&address| (address, address.wrapping_sub(1)));
        let all = std::iter::once((rip, rip)).chain(calls);
        all.map(|(address, probe)| place(loader, address, probe.wrapping_sub(*base))).collect()
    }
}

/// By how much the guest moves the program in this file; `None` if it is no ELF.
#[must_use]
pub fn load_base(file: &Path) -> Option<u64> {
    let mut head = [0; E_TYPE + 2];
    File::open(file).and_then(|mut file| file.read_exact(&mut head)).ok()?;
    let is_moved = head.ends_with(&ET_DYN.to_le_bytes());
    head.starts_with(b"\x7fELF").then_some(if is_moved { PIE_BASE } else { 0 })
}

fn read(path: &Path) -> Option<Program> {
    Some(Program::Read(Box::new(Loader::new(path).ok()?), load_base(path)?))
}

fn place(loader: &Loader, address: u64, probe: u64) -> Place {
    let mut place = Place { address, ..Place::default() };
    // The innermost: what was inlined at this place.
    let frame = loader.find_frames(probe).ok().and_then(|mut frames| frames.next().ok().flatten());
    if let Some(frame) = frame {
        place.function = frame.function.as_ref().and_then(|name| name.demangle().ok()).map(Cow::into_owned);
        place.file = frame.location.as_ref().and_then(|at| at.file).map(str::to_owned);
        place.line = frame.location.as_ref().and_then(|at| at.line);
    }
    if place.function.is_none() {
        place.function = loader.find_symbol(probe).map(|name| demangle_auto(name.into(), None).into_owned());
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn known() -> u32 {
        line!()
    }

    /// This very test program stands for one of the guest.
    #[test]
    fn a_place_has_function_file_and_line() {
        let file = std::env::current_exe().unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mine = maps.lines().find(|line| line.ends_with(file.to_str().unwrap())).unwrap();
        let base = u64::from_str_radix(mine.split('-').next().unwrap(), 16).unwrap();
        let address = known as fn() -> u32 as usize as u64 - base + PIE_BASE;
        let symbols = Symbols::default();
        symbols.add(b"me", file);
        // A return address just behind the function's first byte is that of a call at it.
        let places = symbols.places(b"me", address, &[address + 1]);
        assert_eq!((places[0].address, places[1].address), (address, address + 1));
        for place in &places {
            assert!(place.function.as_ref().is_some_and(|name| name.contains("known")), "{place:?}");
            assert!(place.file.as_ref().is_some_and(|file| file.ends_with("symbols.rs")), "{place:?}");
            assert!(place.line.is_some_and(|line| line.abs_diff(known()) < 4), "{place:?}");
        }
    }

    #[test]
    fn what_is_not_known_has_no_places() {
        let symbols = Symbols::default();
        assert_eq!(symbols.places(b"x", 1, &[]), []);
        symbols.add(b"x", "/nonexistent".into());
        assert_eq!(symbols.places(b"x", 1, &[]), []);
        symbols.add(b"x", "/etc/passwd".into());
        assert_eq!(symbols.places(b"x", 1, &[]), []);
    }
}
