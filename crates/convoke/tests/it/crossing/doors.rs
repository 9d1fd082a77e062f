//! The doors as rows: in which language each speaks, how somebody sends through it, and how somebody receives.

use dialect::Name;
use json::{Limits, Value};
use rounds::socket::{Came, Socket};

use crate::crossing::stage::{LOOKS_MAX, Stage, text};

/// A door.
pub(crate) struct Door {
    pub(crate) name: &'static str,
    pub(crate) dialect: Name,
    pub(crate) send: fn(&Stage, &str, &str) -> Sent,
    pub(crate) receive: fn(&Stage, &str) -> String,
    /// How somebody sends and waits for the reply, where the door has a way.
    pub(crate) ask: Option<fn(&Stage, &str, &str) -> String>,
}

/// What a sender is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// It was taken in.
    Accepted { id: String, duplicate: bool },
    /// It was noted as a sign of life.
    Noted,
    /// It was refused, by this code.
    Refused(String),
}

pub(crate) const DOORS: &[Door] = &[
    Door {
        name: "http",
        dialect: Name::Convoke,
        send: http_send,
        receive: http_receive,
        ask: Some(http_ask),
    },
    Door {
        name: "socket",
        dialect: Name::Convoke,
        send: socket_send,
        receive: socket_receive,
        ask: Some(socket_ask),
    },
    Door { name: "wire", dialect: Name::Wire, send: wire_send, receive: wire_receive, ask: Some(wire_ask) },
    Door { name: "bus", dialect: Name::Bus, send: bus_send, receive: bus_receive, ask: Some(bus_ask) },
    Door {
        name: "coord",
        dialect: Name::Coord,
        send: coord_send,
        receive: coord_receive,
        ask: Some(coord_ask),
    },
    // Records are read by whoever looks, and settle nothing: an agent that must have its messages takes them.
    Door { name: "xrpc", dialect: Name::Comms, send: xrpc_send, receive: http_receive, ask: None },
];

fn http_send(stage: &Stage, agent: &str, document: &str) -> Sent {
    sent(stage.call("POST", "/v1/messages", agent, document))
}

/// Takes one message and acknowledges it.
fn http_receive(stage: &Stage, agent: &str) -> String {
    let take = r#"{"max":1,"wait":"60s"}"#;
    let (status, taken) = stage.call("POST", &format!("/v1/agents/{agent}/inbox/take"), agent, take);
    assert_eq!(status, 200, "{taken}");
    let delivery = text(&taken, "/deliveries/0/delivery");
    let (status, acked) = stage.call("POST", &format!("/v1/deliveries/{delivery}/ack"), agent, "");
    assert_eq!(status, 200, "{acked}: {taken}");
    text(&taken, "/deliveries/0/document")
}

fn http_ask(stage: &Stage, agent: &str, document: &str) -> String {
    let (status, answer) = stage.call("POST", "/v1/messages?wait=60s", agent, document);
    assert_eq!(status, 200, "{answer}");
    text(&answer, "/reply")
}

fn socket_send(stage: &Stage, agent: &str, document: &str) -> Sent {
    let mut socket = native(stage, agent);
    socket.send(&format!(r#"{{"op":"send","ref":1,"document":{document}}}"#)).unwrap();
    let answer = heard(&mut socket);
    match text(&answer, "/op").as_str() {
        "receipt" => accepted(&answer),
        "noted" => Sent::Noted,
        _ => Sent::Refused(text(&answer, "/code")),
    }
}

fn socket_receive(stage: &Stage, agent: &str) -> String {
    let mut socket = native(stage, agent);
    socket.send(r#"{"op":"credit","n":1}"#).unwrap();
    let letter = heard(&mut socket);
    assert_eq!(text(&letter, "/op"), "deliver", "{letter}");
    socket.send(&format!(r#"{{"op":"ack","delivery":"{}"}}"#, text(&letter, "/delivery"))).unwrap();
    text(&letter, "/document")
}

fn socket_ask(stage: &Stage, agent: &str, document: &str) -> String {
    let mut socket = native(stage, agent);
    socket.send(&format!(r#"{{"op":"send","ref":1,"wait":"60s","document":{document}}}"#)).unwrap();
    let receipt = heard(&mut socket);
    assert_eq!(text(&receipt, "/op"), "receipt", "{receipt}");
    let reply = heard(&mut socket);
    assert_eq!(text(&reply, "/op"), "reply", "{reply}");
    text(&reply, "/document")
}

fn wire_send(stage: &Stage, agent: &str, document: &str) -> Sent {
    sent(stage.call("POST", "/wire", agent, document))
}

fn wire_ask(stage: &Stage, agent: &str, document: &str) -> String {
    let (status, answer) = stage.call("POST", "/wire?wait=60s", agent, document);
    assert_eq!(status, 200, "{answer}");
    text(&answer, "/reply")
}

/// Looks into the inbox until there is something, and says that the first of it was processed.
fn wire_receive(stage: &Stage, agent: &str) -> String {
    let look = || stage.call("GET", &format!("/wire/inbox/{agent}?limit=1"), agent, "");
    let mut looks = std::iter::repeat_with(look).take(LOOKS_MAX);
    let (_, inbox) = looks.find(|(_, inbox)| text(inbox, "/ids") != "[]").unwrap();
    let ids = format!(r#"{{"ids":["{}"]}}"#, text(&inbox, "/ids/0"));
    let (_, processed) = stage.call("POST", &format!("/wire/inbox/{agent}/processed"), agent, &ids);
    assert_eq!(text(&processed, "/results/0/outcome"), "processed", "{processed}: {inbox}");
    text(&inbox, "/messages/0")
}

fn bus_send(stage: &Stage, agent: &str, document: &str) -> Sent {
    match sent(stage.call("POST", "/bus/messages/send", agent, document)) {
        Sent::Accepted { id, .. } if id.is_empty() => Sent::Noted,
        other @ (Sent::Accepted { .. } | Sent::Noted | Sent::Refused(_)) => other,
    }
}

fn bus_receive(stage: &Stage, agent: &str) -> String {
    stage.hear(agent, &format!("/bus?agent_id=codex%3A%2F%2F{agent}"))
}

/// The document itself wishes the reply.
fn bus_ask(stage: &Stage, agent: &str, document: &str) -> String {
    let (status, answer) = stage.call("POST", "/bus/messages/send", agent, document);
    assert_eq!(status, 200, "{answer}");
    text(&answer, "/reply")
}

fn coord_send(stage: &Stage, agent: &str, document: &str) -> Sent {
    sent(stage.call("POST", "/coord/messages", agent, document))
}

fn coord_receive(stage: &Stage, agent: &str) -> String {
    stage.hear(agent, &format!("/coord/agents/{agent}"))
}

fn coord_ask(stage: &Stage, agent: &str, document: &str) -> String {
    let (status, answer) = stage.call("POST", "/coord/messages?wait=60s", agent, document);
    assert_eq!(status, 200, "{answer}");
    text(&answer, "/reply")
}

/// Stores a record in the sender's own repository, and finds it there.
fn xrpc_send(stage: &Stage, agent: &str, document: &str) -> Sent {
    let record = json::parse_str(document, Limits::DOCUMENT).unwrap();
    let collection = text(&record, "/$type");
    let body = format!(r#"{{"repo":"{agent}","collection":"{collection}","record":{document}}}"#);
    let (status, made) = stage.call("POST", "/xrpc/com.atproto.repo.createRecord", agent, &body);
    if status != 200 {
        return Sent::Refused(text(&made, "/error"));
    }
    let list = format!("/xrpc/com.atproto.repo.listRecords?repo={agent}&collection={collection}&limit=1");
    let (_, listed) = stage.call("GET", &list, agent, "");
    assert_eq!(text(&listed, "/records/0/uri"), text(&made, "/uri"), "{listed}");
    let (_, found) = stage.call("GET", &format!("/v1/messages?agent={agent}&limit=100"), agent, "");
    let found = found.get("messages").and_then(Value::as_array).unwrap_or_default();
    let sent = found.iter().find(|row| text(row, "/native_id") == text(&made, "/uri"));
    Sent::Accepted { id: text(sent.unwrap(), "/id"), duplicate: false }
}

fn native(stage: &Stage, agent: &str) -> Socket {
    Socket::open(stage.server.address(), agent, stage.token(agent), "").unwrap()
}

fn heard(socket: &mut Socket) -> Value<'static> {
    match socket.hear().unwrap() {
        Came::Text(text) => json::parse_str(&text, Limits::DOCUMENT).unwrap().into_owned(),
        Came::Closed(code) => panic!("closed: {code}"),
    }
}

/// Reads the answer of a door that gives receipts.
fn sent((status, answer): (u16, Value<'static>)) -> Sent {
    match status {
        200 | 201 => accepted(&answer),
        202 => Sent::Noted,
        _ => {
            let (code, wire) = (text(&answer, "/code"), text(&answer, "/error/code"));
            Sent::Refused(if code.is_empty() { wire } else { code })
        }
    }
}

fn accepted(answer: &Value<'_>) -> Sent {
    // A claim is answered by its outcome, with the receipt inside.
    if let Some(reason) = answer.get("reason").and_then(Value::as_str) {
        return Sent::Refused(reason.to_owned());
    }
    let receipt = answer.get("receipt").unwrap_or(answer);
    Sent::Accepted { id: text(receipt, "/id"), duplicate: text(receipt, "/duplicate") == "true" }
}
