//! What a process begins with.

use super::alarm::Alarm;
use super::stop::JobState;
use super::{Files, Pid, Process, Role};
use crate::arch::clock;
use crate::arch::cpu::VectorState;
use crate::fs::Directory;
use alloc::vec::Vec;
use askr_agentbus::policy::Origin;
use askr_core::limits::Limits;
use askr_core::signal::Signals;
use askr_core::signal::fault::FaultRecord;
use askr_core::told::Told;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use spin::Mutex;

/// What is not the same for every new process.
pub(super) struct Beginning {
    pub(super) pid: Pid,
    pub(super) origin: Origin,
    pub(super) agent_job: u32,
    pub(super) name: Vec<u8>,
    pub(super) files: Files,
    pub(super) cwd: Directory,
    pub(super) umask: u32,
    pub(super) vector: VectorState,
    pub(super) fs_base: u64,
    pub(super) signals: Signals,
    pub(super) limits: Limits,
    pub(super) role: Role,
    pub(super) missing_calls: Told,
    pub(super) end_signal: u32,
}

impl Process {
    /// One that has no memory yet.
    pub(super) fn new(beginning: Beginning) -> Self {
        let Beginning { pid, origin, name, files, cwd, umask, vector, fs_base, signals, .. } = beginning;
        Self {
            pid,
            origin: Mutex::new(origin),
            agent_job: beginning.agent_job,
            name: Mutex::new(name),
            root: AtomicU64::new(0),
            space: Mutex::new(None),
            files: Mutex::new(files),
            cwd: Mutex::new(cwd),
            umask: AtomicU32::new(umask),
            limits: Mutex::new(beginning.limits),
            role: Mutex::new(beginning.role),
            serves_console: AtomicBool::new(beginning.role.serves_console()),
            scheduled_group: AtomicU32::new(0),
            vector: UnsafeCell::new(vector),
            fs_base: AtomicU64::new(fs_base),
            signals: Mutex::new(signals),
            end_signal: AtomicU32::new(beginning.end_signal),
            job: Mutex::new(JobState::default()),
            alarm: Mutex::new(Alarm::default()),
            debt: Mutex::new(None),
            clear_tid: AtomicU64::new(0),
            fault: Mutex::new(FaultRecord::default()),
            last_fault: Mutex::new(None),
            interrupted: Mutex::new(None),
            ending: Mutex::new(None),
            zombie: Mutex::new(None),
            missing_calls: Mutex::new(beginning.missing_calls),
            announced: AtomicBool::new(false),
            out_of_memory: AtomicBool::new(false),
            time: AtomicU64::new(0),
            children_time: AtomicU64::new(0),
            started: clock::now(),
        }
    }
}
