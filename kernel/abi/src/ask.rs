//! Arguments and results of `SYSCALL_AGENT_ASK`.

/// Intent code of a plain question.
pub const INTENT_GENERIC: u32 = 0;
/// Intent code of a request in natural language, what `ai TEXT` sends.
pub const INTENT_NATURAL_LANGUAGE: u32 = 1;
/// Longest question a program may ask, in bytes.
pub const QUESTION_MAX: usize = 256;

/// In and out block of `SYSCALL_AGENT_ASK` (rdi = pointer to it, rsi = its size).
///
/// The size makes it extensible in the manner of Linux's `clone3`: a kernel that knows less than the program
/// accepts a longer block only if the part it does not know is zero (else E2BIG), a kernel that knows more
/// takes what is missing as zero. The smallest size is [`AskArgs::MIN_SIZE`] (else EINVAL).
///
/// Returns 0 when there is a result in `answer` (the agent's, or the default), else −errno: −EAGAIN (no agent
/// attached, or the table of outstanding asks is full), −ETIMEDOUT (nobody answered in time), −EACCES (the
/// agent refused), −EINTR (a signal came first), −EFAULT, −EINVAL, −E2BIG (question over [`QUESTION_MAX`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct AskArgs {
    /// In: [`INTENT_GENERIC`] or [`INTENT_NATURAL_LANGUAGE`].
    pub intent: u32,
    /// In: milliseconds to wait for an answer, at least 1.
    pub timeout_ms: u32,
    /// In: address of the question's bytes.
    pub question: u64,
    /// In: length of the question, 1 to [`QUESTION_MAX`].
    pub question_len: u64,
    /// In: address of the buffer for the answer.
    pub answer: u64,
    /// In: size of that buffer.
    pub answer_cap: u64,
    /// In: address of the default answer, used when nobody decides; 0 for none.
    pub default: u64,
    /// In: length of the default answer.
    pub default_len: u64,
    /// Out: who decided, a [`Decider`].
    pub decider: u32,
    /// Out: with [`Decider::Default`] the errno that the call would have returned without a default, else 0.
    pub reason: u32,
    /// Out: bytes written to `answer`.
    pub answer_len: u64,
    /// Out: length of the whole answer; greater than `answer_len` when the buffer was too small.
    pub answer_total: u64,
}

impl AskArgs {
    /// Size of the first version of this block in bytes; later versions only append.
    pub const MIN_SIZE: usize = 80;
}

const _: () = assert!(size_of::<AskArgs>() == AskArgs::MIN_SIZE);

/// Who decided an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Decider {
    /// Nobody: the call failed.
    Nobody = 0,
    /// The agent on COM2.
    Agent = 1,
    /// A human at COM1.
    Human = 2,
    /// The default that the program gave.
    Default = 3,
}

impl Decider {
    /// The decider with this number, if there is one.
    #[must_use]
    pub const fn from_u32(value: u32) -> Option<Self> {
        Some(match value {
            0 => Self::Nobody,
            1 => Self::Agent,
            2 => Self::Human,
            3 => Self::Default,
            _ => return None,
        })
    }

    /// The word for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Agent => "agent",
            Self::Human => "human",
            Self::Default => "default",
        }
    }
}
