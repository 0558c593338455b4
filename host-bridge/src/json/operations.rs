//! The operations and their fields, by name: for whoever mistypes one, and for the completion of a command line.

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name.
    pub name: &'static str,
    /// The fields that it has beside those that every request may have.
    pub fields: &'static [&'static str],
}

/// Fields that every request may have.
pub const COMMON_FIELDS: [&str; 4] = ["id", "op", "timeout_ms", "boot"];

/// How like two words must be for one to be meant by the other (Jaro; 1 is the same word).
const LIKE_ENOUGH: f64 = 0.7;

const fn op(name: &'static str, fields: &'static [&'static str]) -> Operation {
    Operation { name, fields }
}

/// One path.
const PATH: &[&str] = &["path", "path_base64"];

/// All operations, in the order of `docs/host.md`.
pub const OPERATIONS: &[Operation] = &[
    op("status", &[]),
    op("ping", &[]),
    op("stats", &[]),
    op("sys.info", &[]),
    op("power", &["action"]),
    op("fs.stat", PATH),
    op("fs.list", PATH),
    op("fs.read", &["path", "path_base64", "offset", "length"]),
    op("fs.write", &["path", "path_base64", "content", "encoding", "mode", "offset", "sync"]),
    op("fs.mkdir", PATH),
    op("fs.remove", PATH),
    op("fs.unlink", PATH),
    op("fs.rmdir", PATH),
    op("fs.rename", &["from", "from_base64", "to", "to_base64"]),
    op("fs.truncate", &["path", "path_base64", "size"]),
    op("fs.info", PATH),
    op("proc.list", &[]),
    op("proc.run", RUN),
    op("proc.spawn", SPAWN),
    op("proc.wait", &["job", "stdout_cursor", "stderr_cursor", "max", "wait_ms", "until"]),
    op("proc.input", &["job", "content", "encoding", "eof"]),
    op("proc.kill", &["pid", "job", "tree", "signal"]),
    op("events.read", &["cursor", "wait_ms"]),
    op("agent.status", &[]),
    op("asks.list", &[]),
    op("asks.wait", &["wait_ms"]),
    op("ask.answer", &["ask", "answer", "answer_base64", "refuse"]),
    op("subscribe", &["asks", "events", "watch"]),
    op("link.capture", &["on"]),
];

const RUN: &[&str] = &[
    "argv",
    "argv_base64",
    "path",
    "path_base64",
    "env",
    "env_base64",
    "cwd",
    "cwd_base64",
    "stdin",
    "stdin_base64",
    "stdin_open",
    "deadline_ms",
    "max_output",
    "max",
];

/// The same, but for how much output its reply may have: it has none.
const SPAWN: &[&str] = RUN.split_at(RUN.len() - 1).0;

impl Operation {
    /// The one with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        OPERATIONS.iter().find(|operation| operation.name == name)
    }

    /// Whether a request for it may have this field.
    pub(super) fn has(&self, field: &str) -> bool {
        self.fields.contains(&field) || COMMON_FIELDS.contains(&field)
    }

    /// What is said of a field that it does not have.
    pub(super) fn unknown_field(&self, field: &str) -> String {
        let fields = self.fields.iter().chain(&COMMON_FIELDS[2..]).copied();
        match nearest(field, fields.clone()) {
            Some(near) => format!("unknown field `{field}`; did you mean `{near}`?"),
            None => {
                let all: Vec<_> = fields.map(|field| format!("`{field}`")).collect();
                format!("unknown field `{field}`: `{}` has {}", self.name, all.join(", "))
            }
        }
    }
}

/// What is said of an operation that there is not.
pub(super) fn unknown_op(name: &str) -> String {
    match nearest(name, OPERATIONS.iter().map(|operation| operation.name)) {
        Some(near) => format!("there is no operation `{name}`; did you mean `{near}`?"),
        None => format!("there is no operation `{name}`"),
    }
}

/// The candidate that is most like the word, if one is like it at all.
fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let rated = candidates.map(|candidate| (strsim::jaro(word, candidate), candidate));
    let best = rated.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > LIKE_ENOUGH).then_some(best.1)
}

#[cfg(test)]
mod tests {
    fn said(line: &str) -> String {
        crate::json::parse(line.as_bytes()).command.unwrap_err().message().to_owned()
    }

    #[test]
    fn what_is_mistyped_is_told_with_the_nearest() {
        assert_eq!(said(r#"{"op":"fs.raed"}"#), "there is no operation `fs.raed`; did you mean `fs.read`?");
        assert_eq!(said(r#"{"op":"xyzzy"}"#), "there is no operation `xyzzy`");
        // Before it is told that something is missing.
        let mistyped = said(r#"{"op":"fs.read","pth":"/a"}"#);
        assert_eq!(mistyped, "unknown field `pth`; did you mean `path`?");
        let unlike = said(r#"{"op":"fs.mkdir","zzz":1}"#);
        assert_eq!(unlike, "unknown field `zzz`: `fs.mkdir` has `path`, `path_base64`, `timeout_ms`, `boot`");
    }
}
