//! The limits of a message, each in one place. Text without a limit here is bounded by the document's size.

/// Bytes of the name of an agent, role, topic or channel.
pub const NAME_BYTES_MAX: usize = 64;
/// Bytes of an alias: a DID or a URI that stands for an agent.
pub const ALIAS_BYTES_MAX: usize = 2048;
/// Bytes of a native id, thread, task or reference.
pub const ID_BYTES_MAX: usize = 512;
/// Bytes of a URI, as in `refs`, `blob` and attachments.
pub const URI_BYTES_MAX: usize = 8192;
/// Bytes of a duration as it was written.
pub const DURATION_BYTES_MAX: usize = 64;
/// Bytes of a timestamp as it was written.
pub const TIMESTAMP_BYTES_MAX: usize = 64;
/// Recipients of one message.
pub const RECIPIENTS_MAX: usize = 1024;
/// Fallback agents of one message.
pub const FALLBACKS_MAX: usize = 64;
/// Items of any other list.
pub const LIST_ITEMS_MAX: usize = 4096;
/// Recipients, steps of one recipient or warnings that are read of one receipt.
pub const RECEIPT_ITEMS_MAX: usize = 65_536;
/// Members of one object whose fields we know, the unknown ones included; values of `data` are not counted.
pub const MEMBERS_MAX: usize = 1024;
/// Retries that a sender may ask for.
pub const RETRIES_MAX: u32 = 1000;
/// Findings that are listed for one document; what is beyond is counted.
pub const FINDINGS_MAX: usize = 256;
