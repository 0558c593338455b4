//! Tools about what is in files.

use std::path::Path;

use crate::{GUEST, check};

#[test]
fn files_are_printed_counted_and_cut() {
    let mut askr = GUEST.take();
    let end = "last without end";
    check(
        &mut askr,
        &[
            ("head -n 2 /data/text", "one\ntwo words\n", 0),
            ("head -1 /data/text", "one\n", 0),
            ("head -c 5 /data/text; echo", "one\nt\n", 0),
            (
                "head -n1 /data/text /data/in/deep/text",
                "==> /data/text <==\none\n\n==> /data/in/deep/text <==\nhidden treasure\n",
                0,
            ),
            (
                "head -n x /data/text",
                "head: invalid number of lines: 'x'\nTry 'head --help' for more information.\n",
                1,
            ),
            ("tail -n 2 /data/text; echo", &format!("eleven\n{end}\n"), 0),
            ("tail -c 3 /data/text; echo", "end\n", 0),
            ("tail -n +11 /data/text; echo", &format!("eleven\n{end}\n"), 0),
            ("tail -n 2 /data/large", "line 19998\nline 19999\n", 0),
            ("wc /data/text", "     11      15      78 /data/text\n", 0),
            ("wc -l /data/large", "20000 /data/large\n", 0),
            (
                "wc -c /data/bytes /nothing",
                "    320 /data/bytes\nwc: /nothing: No such file or directory\n    320 total\n",
                1,
            ),
            ("cat -n /data/in/deep/text", "     1\thidden treasure\n", 0),
            (
                "cat /nothing /data/in/deep/text",
                "cat: /nothing: No such file or directory\nhidden treasure\n",
                1,
            ),
            ("cat /data", "cat: /data: Is a directory\n", 1),
            ("cat --nope", "cat: unrecognized option '--nope'\nTry 'cat --help' for more information.\n", 1),
        ],
    );
}

#[test]
fn lines_are_put_in_order_and_numbers_counted_off() {
    let mut askr = GUEST.take();
    check(
        &mut askr,
        &[
            ("sort -r /data/in/deep/text /data/in/deep/text", "hidden treasure\nhidden treasure\n", 0),
            ("sort -u /data/in/deep/text /data/in/deep/text", "hidden treasure\n", 0),
            ("seq 3", "1\n2\n3\n", 0),
            ("seq 5 -2 0", "5\n3\n1\n", 0),
            ("seq x", "seq: invalid number 'x'\nTry 'seq --help' for more information.\n", 1),
        ],
    );
}

#[test]
fn patterns_find_their_lines() {
    let mut askr = GUEST.take();
    check(
        &mut askr,
        &[
            ("grep -n five /data/text", "", 1),
            ("grep -in five /data/text", "5:Five\n", 0),
            ("grep -c e /data/text", "8\n", 0),
            ("grep -vc e /data/text", "4\n", 0),
            ("grep -x six /data/text", "six\n", 0),
            ("grep '^t' /data/text", "two words\nten\n", 0),
            ("grep -E '^(ten|two).*s?$' /data/text", "two words\nten\n", 0),
            ("grep -o 'e[a-z]*n' /data/text", "even\nen\neleven\nen\n", 0),
            ("grep -w word /data/text", "", 1),
            ("grep -rl treasure /data", "/data/in/deep/text\n", 0),
            ("grep -r treasure /data/in", "/data/in/deep/text:hidden treasure\n", 0),
            ("grep -q one /data/text", "", 0),
            ("grep one /nothing", "grep: /nothing: No such file or directory\n", 2),
            ("grep -s one /nothing", "", 2),
            ("grep '[' /data/text", "grep: unmatched [\nTry 'grep --help' for more information.\n", 2),
        ],
    );
}

#[test]
fn bytes_are_shown_as_the_host_shows_them() {
    let mut askr = GUEST.take();
    for line in ["hexdump -C", "hexdump", "hexdump -n 20", "hexdump -s 250 -n 30 -C"] {
        let host = std::process::Command::new("hexdump")
            .args(line.split(' ').skip(1))
            .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools-bytes"))
            .output();
        let Ok(host) = host.map(|output| String::from_utf8(output.stdout).unwrap()) else {
            return eprintln!("this host has no hexdump to compare with");
        };
        let shown = askr.run(&format!("{line} /data/bytes")).replace("\r\n", "\n");
        assert_eq!(shown, host, "{line}");
    }
}

#[test]
fn echo_obeys_what_it_is_told() {
    let mut askr = GUEST.take();
    check(
        &mut askr,
        &[
            (r"/bin/echo -n a; /bin/echo b", "ab\n", 0),
            (r"/bin/echo -e 'a\tb\x41'", "a\tbA\n", 0),
            (r"/bin/echo 'a\tb'", "a\\tb\n", 0),
            (r"/bin/echo -x -- a", "-x -- a\n", 0),
        ],
    );
}
