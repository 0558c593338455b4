//! Names that a pattern stands for (POSIX.1-2017, XCU 2.6.6 and 2.13.3).

use super::expand::{Failure, Host};
use super::pattern::{Cell, bytes, is_pattern, matches};
use alloc_crate::vec;
use alloc_crate::vec::Vec;

/// Most names that one pattern may stand for.
const NAMES_MAX: usize = 16 * 1024;

/// The paths that `pattern` matches, in the order of their bytes; none if it matches nothing or is no pattern.
///
/// # Errors
/// More than [`NAMES_MAX`] names.
pub(super) fn paths(pattern: &[Cell], host: &mut impl Host) -> Result<Vec<Vec<u8>>, Failure> {
    if !is_pattern(pattern) {
        return Ok(Vec::new());
    }
    // Paths so far, each with the slashes behind it.
    let mut paths = vec![Vec::new()];
    let mut rest = pattern;
    while !rest.is_empty() {
        let slashes = rest.iter().take_while(|cell| cell.byte == b'/').count();
        for path in &mut paths {
            path.extend(bytes(&rest[..slashes]));
        }
        rest = &rest[slashes..];
        let length = rest.iter().position(|cell| cell.byte == b'/').unwrap_or(rest.len());
        let (component, after) = rest.split_at(length);
        rest = after;
        if component.is_empty() {
            // The pattern ended with a slash: directories only.
            paths.retain(|path| host.exists(path));
        } else if is_pattern(component) {
            paths = step(&paths, component, host)?;
        } else {
            for path in &mut paths {
                path.extend(bytes(component));
            }
            if after.is_empty() {
                paths.retain(|path| host.exists(path));
            }
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

/// The names in the directories `paths` that match.
fn step(paths: &[Vec<u8>], component: &[Cell], host: &mut impl Host) -> Result<Vec<Vec<u8>>, Failure> {
    let shows_hidden = component.first().is_some_and(|cell| cell.byte == b'.');
    let mut found = Vec::new();
    for path in paths {
        for name in host.names(if path.is_empty() { b"." } else { path }) {
            let hidden = name.first() == Some(&b'.');
            let itself = matches!(name.as_slice(), b"." | b"..");
            if (hidden && !shows_hidden) || itself || !matches(component, &name) {
                continue;
            }
            if found.len() >= NAMES_MAX {
                return Err(Failure::TooMuch("names for a pattern"));
            }
            found.push([path.as_slice(), &name].concat());
        }
    }
    Ok(found)
}
