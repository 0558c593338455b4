//! `--gdb`: the guest waits for a debugger.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

use host_bridge::socket;

use super::support::{Runner, SOON, askr};

/// A packet of gdb's remote protocol with its checksum (GDB manual, E.1).
fn packet(body: &str) -> String {
    let sum = body.bytes().fold(0_u8, u8::wrapping_add);
    format!("${body}#{sum:02x}")
}

#[test]
fn the_guest_waits_for_a_debugger_on_a_socket() {
    let mut command = askr();
    command.args(["--gdb", "--run", "echo went on"]);
    let mut runner = Runner::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut stderr = runner.stderr();
    stderr.wait_for("askr-kernel'\n");
    let (_, path) = stderr.text.split_once("'target remote ").expect("the command");
    let (path, _) = path.split_once('\'').expect("its end");

    let mut debugger = socket::connect(Path::new(path)).expect("the debugger's socket");
    debugger.set_read_timeout(Some(SOON)).expect("timeout");
    debugger.write_all(packet("g").as_bytes()).expect("a packet");
    let mut reply = Vec::new();
    while !reply.contains(&b'#') {
        let mut piece = [0; 4096];
        let count = debugger.read(&mut piece).expect("a reply");
        assert_ne!(count, 0);
        reply.extend_from_slice(&piece[..count]);
    }
    // Taken, and then registers in hexadecimal.
    let reply = String::from_utf8(reply).expect("text");
    assert!(reply.starts_with("+$") && reply.len() > 300, "{reply}");
    assert!(
        reply[2..reply.find('#').expect("the end")].bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{reply}"
    );
    let arguments = runner.qemu_arguments();
    assert!(arguments.contains("-gdb chardev:gdb") && !arguments.contains("tcp"), "{arguments}");

    let mut stdout = runner.stdout();
    assert_eq!(stdout.text, "");
    debugger.write_all(format!("+{}", packet("c")).as_bytes()).expect("a packet");
    stdout.wait_for("went on\n");
    assert_eq!(runner.wait().code(), Some(0));
}
