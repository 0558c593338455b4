/* Memory: mmap, mprotect, munmap, brk, limits, and what a fault is. */
#include "conformance.h"

#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
#define BOTH (PROT_READ | PROT_WRITE)

static long map(unsigned long at, unsigned long length, int rights, int flags, long fd, long offset) {
    return call(SYS_mmap, at, length, rights, flags, fd, offset);
}

/* mmap's result: `ok`, or the error. What was mapped goes again. */
static void maps(const char *name, unsigned long length, int rights, int flags, long fd, long offset) {
    long got = map(0, length, rights, flags, fd, offset);
    works(name, got);
    if (got > 0 || got < -4095) call(SYS_munmap, got, length);
}

enum { READS, WRITES, JUMPS };

/* How a child ends that does this at an address. */
static void touches(const char *name, int how, volatile char *at) {
    long child;
    CHILD(child) {
        /* Through a register that implies no segment: by rbp it would be another fault. */
        if (how == READS) __asm__ volatile("movb (%0), %%cl" ::"a"(at) : "rcx");
        else if (how == WRITES) *at = (char)0xc3; /* ret */
        else ((void (*)(void))at)();
    }
    ends(name, child);
}

static void mapping(void) {
    volatile char *got = (volatile char *)map(0, 3 * PAGE + 5, BOTH, ANONYMOUS, -1, 0);
    works("mmap", (long)got);
    int all = 0;
    for (unsigned long i = 0; i < 4 * PAGE; i++) all |= got[i];
    is("it is zero", all);
    got[0] = 1, got[4 * PAGE - 1] = 2;
    is("to the end of its last page", got[0] + got[4 * PAGE - 1]);
    is("munmap of the second page", call(SYS_munmap, got + PAGE, PAGE));
    touches("the second page", READS, got + PAGE);
    touches("the first page", READS, got);
    touches("the third page", WRITES, got + 2 * PAGE);
    is("munmap over the hole", call(SYS_munmap, got, 4 * PAGE));
    touches("the first page then", READS, got);
    is("munmap of nothing", call(SYS_munmap, got, 4 * PAGE));
    is("munmap of no length", call(SYS_munmap, got, 0));
    is("munmap of half a page", call(SYS_munmap, got, 5));
    is("munmap at half a page", call(SYS_munmap, got + 5, PAGE));
    is("munmap of the kernel", call(SYS_munmap, 0xffff800000000000, PAGE));
    is("munmap that wraps", call(SYS_munmap, -PAGE, 2 * PAGE));
    is("munmap of everything there can be", call(SYS_munmap, 0, ~0ul));
    maps("mmap of no length", 0, BOTH, ANONYMOUS, -1, 0);
    maps("mmap of one byte", 1, BOTH, ANONYMOUS, -1, 0);
    maps("mmap without rights", PAGE, PROT_NONE, ANONYMOUS, -1, 0);
    maps("mmap neither private nor shared", PAGE, BOTH, MAP_ANONYMOUS, -1, 0);
    maps("mmap of more than an address can be", ~0ul, BOTH, ANONYMOUS, -1, 0);
    maps("mmap of more than there are addresses", 1ul << 47, BOTH, ANONYMOUS, -1, 0);
    maps("mmap of a file that is none", PAGE, PROT_READ, MAP_PRIVATE, -1, 0);
    maps("mmap of a bad descriptor", PAGE, PROT_READ, MAP_PRIVATE, 77, 0);
    maps("mmap of nothing with a descriptor", PAGE, BOTH, ANONYMOUS, 77, 0);
    maps("mmap at half a page of a file", PAGE, PROT_READ, MAP_PRIVATE, 0, 5);
    maps("mmap with writing and execution", PAGE, BOTH | PROT_EXEC, ANONYMOUS, -1, 0);
    maps("mmap with a hint", PAGE, BOTH, ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    maps("mmap shared", PAGE, BOTH, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void fixed(void) {
    char *area = (char *)map(0, 3 * PAGE, BOTH, ANONYMOUS, -1, 0);
    memset(area, 'x', 3 * PAGE);
    holds("mmap at an address", map((long)area + PAGE, PAGE, BOTH, ANONYMOUS | MAP_FIXED, -1, 0) == (long)area + (long)PAGE);
    say("what is there: %d, and around it: %c%c", area[PAGE], area[PAGE - 1], area[2 * PAGE]);
    is("mmap at half a page", map((long)area + 5, PAGE, BOTH, ANONYMOUS | MAP_FIXED, -1, 0));
    is("mmap at the kernel", map(0xffff800000000000, PAGE, BOTH, ANONYMOUS | MAP_FIXED, -1, 0));
    is("mmap at the end of addresses", map(0x7ffffffff000, PAGE, BOTH, ANONYMOUS | MAP_FIXED, -1, 0));
    is("mmap where something is", map((long)area, PAGE, BOTH, ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    call(SYS_munmap, area + PAGE, PAGE);
    holds("mmap where nothing is", map((long)area + PAGE, PAGE, BOTH, ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == (long)area + (long)PAGE);
    holds("a hint elsewhere is no error", map((long)area, PAGE, BOTH, ANONYMOUS, -1, 0) > 0);
    call(SYS_munmap, area, 3 * PAGE);
}

static void protecting(void) {
    char *area = (char *)map(0, 4 * PAGE, BOTH, ANONYMOUS, -1, 0);
    memset(area, 0xc3, 4 * PAGE);
    is("mprotect to reading", call(SYS_mprotect, area + PAGE, PAGE, PROT_READ));
    touches("reading it", READS, area + PAGE);
    touches("writing it", WRITES, area + PAGE);
    touches("writing before it", WRITES, area + PAGE - 1);
    touches("writing after it", WRITES, area + 2 * PAGE);
    is("mprotect to nothing", call(SYS_mprotect, area + PAGE, PAGE, PROT_NONE));
    touches("reading that", READS, area + PAGE);
    is("mprotect back", call(SYS_mprotect, area + PAGE, PAGE, BOTH));
    is("which kept what was in it", area[PAGE] & 0xff);
    touches("jumping to data", JUMPS, area);
    is("mprotect to execution", call(SYS_mprotect, area, PAGE, PROT_READ | PROT_EXEC));
    touches("jumping to code", JUMPS, area);
    touches("writing code", WRITES, area);
    is("mprotect to all rights", call(SYS_mprotect, area + PAGE, PAGE, BOTH | PROT_EXEC));
    is("mprotect with a right that nobody knows", call(SYS_mprotect, area, PAGE, 1 << 20));
    is("mprotect of no length", call(SYS_mprotect, area, 0, PROT_READ));
    is("mprotect at half a page", call(SYS_mprotect, area + 5, PAGE, PROT_READ));
    call(SYS_munmap, area + 2 * PAGE, PAGE);
    is("mprotect over a hole", call(SYS_mprotect, area, 4 * PAGE, PROT_READ));
    is("mprotect of the kernel", call(SYS_mprotect, 0xffff800000000000, PAGE, PROT_READ));
    is("mprotect that wraps", call(SYS_mprotect, area, ~0ul, PROT_READ));
    call(SYS_munmap, area, 4 * PAGE);
}

static void heap(void) {
    long start = call(SYS_brk, 0);
    holds("brk", start > 0);
    holds("brk grows", call(SYS_brk, start + 3 * PAGE + 100) == start + 3 * (long)PAGE + 100);
    char *data = (char *)start;
    int all = 0;
    for (unsigned long i = 0; i < 3 * PAGE + 100; i++) all |= data[i];
    is("what grew is zero", all);
    memset(data, 'x', 3 * PAGE);
    holds("brk shrinks", call(SYS_brk, start + 100) == start + 100);
    holds("and grows again", call(SYS_brk, start + 3 * PAGE) == start + 3 * (long)PAGE);
    is("zero again", data[2 * PAGE + 100]);
    is("but not the page that stayed", data[0]);
    holds("brk to the kernel does nothing", call(SYS_brk, 0xffff800000000000) == start + 3 * (long)PAGE);
    holds("brk below the start does nothing", call(SYS_brk, 1) == start + 3 * (long)PAGE);
    holds("brk back to the start", call(SYS_brk, start) == start);
    /* By the C library, through brk and mmap. */
    char *blocks[64];
    int wrong = 0;
    for (int i = 0; i < 64; i++) {
        blocks[i] = malloc(1000 + i * 5000);
        if (blocks[i]) memset(blocks[i], i, 1000 + i * 5000);
    }
    for (int i = 0; i < 64; i++) {
        wrong += !blocks[i] || blocks[i][0] != i || blocks[i][999 + i * 5000] != i;
        blocks[i] = realloc(blocks[i], 2000 + i * 7000);
        wrong += !blocks[i] || blocks[i][999 + i * 5000] != i;
    }
    for (int i = 0; i < 64; i++) free(blocks[i]);
    is("wrong bytes of malloc and realloc", wrong);
}

static const char constant[] = "constant";
static int recursion(int depth) {
    volatile char room[1000];
    room[0] = (char)depth;
    return depth ? recursion(depth - 1) + room[0] - (char)depth : 0;
}

static void kinds_of_faults(void) {
    touches("reading null", READS, 0);
    touches("writing null", WRITES, 0);
    touches("reading the kernel", READS, (volatile char *)0xffffffff80200000);
    touches("writing the kernel", WRITES, (volatile char *)0xffff800000000000);
    touches("jumping to the kernel", JUMPS, (volatile char *)0xffffffff80200000);
    touches("an address that is not canonical", READS, (volatile char *)0x8000000000000000);
    touches("jumping to null", JUMPS, 0);
    touches("writing a constant", WRITES, (volatile char *)constant);
    touches("writing code of the program", WRITES, (volatile char *)recursion);
    touches("reading code of the program", READS, (volatile char *)recursion);
    touches("jumping to a constant", JUMPS, (volatile char *)constant);
    char local = 0;
    touches("jumping to the stack", JUMPS, &local);
    is("6 MB of stack", recursion(6000));
    long child;
    CHILD(child) is("more than there is", recursion(100000000));
    ends("a stack that overflows", child);
}

static void of_files(void) {
    make_file("mapped", "0123456789");
    long fd = call(SYS_open, "mapped", O_RDWR);
    long got = map(0, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    if (got < 0 && got > -4096) is("mmap of a file", got);
    else say("mmap of a file: %.10s", (char *)got);
    maps("mmap of a file, private and writable", PAGE, BOTH, MAP_PRIVATE, fd, 0);
    maps("mmap of a file, shared", PAGE, BOTH, MAP_SHARED, fd, 0);
    call(SYS_close, fd);
}

static void limits(void) {
    struct rlimit files, wrong = { 5, 4 };
    is("prlimit64", call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, &files));
    holds("of descriptors", files.rlim_cur >= 256 && files.rlim_cur <= files.rlim_max);
    is("prlimit64 of the stack", call(SYS_prlimit64, 0, RLIMIT_STACK, 0, &files));
    holds("a stack of at least 8 MiB", files.rlim_cur >= 8 << 20);
    is("a limit that nobody knows", call(SYS_prlimit64, 0, 99, 0, &files));
    is("a limit -1", call(SYS_prlimit64, 0, -1, 0, &files));
    is("a process that is missing", call(SYS_prlimit64, 4000000, RLIMIT_NOFILE, 0, &files));
    is("a soft limit over the hard one", call(SYS_prlimit64, 0, RLIMIT_NOFILE, &wrong, 0));
}

static void checks(int argc, char **argv) {
    (void)argc, (void)argv;
    mapping();
    fixed();
    protecting();
    heap();
    kinds_of_faults();
    of_files();
    limits();
}
