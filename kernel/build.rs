//! Hands the linker script to the linker. No compiler flags: the kernel and the user programs share one build
//! of `core`, so what differs between them is said to the linker only.

fn main() {
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo::rustc-link-arg-bins=-T{here}/link.ld");
    println!("cargo::rustc-link-arg-bins=--no-pie");
    println!("cargo::rustc-link-arg-bins=-znorelro");
    println!("cargo::rerun-if-changed=link.ld");
}
