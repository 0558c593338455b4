//! File descriptors of a process.

use crate::fs;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_vfs::File;

/// Descriptors a process may have (`RLIMIT_NOFILE` as on Linux).
const DESCRIPTORS_MAX: usize = 1024;

#[derive(Clone)]
struct Descriptor {
    file: Arc<File>,
    close_on_exec: bool,
}

/// The table of descriptors. `fork` copies it; the open files behind it are shared.
#[derive(Clone)]
pub(crate) struct Files(Vec<Option<Descriptor>>);

impl Files {
    /// 0, 1 and 2 on the console.
    ///
    /// # Errors
    /// Those of opening it.
    pub(super) fn on_console() -> Result<Self, Errno> {
        let file = Arc::new(fs::open_console()?);
        let descriptor = Descriptor { file, close_on_exec: false };
        Ok(Self(vec![Some(descriptor); 3]))
    }

    /// The open file behind `fd`.
    ///
    /// # Errors
    /// EBADF.
    pub(crate) fn get(&self, fd: i32) -> Result<Arc<File>, Errno> {
        let index = usize::try_from(fd).map_err(|_| Errno::EBADF)?;
        let descriptor = self.0.get(index).and_then(Option::as_ref).ok_or(Errno::EBADF)?;
        Ok(descriptor.file.clone())
    }

    /// Gives `file` the lowest free descriptor.
    ///
    /// # Errors
    /// EMFILE.
    pub(crate) fn add(&mut self, file: File, close_on_exec: bool) -> Result<i32, Errno> {
        let descriptor = Some(Descriptor { file: Arc::new(file), close_on_exec });
        let index = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        if index >= DESCRIPTORS_MAX {
            return Err(Errno::EMFILE);
        }
        if index == self.0.len() {
            self.0.push(descriptor);
        } else {
            self.0[index] = descriptor;
        }
        i32::try_from(index).map_err(|_| Errno::EMFILE)
    }

    /// Closes `fd`; the caller drops what it gets after letting go of the table.
    ///
    /// # Errors
    /// EBADF.
    pub(crate) fn remove(&mut self, fd: i32) -> Result<Arc<File>, Errno> {
        let file = self.get(fd)?;
        self.0[fd.unsigned_abs() as usize] = None;
        Ok(file)
    }

    /// Closes what `execve` closes.
    pub(super) fn close_on_exec(&mut self) {
        for slot in &mut self.0 {
            if slot.as_ref().is_some_and(|descriptor| descriptor.close_on_exec) {
                *slot = None;
            }
        }
    }

    /// Closes everything.
    pub(super) fn close_all(&mut self) {
        self.0 = Vec::new();
    }
}
