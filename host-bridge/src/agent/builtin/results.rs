//! What follows from the output of a step.

use super::super::plan::Plan;
use super::super::request::StepResult;

/// How many entries were listed.
pub(super) fn count(path: &str, result: &StepResult) -> Plan {
    if result.code != Some(0) {
        return Plan::fail("I could not list that.");
    }
    let entries = if result.lines == 1 { "entry" } else { "entries" };
    let place = if path == "." { String::from("here") } else { format!("in {path}") };
    Plan::say(format!("There are {} {entries} {place}.", result.lines))
}

/// A process as `ps` prints it.
struct Process<'o> {
    pid: &'o str,
    state: &'o str,
    memory: &'o str,
    bytes: f64,
    name: &'o str,
}

/// The lines of `ps`: PID, PPID, PGID, STATE, RSS, ORIGIN, NAME.
fn processes(result: &StepResult) -> Vec<Process<'_>> {
    let process = |line| {
        let words: Vec<&str> = str::split_whitespace(line).collect();
        let [pid, _, _, state, memory, _, name, ..] = words[..] else { return None };
        pid.parse::<u32>().ok()?;
        Some(Process { pid, state, memory, bytes: bytes(memory)?, name })
    };
    result.output.lines().filter_map(process).collect()
}

/// A size such as `512`, `1.5K` or `23M`.
fn bytes(size: &str) -> Option<f64> {
    let (number, power) = match size.char_indices().last()? {
        (_, digit) if digit.is_ascii_digit() => (size, 0),
        (at, letter) => (&size[..at], i32::try_from("KMGT".find(letter)?).ok()? + 1),
    };
    Some(number.parse::<f64>().ok()? * 1024_f64.powi(power))
}

/// Who has most memory.
pub(super) fn memory(result: &StepResult) -> Plan {
    let mut all = processes(result);
    all.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    let most: Vec<String> =
        all.iter().take(3).map(|one| format!("{} (process {}): {}", one.name, one.pid, one.memory)).collect();
    match most.split_first() {
        None => Plan::fail("I could not read the list of processes."),
        Some((first, rest)) => {
            let then = if rest.is_empty() { String::new() } else { format!(", then {}", rest.join(", ")) };
            let cut = if result.is_cut { " I saw only the end of the list." } else { "" };
            Plan::say(format!("Most memory has {first}{then}.{cut}"))
        }
    }
}

/// Stops the one process with this name.
pub(super) fn stop(name: &str, result: &StepResult) -> Plan {
    let all = processes(result);
    let found: Vec<&Process<'_>> =
        all.iter().filter(|one| one.name == name && one.state != "zombie").collect();
    match found[..] {
        [one] if !result.is_cut => Plan::run(&["kill", one.pid]),
        [] if result.is_cut => Plan::fail(format!(
            "There are too many processes for me to see all, and none of those that I see is called {name}. Say: ai stop \
             process NUMBER, with a number that ps shows."
        )),
        [] => Plan::fail(format!("No process is called {name}.")),
        _ => {
            let pids: Vec<&str> = found.iter().map(|one| one.pid).collect();
            let pids = pids.join(", ");
            let more = if result.is_cut { " and perhaps others that I do not see" } else { "" };
            Plan::fail(format!("I will not choose: {name} is {pids}{more}. Say: ai stop process NUMBER"))
        }
    }
}

/// What is known of the last failure, or of that of a program.
pub(super) fn failure(name: &str, result: &StepResult) -> Plan {
    let field = |line: &str, key: &str| {
        line.split(' ').find_map(|word| Some(word.strip_prefix(key)?.strip_prefix('=')?.to_owned()))
    };
    let of_it = |line: &&str| name.is_empty() || field(line, "name").as_deref() == Some(name);
    let mut lines: Vec<&str> = result.output.lines().filter(of_it).collect();
    // Whoever asks does not mean an earlier `ai` that could not tell.
    let is_ours = |line: &&str| field(line, "name").as_deref() == Some("ai");
    if name.is_empty() && !lines.iter().all(is_ours) {
        lines.retain(|line| !is_ours(line));
    }
    let Some(last) = lines.last() else {
        return Plan::say(match name {
            "" => "Nothing that the machine still remembers has failed.".to_owned(),
            name => format!("Of the last failures none is of {name}."),
        });
    };
    let of = |key| field(last, key).unwrap_or_else(|| "?".into());
    let (pid, who) = (of("pid"), of("name"));
    // The end of a process that faulted is told after the fault.
    let fault = lines
        .iter()
        .rev()
        .find(|line| line.contains(" fault ") && field(line, "pid").as_deref() == Some(&pid));
    let vector = fault.and_then(|line| field(line, "vector"));
    let told = if let Some(vector) = vector {
        format!(
            "{who} (process {pid}) was ended because of {}. The address and the registers are in the kernel's messages: \
             dmesg",
            exception(&vector)
        )
    } else if last.contains(" oom ") {
        format!("{who} (process {pid}) was ended because there was no more memory; it had {} KiB.", of("kib"))
    } else if last.contains(" disk_full ") {
        format!("The file system at {} became full.", of("mount"))
    } else {
        match of("status").parse::<u32>() {
            Ok(status @ 129..) => format!("{who} (process {pid}) was ended by signal {}.", status - 128),
            Ok(status) => {
                format!("{who} (process {pid}) ended with exit code {status}; it said itself why, if it did.")
            }
            Err(_) => format!("The last failure is: {last}"),
        }
    };
    Plan::say(told)
}

/// What a vector of the processor stands for.
fn exception(vector: &str) -> String {
    match vector {
        "0" => "a division by zero".into(),
        "6" => "an instruction that does not exist".into(),
        "13" => "a general protection fault".into(),
        "14" => "a page fault: it used memory that it does not have".into(),
        other => format!("exception {other} of the processor"),
    }
}
