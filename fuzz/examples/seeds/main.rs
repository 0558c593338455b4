//! Makes the seeds of the committed corpora from what is real: the shared vectors, encoded messages, archives that a
//! tar library wrote, programs as linkers lay them out, paths and lines as people type them.
//!
//! `cargo run --example seeds` in this folder writes them to `corpus`. Files there under other names, such as inputs
//! that once found a fault, stay.

mod archives;
mod bus;
mod later;
mod programs;
mod text;
mod wire;

use std::fs;
use std::path::Path;

/// A seed's name and bytes.
type Seed = (String, Vec<u8>);

fn main() -> std::io::Result<()> {
    let corpora = [
        ("deframe", wire::lines()),
        ("frame", wire::frames()),
        ("message", wire::messages()),
        ("router", bus::steps()),
        ("elf", programs::files()),
        ("stack", programs::stacks()),
        ("initrd", archives::archives()),
        ("paths", text::paths()),
        ("screen", text::output()),
        ("tty", text::keys()),
        ("shell", text::lines()),
        ("edit", text::edits()),
    ];
    for (target, seeds) in corpora {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        fs::create_dir_all(&folder)?;
        println!("{target}: {} seeds", seeds.len());
        for (name, bytes) in seeds {
            fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}
