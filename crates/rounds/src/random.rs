//! Chance, from a seed: what a run tries is the same for the same seed, though not what the machine makes of it.

/// A generator of random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice {
    state: u64,
}

impl Dice {
    /// Makes a generator; different streams of one seed are independent.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut dice = Dice { state: seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93) };
        dice.draw();
        dice
    }

    /// Draws 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Draws a number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.draw() % bound }
    }

    /// Draws a number from `low` to `high`, both included.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Draws a small index.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// Draws true in that many of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Draws one of the items.
    pub fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.index(items.len())]
    }
}
