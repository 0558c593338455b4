//! What the guest does about requests.

use askr_agentbus::Request;
use askr_wire::message::{
    FileType, NodeEntry, NodeType, ProcessFacts, ProcessOrigin, ReadReply, ReaddirReply, ReaddirRequest,
    RenameRequest, StatReply, TaskState, WriteAtRequest, WriteMode, WriteReply,
};
use askr_wire::status::Status;
use askr_wire::{List, ListWriter, Message};

use super::State;

/// Entries of a directory to a page.
const PAGE: usize = 16;

impl State {
    /// Does what a request says and returns the body of its answer.
    pub(super) fn carry_out(&mut self, request: &Request<'_>, room: usize) -> Result<Vec<u8>, Status> {
        let mut body = vec![0; room];
        let len = match *request {
            Request::Stat { path } => self.stat(path)?.encode(&mut body),
            Request::Readdir(request) => Ok(self.readdir(&request, &mut body)?),
            Request::Read { offset, len, path } => {
                let data = self.files.get(path).ok_or(Status::NoEnt)?.as_ref().ok_or(Status::IsDir)?;
                let rest = data.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
                let len = rest.len().min(len as usize).min(room - ReadReply::HEAD_LEN);
                ReadReply { data: &rest[..len] }.encode(&mut body)
            }
            Request::Write { mode, path, data } => {
                self.done.push(format!("{mode:?} {} {}", path.escape_ascii(), data.len()));
                let file = self.files.entry(path.to_vec()).or_insert_with(|| Some(Vec::new()));
                let file = file.as_mut().ok_or(Status::IsDir)?;
                if mode == WriteMode::Replace {
                    file.clear();
                }
                file.extend_from_slice(data);
                WriteReply { written: u32::try_from(data.len()).unwrap() }.encode(&mut body)
            }
            Request::Mkdir { path } => {
                self.done.push(format!("mkdir {}", path.escape_ascii()));
                if self.files.contains_key(path) {
                    return Err(Status::Exist);
                }
                self.files.insert(path.to_vec(), None);
                Ok(0)
            }
            Request::Remove { path } => {
                self.done.push(format!("remove {}", path.escape_ascii()));
                self.files.remove(path).map(|_| Ok(0)).ok_or(Status::NoEnt)?
            }
            Request::Ps2(request) => Ok(processes(request.after, &mut body)?),
            Request::WriteAt(request) => {
                let WriteAtRequest { offset, sync, path, data } = request;
                self.done.push(format!(
                    "{offset} {} {}{}",
                    path.escape_ascii(),
                    data.len(),
                    if sync { " sync" } else { "" }
                ));
                let file = self.files.get_mut(path).ok_or(Status::NoEnt)?.as_mut().ok_or(Status::IsDir)?;
                let offset = usize::try_from(offset).unwrap();
                file.resize(file.len().max(offset + data.len()), 0);
                file[offset..][..data.len()].copy_from_slice(data);
                WriteReply { written: u32::try_from(data.len()).unwrap() }.encode(&mut body)
            }
            Request::Rename(RenameRequest { from, to }) => {
                self.done.push(format!("rename {} {}", from.escape_ascii(), to.escape_ascii()));
                let node = self.files.remove(from).ok_or(Status::NoEnt)?;
                self.files.insert(to.to_vec(), node);
                Ok(0)
            }
            _ => return Err(Status::NoSys),
        };
        body.truncate(len.map_err(|_| Status::MsgSize)?);
        Ok(body)
    }

    fn stat(&self, path: &[u8]) -> Result<StatReply, Status> {
        let node = self.files.get(path).ok_or(Status::NoEnt)?;
        let (file_type, size) = match node {
            Some(data) => (FileType::File, data.len() as u64),
            None => (FileType::Directory, 0),
        };
        Ok(StatReply { file_type, mode: 0o755, uid: 1, gid: 2, size, mtime: 3, atime: 4, ctime: 5 })
    }

    /// Pages of a few entries; the cursor is the number of entries before it.
    fn readdir(&self, request: &ReaddirRequest<'_>, body: &mut [u8]) -> Result<usize, Status> {
        let ReaddirRequest { cursor, path } = *request;
        self.files.get(path).ok_or(Status::NoEnt)?.is_none().then_some(()).ok_or(Status::NotDir)?;
        let prefix = if path == b"/" { path.to_vec() } else { [path, b"/"].concat() };
        let inside: Vec<_> = self
            .files
            .iter()
            .filter_map(|(path, node)| {
                let name = path.strip_prefix(&prefix[..])?;
                (!name.is_empty() && !name.contains(&b'/')).then_some((name, node))
            })
            .collect();
        let start = usize::try_from(cursor).unwrap();
        let page = &inside[start..inside.len().min(start + PAGE)];
        let entries = page.iter().map(|(name, node)| NodeEntry {
            node_type: if node.is_some() { NodeType::File } else { NodeType::Directory },
            mode: 0o644,
            size: node.as_ref().map_or(0, |data| data.len() as u64),
            mtime: 3,
            name,
        });
        let mut scratch = [0; 4096];
        let next = if start + page.len() < inside.len() { cursor + page.len() as u64 } else { 0 };
        let reply = ReaddirReply { next, entries: List::build(entries, &mut scratch).unwrap() };
        reply.encode(body).map_err(|_| Status::MsgSize)
    }
}

fn processes(after: u32, body: &mut [u8]) -> Result<usize, Status> {
    let facts = |pid, state, origin, name| ProcessFacts {
        pid,
        parent: 0,
        group: pid,
        job: 0,
        state,
        origin,
        code: 0,
        cpu_ns: 5,
        memory: 4096,
        age_ns: 9,
        name,
    };
    let all = [
        facts(1, TaskState::Blocked, ProcessOrigin::Console, &b"init"[..]),
        facts(2, TaskState::Running, ProcessOrigin::Kernel, b"bus"),
    ];
    let mut list = ListWriter::new(body).map_err(|_| Status::MsgSize)?;
    // One to a page: whoever asks must ask on.
    for process in all.iter().filter(|facts| facts.pid > after).take(1) {
        list.push(process).map_err(|_| Status::MsgSize)?;
    }
    Ok(list.finish())
}
