//! Every setting, once: its name, what it takes, its default, where it goes and what it means.

use std::time::Duration;

use super::kind::Kind;
use super::setters::{
    set_format, set_hosts, set_keep, set_level, set_listen, set_nats, set_public, set_roots,
};

/// One setting.
pub(crate) struct Setting {
    /// Its name in the file, with its section.
    pub(crate) key: &'static str,
    pub(crate) kind: Kind,
    pub(crate) default: &'static str,
    /// What it means, for the reference.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the reference reads it, which a test writes"))]
    pub(crate) doc: &'static str,
}

impl Setting {
    const fn new(key: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Self {
        Setting { key, kind, default, doc }
    }

    /// Returns its name in the environment.
    pub(crate) fn variable(&self) -> String {
        format!("CONVOKE_{}", self.key.replace('.', "_").to_uppercase())
    }

    /// Returns its section in the file.
    #[cfg(test)]
    pub(crate) fn section(&self) -> &'static str {
        self.key.split_once('.').map_or("", |(section, _)| section)
    }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// The shortest limit on somebody's patience.
const SHORTEST: Duration = Duration::from_millis(10);
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The sections, in the order of the reference.
#[cfg(test)]
pub(crate) const SECTIONS: &[(&str, &str)] = &[
    ("", "Where the server is found, and by whom."),
    ("tls", "Encryption. Without it the server listens on this machine only."),
    (
        "limits",
        "What is refused, and from where on. The first ones concern a connection, the others the bus.",
    ),
    ("delivery", "How messages are handed out, and tried again."),
    ("memory", "How much is remembered of what is over."),
    ("log", "The durable log. That what is acknowledged is synced to the disk first cannot be set."),
    ("history", "Looking back."),
    ("xrpc", "The door for clients of the AT Protocol."),
    ("channels", "Channel folders that the bus watches and writes: see [channels.md](channels.md)."),
    ("metrics", "Figures for Prometheus."),
    ("logs", "What the server writes about itself, to standard error."),
];

/// Every setting.
pub(crate) const TABLE: &[Setting] = &[
    Setting::new(
        "listen",
        Kind::Text { form: "an address and a port, such as \"127.0.0.1:7700\"", set: set_listen },
        "127.0.0.1:7700",
        "Where the server listens; port 0 takes a free one.",
    ),
    Setting::new(
        "hosts",
        Kind::Texts { form: "a list of host names", set: set_hosts },
        "",
        "Names by which the server may be called beside `localhost`, `127.0.0.1` and `::1`; a request that calls it by another name is turned away.",
    ),
    Setting::new(
        "insecure_remote",
        Kind::Flag(|settings, flag| settings.insecure_remote = flag),
        "false",
        "Lets the server listen beyond this machine without TLS, where tokens can be read on the way.",
    ),
    Setting::new(
        "allow_token_in_url",
        Kind::Flag(|settings, flag| settings.allow_token_in_url = flag),
        "false",
        "Lets sockets and streams show their token as `?token=` or `?api_key=`, for clients that can set no header and send no first frame; URLs end up in logs and histories.",
    ),
    Setting::new(
        "turns_warn",
        Kind::Count {
            min: 1,
            max: 1_000_000,
            set: |settings, count| settings.broker.turns_warn = u32_of(count),
        },
        "30",
        "After how many turns without a human or another task the senders of a conversation are warned.",
    ),
    Setting::new(
        "turns_park",
        Kind::Count {
            min: 0,
            max: 1_000_000,
            set: |settings, count| settings.broker.turns_park = (count > 0).then(|| u32_of(count)),
        },
        "0",
        "After how many turns a conversation is parked until a human resumes it; 0 is never.",
    ),
    Setting::new(
        "tls.certificate",
        Kind::Path(|settings, path| settings.certificate = path),
        "",
        "The certificate of the server in PEM, followed by those that vouch for it; read again on SIGHUP.",
    ),
    Setting::new("tls.key", Kind::Path(|settings, path| settings.key = path), "", "Its private key in PEM."),
    Setting::new(
        "limits.connections",
        Kind::Count {
            min: 1,
            max: 1_000_000,
            set: |settings, count| settings.serve.connections_max = usize_of(count),
        },
        "4096",
        "Connections at the same time; never more than the process may have open files.",
    ),
    Setting::new(
        "limits.connections_reserve",
        Kind::Count {
            min: 0,
            max: 1000,
            set: |settings, count| settings.serve.connections_reserve = usize_of(count),
        },
        "16",
        "Connections beyond that number, for peers on this machine only.",
    ),
    Setting::new(
        "limits.connections_per_peer",
        Kind::Count {
            min: 1,
            max: 1_000_000,
            set: |settings, count| settings.serve.connections_per_peer_max = usize_of(count),
        },
        "512",
        "Connections of one address at the same time; this machine's own addresses are not counted.",
    ),
    Setting::new(
        "limits.connections_per_agent",
        Kind::Count {
            min: 1,
            max: 1_000_000,
            set: |settings, count| settings.hub.connections_max = usize_of(count),
        },
        "256",
        "Sockets, event streams and waiting requests of one agent at the same time.",
    ),
    Setting::new(
        "limits.head_bytes",
        Kind::Bytes {
            min: 8 * KIB,
            max: MIB,
            set: |settings, bytes| settings.serve.head_bytes_max = usize_of(bytes),
        },
        "32KiB",
        "Bytes of the head of a request; there are at most 100 header fields.",
    ),
    Setting::new(
        "limits.body_bytes",
        Kind::Bytes {
            min: KIB,
            max: GIB,
            set: |settings, bytes| settings.hub.body_bytes_max = usize_of(bytes),
        },
        "8MiB",
        "Bytes of the body of a request.",
    ),
    Setting::new(
        "limits.batch_bytes",
        Kind::Bytes {
            min: KIB,
            max: GIB,
            set: |settings, bytes| settings.hub.batch_bytes_max = usize_of(bytes),
        },
        "32MiB",
        "Bytes of the body of a batch.",
    ),
    Setting::new(
        "limits.head_timeout",
        Kind::Span {
            min: SHORTEST,
            max: times(10, MINUTE),
            set: |settings, span| settings.serve.head_timeout = span,
        },
        "10s",
        "How long the head of a request may take to arrive; also a TLS handshake.",
    ),
    Setting::new(
        "limits.idle_timeout",
        Kind::Span {
            min: SHORTEST,
            max: times(24, HOUR),
            set: |settings, span| settings.serve.idle_timeout = span,
        },
        "75s",
        "How long a connection may be idle between two requests.",
    ),
    Setting::new(
        "limits.body_rate",
        Kind::Bytes { min: 1, max: GIB, set: |settings, bytes| settings.serve.body_rate_min = bytes },
        "1KiB",
        "Bytes of a body that must arrive in a second, on average.",
    ),
    Setting::new(
        "limits.body_grace",
        Kind::Span {
            min: SHORTEST,
            max: times(10, MINUTE),
            set: |settings, span| settings.serve.body_grace = span,
        },
        "10s",
        "How long a body may fall behind that.",
    ),
    Setting::new(
        "limits.write_timeout",
        Kind::Span {
            min: SHORTEST,
            max: times(10, MINUTE),
            set: |settings, span| settings.serve.write_timeout = span,
        },
        "30s",
        "How long a peer may take nothing of what is written to it.",
    ),
    Setting::new(
        "limits.stop_grace",
        Kind::Span {
            min: Duration::ZERO,
            max: times(10, MINUTE),
            set: |settings, span| settings.serve.stop_grace = span,
        },
        "3s",
        "How long requests under way may take when the server is told to stop; who waits for messages is sent away after half of it.",
    ),
    Setting::new(
        "limits.rate",
        Kind::Count {
            min: 1,
            max: 10_000_000,
            set: |settings, count| settings.hub.rates.per_second = u32_of(count),
        },
        "100000",
        "Requests and messages of one agent in a second, on average.",
    ),
    Setting::new(
        "limits.burst",
        Kind::Count {
            min: 1,
            max: 10_000_000,
            set: |settings, count| settings.hub.rates.burst = u32_of(count),
        },
        "200000",
        "Requests and messages of one agent at once.",
    ),
    Setting::new(
        "limits.calls",
        Kind::Count { min: 16, max: 10_000_000, set: |settings, count| settings.calls_max = usize_of(count) },
        "65536",
        "Calls that wait for the bus to take them up; who comes later waits in front.",
    ),
    Setting::new(
        "limits.agents",
        Kind::Count {
            min: 1,
            max: 10_000_000,
            set: |settings, count| settings.broker.limits.agents_max = count,
        },
        "100000",
        "Registered agents.",
    ),
    Setting::new(
        "limits.groups",
        Kind::Count {
            min: 1,
            max: 10_000_000,
            set: |settings, count| settings.broker.limits.groups_max = count,
        },
        "100000",
        "Roles, topics and channels.",
    ),
    Setting::new(
        "limits.memberships",
        Kind::Count {
            min: 1,
            max: 1_000_000,
            set: |settings, count| settings.broker.limits.memberships_max = count,
        },
        "1000",
        "Roles, topics and channels of one agent.",
    ),
    Setting::new(
        "limits.sessions",
        Kind::Count {
            min: 1,
            max: 1_000_000,
            set: |settings, count| settings.broker.limits.sessions_max = count,
        },
        "1000",
        "Open connections of one agent that the bus tells apart.",
    ),
    Setting::new(
        "limits.aliases",
        Kind::Count { min: 0, max: 1000, set: |settings, count| settings.broker.limits.aliases_max = count },
        "16",
        "Other names of one agent.",
    ),
    Setting::new(
        "limits.recipients",
        Kind::Count {
            min: 1,
            max: 100_000,
            set: |settings, count| settings.broker.limits.recipients_max = usize_of(count),
        },
        "1000",
        "Recipients that one message names.",
    ),
    Setting::new(
        "limits.fallbacks",
        Kind::Count {
            min: 0,
            max: 1000,
            set: |settings, count| settings.broker.limits.fallbacks_max = usize_of(count),
        },
        "16",
        "Fallbacks that one message names.",
    ),
    Setting::new(
        "limits.hops",
        Kind::Count {
            min: 1,
            max: 255,
            set: |settings, count| settings.broker.limits.hops_max = u8::try_from(count).unwrap_or(u8::MAX),
        },
        "16",
        "How often one message may be forwarded.",
    ),
    Setting::new(
        "limits.message_bytes",
        Kind::Bytes {
            min: KIB,
            max: GIB,
            set: |settings, bytes| settings.broker.limits.body_bytes_max = bytes,
        },
        "8MiB",
        "Bytes of one message.",
    ),
    Setting::new(
        "limits.queue",
        Kind::Count {
            min: 1,
            max: 100_000_000,
            set: |settings, count| settings.broker.limits.queue_max = count,
        },
        "100000",
        "Messages that wait for one recipient.",
    ),
    Setting::new(
        "limits.queue_bytes",
        Kind::Bytes {
            min: KIB,
            max: 1024 * GIB,
            set: |settings, bytes| settings.broker.limits.queue_bytes_max = bytes,
        },
        "1GiB",
        "Their bytes.",
    ),
    Setting::new(
        "limits.messages",
        Kind::Count {
            min: 1,
            max: 1_000_000_000,
            set: |settings, count| settings.broker.limits.messages_max = count,
        },
        "10000000",
        "Messages that nobody has settled, all together.",
    ),
    Setting::new(
        "limits.bytes",
        Kind::Bytes {
            min: KIB,
            max: 1024 * GIB,
            set: |settings, bytes| settings.broker.limits.bytes_max = bytes,
        },
        "64GiB",
        "Their bytes.",
    ),
    Setting::new(
        "limits.held",
        Kind::Count {
            min: 0,
            max: 10_000_000,
            set: |settings, count| settings.broker.limits.held_max = count,
        },
        "10000",
        "Messages held for names that nobody has yet.",
    ),
    Setting::new(
        "limits.text_bytes",
        Kind::Bytes {
            min: 64,
            max: 64 * KIB,
            set: |settings, bytes| settings.broker.limits.text_bytes_max = usize_of(bytes),
        },
        "512B",
        "Bytes of a reason and the like.",
    ),
    Setting::new(
        "limits.take",
        Kind::Count {
            min: 1,
            max: 100_000,
            set: |settings, count| settings.broker.limits.take_max = u32_of(count),
        },
        "1000",
        "Messages in one answer to a take.",
    ),
    Setting::new(
        "limits.records",
        Kind::Count {
            min: 0,
            max: 100_000_000,
            set: |settings, count| settings.broker.limits.records_max = count,
        },
        "4000000",
        "Records of all repositories together; each takes about 250 bytes of memory, whatever its document has.",
    ),
    Setting::new(
        "limits.tasks",
        Kind::Count {
            min: 0,
            max: 100_000_000,
            set: |settings, count| settings.broker.limits.tasks_max = count,
        },
        "1000000",
        "Tasks, those that are over and remembered included; each takes about 600 bytes of memory.",
    ),
    Setting::new(
        "delivery.lease",
        Kind::Span {
            min: SECOND,
            max: times(24, HOUR),
            set: |settings, span| settings.hub.lease_ms = ms_of(span),
        },
        "15m",
        "The lease of who does not ask for one.",
    ),
    Setting::new(
        "delivery.lease_min",
        Kind::Span {
            min: SHORTEST,
            max: times(24, HOUR),
            set: |settings, span| settings.broker.limits.lease_ms_min = ms_of(span),
        },
        "1s",
        "The shortest lease.",
    ),
    Setting::new(
        "delivery.lease_max",
        Kind::Span {
            min: SECOND,
            max: times(30, DAY),
            set: |settings, span| settings.broker.limits.lease_ms_max = ms_of(span),
        },
        "24h",
        "The longest lease.",
    ),
    Setting::new(
        "delivery.retries",
        Kind::Count {
            min: 0,
            max: 1000,
            set: |settings, count| settings.broker.retries.retries = u32_of(count),
        },
        "5",
        "Retries of a message that does not say.",
    ),
    Setting::new(
        "delivery.retries_max",
        Kind::Count {
            min: 0,
            max: 1000,
            set: |settings, count| settings.broker.retries.retries_max = u32_of(count),
        },
        "100",
        "Retries at most, whatever a message asks for.",
    ),
    Setting::new(
        "delivery.backoff",
        Kind::Span {
            min: SHORTEST,
            max: HOUR,
            set: |settings, span| settings.broker.retries.base_ms = ms_of(span),
        },
        "1s",
        "The pause before the first retry.",
    ),
    Setting::new(
        "delivery.backoff_factor",
        Kind::Count {
            min: 1,
            max: 10,
            set: |settings, count| settings.broker.retries.multiplier = f64::from(u32_of(count)),
        },
        "2",
        "By how much each further pause is longer.",
    ),
    Setting::new(
        "delivery.backoff_max",
        Kind::Span {
            min: SHORTEST,
            max: times(24, HOUR),
            set: |settings, span| settings.broker.retries.pause_ms_max = ms_of(span),
        },
        "30s",
        "The longest pause.",
    ),
    Setting::new(
        "delivery.jitter",
        Kind::Flag(|settings, flag| settings.broker.retries.jitter = flag),
        "true",
        "Whether chance shortens the pauses, so that not everybody comes back at once.",
    ),
    Setting::new(
        "delivery.hold_max",
        Kind::Span {
            min: SECOND,
            max: times(365, DAY),
            set: |settings, span| settings.broker.limits.held_ms_max = ms_of(span),
        },
        "7d",
        "How long a message is held for a name that nobody has yet.",
    ),
    Setting::new(
        "memory.ids_per_sender",
        Kind::Count {
            min: 0,
            max: 10_000_000,
            set: |settings, count| settings.retention.known_per_sender_max = count,
        },
        "100000",
        "Ids of one sender that are known again.",
    ),
    Setting::new(
        "memory.ids",
        Kind::Count {
            min: 0,
            max: 1_000_000_000,
            set: |settings, count| settings.retention.known_max = count,
        },
        "4000000",
        "Ids that are known again, all together.",
    ),
    Setting::new(
        "memory.ids_for",
        Kind::Span {
            min: SECOND,
            max: times(30, DAY),
            set: |settings, span| settings.retention.known_ms = ms_of(span),
        },
        "24h",
        "For how long an id is known again.",
    ),
    Setting::new(
        "memory.content_for",
        Kind::Span {
            min: Duration::ZERO,
            max: times(24, HOUR),
            set: |settings, span| settings.retention.content_ms = ms_of(span),
        },
        "60s",
        "For how long a message without an id is known by what it says.",
    ),
    Setting::new(
        "memory.settled",
        Kind::Count {
            min: 0,
            max: 10_000_000,
            set: |settings, count| settings.retention.settled_max = count,
        },
        "16384",
        "Settled messages whose receipts are at hand without the history.",
    ),
    Setting::new(
        "memory.dead",
        Kind::Count { min: 0, max: 10_000_000, set: |settings, count| settings.retention.dead_max = count },
        "100000",
        "Dead letters that are kept.",
    ),
    Setting::new(
        "log.segment_bytes",
        Kind::Bytes { min: 4 * MIB, max: 4 * GIB, set: |settings, bytes| settings.log.segment_bytes = bytes },
        "64MiB",
        "The size of a file of the log; two more are held in reserve for a full disk.",
    ),
    Setting::new(
        "log.record_bytes",
        Kind::Bytes {
            min: 2 * MIB,
            max: 2 * GIB,
            set: |settings, bytes| settings.log.record_bytes_max = u32_of(bytes),
        },
        "16MiB",
        "The largest record; a message and 1 MiB must fit.",
    ),
    Setting::new(
        "log.bytes",
        Kind::Bytes {
            min: 0,
            max: 1024 * 1024 * GIB,
            set: |settings, bytes| settings.log.bytes_max = (bytes > 0).then_some(bytes),
        },
        "0",
        "What the log may take on the disk; 0 leaves it to the disk.",
    ),
    Setting::new(
        "log.snapshot_bytes",
        Kind::Bytes { min: MIB, max: 1024 * GIB, set: |settings, bytes| settings.snapshot_bytes = bytes },
        "256MiB",
        "After how many bytes of the log a snapshot is taken; fewer make for a faster start. While the log grows fast it may be four times as many.",
    ),
    Setting::new(
        "log.keep",
        Kind::Text { form: "\"whole\", or a duration such as \"30d\"", set: set_keep },
        "whole",
        "How long the log is kept; older files are given up when nothing in them is needed any more. The history keeps what it knows of them, and is then no longer made again from the log.",
    ),
    Setting::new(
        "log.keep_bytes",
        Kind::Bytes {
            min: 0,
            max: 1024 * 1024 * GIB,
            set: |settings, bytes| settings.keep.bytes = (bytes > 0).then_some(bytes),
        },
        "0",
        "How much of the log is kept on the disk, those files not counted that are held in reserve; older ones are given up as with `log.keep`, whichever says so first. 0 is everything.",
    ),
    Setting::new(
        "history.file",
        Kind::Path(|settings, path| settings.history_file = path),
        "",
        "Its file; by default `history.db` in the data folder. It can be deleted and is then made again from what the log holds.",
    ),
    Setting::new(
        "xrpc.public_collections",
        Kind::Texts { form: "a list of collections", set: set_public },
        "",
        "Collections whose records and blobs anybody may read without a token, over `/xrpc` and `/subscribe`; `com.example.*` stands for all that begin so. What a record was translated from is left out there.",
    ),
    Setting::new(
        "xrpc.blob_bytes",
        Kind::Bytes { min: 0, max: 1024 * GIB, set: |settings, bytes| settings.blobs_bytes_max = bytes },
        "10GiB",
        "Bytes of all blobs together; one has 10 MiB at most.",
    ),
    Setting::new(
        "channels.roots",
        Kind::Paths { form: "a list of folders, each perhaps followed by `=` and agents", set: set_roots },
        "",
        "Channel roots. `\"/srv/collab\"` speaks for agents of dialect `channel` and for names first seen in it; `\"/srv/collab=ann+bob\"` speaks for these alone.",
    ),
    Setting::new(
        "channels.poll",
        Kind::Span { min: SHORTEST, max: HOUR, set: |settings, span| settings.channels.poll = span },
        "2s",
        "How often folders are looked at.",
    ),
    Setting::new(
        "channels.file_bytes",
        Kind::Bytes {
            min: KIB,
            max: 8 * MIB,
            set: |settings, bytes| settings.channels.file_bytes_max = bytes,
        },
        "1MiB",
        "Bytes of a file that is taken in; a larger one is listed as a problem.",
    ),
    Setting::new(
        "channels.import",
        Kind::Flag(|settings, flag| settings.channels.import = flag),
        "false",
        "Whether files that are there when a root is watched for the first time become messages; else only those that come later do.",
    ),
    Setting::new(
        "channels.nats",
        Kind::Text { form: "the address of a NATS server, such as \"nats://127.0.0.1:4222\"", set: set_nats },
        "",
        "A NATS server with JetStream on which every message of the roots is kept too: see [nats.md](nats.md).",
    ),
    Setting::new(
        "channels.nats_credentials",
        Kind::Path(|settings, path| settings.nats.credentials = path),
        "",
        "The credentials for it, in a file.",
    ),
    Setting::new(
        "channels.nats_timeout",
        Kind::Span { min: SHORTEST, max: HOUR, set: |settings, span| settings.nats.timeout = span },
        "30s",
        "How long to wait for it before messages are left in the roots for later.",
    ),
    Setting::new(
        "metrics.public",
        Kind::Flag(|settings, flag| settings.metrics_public = flag),
        "false",
        "Whether `/metrics` needs no token.",
    ),
    Setting::new(
        "logs.format",
        Kind::Text { form: "\"text\" or \"json\"", set: set_format },
        "text",
        "How log lines look on standard error.",
    ),
    Setting::new(
        "logs.level",
        Kind::Text { form: "\"error\", \"warn\", \"info\", \"debug\" or \"trace\"", set: set_level },
        "info",
        "How much is logged; debug has a line for each request. Neither tokens nor messages ever are.",
    ),
];

const fn times(count: u32, length: Duration) -> Duration {
    Duration::from_secs(length.as_secs() * count as u64)
}

/// Bounds in the table keep these within their types.
fn usize_of(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn u32_of(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn ms_of(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
