//! Paths, keys and lines as people type them.

use crate::Seed;

fn named(texts: &[(&str, &str)]) -> Vec<Seed> {
    texts.iter().map(|&(name, text)| (name.to_owned(), text.as_bytes().to_vec())).collect()
}

/// Commands of the paths target.
pub(crate) fn paths() -> Vec<Seed> {
    let deep = (1..40).map(|n| format!("l/l{}\t/l{n}\n", n + 1)).collect::<String>() + "g/l1\n";
    let long = format!("m/{}\nm/{}\nw/{}/x\tx\n", "n".repeat(255), "n".repeat(256), "a/".repeat(2048));
    let full = (0..60).map(|n| format!("m/d{n}\n")).collect::<String>() + "w/f\tx\nr/d1\nw/f\tx\n";
    let mut seeds = named(&[
        ("root", " /\n ///\n ..\n .\n"),
        ("dots", "m/a\nm/a/b\nc/a/b\n ../..//b/./x\n .\n ..\nr.\nr..\n"),
        ("files", "w/f\thello\nw/f\tagain\nu/f\nu/f\nw/f/\tx\nw/f/x\tx\n"),
        ("tree", "m/tmp\nm/tmp/a\nw/tmp/a/f\tx\nr/tmp/a\nu/tmp/a/f\nr/tmp/a\n"),
        ("links", "m/d\nw/d/f\tx\nld\t/l\ng/l\ng/l/f\nu/l/f\n /l/\nu/l\nu/l/\n"),
        ("absolute-link", "m/a\nm/a/b\nl/a/b\t/x\nm/x/c\nr/x/c/\ng/x/..\n"),
        ("loop", "la\t/a\ng/a\n /a\nlb\t/c\nlc\t/b\ng/b\nw/b\tx\nu/a\n"),
        ("dangling", "lnone\t/l\nw/l\tx\ng/l\n /none\nlno/where\t/m\nw/m\tx\n"),
        ("rename", "m/a\nw/a/f\tx\nn/a\t/b\nn/b/f\t/b/g\nn/b\t/b/c\nn/b/g\t/b\nn/b/g\t/h\nn/h\t/h\n"),
        ("rename-over", "w/a\t1\nw/b\t2\nn/a\t/b\nm/c\nm/d\nn/c\t/d\nn/b\t/d\nn/d\t/b\n"),
        (
            "mount",
            "m/m\no/m\nw/m/f\tx\nn/m/f\t/f\nr/m\nm/e\nn/e\t/m\nn/m\t/e\nc/m\n ..\nm/m/d\no/m/d\nu/m/f\n",
        ),
        ("bin", "m/bin\nw/bin/sh\tx\nl/bin\t/b\n /b/sh\ng/b\n /binary\nc/bin\n sh\n"),
        ("slashes", "m/a//b\nm//a\nm//a//b//\n //a//b//\n /a/b/.\n /a/b/..//.\n"),
        ("bytes", "w/\u{fe}\tx\nw/a b\tx\nw/grüße\tx\n /\0x\nm/\u{1F600}\n"),
        ("empty", "\n \nm\nl\t/x\nlx\t\n"),
    ]);
    for (name, text) in [("link-chain", deep), ("long", long), ("full", full)] {
        seeds.push((name.to_owned(), text.into_bytes()));
    }
    seeds.push(("no-utf-8".to_owned(), b"w/\xff\xfe\tx\nl\xff\xfe\t/l\ng/l\nu/\xff\xfe\n".to_vec()));
    seeds
}

/// Output of the screen target: its size in two bytes, then what is written.
pub(crate) fn output() -> Vec<Seed> {
    let mut seeds = named(&[
        ("lines", "\u{5}\u{9}Welcome to Askr.\r\naskr$ ls\r\nbin  etc\ttmp\r\n\u{7}\u{8}x"),
        (
            "editor",
            "\u{4}\u{c}\u{1b}7\u{1b}[999;999H\u{1b}[6n\u{1b}8askr$ abc\u{1b}[2D\u{1b}[Jbc\u{1b}[A\u{1b}[B\u{1b}[C",
        ),
        ("clear", "\u{4}\u{8}one\r\ntwo\u{1b}[H\u{1b}[2Jthree\u{1b}[1K\u{1b}[1J\u{1b}[K"),
        ("colors", "\u{3}\u{14}a\u{1b}[1;31;44mb\u{1b}[7mc\u{1b}[0md\u{1b}[97;103me\u{1b}[38;5;1mf\u{1b}[m"),
        ("wide", "\u{3}\u{7}世界世界\u{1b}[3D\u{1b}[P\u{1b}[@é\u{301}\u{8}x"),
        (
            "cursor",
            "\u{5}\u{a}\u{1b}[3;4Hx\u{1b}[s\u{1b}[1;1f\u{1b}[u\u{1b}M\u{1b}D\u{1b}E\u{1b}[?25l\u{1b}[?25h\u{1b}[5G\u{1b}[2d\u{1b}c",
        ),
        ("unknown", "\u{2}\u{20}\u{1b}]0;title\u{7}a\u{1b}[?2004hb\u{1b}P1$q\u{1b}\\c\u{1b}(0d\u{18}"),
    ]);
    seeds.push((
        "pauses".to_owned(),
        b"\x06\x10one\xfe\x05\r\ntwo\xfe\x02\x1b[2J\xfe\xffthree\xfe\x01".to_vec(),
    ));
    seeds.push(("no-utf-8".to_owned(), b"\x02\x06a\xff\xe4\xbd\x1b[C\xf0\x9fb\xc3".to_vec()));
    seeds
}

/// Keys of the terminal target.
pub(crate) fn keys() -> Vec<Seed> {
    let typed_ahead = "echo x\r".repeat(300) + "\0r\u{7f}";
    let mut seeds = named(&[
        ("line", "ls -l /tmp\r\0r\u{40}"),
        ("lines", "one\ntwo\r\nthree\0r\u{2}\0r\u{40}\0r\u{0}\0r\u{40}"),
        ("erase", "lss\u{7f}\u{8} -l\u{17}\u{15}x\r\0r\u{40}"),
        ("wide", "grüße\u{7f}\u{7f} 世界\u{7f}\u{17}\u{1F600}\u{7f}e\u{301}\u{7f}\r\0r\u{40}"),
        ("interrupt", "ahead\rhalf\u{3}ls\r\0r\u{40}"),
        ("end-of-file", "\u{4}\0r\u{40}part\u{4}\0r\u{40}x\u{4}\u{4}\0r\u{40}\0r\u{40}"),
        ("control", "\u{1b}[A\u{1b}OP\0\0\t\u{9b}1m\u{1}\r\0r\u{40}"),
        ("tabs", "a\tb\u{7f}\u{7f}\tc  \u{17}\r\0r\u{40}"),
        ("raw", "\0m\u{0}abc\r\u{3}\u{7f}\0r\u{1}\0r\u{40}"),
        ("to-raw", "one\rtwo\0m\u{0}\0r\u{40}"),
        ("to-lines", "\0m\u{0}one\rtwo\u{8}\0m\u{7}\r\0r\u{40}\0r\u{40}"),
        ("no-echo", "\0m\u{5}secret\u{7f}\r\0r\u{40}"),
        ("no-signals", "\0m\u{3}a\u{3}b\r\0r\u{40}"),
    ]);
    seeds.push(("typed-ahead".to_owned(), typed_ahead.into_bytes()));
    seeds.push(("no-utf-8".to_owned(), b"a\xff\x80\x80\x7f\xe4\xbd\x7f\xf0\x9f\x98\x17\r\0r\x40".to_vec()));
    seeds.push(("long".to_owned(), [&[b'x'; 4100][..], b"\x7f\r\0r\xff"].concat()));
    seeds.push(("full".to_owned(), [&[b'\r'; 300][..], b"x\r\0r\xffy\r"].concat()));
    seeds
}

/// Texts for the shell.
pub(crate) fn lines() -> Vec<Seed> {
    named(&[
        ("words", "ls -l /tmp\n"),
        ("single", "echo 'a  b' '$x' ''\n"),
        ("double", "echo \"a $HOME \\\" \\$ \\\\ \\n $?\"\n"),
        ("joined", "a'b'\"c\"\\ d$E'f'\n"),
        ("dollars", "echo $? $HOME/x $1 $ $$ $_a ${10} $10\n"),
        ("chain", "true && echo a || echo b; false & sleep 1 &\n"),
        ("lines", "a &&\n\n b\nc\n"),
        ("comment", "echo a#b # 'c\nd #\n"),
        ("continued", "echo a\\\nb \"c\\\nd\" \\\n\n"),
        ("open-single", "echo 'a"),
        ("open-double", "echo \"a$B"),
        ("end-backslash", "a\\"),
        ("pipe", "! a | b |\nc"),
        ("redirect", "a > b < c 2>&1 >>d <&- 3<>e >|f &>g &>>h"),
        ("here", "cat <<A <<'B' <<-C; x\n$a `b` \\$ $(c)\nA\n$a\nB\n\t\td\n\tC\ny"),
        ("subshell", "(a; b) >c; { d; e; }"),
        ("substitution", "`a \\`b\\`` $(c \"$(d)\") \"`e`\""),
        ("parameters", "${a} ${a:-b c} \"${a:+'d'}\" ${a#*x} ${a%%\"*\"} ${#a} ${#} ${a:=$b} ${a?}"),
        ("arithmetic", "echo $((1 + (a << 2) * 0x10 % 7)) $((a = b ? 1 : 2)) $((~1 && !a))"),
        ("if", "if a; then b; elif c; then d; else e; fi >f"),
        ("loops", "while a; do b; break; done; until c; do d; done"),
        ("for", "for x in a *.c \"$@\"; do b; done; for y do c; done"),
        ("case", "case $a in a|b) c;; (*) d; esac"),
        ("function", "f() { a \"$@\"; return; }\ng() (b)\nf 1 2"),
        ("assign", "A=1 B='2 3'$a c D=4\nE=\n"),
        ("patterns", "x * ? [!a-c]* .* */x '*' \\?"),
        ("split", "x $a \"$a\" b$a\"c\"$a \"$@\" \"$*\" $*"),
        ("operators", "; a && || & ;; b |"),
        ("ai", "  ai what's up; tell me \n"),
        ("ai-lines", "ai x\necho y"),
        ("ai-word", "aim x"),
        ("utf-8", "echo grüße 世界 '\u{1F600}'"),
        ("blanks", " \t\r\n\r\t "),
        ("deep", "$($($($($($($($($($($($($($($($($($($($($($($($($($($($($("),
    ])
}

/// Keys of the line editor's target, as terminals send them (`console_codes(4)`, "ctlseqs" of xterm).
pub(crate) fn edits() -> Vec<Seed> {
    let mut seeds = named(&[
        ("line", "ls -l /tmp\r"),
        ("arrows", "ls\u{1b}[D\u{1b}[D\u{1b}[C-\u{1b}OD\u{1b}OC\r"),
        ("ends", "two\u{1}one \u{5} three\u{1b}[H0 \u{1b}[F!\u{1b}[1~\u{1b}[4~\u{1b}OH\u{1b}OF\r"),
        ("words", "one two/three\u{1b}b\u{1b}b\u{1b}f\u{1b}[1;5D\u{1b}[1;5C\u{1b}d\u{1b}\u{7f}\u{17}\r"),
        ("cut-paste", "one two\u{17}\u{19}\u{19}\u{1}\u{b}\u{19}\u{15}\u{19}\r"),
        ("delete", "abc\u{7f}\u{8}\u{2}\u{4}\u{1b}[3~\u{6}x\r"),
        ("history", "one\rtwo\rthree\r\u{1b}[A\u{1b}[A\u{1b}[Bx\r\u{10}\u{e}\u{1b}OA\u{1b}OB\r"),
        ("search", "find me\rother\r\u{12}fin\u{12}\u{7f}d\r\u{12}zz\u{7}kept\r\u{12}o\u{1b}[D!\r"),
        ("control", "x\u{3}\u{4}abc\u{c}\u{4}\u{1}\u{4}\r"),
        ("size", "\u{1b}[24;80Rx\u{1b}[0;0R\u{1b}[9999;9999R\u{1b}[1;1Rabc\r"),
        ("resize", "a long line of many words\0s\u{5}\u{8}\u{1}x\0s\u{1}\u{1}y\0s\u{18}\u{50}\r"),
        ("narrow", "\0s\u{2}\u{3}grüße 世界 \u{1F600}\u{1b}[D\u{1b}[D\u{7f}\u{5}\r"),
        ("wide", "世界e\u{301}\u{1F468}\u{200D}\u{1F469}\u{1b}[D\u{7f}\u{1b}[D\u{1b}[D\u{301}x\r"),
        ("paste", "\u{1b}[200~echo a\necho\tb\u{3}c\u{1b}[201~\r"),
        ("unknown", "\u{1b}[99~\u{1b}[?25h\u{1b}]0;title\u{7}\u{1b}\u{1b}[[A\u{1b}Zx\u{9b}A\r"),
        ("restart", "half\0pwhole\r\0p\0p"),
        ("completion", "x a\t\t\tb \"a\t\r\t\tz\t\t 'x\t\r"),
        ("tab", "a\tb\u{7f}\u{7f}\0\0\u{16}\u{14}\u{1f}\r"),
    ]);
    seeds.push(("no-utf-8".to_owned(), b"a\xff\x80\xe4\xbd\x7f\xf0\x9f\x98\x1b[D\xc3\x28\r".to_vec()));
    seeds.push(("longest".to_owned(), b"\0full\r\x1b[A\x01\x1b[3~\r".to_vec()));
    seeds.push(("too-long".to_owned(), b"\0fully\r".to_vec()));
    seeds.push(("insert-into-longest".to_owned(), b"\0full\x01y\x7f\x04z\r".to_vec()));
    seeds
}
