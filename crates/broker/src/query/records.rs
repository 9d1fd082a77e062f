//! Queries about repositories.

use std::ops::Range;

use message::Seq;

use crate::{AgentKey, Broker, Digest, RecordName, RecordView, WrittenRecord};

/// Where a record lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// Its collection.
    pub collection: Box<str>,
    /// Its key.
    pub key: Box<str>,
    /// What it is known by.
    pub cid: Digest,
    /// Where its document lies.
    pub body: Seq,
}

impl RecordPlace {
    fn of(collection: &str, view: RecordView<'_>) -> Self {
        RecordPlace { collection: collection.into(), key: view.key.into(), cid: view.cid, body: view.body }
    }
}

/// One record.
#[derive(Clone, Debug)]
pub struct FindRecord {
    /// Whose.
    pub repo: AgentKey,
    /// Its collection.
    pub collection: String,
    /// Its key.
    pub key: String,
}

query!(FindRecord -> Option<RecordPlace>, "record", |this, state, _at| {
    let record = state.record(this.repo, &this.collection, &this.key)?;
    Some(RecordPlace::of(&this.collection, record))
});

/// Records of a collection in the order of their keys.
#[derive(Clone, Debug)]
pub struct RecordPage {
    /// Whose.
    pub repo: AgentKey,
    /// Their collection.
    pub collection: String,
    /// The key next to which the page begins.
    pub cursor: Option<String>,
    /// Whether the lowest keys come first.
    pub ascending: bool,
    /// How many records are returned at most.
    pub max: usize,
}

query!(RecordPage -> Vec<RecordPlace>, "record-page", |this, state, _at| record_page(&this, state));

fn record_page(page: &RecordPage, state: &Broker) -> Vec<RecordPlace> {
    let place = |record: RecordView<'_>| RecordPlace::of(&page.collection, record);
    let cursor = page.cursor.as_deref();
    if page.ascending {
        state.records(page.repo, &page.collection, cursor, None).take(page.max).map(place).collect()
    } else {
        state.records(page.repo, &page.collection, None, cursor).rev().take(page.max).map(place).collect()
    }
}

/// The names of the collections in which an agent has records.
#[derive(Clone, Copy, Debug)]
pub struct Collections {
    /// The agent.
    pub repo: AgentKey,
}

query!(Collections -> Vec<String>, "collections", |this, state, _at| {
    state.collections(this.repo).map(str::to_owned).collect()
});

/// Records that refer to a blob, by collection and key.
#[derive(Clone, Debug)]
pub struct ReferringRecords {
    /// Whose.
    pub repo: AgentKey,
    /// The blob.
    pub blob: Digest,
    /// The collection and key behind which the page begins.
    pub after: Option<(Box<str>, Box<str>)>,
    /// How many records are returned at most.
    pub max: usize,
}

query!(ReferringRecords -> Vec<RecordPlace>, "referring-records", |this, state, _at| {
    let names = state.referring_behind(this.repo, this.blob, this.after).take(this.max);
    let places = names.filter_map(|(collection, key)| {
        Some(RecordPlace::of(collection, state.record(this.repo, collection, key)?))
    });
    places.collect()
});

/// Whether each of these blobs has a record that refers to it.
#[derive(Clone, Debug)]
pub struct AreReferredTo {
    /// Whose, and which.
    pub blobs: Vec<(AgentKey, Digest)>,
}

query!(AreReferredTo -> Vec<bool>, "blobs-referred-to", |this, state, _at| {
    let is_referred_to =
        |(repo, blob): &(AgentKey, Digest)| state.referring(*repo, *blob).next().is_some();
    this.blobs.iter().map(is_referred_to).collect()
});

/// The tick of the last write; 0 if there was none.
#[derive(Clone, Copy, Debug)]
pub struct LastTick;

query!(LastTick -> u64, "last-tick", |_this, state, _at| state.last_tick());

/// Records that were written last at these ticks, and behind which record to go on; nothing when all have been seen.
#[derive(Clone, Debug)]
pub struct WrittenRecords {
    /// The ticks.
    pub ticks: Range<u64>,
    /// Behind which record the page begins.
    pub after: Option<RecordName>,
    /// How many records are looked at.
    pub records_max: u32,
}

query!(WrittenRecords -> (Vec<WrittenRecord>, Option<RecordName>), "written-records", |this, state, _at| {
    state.records_written(this.ticks, this.after.as_ref(), this.records_max)
});
