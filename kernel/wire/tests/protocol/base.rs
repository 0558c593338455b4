//! The base generation.

use askr_wire::message::{
    DirEntry, FileType, ListRequest, PathRequest, ProcessEntry, ProcessEvent, ProcessState, PsRequest,
    ReadReply, ReadRequest, StatReply, WriteMode, WriteReply, WriteRequest,
};
use askr_wire::status::Status;
use askr_wire::{FrameType, List, code};

use crate::page::Examples;

pub(crate) fn files(page: &mut Examples) {
    let path = b"/proc/version".as_slice();
    page.request("stat-request", code::STAT, &PathRequest { path });
    let stat = StatReply {
        file_type: FileType::File,
        mode: 0o444,
        uid: 0,
        gid: 0,
        size: 21,
        mtime: 0,
        atime: 0,
        ctime: 0,
    };
    page.response("stat-response", code::STAT, &stat);
    page.error("stat-not-there", code::STAT, Status::NoEnt);
    page.request("list-request", code::LIST, &ListRequest { start: 0, path: b"/" });
    let entries = [
        DirEntry { file_type: FileType::Directory, size: 0, name: b"bin" },
        DirEntry { file_type: FileType::File, size: 1500, name: b"motd" },
    ];
    page.response("list-response", code::LIST, &List::build(entries, &mut [0; 64]).unwrap());
    page.request("read-request", code::READ, &ReadRequest { offset: 5, len: 16, path });
    page.response("read-response", code::READ, &ReadReply { data: b"0.1.0" });
    let write = WriteRequest { mode: WriteMode::Append, path: b"/tmp/log", data: b"done\n" };
    page.request("write-request", code::WRITE, &write);
    page.response("write-response", code::WRITE, &WriteReply { written: 5 });
    page.request("mkdir-request", code::MKDIR, &PathRequest { path: b"/tmp/d" });
    page.response("mkdir-response", code::MKDIR, &());
    page.request("remove-request", code::REMOVE, &PathRequest { path: b"/bin/sh" });
    page.error("remove-response", code::REMOVE, Status::Perm);
}

pub(crate) fn processes(page: &mut Examples) {
    page.request("ps-request", code::PS, &PsRequest { start: 0 });
    let entries = [
        ProcessEntry { pid: 1, tid: 1, state: ProcessState::Blocked, is_user: true, name: b"sh" },
        ProcessEntry { pid: 7, tid: 7, state: ProcessState::Zombie, is_user: true, name: b"hello" },
    ];
    page.response("ps-response", code::PS, &List::build(entries, &mut [0; 64]).unwrap());
    let event = |pid, aux, info, name| ProcessEvent { pid, aux, info, name };
    page.is("event-spawn", FrameType::Event, code::EVENT_SPAWN, &event(7, 1, 0, b"hello"));
    page.is("event-exit", FrameType::Event, code::EVENT_EXIT, &event(7, 0, 3, b"hello"));
    page.is("event-fault", FrameType::Event, code::EVENT_FAULT, &event(9, 0, 14, b"crash"));
}
