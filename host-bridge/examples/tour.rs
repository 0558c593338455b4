//! What a program on the host can do with a running guest. `docs/sdk.md` explains it.

use std::error::Error;
use std::time::Duration;

use host_bridge::client::{Guest, Program, Pushed, find_socket};

fn main() -> Result<(), Box<dyn Error>> {
    // That of `cargo run`, or the one that ASKR_SOCKET names.
    let socket = find_socket(None)?;
    let mut guest = Guest::connect(&socket)?;

    // Files are bytes.
    let motd = guest.read("/etc/motd")?;
    guest.write("/tmp/copy", &motd)?;
    println!("/etc/motd has {} bytes", motd.len());

    // A program that ends badly is no error; a call that fails is one, with a code.
    let finished = guest.run(&Program::new(["sh", "-c", "wc -c; exit 3"]).stdin(&motd))?;
    println!("{:?}, it counts {}", finished.end, String::from_utf8_lossy(&finished.stdout.content).trim());
    let missing = guest.read("/nothing").unwrap_err();
    println!("{}: {missing}", missing.code().unwrap_or("no code"));

    // Another connection is told what happens, from now on.
    let mut follower = Guest::connect(&socket)?.follow(true, true)?;
    let job = guest.spawn(&Program::new(["ask", "-t", "60", "may I?"]))?;
    while let Some(told) = follower.next(Duration::from_secs(60))? {
        match told {
            Pushed::Ask { ask, .. } if ask.asker.as_ref().is_some_and(|(pid, _)| *pid == job.pid) => {
                println!("asked: {}", String::from_utf8_lossy(&ask.question));
                guest.answer(&ask, "yes")?;
            }
            Pushed::Event { event, .. } if event.pid == Some(job.pid) => {
                println!("event: {} of {}", event.kind, String::from_utf8_lossy(&event.name));
                if event.kind == "exit" {
                    break;
                }
            }
            // Of others.
            _ => {}
        }
    }
    if let Some(finished) = guest.wait(job, Duration::from_secs(60))? {
        print!("{}", String::from_utf8_lossy(&finished.stdout.content));
    }
    Ok(())
}
