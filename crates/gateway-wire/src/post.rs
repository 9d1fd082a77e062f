//! Taking a wire in.

use axum::extract::RawQuery;
use axum::http::HeaderMap;
use axum::response::Response;
use dialect::Name;
use gateway::{Body, Caller, Problem, Query, Submission};
use message::{Address, Kind};

use crate::{claim, concern};

/// Takes a wire in and answers with its receipt, or with what came of a claim.
pub(crate) async fn send(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let query = Query(query.as_deref());
    let asking = gateway::asking(query, &headers)?;
    let mut submission = Submission::read(&caller.hub, &caller.principal, &body, Some(Name::Wire), asking)?;
    let is_claim = submission.accept.kind == Kind::TaskClaim;
    let task = match named(query)? {
        Some(address) => {
            send_to(&mut submission, address)?;
            if is_claim { concern::look(&caller.hub, &mut submission).await? } else { None }
        }
        None => concern::pass_on(&caller.hub, &mut submission).await?,
    };
    if is_claim {
        return claim::claim(&caller, submission, task).await;
    }
    gateway::post(&caller, submission).await
}

/// Returns the queue or agent that the query names.
fn named(query: Query<'_>) -> Result<Option<Address>, Problem> {
    let wrong = |error: message::AddressError| Problem::bad_request(error.to_string());
    match (query.get("role")?, query.get("to")?) {
        (Some(_), Some(_)) => Err(Problem::bad_request("name a role or a recipient, not both")),
        (Some(role), None) => {
            let role = role.strip_prefix("roles.").unwrap_or(&role);
            role.parse().map(|role| Some(Address::Role(role))).map_err(wrong)
        }
        (None, Some(to)) => to.parse().map(Some).map_err(wrong),
        (None, None) => Ok(None),
    }
}

/// Sends a brief where the query says. Every other wire says itself where it goes.
fn send_to(submission: &mut Submission, address: Address) -> Result<(), Problem> {
    if matches!(submission.accept.kind, Kind::TaskRequest | Kind::HandoffOffer) {
        submission.send_to(vec![address]);
        return Ok(());
    }
    if submission.accept.to == [address] {
        return Ok(());
    }
    Err(Problem::bad_request(
        "only a brief is sent where the query says: this wire names its recipient itself",
    ))
}
