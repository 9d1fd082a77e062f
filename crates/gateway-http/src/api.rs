//! The list of all calls: what is served and what `/v1/openapi.json` says are made of it, so they cannot differ.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, delete, get, post, put};
use gateway::{Code, Hub};

use crate::{
    agents, batch, channels, dead, deliveries, events, gates, inbox, lexicons, messages, metrics, openapi,
    past, policy, socket, state, status, tasks, tokens, trim,
};

/// One call.
pub(crate) struct Call {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) who: Who,
    pub(crate) takes: &'static [Param],
    pub(crate) body: Option<Form>,
    /// What comes back when it goes well, by status.
    pub(crate) gives: &'static [(u16, Form)],
    /// Why it may be refused, besides what every call may be refused for.
    pub(crate) refuses: &'static [Code],
    serve: fn() -> MethodRouter<Hub>,
}

/// Who may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Anybody,
    /// Whoever has a token.
    Token,
    /// The agent that the path names, who speaks for it, and the operator.
    Own,
    /// Whoever has to do with the message, and the operator.
    Party,
    Operator,
}

/// Something that a call takes besides its body.
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    pub(crate) kind: Kind,
    pub(crate) says: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Name,
    Id,
    Number,
    Duration,
    Flag,
    Dialect,
    /// One of some words.
    Words(&'static [&'static str]),
}

/// What a body looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A JSON object that a component describes.
    Json(&'static str),
    /// Any JSON object: a document of a dialect.
    Document,
    /// JSON Lines, each as a component describes, or any object.
    Lines(Option<&'static str>),
    /// Plain text.
    Text,
    /// Server-sent events.
    Events,
    /// Another protocol from there on.
    Upgrade,
}

const fn param(name: &'static str, place: Place, kind: Kind, says: &'static str) -> Param {
    Param { name, place, kind, says }
}

const AGENT: Param = param("agent", Place::Path, Kind::Name, "the agent, by its name");
const ID: Param = param("id", Place::Path, Kind::Id, "the message, by its id on this bus");
const DELIVERY: Param = param("delivery", Place::Path, Kind::Id, "the delivery");
const DIALECT_IN: Param = param("dialect", Place::Query, Kind::Dialect, "in which dialect the document is");
const DIALECT_OUT: Param =
    param("dialect", Place::Query, Kind::Dialect, "in which dialect documents are wanted");
const DIALECT_HEADER: Param = param("Convoke-Dialect", Place::Header, Kind::Dialect, "the same as `dialect`");
const KEY: Param = param(
    "Idempotency-Key",
    Place::Header,
    Kind::Text,
    "what a repeat is known by, for documents without an id",
);
const TRACE: Param =
    param("traceparent", Place::Header, Kind::Text, "the W3C trace that goes on to the recipients");
const WAIT: Param = param("wait", Place::Query, Kind::Duration, "how long to wait for a reply");
const HOLD: Param = param("hold", Place::Query, Kind::Flag, "whether unknown recipients may come later");
const DRY: Param = param("dry_run", Place::Query, Kind::Flag, "only check the document and its sender");
const LABEL: Param = param("label", Place::Path, Kind::Text, "the token, by its label; `all` for every one");
const ADDRESS: Param =
    param("address", Place::Path, Kind::Text, "a role, topic or channel, such as `roles.developer`");
const WHAT: Param = param(
    "what",
    Place::Path,
    Kind::Words(&["ack", "nack", "surfaced", "extend"]),
    "what became of it, or is asked for it",
);
const TASK: Param = param("id", Place::Path, Kind::Text, "the task, by its name or the id of its request");
const DEED: Param = param(
    "what",
    Place::Path,
    Kind::Words(&[
        "progress", "done", "fail", "reject", "block", "cancel", "handoff", "accept", "decline", "review",
        "renew",
    ]),
    "what is done with it",
);
const IN_AGENT: Param = param("agent", Place::Query, Kind::Name, "only what this agent has to do with");
const IN_THREAD: Param = param("thread", Place::Query, Kind::Text, "only this conversation");
const IN_TASK: Param = param("task", Place::Query, Kind::Text, "only this task");
const AFTER: Param = param("after", Place::Query, Kind::Number, "only what is behind this place of the log");

/// Every call, in the order of the documentation.
pub(crate) static CALLS: &[Call] = &[
    Call {
        method: "get",
        path: "/healthz",
        summary: "Says that the process is alive",
        who: Who::Anybody,
        takes: &[],
        body: None,
        gives: &[(200, Form::Text)],
        refuses: &[],
        serve: || get(status::alive),
    },
    Call {
        method: "get",
        path: "/readyz",
        summary: "Says whether the bus takes messages; 503 and why, when it does not",
        who: Who::Anybody,
        takes: &[],
        body: None,
        gives: &[(200, Form::Json("Ready")), (503, Form::Json("Ready"))],
        refuses: &[],
        serve: || get(status::ready),
    },
    Call {
        method: "get",
        path: "/metrics",
        summary: "Counts and durations for Prometheus",
        who: Who::Operator,
        takes: &[],
        body: None,
        gives: &[(200, Form::Text)],
        refuses: &[],
        serve: || get(metrics::show),
    },
    Call {
        method: "get",
        path: "/v1/openapi.json",
        summary: "This document",
        who: Who::Anybody,
        takes: &[],
        body: None,
        gives: &[(200, Form::Document)],
        refuses: &[],
        serve: || get(openapi::show),
    },
    Call {
        method: "get",
        path: "/v1/me",
        summary: "Tells whom the token speaks for, and the time of the bus",
        who: Who::Token,
        takes: &[],
        body: None,
        gives: &[(200, Form::Json("Me"))],
        refuses: &[],
        serve: || get(status::me),
    },
    Call {
        method: "get",
        path: "/v1/bus",
        summary: "Counts what the bus holds",
        who: Who::Token,
        takes: &[],
        body: None,
        gives: &[(200, Form::Json("Bus"))],
        refuses: &[],
        serve: || get(status::bus),
    },
    Call {
        method: "get",
        path: "/v1/agents",
        summary: "Lists the agents: who is there, how each can be reached, how much waits",
        who: Who::Token,
        takes: &[
            param("after", Place::Query, Kind::Name, "only agents behind this one"),
            param("limit", Place::Query, Kind::Number, "how many at most, 1000 at most; all if not said"),
        ],
        body: None,
        gives: &[(200, Form::Json("Agents"))],
        refuses: &[Code::UnknownAgent],
        serve: || get(agents::list),
    },
    Call {
        method: "put",
        path: "/v1/agents/{agent}",
        summary: "Makes an agent, whose token is shown once, or changes one",
        who: Who::Operator,
        takes: &[AGENT],
        body: Some(Form::Json("AgentWanted")),
        gives: &[(201, Form::Json("AgentMade")), (200, Form::Json("AgentMade"))],
        refuses: &[
            Code::NameTaken,
            Code::NameReserved,
            Code::TooMany,
            Code::TooLong,
            Code::NotAGroup,
            Code::NoRoom,
        ],
        serve: || put(agents::put),
    },
    Call {
        method: "get",
        path: "/v1/agents/{agent}",
        summary: "Shows an agent",
        who: Who::Token,
        takes: &[AGENT],
        body: None,
        gives: &[(200, Form::Json("Agent"))],
        refuses: &[Code::UnknownAgent],
        serve: || get(agents::show),
    },
    Call {
        method: "delete",
        path: "/v1/agents/{agent}",
        summary: "Forgets an agent; what waits for it goes to its fallback or becomes a dead letter",
        who: Who::Operator,
        takes: &[AGENT],
        body: None,
        gives: &[(200, Form::Json("Nothing"))],
        refuses: &[Code::UnknownAgent, Code::NameReserved],
        serve: || delete(agents::remove),
    },
    Call {
        method: "post",
        path: "/v1/agents/{agent}/tokens",
        summary: "Makes one more token, shown once",
        who: Who::Own,
        takes: &[AGENT],
        body: Some(Form::Json("TokenWanted")),
        gives: &[(201, Form::Json("TokenMade"))],
        refuses: &[Code::UnknownAgent, Code::TooMany, Code::NameReserved, Code::NoRoom],
        serve: || post(tokens::add),
    },
    Call {
        method: "delete",
        path: "/v1/agents/{agent}/tokens/{label}",
        summary: "Revokes a token; it opens nothing any more when this is answered",
        who: Who::Own,
        takes: &[AGENT, LABEL],
        body: None,
        gives: &[(200, Form::Json("Nothing"))],
        refuses: &[Code::UnknownAgent, Code::NotFound, Code::NameReserved, Code::NoRoom],
        serve: || delete(tokens::revoke),
    },
    Call {
        method: "put",
        path: "/v1/agents/{agent}/subscriptions/{address}",
        summary: "Joins a role, topic or channel",
        who: Who::Own,
        takes: &[AGENT, ADDRESS],
        body: None,
        gives: &[(200, Form::Json("Nothing"))],
        refuses: &[Code::UnknownAgent, Code::NotAGroup, Code::TooMany, Code::NoRoom],
        serve: || put(agents::join),
    },
    Call {
        method: "delete",
        path: "/v1/agents/{agent}/subscriptions/{address}",
        summary: "Leaves a role, topic or channel",
        who: Who::Own,
        takes: &[AGENT, ADDRESS],
        body: None,
        gives: &[(200, Form::Json("Nothing"))],
        refuses: &[Code::UnknownAgent, Code::NotAGroup],
        serve: || delete(agents::leave),
    },
    Call {
        method: "post",
        path: "/v1/messages",
        summary: "Sends one document; waits for a reply if asked to",
        who: Who::Token,
        takes: &[DIALECT_IN, DIALECT_HEADER, WAIT, HOLD, DRY, KEY, TRACE],
        body: Some(Form::Document),
        gives: &[(201, Form::Json("Receipt")), (200, Form::Json("Sent")), (202, Form::Json("Noted"))],
        refuses: SENDING,
        serve: || post(messages::send),
    },
    Call {
        method: "post",
        path: "/v1/messages/batch",
        summary: "Sends many documents, one a line, in one commit; one receipt or problem a line comes back",
        who: Who::Token,
        takes: &[DIALECT_IN, DIALECT_HEADER, HOLD, TRACE],
        body: Some(Form::Lines(None)),
        gives: &[(200, Form::Lines(Some("ReceiptOrProblem")))],
        refuses: &[],
        serve: || post(batch::send),
    },
    Call {
        method: "get",
        path: "/v1/messages",
        summary: "Looks back and searches: own messages, all channels and topics; the operator everything",
        who: Who::Token,
        takes: &[
            IN_AGENT,
            IN_THREAD,
            IN_TASK,
            param("channel", Place::Query, Kind::Text, "only this channel, topic or role"),
            param("kind", Place::Query, Kind::Text, "only messages that mean this"),
            param(
                "q",
                Place::Query,
                Kind::Text,
                "only with these words: `word`, `\"a phrase\"`, `begin*`, `-not`",
            ),
            AFTER,
            param("before", Place::Query, Kind::Number, "only what is before this place of the log"),
            param("limit", Place::Query, Kind::Number, "how many at most, 50 if not said, 1000 at most"),
        ],
        body: None,
        gives: &[(200, Form::Json("Page"))],
        refuses: &[Code::UnknownAgent],
        serve: || get(past::list),
    },
    Call {
        method: "get",
        path: "/v1/messages/{id}",
        summary: "Shows the document, as it came or in another dialect",
        who: Who::Party,
        takes: &[ID, DIALECT_OUT],
        body: None,
        gives: &[(200, Form::Document)],
        refuses: &[Code::UnknownMessage, Code::Untranslatable, Code::HistoryBehind],
        serve: || get(messages::document),
    },
    Call {
        method: "put",
        path: "/v1/messages/{id}",
        summary: "Amends a message: another document of the same dialect takes its place",
        who: Who::Party,
        takes: &[ID, DIALECT_IN],
        body: Some(Form::Document),
        gives: &[(200, Form::Json("Receipt"))],
        refuses: &[
            Code::UnknownMessage,
            Code::Settled,
            Code::Invalid,
            Code::UnknownDialect,
            Code::HistoryBehind,
            Code::NoRoom,
        ],
        serve: || put(messages::amend),
    },
    Call {
        method: "delete",
        path: "/v1/messages/{id}",
        summary: "Takes a message back: undelivered is withdrawn, delivered gets a notice",
        who: Who::Party,
        takes: &[ID],
        body: None,
        gives: &[(200, Form::Json("Receipt"))],
        refuses: &[Code::UnknownMessage, Code::Settled, Code::HistoryBehind],
        serve: || delete(messages::retract),
    },
    Call {
        method: "get",
        path: "/v1/messages/{id}/receipt",
        summary: "Shows what became of a message",
        who: Who::Party,
        takes: &[ID],
        body: None,
        gives: &[(200, Form::Json("Receipt"))],
        refuses: &[Code::UnknownMessage, Code::HistoryBehind],
        serve: || get(messages::receipt),
    },
    Call {
        method: "post",
        path: "/v1/messages/{id}/resume",
        summary: "Lets a parked conversation go on",
        who: Who::Operator,
        takes: &[ID],
        body: None,
        gives: &[(200, Form::Json("Receipt"))],
        refuses: &[Code::UnknownMessage, Code::NotParked, Code::HistoryBehind],
        serve: || post(messages::resume),
    },
    Call {
        method: "get",
        path: "/v1/agents/{agent}/inbox",
        summary: "Shows what waits; changes nothing",
        who: Who::Own,
        takes: &[
            AGENT,
            DIALECT_OUT,
            param("max", Place::Query, Kind::Number, "how many at most"),
            param(
                "max_tokens",
                Place::Query,
                Kind::Number,
                "how long the documents may be together, in tokens",
            ),
        ],
        body: None,
        gives: &[(200, Form::Json("Inbox"))],
        refuses: &[Code::UnknownAgent],
        serve: || get(inbox::look),
    },
    Call {
        method: "post",
        path: "/v1/agents/{agent}/inbox/take",
        summary: "Hands messages out, and waits for some if asked to",
        who: Who::Own,
        takes: &[AGENT],
        body: Some(Form::Json("Take")),
        gives: &[(200, Form::Json("Taken"))],
        refuses: &[Code::UnknownAgent, Code::LeaseLength, Code::TooManyConnections],
        serve: || post(inbox::take),
    },
    Call {
        method: "post",
        path: "/v1/deliveries/{delivery}/{what}",
        summary: "Settles a delivery, gives it back, says that a model was shown it, or asks for more time",
        who: Who::Own,
        takes: &[DELIVERY, WHAT],
        body: Some(Form::Json("Settling")),
        gives: &[(200, Form::Json("Settled"))],
        refuses: &[Code::UnknownDelivery, Code::NotFound, Code::LeaseLost, Code::LeaseLength, Code::TooLong],
        serve: || post(deliveries::settle),
    },
    Call {
        method: "get",
        path: "/v1/agents/{agent}/socket",
        summary: "Opens a WebSocket: sending, receiving with credit and settling over one connection",
        who: Who::Own,
        takes: &[
            AGENT,
            DIALECT_OUT,
            param("lease", Place::Query, Kind::Duration, "how long each delivery is leased"),
            param(
                "receipts",
                Place::Query,
                Kind::Words(&["full", "brief", "together"]),
                "how much receipts say",
            ),
        ],
        body: None,
        gives: &[(101, Form::Upgrade)],
        refuses: &[Code::UnknownAgent, Code::NotAnUpgrade],
        serve: || get(socket::open),
    },
    Call {
        method: "get",
        path: "/v1/events",
        summary: "Streams everything that happens, from now or from a place on; a gap is said",
        who: Who::Token,
        takes: &[
            AFTER,
            param("Last-Event-ID", Place::Header, Kind::Number, "the same as `after`"),
            IN_AGENT,
            IN_THREAD,
            IN_TASK,
        ],
        body: None,
        gives: &[(200, Form::Events)],
        refuses: &[Code::UnknownAgent, Code::TooManyConnections],
        serve: || get(events::stream),
    },
    Call {
        method: "get",
        path: "/v1/channels",
        summary: "Lists channels: who is in them and, for the operator, which folders they have",
        who: Who::Token,
        takes: &[],
        body: None,
        gives: &[(200, Form::Json("Channels"))],
        refuses: &[],
        serve: || get(channels::list),
    },
    Call {
        method: "get",
        path: "/v1/channels/problems",
        summary: "Lists files of channel folders that were not taken in, or are odd, the newest first",
        who: Who::Operator,
        takes: &[],
        body: None,
        gives: &[(200, Form::Json("ChannelProblems"))],
        refuses: &[],
        serve: || get(channels::problems),
    },
    Call {
        method: "get",
        path: "/v1/dead",
        summary: "Lists dead letters: the operator sees all, an agent what it sent",
        who: Who::Token,
        takes: &[
            param("after", Place::Query, Kind::Number, "what `next` said"),
            param("limit", Place::Query, Kind::Number, "how many at most, 10000 if not said"),
        ],
        body: None,
        gives: &[(200, Form::Json("Dead"))],
        refuses: &[],
        serve: || get(dead::list),
    },
    Call {
        method: "post",
        path: "/v1/dead/{id}/retry",
        summary: "Gives the dead letters of a message another try",
        who: Who::Party,
        takes: &[ID],
        body: None,
        gives: &[(200, Form::Json("Receipt"))],
        refuses: &[Code::NotDead, Code::UnknownMessage, Code::QueueFull, Code::HistoryBehind, Code::NoRoom],
        serve: || post(dead::retry),
    },
    Call {
        method: "delete",
        path: "/v1/dead/{id}",
        summary: "Clears the dead letters of a message away",
        who: Who::Party,
        takes: &[ID],
        body: None,
        gives: &[(200, Form::Json("Nothing"))],
        refuses: &[Code::NotDead],
        serve: || delete(dead::remove),
    },
    Call {
        method: "get",
        path: "/v1/tasks",
        summary: "Lists tasks: how far each is, and who has it",
        who: Who::Token,
        takes: &[
            param(
                "status",
                Place::Query,
                Kind::Words(&[
                    "pending",
                    "claimed",
                    "running",
                    "blocked",
                    "done",
                    "failed",
                    "rejected",
                    "cancelled",
                ]),
                "only tasks that are so",
            ),
            param("holder", Place::Query, Kind::Name, "only what this agent has"),
            param("requester", Place::Query, Kind::Name, "only what this agent asked for"),
            param("role", Place::Query, Kind::Text, "only what this role was asked for"),
            param("open", Place::Query, Kind::Flag, "only what is not over"),
            param("late", Place::Query, Kind::Flag, "only what was not done by its deadline"),
            param("after", Place::Query, Kind::Number, "what `next` said"),
            param("limit", Place::Query, Kind::Number, "how many at most, 100 if not said, 1000 at most"),
        ],
        body: None,
        gives: &[(200, Form::Json("Tasks"))],
        refuses: &[Code::UnknownAgent],
        serve: || get(tasks::list),
    },
    Call {
        method: "get",
        path: "/v1/tasks/{id}",
        summary: "Shows a task with its history, what asked for it and what came of it",
        who: Who::Token,
        takes: &[TASK, DIALECT_OUT],
        body: None,
        gives: &[(200, Form::Json("Task"))],
        refuses: &[Code::UnknownTask],
        serve: || get(tasks::show),
    },
    Call {
        method: "post",
        path: "/v1/tasks/claim",
        summary: "Claims a task, or the next one that the caller may have",
        who: Who::Token,
        takes: &[DIALECT_OUT, KEY],
        body: Some(Form::Json("ClaimWanted")),
        gives: &[(200, Form::Json("Claimed"))],
        refuses: TASKS,
        serve: || post(tasks::claim),
    },
    Call {
        method: "post",
        path: "/v1/tasks/{id}/{what}",
        summary: "Does something with a task; the message that says so goes to whom it concerns",
        who: Who::Token,
        takes: &[TASK, DEED, KEY],
        body: Some(Form::Json("Deed")),
        gives: &[(201, Form::Json("Done")), (200, Form::Json("Done"))],
        refuses: TASKS,
        serve: || post(tasks::act),
    },
    Call {
        method: "get",
        path: "/v1/state",
        summary: "Shows the shared state: tasks, agents, allotments, the policy, and the version of each",
        who: Who::Token,
        takes: &[],
        body: None,
        gives: &[(200, Form::Json("SharedState"))],
        refuses: &[],
        serve: || get(state::show),
    },
    Call {
        method: "post",
        path: "/v1/state",
        summary: "Makes one change of the shared state, if it is the next one",
        who: Who::Token,
        takes: &[],
        body: Some(Form::Json("StateUpdate")),
        gives: &[(200, Form::Json("Changed"))],
        refuses: &[
            Code::Invalid,
            Code::NotFound,
            Code::UnknownTask,
            Code::UnknownAgent,
            Code::Stale,
            Code::Gap,
            Code::TaskState,
            Code::TaskWaits,
            Code::NotHolder,
            Code::Unfit,
            Code::TaskCycle,
            Code::OverPolicy,
            Code::TooLong,
            Code::NoRoom,
        ],
        serve: || post(state::change),
    },
    Call {
        method: "get",
        path: "/v1/state/events",
        summary: "Streams the changes of the shared state, from now or from a place on",
        who: Who::Token,
        takes: &[AFTER, param("Last-Event-ID", Place::Header, Kind::Number, "the same as `after`")],
        body: None,
        gives: &[(200, Form::Events)],
        refuses: &[Code::TooManyConnections],
        serve: || get(state::stream),
    },
    Call {
        method: "get",
        path: "/v1/policy",
        summary: "Shows the policy in force, and what was spent under it",
        who: Who::Token,
        takes: &[],
        body: None,
        gives: &[(200, Form::Json("Policy"))],
        refuses: &[],
        serve: || get(policy::show),
    },
    Call {
        method: "put",
        path: "/v1/policy",
        summary: "Puts another policy in its place, or says what that would have changed",
        who: Who::Operator,
        takes: &[
            param("dry_run", Place::Query, Kind::Flag, "only say which decisions would have been others"),
            param("last", Place::Query, Kind::Number, "of how many decisions, 1000 at most"),
        ],
        body: Some(Form::Document),
        gives: &[(200, Form::Json("PolicySet"))],
        refuses: &[Code::Invalid, Code::NoRoom],
        serve: || put(policy::put),
    },
    Call {
        method: "get",
        path: "/v1/gates",
        summary: "Lists what waits for a human: the operator sees all, an agent what it asked",
        who: Who::Token,
        takes: &[param("all", Place::Query, Kind::Flag, "also what was judged")],
        body: None,
        gives: &[(200, Form::Json("Gates"))],
        refuses: &[],
        serve: || get(gates::list),
    },
    Call {
        method: "post",
        path: "/v1/gates/{id}/{verdict}",
        summary: "Says yes or no to what waits",
        who: Who::Operator,
        takes: &[
            param("id", Place::Path, Kind::Id, "the gate"),
            param("verdict", Place::Path, Kind::Words(&["approve", "reject"]), "yes or no"),
        ],
        body: Some(Form::Json("GateVerdict")),
        gives: &[(200, Form::Json("Gate"))],
        refuses: &[Code::NotFound, Code::UnknownGate],
        serve: || post(gates::judge),
    },
    Call {
        method: "post",
        path: "/v1/log/trim",
        summary: "Gives up what the log need not keep, or says what that would be",
        who: Who::Operator,
        takes: &[],
        body: Some(Form::Json("TrimWanted")),
        gives: &[(200, Form::Json("Trim"))],
        refuses: &[],
        serve: || post(trim::trim),
    },
    Call {
        method: "get",
        path: "/v1/lexicons",
        summary: "Lists the lexicons by which records and the content of messages are checked",
        who: Who::Token,
        takes: &[param("documents", Place::Query, Kind::Flag, "whether the operator's come with their text")],
        body: None,
        gives: &[(200, Form::Json("Lexicons"))],
        refuses: &[],
        serve: || get(lexicons::list),
    },
    Call {
        method: "put",
        path: "/v1/lexicons",
        summary: "Adds a lexicon, or replaces the one of the same name if that breaks nobody",
        who: Who::Operator,
        takes: &[param("force", Place::Query, Kind::Flag, "whether it may break the one of the same name")],
        body: Some(Form::Document),
        gives: &[(200, Form::Json("LexiconAdded"))],
        refuses: &[Code::Invalid, Code::Breaking, Code::NameTaken, Code::TooMany, Code::NoRoom],
        serve: || put(lexicons::put),
    },
];

/// Why a document may be refused.
const SENDING: &[Code] = &[
    Code::Invalid,
    Code::UnknownDialect,
    Code::UnknownRecipient,
    Code::Conflict,
    Code::NoRecipient,
    Code::TooManyRecipients,
    Code::Expired,
    Code::TooManyHops,
    Code::TooLong,
    Code::QueueFull,
    Code::BusFull,
    Code::NoReply,
    Code::Undeliverable,
    Code::NoRoom,
];

/// Why something cannot be done with a task.
const TASKS: &[Code] = &[
    Code::NotFound,
    Code::UnknownTask,
    Code::UnknownRecipient,
    Code::Conflict,
    Code::TaskState,
    Code::TaskWaits,
    Code::NotHolder,
    Code::Missed,
    Code::NotAsked,
    Code::Unfit,
    Code::TaskCycle,
    Code::Invalid,
    Code::TooLong,
    Code::OverPolicy,
    Code::QueueFull,
    Code::BusFull,
    Code::NoRoom,
];

/// Serves every call of the list.
pub(crate) fn routes(hub: &Hub) -> Router<Hub> {
    let batch_bytes_max = hub.limits().batch_bytes_max;
    CALLS.iter().fold(Router::new(), |router, call| {
        let served = (call.serve)();
        let is_batch = matches!(call.body, Some(Form::Lines(_)));
        let served = if is_batch { served.layer(DefaultBodyLimit::max(batch_bytes_max)) } else { served };
        router.route(call.path, served)
    })
}
