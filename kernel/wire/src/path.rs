//! Which byte strings are paths at all.

use crate::status::Status;

/// Longest path the bus takes, in bytes.
pub const PATH_MAX: usize = 1023;

/// Checks that `path` is absolute, free of NUL and at most [`PATH_MAX`] bytes long.
///
/// # Errors
/// [`Status::Inval`] for an empty or relative path or one with NUL, [`Status::NameTooLong`] for a long one.
pub fn check_path(path: &[u8]) -> Result<(), Status> {
    if path.first() != Some(&b'/') || path.contains(&0) {
        Err(Status::Inval)
    } else if path.len() > PATH_MAX {
        Err(Status::NameTooLong)
    } else {
        Ok(())
    }
}
