//! Changing files and directories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::mcp::call::{Call, End};
use crate::mcp::error::{Code, Failure};
use crate::mcp::tools::content::{ContentEncoding, bytes_of_content};
use crate::mcp::tools::{Effect, Encoding, Tool, boot_of, bytes_of, encode, put_bytes, with_bytes};

/// Most bytes of content in one call: base64 of them fits a line to the hub.
const WRITE_MAX: usize = 2 * 1024 * 1024;

pub(in crate::mcp::tools) struct FsWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp::tools) struct WriteArguments {
    /// Absolute path of a file, which is made if it is not there. Nothing under `/bin` can be changed.
    path: String,
    /// `escaped` when `path` holds an escaped name that an earlier result gave. Default `text`.
    path_encoding: Option<Encoding>,
    /// What to write, at most 2 MiB.
    content: String,
    /// How `content` stands for bytes. Default `text`.
    encoding: Option<ContentEncoding>,
    /// Default `replace`.
    mode: Option<Mode>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Replace,
    Append,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct Written {
    /// Boot id of the guest, new with every boot.
    boot: String,
    /// Bytes written.
    written: u64,
}

impl Tool for FsWrite {
    const NAME: &'static str = "fs_write";
    const TITLE: &'static str = "Write a file";
    const DESCRIPTION: &'static str = "Replaces a file of the guest, or appends to it. Give a binary, such as a program, as base64. To replace a \
         file in one step write another one and fs_rename it. /tmp is in memory; /disk, where there is one, survives \
         a reboot.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = WriteArguments;
    type Output = Written;

    async fn call(arguments: WriteArguments, call: &Call<'_>) -> Result<Written, End> {
        let WriteArguments { path, path_encoding, content, encoding, mode, guest } = arguments;
        let path = bytes_of("path", path, path_encoding)?;
        let bytes = bytes_of_content(content, encoding)?;
        if bytes.len() > WRITE_MAX {
            let message =
                format!("`content` is more than {WRITE_MAX} bytes; append the rest in further calls");
            return Err(Failure::new(Code::TooLarge, message).into());
        }
        let mut request = with_bytes("fs.write", "path", path);
        request["content"] = encode(&bytes).into();
        request["encoding"] = json!("base64");
        request["mode"] = json!(mode.unwrap_or(Mode::Replace));
        let reply = call.change(guest.as_deref(), request).await?;
        Ok(Written { boot: boot_of(&reply)?, written: reply.ok["written"].as_u64().unwrap_or(0) })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp::tools) struct PathArguments {
    /// Absolute path. Nothing under `/bin` can be changed.
    path: String,
    /// `escaped` when `path` holds an escaped name that an earlier result gave. Default `text`.
    path_encoding: Option<Encoding>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct Done {
    /// Boot id of the guest, new with every boot.
    boot: String,
}

async fn change_path(op: &str, arguments: PathArguments, call: &Call<'_>) -> Result<Done, Failure> {
    let path = bytes_of("path", arguments.path, arguments.path_encoding)?;
    change(with_bytes(op, "path", path), arguments.guest.as_deref(), call).await
}

async fn change(request: Value, guest: Option<&str>, call: &Call<'_>) -> Result<Done, Failure> {
    let reply = call.change(guest, request).await?;
    Ok(Done { boot: boot_of(&reply)? })
}

pub(in crate::mcp::tools) struct FsMkdir;

impl Tool for FsMkdir {
    const NAME: &'static str = "fs_mkdir";
    const TITLE: &'static str = "Make a directory";
    const DESCRIPTION: &'static str =
        "Makes one directory in the guest. The directory above must be there, and nothing of that name.";
    const EFFECT: Effect = Effect::Adds;
    type Arguments = PathArguments;
    type Output = Done;

    async fn call(arguments: PathArguments, call: &Call<'_>) -> Result<Done, End> {
        Ok(change_path("fs.mkdir", arguments, call).await?)
    }
}

pub(in crate::mcp::tools) struct FsRemove;

impl Tool for FsRemove {
    const NAME: &'static str = "fs_remove";
    const TITLE: &'static str = "Remove a file";
    const DESCRIPTION: &'static str =
        "Removes a file or an empty directory of the guest. It cannot be taken back.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = PathArguments;
    type Output = Done;

    async fn call(arguments: PathArguments, call: &Call<'_>) -> Result<Done, End> {
        Ok(change_path("fs.remove", arguments, call).await?)
    }
}

pub(in crate::mcp::tools) struct FsRename;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp::tools) struct RenameArguments {
    /// Absolute path of a file or directory.
    from: String,
    /// Absolute path that it shall have. What is there is replaced.
    to: String,
    /// `escaped` when both paths are in the escaped form. Default `text`.
    path_encoding: Option<Encoding>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

impl Tool for FsRename {
    const NAME: &'static str = "fs_rename";
    const TITLE: &'static str = "Rename or move";
    const DESCRIPTION: &'static str = "Moves a file or directory of the guest within one filesystem. What has the new name is replaced in the same \
         step: nobody ever sees neither or half of it.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = RenameArguments;
    type Output = Done;

    async fn call(arguments: RenameArguments, call: &Call<'_>) -> Result<Done, End> {
        let RenameArguments { from, to, path_encoding, guest } = arguments;
        let mut request = with_bytes("fs.rename", "from", bytes_of("from", from, path_encoding)?);
        put_bytes(&mut request, "to", bytes_of("to", to, path_encoding)?);
        Ok(change(request, guest.as_deref(), call).await?)
    }
}
