use crate::cursor::{DecodeError, Message, NoRoom, Reader, Writer};
use crate::status::Status;

/// The payload of a RESPONSE: `[status:1]`, and on success the body of the verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// What came of the request.
    pub status: Status,
    /// The body; empty on an error, and for verbs without one.
    pub body: &'a [u8],
}

impl Response<'_> {
    /// The response that is only an error.
    #[must_use]
    pub const fn error(status: Status) -> Self {
        Self { status, body: &[] }
    }
}

impl<'a> Message<'a> for Response<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u8(self.status as u8)?;
        to.bytes(self.body)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let status = Status::from_u8(from.u8()?).ok_or(DecodeError::Value)?;
        // After an error nothing follows; what is left unread there makes `decode` fail.
        let body = if status == Status::Ok { from.take_rest() } else { &[] };
        Ok(Self { status, body })
    }
}
