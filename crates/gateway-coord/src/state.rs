//! The shared state: all of it, one change of it, and a socket that tells what changes.

use axum::extract::RawQuery;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gateway::socket::{CLOSE_POLICY, CLOSE_STOPPING, Pings, WRITE_TIME, close, limited};
use gateway::state::{Follower, StateUpdate, Told, shared_state};
use gateway::{Answer, Body, Caller, Code, Hub, Principal, Problem, Query};
use message::Seq;
use tokio::time::timeout;

/// Shows all of it.
pub(crate) async fn show(caller: Caller) -> Result<Response, Problem> {
    Ok(gateway::json_text(StatusCode::OK, shared_state(&caller.hub, &caller.principal).await?))
}

/// Makes one change of it.
pub(crate) async fn change(caller: Caller, body: Body) -> Result<Response, Problem> {
    let update = StateUpdate::read(&gateway::body(body)?)?;
    let by = caller.principal.speaker();
    let change = caller.hub.call(move |turn| update.apply(turn, by)).await?;
    Ok(gateway::changed(change).respond(StatusCode::OK))
}

/// Opens a socket over which changes are told, one a frame.
pub(crate) async fn follow(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|error| Problem::new(Code::NotAnUpgrade, error.to_string()))?;
    let query = Query(query.as_deref());
    let after = query.number("after")?.map(Seq);
    let token = gateway::shown(&caller.hub, &headers, query)?.token;
    let connection = caller.hub.count_connection(&caller.principal)?;
    let Caller { hub, principal } = caller;
    let follower = Follower::new(hub.clone(), principal.clone(), token, after, connection);
    Ok(limited(&hub, upgrade).on_upgrade(async move |socket| tell(&hub, &principal, follower, socket).await))
}

/// Tells what changes until either side is gone. What the peer says changes nothing.
async fn tell(hub: &Hub, principal: &Principal, mut follower: Follower, mut socket: WebSocket) {
    let mut pings = Pings::new();
    let bye = loop {
        let told = tokio::select! {
            told = follower.next() => told,
            heard = socket.recv() => match heard {
                Some(Ok(Message::Ping(_))) if pings.is_one_too_many() => break close(CLOSE_POLICY, "too many pings"),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {
                    hub.count_frames(principal, 1).await;
                    continue;
                }
            },
        };
        let Some(told) = told else { break close(CLOSE_STOPPING, "stopped") };
        for one in &told {
            if !matches!(timeout(WRITE_TIME, socket.send(frame(one))).await, Ok(Ok(()))) {
                return;
            }
        }
    };
    // Whoever does not listen is not told.
    drop(timeout(WRITE_TIME, socket.send(Message::Close(Some(bye)))).await);
}

/// Writes a frame: the `StateUpdate`, with the place of its event beside it.
fn frame(told: &Told) -> Message {
    match told {
        Told::Update(seq, update) => {
            let members = update.strip_prefix('{').unwrap_or(update);
            Message::text(format!("{{\"seq\":{seq},{members}"))
        }
        Told::Resync(seq) => Message::text(Answer::new().number("seq", seq.0).flag("resync", true).end()),
        Told::Nothing => Message::Ping(axum::body::Bytes::new()),
    }
}
