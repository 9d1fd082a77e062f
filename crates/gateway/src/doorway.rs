//! Doorways: what each door answers, and in which shape it says what went wrong.

use std::sync::Arc;

use axum::Router;
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

/// How each door says what went wrong.
#[derive(Clone)]
pub struct Shapes(Arc<[(&'static str, Shape)]>);

impl Shapes {
    /// Notes the shapes of doors.
    pub fn of(doorways: &[Doorway]) -> Self {
        Shapes(doorways.iter().map(|doorway| (doorway.prefix, doorway.shape)).collect())
    }

    /// Returns the shape for a path; nothing if problems are said there as they are.
    pub fn at(&self, path: &str) -> Option<Shape> {
        let is_under = |prefix: &str| {
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.0.iter().find(|(prefix, _)| is_under(prefix)).map(|(_, shape)| *shape)
    }
}

/// Has an answer say what went wrong, if something did, in the shape of its door.
pub fn shaped(response: Response, shape: Option<Shape>) -> Response {
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
