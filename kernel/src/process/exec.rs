//! Starting programs: `execve`, `fork`, and the first process.

use super::{Files, INIT, Pid, Process, Signals, files, table};
use crate::arch::clock;
use crate::arch::context;
use crate::arch::cpu::VectorState;
use crate::arch::trap::TrapFrame;
use crate::mm::{AddressSpace, KernelStack, STACK_TOP};
use crate::sched::{self, Task};
use crate::{bus, fs, kprintln, random};
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_agentbus::policy::Origin;
use askr_core::elf::{self, LoadPlan};
use askr_core::limits::Limits;
use askr_core::stack::{self, StackSpec};
use askr_core::told::Told;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use spin::Mutex;

/// Where position-independent programs are put.
const PIE_BASE: u64 = 0x5555_5555_0000;
/// Largest program file.
const PROGRAM_MAX: u64 = 64 << 20;

/// A program in memory, ready to start.
struct Image {
    space: AddressSpace,
    entry: u64,
    rsp: u64,
    name: Vec<u8>,
}

impl Image {
    fn load(
        origin: Origin,
        cwd: &[u8],
        path: &[u8],
        argv: &[Vec<u8>],
        envp: &[Vec<u8>],
        limits: &Limits,
    ) -> Result<Self, Errno> {
        let (bytes, canonical) = fs::read_program(origin, cwd, path, PROGRAM_MAX)?;
        let plan = elf::plan(&bytes, PIE_BASE).map_err(|error| {
            kprintln!("{}: {error}", canonical.escape_ascii());
            error.errno()
        })?;
        let mut space = AddressSpace::new(limits)?;
        map(&mut space, &plan, &bytes)?;
        let spec = StackSpec {
            top: STACK_TOP,
            argv,
            envp,
            exec_path: path,
            random: random::bytes(),
            hwcap: crate::arch::cpu::hwcap(),
        };
        let image = stack::build(&spec, &plan)?;
        if STACK_TOP - image.rsp > limits.stack() / 4 * 3 {
            return Err(Errno::E2BIG); // nothing would be left for the program itself
        }
        space.load(image.rsp, &image.bytes)?;
        let name = canonical.rsplit(|&byte| byte == b'/').next().unwrap_or(&canonical).to_vec();
        Ok(Self { space, entry: plan.entry, rsp: image.rsp, name })
    }
}

fn map(space: &mut AddressSpace, plan: &LoadPlan, bytes: &[u8]) -> Result<(), Errno> {
    for region in plan.regions() {
        space.add_area(region.start..region.end, region.rights)?;
    }
    for segment in plan.segments() {
        space.load(segment.vaddr, &bytes[segment.file_range()])?;
    }
    space.set_heap_start(plan.end);
    Ok(())
}

/// `execve`: replaces the program of the running process. On success `frame` starts the new one.
///
/// # Errors
/// What opening the file says; ENOEXEC, E2BIG, ENOMEM. On error the old program goes on unharmed.
pub(crate) fn execute(
    frame: &mut TrapFrame,
    path: &[u8],
    argv: &[Vec<u8>],
    envp: &[Vec<u8>],
) -> Result<(), Errno> {
    let task = sched::current();
    let process = task.process().ok_or(Errno::ESRCH)?;
    let image = Image::load(process.origin, &process.cwd(), path, argv, envp, &process.limits())?;
    process.root.store(image.space.root(), Ordering::Relaxed);
    let old = process.space.lock().replace(image.space);
    *process.name.lock() = image.name;
    let closed = process.files.lock().take_close_on_exec();
    *process.missing_calls.lock() = Told::new();
    process.fs_base.store(0, Ordering::Relaxed);
    // SAFETY: the process runs this itself; see the Sync implementation of Process.
    unsafe { *process.vector.get() = VectorState::new() };
    process.enter_processor();
    drop((old, closed));
    bus::process_started(process);
    *frame = TrapFrame::user(image.entry, image.rsp);
    Ok(())
}

/// `fork`: a copy of the running process that returns 0 from the same call. Returns the child's number.
///
/// # Errors
/// EAGAIN with too many processes, ENOMEM.
pub(crate) fn fork(frame: &TrapFrame) -> Result<Pid, Errno> {
    let task = sched::current();
    let parent = task.process().ok_or(Errno::ESRCH)?;
    let limits = parent.limits();
    let pid = table::allocate_pid(limits.processes())?;
    let space = parent.with_space(|space| space.duplicate())?;
    // SAFETY: the process runs this itself; the registers are the processor's until saved here.
    let vector = unsafe {
        (*parent.vector.get()).save();
        (*parent.vector.get()).clone()
    };
    let child = Process {
        pid,
        origin: parent.origin,
        parent: AtomicU32::new(parent.pid),
        group: AtomicU32::new(parent.group()),
        name: Mutex::new(parent.name()),
        root: AtomicU64::new(space.root()),
        space: Mutex::new(Some(space)),
        files: Mutex::new(parent.files.lock().clone()),
        cwd: Mutex::new(parent.cwd()),
        limits: Mutex::new(limits),
        vector: UnsafeCell::new(vector),
        fs_base: AtomicU64::new(parent.fs_base()),
        signals: parent.signals.inherit(),
        ending: Mutex::new(None),
        zombie: Mutex::new(None),
        missing_calls: Mutex::new(*parent.missing_calls.lock()),
        announced: AtomicBool::new(false),
        started: clock::now(),
    };
    let mut child_frame = *frame;
    child_frame.rax = 0;
    sched::start(prepare(child, &child_frame)?);
    Ok(pid)
}

/// Starts the first process from the program at `path`.
///
/// # Errors
/// What loading it says.
pub(crate) fn spawn_init(path: &[u8]) -> Result<(), Errno> {
    let limits = Limits::new(table::PROCESSES_MAX as u64, files::DESCRIPTORS_MAX as u64);
    let (argv, envp) = ([path.to_vec()], [b"PATH=/bin".to_vec()]);
    let mut image = Image::load(Origin::Kernel, b"/", path, &argv, &envp, &limits)?;
    image.space.make_essential();
    let pid = table::allocate_pid(limits.processes())?;
    let process = Process {
        pid,
        origin: Origin::Console,
        parent: AtomicU32::new(0),
        group: AtomicU32::new(pid),
        name: Mutex::new(image.name),
        root: AtomicU64::new(image.space.root()),
        space: Mutex::new(Some(image.space)),
        files: Mutex::new(Files::on_console()?),
        cwd: Mutex::new(b"/".to_vec()),
        limits: Mutex::new(limits),
        vector: UnsafeCell::new(VectorState::new()),
        fs_base: AtomicU64::new(0),
        signals: Signals::default(),
        ending: Mutex::new(None),
        zombie: Mutex::new(None),
        missing_calls: Mutex::new(Told::new()),
        announced: AtomicBool::new(false),
        started: clock::now(),
    };
    debug_assert_eq!(pid, INIT);
    let task = prepare(process, &TrapFrame::user(image.entry, image.rsp))?;
    bus::process_started(task.process().expect("made with one"));
    sched::start(task);
    Ok(())
}

fn prepare(process: Process, frame: &TrapFrame) -> Result<Arc<Task>, Errno> {
    let stack = KernelStack::new()?;
    let rsp = context::prepare_user(&stack, frame);
    let task = Task::new_user(process, rsp, stack);
    table::insert(&task);
    Ok(task)
}
