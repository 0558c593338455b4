//! Plans how an ELF program is loaded: what goes where with which rights. It maps nothing itself.
//!
//! Accepted are 64-bit little-endian x86-64 programs that need no interpreter: ET_EXEC, and ET_DYN as a
//! static-PIE, which relocates itself. (System V gABI chapters 4 and 5; x86-64 psABI.)

mod error;

use ::elf::ElfBytes;
use ::elf::abi::{EM_X86_64, ET_DYN, ET_EXEC, PF_R, PF_W, PF_X, PT_INTERP, PT_LOAD};
use ::elf::endian::LittleEndian;
use ::elf::file::Class;
use ::elf::segment::{ProgramHeader, SegmentTable};

pub use error::ElfError;

/// Size of a page in bytes.
pub const PAGE_SIZE: u64 = 4096;
/// Lowest address a program may use. Below it nothing is ever mapped, so that a null pointer with an offset
/// faults (Linux's default `vm.mmap_min_addr`).
pub const USER_MIN: u64 = 0x1_0000;
/// First address above what a program may use: the end of the lower canonical half less one guard page. A
/// `syscall` instruction at the very end of the half would make the kernel return to a non-canonical address.
pub const USER_END: u64 = 0x0000_8000_0000_0000 - PAGE_SIZE;
/// Most loadable segments of one program. Linkers make four to six.
pub const SEGMENTS_MAX: usize = 16;
/// Most program headers of one program.
pub const PROGRAM_HEADERS_MAX: usize = 64;
/// Greatest alignment that a segment may ask for.
pub const ALIGN_MAX: u64 = 1 << 30;

/// Rights on a stretch of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// Loads are allowed.
    pub read: bool,
    /// Stores are allowed.
    pub write: bool,
    /// Instructions may be fetched.
    pub execute: bool,
}

/// One loadable segment, already moved to where it goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First address; not always the start of a page.
    pub vaddr: u64,
    /// Bytes in memory, at least 1. What is beyond the bytes from the file is zero.
    pub mem_size: u64,
    /// Where its bytes start in the file.
    pub file_offset: usize,
    /// Bytes from the file, at most `mem_size`.
    pub file_size: usize,
    /// What the program may do there.
    pub rights: Rights,
}

impl Segment {
    /// Its bytes in the file; always inside the slice that was planned.
    #[must_use]
    pub const fn file_range(&self) -> core::ops::Range<usize> {
        self.file_offset..self.file_offset + self.file_size
    }

    /// First address after it.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.vaddr + self.mem_size
    }

    const fn contains(&self, address: u64) -> bool {
        self.vaddr <= address && address < self.end()
    }
}

/// Whole pages to map with the same rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address, a multiple of [`PAGE_SIZE`].
    pub start: u64,
    /// First address after it, a multiple of [`PAGE_SIZE`], greater than `start`.
    pub end: u64,
    /// What the program may do there.
    pub rights: Rights,
}

/// Where everything of a program goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadPlan {
    /// Address of the first instruction (AT_ENTRY).
    pub entry: u64,
    /// What was added to every address of the file: 0 for ET_EXEC.
    pub bias: u64,
    /// End of the last page of the last segment: where the heap (`brk`) may start.
    pub end: u64,
    /// Address of the program headers in memory (AT_PHDR); none if no segment loads them.
    pub phdr: Option<u64>,
    /// Size of a program header in bytes (AT_PHENT).
    pub phent: u16,
    /// Number of program headers (AT_PHNUM).
    pub phnum: u16,
    segments: [Segment; SEGMENTS_MAX],
    count: usize,
}

impl LoadPlan {
    /// The segments in ascending order; none overlap.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments[..self.count]
    }

    /// The pages to map, in ascending order; none overlap, and together they hold every segment. Where two
    /// segments with the same rights meet in a page, that page belongs to the first one's region.
    pub fn regions(&self) -> impl Iterator<Item = Region> + '_ {
        let mut mapped = 0;
        self.segments().iter().filter_map(move |segment| {
            let start = page_down(segment.vaddr).max(mapped);
            let end = page_up(segment.end());
            mapped = end;
            (start < end).then_some(Region { start, end, rights: segment.rights })
        })
    }
}

/// Plans the program in `bytes`. A position-independent one is placed at `pie_base`, or as little above it as
/// its alignment asks for.
///
/// # Errors
/// An [`ElfError`] that says what is wrong; [`ElfError::errno`] is what `execve` returns.
pub fn plan(bytes: &[u8], pie_base: u64) -> Result<LoadPlan, ElfError> {
    let file = parse(bytes)?;
    let headers = file.segments().ok_or(ElfError::NoSegments)?;
    if headers.len() > PROGRAM_HEADERS_MAX {
        return Err(ElfError::TooManySegments);
    }
    if headers.iter().any(|header| header.p_type == PT_INTERP) {
        return Err(ElfError::Dynamic);
    }
    let bias = match file.ehdr.e_type {
        ET_EXEC => 0,
        ET_DYN => place(&headers, pie_base)?,
        other => return Err(ElfError::Type(other)),
    };
    let mut plan = LoadPlan {
        entry: file.ehdr.e_entry.checked_add(bias).ok_or(ElfError::Entry(file.ehdr.e_entry))?,
        bias,
        end: 0,
        phdr: None,
        phent: file.ehdr.e_phentsize,
        phnum: file.ehdr.e_phnum,
        segments: [Segment::default(); SEGMENTS_MAX],
        count: 0,
    };
    for header in loadable(&headers) {
        add(&mut plan, segment(&header, bias, bytes.len())?)?;
    }
    finish(plan, file.ehdr.e_phoff)
}

/// Whether a file says that it is a program, sound or not.
#[must_use]
pub fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}

fn parse(bytes: &[u8]) -> Result<ElfBytes<'_, LittleEndian>, ElfError> {
    if !is_elf(bytes) {
        return Err(ElfError::NotElf);
    }
    let file = ElfBytes::<LittleEndian>::minimal_parse(bytes).map_err(|_| ElfError::Malformed)?;
    if file.ehdr.class != Class::ELF64 || file.ehdr.e_machine != EM_X86_64 {
        return Err(ElfError::Machine(file.ehdr.e_machine));
    }
    Ok(file)
}

fn loadable(headers: &SegmentTable<'_, LittleEndian>) -> impl Iterator<Item = ProgramHeader> {
    headers.iter().filter(|header| header.p_type == PT_LOAD && header.p_memsz > 0)
}

/// The bias of a position-independent program. Compilers rely on the alignment of segments, so the base is
/// rounded up to the greatest one.
fn place(headers: &SegmentTable<'_, LittleEndian>, pie_base: u64) -> Result<u64, ElfError> {
    let mut align = PAGE_SIZE;
    for header in loadable(headers) {
        let wanted = header.p_align.max(1);
        if !wanted.is_power_of_two() || wanted > ALIGN_MAX {
            return Err(ElfError::Align(header.p_align));
        }
        align = align.max(wanted);
    }
    pie_base.checked_next_multiple_of(align).ok_or(ElfError::OutsideUser(pie_base))
}

fn segment(header: &ProgramHeader, bias: u64, file_len: usize) -> Result<Segment, ElfError> {
    let rights = Rights {
        read: header.p_flags & PF_R != 0,
        write: header.p_flags & PF_W != 0,
        execute: header.p_flags & PF_X != 0,
    };
    if rights.write && rights.execute {
        return Err(ElfError::WriteExecute(header.p_vaddr));
    }
    if header.p_filesz > header.p_memsz {
        return Err(ElfError::FileSize(header.p_vaddr));
    }
    let cut = ElfError::Truncated(header.p_vaddr);
    let file_offset = usize::try_from(header.p_offset).map_err(|_| cut)?;
    let file_size = usize::try_from(header.p_filesz).map_err(|_| cut)?;
    if file_offset.checked_add(file_size).is_none_or(|end| end > file_len) {
        return Err(cut);
    }
    let outside = ElfError::OutsideUser(header.p_vaddr);
    let vaddr = header.p_vaddr.checked_add(bias).ok_or(outside)?;
    let end = vaddr.checked_add(header.p_memsz).ok_or(outside)?;
    if vaddr < USER_MIN || end > USER_END {
        return Err(outside);
    }
    Ok(Segment { vaddr, mem_size: header.p_memsz, file_offset, file_size, rights })
}

/// Takes the next segment in. The gABI wants them in ascending order, so only neighbours can collide.
fn add(plan: &mut LoadPlan, segment: Segment) -> Result<(), ElfError> {
    if let Some(last) = plan.segments().last() {
        if segment.vaddr < last.vaddr {
            return Err(ElfError::Order(segment.vaddr));
        }
        if segment.vaddr < last.end() {
            return Err(ElfError::Overlap(segment.vaddr));
        }
        // One page has one set of rights: to give it both would break W^X or open what should be closed.
        if page_down(segment.vaddr) < page_up(last.end()) && segment.rights != last.rights {
            return Err(ElfError::SharedPage(segment.vaddr));
        }
    }
    let slot = plan.segments.get_mut(plan.count).ok_or(ElfError::TooManySegments)?;
    *slot = segment;
    plan.count += 1;
    Ok(())
}

fn finish(mut plan: LoadPlan, phoff: u64) -> Result<LoadPlan, ElfError> {
    let last = plan.segments().last().ok_or(ElfError::NoSegments)?;
    plan.end = page_up(last.end());
    if !plan.segments().iter().any(|segment| segment.rights.execute && segment.contains(plan.entry)) {
        return Err(ElfError::Entry(plan.entry));
    }
    plan.phdr = phdr_address(&plan, phoff);
    Ok(plan)
}

/// Where the segment that holds the program headers puts them.
fn phdr_address(plan: &LoadPlan, phoff: u64) -> Option<u64> {
    let offset = usize::try_from(phoff).ok()?;
    let end = offset.checked_add(usize::from(plan.phent) * usize::from(plan.phnum))?;
    let holder = plan.segments().iter().find(|segment| {
        let range = segment.file_range();
        range.start <= offset && end <= range.end
    })?;
    Some(holder.vaddr + (offset - holder.file_offset) as u64)
}

const fn page_down(address: u64) -> u64 {
    address & !(PAGE_SIZE - 1)
}

/// Callers stay below [`USER_END`], so this cannot overflow.
const fn page_up(address: u64) -> u64 {
    page_down(address + (PAGE_SIZE - 1))
}
