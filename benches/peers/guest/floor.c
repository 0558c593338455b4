/*
 * The least that boots: what a machine and its ports can do without a kernel. Entered by PVH in 32-bit protected mode with
 * flat segments and paging off. It says so on COM1 and then serves commands on COM2, each one byte and a count of four,
 * lowest byte first:
 *
 *     'T'  sends so many bytes
 *     'R'  takes so many bytes by interrupt, then answers with their sum (four bytes)
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

enum { COM1 = 0x3f8, COM2 = 0x2f8, LSR = 5, READY = 1, EMPTY = 0x20, FIFO = 16 };
enum { PIC1 = 0x20, PIC2 = 0xa0, VECTORS = 0x20, COM2_LINE = 3 };

__asm__(".section .note.Xen, \"a\", @note\n"
        ".align 4\n"
        ".long 4, 4, 18\n" /* XEN_ELFNOTE_PHYS32_ENTRY */
        ".asciz \"Xen\"\n"
        ".long entry\n"
        ".text\n"
        ".globl entry\n"
        "entry:\n"
        "  movl $stack_top, %esp\n"
        "  call run\n"
        ".bss\n"
        ".align 16\n"
        ".skip 4096\n"
        "stack_top:\n"
        ".text\n");

static void out(u16 port, u8 value) { __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port)); }

static u8 in(u16 port) {
    u8 value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

/* Divisor 1, eight bits, FIFOs on with the receive trigger at 14 bytes; the interrupt line is connected. */
static void open_port(u16 port) {
    out(port + 1, 0);
    out(port + 3, 0x80);
    out(port, 1);
    out(port + 1, 0);
    out(port + 3, 3);
    out(port + 2, 0xc7);
    out(port + 4, 0x0b);
}

static void send(u16 port, u8 value) {
    while (!(in(port + LSR) & EMPTY)) {}
    out(port, value);
}

static volatile u32 taken, sum;

/* All that has come, and no more than is there: the FIFO's own interrupt comes again for the rest. */
__attribute__((used)) static void on_com2(void) {
    while (in(COM2 + LSR) & READY) {
        sum += in(COM2);
        taken++;
    }
    out(PIC1, 0x20);
}

__asm__(".globl com2_gate\n"
        "com2_gate:\n"
        "  pusha\n"
        "  cld\n"
        "  call on_com2\n"
        "  popa\n"
        "  iret\n");
extern void com2_gate(void);

static u64 segments[3] = {0, 0x00cf9a000000ffffULL, 0x00cf92000000ffffULL};
static u64 gates[VECTORS + COM2_LINE + 1];
struct table {
    u16 limit;
    u32 base;
} __attribute__((packed));

/* One interrupt line, COM2's; all others stay closed. */
static void open_interrupts(void) {
    struct table gdt = {sizeof segments - 1, (u32)segments}, idt = {sizeof gates - 1, (u32)gates};
    u32 gate = (u32)com2_gate;
    gates[VECTORS + COM2_LINE] = (u64)(gate & 0xffff0000) << 32 | 0x8e0000080000ULL | (gate & 0xffff);
    __asm__ volatile("lgdt %0\n"
                     "ljmp $8, $1f\n"
                     "1: movw $16, %%ax\n"
                     "movw %%ax, %%ds\n"
                     "movw %%ax, %%es\n"
                     "movw %%ax, %%ss\n"
                     "lidt %1"
                     :
                     : "m"(gdt), "m"(idt)
                     : "eax", "memory");
    static const u8 words[2][4] = {{0x11, VECTORS, 4, 1}, {0x11, VECTORS + 8, 2, 1}};
    for (int i = 0; i < 4; i++) {
        out(PIC1 + (i > 0), words[0][i]);
        out(PIC2 + (i > 0), words[1][i]);
    }
    out(PIC1 + 1, (u8)~(1 << COM2_LINE));
    out(PIC2 + 1, 0xff);
}

static u8 take(void) {
    while (!(in(COM2 + LSR) & READY)) {}
    return in(COM2);
}

static void transmit(u32 count) {
    for (u32 i = 0; i < count; i++) {
        if (i % FIFO == 0)
            while (!(in(COM2 + LSR) & EMPTY)) {}
        out(COM2, (u8)i);
    }
}

static void receive(u32 count) {
    taken = sum = 0;
    out(COM2 + 1, 1);
    for (;;) {
        __asm__ volatile("cli");
        if (taken >= count) break;
        __asm__ volatile("sti; hlt");
    }
    out(COM2 + 1, 0);
    for (int i = 0; i < 4; i++) send(COM2, (u8)(sum >> 8 * i));
}

__attribute__((used)) static void run(void) {
    open_port(COM1);
    for (const char *text = "askr-floor\n"; *text; text++) send(COM1, (u8)*text);
    open_port(COM2);
    open_interrupts();
    /* Whoever measures sends nothing before this: a FIFO that is switched on forgets what it had. */
    send(COM2, '!');
    for (;;) {
        u8 command = take();
        u32 count = 0;
        for (int i = 0; i < 4; i++) count |= (u32)take() << 8 * i;
        if (command == 'T') transmit(count);
        if (command == 'R') receive(count);
    }
}
