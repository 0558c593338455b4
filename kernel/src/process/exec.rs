//! Loading programs, and `execve`.

use super::interpreter::{Head, named_by_agent};
use super::{Process, table, with_memory};
use crate::arch::context;
use crate::arch::cpu::VectorState;
use crate::arch::trap::TrapFrame;
use crate::mm::{self, AddressSpace, KernelStack, Priority, STACK_TOP};
use crate::sched::{self, Task};
use crate::timeline::{self, Point};
use crate::{bus, fs, kprintln, random};
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::signal::SIGCHLD;
use askr_agentbus::policy::Origin;
use askr_core::elf::{self, LoadPlan};
use askr_core::limits::Limits;
use askr_core::script;
use askr_core::stack::{self, StackSpec};
use askr_core::told::Told;
use core::sync::atomic::Ordering;

/// Where position-independent programs are put.
const PIE_BASE: u64 = 0x5555_5555_0000;
/// Largest program file.
const PROGRAM_MAX: u64 = 64 << 20;

/// A program in memory, ready to start.
pub(super) struct Image {
    pub(super) space: AddressSpace,
    pub(super) entry: u64,
    pub(super) rsp: u64,
    pub(super) name: Vec<u8>,
    /// Who stands behind it.
    pub(super) origin: Origin,
}

/// The file to load, and its arguments: those that scripts add, then those that were given and stay. These are not copied:
/// they may take as much of the kernel's heap as one call gets.
struct Program<'a> {
    bytes: Vec<u8>,
    canonical: Vec<u8>,
    added: Vec<Vec<u8>>,
    given: &'a [Vec<u8>],
    /// The path that led to it, as it was given.
    path: Vec<u8>,
    /// The last part of the path that was executed.
    name: Vec<u8>,
    /// Who stands behind it: whoever executes it, or the agent that has named the program.
    origin: Origin,
}

impl<'a> Program<'a> {
    /// The program at `path`, or the one that runs the script there: its arguments are then its path, what the first line
    /// of the script says, the path of the script, and the arguments after the first (`execve(2)`).
    fn find(
        origin: Origin,
        cwd: &fs::Directory,
        path: &[u8],
        mut given: &'a [Vec<u8>],
    ) -> Result<Self, Errno> {
        let mut path = path.to_vec();
        let mut added: Vec<Vec<u8>> = Vec::new();
        let mut name = None;
        for _ in 0..=script::DEPTH_MAX {
            let (bytes, canonical) = fs::read_program(origin, cwd, &path, PROGRAM_MAX)?;
            let last = canonical.rsplit(|&byte| byte == b'/').next().unwrap_or(&canonical);
            let name = name.get_or_insert_with(|| last.to_vec());
            let Some(interpreter) = script::interpreter(&bytes)? else {
                let name = core::mem::take(name);
                return Ok(Self { bytes, canonical, added, given, path, name, origin });
            };
            put_before(&mut added, &mut given, &[Some(interpreter.path), interpreter.argument, Some(&path)]);
            path = interpreter.path.to_vec();
        }
        Err(Errno::ELOOP)
    }

    /// The same if it is a program; else the one that the agent names to run it, with its path and that of the file as the
    /// first arguments. What the agent has named is of its origin, whoever executes the file: else it could run what it likes
    /// as the person at the console.
    ///
    /// # Errors
    /// ENOEXEC if nobody names a program, ENOMEM.
    fn or_as_the_agent_says(self, cwd: &fs::Directory) -> Result<Self, Errno> {
        if elf::is_elf(&self.bytes) {
            return Ok(self);
        }
        let Self { bytes, canonical, mut added, mut given, path, name, mut origin } = self;
        let head = Head::of(&bytes);
        drop(bytes); // nothing large is held while the agent thinks
        let (interpreter, by) = named_by_agent(&canonical, &head).ok_or(Errno::ENOEXEC)?;
        if origin == Origin::Console {
            origin = by;
        }
        let found = fs::read_program(origin, cwd, &interpreter, PROGRAM_MAX);
        let (bytes, canonical) = match found {
            Ok((bytes, canonical)) if elf::is_elf(&bytes) => (bytes, canonical),
            Err(Errno::ENOMEM) => return Err(Errno::ENOMEM),
            _ => return Err(Errno::ENOEXEC),
        };
        put_before(&mut added, &mut given, &[Some(&interpreter), Some(&path)]);
        Ok(Self { bytes, canonical, added, given, path: interpreter, name, origin })
    }

    fn arguments(&self) -> Result<Vec<&[u8]>, Errno> {
        let mut all = mm::with_room(self.added.len() + self.given.len())?;
        all.extend(self.added.iter().chain(self.given).map(Vec::as_slice));
        Ok(all)
    }
}

/// Puts arguments before those after the first.
fn put_before(added: &mut Vec<Vec<u8>>, given: &mut &[Vec<u8>], own: &[Option<&[u8]>]) {
    if added.is_empty() {
        *given = given.get(1..).unwrap_or_default();
    }
    let own = own.iter().flatten().map(|argument| argument.to_vec());
    *added = own.chain(core::mem::take(added).into_iter().skip(1)).collect();
}

impl Image {
    /// Loads the program at `path`, or the one that runs the script there.
    ///
    /// # Errors
    /// What opening the file says; ENOEXEC, E2BIG, ENOMEM.
    pub(super) fn load(
        origin: Origin,
        cwd: &fs::Directory,
        path: &[u8],
        argv: &[Vec<u8>],
        envp: &[Vec<u8>],
        limits: &Limits,
        priority: Priority,
    ) -> Result<Self, Errno> {
        let program = Program::find(origin, cwd, path, argv)?.or_as_the_agent_says(cwd)?;
        let plan = elf::plan(&program.bytes, PIE_BASE).map_err(|error| {
            kprintln!("{}: {error}", program.canonical.escape_ascii());
            error.errno()
        })?;
        let mut space = AddressSpace::new(limits, priority)?;
        map(&mut space, &plan, &program.bytes)?;
        let spec = StackSpec {
            top: STACK_TOP,
            argv: &program.arguments()?,
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
        let Program { name, origin, .. } = program;
        Ok(Self { space, entry: plan.entry, rsp: image.rsp, name, origin })
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
    let role = process.role();
    let limits = process.limits();
    let load = || Image::load(process.origin(), &process.cwd(), path, argv, envp, &limits, role.priority());
    let mut image = if role.is_privileged() { with_memory(load) } else { load() }?;
    *process.origin.lock() = image.origin;
    process.set_role(role.after_exec());
    image.space.set_priority(role.after_exec().priority());
    process.root.store(image.space.root(), Ordering::Relaxed);
    let old = process.space.lock().replace(image.space);
    *process.name.lock() = image.name;
    let closed = process.files.lock().take_close_on_exec();
    *process.missing_calls.lock() = Told::new();
    process.fs_base.store(0, Ordering::Relaxed);
    process.signals.lock().reset_for_exec();
    process.end_signal.store(SIGCHLD, Ordering::Relaxed);
    process.set_vector(VectorState::new());
    process.enter_processor();
    table::with_family(|family| family.note_execution(process.pid));
    process.give_up_space(old);
    process.clear_tid.store(0, Ordering::Relaxed);
    drop(closed);
    bus::process_started(process);
    timeline::pass(Point::Start, process.pid.into());
    *frame = TrapFrame::user(image.entry, image.rsp);
    Ok(())
}

/// A task for a new process, which returns to user mode with `frame`.
pub(super) fn prepare(process: Process, frame: &TrapFrame, stack: KernelStack) -> Arc<Task> {
    let rsp = context::prepare_user(&stack, frame);
    Task::new_user(process, rsp, stack)
}
