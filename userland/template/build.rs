//! How the program is linked: as a static-PIE that relocates itself, with data that is not code (docs/syscalls.md, "The
//! start of a program").

fn main() {
    for argument in [
        "-pie",
        "--no-dynamic-linker",
        "-zmax-page-size=4096",
        "-znoexecstack",
        "--pack-dyn-relocs=none",
        "-ztext",
        "--build-id=none",
    ] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
