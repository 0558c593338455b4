//! A root file system in memory for Linux: a cpio archive ("newc", see Linux's
//! `Documentation/driver-api/early-userspace/buffer-format.rst`).

/// Type bits of a mode.
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

/// The archive so far.
#[derive(Default)]
pub(crate) struct Initramfs {
    bytes: Vec<u8>,
    entries: u32,
    folders: Vec<String>,
}

impl Initramfs {
    /// A folder, unless it is there.
    pub(crate) fn folder(&mut self, path: &str) {
        if !self.folders.iter().any(|known| known == path) {
            self.folders.push(path.to_owned());
            self.entry(path, FOLDER | 0o755, &[]);
        }
    }

    pub(crate) fn file(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.entry(path, FILE | mode, content);
    }

    /// A file, after the folders it lies in.
    pub(crate) fn file_with_folders(&mut self, path: &str, mode: u32, content: &[u8]) {
        let path = path.trim_start_matches('/');
        for (slash, _) in path.match_indices('/') {
            self.folder(&path[..slash]);
        }
        self.file(path, mode, content);
    }

    pub(crate) fn link(&mut self, path: &str, target: &str) {
        self.entry(path, LINK | 0o777, target.as_bytes());
    }

    /// The whole archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let length = |bytes: usize| u32::try_from(bytes).expect("files are small");
        let (links, size, name) = (1, length(content.len()), length(path.len() + 1));
        // ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check
        let fields = [self.entries, mode, 0, 0, links, 0, size, 0, 0, 0, 0, name, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend_from_slice(content);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}
