//! Arguments and results of `SYSCALL_AGENT_ASK`.

/// Intent code of a plain question.
pub const INTENT_GENERIC: u32 = 0;
/// Intent code of a request in natural language, what `ai TEXT` sends.
pub const INTENT_NATURAL_LANGUAGE: u32 = 1;
/// Longest question a program may ask, in bytes.
pub const QUESTION_MAX: usize = 256;

/// Most choices of an ask.
pub const CHOICES_MAX: usize = 16;
/// Longest choice, in bytes.
pub const CHOICE_MAX: usize = 64;
/// Most pairs of context of an ask.
pub const CONTEXT_MAX: usize = 16;
/// Longest key of such a pair, in bytes.
pub const CONTEXT_KEY_MAX: usize = 64;
/// Most bytes of choices and context together, in the form of the protocol: each choice takes one byte more than it has, each
/// pair three more, and each of the two lists three.
pub const ASK_EXTRA_MAX: usize = 1024;

/// In and out block of `SYSCALL_AGENT_ASK` (rdi = pointer to it, rsi = its size).
///
/// The size makes it extensible in the manner of Linux's `clone3`: a kernel that knows less than the program
/// accepts a longer block only if the part it does not know is zero (else E2BIG), a kernel that knows more
/// takes what is missing as zero. The smallest size is [`AskArgs::MIN_SIZE`] (else EINVAL), that of this version is
/// [`AskArgs::SIZE`].
///
/// Returns 0 when there is a result in `answer` (the agent's, or the default), else −errno: −EAGAIN (no agent
/// attached, or the table of outstanding asks is full), −ETIMEDOUT (nobody answered in time), −EACCES (the
/// agent refused), −EINTR (a signal came first), −EFAULT, −EINVAL, −E2BIG (question over [`QUESTION_MAX`], or choices
/// or context over their limits).
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
    /// In: size of that buffer. At most 4096 bytes of an answer are brought to a program.
    pub answer_cap: u64,
    /// In: address of the default answer, used when nobody decides; 0 for none.
    pub default: u64,
    /// In: length of the default answer, at most 4096.
    pub default_len: u64,
    /// Out: who decided, a [`Decider`].
    pub decider: u32,
    /// Out: with [`Decider::Default`] the errno that the call would have returned without a default, else 0.
    pub reason: u32,
    /// Out: bytes written to `answer`.
    pub answer_len: u64,
    /// Out: length of the whole answer; greater than `answer_len` when the buffer was too small.
    pub answer_total: u64,
    /// In: address of the answers that are taken, an array of [`AskBytes`]; any answer is without them.
    pub choices: u64,
    /// In: how many, at most [`CHOICES_MAX`].
    pub choices_count: u64,
    /// In: address of what helps to answer, an array of [`AskPair`].
    pub context: u64,
    /// In: how many, at most [`CONTEXT_MAX`].
    pub context_count: u64,
}

/// Address and length of bytes: a choice, 1 to [`CHOICE_MAX`] of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct AskBytes {
    /// Address.
    pub address: u64,
    /// Length.
    pub length: u64,
}

/// A pair of context: what it is, 1 to [`CONTEXT_KEY_MAX`] bytes, and what it says, any bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct AskPair {
    /// What it is.
    pub key: AskBytes,
    /// What it says.
    pub value: AskBytes,
}

impl AskBytes {
    /// Bytes of it in memory.
    pub const SIZE: usize = 16;

    /// From memory.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        Self { address: u64::from_le_bytes(words[0]), length: u64::from_le_bytes(words[1]) }
    }
}

impl AskPair {
    /// Bytes of it in memory.
    pub const SIZE: usize = 2 * AskBytes::SIZE;

    /// From memory.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let (halves, _) = bytes.as_chunks::<{ AskBytes::SIZE }>();
        Self { key: AskBytes::from_bytes(&halves[0]), value: AskBytes::from_bytes(&halves[1]) }
    }
}

const _: () = assert!(size_of::<AskBytes>() == AskBytes::SIZE && size_of::<AskPair>() == AskPair::SIZE);

impl AskArgs {
    /// Size of the first version of this block in bytes; later versions only append. All that comes out is in it.
    pub const MIN_SIZE: usize = 80;
    /// Size of this version.
    pub const SIZE: usize = 112;

    /// The block as it lies in memory.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let pairs = [(self.intent, self.timeout_ms), (self.decider, self.reason)];
        let [first, decided] = pairs.map(|(low, high)| u64::from(low) | u64::from(high) << 32);
        let words = [
            first,
            self.question,
            self.question_len,
            self.answer,
            self.answer_cap,
            self.default,
            self.default_len,
            decided,
            self.answer_len,
            self.answer_total,
            self.choices,
            self.choices_count,
            self.context,
            self.context_count,
        ];
        for (slot, word) in bytes.chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The block from memory.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        #[allow(clippy::cast_possible_truncation, reason = "the two halves of a word")]
        let halves = |index: usize| (word(index) as u32, (word(index) >> 32) as u32);
        let (intent, timeout_ms) = halves(0);
        let (decider, reason) = halves(7);
        Self {
            intent,
            timeout_ms,
            question: word(1),
            question_len: word(2),
            answer: word(3),
            answer_cap: word(4),
            default: word(5),
            default_len: word(6),
            decider,
            reason,
            answer_len: word(8),
            answer_total: word(9),
            choices: word(10),
            choices_count: word(11),
            context: word(12),
            context_count: word(13),
        }
    }
}

const _: () = assert!(size_of::<AskArgs>() == AskArgs::SIZE);

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

#[cfg(test)]
mod tests {
    use super::{AskArgs, AskBytes, AskPair};

    #[test]
    fn each_field_lies_where_repr_c_puts_it() {
        let args = AskArgs {
            intent: 1,
            timeout_ms: 2,
            question: 3,
            question_len: 4,
            answer: 5,
            answer_cap: 6,
            default: 7,
            default_len: 8,
            decider: 9,
            reason: 10,
            answer_len: 11,
            answer_total: 12,
            choices: 13,
            choices_count: 14,
            context: 15,
            context_count: 16,
        };
        let bytes = args.to_bytes();
        assert_eq!(AskArgs::from_bytes(&bytes), args);
        let at = |offset: usize| bytes[offset];
        assert_eq!(at(core::mem::offset_of!(AskArgs, intent)), 1);
        assert_eq!(at(core::mem::offset_of!(AskArgs, timeout_ms)), 2);
        assert_eq!(at(core::mem::offset_of!(AskArgs, default_len)), 8);
        assert_eq!(at(core::mem::offset_of!(AskArgs, decider)), 9);
        assert_eq!(at(core::mem::offset_of!(AskArgs, reason)), 10);
        assert_eq!(at(core::mem::offset_of!(AskArgs, answer_total)), 12);
        assert_eq!(at(core::mem::offset_of!(AskArgs, context_count)), 16);
        assert_eq!(core::mem::offset_of!(AskArgs, choices), AskArgs::MIN_SIZE);
        let mut pair = [0; AskPair::SIZE];
        for (word, value) in pair.chunks_exact_mut(8).zip(1_u64..) {
            word.copy_from_slice(&value.to_le_bytes());
        }
        let bytes = |address, length| AskBytes { address, length };
        assert_eq!(AskPair::from_bytes(&pair), AskPair { key: bytes(1, 2), value: bytes(3, 4) });
    }
}
