//! Processes.

use super::too_big;
use crate::process::{self, Facts};
use askr_abi::Errno;
use askr_wire::ListWriter;
use askr_wire::message::{ProcessEntry, ProcessState};

pub(super) fn ps(start: u32, body: &mut [u8]) -> Result<usize, Errno> {
    let mut writer = ListWriter::new(body).map_err(too_big)?;
    for facts in process::facts_from(0).skip(start as usize) {
        let Facts { pid, state, name, .. } = facts;
        let state = match state {
            b'Z' => ProcessState::Zombie,
            b'S' | b'T' => ProcessState::Blocked,
            _ => ProcessState::Ready,
        };
        let entry = ProcessEntry { pid, tid: pid, state, is_user: true, name: &name };
        if writer.push(&entry).is_err() {
            break;
        }
    }
    Ok(writer.finish())
}
