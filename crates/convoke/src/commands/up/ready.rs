//! What is answered while the log is being read, and what is said when it was.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use json::{Object, Value};
use node::Started;

use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::settings::Settings;

/// Answers that the bus is there and not ready yet.
pub(super) fn starting() -> Router {
    Router::new().route("/healthz", get(async || "ok\n")).route("/readyz", get(not_ready)).fallback(try_later)
}

async fn not_ready() -> Response {
    let body = r#"{"ready":false,"state":"starting","detail":"the log is being read"}"#;
    (StatusCode::SERVICE_UNAVAILABLE, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

async fn try_later() -> Response {
    let body = r#"{"status":503,"title":"Service Unavailable","code":"starting","detail":"the bus is reading its log and answers soon"}"#;
    let head = [(header::CONTENT_TYPE, "application/problem+json"), (header::RETRY_AFTER, "1")];
    (StatusCode::SERVICE_UNAVAILABLE, head, body).into_response()
}

/// Returns the address by which clients on this machine find the server.
pub(super) fn url(settings: &Settings, bound: SocketAddr, encrypted: bool) -> String {
    let scheme = if encrypted { "https" } else { "http" };
    let port = bound.port();
    match settings.hosts.first() {
        // A certificate speaks of names, not of addresses.
        Some(host) if encrypted => format!("{scheme}://{host}:{port}"),
        Some(_) | None => format!("{scheme}://{}", SocketAddr::new(reachable(bound.ip()), port)),
    }
}

fn reachable(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V4(_) | IpAddr::V6(_) => address,
    }
}

/// Says that the bus is there: in the log what was found, on standard output one line for who waits for it.
pub(super) fn announce(url: &str, data: &Path, started: &Started, form: Form) -> Result<(), Failure> {
    if let Some(cut) = &started.cut {
        tracing::info!(
            "an interrupted write of {} bytes was cut; nothing in it had been acknowledged",
            cut.bytes
        );
    }
    for (first, last) in &started.missing {
        if first == last {
            tracing::warn!("record {first} is missing since a salvage");
        } else {
            tracing::warn!("records {first} to {last} are missing since a salvage");
        }
    }
    if started.passed_over > 0 {
        tracing::warn!("{} later records were about what is missing", started.passed_over);
    }
    tracing::info!("data in {}, {} events", data.display(), started.last);
    let mut output = Output::new();
    match form {
        Form::Text => output.line(format_args!("listening on {url}"))?,
        Form::Json => {
            let pid = u64::from(std::process::id());
            let ready: Object<'_> =
                [("event", Value::from("ready")), ("url", Value::from(url)), ("pid", Value::from(pid))]
                    .into_iter()
                    .collect();
            output.line(Value::Object(ready).to_json())?;
        }
    }
    output.flush()?;
    Ok(())
}
