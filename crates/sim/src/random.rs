//! Chance, from a seed: the same seed draws the same numbers on every machine.

/// A generator of random numbers (SplitMix64): small, fast, and good enough to choose what happens next.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    state: u64,
}

impl Dice {
    /// Makes a generator; different streams of one seed are independent.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut dice = Dice { state: seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93) };
        dice.draw();
        dice
    }

    /// Draws 64 bits.
    pub(crate) fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Draws a number below `bound`; 0 if that is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // The upper half of the product is spread evenly enough for bounds as small as ours.
        ((u128::from(self.draw()) * u128::from(bound)) >> 64) as u64
    }

    /// Draws a number from `low` to `high`, both included.
    pub(crate) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Draws a small index.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Draws true in that many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Draws one of the items.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.index(items.len())]
    }

    /// Draws the index of a weight, in proportion.
    pub(crate) fn weighted(&mut self, weights: &[u64]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            if left < *weight {
                return index;
            }
            left -= weight;
        }
        0
    }
}

impl broker::Random for Dice {
    fn next(&mut self) -> u64 {
        self.draw()
    }
}
