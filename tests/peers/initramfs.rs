//! The archive that Linux starts from.

use crate::initramfs::Initramfs;

#[test]
fn names_and_contents_begin_at_multiples_of_four() {
    let mut archive = Initramfs::default();
    archive.file("ab", 0o644, b"hello");
    let bytes = archive.finish();
    assert_eq!(&bytes[..6], b"070701");
    assert_eq!(&bytes[14..22], b"000081a4", "a file with mode 644");
    assert_eq!(&bytes[54..62], b"00000005", "size");
    assert_eq!(&bytes[94..102], b"00000003", "the name with its NUL");
    assert_eq!(&bytes[110..124], b"ab\0\0\0\0hello\0\0\0", "after the head's 110 bytes");
    assert!(bytes.len() % 4 == 0 && bytes[124..].windows(10).any(|ten| ten == b"TRAILER!!!"));
}

#[test]
fn a_folder_comes_once_and_before_what_is_in_it() {
    let mut archive = Initramfs::default();
    archive.file_with_folders("/lib/x/one", 0o644, b"");
    archive.file_with_folders("/lib/x/two", 0o644, b"");
    let text = String::from_utf8(archive.finish()).unwrap();
    let names: Vec<&str> = text.split("070701").skip(1).map(|entry| entry[104..].trim_end_matches('\0')).collect();
    assert_eq!(names, ["lib", "lib/x", "lib/x/one", "lib/x/two", "TRAILER!!!"]);
}
