//! `askr-image KERNEL INITRD OUT` packs a kernel (ELF) and its initrd into a disk image that PCs boot by BIOS and by
//! UEFI.
//!
//! It is an MBR disk: the boot loader's first stages for BIOS, and a FAT partition with its later stages, the kernel, the
//! initrd, and the UEFI program under the path that firmware looks for on a disk that it does not know (UEFI 2.10,
//! 3.5.1.1). So both find everything on one disk.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bootloader::{BootConfig, DiskImageBuilder};
use bootloader_boot_config::LevelFilter;

/// Where UEFI looks on a disk without an entry in its boot list.
const UEFI_PROGRAM: &str = "efi/boot/bootx64.efi";
/// The name that the `bootloader` crate has for that program in a folder for network boot.
const UEFI_PROGRAM_IN_FOLDER: &str = "bootloader";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [kernel, initrd, out] = &arguments[..] else {
        eprintln!("usage: askr-image KERNEL INITRD OUT");
        return ExitCode::from(2);
    };
    match write(Path::new(kernel), Path::new(initrd), Path::new(out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", Path::new(out).display());
            ExitCode::FAILURE
        }
    }
}

/// Writes the image beside `out` first: what is there under this name is complete.
fn write(kernel: &Path, initrd: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    if out.exists() && !out.is_file() {
        return Err("is not a regular file; write the image to a file, then copy it to the device".into());
    }
    let mut part = out.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = build(kernel, initrd, &part).and_then(|()| Ok(fs::rename(&part, out)?));
    if written.is_err() {
        // There may be none; the error that is told is the first one.
        let _ = fs::remove_file(&part);
    }
    written
}

fn build(kernel: &Path, initrd: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let said = |error| format!("{error:#}");
    // The crate gives the UEFI program away in no other form.
    DiskImageBuilder::empty().create_uefi_tftp_folder(scratch.path()).map_err(said)?;

    let mut config = BootConfig::default();
    // The boot loader speaks when something is wrong only: COM1 is the guest's.
    config.log_level = LevelFilter::Error;
    DiskImageBuilder::new(kernel.to_owned())
        .set_ramdisk(initrd.to_owned())
        .set_boot_config(&config)
        .set_file(UEFI_PROGRAM.into(), scratch.path().join(UEFI_PROGRAM_IN_FOLDER))
        .create_bios_image(out)
        .map_err(said)?;
    Ok(())
}
