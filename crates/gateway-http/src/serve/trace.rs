//! One line for each request, for those who look for a fault. Never what was said: no body, no query, no token.

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;

/// Writes down what was asked for and how it was answered. Part of the routes, because only they know the template
/// of a path; a path itself may hold what somebody would rather not see in a log.
pub async fn trace(request: Request, next: Next) -> Response {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return next.run(request).await;
    }
    let method = request.method().clone();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref().map_or("(none)", MatchedPath::as_str);
    let began = Instant::now();
    let response = next.run(request).await;
    let (status, duration_us) = (response.status().as_u16(), began.elapsed().as_micros());
    tracing::debug!(
        http.method = %method, http.path = path, http.status = status, duration_us = %duration_us,
        "{method} {path} answered {status}"
    );
    response
}
