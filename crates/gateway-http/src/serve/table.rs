//! The places for connections: how many there are, who has them, and who must give his up.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::serve::ServeLimits;

/// All connections.
pub(super) struct Table {
    lines: Mutex<Lines>,
    count: watch::Sender<usize>,
    connections_max: usize,
    connections_per_peer_max: usize,
    connections_reserve: usize,
    began: Instant,
}

/// A place; dropping it gives it back.
pub(super) struct Slot {
    table: Arc<Table>,
    id: u64,
    state: Arc<State>,
}

/// What a connection is doing. Copies speak of the same connection.
#[derive(Clone)]
pub(super) struct Phase {
    state: Arc<State>,
    began: Instant,
}

/// What a connection does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// Waits for the next request.
    Idle,
    /// Waits for the rest of a head.
    Head,
    /// Waits for the rest of a body.
    Body,
    /// Is being answered.
    Work,
    /// Has become a socket.
    Upgraded,
}

#[derive(Default)]
struct Lines {
    by_id: HashMap<u64, (IpAddr, Arc<State>)>,
    per_peer: HashMap<IpAddr, usize>,
    next_id: u64,
}

struct State {
    /// What it does in the lowest bits, since when in the others: milliseconds after the table was made.
    doing: AtomicU64,
    cut: Arc<Notify>,
}

const DOING_BITS: u32 = 3;

impl Table {
    pub(super) fn new(limits: &ServeLimits) -> Self {
        Table {
            lines: Mutex::default(),
            count: watch::Sender::new(0),
            connections_max: limits.connections_max,
            connections_per_peer_max: limits.connections_per_peer_max,
            connections_reserve: limits.connections_reserve,
            began: Instant::now(),
        }
    }

    /// Gives a peer a place, if need be that of somebody who keeps us waiting.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Slot> {
        let peer = peer.to_canonical();
        let mut lines = self.lock();
        let is_near = peer.is_loopback();
        let of_peer = lines.per_peer.get(&peer).copied().unwrap_or_default();
        if !is_near && of_peer >= self.connections_per_peer_max && !lines.evict(Some(peer)) {
            return None;
        }
        if lines.by_id.len() >= self.connections_max && !lines.evict(None) {
            let reserve = if is_near { self.connections_reserve } else { 0 };
            if lines.by_id.len() >= self.connections_max + reserve {
                return None;
            }
        }
        let id = lines.next_id;
        lines.next_id += 1;
        let state = Arc::new(State { doing: AtomicU64::new(0), cut: Arc::default() });
        lines.by_id.insert(id, (peer, Arc::clone(&state)));
        *lines.per_peer.entry(peer).or_default() += 1;
        self.tell(&lines);
        drop(lines);
        let slot = Slot { table: Arc::clone(self), id, state };
        slot.phase().enter(Doing::Head);
        Some(slot)
    }

    /// Closes the connection that has kept us waiting longest, if any does.
    pub(super) fn make_room(&self) {
        let mut lines = self.lock();
        lines.evict(None);
        self.tell(&lines);
    }

    /// Closes everything.
    pub(super) fn cut_all(&self) {
        for (_, state) in self.lock().by_id.values() {
            state.cut.notify_one();
        }
    }

    pub(super) fn count(&self) -> usize {
        *self.count.borrow()
    }

    /// Waits until there is no connection.
    pub(super) async fn emptied(&self) {
        // The table holds the other end, so it cannot be gone.
        drop(self.count.subscribe().wait_for(|count| *count == 0).await);
    }

    fn tell(&self, lines: &Lines) {
        self.count.send_replace(lines.by_id.len());
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    /// Takes the place of the one that has kept us waiting longest, of a peer or of all.
    fn evict(&mut self, of: Option<IpAddr>) -> bool {
        let waiting = self.by_id.iter().filter(|(_, (peer, _))| of.is_none_or(|of| *peer == of));
        let waiting = waiting.filter_map(|(id, (_, state))| {
            let (doing, since_ms) = state.read();
            doing.waits_for_peer().then_some((since_ms, *id))
        });
        let Some((_, id)) = waiting.min() else { return false };
        if let Some(state) = self.remove(id) {
            state.cut.notify_one();
        }
        true
    }

    fn remove(&mut self, id: u64) -> Option<Arc<State>> {
        let (peer, state) = self.by_id.remove(&id)?;
        if let Some(count) = self.per_peer.get_mut(&peer) {
            *count -= 1;
            if *count == 0 {
                self.per_peer.remove(&peer);
            }
        }
        Some(state)
    }
}

impl Slot {
    pub(super) fn phase(&self) -> Phase {
        Phase { state: Arc::clone(&self.state), began: self.table.began }
    }

    /// Returns what is rung when the connection must end.
    pub(super) fn cut(&self) -> Arc<Notify> {
        Arc::clone(&self.state.cut)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut lines = self.table.lock();
        drop(lines.remove(self.id));
        self.table.tell(&lines);
    }
}

impl Phase {
    /// A request is being answered.
    pub(super) fn works(&self) {
        self.enter(Doing::Work);
    }

    /// The rest of a body is waited for.
    pub(super) fn waits_for_body(&self) {
        if self.state.read().0 != Doing::Body {
            self.enter(Doing::Body);
        }
    }

    /// Bytes came; if there was no request, one begins.
    pub(super) fn hears(&self) {
        if self.state.read().0 == Doing::Idle {
            self.enter(Doing::Head);
        }
    }

    /// The connection is a socket from here on.
    pub(super) fn upgrades(&self) {
        self.enter(Doing::Upgraded);
    }

    /// A request was answered.
    pub(super) fn rests(&self) {
        if self.state.read().0 != Doing::Upgraded {
            self.enter(Doing::Idle);
        }
    }

    /// Returns until when the peer must have sent something, if it must.
    pub(super) fn read_by(&self, head_timeout: Duration, idle_timeout: Duration) -> Option<Instant> {
        let (doing, since_ms) = self.state.read();
        let timeout = match doing {
            Doing::Idle => idle_timeout,
            Doing::Head => head_timeout,
            Doing::Body | Doing::Work | Doing::Upgraded => return None,
        };
        Some(self.began + Duration::from_millis(since_ms) + timeout)
    }

    fn enter(&self, doing: Doing) {
        let since_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX >> DOING_BITS);
        self.state.doing.store(since_ms << DOING_BITS | doing as u64, Ordering::Relaxed);
    }
}

impl State {
    fn read(&self) -> (Doing, u64) {
        let value = self.doing.load(Ordering::Relaxed);
        let doing = match value & ((1 << DOING_BITS) - 1) {
            0 => Doing::Idle,
            1 => Doing::Head,
            2 => Doing::Body,
            3 => Doing::Work,
            _ => Doing::Upgraded,
        };
        (doing, value >> DOING_BITS)
    }
}

impl Doing {
    fn waits_for_peer(self) -> bool {
        match self {
            Doing::Idle | Doing::Head | Doing::Body => true,
            Doing::Work | Doing::Upgraded => false,
        }
    }
}
