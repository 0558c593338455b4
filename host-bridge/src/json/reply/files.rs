//! Files and directories.

use askr_wire::message::{FileType, NodeType, StatReply};
use serde_json::{Map, Value, json};

use crate::json::{bytes, name};
use crate::ops::{Content, Entry, FsInfo, Listing};

pub(crate) fn written(count: u64) -> Value {
    json!({ "written": count })
}

pub(crate) fn content(read: &Content) -> Value {
    let mut map = Map::new();
    bytes::put_content(&mut map, &read.data);
    map.insert(name::OFFSET.into(), read.offset.into());
    map.insert("nread".into(), read.data.len().into());
    map.insert("truncated".into(), read.truncated.into());
    map.insert("total".into(), read.total.into());
    Value::Object(map)
}

pub(crate) fn stat(facts: &StatReply) -> Value {
    let file_type = match facts.file_type {
        FileType::File => "file",
        FileType::Directory => "dir",
    };
    json!({
        "type": file_type,
        "mode": facts.mode,
        "uid": facts.uid,
        "gid": facts.gid,
        "size": facts.size,
        "mtime": facts.mtime,
        "atime": facts.atime,
        "ctime": facts.ctime,
    })
}

pub(crate) fn entries(listing: &Listing<Entry>) -> Value {
    let one = |entry: &Entry| {
        let node_type = match entry.node_type {
            NodeType::File => "file",
            NodeType::Directory => "dir",
            NodeType::Symlink => "symlink",
            NodeType::Device => "device",
            NodeType::Pipe => "pipe",
        };
        let mut map = Map::new();
        bytes::put(&mut map, name::NAME, &entry.name);
        map.insert("type".into(), node_type.into());
        map.insert("mode".into(), entry.mode.into());
        map.insert("size".into(), entry.size.into());
        map.insert("mtime".into(), entry.mtime.into());
        Value::Object(map)
    };
    json!({ "entries": listing.entries.iter().map(one).collect::<Vec<_>>(), "truncated": listing.truncated })
}

pub(crate) fn fs_info(info: &FsInfo) -> Value {
    let mut map = Map::new();
    bytes::put(&mut map, "kind", &info.kind);
    bytes::put(&mut map, "mount", &info.mount);
    for (field, value) in [("total", info.total), ("free", info.free), ("block_size", info.block_size.into())]
    {
        map.insert(field.into(), value.into());
    }
    map.insert("name_max".into(), info.name_max.into());
    map.insert("read_only".into(), info.read_only.into());
    Value::Object(map)
}
