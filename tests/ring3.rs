//! What programs do stays with them: crashes, bad files, bad pointers, registers, the processor.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use askr::{ExtraFile, Machine};
use common::program::{Link, compiled, program};
use common::shell::{Askr, Shared, number_after};

static GUEST: Shared = Shared::new(machine);

fn machine() -> Machine {
    let greet = compiled("greet", "greet", Link::Static);
    let whole = fs::read(&greet).unwrap();
    let mut cut = whole[..whole.len() / 4].to_vec();
    let cut_with_sections = file("cut-with-sections", &cut, 0o755);
    // e_shoff, e_shnum and e_shstrndx: without sections only the segments are missing.
    cut[40..48].fill(0);
    cut[60..64].fill(0);
    let files = [
        ("greet", greet),
        ("greet-pie", compiled("greet", "greet-pie", Link::StaticPie)),
        ("dynamic", compiled("libc", "dynamic", Link::Dynamic)),
        ("writable", compiled("greet", "writable", Link::WritableCode)),
        ("high", compiled("unknown", "high", Link::At("0x7ffffffff000"))),
        ("low", compiled("unknown", "low", Link::At("0x1000"))),
        ("cut-with-sections", cut_with_sections),
        ("cut", file("cut", &cut, 0o755)),
        ("head", file("head", &cut[..40], 0o755)),
        ("data", file("data", b"echo no\0\n", 0o755)),
        ("empty", file("empty", b"", 0o755)),
        ("text", file("text", b"echo $0 $1; exit 3\n", 0o755)),
        ("plain", file("plain", &whole, 0o644)),
    ];
    let own = ["pointers", "unknown", "hazard"].map(program);
    let files = files.map(|(name, host)| ExtraFile { host, guest: format!("/bin/{name}") });
    files.into_iter().chain(own).fold(Machine::new(), Machine::with)
}

fn file(name: &str, content: &[u8], mode: u32) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// Frames of memory that are free, in KiB.
fn free_memory(askr: &mut Askr) -> u64 {
    number_after(&askr.run("cat /proc/meminfo"), "MemFree:")
}

#[test]
fn every_kind_of_crash_ends_with_its_signal_and_the_rest_lives() {
    let mut askr = GUEST.take();
    let spinner = number_after(&askr.run("spin &"), "] ");
    for (kind, signal, report, why, vector, error) in [
        ("null", 11, "page fault\r\n  write to 0x0", "no memory there", 14, 6),
        ("read", 11, "page fault\r\n  read of 0x0", "no memory there", 14, 4),
        ("kernel", 11, "page fault\r\n  read of 0xffffffff80200000", "not allowed", 14, 5),
        ("jump", 11, "page fault\r\n  execution at 0x10", "no memory there", 14, 0x14),
        ("call", 11, "page fault\r\n  execution at 0xffffffff80200000", "not allowed", 14, 0x15),
        ("far", 11, "general protection fault", "", 13, 0),
        ("exec", 11, "page fault\r\n  execution at 0x7ff", "not allowed", 14, 0x15),
        ("text", 11, "page fault\r\n  write to 0x", "not allowed", 14, 7),
        ("stack", 11, "page fault\r\n  write to 0x7ff", "no memory there", 14, 6),
        ("ud", 4, "invalid instruction", "", 6, 0),
        ("div", 8, "division error", "", 0, 0),
        ("gp", 11, "general protection fault", "", 13, 0),
        ("hlt", 11, "general protection fault", "", 13, 0),
        ("int3", 5, "breakpoint", "", 3, 0),
    ] {
        let shown = askr.run(&format!("crash {kind}"));
        assert!(shown.contains(&format!("ended by signal {signal}: {report}")), "{kind}: {shown}");
        assert!(why.is_empty() || shown.contains(&format!(": {why}\r\n  rip ")), "{kind}: {shown}");
        assert!(shown.contains(&format!(" vector {vector} error {error:#x}\r\n")), "{kind}: {shown}");
        for register in ["rip ", "rax ", "rbp ", "rsp ", "r15 ", "rflags "] {
            assert!(shown.contains(register), "{kind}: {register}: {shown}");
        }
        assert!(shown.contains("\r\n  #0 0000"), "{kind} has no backtrace: {shown}");
        assert!(shown.lines().all(|line| line.len() <= 80), "{kind}: {shown}");
        assert!(shown.contains(&format!("\ncrash: killed by signal {signal} (")), "{kind}: {shown}");
    }
    let panic = askr.run("crash panic; echo $?");
    assert!(panic.contains("crash: panicked at ") && panic.ends_with("101\r\n"), "{panic}");
    assert!(askr.run("ps").contains(" spin\r\n"), "a neighbour died too");
    askr.run(&format!("kill {spinner}; wait"));
}

#[test]
fn crashed_programs_give_everything_back() {
    let mut askr = GUEST.take();
    let again = "crash null; crash stack; crash exec; greet; high; cut";
    askr.run(again);
    let before = free_memory(&mut askr);
    for _ in 0..5 {
        askr.run(again);
    }
    // One overflown stack alone is 8 MiB.
    let after = free_memory(&mut askr);
    assert!(after + 256 >= before, "{} KiB are gone", before - after);
}

#[test]
fn static_programs_run_wherever_they_are_linked() {
    let mut askr = GUEST.take();
    for name in ["greet", "greet-pie"] {
        assert_eq!(askr.run(&format!("{name} a last")), "loaded well, argc 3, last last\r\n", "{name}");
        assert_eq!(askr.status(), 42);
    }
}

#[test]
fn a_file_of_commands_runs_without_saying_what_it_is() {
    let mut askr = GUEST.take();
    assert_eq!(askr.run("text one"), "/bin/text one\r\n");
    assert_eq!(askr.status(), 3);
    assert_eq!(askr.run("empty"), "");
    assert_eq!(askr.status(), 0);
}

#[test]
fn a_file_that_is_no_program_for_here_is_refused_with_the_reason() {
    let mut askr = GUEST.take();
    let before = askr.run("ps");
    for (name, reason, errno) in [
        ("dynamic", "needs a dynamic linker: link it with -static", "Exec format error"),
        ("writable", "writable and executable", "Exec format error"),
        ("high", "lies outside the space of programs", "Cannot allocate memory"),
        ("low", "lies outside the space of programs", "Cannot allocate memory"),
        ("cut", "the file ends inside the segment at 0x", "Exec format error"),
        ("cut-with-sections", "cut off", "Exec format error"),
        ("head", "ELF header cut off", "Exec format error"),
        ("data", "", "Exec format error"),
        ("plain", "", "Permission denied"),
    ] {
        let shown = askr.run(name);
        assert!(shown.contains(reason), "{name}: {shown}");
        assert!(shown.ends_with(&format!("sh: {name}: {errno}\r\n")), "{name}: {shown}");
        assert_eq!(askr.status(), 126, "{name}");
    }
    assert_eq!(askr.run("ps").lines().count(), before.lines().count());
    assert_eq!(askr.run("/etc/motd"), "sh: /etc/motd: Permission denied\r\n");
    assert_eq!(askr.run("/bin"), "sh: /bin: Permission denied\r\n");
}

#[test]
fn bad_pointers_are_refused_and_harm_nothing() {
    let mut askr = GUEST.take();
    assert_eq!(askr.run("pointers"), "all pointers were refused\r\n");
}

#[test]
fn calls_that_do_not_exist_are_told_once() {
    let mut askr = GUEST.take();
    let shown = askr.run("unknown");
    let pid = number_after(&shown, "unknown[");
    let nameless = [
        "511",
        "512",
        "4151",
        "4154",
        "4160",
        "2147483648",
        "4294967296",
        "9223372036854775808",
        "18446744073709551615",
    ]
    .map(|number| format!("{number} (without a name)"));
    // 41 comes twice.
    let calls = std::iter::once("41 (socket)".to_owned()).chain(nameless);
    let told: String = calls
        .map(|call| format!("unknown[{pid}]: system call {call} does not exist here (ENOSYS)\r\n"))
        .collect();
    assert_eq!(shown, told + "all of them ENOSYS\r\n");
}

#[test]
fn no_way_back_to_user_mode_or_into_the_kernel_harms_others() {
    let mut askr = GUEST.take();
    for (kind, signal) in [
        ('a', 11),
        ('b', 11),
        ('c', 11),
        ('d', 11),
        ('f', 4),
        ('g', 5),
        ('i', 11),
        ('j', 11),
        ('k', 11),
        ('m', 11),
        ('n', 11),
        ('o', 11),
        ('p', 11),
        ('q', 11),
        ('r', 11),
    ] {
        let shown = askr.run(&format!("hazard {kind}"));
        assert!(shown.contains(&format!("hazard: killed by signal {signal} (")), "{kind}: {shown}");
    }
    // A push to no canonical address is #SS, or #PF as QEMU has it; SYSENTER is #GP on Intel's processors and #UD
    // on AMD's.
    for (kind, signals) in [('e', [7, 11]), ('l', [4, 11])] {
        let shown = askr.run(&format!("hazard {kind}"));
        let ended = |signal| shown.contains(&format!("hazard: killed by signal {signal} ("));
        assert!(signals.into_iter().any(ended), "{kind}: {shown}");
    }
    assert_eq!(askr.run("hazard h"), "still here\r\n");
    assert!(askr.run("hello").starts_with("hello from pid "));
}

#[test]
fn vector_registers_of_two_programs_never_mix() {
    let mut askr = GUEST.take();
    let shown = askr.run("xmm 200 & xmm 200 & xmm 200; wait");
    assert_eq!(shown.matches("xmm ok 200 rounds\r\n").count(), 3, "{shown}");
    assert!(!shown.contains("MIXED"), "{shown}");
}

/// Seconds, by the guest's clock, that sixteen short programs take one after the other.
fn time_of_short_programs(askr: &mut Askr) -> f64 {
    let line = format!("cat /proc/uptime; {} cat /proc/uptime", "true; ".repeat(16));
    let shown = askr.run(&line);
    let times: Vec<f64> =
        shown.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    times[1] - times[0]
}

#[test]
fn a_program_that_never_gives_up_the_processor_does_not_have_it_alone() {
    let mut askr = GUEST.take();
    let undisturbed = time_of_short_programs(&mut askr);
    let spinners = [(); 2].map(|()| number_after(&askr.run("spin &"), "] "));
    let disturbed = time_of_short_programs(&mut askr);
    eprintln!("{undisturbed} s alone, {disturbed} s beside two that spin");
    // A turn is one tick of 10 ms, and each program needs a few. Where the spinners are interrupted only by chance,
    // a turn is up to a second.
    assert!(disturbed < 10.0 * undisturbed + 5.0, "{disturbed} s, and alone {undisturbed} s");
    askr.run(&format!("kill -9 {} {}; wait", spinners[0], spinners[1]));
    assert!(!askr.run("ps").contains("spin"));
}

#[test]
fn orphans_and_many_short_lives_leave_no_zombies() {
    let mut askr = GUEST.take();
    let before = askr.run("ps").lines().count();
    // The inner shells end before their children.
    askr.run("sh -c 'sleep 0.2 & sleep 0.3 & true'; sh -c 'true & false &'");
    for _ in 0..10 {
        askr.run("true & true & true & true & true & true & true & true & wait");
    }
    askr.run("sleep 0.5");
    assert_eq!(askr.run("ps").lines().count(), before);
}
