//! Adds a developer's own files, and other content, to the initrd.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Largest file that goes into the guest: it lives in the guest's memory.
const EXTRA_MAX: u64 = 256 << 20;
/// Where the guest has file systems of its own: a file of the initrd would not be seen there.
const MOUNTED: [&str; 3] = ["/dev", "/disk", "/proc"];
/// Longest guest path; with it every name fits a ustar header (`ustar` name field, 100 bytes).
const GUEST_PATH_MAX: usize = 100;

/// A file of the host that the guest finds under a path of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraFile {
    /// The file on the host.
    pub host: PathBuf,
    /// The absolute path in the guest.
    pub guest: String,
}

impl ExtraFile {
    /// Parses `FILE[:/guest/path]`. Without a guest path the file becomes `/bin/NAME`; a guest path that ends
    /// in a slash is a folder.
    ///
    /// # Errors
    /// A text that says why the guest path can't be used.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let (host, guest) = match text.rfind(":/") {
            Some(colon) => (&text[..colon], &text[colon + 1..]),
            None => (text, "/bin/"),
        };
        let host = PathBuf::from(host);
        let name = host.file_name().and_then(|name| name.to_str()).ok_or("the file has no usable name")?;
        let guest = if guest.ends_with('/') { format!("{guest}{name}") } else { guest.to_owned() };
        if guest.len() > GUEST_PATH_MAX {
            return Err(format!("the guest path is longer than {GUEST_PATH_MAX} bytes"));
        }
        if guest[1..].split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(format!("the guest path {guest} may not contain empty parts, `.` or `..`"));
        }
        if let Some(mounted) = MOUNTED.iter().find(|mounted| Path::new(&guest).starts_with(mounted)) {
            return Err(format!("what is in {mounted} is the guest's own; {guest} would not be seen there"));
        }
        Ok(Self { host, guest })
    }

    /// What the guest calls a program that runs from it: the last part of the path.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        self.guest.rsplit('/').next().unwrap_or_default().as_bytes()
    }

    /// Checks that the file can be read, and tells what looks wrong with it but is no error.
    ///
    /// # Errors
    /// The file is missing, is no regular file, is too large or can't be read.
    pub fn check(&self) -> Result<Option<String>> {
        let refuse = |reason: String| Error::ExtraFile { path: self.host.clone(), reason };
        let mut file = File::open(&self.host).map_err(|error| refuse(error.to_string()))?;
        let found = file.metadata().map_err(|error| refuse(error.to_string()))?;
        if !found.is_file() {
            return Err(refuse("is not a regular file".into()));
        }
        if found.len() > EXTRA_MAX {
            return Err(refuse(format!("is larger than {} MiB", EXTRA_MAX >> 20)));
        }
        let mut head = [0; 4];
        let is_elf = file.read_exact(&mut head).is_ok() && head == *b"\x7fELF";
        Ok((!is_elf)
            .then(|| format!("{} is not an ELF file; the guest gets it as it is", self.host.display())))
    }
}

/// A file that goes into the initrd.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    /// The path without its first slash, as tar has it.
    path: &'a str,
    content: Content<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Content<'a> {
    Host(&'a ExtraFile),
    Bytes(&'a [u8]),
}

impl<'a> Entry<'a> {
    /// A file of the host.
    pub(crate) fn of_file(file: &'a ExtraFile) -> Self {
        Self { path: &file.guest[1..], content: Content::Host(file) }
    }

    /// Content from memory, at a path without its first slash.
    pub(crate) fn of_bytes(path: &'a str, bytes: &'a [u8]) -> Self {
        Self { path, content: Content::Bytes(bytes) }
    }
}

impl<'a> Content<'a> {
    /// Mode and bytes.
    fn load(self) -> io::Result<(u32, Cow<'a, [u8]>)> {
        match self {
            Self::Bytes(bytes) => Ok((0o644, bytes.into())),
            Self::Host(file) => {
                let mode = fs::metadata(&file.host)?.permissions().mode() & 0o777;
                Ok((mode, fs::read(&file.host)?.into()))
            }
        }
    }
}

/// The names in a tar file, without slashes at their ends.
struct Names {
    folders: BTreeSet<String>,
    files: BTreeSet<String>,
}

impl Names {
    fn of(archive: &Path) -> io::Result<Self> {
        let (mut folders, mut files) = (BTreeSet::new(), BTreeSet::new());
        for entry in tar::Archive::new(File::open(archive)?).entries()? {
            let entry = entry?;
            let names = if entry.header().entry_type().is_dir() { &mut folders } else { &mut files };
            names.insert(String::from_utf8_lossy(&entry.path_bytes()).trim_end_matches('/').to_owned());
        }
        Ok(Self { folders, files })
    }

    /// Why there can't be a file at `path` beside these names and the other entries.
    fn refuse(&self, path: &str, entries: &[Entry<'_>]) -> Option<String> {
        let above =
            |path: &str, other: &str| other.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        if self.folders.contains(path) || entries.iter().any(|other| above(path, other.path)) {
            return Some(format!("can't be /{path} in the guest, which is a folder there"));
        }
        let given = entries.iter().map(|entry| entry.path);
        let file = self.files.iter().map(String::as_str).chain(given).find(|file| above(file, path))?;
        Some(format!("can't be /{path} in the guest: /{file} is a file there"))
    }
}

/// Writes `to`: everything in the tar file `base`, and the entries. An entry replaces what has the same path in
/// `base` or earlier in the list.
pub(crate) fn with_entries(base: &Path, entries: &[Entry<'_>], to: &Path) -> Result<()> {
    let there = Names::of(base).map_err(Error::io("reading the initrd"))?;
    for entry in entries {
        if let Content::Host(file) = entry.content {
            file.check()?;
            if let Some(reason) = there.refuse(entry.path, entries) {
                return Err(Error::ExtraFile { path: file.host.clone(), reason });
            }
        }
    }
    write_tar(base, entries, to).map_err(Error::io("packing the initrd"))
}

fn write_tar(base: &Path, entries: &[Entry<'_>], to: &Path) -> io::Result<()> {
    let mut out = tar::Builder::new(File::create(to)?);
    let replaced: BTreeSet<&str> = entries.iter().map(|entry| entry.path).collect();
    let mut folders = BTreeSet::new();
    for entry in tar::Archive::new(File::open(base)?).entries()? {
        let entry = entry?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type().is_dir() {
            folders.insert(path.trim_end_matches('/').to_owned());
        }
        if !replaced.contains(path.as_str()) {
            let header = entry.header().clone();
            out.append(&header, entry)?;
        }
    }
    for (at, Entry { path, content }) in entries.iter().enumerate() {
        if entries[at + 1..].iter().any(|later| later.path == *path) {
            continue;
        }
        for (end, _) in path.match_indices('/') {
            if folders.insert(path[..end].to_owned()) {
                append(&mut out, &format!("{}/", &path[..end]), 0o755, tar::EntryType::Directory, &[])?;
            }
        }
        let (mode, bytes) = content.load()?;
        append(&mut out, path, mode, tar::EntryType::Regular, &bytes)?;
    }
    out.into_inner()?;
    Ok(())
}

fn append(
    out: &mut tar::Builder<File>,
    path: &str,
    mode: u32,
    kind: tar::EntryType,
    content: &[u8],
) -> io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(content.len() as u64);
    out.append_data(&mut header, path, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, String) {
        let file = ExtraFile::parse(text).unwrap();
        (file.host.to_str().unwrap().to_owned(), file.guest)
    }

    #[test]
    fn the_guest_path_is_optional() {
        assert_eq!(parsed("target/a/prog"), ("target/a/prog".into(), "/bin/prog".into()));
        assert_eq!(parsed("prog:/opt/other"), ("prog".into(), "/opt/other".into()));
        assert_eq!(parsed("/a:b/prog:/opt/"), ("/a:b/prog".into(), "/opt/prog".into()));
    }

    #[test]
    fn guest_paths_that_lead_elsewhere_are_refused() {
        let long = format!("prog:/{}", "x".repeat(100));
        let unseen = ["prog:/dev/x", "prog:/dev", "prog:/proc/", "prog:/disk/a/b"];
        for text in ["prog:/../etc/motd", "prog:/a//b", "prog:/a/./b", "..", &long].into_iter().chain(unseen)
        {
            assert!(ExtraFile::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_missing_file_is_an_error_and_a_script_is_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        let file = ExtraFile { host: script.clone(), guest: "/bin/script".into() };
        assert!(file.check().unwrap_err().to_string().contains("No such file"));
        fs::write(&script, "echo hi\n").unwrap();
        assert!(file.check().unwrap().unwrap().contains("not an ELF"));
        fs::write(&script, b"\x7fELF\x02").unwrap();
        assert_eq!(file.check().unwrap(), None);
        let folder = ExtraFile { host: folder.path().to_owned(), guest: "/bin/x".into() };
        assert!(folder.check().unwrap_err().to_string().contains("not a regular file"));
    }

    #[test]
    fn files_where_there_can_be_none_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut base = tar::Builder::new(File::create(path("base")).unwrap());
        append(&mut base, "bin/", 0o755, tar::EntryType::Directory, &[]).unwrap();
        append(&mut base, "bin/sh", 0o755, tar::EntryType::Regular, b"sh").unwrap();
        base.into_inner().unwrap();
        fs::write(path("new"), "new").unwrap();
        for (guests, reason) in [
            (&["/bin"][..], "/bin in the guest, which is a folder there"),
            (&["/bin/sh/x"], "/bin/sh/x in the guest: /bin/sh is a file there"),
            (&["/opt", "/opt/a"], "/opt in the guest, which is a folder there"),
            (&["/opt/a/b/c", "/opt/a"], "/opt/a/b/c in the guest: /opt/a is a file there"),
            (&["/bin/shell", "/binary", "/opt/a", "/opt/ab"], ""),
        ] {
            let extra = guests.iter().map(|&guest| ExtraFile { host: path("new"), guest: guest.into() });
            let extra: Vec<_> = extra.collect();
            let entries: Vec<_> = extra.iter().map(Entry::of_file).collect();
            let error = with_entries(&path("base"), &entries, &path("out")).err();
            let said = error.map_or(String::new(), |error| error.to_string());
            assert!(said.ends_with(reason) && said.is_empty() == reason.is_empty(), "{guests:?}: {said}");
        }
    }

    #[test]
    fn entries_are_added_and_replace_those_of_the_same_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut base = tar::Builder::new(File::create(path("base")).unwrap());
        append(&mut base, "bin/", 0o755, tar::EntryType::Directory, &[]).unwrap();
        append(&mut base, "bin/sh", 0o755, tar::EntryType::Regular, b"old").unwrap();
        append(&mut base, "bin/ls", 0o755, tar::EntryType::Regular, b"ls").unwrap();
        base.into_inner().unwrap();
        fs::write(path("new"), "new").unwrap();
        fs::set_permissions(path("new"), fs::Permissions::from_mode(0o750)).unwrap();

        let extra =
            ["/bin/sh", "/opt/a/prog"].map(|guest| ExtraFile { host: path("new"), guest: guest.into() });
        let mut entries = vec![Entry::of_bytes("opt/a/prog", b"replaced"), Entry::of_bytes("etc/run", b"ls")];
        entries.extend(extra.iter().map(Entry::of_file));
        with_entries(&path("base"), &entries, &path("out")).unwrap();

        let mut found = Vec::new();
        for entry in tar::Archive::new(File::open(path("out")).unwrap()).entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut content = String::new();
            entry.read_to_string(&mut content).unwrap();
            let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
            found.push((name, entry.header().mode().unwrap(), content));
        }
        let expected = [
            ("bin/", 0o755, ""),
            ("bin/ls", 0o755, "ls"),
            ("etc/", 0o755, ""),
            ("etc/run", 0o644, "ls"),
            ("bin/sh", 0o750, "new"),
            ("opt/", 0o755, ""),
            ("opt/a/", 0o755, ""),
            ("opt/a/prog", 0o750, "new"),
        ];
        let found: Vec<_> = found.iter().map(|(name, mode, content)| (&**name, *mode, &**content)).collect();
        assert_eq!(found, expected);
    }
}
