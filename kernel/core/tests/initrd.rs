//! Archives: written here field by field, read back, damaged.

use askr_core::initrd::{BLOCK, EXTENDED_MAX, Entry, EntryKind, HEADERS_MAX, InitrdError, entries};
use proptest::prelude::*;

/// A header block with a right checksum.
fn header(name: &[u8], kind: u8, size: usize, change: impl FnOnce(&mut [u8; BLOCK])) -> Vec<u8> {
    let mut block = [0; BLOCK];
    block[..name.len()].copy_from_slice(name);
    block[100..108].copy_from_slice(b"0100755\0");
    block[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    block[136..148].copy_from_slice(b"00000001750 ");
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    change(&mut block);
    seal(&mut block);
    block.to_vec()
}

fn seal(block: &mut [u8; BLOCK]) {
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

fn with_content(mut header: Vec<u8>, content: &[u8]) -> Vec<u8> {
    header.extend_from_slice(content);
    header.resize(header.len().next_multiple_of(BLOCK), 0);
    header
}

fn file(name: &[u8], content: &[u8]) -> Vec<u8> {
    with_content(header(name, b'0', content.len(), |_| {}), content)
}

fn pax(key: &str, value: &[u8]) -> Vec<u8> {
    let body = 3 + key.len() + value.len();
    let length = (body..).find(|&n| n == body + n.to_string().len()).unwrap();
    let mut record = format!("{length} {key}=").into_bytes();
    record.extend_from_slice(value);
    record.push(b'\n');
    with_content(header(b"pax", b'x', record.len(), |_| {}), &record)
}

fn archive(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut all = parts.concat();
    all.resize(all.len() + 2 * BLOCK, 0);
    all
}

fn read(archive: &[u8]) -> Result<Vec<Entry<'_>>, InitrdError> {
    entries(archive).collect()
}

fn content<'a>(archive: &'a [u8], entry: &Entry<'_>) -> &'a [u8] {
    match &entry.kind {
        EntryKind::File(range) => &archive[range.clone()],
        other => panic!("{other:?} is no file"),
    }
}

#[test]
fn files_directories_and_links_come_out_as_they_went_in() {
    let link = header(b"bin/ash", b'2', 0, |block| block[157..159].copy_from_slice(b"sh"));
    let archive = archive(&[
        header(b"bin/", b'5', 0, |_| {}),
        file(b"bin/sh", &[7; 700]),
        link,
        file(b"empty", b""),
        file(b"caf\xe9", b"not UTF-8"),
    ]);
    let read = read(&archive).unwrap();
    let paths: Vec<_> = read.iter().map(|entry| entry.path.to_vec()).collect();
    assert_eq!(paths, [&b"bin/"[..], b"bin/sh", b"bin/ash", b"empty", b"caf\xe9"]);
    assert_eq!(read[0].kind, EntryKind::Directory);
    assert_eq!(content(&archive, &read[1]), [7; 700]);
    assert_eq!(read[2].kind, EntryKind::Symlink(b"sh"[..].into()));
    assert_eq!(content(&archive, &read[3]), b"");
    assert_eq!(content(&archive, &read[4]), b"not UTF-8");
    assert_eq!((read[1].mode, read[1].mtime), (0o755, 1000));
}

#[test]
fn long_paths_come_in_three_forms() {
    let long = [&b"d/".repeat(150)[..], b"name"].concat();
    let prefixed = header(b"name", b'0', 0, |block| block[345..349].copy_from_slice(b"a/bc"));
    let gnu_name = [&long[..], b"\0"].concat();
    let gnu = with_content(header(b"././@LongLink", b'L', gnu_name.len(), |_| {}), &gnu_name);
    let archive = archive(&[
        prefixed,
        pax("path", &long),
        file(b"short", b"1"),
        gnu,
        file(b"short", b"2"),
        file(b"short", b"3"),
        pax("linkpath", &long),
        header(b"link", b'2', 0, |block| block[157] = b'x'),
    ]);
    let read = read(&archive).unwrap();
    assert_eq!(read[0].path, &b"a/bc/name"[..]);
    assert_eq!(read[1].path, long);
    assert_eq!(read[2].path, long);
    assert_eq!(read[3].path, &b"short"[..], "an extended header is for one entry");
    assert_eq!(read[4].kind, EntryKind::Symlink(long[..].into()));
}

#[test]
fn the_gnu_form_and_large_numbers_are_read() {
    let gnu = |block: &mut [u8; BLOCK]| {
        block[257..265].copy_from_slice(b"ustar  \0");
        block[345..350].copy_from_slice(b"00000");
        block[124..136].copy_from_slice(b"\x80\0\0\0\0\0\0\0\0\0\0\x03");
    };
    let archive = archive(&[with_content(header(b"file", b'0', 0, gnu), b"abc")]);
    let read = read(&archive).unwrap();
    assert_eq!(read[0].path, &b"file"[..]);
    assert_eq!(content(&archive, &read[0]), b"abc");
}

#[test]
fn what_a_header_leaves_out_or_says_in_vain_is_known() {
    let archive = archive(&[
        header(b"old-directory/", b'0', 0, |_| {}),
        header(b"sized-directory", b'5', 1000, |_| {}),
        pax("size", b"3"),
        with_content(header(b"large", b'0', 0, |_| {}), b"abc"),
        file(b"after", b"!"),
    ]);
    let read = read(&archive).unwrap();
    assert_eq!((&read[0].kind, &read[1].kind), (&EntryKind::Directory, &EntryKind::Directory));
    assert_eq!(content(&archive, &read[2]), b"abc");
    assert_eq!(content(&archive, &read[3]), b"!");
}

#[test]
fn the_work_on_one_archive_is_bounded() {
    let empty = header(b"f", b'0', 0, |_| {});
    assert_eq!(read(&empty.repeat(HEADERS_MAX)).unwrap().len(), HEADERS_MAX);
    assert_eq!(read(&empty.repeat(HEADERS_MAX + 1)), Err(InitrdError::TooMany));
    let long = pax("comment", &vec![b'c'; EXTENDED_MAX]);
    assert_eq!(read(&archive(&[long, empty])), Err(InitrdError::Extended(0)));
}

#[test]
fn an_archive_may_lack_its_end_but_not_a_part() {
    let whole = file(b"f", b"content");
    assert_eq!(read(&whole).unwrap().len(), 1);
    assert_eq!(read(&whole[..BLOCK + 3]), Err(InitrdError::Truncated(0)));
    assert_eq!(read(&whole[..100]), Err(InitrdError::Truncated(0)));
    assert_eq!(read(b""), Ok(vec![]));
}

#[test]
fn each_defect_has_its_own_refusal_and_place() {
    let first = file(b"f", b"x");
    let at = first.len();
    let second = |block: Vec<u8>| read(&archive(&[first.clone(), block])).expect_err("must be refused");
    let mut damaged = file(b"g", b"");
    damaged[0] ^= 1;
    assert_eq!(second(damaged), InitrdError::Checksum(at));
    assert_eq!(second(header(b"g", b'0', 0, |block| block[257] = b'x')), InitrdError::Magic(at));
    assert_eq!(second(header(b"g", b'1', 0, |_| {})), InitrdError::Kind(at, b'1'));
    assert_eq!(second(header(b"g", b'0', 0, |block| block[124] = b'9')), InitrdError::Number(at));
    assert_eq!(second(header(b"g", b'0', 0, |block| block[124] = 0xff)), InitrdError::Number(at));
    assert_eq!(second(header(b"", b'0', 0, |_| {})), InitrdError::Name(at));
    assert_eq!(second(header(b"g", b'2', 0, |_| {})), InitrdError::Name(at));
    assert_eq!(second(header(b"g", b'0', 1 << 30, |_| {})), InitrdError::Truncated(at));
    for record in [&b"path"[..], b"99 path=x\n", b"9 path=x", b"0 a=b\n", b"18446744073709551616 a=b\n"] {
        let pax = with_content(header(b"p", b'x', record.len(), |_| {}), record);
        assert_eq!(second(pax), InitrdError::Extended(at), "{record:?}");
    }
    let global = with_content(header(b"p", b'g', 10, |_| {}), b"10 path=x\n");
    assert_eq!(second(global), InitrdError::Extended(at));
}

#[test]
fn nothing_follows_an_error() {
    let archive = archive(&[header(b"g", b'1', 0, |_| {}), file(b"f", b"x")]);
    let mut entries = entries(&archive);
    assert!(entries.next().unwrap().is_err());
    assert!(entries.next().is_none());
}

proptest! {
    #[test]
    fn any_file_comes_back(
        name in prop::collection::vec(1..=255_u8, 1..300),
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
    ) {
        prop_assume!(!name.ends_with(b"/"));
        let archive = archive(&[pax("path", &name), file(b"x", &bytes), file(b"after", b"!")]);
        let read = read(&archive).unwrap();
        prop_assert_eq!(&read[0].path[..], &name[..]);
        prop_assert_eq!(content(&archive, &read[0]), &bytes[..]);
        prop_assert_eq!(content(&archive, &read[1]), b"!");
    }

    #[test]
    fn a_damaged_archive_never_panics(
        edits in prop::collection::vec((0..5 * BLOCK, any::<u8>()), 1..8),
        cut in 0..6 * BLOCK,
        seal_it in any::<bool>(),
    ) {
        let mut bytes = archive(&[pax("path", b"some/name"), file(b"f", b"content")]);
        for (at, byte) in edits {
            let len = bytes.len();
            bytes[at % len] = byte;
        }
        if seal_it {
            for block in [0, 2] {
                seal((&mut bytes[block * BLOCK..(block + 1) * BLOCK]).try_into().unwrap());
            }
        }
        bytes.truncate(cut);
        for entry in entries(&bytes).flatten() {
            if let EntryKind::File(range) = entry.kind {
                prop_assert!(range.end <= bytes.len());
            }
        }
    }
}
