//! Which disk image this run has.

use std::path::{Path, PathBuf};

use askr::{Disk, state_dir};

use crate::args::Options;

/// Most runs in one checkout that have an image of their own at the same time.
const IMAGES_MAX: u32 = 64;

/// The image that the options name, or the first one of the checkout that no other run uses.
pub(crate) fn open(options: &Options) -> Result<Disk, String> {
    let said = |error: askr::Error| format!("--disk: {error}");
    match &options.disk {
        Some(path) => {
            let disk = Disk::open(path, options.throwaway).map_err(said)?;
            if disk.is_new() {
                eprintln!("askr: made the disk image {}", path.display());
            }
            Ok(disk)
        }
        None => open_free(state_dir(), options.throwaway),
    }
}

fn open_free(folder: &Path, throwaway: bool) -> Result<Disk, String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for number in 1..=IMAGES_MAX {
        let path = image(folder, number);
        let Some(disk) = Disk::open_free(&path, throwaway).map_err(|error| error.to_string())? else {
            continue;
        };
        if number > 1 {
            eprintln!(
                "askr: another run uses {}; this one has {}",
                image(folder, 1).display(),
                path.display()
            );
        }
        return Ok(disk);
    }
    let folder = folder.display();
    Err(format!("{IMAGES_MAX} runs of this checkout have a disk image in {folder}; use --disk PATH"))
}

/// `disk.img`, `disk-2.img`, …
fn image(folder: &Path, number: u32) -> PathBuf {
    folder.join(if number == 1 { "disk.img".to_owned() } else { format!("disk-{number}.img") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_at_the_same_time_have_images_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let name = |disk: &Disk| disk.path().file_name().unwrap().to_string_lossy().into_owned();
        let first = open_free(folder.path(), false).unwrap();
        let second = open_free(folder.path(), false).unwrap();
        assert_eq!((name(&first), name(&second)), ("disk.img".into(), "disk-2.img".into()));
        drop(first);
        assert_eq!(name(&open_free(folder.path(), true).unwrap()), "disk.img");
    }
}
