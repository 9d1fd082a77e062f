//! Dice: choices taken from bytes, so that whatever is generated shrinks when its bytes do.

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any};
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestRng, TestRunner};

pub(super) type Outcome = Result<(), TestCaseError>;

/// A row of choices. When it ends, every further choice is the first one, which should be the simplest.
pub(super) struct Dice<'d> {
    bytes: &'d [u8],
}

/// Runs a property on that many rows of choices, the same ones every time.
pub(super) fn run(cases: u32, property: impl Fn(&mut Dice<'_>) -> Outcome) {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&vec(any::<u8>(), 0..600), |bytes| property(&mut Dice::new(&bytes)));
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

pub(super) fn ensure(holds: bool, why: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(TestCaseError::fail(why())) }
}

impl<'d> Dice<'d> {
    pub(super) fn new(bytes: &'d [u8]) -> Self {
        Dice { bytes }
    }

    /// Chooses a number below `count`, which is at most 256.
    pub(super) fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) * count / 256
    }

    /// Says yes that often out of hundred times, and no at the end.
    pub(super) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) >= 100 - chance
    }

    pub(super) fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }

    /// Takes some of a list, in order.
    pub(super) fn some<T: Clone>(&mut self, list: &[T]) -> Vec<T> {
        list.iter().filter(|_| self.percent(50)).cloned().collect()
    }

    pub(super) fn number(&mut self) -> i64 {
        i64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }
}
