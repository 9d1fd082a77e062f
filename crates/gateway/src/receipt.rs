//! Receipts as senders get them: what the document said, and what became of it.

use broker::{Event, MessageView};
use history::Row;
use message::{Envelope, Message, Receipt, RecipientReceipt};

use crate::Reading;

/// Writes the receipt of a message from the record with which it was accepted and the body that it has now.
pub fn stored_receipt(
    view: &MessageView,
    record: &[u8],
    body: &[u8],
    recipients: Vec<RecipientReceipt>,
    reading: Reading<'_>,
) -> Option<Receipt> {
    let envelope = Envelope::open(body)?;
    let value = json::parse(envelope.document, reading.limits).ok()?;
    let message: Message = translate::dialect(envelope.dialect).decode(&value, reading.names).ok()?.message;
    let mut receipt = Receipt::new(view.id, view.guarantee, &message);
    receipt.dialect = envelope.dialect;
    receipt.priority = view.priority;
    receipt.kind = view.kind;
    receipt.recipients = recipients;
    receipt.to = envelope.addresses().unwrap_or(receipt.to);
    if let Ok((_, Event::Accepted(accepted))) = Event::decode(record) {
        receipt.native_id = receipt.native_id.or_else(|| accepted.native_id?.parse().ok());
    }
    Some(receipt)
}

/// Writes the receipt of a message that only the history still knows.
pub fn past_receipt(row: &Row, recipients: Vec<RecipientReceipt>) -> Option<Receipt> {
    let mut receipt = Receipt::of(row.id, row.guarantee, row.kind, row.from.parse().ok()?, row.to.clone());
    receipt.native_id = row.native_id.as_deref().and_then(|id| id.parse().ok());
    receipt.dialect = row.dialect;
    receipt.priority = row.priority;
    receipt.recipients = recipients;
    Some(receipt)
}
