//! The order key: messages to one recipient that share it are delivered in the order in which they came.

use json::Object;

use crate::envelope::{Envelope, text};

/// What messages are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderKey<'v> {
    /// They are about the same task.
    Task(&'v str),
    /// They are linked by their correlation id.
    Correlation(&'v str),
    /// They only go the same way.
    Pair {
        /// Who sends them.
        from: &'v str,
        /// To whom they go.
        to: &'v str,
    },
}

/// Returns what a message is ordered by; `None` if it is not one.
pub fn order_key<'v>(document: &'v Object<'v>) -> Option<OrderKey<'v>> {
    let envelope = Envelope::of(document)?;
    if let Some((_, task)) = envelope.task() {
        return Some(OrderKey::Task(task));
    }
    if let Some(correlation) = envelope.correlation() {
        return Some(OrderKey::Correlation(correlation));
    }
    Some(OrderKey::Pair { from: text(document, "from")?, to: text(document, "to")? })
}
