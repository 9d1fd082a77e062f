//! Large answers that were not read yet: each of them is in memory, so nobody has more than some of them. Two who ask at
//! the same moment may both be let through; that is one more.

use std::net::{IpAddr, SocketAddr};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use gateway::{API_KEY, Code, Hub, OpenConnection, Problem, Who};

/// Bytes above which an answer is large.
const LARGE_BYTES: u64 = 1 << 20;

/// Whoever asks, as far as it matters should the answer be large.
pub(crate) struct Asker {
    shown: Option<(HeaderName, HeaderValue)>,
    peer: Option<IpAddr>,
    /// Whether nothing was changed by the request, so that it may be refused after all.
    is_safe: bool,
}

/// A large answer, counted until it is written or given up.
struct Unread {
    bytes: Bytes,
    _open: OpenConnection,
}

impl AsRef<[u8]> for Unread {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Asker {
    pub(crate) fn of(request: &Request) -> Self {
        let shown = |name: HeaderName| Some((name.clone(), request.headers().get(&name)?.clone()));
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        Asker {
            shown: shown(header::AUTHORIZATION).or_else(|| shown(API_KEY)),
            peer: peer.map(|ConnectInfo(peer)| peer.ip()),
            is_safe: request.method().is_safe(),
        }
    }

    /// Counts an answer to it if that is large. One too many is refused, unless something was done for it already.
    pub(crate) async fn count(self, hub: &Hub, response: Response) -> Response {
        if response.body().size_hint().exact().is_none_or(|bytes| bytes <= LARGE_BYTES) {
            return response;
        }
        let (is_safe, who) = (self.is_safe, self.who(hub));
        let open = match hub.may_answer_at_length(who) {
            Err(problem) if is_safe => return problem.into_response(),
            Ok(()) | Err(_) => hub.count_answer(who),
        };
        let (parts, body) = response.into_parts();
        match to_bytes(body, usize::MAX).await {
            Ok(bytes) => {
                Response::from_parts(parts, Body::from(Bytes::from_owner(Unread { bytes, _open: open })))
            }
            Err(_) => Problem::new(Code::Internal, "the answer could not be written").into_response(),
        }
    }

    /// Whoever has no token of an agent is known by its address.
    fn who(self, hub: &Hub) -> Who {
        let headers: HeaderMap = self.shown.into_iter().collect();
        let principal = hub.principal(gateway::token(&headers).as_ref());
        let by_address = self.peer.map_or(Who::Operator, Who::Peer);
        principal.map_or(by_address, |principal| principal.who())
    }
}
