//! The disk image that a machine boots from: kernel and initrd behind a boot loader for BIOS and UEFI.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::initrd::{self, Entry, ExtraFile};
use crate::run_folder::RunFolder;
use crate::{Error, Result};

/// The program that makes images; there with the feature `disk-image`.
const BUILDER: Option<&str> = option_env!("ASKR_IMAGE_BUILDER");
/// The kernel without its debug information: a BIOS reads slowly.
const BARE_KERNEL: Option<&str> = option_env!("ASKR_IMAGE_KERNEL");
/// Where the kernel finds its command line: a boot loader gives it none.
const CMDLINE_FILE: &str = "etc/cmdline";

/// UEFI firmware (OVMF) as distributions install it: the program, and the variables to begin with.
const FIRMWARE: [(&str, &str); 4] = [
    ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"),
    ("/usr/share/OVMF/OVMF_CODE.fd", "/usr/share/OVMF/OVMF_VARS.fd"),
    ("/usr/share/edk2/x64/OVMF_CODE.4m.fd", "/usr/share/edk2/x64/OVMF_VARS.4m.fd"),
    ("/usr/share/edk2/ovmf/OVMF_CODE.fd", "/usr/share/edk2/ovmf/OVMF_VARS.fd"),
];

/// How the kernel gets into the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Door {
    /// QEMU loads the kernel itself (PVH).
    #[default]
    Direct,
    /// From a disk image, by the PC's BIOS.
    Bios,
    /// From a disk image, by UEFI.
    Uefi,
}

/// UEFI firmware.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Firmware {
    pub(crate) code: &'static str,
    pub(crate) variables: &'static str,
}

impl Firmware {
    /// The firmware that is installed.
    pub(crate) fn find() -> Result<Self> {
        let is_there = |path: &str| Path::new(path).is_file();
        let found = FIRMWARE.into_iter().find(|(code, variables)| is_there(code) && is_there(variables));
        let (code, variables) = found.ok_or(Error::NoFirmware)?;
        Ok(Self { code, variables })
    }
}

/// Writes a disk image with Askr, as it was built, and these files: for real machines and other hypervisors. One image
/// serves BIOS and UEFI.
///
/// # Errors
/// [`Error::NoImageBuilder`] without the feature `disk-image`; a file can't be read, or the image can't be written.
pub fn write_boot_image(files: &[ExtraFile], out: &Path) -> Result<()> {
    builder()?;
    let scratch = RunFolder::create(crate::state_dir()).map_err(Error::io("making the run folder"))?;
    let packed = scratch.path().join("initrd.tar");
    let entries: Vec<Entry<'_>> = files.iter().map(Entry::of_file).collect();
    initrd::with_entries(Path::new(crate::INITRD), &entries, &packed)?;
    build(&packed, out)
}

/// The entry with the kernel's command line.
pub(crate) fn cmdline_entry(words: &str) -> Entry<'_> {
    Entry::of_bytes(CMDLINE_FILE, words.as_bytes())
}

/// Packs the kernel and this initrd.
pub(crate) fn build(initrd: &Path, out: &Path) -> Result<()> {
    let (program, kernel) = builder()?;
    let mut command = Command::new(program);
    let output =
        command.arg(kernel).arg(initrd).arg(out).output().map_err(Error::io("starting askr-image"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::BootImage { reason: String::from_utf8_lossy(&output.stderr).trim_end().to_owned() })
}

/// Whether this program can make images.
pub(crate) fn check_builder() -> Result<()> {
    builder().map(drop)
}

fn builder() -> Result<(PathBuf, PathBuf)> {
    match (BUILDER, BARE_KERNEL) {
        (Some(program), Some(kernel)) => Ok((program.into(), kernel.into())),
        _ => Err(Error::NoImageBuilder),
    }
}
