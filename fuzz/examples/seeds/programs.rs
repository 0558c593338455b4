//! Programs with the program headers that linkers write, and stacks for them.

use crate::Seed;

const EXEC: u16 = 2;
const DYN: u16 = 3;
const LOAD: u32 = 1;
const R: u32 = 4;
const RW: u32 = 6;
const RX: u32 = 5;

/// A program header: kind, flags, offset, address, bytes in the file and in memory, alignment.
type Header = (u32, u32, u64, u64, u64, u64, u64);

/// A file of `len` bytes: the ELF header, the program headers, no sections (System V gABI, chapter 4).
fn elf(kind: u16, entry: u64, headers: &[Header], len: usize) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend(kind.to_le_bytes());
    file.extend(62_u16.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    for word in [entry, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend(0_u32.to_le_bytes());
    for half in [64, 56, u16::try_from(headers.len()).expect("few headers"), 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    for &(kind, flags, offset, vaddr, file_size, mem_size, align) in headers {
        file.extend(kind.to_le_bytes());
        file.extend(flags.to_le_bytes());
        for word in [offset, vaddr, vaddr, file_size, mem_size, align] {
            file.extend(word.to_le_bytes());
        }
    }
    // `xor edi, edi; mov eax, 231; syscall`: exit_group(0), wherever it is entered.
    file.extend([0x31, 0xff, 0xb8, 231, 0, 0, 0, 0x0f, 0x05]);
    file.resize(file.len().max(len), 0);
    file
}

const fn load(flags: u32, offset: u64, vaddr: u64, file_size: u64, mem_size: u64) -> Header {
    (LOAD, flags, offset, vaddr, file_size, mem_size, 4096)
}

pub(crate) fn files() -> Vec<Seed> {
    let text = load(RX, 0, 0x40_0000, 0x100, 0x100);
    let code = load(RX, 0x80, 0x40_0080, 0x80, 0x80);
    let data = load(RW, 0x100, 0x40_1100, 0x40, 0x5000);
    let bss = load(RW, 0, 0x40_2000, 0, 0x1000);
    let pie =
        [load(R, 0, 0, 0x100, 0x100), load(RX, 0x100, 0x1100, 0x40, 0x40), load(RW, 0x140, 0x2140, 8, 0x100)];
    let many: Vec<Header> = (0..17).map(|n| load(RX, 0, 0x40_0000 + n * 0x1000, 16, 16)).collect();
    let aligned = [(LOAD, RX, 0, 0, 0x100, 0x100, 0x20_0000)];
    let with = |extra: Header| elf(EXEC, 0x40_0080, &[text, extra], 0x140);
    let seeds: Vec<(&str, Vec<u8>)> = vec![
        ("static", elf(EXEC, 0x40_0078, &[text], 0x100)),
        ("no-headers", elf(EXEC, 0x40_0090, &[code], 0x100)),
        ("data", with(data)),
        ("bss", with(bss)),
        ("static-pie", elf(DYN, 0x1100, &pie, 0x148)),
        ("aligned-pie", elf(DYN, 0x78, &aligned, 0x100)),
        ("interpreter", with((3, R, 0x100, 0x40_0100, 8, 8, 1))),
        (
            "relro-stack-tls",
            elf(
                DYN,
                0x1100,
                &[
                    pie[0],
                    pie[1],
                    pie[2],
                    (0x6474_e551, RW, 0, 0, 0, 0, 16),
                    (7, R, 0x140, 0x2140, 8, 8, 8),
                    (0x6474_e552, R, 0x140, 0x2140, 8, 8, 1),
                ],
                0x148,
            ),
        ),
        ("write-execute", with(load(7, 0x100, 0x40_2100, 8, 8))),
        ("order", elf(EXEC, 0x40_0080, &[data, text], 0x140)),
        ("overlap", with(load(RX, 0x10, 0x40_0010, 8, 8))),
        ("shared-page", with(load(RW, 0x100, 0x40_0100, 8, 8))),
        ("same-rights", with(load(RX, 0x100, 0x40_0100, 8, 0x2000))),
        ("truncated", with(load(RW, 0x100, 0x40_1100, 0x9000, 0x9000))),
        ("file-size", with(load(RW, 0x100, 0x40_1100, 0x20, 0x10))),
        ("null-page", elf(EXEC, 0x78, &[load(RX, 0, 0, 0x100, 0x100)], 0x100)),
        ("last-page", elf(EXEC, 0x7fff_ffff_e080, &[load(RX, 0, 0x7fff_ffff_e000, 0x100, 0x1000)], 0x100)),
        (
            "kernel",
            elf(EXEC, 0xffff_ffff_8000_0078, &[load(RX, 0, 0xffff_ffff_8000_0000, 0x100, 0x100)], 0x100),
        ),
        ("wraps", elf(EXEC, 0x40_0078, &[load(RX, 0, 0x40_0000, 0x100, u64::MAX - 0x1000)], 0x100)),
        ("many", elf(EXEC, 0x40_0008, &many, 0x200)),
        ("entry", elf(EXEC, 0x50_0000, &[text], 0x100)),
        ("object", elf(1, 0, &[], 0)),
        ("nothing", elf(EXEC, 0x40_0000, &[], 0)),
        ("cut", elf(EXEC, 0x40_0080, &[text], 0x100)[..70].to_vec()),
        ("script", b"#!/bin/sh\necho no\n".to_vec()),
    ];
    seeds.into_iter().map(|(name, file)| (name.to_owned(), file)).collect()
}

/// A stack of the target's form.
fn stack(top: u64, argv: &[&[u8]], envp: &[&[u8]]) -> Vec<u8> {
    let mut seed = top.to_le_bytes().to_vec();
    seed.extend(0x078b_fbff_u32.to_le_bytes());
    seed.extend(*b"sixteen chances!");
    for (list, strings) in [(0, argv), (1, envp)] {
        for string in strings {
            seed.push(list);
            seed.extend(u16::try_from(string.len()).expect("a short string").to_le_bytes());
            seed.extend_from_slice(string);
        }
    }
    seed
}

pub(crate) fn stacks() -> Vec<Seed> {
    const TOP: u64 = 0x7fff_ffff_e000;
    let long = [b'x'; 400];
    // 120 more of it in each list: within the limit; then over it.
    let mut most = stack(TOP, &[&long], &[&long]);
    most[28] = 240;
    most[28 + 3 + long.len()] = 241;
    let over = [&most[..], &most[28..]].concat();
    let seeds: Vec<(&str, Vec<u8>)> = vec![
        ("none", stack(TOP, &[], &[])),
        ("one", stack(TOP, &[b"/bin/hello"], &[])),
        ("usual", stack(TOP, &[b"ls", b"-l", b"/tmp"], &[b"PATH=/bin", b"HOME=/"])),
        ("empty-strings", stack(TOP, &[b"", b""], &[b""])),
        ("environment", stack(TOP, &[], &[b"A=1", b"B=", b"=", b"C"])),
        ("nul", stack(TOP, &[b"a\0b"], &[])),
        ("unaligned", stack(TOP + 8, &[b"x"], &[])),
        ("low", stack(64, &[b"x"], &[])),
        ("just-fits", stack(320, &[b"x"], &[])),
        ("zero", stack(0, &[b"x"], &[])),
        ("highest", stack(u64::MAX - 15, &[b"x"], &[])),
        ("long", stack(TOP, &[&long], &[&long])),
        ("most", most),
        // The pointers alone are over the limit.
        ("many", [&stack(TOP, &[], &[])[..], &[0xfe, 0, 0].repeat(130)].concat()),
        ("over", over),
        ("utf-8", stack(TOP, &["grüße".as_bytes()], &["LANG=ä".as_bytes()])),
    ];
    seeds.into_iter().map(|(name, seed)| (name.to_owned(), seed)).collect()
}
