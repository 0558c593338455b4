//! Linker settings of the user programs. They are here and not in RUSTFLAGS because the kernel is built by the
//! same cargo call with settings of its own.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    for argument in [
        // Static-PIE is the target's default; state it, so that a change of the default is an error.
        "-pie",
        "--no-dynamic-linker",
        // One page size for the kernel's loader, and no page that is both written and executed.
        "-zmax-page-size=4096",
        "-znoexecstack",
        // `start` applies R_X86_64_RELATIVE and nothing else: no packed or text relocations.
        "--pack-dyn-relocs=none",
        "-ztext",
        "--build-id=none",
    ] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
