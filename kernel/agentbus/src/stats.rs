//! Everything that is counted.

use askr_wire::message::Counter as WireCounter;
use askr_wire::status::Status;
use askr_wire::{FrameError, ListWriter};

macro_rules! counters {
    ($($name:ident = $text:literal, $doc:literal;)*) => {
        /// Something that is counted since boot. STATS shows each under its [`name`](Self::name).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Counter { $(#[doc = $doc] $name,)* }

        impl Counter {
            /// All of them, in the order in which STATS shows them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The name in STATS, at most 255 bytes.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

counters! {
    FramesIn = "frames_in", "Whole frames received.";
    FramesOut = "frames_out", "Frames handed to the transmitter.";
    ErrorCobs = "frame_error_cobs", "Frames received cut inside a COBS run.";
    ErrorShort = "frame_error_short", "Frames received that were too short.";
    ErrorLength = "frame_error_length", "Frames received with a length that was not theirs.";
    ErrorCrc = "frame_error_crc", "Frames received with a wrong checksum.";
    ErrorType = "frame_error_type", "Frames received of a type that nobody knows.";
    ErrorOversize = "frame_error_oversize", "Frames received over the payload limit.";
    FramesUnexpected = "frames_unexpected", "Whole frames of a type that only the kernel sends.";
    Requests = "requests", "Requests taken on, by the router itself or by the kernel.";
    Pings = "pings", "Pings answered.";
    Replies = "replies", "Responses handed to the transmitter, repeated ones included.";
    Replayed = "replayed", "Repeated requests answered from memory.";
    Repeated = "repeated", "Repeated requests ignored, because the first is being worked on.";
    Refused = "refused", "Requests answered with an error without being taken on.";
    Stale = "stale", "Frames of another session, requests below the window, HELLOs of ended sessions.";
    Busy = "busy", "Requests beyond what may be outstanding.";
    RepliesOrphaned = "replies_orphaned", "Results of requests whose session has ended.";
    RepliesDropped = "replies_dropped", "Responses given up unsent: the peer had gone, or sent too much at once.";
    Sessions = "sessions", "Sessions opened.";
    HellosRepeated = "hellos_repeated", "Copies of the current HELLO.";
    AsksOpened = "asks_opened", "Asks taken on.";
    AsksAnswered = "asks_answered", "Asks that ended with an answer.";
    AsksHuman = "asks_human", "Those of them that the person at the console answered.";
    AsksRefused = "asks_refused", "Asks that the peer refused.";
    AsksTimedOut = "asks_timed_out", "Asks that nobody answered in time.";
    AsksCancelled = "asks_cancelled", "Asks called off by a signal or by the death of the asker.";
    AsksLinkLost = "asks_link_lost", "Asks that ended because the last peer had gone.";
    AsksNotAttached = "asks_not_attached", "Asks not taken on, with nobody attached.";
    AsksTableFull = "asks_table_full", "Asks not taken on, with the table full.";
    AnswersLate = "answers_late", "Answers to asks that were over.";
    AnswersUnknown = "answers_unknown", "Answers to asks that never were.";
    AnswersNotAChoice = "answers_not_a_choice", "Answers that were none of the choices of their ask.";
    Events = "events", "Events since boot.";
    EventsLost = "events_lost", "Events queued and never sent.";
    LinkStalls = "link_stalls", "Times the transmitter stood still too long.";
    RxOverruns = "rx_overruns", "Bytes lost on reception; noted by the driver.";
    RxLineErrors = "rx_line_errors", "Bytes received with a parity, framing or break error; noted by the driver.";
}

const COUNT: usize = Counter::ALL.len();

/// The counters' values.
#[derive(Clone, Debug)]
pub struct Stats([u64; COUNT]);

impl Stats {
    pub(crate) const fn new() -> Self {
        Self([0; COUNT])
    }

    /// The value of one counter.
    #[must_use]
    pub const fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    pub(crate) fn add(&mut self, counter: Counter, n: u64) {
        let value = &mut self.0[counter as usize];
        *value = value.saturating_add(n);
    }

    pub(crate) fn count(&mut self, counter: Counter) {
        self.add(counter, 1);
    }

    /// Writes the body of the response to STATS.
    pub(crate) fn encode(&self, out: &mut [u8]) -> Result<usize, Status> {
        let mut list = ListWriter::new(out).map_err(|_| Status::MsgSize)?;
        for &counter in Counter::ALL {
            let item = WireCounter { name: counter.name().as_bytes(), value: self.get(counter) };
            list.push(&item).map_err(|_| Status::MsgSize)?;
        }
        Ok(list.finish())
    }
}

impl From<FrameError> for Counter {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Cobs => Self::ErrorCobs,
            FrameError::Short => Self::ErrorShort,
            FrameError::Length => Self::ErrorLength,
            FrameError::Crc => Self::ErrorCrc,
            FrameError::Type => Self::ErrorType,
            FrameError::Oversize => Self::ErrorOversize,
        }
    }
}

#[cfg(test)]
mod tests {
    use askr_wire::message::Counter as WireCounter;
    use askr_wire::{BASE_PAYLOAD_MAX, FrameError, List, Message, SESSION_HEAD_LEN};

    use super::{Counter, Stats};

    #[test]
    fn all_counters_fit_into_the_smallest_session_frame_under_names_of_their_own() {
        let mut stats = Stats::new();
        for (n, &counter) in (1..).zip(Counter::ALL) {
            stats.add(counter, n);
        }
        let mut out = [0; BASE_PAYLOAD_MAX - SESSION_HEAD_LEN - 1];
        let len = stats.encode(&mut out).unwrap();
        let list = List::<WireCounter<'_>>::decode(&out[..len]).unwrap();
        assert_eq!(usize::from(list.len()), Counter::ALL.len());
        for (item, (n, counter)) in list.iter().zip((1..).zip(Counter::ALL)) {
            assert_eq!((item.name, item.value), (counter.name().as_bytes(), n));
            assert_eq!(Counter::ALL.iter().filter(|other| other.name() == counter.name()).count(), 1);
        }
    }

    #[test]
    fn every_kind_of_broken_frame_has_its_counter() {
        for error in FrameError::ALL {
            assert_eq!(Counter::from(error).name().strip_prefix("frame_error_"), Some(error.name()));
        }
    }
}
