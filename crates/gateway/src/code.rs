//! Codes: everything that the bus refuses, once. `errors.toml` is written from this list, and a test compares them.

/// What can be done about a refusal by waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The same request may succeed later.
    Later,
    /// The same request is refused every time.
    Never,
}

macro_rules! codes {
    ($($variant:ident = $name:literal, $status:literal, $retry:ident, $help:literal;)*) => {
        /// Why something was refused: a stable name for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = $help] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the list.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// Returns its name, which never changes.
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// Returns the HTTP status that goes with it.
            pub fn status(self) -> u16 {
                match self { $(Code::$variant => $status,)* }
            }

            /// Tells whether waiting helps.
            pub fn retry(self) -> Retry {
                match self { $(Code::$variant => Retry::$retry,)* }
            }

            /// Returns what to do next.
            pub fn help(self) -> &'static str {
                match self { $(Code::$variant => $help,)* }
            }
        }
    };
}

codes! {
    BadRequest = "bad_request", 400, Never, "correct the request: the detail says what is wrong with it";
    NotJson = "not_json", 400, Never, "send one JSON object, in UTF-8";
    NoToken = "no_token", 401, Never, "send a valid token as `Authorization: Bearer TOKEN`, or `x-agent-api-key: TOKEN`";
    NotYours = "not_yours", 403, Never, "use the token of whom it concerns, or the operator's";
    Host = "host", 403, Never, "call the server by its own name, or let the operator add the name to `hosts`";
    Origin = "origin", 403, Never, "pages of other sites may not speak to the bus";
    NameReserved = "name_reserved", 403, Never, "choose another name: this one belongs to the operator or the bus";
    NotFound = "not_found", 404, Never, "check the path or the id";
    UnknownAgent = "unknown_agent", 404, Never, "register the agent, or check its name";
    UnknownRecipient = "unknown_recipient", 404, Never, "use one of the suggestions, register the agent, or ask to hold the message";
    UnknownDelivery = "unknown_delivery", 404, Never, "settle only what was handed to this agent";
    UnknownMessage = "unknown_message", 404, Never, "check the id; who has nothing to do with a message does not see it";
    UnknownRecord = "unknown_record", 404, Never, "check the repository, the collection and the key";
    UnknownSession = "unknown_session", 404, Never, "connect again";
    UnknownTask = "unknown_task", 404, Never, "check the name of the task: see `convoke task list`";
    UnknownGate = "unknown_gate", 404, Never, "list the gates first: it may be judged already";
    NotDead = "not_dead", 404, Never, "list the dead letters first";
    MethodNotAllowed = "method_not_allowed", 405, Never, "use another method: see /v1/openapi.json";
    TooSlow = "too_slow", 408, Later, "send the request faster, or less at once";
    NameTaken = "name_taken", 409, Never, "choose another name, or change the agent that has this one";
    Conflict = "conflict", 409, Never, "give the new message an id of its own";
    LeaseLost = "lease_lost", 409, Never, "take it again if it is still there, and ask for a longer lease";
    Gone = "gone", 410, Never, "the document is no longer kept; the receipt and the history still tell of it";
    NotParked = "not_parked", 409, Never, "only what is parked can be resumed";
    Swapped = "swapped", 409, Never, "read what is there now, and write again on top of it";
    RecordExists = "record_exists", 409, Never, "choose another key, or put the record";
    Guarded = "guarded", 409, Later, "what it waits for has to end first";
    TaskState = "task_state", 409, Never, "look at the task: `task_status` says how far it is";
    TaskWaits = "task_waits", 409, Later, "the detail says what it waits for";
    NotHolder = "not_holder", 409, Never, "claim the task, or have it handed over by `holder`";
    Missed = "missed", 409, Never, "claim another task: `holder` was first";
    NotAsked = "not_asked", 409, Never, "join the role that was asked, or ask its requester";
    Unfit = "unfit", 409, Later, "the detail says what is missing";
    TaskCycle = "task_cycle", 409, Never, "take one of the dependencies away";
    Stale = "stale", 409, Never, "read the state again, and change it from the version that `current` names";
    Gap = "gap", 409, Never, "changes are missing: read the whole state again";
    Settled = "settled", 409, Never, "send another message";
    TooLarge = "too_large", 413, Never, "send less at once, or put the content where it can be fetched";
    Invalid = "invalid", 422, Never, "correct the fields that `errors` names";
    UnknownDialect = "unknown_dialect", 422, Never, "say which dialect it is, with `?dialect=` or `Convoke-Dialect`";
    Breaking = "breaking", 422, Never, "publish it under a new name, or force it";
    Untranslatable = "untranslatable", 422, Never, "ask for the document in another dialect";
    NoRecipient = "no_recipient", 422, Never, "name at least one recipient";
    TooManyRecipients = "too_many_recipients", 422, Never, "use a topic or a channel";
    Expired = "expired", 422, Never, "send it with a later expiry";
    TooManyHops = "too_many_hops", 422, Never, "stop forwarding it: it goes round in circles";
    TooLong = "too_long", 422, Never, "shorten the field";
    LeaseLength = "lease_length", 422, Never, "ask for a lease within the bounds";
    NotAGroup = "not_a_group", 422, Never, "join a role, a topic or a channel: roles.x, #x, channel:x";
    TooMany = "too_many", 429, Later, "remove some first";
    OverPolicy = "over_policy", 429, Later, "ask for less, wait until other work is settled, or have the operator change the policy";
    QueueFull = "queue_full", 429, Later, "try again when the recipient has taken some";
    BusFull = "bus_full", 429, Later, "try again when messages were settled";
    NotAnUpgrade = "not_an_upgrade", 426, Never, "open it as a WebSocket";
    RateLimited = "rate_limited", 429, Later, "wait as long as Retry-After says";
    TooManyConnections = "too_many_connections", 429, Later, "close some connections first";
    HeadersTooLarge = "headers_too_large", 431, Never, "send fewer or shorter headers";
    Stored = "stored", 500, Never, "what is stored cannot be read: look with `convoke log verify`";
    Internal = "internal", 500, Later, "the server's log says more";
    Stopped = "stopped", 503, Later, "the bus stops or starts: try again soon";
    HistoryBehind = "history_behind", 503, Later, "the history has not come that far yet: try again soon";
    NoReply = "no_reply", 504, Never, "the recipient did not answer in time; a late reply comes to the inbox";
    Undeliverable = "undeliverable", 504, Never, "nobody could be given the message: its receipt says why";
    NoRoom = "no_room", 507, Later, "the disk of the bus is full: messages can be taken and settled, not sent";
}
