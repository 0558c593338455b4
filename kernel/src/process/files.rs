//! File descriptors of a process.

use crate::fs;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_vfs::File;

/// Descriptors a process may have at most (`RLIMIT_NOFILE`, as Linux begins with).
pub(super) const DESCRIPTORS_MAX: usize = 1024;

#[derive(Clone)]
struct Descriptor {
    file: Arc<File>,
    close_on_exec: bool,
}

/// The table of descriptors. `fork` copies it; the open files behind it are shared.
///
/// `limit` is one more than the highest number that may be given now: the process's `RLIMIT_NOFILE`. Descriptors that
/// were given before it was lowered stay.
///
/// What is taken out of it is returned: closing a file may wait for its medium, so the caller drops it after letting go
/// of the table.
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

    /// 0, 1 and 2 as these files.
    pub(crate) fn standard(files: [File; 3]) -> Self {
        let open = |file| Some(Descriptor { file: Arc::new(file), close_on_exec: false });
        Self(files.map(open).into())
    }

    /// The open file behind `fd`.
    ///
    /// # Errors
    /// EBADF.
    pub(crate) fn get(&self, fd: i32) -> Result<Arc<File>, Errno> {
        self.descriptor(fd).map(|descriptor| descriptor.file.clone())
    }

    /// Whether `count` more descriptors may be had. To be asked before something is opened that leaves traces.
    ///
    /// # Errors
    /// EMFILE.
    pub(crate) fn require_room(&self, count: usize, limit: usize) -> Result<(), Errno> {
        let free = (0..limit).filter(|&index| self.is_free(index)).take(count).count();
        if free < count { Err(Errno::EMFILE) } else { Ok(()) }
    }

    /// Gives `file` the lowest free descriptor that is not below `from`.
    ///
    /// # Errors
    /// EMFILE.
    pub(crate) fn add_from(
        &mut self,
        from: usize,
        file: Arc<File>,
        close_on_exec: bool,
        limit: usize,
    ) -> Result<i32, Errno> {
        let index = (from..limit).find(|&index| self.is_free(index)).ok_or(Errno::EMFILE)?;
        self.put(index, Descriptor { file, close_on_exec });
        i32::try_from(index).map_err(|_| Errno::EMFILE)
    }

    /// Gives `file` the lowest free descriptor.
    ///
    /// # Errors
    /// EMFILE.
    pub(crate) fn add(&mut self, file: File, close_on_exec: bool, limit: usize) -> Result<i32, Errno> {
        self.add_from(0, Arc::new(file), close_on_exec, limit)
    }

    /// Makes `new` a descriptor of the file behind `old`, which is another number, and returns the file that `new`
    /// was before.
    ///
    /// # Errors
    /// EBADF, also for a number that no descriptor can have.
    pub(crate) fn replace(
        &mut self,
        old: i32,
        new: i32,
        close_on_exec: bool,
        limit: usize,
    ) -> Result<Option<Arc<File>>, Errno> {
        let file = self.get(old)?;
        let index = usize::try_from(new).ok().filter(|&index| index < limit);
        let index = index.ok_or(Errno::EBADF)?;
        Ok(self.put(index, Descriptor { file, close_on_exec }))
    }

    /// Whether `execve` closes `fd`.
    ///
    /// # Errors
    /// EBADF.
    pub(crate) fn closes_on_exec(&self, fd: i32) -> Result<bool, Errno> {
        self.descriptor(fd).map(|descriptor| descriptor.close_on_exec)
    }

    /// Sets whether `execve` closes `fd`.
    ///
    /// # Errors
    /// EBADF.
    pub(crate) fn set_close_on_exec(&mut self, fd: i32, close: bool) -> Result<(), Errno> {
        let index = usize::try_from(fd).map_err(|_| Errno::EBADF)?;
        let descriptor = self.0.get_mut(index).and_then(Option::as_mut).ok_or(Errno::EBADF)?;
        descriptor.close_on_exec = close;
        Ok(())
    }

    /// Takes `fd` out.
    ///
    /// # Errors
    /// EBADF.
    pub(crate) fn remove(&mut self, fd: i32) -> Result<Arc<File>, Errno> {
        let file = self.get(fd)?;
        self.0[fd.unsigned_abs() as usize] = None;
        Ok(file)
    }

    /// Takes out what `execve` closes.
    #[must_use]
    pub(super) fn take_close_on_exec(&mut self) -> Vec<Arc<File>> {
        let closing = |slot: &mut Option<Descriptor>| slot.take_if(|descriptor| descriptor.close_on_exec);
        self.0.iter_mut().filter_map(closing).map(|descriptor| descriptor.file).collect()
    }

    /// Takes out everything.
    #[must_use]
    pub(super) fn take_all(&mut self) -> Self {
        Self(core::mem::take(&mut self.0))
    }

    fn descriptor(&self, fd: i32) -> Result<&Descriptor, Errno> {
        let index = usize::try_from(fd).map_err(|_| Errno::EBADF)?;
        self.0.get(index).and_then(Option::as_ref).ok_or(Errno::EBADF)
    }

    fn is_free(&self, index: usize) -> bool {
        self.0.get(index).is_none_or(Option::is_none)
    }

    fn put(&mut self, index: usize, descriptor: Descriptor) -> Option<Arc<File>> {
        if index >= self.0.len() {
            self.0.resize(index + 1, None);
        }
        self.0[index].replace(descriptor).map(|before| before.file)
    }
}
