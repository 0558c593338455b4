//! Processes that are no copy of another one: the first, and those that the agent starts.

use super::exec::Image;
use super::{Beginning, Files, INIT, Pid, Process, Role, files, prepare, table};
use crate::arch::cpu::VectorState;
use crate::arch::trap::TrapFrame;
use crate::fs::{self, Directory};
use crate::mm::{self, KernelStack};
use crate::timeline::{self, Point};
use crate::{bus, sched};
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::signal::SIGCHLD;
use askr_agentbus::policy::Origin;
use askr_core::limits::Limits;
use askr_core::signal::Signals;
use askr_core::told::Told;

/// Permission bits that new files of such a process do not get.
const UMASK: u32 = 0o022;

/// A program in memory, with all that its process takes; what is left to do cannot fail.
pub(crate) struct Program {
    pid: Pid,
    image: Image,
    stack: KernelStack,
    cwd: Directory,
    limits: Limits,
    role: Role,
}

impl Program {
    /// Loads the program at `path` for an agent. Until it is started the caller does not wait for anything: its number may
    /// be given again.
    ///
    /// # Errors
    /// Those of `execve(2)`; those of `chdir(2)` for `cwd`; EAGAIN with too many processes.
    pub(crate) fn load(
        origin: Origin,
        cwd: &[u8],
        path: &[u8],
        argv: &[Vec<u8>],
        envp: &[Vec<u8>],
    ) -> Result<Self, Errno> {
        let priority = Role::Ordinary.priority();
        mm::require_heap_room()?;
        mm::require_fork_room(priority)?;
        let cwd = fs::directory(&fs::root(), cwd)?;
        Self::load_as(origin, cwd, (path, argv, envp), Role::Ordinary)
    }

    fn load_as(
        origin: Origin,
        cwd: Directory,
        (path, argv, envp): (&[u8], &[Vec<u8>], &[Vec<u8>]),
        role: Role,
    ) -> Result<Self, Errno> {
        let limits = Limits::new(table::PROCESSES_MAX as u64, files::DESCRIPTORS_MAX as u64);
        let priority = role.priority();
        let image = Image::load(origin, &cwd, path, argv, envp, &limits, priority)?;
        let stack = KernelStack::new(priority)?;
        let pid = table::allocate_pid(limits.processes(), role)?;
        Ok(Self { pid, image, stack, cwd, limits, role })
    }

    /// The number that its process will have.
    pub(crate) const fn pid(&self) -> Pid {
        self.pid
    }

    /// Starts it, as the first process of a job of the agent's, or of none: a child of the kernel in a session of its own.
    pub(crate) fn start(self, agent_job: u32, files: Files) {
        let Self { pid, image, stack, cwd, limits, role } = self;
        let process = Process::new(Beginning {
            pid,
            origin: image.origin,
            agent_job,
            name: image.name,
            files,
            cwd,
            umask: UMASK,
            limits,
            role,
            vector: VectorState::new(),
            fs_base: 0,
            signals: Signals::new(pid == INIT),
            missing_calls: Told::new(),
            end_signal: SIGCHLD,
        });
        process.set_space(image.space);
        let task = prepare(process, &TrapFrame::user(image.entry, image.rsp), stack);
        table::insert(&task, 0);
        table::with_family(|family| family.note_execution(pid));
        bus::process_started(task.process().expect("made with one"));
        timeline::pass(Point::Start, pid.into());
        sched::start(task);
    }
}

/// Starts the first process from the program at `path`.
///
/// # Errors
/// What loading it says.
pub(crate) fn spawn_init(path: &[u8]) -> Result<(), Errno> {
    let (argv, envp) = ([path.to_vec()], [b"HOME=/".to_vec(), b"PATH=/bin".to_vec()]);
    let program = Program::load_as(Origin::Console, fs::root(), (path, &argv, &envp), Role::Init)?;
    debug_assert_eq!(program.pid, INIT);
    program.start(0, Files::on_console()?);
    Ok(())
}
