//! Rates: how often somebody may ask, and how many connections he may hold.
//!
//! Pure: time is an argument, and nothing waits. What is remembered of each is one number, the time at which all that
//! he used is earned again; whoever has earned everything is forgotten, so the table stays small.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use broker::AgentKey;

/// Against whom something is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// The operator.
    Operator,
    /// An agent.
    Agent(AgentKey),
    /// Whoever is at an address and has not said who he is. Of an IPv6 address the network counts: one machine has
    /// all of it.
    Peer(IpAddr),
}

/// How often each may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    /// Units that each earns in a second.
    pub per_second: u32,
    /// Units that each may use at once.
    pub burst: u32,
    /// How many are remembered.
    pub remembered_max: usize,
}

/// That somebody asked too often, and after how long it makes sense to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests: try again in {} s", seconds(.0))]
pub struct RetryAfter(pub Duration);

/// Who used how much.
#[derive(Debug)]
pub struct Rates {
    limits: RateLimits,
    /// When everything that somebody used is earned again.
    earned_at: Mutex<HashMap<Who, Duration>>,
}

/// Who holds how many connections.
#[derive(Debug)]
pub struct Connections {
    per_who_max: usize,
    open: Mutex<HashMap<Who, usize>>,
}

/// A connection that counts until this is dropped.
#[derive(Debug)]
pub struct OpenConnection {
    connections: Arc<Connections>,
    who: Who,
}

/// That somebody holds as many connections as he may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many connections: at most {count_max} at the same time")]
pub struct TooManyConnections {
    /// How many are allowed.
    pub count_max: usize,
}

impl Rates {
    /// Remembers nobody yet.
    pub fn new(limits: RateLimits) -> Self {
        let per_second = limits.per_second.max(1);
        let limits = RateLimits { per_second, remembered_max: limits.remembered_max.max(1), ..limits };
        Rates { limits, earned_at: Mutex::default() }
    }

    /// Counts units against somebody, or says after how long they are to be had. What costs more than can be used at
    /// once is let through when everything was earned.
    pub fn check(&self, who: Who, cost: u32, now: Duration) -> Result<(), RetryAfter> {
        let who = who.widened();
        let cost = self.price(cost.min(self.limits.burst.max(1)));
        let mut earned_at = lock(&self.earned_at);
        let earned = earned_at.get(&who).copied().unwrap_or_default().max(now);
        let used = earned + cost;
        let used_max = now + self.price(self.limits.burst.max(1));
        if used > used_max {
            return Err(RetryAfter(used - used_max));
        }
        if earned_at.len() >= self.limits.remembered_max && !earned_at.contains_key(&who) {
            forget(&mut earned_at, now);
        }
        earned_at.insert(who, used);
        Ok(())
    }

    /// Returns how long it takes to earn units.
    fn price(&self, units: u32) -> Duration {
        Duration::from_secs(1) * units / self.limits.per_second
    }
}

impl Connections {
    /// Allows each so many at the same time.
    pub fn new(per_who_max: usize) -> Arc<Self> {
        Arc::new(Connections { per_who_max, open: Mutex::default() })
    }

    /// Counts a connection of somebody.
    pub fn open(self: &Arc<Self>, who: Who) -> Result<OpenConnection, TooManyConnections> {
        let who = who.widened();
        let mut open = lock(&self.open);
        let count = open.entry(who).or_default();
        if *count >= self.per_who_max {
            if *count == 0 {
                open.remove(&who);
            }
            return Err(TooManyConnections { count_max: self.per_who_max });
        }
        *count += 1;
        Ok(OpenConnection { connections: Arc::clone(self), who })
    }

    /// Counts one of somebody who may have as many as he may have already.
    pub fn open_anyway(self: &Arc<Self>, who: Who) -> OpenConnection {
        let who = who.widened();
        *lock(&self.open).entry(who).or_default() += 1;
        OpenConnection { connections: Arc::clone(self), who }
    }

    /// Tells whether somebody has as many as he may have.
    pub fn is_full(&self, who: Who) -> bool {
        lock(&self.open).get(&who.widened()).copied().unwrap_or(0) >= self.per_who_max
    }

    /// Returns how many there are, all together.
    pub fn count(&self) -> usize {
        lock(&self.open).values().sum()
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut open = lock(&self.connections.open);
        if let Some(count) = open.get_mut(&self.who) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.who);
            }
        }
    }
}

impl RetryAfter {
    /// Returns whole seconds, rounded up, as the header `Retry-After` has them.
    pub fn whole_seconds(self) -> u64 {
        seconds(&self.0)
    }
}

impl Who {
    fn widened(self) -> Self {
        match self {
            Who::Peer(address) => Who::Peer(network(address.to_canonical())),
            Who::Operator | Who::Agent(_) => self,
        }
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

/// Makes room: whoever has earned everything says nothing, and of the others those go who have earned most. A quarter
/// goes at least, so that this is seldom.
fn forget(earned_at: &mut HashMap<Who, Duration>, now: Duration) {
    let before = earned_at.len();
    earned_at.retain(|_, earned| *earned > now);
    let keep = before - before.div_ceil(4);
    if earned_at.len() > keep {
        let mut times: Vec<Duration> = earned_at.values().copied().collect();
        let gone = times.len() - keep;
        let (_, last, _) = times.select_nth_unstable(gone - 1);
        let last = *last;
        earned_at.retain(|_, earned| *earned > last);
    }
}

fn seconds(duration: &Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
