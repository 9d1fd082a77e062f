//! Routing: what a bus needs of a wire, borrowed from its tree.

use dialect::Route;
use json::{Object, Value};
use message::{NativeId, Priority, ThreadId, WrittenTimestamp};

use crate::extensions as x;
use crate::syntax::is_foreign_version;
use crate::view::View;

pub(crate) fn route<'v>(document: &'v Object<'v>) -> Option<Route<'v>> {
    let version = document.get("wire").and_then(Value::as_str);
    if version.is_some_and(is_foreign_version) {
        return None;
    }
    let view = View::of(document)?;
    let to = view.to();
    let priority = view.priority().map_or(Priority::Normal, |(priority, _)| priority);
    let mut route = Route::new(view.kind(), to.recipients, priority, view.guarantee());
    route.to_prefix = to.prefix;
    route.from = view.from().map(|(from, _)| from);
    route.task = view.task().map(|(task, _)| task);
    route.reply_to = view.reply_to();
    route.created = view.head("ts");
    route.expires = view.extension(x::EXPIRES).filter(|text| text.parse::<WrittenTimestamp>().is_ok());
    route.native_id = view.head("wire_id").filter(|id| id.parse::<NativeId>().is_ok());
    route.thread = view.head("stream_id").filter(|id| id.parse::<ThreadId>().is_ok());
    Some(route)
}
