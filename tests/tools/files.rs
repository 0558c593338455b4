//! Tools about files and directories.

use crate::{GUEST, check};

#[test]
fn files_are_copied_moved_and_removed() {
    let mut askr = GUEST.take();
    check(
        &mut askr,
        &[
            ("mkdir /tmp/a /tmp/a/b; mkdir -p /tmp/a/b/c/d /tmp/a/b", "", 0),
            ("mkdir /tmp/a", "mkdir: cannot create directory '/tmp/a': File exists\n", 1),
            ("mkdir /tmp/x/y", "mkdir: cannot create directory '/tmp/x/y': No such file or directory\n", 1),
            ("cp /data/bytes /data/text /tmp/a; ls /tmp/a", "b\nbytes\ntext\n", 0),
            ("cp /data/large /tmp/a/b/c/d/large; wc -c /tmp/a/b/c/d/large", "208890 /tmp/a/b/c/d/large\n", 0),
            ("ln -s ../text /tmp/a/b/link; readlink /tmp/a/b/link", "../text\n", 0),
            ("cp /tmp/a /tmp/z", "cp: -r not specified; omitting directory '/tmp/a'\n", 1),
            (
                "cp /data/text /data/bytes /tmp/none",
                "cp: target '/tmp/none': No such file or directory\nTry 'cp --help' for more information.\n",
                1,
            ),
            ("cp /nothing /tmp", "cp: cannot stat '/nothing': No such file or directory\n", 1),
            (
                "cp /tmp/a/text /tmp/a/../a/text",
                "cp: '/tmp/a/text' and '/tmp/a/../a/text' are the same file\n",
                1,
            ),
            (
                "cp -r /tmp/a /tmp/a/b/inside",
                "cp: cannot copy a directory, '/tmp/a/b/inside', into itself\n",
                1,
            ),
            (
                "rm -r /tmp/a/b/inside; cp -r /tmp/a /tmp/copy; ls -R /tmp/copy",
                "/tmp/copy:\nb\nbytes\ntext\n\n/tmp/copy/b:\nc\nlink\n\n/tmp/copy/b/c:\nd\n\n/tmp/copy/b/c/d:\nlarge\n",
                0,
            ),
            (
                "hexdump -n 4 -C /tmp/copy/bytes; head -1 /tmp/copy/b/link",
                "00000000  00 01 02 03                                       |....|\n00000004\none\n",
                0,
            ),
            (
                "mv /tmp/copy/text /tmp/copy/b/renamed; ls /tmp/copy /tmp/copy/b",
                "/tmp/copy:\nb\nbytes\n\n/tmp/copy/b:\nc\nlink\nrenamed\n",
                0,
            ),
            (
                "mv /tmp/copy /tmp/copy/b",
                "mv: cannot move '/tmp/copy' to a subdirectory of itself, '/tmp/copy/b/copy'\n",
                1,
            ),
            ("mv /nothing /tmp", "mv: cannot stat '/nothing': No such file or directory\n", 1),
            ("mv -n /data/large /tmp/copy/bytes; wc -c /tmp/copy/bytes", "320 /tmp/copy/bytes\n", 0),
            ("rmdir /tmp/copy", "rmdir: failed to remove '/tmp/copy': Directory not empty\n", 1),
            ("rm /tmp/copy", "rm: cannot remove '/tmp/copy': Is a directory\n", 1),
            ("rm /nothing", "rm: cannot remove '/nothing': No such file or directory\n", 1),
            ("rm -f /nothing", "", 0),
            (
                "rm -r /tmp/copy/.",
                "rm: refusing to remove '.' or '..' directory: skipping '/tmp/copy/.'\n",
                1,
            ),
            ("rm -rf /", "rm: it is dangerous to operate recursively on '/'\n", 1),
            ("rm -rf /bin/..", "rm: refusing to remove '.' or '..' directory: skipping '/bin/..'\n", 1),
            ("rm -r /tmp/a /tmp/copy; ls /tmp", "", 0),
            (
                "mkdir -p /tmp/p/q/r; touch /tmp/p/f; rmdir -p /tmp/p/q/r; rm -r /tmp/p",
                "rmdir: failed to remove '/tmp/p': Directory not empty\n",
                0,
            ),
            (
                "touch /tmp/new /tmp/old; rm -v /tmp/new /tmp/old",
                "removed '/tmp/new'\nremoved '/tmp/old'\n",
                0,
            ),
            ("touch -c /tmp/none; ls /tmp", "", 0),
            (
                "echo 'echo ran $1' > /tmp/s; /tmp/s; chmod -v u+x /tmp/s && /tmp/s well; rm /tmp/s",
                "sh: /tmp/s: Permission denied\nmode of '/tmp/s' is 0744\nran well\n",
                0,
            ),
            (
                "touch /tmp/s; chmod 755 /tmp/s; chmod -x -v /tmp/s; chmod -v -wx,u+w /tmp/s; rm /tmp/s",
                "mode of '/tmp/s' is 0644\nmode of '/tmp/s' is 0644\n",
                0,
            ),
            ("chmod 9 /tmp", "chmod: invalid mode: '9'\nTry 'chmod --help' for more information.\n", 1),
            ("chmod +x /none", "chmod: cannot access '/none': No such file or directory\n", 1),
            (
                "cp /data/text /proc/version",
                "cp: cannot create regular file '/proc/version': Read-only file system\n",
                1,
            ),
        ],
    );
}

#[test]
fn what_leaves_a_file_system_is_copied_and_removed() {
    let mut askr = GUEST.take();
    // /dev takes no files, so the move fails and the source stays whole.
    let shown = askr.run("mkdir /tmp/m; cp /data/text /tmp/m; mv /tmp/m/text /dev/text");
    assert!(shown.starts_with("mv: cannot create regular file '/dev/text': "), "{shown}");
    assert_eq!(askr.status(), 1);
    assert_eq!(askr.run("wc -l /tmp/m/text; rm -r /tmp/m"), "11 /tmp/m/text\r\n");
}

#[test]
fn directories_are_listed_in_many_ways() {
    let mut askr = GUEST.take();
    check(
        &mut askr,
        &[
            ("ls /data/in", "deep\n", 0),
            ("ls -d /data/in", "/data/in\n", 0),
            ("ls -F /data/in", "deep/\n", 0),
            ("ls -R /data/in", "/data/in:\ndeep\n\n/data/in/deep:\ntext\n", 0),
            ("ls -A1r /data/in/deep /data/text", "/data/text\n\n/data/in/deep:\ntext\n", 0),
            ("ls -C /dev", "console  full  null  random  tty  urandom  zero\n", 0),
            ("ls /nothing", "ls: cannot access '/nothing': No such file or directory\n", 2),
        ],
    );
    let shown = askr.run("ls /data");
    assert!(shown.contains("odd \\u{1b}[31m\r\n") && !shown.contains('\u{1b}'), "{shown:?}");
    let long = askr.run("ls -l /data/bytes /dev/null /bin");
    assert!(long.contains("crw-rw-rw-  1 root root 1, 3 "), "{long}");
    assert!(long.contains(" 320 20") || long.contains(" 320 1970"), "{long}");
    assert!(long.contains("\r\n/bin:\r\ntotal ") && long.contains(" grep\r\n"), "{long}");
    assert!(askr.run("ls -lh /bin/grep").contains("K "), "sizes for people");
}

#[test]
fn files_are_found_by_name_and_kind() {
    let mut askr = GUEST.take();
    askr.run("mkdir -p /tmp/f/b/c; touch /tmp/f/one.txt /tmp/f/b/two.txt /tmp/f/b/c/other; ln -s one.txt /tmp/f/link");
    check(
        &mut askr,
        &[
            ("find /tmp/f -name '*.txt'", "/tmp/f/b/two.txt\n/tmp/f/one.txt\n", 0),
            ("find /tmp/f -type d", "/tmp/f\n/tmp/f/b\n/tmp/f/b/c\n", 0),
            ("find /tmp/f -type l -name 'l?nk'", "/tmp/f/link\n", 0),
            ("cd /tmp/f/b; find; cd /", ".\n./c\n./c/other\n./two.txt\n", 0),
            (
                "find /tmp/f/one.txt /nowhere",
                "/tmp/f/one.txt\nfind: /nowhere: No such file or directory\n",
                1,
            ),
        ],
    );
    assert!(askr.run("find /tmp -delete").starts_with("find: '-delete' cannot be used so\r\nusage: find"));
    assert_eq!(askr.status(), 1);
    askr.run("rm -r /tmp/f");
}

#[test]
fn room_on_file_systems_is_shown() {
    let mut askr = GUEST.take();
    let free = |shown: &str| -> u64 {
        let root = shown.lines().find(|line| line.trim_end().ends_with(" /")).unwrap();
        root.split_whitespace().nth(2).unwrap().parse().unwrap()
    };
    let before = free(&askr.run("df"));
    askr.run("cat /data/large /data/large /data/large > /tmp/full");
    let after = free(&askr.run("df"));
    // Three files of 218 KiB.
    assert!(before - after >= 640, "{before} KiB, then {after}");
    assert!(askr.run("df -h /tmp").contains("% /tmp") || askr.run("df -h /tmp").contains("%  /tmp"));
    askr.run("rm /tmp/full");
    assert!(askr.run("df /nowhere").contains("df: /nowhere: No such file or directory"));
}
