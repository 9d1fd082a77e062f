//! Who is behind a handle.

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use gateway::{Answer, Query};

use crate::refused::Refused;
use crate::repo::identifier;
use crate::visitor::Visitor;

/// Resolves the handle of an agent of this bus.
pub(crate) async fn resolve_handle(visitor: Visitor, RawQuery(query): RawQuery) -> Result<Response, Refused> {
    let handle = Query(query.as_deref()).get("handle")?;
    let handle = handle.ok_or_else(|| Refused::invalid("Error: Params must have the property \"handle\""))?;
    identifier("handle", &handle)?;
    let repo =
        visitor.repo(&handle).map_err(|_| Refused::named("HandleNotFound", "Unable to resolve handle"))?;
    Ok(Answer::new().text("did", &repo.did).respond(StatusCode::OK))
}
