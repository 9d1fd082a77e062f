//! The OpenAPI document, made from the list of calls and the list of codes.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use gateway::Code;
use json::{Limits, Object, Value};

use crate::api::{CALLS, Call, Form, Kind, Param, Place, Who};

/// What bodies look like, by name.
const COMPONENTS: &str = include_str!("openapi/components.json");

/// Why any call may be refused.
const ALWAYS: &[Code] = &[
    Code::BadRequest,
    Code::NotJson,
    Code::Host,
    Code::Origin,
    Code::HeadersTooLarge,
    Code::Internal,
    Code::Stopped,
];
/// Why a call that wants a token may be refused.
const WITH_TOKEN: &[Code] = &[Code::NoToken, Code::NotYours, Code::RateLimited];
/// Why a call that has a body may be refused.
const WITH_BODY: &[Code] = &[Code::TooLarge, Code::TooSlow];

static DOCUMENT: LazyLock<String> = LazyLock::new(document);

/// Shows the document.
pub(crate) async fn show() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT.as_str()).into_response()
}

/// Makes the document.
pub(crate) fn document() -> String {
    let components =
        json::parse_str(COMPONENTS, Limits::DOCUMENT).expect("the components are JSON: a test reads them");
    let info = object([
        ("title", Value::from("Convoke")),
        ("version", Value::from(env!("CARGO_PKG_VERSION"))),
        (
            "description",
            Value::from(
                "The native door of the bus. Errors are application/problem+json with a stable code.",
            ),
        ),
    ]);
    let mut paths: Object<'static> = Object::new();
    for call in CALLS {
        if !paths.contains_key(call.path) {
            paths.insert(call.path, Value::Object(Object::new()));
        }
        if let Some(path) = paths.get_mut(call.path).and_then(Value::as_object_mut) {
            path.insert(call.method, operation(call));
        }
    }
    let bearer = object([("type", Value::from("http")), ("scheme", Value::from("bearer"))]);
    let mut all: Object<'static> = Object::new();
    all.insert("schemas", components.into_owned());
    all.insert("securitySchemes", object([("token", bearer)]));
    let document = object([
        ("openapi", Value::from("3.1.0")),
        ("info", info),
        ("paths", Value::Object(paths)),
        ("components", Value::Object(all)),
    ]);
    document.to_json()
}

fn operation(call: &Call) -> Value<'static> {
    let mut members: Object<'static> = Object::new();
    members.insert("summary", Value::from(call.summary));
    members.insert("operationId", Value::from(operation_id(call)));
    if call.who != Who::Anybody {
        let token = object([("token", Value::Array(Vec::new()))]);
        let is_socket = call.gives.iter().any(|(_, form)| *form == Form::Upgrade);
        // The first frame of a socket may show the token, too.
        let none = is_socket.then(|| Value::Object(Object::new()));
        members.insert("security", Value::Array(std::iter::once(token).chain(none).collect()));
        members.insert("description", Value::from(format!("For: {}.", who(call.who))));
    }
    if !call.takes.is_empty() {
        members.insert("parameters", Value::Array(call.takes.iter().map(parameter).collect()));
    }
    if let Some(form) = call.body {
        let is_document = matches!(form, Form::Document | Form::Lines(_));
        let body = object([("required", Value::from(is_document)), ("content", content(form))]);
        members.insert("requestBody", body);
    }
    members.insert("responses", responses(call));
    Value::Object(members)
}

/// Returns what a call is called: its method and the plain parts of its path.
fn operation_id(call: &Call) -> String {
    let parts = call.path.split(['/', '.']).filter(|part| !part.is_empty() && *part != "v1");
    let named = parts.map(|part| part.trim_matches(['{', '}']));
    std::iter::once(call.method).chain(named).collect::<Vec<_>>().join("_")
}

fn who(who: Who) -> &'static str {
    match who {
        Who::Anybody => "anybody",
        Who::Token => "whoever has a token",
        Who::Own => "the agent itself, who speaks for it, and the operator",
        Who::Party => "whoever sent or got the message, and the operator",
        Who::Operator => "the operator",
    }
}

fn parameter(param: &Param) -> Value<'static> {
    let place = match param.place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Header => "header",
    };
    let text =
        |pattern: &'static str| object([("type", Value::from("string")), ("pattern", Value::from(pattern))]);
    let schema = match param.kind {
        Kind::Text => object([("type", Value::from("string"))]),
        Kind::Name => text("^[a-z0-9][a-z0-9._-]{0,63}$"),
        Kind::Id => object([("type", Value::from("string")), ("format", Value::from("uuid"))]),
        Kind::Number => object([("type", Value::from("integer")), ("minimum", Value::from(0_u64))]),
        Kind::Duration => text("^[0-9]{1,9}(ms|s|m|h|d)$"),
        Kind::Flag => object([("type", Value::from("boolean"))]),
        Kind::Dialect => words(&["comms", "coord", "bus", "channel", "wire", "convoke", "auto"]),
        Kind::Words(list) => words(list),
    };
    object([
        ("name", Value::from(param.name)),
        ("in", Value::from(place)),
        ("required", Value::from(param.place == Place::Path)),
        ("description", Value::from(param.says)),
        ("schema", schema),
    ])
}

fn words(words: &[&'static str]) -> Value<'static> {
    let words = words.iter().map(|word| Value::from(*word)).collect();
    object([("type", Value::from("string")), ("enum", Value::Array(words))])
}

fn content(form: Form) -> Value<'static> {
    let any = || object([("type", Value::from("object"))]);
    let of = |mime: &'static str, schema: Value<'static>| object([(mime, object([("schema", schema)]))]);
    let text = || object([("type", Value::from("string"))]);
    match form {
        Form::Json(name) => of("application/json", component(name)),
        Form::Document => of("application/json", any()),
        // Each line is one; the whole is text.
        Form::Lines(_) => of("application/jsonl", text()),
        Form::Text => of("text/plain", text()),
        Form::Events => of("text/event-stream", text()),
        Form::Upgrade => Value::Object(Object::new()),
    }
}

fn component(name: &str) -> Value<'static> {
    object([("$ref", Value::from(format!("#/components/schemas/{name}")))])
}

fn responses(call: &Call) -> Value<'static> {
    let mut responses: Object<'static> = Object::new();
    for (status, form) in call.gives {
        let mut response: Object<'static> = Object::new();
        response
            .insert("description", Value::from(if *status < 300 { "It went well" } else { "It does not" }));
        if *form != Form::Upgrade {
            response.insert("content", content(*form));
        }
        responses.insert(status.to_string(), Value::Object(response));
    }
    let mut codes: Vec<Code> = ALWAYS.to_vec();
    codes.extend(if call.who == Who::Anybody { &[][..] } else { WITH_TOKEN });
    codes.extend(if call.body.is_some() { WITH_BODY } else { &[] });
    codes.extend(call.refuses);
    codes.sort_by_key(|code| (code.status(), code.name()));
    codes.dedup();
    for code in &codes {
        let key = code.status().to_string();
        if responses.contains_key(&key) {
            continue;
        }
        let same = codes.iter().filter(|other| other.status() == code.status());
        let says: Vec<String> = same.map(|code| format!("`{}`: {}", code.name(), code.help())).collect();
        let problem = object([("application/problem+json", object([("schema", component("Problem"))]))]);
        responses.insert(key, object([("description", Value::from(says.join("; "))), ("content", problem)]));
    }
    Value::Object(responses)
}

fn object<const N: usize>(members: [(&'static str, Value<'static>); N]) -> Value<'static> {
    Value::Object(members.into_iter().collect())
}
