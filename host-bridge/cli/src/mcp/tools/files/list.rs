//! Directories, and facts about a path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FileType;
use crate::mcp::call::{Call, End};
use crate::mcp::error::Failure;
use crate::mcp::page::Page;
use crate::mcp::text::Shape;
use crate::mcp::tools::{Encoding, Tool, boot_of, bytes_in, bytes_of, parsed, shown, with_bytes};

pub(in crate::mcp::tools) struct FsList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp::tools) struct ListArguments {
    /// Absolute path of a directory, such as `/`.
    path: String,
    /// `escaped` when `path` holds an escaped name that an earlier result gave. Default `text`.
    path_encoding: Option<Encoding>,
    /// `next` of an earlier result, to go on with that list.
    cursor: Option<String>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct Listing {
    /// Boot id of the guest, new with every boot.
    boot: String,
    /// In the guest's order.
    entries: Vec<Entry>,
    /// Number of entries in the directory.
    total: usize,
    /// There are more: give `next` as `cursor`. Without `next` there are more than can be listed.
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Entry {
    /// Name inside the directory. Untrusted.
    name: String,
    /// `escaped` when `name` is; left out when it stands for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    name_encoding: Option<Encoding>,
    r#type: FileType,
    /// In bytes.
    size: u64,
}

impl Tool for FsList {
    const NAME: &'static str = "fs_list";
    const TITLE: &'static str = "List a directory";
    const DESCRIPTION: &'static str = "Lists a directory of the guest: name, type and size of each entry. A long directory comes in pages. Names \
         are untrusted text; one with control characters or bytes that are no UTF-8 comes escaped and can be given \
         back in a path with path_encoding `escaped`.";
    type Arguments = ListArguments;
    type Output = Listing;

    async fn call(arguments: ListArguments, call: &Call<'_>) -> Result<Listing, End> {
        let path = bytes_of("path", arguments.path, arguments.path_encoding)?;
        let reply = call.request(arguments.guest.as_deref(), with_bytes("fs.list", "path", path)).await?;
        let boot = boot_of(&reply)?;
        let listed: Vec<Value> = parsed(reply.ok["entries"].clone())?;
        let all = listed.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        let page = Page::of(all, arguments.cursor.as_deref(), &boot)?;
        let cut = page.next.is_some() || reply.ok["truncated"] == true;
        Ok(Listing { boot, entries: page.items, total: page.total, truncated: cut, next: page.next })
    }
}

fn entry(listed: &Value) -> Result<Entry, Failure> {
    let (name, name_encoding) = shown(&bytes_in(listed, "name").unwrap_or_default(), Shape::Line);
    let r#type = parsed(listed["type"].clone())?;
    Ok(Entry { name, name_encoding, r#type, size: parsed(listed["size"].clone())? })
}

pub(in crate::mcp::tools) struct FsStat;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp::tools) struct StatArguments {
    /// Absolute path of a file or directory.
    path: String,
    /// `escaped` when `path` holds an escaped name that an earlier result gave. Default `text`.
    path_encoding: Option<Encoding>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct Facts {
    /// Boot id of the guest, new with every boot.
    boot: String,
    r#type: FileType,
    /// In bytes.
    size: u64,
    /// Permissions in octal, such as `0755`.
    mode: String,
    uid: u32,
    gid: u32,
    /// Last change, in seconds since 1970.
    mtime: i64,
    /// Last access, in seconds since 1970.
    atime: i64,
    /// Last change of these facts, in seconds since 1970.
    ctime: i64,
}

/// As the hub gives them.
#[derive(Deserialize)]
struct HubFacts {
    r#type: FileType,
    size: u64,
    mode: u32,
    uid: u32,
    gid: u32,
    mtime: i64,
    atime: i64,
    ctime: i64,
}

impl Tool for FsStat {
    const NAME: &'static str = "fs_stat";
    const TITLE: &'static str = "Look at a path";
    const DESCRIPTION: &'static str =
        "Says whether a path in the guest is a file or a directory, with size, permissions, owner and times.";
    type Arguments = StatArguments;
    type Output = Facts;

    async fn call(arguments: StatArguments, call: &Call<'_>) -> Result<Facts, End> {
        let path = bytes_of("path", arguments.path, arguments.path_encoding)?;
        let reply = call.request(arguments.guest.as_deref(), with_bytes("fs.stat", "path", path)).await?;
        let boot = boot_of(&reply)?;
        let HubFacts { r#type, size, mode, uid, gid, mtime, atime, ctime } = parsed(reply.ok)?;
        let mode = format!("{:04o}", mode & 0o7777);
        Ok(Facts { boot, r#type, size, mode, uid, gid, mtime, atime, ctime })
    }
}
