//! Files, beyond the base.

use askr_wire::message::{
    FsInfoReply, NodeEntry, NodeType, PathRequest, ReaddirReply, ReaddirRequest, RenameRequest,
    TruncateRequest, WriteAtRequest, WriteReply,
};
use askr_wire::status::Status;
use askr_wire::{List, code};

use crate::page::Examples;

pub(crate) fn changes(page: &mut Examples) {
    page.request("rename-request", code::RENAME, &RenameRequest { from: b"/tmp/new", to: b"/tmp/log" });
    page.response("rename-response", code::RENAME, &());
    page.request("unlink-request", code::UNLINK, &PathRequest { path: b"/tmp/log" });
    page.response("unlink-response", code::UNLINK, &());
    page.request("rmdir-request", code::RMDIR, &PathRequest { path: b"/tmp/d" });
    page.error("rmdir-response", code::RMDIR, Status::NotEmpty);
    page.request("truncate-request", code::TRUNCATE, &TruncateRequest { size: 4096, path: b"/tmp/log" });
    page.response("truncate-response", code::TRUNCATE, &());
    let write = WriteAtRequest { offset: 4096, sync: true, path: b"/disk/log", data: b"more\n" };
    page.request("write-at-request", code::WRITE_AT, &write);
    page.response("write-at-response", code::WRITE_AT, &WriteReply { written: 5 });
}

pub(crate) fn facts(page: &mut Examples) {
    page.request("fsinfo-request", code::FSINFO, &PathRequest { path: b"/disk/log" });
    let facts = FsInfoReply {
        block_size: 4096,
        blocks: 16384,
        blocks_free: 16000,
        name_max: 255,
        read_only: false,
        kind: b"littlefs",
        mount: b"/disk",
    };
    page.response("fsinfo-response", code::FSINFO, &facts);
    page.request("readdir-request", code::READDIR, &ReaddirRequest { cursor: 0, path: b"/tmp" });
    let entry = |node_type, mode, size, mtime, name| NodeEntry { node_type, mode, size, mtime, name };
    let entries = [
        entry(NodeType::File, 0o644, 4096, 1_700_000_000, b"log".as_slice()),
        entry(NodeType::Symlink, 0o777, 3, 1_700_000_001, b"last"),
    ];
    let scratch = &mut [0; 128];
    let reply = ReaddirReply { next: 0, entries: List::build(entries, scratch).unwrap() };
    page.response("readdir-response", code::READDIR, &reply);
}
