//! Builds the kernel and the user programs for `x86_64-unknown-none` with one nested cargo, packs the
//! programs into an initrd (tar), and tells the `askr` package where both files are:
//!
//! - `ASKR_KERNEL`: the kernel's ELF file, with symbols
//! - `ASKR_INITRD`: the tar file with `/bin/*` and `/etc/*`
//! - with the feature `disk-image`, `ASKR_IMAGE_BUILDER`: the program that packs both into a disk image (`image/`), and
//!   `ASKR_IMAGE_KERNEL`: the kernel without its debug information
//! - `ASKR_STATE_DIR`: the folder for sockets and other things of a run (`<target dir>/askr`)
//!
//! Cargo reruns this script only when something under `kernel/` or `userland/` changes, so an unchanged
//! tree starts at once.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target of everything that runs in the guest.
const GUEST_TARGET: &str = "x86_64-unknown-none";

/// What the guest is built from; a change in any of them reruns this script.
const INPUTS: [&str; 6] =
    ["kernel", "userland", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "build.rs"];

/// Settings of the outer build that must not reach the nested one: lint drivers, compiler wrappers,
/// flags such as `--cfg loom`, another target or profile.
const OUTER_ONLY: [&str; 9] = [
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_BUILD_DIR",
];

/// Flags for everything in the guest, `core` included: a fault's backtrace walks the frame pointers.
/// `.ci/run` has the same for clippy, else each would throw away what the other compiled.
const GUEST_RUSTFLAGS: &str = "-Cforce-frame-pointers=yes";

/// Prefixes of more such settings (`CARGO_BUILD_RUSTC_WRAPPER`, `CARGO_PROFILE_RELEASE_DEBUG`, …).
const OUTER_ONLY_PREFIXES: [&str; 4] =
    ["CARGO_BUILD_RUSTC", "CARGO_PROFILE_", "CARGO_TARGET_X86_64_UNKNOWN_NONE_", "CLIPPY_"];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() {
    if let Err(error) = build() {
        // Cargo shows a failed build script's standard error, so this comes after rustc's own errors.
        eprintln!("askr: {error}");
        std::process::exit(1);
    }
}

fn build() -> Result<()> {
    let workspace = PathBuf::from(env("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env("OUT_DIR")?);
    let target_dir = target_dir(&out)?;
    for input in INPUTS {
        println!("cargo::rerun-if-changed={input}");
    }

    let built = build_guest(&workspace, &target_dir.join("guest"))?;

    // Copies, so that a later build for another profile can't change the files under a running guest.
    let kernel = out.join("askr-kernel");
    fs::copy(built.join("askr-kernel"), &kernel)?;
    let initrd = out.join("initrd.tar");
    pack_initrd(&workspace, &built, &out, &initrd)?;

    if std::env::var_os("CARGO_FEATURE_DISK_IMAGE").is_some() {
        println!("cargo::rerun-if-changed=image");
        let bare = out.join("askr-kernel-bare");
        strip(&objcopy()?, &kernel, &bare)?;
        let builder = out.join("askr-image");
        fs::copy(build_image_builder(&workspace, &target_dir.join("image"))?, &builder)?;
        println!("cargo::rustc-env=ASKR_IMAGE_KERNEL={}", utf8(&bare)?);
        println!("cargo::rustc-env=ASKR_IMAGE_BUILDER={}", utf8(&builder)?);
    }

    println!("cargo::rustc-env=ASKR_KERNEL={}", utf8(&kernel)?);
    println!("cargo::rustc-env=ASKR_INITRD={}", utf8(&initrd)?);
    println!("cargo::rustc-env=ASKR_STATE_DIR={}", utf8(&target_dir.join("askr"))?);
    Ok(())
}

/// The target folder of the outer build: the ancestor of `OUT_DIR` that cargo marked as a cache.
fn target_dir(out: &Path) -> Result<PathBuf> {
    out.ancestors()
        .find(|dir| dir.join("CACHEDIR.TAG").is_file())
        .map(Path::to_path_buf)
        .ok_or_else(|| format!("no target folder above {}", out.display()).into())
}

/// Builds kernel and userland into `guest_dir` and returns the folder with the finished programs.
///
/// The folder is shared by all profiles of the outer build: `core` and `alloc` are compiled once. It is a
/// target folder of its own, with a lock of its own, so the nested cargo never waits for the outer one.
fn build_guest(workspace: &Path, guest_dir: &Path) -> Result<PathBuf> {
    let hint = if guest_dir.exists() { "" } else { " (about a minute the first time)" };
    announce(&format!("building kernel and user programs for {GUEST_TARGET}{hint}"));
    let mut cargo = nested_cargo(workspace, guest_dir)?;
    cargo.args(["--target", GUEST_TARGET, "-p", "askr-kernel", "-p", "askr-userland"]);
    // This also overrides `build.rustflags` of the user's own cargo configuration.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", GUEST_RUSTFLAGS);
    if !has_guest_std()? {
        // No ready-made `core` for the target (Debian's packages): build it from rust-src. The two -Z
        // options need RUSTC_BOOTSTRAP on a stable cargo; the guest's own code uses no unstable feature.
        cargo
            .args(["-Zbuild-std=core,alloc,compiler_builtins", "-Zbuild-std-features=compiler-builtins-mem"])
            .env("RUSTC_BOOTSTRAP", "1");
    }
    let status = cargo.status().map_err(|error| format!("can't start cargo for the guest: {error}"))?;
    if !status.success() {
        return Err("the kernel or the user programs did not build; the errors are above".into());
    }
    Ok(guest_dir.join(GUEST_TARGET).join("release"))
}

/// Builds the program that makes disk images, in a target folder of its own, and returns its path.
///
/// The boot loader's build script compiles the stages for BIOS and UEFI with more nested cargos, for targets without a
/// ready-made `core`: that takes rust-src, unstable options (RUSTC_BOOTSTRAP), and LLVM's tools in the toolchain.
fn build_image_builder(workspace: &Path, image_dir: &Path) -> Result<PathBuf> {
    let rustlib = rustc_print(&["sysroot"])?.join("lib/rustlib");
    let has_tools = |folder: PathBuf| {
        ["llvm-objcopy", "llvm-objdump"].iter().all(|tool| folder.join("bin").join(tool).is_file())
    };
    if !sorted_entries(&rustlib)?.into_iter().any(has_tools) {
        return Err(
            "the disk image's boot loader needs LLVM's tools; ./qemu/setup.sh --image installs them".into()
        );
    }
    let hint = if image_dir.exists() { "" } else { " (about five minutes on two cores the first time)" };
    announce(&format!("building the boot loader of the disk image{hint}"));
    let mut cargo = nested_cargo(workspace, image_dir)?;
    cargo.args(["--locked", "--manifest-path", "image/Cargo.toml"]).env("RUSTC_BOOTSTRAP", "1");
    let status = cargo.status().map_err(|error| format!("can't start cargo for the boot loader: {error}"))?;
    if !status.success() {
        return Err("the boot loader of the disk image did not build; the errors are above".into());
    }
    Ok(image_dir.join("release/askr-image"))
}

/// `cargo build --release` with a target folder of its own, without the settings that are the outer build's.
fn nested_cargo(workspace: &Path, target_dir: &Path) -> Result<Command> {
    let mut cargo = Command::new(env("CARGO")?);
    cargo.current_dir(workspace).args(["build", "--release", "--target-dir"]).arg(target_dir);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if OUTER_ONLY.contains(&&*text) || OUTER_ONLY_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
            cargo.env_remove(&name);
        }
    }
    Ok(cargo)
}

/// Whether the toolchain brings `core` for the guest's target (rustup's does).
fn has_guest_std() -> Result<bool> {
    let libdir = rustc_print(&["target-libdir", "--target", GUEST_TARGET])?;
    Ok(libdir.is_dir())
}

/// Runs `rustc --print …`, which prints one path.
fn rustc_print(what: &[&str]) -> Result<PathBuf> {
    let output = Command::new(env("RUSTC")?).arg("--print").args(what).output()?;
    if !output.status.success() {
        return Err(
            format!("rustc --print {}: {}", what.join(" "), String::from_utf8_lossy(&output.stderr)).into()
        );
    }
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim_end()))
}

/// Packs every program of `userland/src/bin` as `/bin/NAME` and every file of `userland/etc` as `/etc/NAME`.
/// The order, owner and times are fixed, so equal input gives an equal file.
fn pack_initrd(workspace: &Path, built: &Path, out: &Path, initrd: &Path) -> Result<()> {
    let mut tar = tar::Builder::new(fs::File::create(initrd)?);
    add_folder(&mut tar, "bin/")?;
    let objcopy = objcopy()?;
    for name in program_names(&workspace.join("userland/src/bin"))? {
        let stripped = out.join("stripped");
        strip(&objcopy, &built.join(&name), &stripped)?;
        add_file(&mut tar, &format!("bin/{name}"), 0o755, &fs::read(&stripped)?)?;
    }
    add_folder(&mut tar, "etc/")?;
    for path in sorted_entries(&workspace.join("userland/etc"))? {
        add_file(&mut tar, &format!("etc/{}", file_name(&path)?), 0o644, &fs::read(&path)?)?;
    }
    tar.into_inner()?;
    Ok(())
}

fn add_folder(tar: &mut tar::Builder<fs::File>, path: &str) -> Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::Directory);
    header.set_mode(0o755);
    header.set_size(0);
    tar.append_data(&mut header, path, std::io::empty())?;
    Ok(())
}

fn add_file(tar: &mut tar::Builder<fs::File>, path: &str, mode: u32, content: &[u8]) -> Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_mode(mode);
    header.set_size(content.len() as u64);
    tar.append_data(&mut header, path, content)?;
    Ok(())
}

/// Programs by their sources: `NAME.rs` or `NAME/main.rs`. Old output of programs that are gone stays out.
fn program_names(bin: &Path) -> Result<Vec<String>> {
    let is_program =
        |path: &Path| path.extension().is_some_and(|ext| ext == "rs") || path.join("main.rs").is_file();
    let sources = sorted_entries(bin)?.into_iter().filter(|path| is_program(path));
    sources.map(|path| file_name(&path.with_extension("")).map(str::to_owned)).collect()
}

fn sorted_entries(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// The toolchain's objcopy, from the component `llvm-tools` or Debian's `rust-web-llvm`.
fn objcopy() -> Result<Option<PathBuf>> {
    let sysroot = rustc_print(&["sysroot"])?;
    let tools = sysroot.join("lib/rustlib").join(env("HOST")?).join("bin");
    Ok(["rust-objcopy", "llvm-objcopy"].iter().map(|name| tools.join(name)).find(|path| path.is_file()))
}

/// Copies a program without its symbols and debug information; the complete file stays for debuggers. Without
/// objcopy the copy is complete too: larger, but the same program.
fn strip(objcopy: &Option<PathBuf>, from: &Path, to: &Path) -> Result<()> {
    let Some(objcopy) = objcopy else {
        fs::copy(from, to)?;
        return Ok(());
    };
    let status = Command::new(objcopy).arg("--strip-all").arg(from).arg(to).status()?;
    if !status.success() {
        return Err(format!("{} could not strip {}", objcopy.display(), from.display()).into());
    }
    Ok(())
}

/// Says on the terminal what takes so long: cargo hides the output of build scripts that succeed.
fn announce(what: &str) {
    let Ok(mut terminal) = fs::OpenOptions::new().write(true).open("/dev/tty") else {
        return;
    };
    // The first part clears cargo's progress line. Nobody needs this message to go on, so its errors don't count.
    let _ = writeln!(terminal, "\r\x1b[Kaskr: {what}");
}

fn env(name: &str) -> Result<OsString> {
    std::env::var_os(name).ok_or_else(|| format!("cargo did not set {name}").into())
}

fn file_name(path: &Path) -> Result<&str> {
    path.file_name()
        .and_then(|name| name.to_str())
        .ok_or_else(|| format!("odd file name {}", path.display()).into())
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| format!("{} is not UTF-8; move the checkout", path.display()).into())
}
