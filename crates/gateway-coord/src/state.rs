//! The shared state: all of it, one change of it, and a socket that tells what changes.

use axum::extract::RawQuery;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gateway::socket::{CLOSE_NORMAL, CLOSE_STOPPING, Pings, close, limited, too_many_pings};
use gateway::state::{Follower, Told, read_change, shared_state};
use gateway::websocket::{Heard, Sink, Upgrade, WebSocket};
use gateway::{Answer, Body, Caller, Hub, Principal, Problem, Query};
use message::Seq;

/// Shows all of it.
pub(crate) async fn show(caller: Caller) -> Result<Response, Problem> {
    Ok(gateway::json_text(StatusCode::OK, shared_state(&caller.hub, &caller.principal).await?))
}

/// Makes one change of it.
pub(crate) async fn change(caller: Caller, body: Body) -> Result<Response, Problem> {
    let change = read_change(&gateway::body(body)?, caller.principal.speaker())?;
    let change = caller.hub.execute(change).await?;
    Ok(gateway::changed(change).respond(StatusCode::OK))
}

/// Opens a socket over which changes are told, one a frame.
pub(crate) async fn follow(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: Result<Upgrade, Problem>,
) -> Result<Response, Problem> {
    let upgrade = upgrade?;
    let query = Query(query.as_deref());
    let after = query.number("after")?.map(Seq);
    let token = gateway::shown(&caller.hub, &headers, query)?.token;
    let connection = caller.hub.count_connection(&caller.principal)?;
    let Caller { hub, principal, .. } = caller;
    let follower = Follower::new(hub.clone(), principal.clone(), token, after, connection);
    Ok(limited(&hub, upgrade).serve(async move |socket| tell(&hub, &principal, follower, socket).await))
}

/// Tells what changes until either side is gone. What the peer says changes nothing.
async fn tell(hub: &Hub, principal: &Principal, mut follower: Follower, socket: WebSocket) {
    let WebSocket { mut frames, mut sink } = socket;
    let mut pings = Pings::new();
    let bye = loop {
        tokio::select! {
            told = follower.next() => {
                let Some(told) = told else { break close(CLOSE_STOPPING, "stopped") };
                told.iter().for_each(|one| write(one, &mut sink));
            }
            heard = frames.recv() => match heard {
                Some(Heard::Ping(_)) if pings.is_one_too_many() => break too_many_pings(),
                Some(Heard::Close) => break close(CLOSE_NORMAL, ""),
                None => return,
                Some(heard) => {
                    if let Heard::Ping(payload) = heard {
                        sink.pong(&payload);
                    }
                    hub.count_frames(principal, 1).await;
                }
            },
        }
        if sink.flush().await.is_none() {
            return;
        }
    };
    sink.close(bye).await;
}

/// Writes a frame: the `StateUpdate`, with the place of its event beside it.
fn write(told: &Told, sink: &mut Sink) {
    match told {
        Told::Update(seq, update) => {
            let members = update.strip_prefix('{').unwrap_or(update);
            sink.text(&format!("{{\"seq\":{seq},{members}"));
        }
        Told::Resync(seq) => sink.text(&Answer::new().number("seq", seq.0).flag("resync", true).end()),
        Told::Nothing => sink.ping(&[]),
    }
}
