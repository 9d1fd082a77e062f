//! Doorways: what each door answers, and in which shape it says what went wrong.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::{Hub, Problem};

/// A door as the server sees it.
pub struct Doorway {
    /// How the paths of the door begin, such as `/bus`.
    pub prefix: &'static str,
    /// What it answers; paths are whole.
    pub routes: Router<Hub>,
    /// How it says what went wrong, whoever found out: a call, the limits, or the check of the site.
    pub shape: Shape,
}

type Shape = fn(&Problem) -> Response;

/// Has each door say what went wrong in its own shape.
pub async fn shape_problems(
    State(shapes): State<Arc<[(&'static str, Shape)]>>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let is_under =
        |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let shape = shapes.iter().find(|(prefix, _)| is_under(prefix)).map(|(_, shape)| *shape);
    let response = next.run(request).await;
    match (shape, response.extensions().get::<Arc<Problem>>()) {
        (Some(shape), Some(problem)) => {
            let mut shaped = shape(problem);
            // What the layers said of the connection still holds.
            for (name, value) in response.headers() {
                if !shaped.headers().contains_key(name) && name != axum::http::header::CONTENT_LENGTH {
                    shaped.headers_mut().insert(name, value.clone());
                }
            }
            shaped
        }
        _ => response,
    }
}
