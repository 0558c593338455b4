//! Files and directories.

mod change;
mod list;
mod read;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use change::{FsMkdir, FsRemove, FsRename, FsWrite};
pub(super) use list::{FsList, FsStat};
pub(super) use read::FsRead;

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileType {
    File,
    Dir,
    Symlink,
    Device,
    Pipe,
}
