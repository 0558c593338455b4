//! What is in a directory, kept from one page of it to the next: littlefs reads all of a directory to give any part of it.

use alloc::vec::Vec;

use askr_abi::Errno;

use crate::Result;
use crate::fs::Lock;
use crate::littlefs::{Entry, Info, Littlefs, Path};
use crate::tree::{Tree, hash};

/// Entries of a directory that are kept; of a larger one a page is all that is left.
const LISTED_MAX: usize = 16_384;
/// Entries of a page.
const PAGE: usize = 256;

/// An entry, and its place in the order of the names' hashes, which stays what it is when other names come and go.
pub(crate) type Placed = (u64, Entry);

/// A directory as it is as long as nothing is written to the disk.
pub(crate) struct Listing {
    dir: u64,
    writes: u64,
    entries: Vec<Placed>,
}

impl Listing {
    /// Whether it is of the directory with this number.
    pub(crate) const fn is_of(&self, dir: u64) -> bool {
        self.dir == dir
    }
}

impl<R: Lock> Tree<R> {
    /// Entries of a directory from place `cursor` on, in the order of their places: the next ones, or all that are left.
    /// There are none in one that was removed.
    ///
    /// # Errors
    /// EIO; ENOMEM, since the host may have made a directory larger than this machine's memory.
    pub(crate) fn page(&mut self, dir: u64, cursor: u64) -> Result<Vec<Placed>> {
        let Ok(path) = self.path(dir, None) else { return Ok(Vec::new()) };
        let writes = self.lfs.writes();
        let kept = self.listing.take().filter(|kept| (kept.dir, kept.writes) == (dir, writes));
        let entries = match kept {
            Some(kept) => kept.entries,
            None => list(&mut self.lfs, &path)?,
        };
        let rest = entries.partition_point(|(place, _)| *place < cursor);
        if entries.len() > LISTED_MAX {
            let mut entries = entries;
            entries.drain(..rest);
            return Ok(entries);
        }
        // Two names of one place are not parted: what follows a page begins behind its last place.
        let rest = &entries[rest..];
        let last = rest.get(PAGE - 1).map_or(u64::MAX, |(place, _)| *place);
        let taken = &rest[..rest.partition_point(|(place, _)| *place <= last)];
        let mut page = Vec::new();
        page.try_reserve_exact(taken.len()).map_err(|_| Errno::ENOMEM)?;
        for (place, entry) in taken {
            page.push((*place, entry.copied()?));
        }
        self.listing = Some(Listing { dir, writes, entries });
        Ok(page)
    }

    /// What is at a name in a directory: by its listing if that is kept, as when somebody looks at one entry after the other.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR, EIO.
    pub(crate) fn look(&mut self, dir: u64, name: &[u8]) -> Result<Info> {
        let path = self.path(dir, Some(name))?;
        let writes = self.lfs.writes();
        let Some(kept) = self.listing.as_ref().filter(|kept| (kept.dir, kept.writes) == (dir, writes)) else {
            return self.lfs.stat(&path);
        };
        let place = hash([name].into_iter());
        let found = kept.entries.binary_search_by(|(at, entry)| (*at, &entry.name[..]).cmp(&(place, name)));
        let Entry { is_dir, size, attribute, .. } = kept.entries[found.map_err(|_| Errno::ENOENT)?].1;
        Ok(Info { is_dir, size, attribute })
    }

    /// A directory was read to its end: most likely nobody wants it again.
    pub(crate) fn forget_listing(&mut self) {
        self.listing = None;
    }
}

/// All entries, in the order of their places.
fn list(lfs: &mut Littlefs, path: &Path) -> Result<Vec<Placed>> {
    let listed = lfs.list(path)?;
    let mut placed = Vec::new();
    placed.try_reserve_exact(listed.len()).map_err(|_| Errno::ENOMEM)?;
    placed.extend(listed.into_iter().map(|entry| (hash([&entry.name[..]].into_iter()), entry)));
    placed.sort_unstable_by(|one, other| (one.0, &one.1.name).cmp(&(other.0, &other.1.name)));
    Ok(placed)
}
