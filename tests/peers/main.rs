//! The parts of the benchmark (`benches/peers`) that can be tested without measuring anything: a benchmark has no tests of its
//! own.

/// As in the benchmark.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Includes a part, and its tests.
macro_rules! part {
    ($name:ident, $path:literal, $tests:ident, $file:literal) => {
        #[path = $path]
        #[allow(dead_code, reason = "the benchmark uses the rest")]
        mod $name;
        #[path = $file]
        mod $tests;
    };
}

part!(alternate, "../../benches/peers/alternate.rs", of_alternate, "alternate.rs");
part!(initramfs, "../../benches/peers/peer/initramfs.rs", of_initramfs, "initramfs.rs");
part!(load, "../../benches/peers/load.rs", of_load, "load.rs");
part!(options, "../../benches/peers/options.rs", of_options, "options.rs");
part!(page, "../../benches/peers/page.rs", of_page, "page.rs");
part!(picture, "../../benches/peers/picture/mod.rs", of_picture, "picture.rs");
part!(report, "../../benches/peers/report.rs", of_report, "report.rs");
part!(screen, "../../benches/peers/screen.rs", of_screen, "screen.rs");
part!(stats, "../../benches/peers/stats.rs", of_stats, "stats.rs");
