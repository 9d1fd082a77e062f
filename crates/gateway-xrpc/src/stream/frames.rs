//! Writes of records as frames, for those who may see them.

use broker::{AgentKey, Digest, Event, RecordName, WrittenRecord, tid_of};
use gateway::Answer;
use message::Seq;

use super::places::BYTES_MAX;
use super::wishes::Wishes;
use crate::reading::cid_of;
use crate::repo::text;
use crate::visitor::Visitor;

/// A write as a frame tells it.
struct Told<'e> {
    repo: AgentKey,
    collection: &'e str,
    key: &'e str,
    tick: u64,
    rev: u64,
    operation: &'static str,
    /// What the record is known by now.
    cid: Option<Digest>,
    /// The document of the record: here, or where it lies.
    body: &'e [u8],
    place: Option<Seq>,
}

/// Writes the frames of those writes that are wanted and may be seen; and says of how many from the first on, as large
/// ones are not all in memory at once.
pub(super) async fn write(visitor: &Visitor, wishes: &Wishes, events: &[Vec<u8>]) -> (Vec<String>, usize) {
    let mut wanted = Vec::new();
    for (at, bytes) in events.iter().enumerate() {
        let Some(told) = Event::decode(bytes).ok().and_then(|(_, event)| told(&event)) else { continue };
        let is_new = wishes.cursor.is_none_or(|cursor| told.tick > cursor);
        if is_new && wishes.wants_collection(told.collection) {
            wanted.push((at, told));
        }
    }
    let (frames, upto) = frames_of(visitor, wishes, &wanted).await;
    (frames, upto.unwrap_or(events.len()))
}

/// Writes the frames of records as they are, as if each had been created when it was written last; and says of how many.
pub(super) async fn write_kept(
    visitor: &Visitor,
    wishes: &Wishes,
    records: &[WrittenRecord],
) -> (Vec<String>, usize) {
    let told = records.iter().map(|record| {
        let WrittenRecord { name: RecordName { repo, collection, key }, tick, cid, body } = record;
        let (operation, cid, place) = ("create", Some(*cid), Some(*body));
        Told { repo: *repo, collection, key, tick: *tick, rev: *tick, operation, cid, body: b"", place }
    });
    let told = told.enumerate().filter(|(_, told)| wishes.wants_collection(told.collection));
    let (frames, upto) = frames_of(visitor, wishes, &told.collect::<Vec<_>>()).await;
    (frames, upto.unwrap_or(records.len()))
}

/// Returns the tick of a write.
pub(super) fn tick_of(event: &[u8]) -> Option<u64> {
    Event::decode(event).ok().and_then(|(_, event)| told(&event)).map(|told| told.tick)
}

/// Writes frames until their documents have so many bytes that it is time to send them; then says before which number
/// that was.
async fn frames_of(
    visitor: &Visitor,
    wishes: &Wishes,
    wanted: &[(usize, Told<'_>)],
) -> (Vec<String>, Option<usize>) {
    let places: Vec<Seq> = wanted.iter().filter_map(|(_, told)| told.place).collect();
    let mut bodies = visitor.hub.node().body_reader(places);
    let (mut frames, mut bytes) = (Vec::new(), 0);
    for (at, told) in wanted {
        let fetched = match told.place {
            Some(_) => bodies.next().await.and_then(Result::ok),
            None => None,
        };
        let body = fetched.as_deref().unwrap_or(told.body);
        frames.extend(frame(visitor, wishes, told, body));
        bytes += body.len();
        if bytes >= BYTES_MAX {
            return (frames, Some(at + 1));
        }
    }
    (frames, None)
}

/// Writes one frame; none if it is not wanted, or not to be seen.
fn frame(visitor: &Visitor, wishes: &Wishes, told: &Told<'_>, body: &[u8]) -> Option<String> {
    let name = visitor.hub.name_of(told.repo)?;
    let (did, _) = visitor.hub.called(&name);
    if !wishes.wants_did(&did) || !visitor.may_read(told.repo, told.collection, body) {
        return None;
    }
    let mut commit = Answer::with_capacity(body.len() + 256)
        .text("rev", tid_of(told.repo, told.rev)?.as_str())
        .text("operation", told.operation)
        .text("collection", told.collection)
        .text("rkey", told.key);
    if let Some(cid) = told.cid {
        commit = commit.raw("record", &text(visitor, body)?).text("cid", cid_of(cid).as_str());
    }
    let frame = Answer::with_capacity(body.len() + 384)
        .text("did", &did)
        .number("time_us", told.tick)
        .text("kind", "commit")
        .raw("commit", &commit.end())
        .end();
    wishes.wants_size(frame.len()).then_some(frame)
}

fn told<'e>(event: &Event<'e>) -> Option<Told<'e>> {
    if let Event::RecordSet(set) = event {
        return Some(Told {
            repo: set.repo,
            collection: set.collection,
            key: set.key,
            tick: set.tick,
            rev: set.rev,
            operation: if set.is_new { "create" } else { "update" },
            cid: Some(set.cid),
            body: set.body,
            place: set.place,
        });
    }
    let Event::RecordRemoved { repo, collection, key, tick, rev, body, .. } = *event else { return None };
    let (operation, cid, place) = ("delete", None, Some(body));
    Some(Told { repo, collection, key, tick, rev, operation, cid, body: b"", place })
}
