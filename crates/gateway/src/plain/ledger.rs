//! What was written and not settled yet, by the ping behind it.

use std::collections::VecDeque;
use std::time::Duration;

use broker::AgentKey;
use message::DeliveryId;

/// A delivery and whose it is.
pub(super) type Written = (AgentKey, DeliveryId);

/// What was written, ping by ping.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// The number of the last ping.
    last: u64,
    pages: VecDeque<Page>,
}

/// What was written before one ping, and when.
#[derive(Debug)]
struct Page {
    number: u64,
    at: Duration,
    written: Vec<Written>,
}

impl Ledger {
    /// Notes what was written, and returns what the ping behind it carries.
    pub(super) fn note(&mut self, written: Vec<Written>, at: Duration) -> [u8; 8] {
        self.last += 1;
        self.pages.push_back(Page { number: self.last, at, written });
        self.last.to_be_bytes()
    }

    /// Takes out what a pong settles. Nothing for one that answers no ping of ours, or one that was answered.
    pub(super) fn settle(&mut self, pong: &[u8]) -> Option<Vec<Written>> {
        let number = u64::from_be_bytes(pong.try_into().ok()?);
        let is_before = |page: &Page| page.number <= number;
        if number > self.last || !self.pages.front().is_some_and(is_before) {
            return None;
        }
        let mut settled = Vec::new();
        while let Some(page) = self.pages.pop_front_if(|page| is_before(page)) {
            settled.extend(page.written);
        }
        Some(settled)
    }

    /// Returns when the oldest ping was sent that was not answered.
    pub(super) fn oldest(&self) -> Option<Duration> {
        self.pages.front().map(|page| page.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(numbers: &[u8]) -> Vec<Written> {
        numbers.iter().map(|number| (AgentKey(1), DeliveryId::from_bytes([*number; 16]))).collect()
    }

    #[test]
    fn a_pong_settles_what_was_written_before_its_ping_and_nothing_else_does() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.settle(&1_u64.to_be_bytes()), None, "nothing was written");
        let [first, second, third] = [(&[1, 2][..], 10), (&[3], 20), (&[4], 30)]
            .map(|(numbers, at)| ledger.note(written(numbers), Duration::from_secs(at)));
        assert_eq!(ledger.oldest(), Some(Duration::from_secs(10)));
        for foreign in [&b""[..], b"1234567", b"123456789", &u64::MAX.to_be_bytes(), &0_u64.to_be_bytes()] {
            assert_eq!(ledger.settle(foreign), None, "{foreign:?}");
        }
        assert_eq!(ledger.settle(&second), Some(written(&[1, 2, 3])), "one pong may answer several pings");
        assert_eq!(ledger.oldest(), Some(Duration::from_secs(30)));
        assert_eq!(ledger.settle(&first), None);
        assert_eq!(ledger.settle(&second), None);
        assert_eq!(ledger.settle(&third), Some(written(&[4])));
        assert_eq!(ledger.oldest(), None);
    }
}
