//! Files whose content is made when they are opened, such as those of `/proc`.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::{Kind, Metadata, Result, Vnode};

/// A read-only file whose content `make` produces. Each open file sees the one content that was made when it
/// was opened, however long it reads.
pub struct Generated<F> {
    dev: u64,
    ino: u64,
    make: F,
}

impl<F> Generated<F>
where
    F: Fn() -> Result<Vec<u8>> + Send + Sync + 'static,
{
    /// A file with the numbers `dev` and `ino`.
    pub const fn new(dev: u64, ino: u64, make: F) -> Self {
        Self { dev, ino, make }
    }
}

impl<F> Vnode for Generated<F>
where
    F: Fn() -> Result<Vec<u8>> + Send + Sync + 'static,
{
    fn kind(&self) -> Kind {
        Kind::File
    }

    /// The size is 0, as in Linux's `/proc`: it is not known before the content is made.
    fn metadata(&self) -> Result<Metadata> {
        Ok(Metadata::bare(Kind::File, 0o444, self.dev, self.ino))
    }

    fn open(&self) -> Result<Option<Arc<dyn Vnode>>> {
        Ok(Some(Arc::new(Snapshot { metadata: self.metadata()?, content: (self.make)()? })))
    }

    /// Without an open file each read makes the content anew.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        Ok(copy_from(&(self.make)()?, offset, into))
    }
}

/// Content that does not change: what an open [`Generated`] file reads.
pub struct Snapshot {
    metadata: Metadata,
    content: Vec<u8>,
}

impl Vnode for Snapshot {
    fn kind(&self) -> Kind {
        self.metadata.kind
    }

    fn metadata(&self) -> Result<Metadata> {
        Ok(self.metadata)
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        Ok(copy_from(&self.content, offset, into))
    }
}

/// Copies what `content` has from `offset` on and returns how much that is.
pub(crate) fn copy_from(content: &[u8], offset: u64, into: &mut [u8]) -> usize {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
    let count = into.len().min(content.len() - start);
    into[..count].copy_from_slice(&content[start..start + count]);
    count
}
