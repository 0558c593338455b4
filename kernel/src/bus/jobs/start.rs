//! SPAWN: a program becomes a job.

use super::super::control::status;
use super::super::wake;
use super::output::open;
use super::{pipe_with, with_table};
use crate::arch::clock;
use crate::fs;
use crate::mm;
use crate::process::{Files, Program};
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::O_RDONLY;
use askr_agentbus::jobs::NewJob;
use askr_agentbus::policy::Origin;
use askr_vfs::File;
use askr_wire::List;
use askr_wire::message::{OutputStream, SpawnReply, SpawnRequest, StdinPolicy, Word};
use askr_wire::status::Status;

/// Where a program starts that is told nothing about it.
const ROOT: &[u8] = b"/";

/// Starts a program as a job.
///
/// # Errors
/// The status to answer with; nothing has happened then.
pub(in crate::bus) fn spawn(origin: Origin, request: &SpawnRequest<'_>) -> Result<SpawnReply, Status> {
    let SpawnRequest { timeout_ms, output_limit, path, .. } = *request;
    with_table(|table| table.check(output_limit))?;
    let cwd = if request.cwd.is_empty() { ROOT } else { request.cwd };
    let (argv, env) = (words(request.argv), words(request.env));
    let program = argv.and_then(|argv| Program::load(origin, cwd, path, &argv, &env?)).map_err(status)?;
    let (stdin, input) = stdin(request).map_err(status)?;
    let new = NewJob { pid: program.pid(), timeout_ms, output_limit, input: input.map(Arc::new) };
    let job = with_table(|table| table.open(clock::now(), new))?;
    let [stdout, stderr] = [OutputStream::Stdout, OutputStream::Stderr].map(|stream| open(job, stream));
    let pid = program.pid();
    program.start(job, Files::standard([stdin, stdout, stderr]));
    wake(); // it may have a deadline
    Ok(SpawnReply { job, pid })
}

/// What the job reads, and where INPUT writes.
fn stdin(request: &SpawnRequest<'_>) -> Result<(File, Option<File>), Errno> {
    match request.stdin {
        StdinPolicy::Closed => Ok((fs::open(Origin::Kernel, &fs::root(), b"/dev/null", O_RDONLY, 0)?, None)),
        StdinPolicy::Given => Ok((pipe_with(request.input)?.0, None)),
        StdinPolicy::Open => pipe_with(request.input).map(|(read, write)| (read, Some(write))),
    }
}

fn words<'a>(list: List<'a, Word<'a>>) -> Result<Vec<Vec<u8>>, Errno> {
    let mut all = mm::with_room(list.len().into())?;
    all.extend(list.iter().map(|word| word.0.to_vec()));
    Ok(all)
}
