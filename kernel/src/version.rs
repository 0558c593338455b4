//! Who we are: for `uname`, `/proc/version` and HELLO.

/// Name of the system.
pub(crate) const NAME: &str = "Askr";
/// Release of the kernel.
pub(crate) const RELEASE: &str = env!("CARGO_PKG_VERSION");
/// Version string, as `uname -v` shows it.
pub(crate) const VERSION: &str = concat!("#1 ", env!("CARGO_PKG_NAME"));
