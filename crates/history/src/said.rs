//! What an event says in words of its sender: the body of a message.

use std::borrow::Cow;

use broker::Event;
use message::Seq;

/// A body in an event.
pub(crate) struct Said<'a> {
    /// The message, as it is known by the place where it was accepted.
    pub(crate) accepted: Seq,
    /// Whether the body is new, or only in a new place.
    pub(crate) is_new: bool,
    pub(crate) body: Cow<'a, [u8]>,
}

/// Returns the body in the record at a place, if there is one.
pub(crate) fn said(seq: Seq, record: &[u8]) -> Option<Said<'_>> {
    let (_, event) = Event::decode(record).ok()?;
    Some(match event {
        Event::Accepted(accepted) => Said { accepted: seq, is_new: true, body: accepted.body },
        Event::Amended { seq, body, .. } => Said { accepted: seq, is_new: true, body: body.into() },
        Event::Carried { seq, body, .. } => Said { accepted: seq, is_new: false, body: body.into() },
        Event::AgentSet { .. }
        | Event::AgentRemoved { .. }
        | Event::GroupMade { .. }
        | Event::Joined { .. }
        | Event::Left { .. }
        | Event::PresenceSet { .. }
        | Event::SessionOpened { .. }
        | Event::SessionClosed { .. }
        | Event::Restarted
        | Event::Graced { .. }
        | Event::Absorbed { .. }
        | Event::Dispatched { .. }
        | Event::Returned { .. }
        | Event::Surfaced { .. }
        | Event::Acknowledged { .. }
        | Event::Failed(_)
        | Event::Extended { .. }
        | Event::Released { .. }
        | Event::Expired { .. }
        | Event::Withdrawn { .. }
        | Event::Resumed { .. }
        | Event::DeadRetried { .. }
        | Event::DeadDropped { .. }
        | Event::WaitEnded { .. }
        | Event::Tuned(_)
        | Event::RecordSet(_)
        | Event::RecordRemoved { .. }
        | Event::RecordCarried { .. }
        | Event::Work(_)
        | Event::TaskCarried { .. } => return None,
    })
}
