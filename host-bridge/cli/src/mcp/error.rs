//! Errors that the model sees: a code, what happened, and what to do about it.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};

use super::text::{Shape, show};

macro_rules! codes {
    ($($name:ident = $code:literal, $hint:literal;)*) => {
        /// Why a call failed, for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Code { $($name,)* }

        impl Code {
            /// Every code.
            #[cfg(test)]
            pub(super) const ALL: &'static [Self] = &[$(Self::$name,)*];

            pub(super) const fn name(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What to do about it.
            pub(super) const fn hint(self) -> &'static str {
                match self { $(Self::$name => $hint,)* }
            }
        }
    };
}

codes! {
    NotReady = "not_ready", "start a guest with `cargo run` in Askr's folder, or wait for it with guest_status and wait_ready_ms";
    UnknownGuest = "unknown_guest", "guest_status lists the guests; leave `guest` out for the first one";
    NotFound = "not_found", "fs_list shows what is in a directory, proc_list which processes there are; a job that ended long ago is forgotten";
    Refused = "refused", "the guest does not allow it; asking again does not help";
    BadRequest = "bad_request", "see the tool's input schema; paths begin with /";
    WrongKind = "wrong_kind", "fs_stat tells whether a path is a file or a directory";
    TimedOut = "timed_out", "nothing was changed; try again";
    OutcomeUnknown = "outcome_unknown", "look at the guest before you repeat it: it may have been done";
    GuestRestarted = "guest_restarted", "what the guest knew before is gone; begin again";
    Late = "late", "somebody else answered first, or the program no longer waits; asks_wait shows what is still open";
    NotAChoice = "not_a_choice", "answer with one of the ask's choices, as it is; the ask still waits";
    UnknownAsk = "unknown_ask", "copy the name of an ask from asks_wait";
    CannotAsk = "cannot_ask", "answer the ask yourself with ask_answer, or leave it: it still waits";
    Busy = "busy", "try again a little later";
    TooLarge = "too_large", "give less at once: a file in parts, a shorter path or answer";
    Cancelled = "cancelled", "the client ended the call";
    Failed = "failed", "errno says what the guest answered";
    Protocol = "protocol", "guest and bridge may be of different versions; build both from one tree";
    Internal = "internal", "this is a defect of askr-bridge; the other tools still work";
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    code: Code,
    message: String,
    /// The guest's status, such as `ENOENT`.
    errno: Option<String>,
    boot: Option<String>,
    /// The request was sent, and no reply came.
    unanswered: bool,
}

impl Failure {
    pub(super) fn new(code: Code, message: impl AsRef<str>) -> Self {
        // It may quote the guest.
        let message = show(message.as_ref().as_bytes(), Shape::Line).0;
        Self { code, message, errno: None, boot: None, unanswered: false }
    }

    /// With the boot of the guest that it is of.
    pub(super) fn in_boot(self, boot: Option<String>) -> Self {
        Self { boot, ..self }
    }

    /// After a request that was sent and not answered.
    pub(super) fn unanswered(self) -> Self {
        Self { unanswered: true, ..self }
    }

    /// With another code, if the request was not answered.
    pub(super) fn if_unanswered(self, code: Code) -> Self {
        Self { code: if self.unanswered { code } else { self.code }, ..self }
    }

    /// Of a call that had changed something before it failed: that it changed nothing must not be said.
    pub(super) fn after_a_change(self) -> Self {
        match self.code {
            Code::NotReady | Code::TimedOut | Code::Busy => Self { code: Code::OutcomeUnknown, ..self },
            _ => self,
        }
    }

    /// With words before what happened.
    pub(super) fn after(self, words: &str) -> Self {
        Self { message: format!("{words}: {}", self.message), ..self }
    }

    /// An error of the hub.
    pub(super) fn of_hub(code: &str, message: &str, boot: Option<String>) -> Self {
        let errno = code.starts_with('E').then(|| show(code.as_bytes(), Shape::Line).0);
        Self { errno, boot, ..Self::new(of_hub(code), message) }
    }

    /// The boot of the guest that it is of, where that is known.
    pub(super) fn boot(&self) -> Option<&str> {
        self.boot.as_deref()
    }

    pub(super) const fn code(&self) -> Code {
        self.code
    }

    /// What happened and what to do about it, on one line.
    pub(super) fn text(&self) -> String {
        format!("{}: {} ({})", self.code.name(), self.message, self.code.hint())
    }

    /// What the client gets. There is no structured content: clients check that against the schema of a success.
    pub(super) fn into_result(self) -> CallToolResult {
        let mut fields = Map::new();
        fields.insert("code".into(), self.code.name().into());
        fields.insert("message".into(), self.message.into());
        fields.insert("hint".into(), self.code.hint().into());
        let optional = [("errno", self.errno), ("boot", self.boot)];
        for (name, value) in optional {
            if let Some(value) = value {
                fields.insert(name.into(), value.into());
            }
        }
        CallToolResult::error(vec![ContentBlock::text(Value::Object(fields).to_string())])
    }
}

/// From the hub's codes and the guest's (`docs/host.md`) to those of the tools.
fn of_hub(code: &str) -> Code {
    match code {
        "ENOENT" | "ESRCH" => Code::NotFound,
        "EPERM" | "EACCES" | "EROFS" => Code::Refused,
        "EINVAL" | "ENAMETOOLONG" | "bad_request" | "unknown_op" | "line_too_long" => Code::BadRequest,
        "ENOTDIR" | "EISDIR" => Code::WrongKind,
        "EAGAIN" | "EBUSY" | "overloaded" | "too_many_clients" | "too_many_waits" | "session_lost" => {
            Code::Busy
        }
        "not_ready" | "hub_stopping" => Code::NotReady,
        "timed_out" => Code::TimedOut,
        "outcome_unknown" => Code::OutcomeUnknown,
        "guest_restarted" => Code::GuestRestarted,
        "too_large" => Code::TooLarge,
        "not_a_choice" => Code::NotAChoice,
        "late" => Code::Late,
        "unknown_ask" => Code::UnknownAsk,
        errno if errno.starts_with('E') => Code::Failed,
        _ => Code::Protocol,
    }
}

#[cfg(test)]
mod tests {
    use host_bridge::json::Problem;

    use super::*;

    #[test]
    fn every_error_of_the_hub_has_a_code() {
        for problem in Problem::ALL {
            let known = of_hub(problem.code()) != Code::Protocol;
            assert!(known || *problem == Problem::Protocol, "{}", problem.code());
        }
        assert_eq!(of_hub("ENOSPC"), Code::Failed);
    }

    #[test]
    fn codes_are_distinct_and_on_the_page() {
        let page = include_str!("../../../../docs/mcp.md");
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert!(names.iter().all(|name| page.contains(&format!("| `{name}` |"))), "missing in docs/mcp.md");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }

    #[test]
    fn an_error_is_one_line_of_json_without_controls() {
        let failure = Failure::of_hub("ENOENT", "/\u{1b}[2J\n: gone", Some("0123".into()));
        let result = failure.into_result();
        assert_eq!((result.is_error, result.structured_content), (Some(true), None));
        let text = &result.content[0].as_text().unwrap().text;
        let json: Value = serde_json::from_str(text).unwrap();
        assert_eq!(
            (&json["code"], &json["errno"], &json["boot"]),
            (&"not_found".into(), &"ENOENT".into(), &"0123".into())
        );
        assert_eq!(json["message"], "/\\x1b[2J\\n: gone");
        assert!(!text.chars().any(char::is_control));
    }
}
