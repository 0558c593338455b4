//! The command line.

use crate::options::{Options, parse};

const SECTIONS: [(&str, &str); 2] = [("boot", "how long"), ("files", "how fast")];

fn of(line: &str) -> Result<Options, clap::Error> {
    parse(&SECTIONS, format!("peers {line}").split_whitespace().map(str::to_owned))
}

#[test]
fn without_options_all_is_measured_and_cargos_own_is_ignored() {
    let options = of("--bench").unwrap();
    assert_eq!((options.only.len(), options.quick, options.no_peer), (2, false, false));
}

#[test]
fn sections_are_chosen_and_unknown_ones_refused() {
    let options = of("--quick --no-peer --only files").unwrap();
    assert_eq!(options, Options { quick: true, only: vec!["files".into()], no_peer: true });
    assert_eq!(of("--only files,boot").unwrap().only, ["files", "boot"]);
    assert!(of("--only nothing").unwrap_err().to_string().contains("boot"));
}
