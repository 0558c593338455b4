//! The agreement between the kernel and user programs: system-call numbers, errors and the layouts that
//! cross the boundary. Numbers and layouts are those of Linux on x86-64 (`man 2 syscalls`), so that programs
//! built for Linux run unmodified; what only Askr has lives at [`number::ASKR_BASE`] and above.
#![no_std]
#![forbid(unsafe_code)]

mod agent_conf;
mod ask;
mod errno;
mod names;
pub mod number;
pub mod plan;
pub mod signal;
pub mod terminal;
mod text;
pub mod types;

pub use agent_conf::{
    AGENT_CONF, AGENT_CONF_MAX, BadLine, ConfKey, TIMEOUT_DEFAULT_MS, conf_lines, conf_timeout_ms, conf_value,
};
pub use ask::{
    ASK_EXTRA_MAX, AskArgs, AskBytes, AskPair, CHOICE_MAX, CHOICES_MAX, CONTEXT_KEY_MAX, CONTEXT_MAX,
    Decider, INTENT_GENERIC, INTENT_NATURAL_LANGUAGE, QUESTION_MAX,
};
pub use errno::Errno;
pub use names::call_name;
pub use text::is_hidden;
