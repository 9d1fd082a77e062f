//! Routing: the few fields that a bus needs, without reading the rest.

use dialect::Route;
use json::Object;
use message::Priority;

use crate::view::View;
use crate::{Record, ids, time};

/// Reads the fields that a bus routes by.
pub(crate) fn route<'v>(document: &'v Object<'v>) -> Option<Route<'v>> {
    let view = View::of_any(document)?;
    let (kind, from, to) = (view.kind()?, view.from()?, view.to()?);
    let instant = |key: &str| view.text(key).filter(|text| ids::is_timestamp(text));
    let expires = match view.record {
        Record::Message | Record::Broadcast | Record::Handoff => instant("expiresAt"),
        Record::Request | Record::Response => None,
    };
    let extended = view.extended("expires").filter(|text| ids::is_timestamp(text));
    let lifetime_ms = match view.record {
        Record::Broadcast if extended.is_none() => time::lifetime_ms(document),
        Record::Broadcast | Record::Message | Record::Request | Record::Response | Record::Handoff => None,
    };
    Some(Route {
        from: Some(from),
        task: view.task(),
        thread: view.thread(),
        reply_to: view.reply_to(),
        created: instant("createdAt"),
        expires: extended.or(expires),
        lifetime_ms,
        is_live_only: view.is_live_only(),
        ..Route::new(kind, to, view.priority().unwrap_or(Priority::Normal), view.guarantee(kind))
    })
}
