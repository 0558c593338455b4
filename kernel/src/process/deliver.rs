//! Signals take effect: on the way to user mode, when the program's registers are all there.

use super::restart::Restart;
use super::{ExitStatus, Process, stop};
use crate::arch::cpu::{self, VectorState};
use crate::arch::trap::TrapFrame;
use crate::mm::user;
use crate::{kprintln, sched};
use askr_abi::Errno;
use askr_core::signal::frame::{self, BadFrame, CONTEXT_SIZE, Place};
use askr_core::signal::xstate::LEGACY_SIZE;
use askr_core::signal::{Delivery, Info, Next};

/// Delivers what waits to the running process; returns whether it has to end. At most as many rounds as signals wait.
pub(super) fn deliver(frame: &mut TrapFrame, restart: &mut Option<Restart>) -> bool {
    let task = sched::current();
    let Some(process) = task.process() else { return false };
    while process.ending.lock().is_none() {
        let next = process.signals.lock().next_step();
        match next {
            Some(Next::Handle(delivery)) => handle(process, frame, restart, &delivery),
            Some(Next::End(signal)) => process.end(ExitStatus::Signal(signal)),
            Some(Next::Stop(signal)) => stop::stop(process, signal),
            None => {
                if let Some(restart) = restart.take() {
                    restart.without_handler(frame);
                }
                process.signals.lock().restore_mask();
                return false;
            }
        }
    }
    true
}

/// Makes the program go on in its handler.
fn handle(process: &Process, frame: &mut TrapFrame, restart: &mut Option<Restart>, delivery: &Delivery) {
    if let Some(restart) = restart.take() {
        restart.with_handler(frame, &delivery.action);
    }
    if push(process, frame, delivery).is_ok() {
        process.signals.lock().delivered(delivery);
        process.set_vector(VectorState::new());
        return;
    }
    let mut signals = process.signals.lock();
    signals.undeliverable(delivery);
    if signals.deadly() {
        let name = process.name();
        let (name, pid, signal) = (name.escape_ascii(), process.pid(), delivery.info.signal);
        kprintln!("{name}[{pid}]: no room for the handler of signal {signal} below {:#x}", frame.rsp);
    }
}

/// Writes the handler's frame and sets the registers.
fn push(process: &Process, frame: &mut TrapFrame, delivery: &Delivery) -> Result<(), Errno> {
    let format = cpu::vector_format();
    let registers = frame.registers();
    let place =
        Place::find(registers.rsp, delivery, format.size_in_frame() as u64).map_err(|_| Errno::EFAULT)?;
    let fault = *process.fault.lock();
    let content = frame::build(place, &registers, fault, delivery, format.is_xsave());
    let vector = process.save_vector().to_frame();
    process.with_space(|space| {
        user::copy_out(space, place.fpstate, &vector)?;
        user::copy_out(space, place.frame, &content)
    })?;
    frame.set_registers(&frame::enter(place, &registers, delivery));
    Ok(())
}

/// `rt_sigreturn` of the running process: goes on with the context at its stack pointer. One that no program may go on
/// with is a fault.
pub(crate) fn resume(process: &Process, frame: &mut TrapFrame) {
    process.take_interrupted();
    if try_resume(process, frame).is_err() {
        let handled = process.signals.lock().force(Info::from_kernel(askr_abi::signal::SIGSEGV));
        if !handled {
            let name = process.name();
            let (name, pid) = (name.escape_ascii(), process.pid());
            kprintln!("{name}[{pid}]: nothing to return to from a signal handler at {:#x}", frame.rsp);
        }
    }
}

fn try_resume(process: &Process, frame: &mut TrapFrame) -> Result<(), BadFrame> {
    let mut context = [0; CONTEXT_SIZE];
    read(process, frame.rsp, &mut context)?;
    let resume = frame::read(&context, &frame.registers())?;
    let vector = match resume.fpstate {
        0 => VectorState::new(),
        address => read_vector(process, address)?,
    };
    frame.set_registers(&resume.registers);
    process.set_vector(vector);
    let mut signals = process.signals.lock();
    signals.returned(resume.mask);
    // A stack that cannot be had is no reason not to return (Linux ignores it too).
    if let Ok(stack) = signals.stack().replaced(resume.stack, frame.rsp) {
        signals.set_stack(stack);
    }
    Ok(())
}

fn read_vector(process: &Process, address: u64) -> Result<VectorState, BadFrame> {
    let mut head = [0; LEGACY_SIZE];
    read(process, address, &mut head)?;
    let mut bytes = alloc::vec![0; cpu::vector_format().extent(&head)];
    read(process, address, &mut bytes)?;
    VectorState::from_frame(&bytes)
}

fn read(process: &Process, address: u64, into: &mut [u8]) -> Result<(), BadFrame> {
    process.with_space(|space| user::copy_in(space, address, into)).map_err(|_| BadFrame)
}
