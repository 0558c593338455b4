//! Starting programs: `execve`, `fork`, and the first process.

use super::{Beginning, Files, INIT, Pid, Process, files, table};
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
use askr_core::signal::Signals;
use askr_core::stack::{self, StackSpec};
use askr_core::told::Told;
use core::sync::atomic::Ordering;

/// Where position-independent programs are put.
const PIE_BASE: u64 = 0x5555_5555_0000;
/// Permission bits that new files of the first process do not get.
const UMASK: u32 = 0o022;
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
        cwd: &fs::Directory,
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
    process.signals.lock().reset_for_exec();
    process.set_vector(VectorState::new());
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
    let child = Process::new(Beginning {
        pid,
        origin: parent.origin,
        parent: parent.pid,
        group: parent.group(),
        name: parent.name(),
        space,
        files: parent.files.lock().clone(),
        cwd: parent.cwd(),
        umask: parent.umask(),
        limits,
        vector: parent.save_vector(),
        fs_base: parent.fs_base(),
        signals: parent.signals.lock().inherit(),
        missing_calls: *parent.missing_calls.lock(),
    });
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
    let mut image = Image::load(Origin::Kernel, &fs::root(), path, &argv, &envp, &limits)?;
    image.space.make_essential();
    let pid = table::allocate_pid(limits.processes())?;
    let process = Process::new(Beginning {
        pid,
        origin: Origin::Console,
        parent: 0,
        group: pid,
        name: image.name,
        space: image.space,
        files: Files::on_console()?,
        cwd: fs::root(),
        umask: UMASK,
        limits,
        vector: VectorState::new(),
        fs_base: 0,
        signals: Signals::new(true),
        missing_calls: Told::new(),
    });
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
