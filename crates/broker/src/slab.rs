//! A table of numbered places. Free places are given again, the lowest first.
//!
//! It grows by chunks, so that growing moves nothing. Which places are free follows from which are taken and from
//! nothing else: a state that was restored gives the same numbers as the one that it was saved from.

/// The number of values in a chunk.
const CHUNK: usize = 1_024;
const BITS: usize = 64;

/// Places beyond this are refused: no state has so many, and hostile bytes must not take memory for them.
const PLACES_MAX: usize = 1 << 28;

pub(crate) struct Slab<T> {
    /// Chunks without any value are not made.
    chunks: Vec<Option<Box<[Option<T>]>>>,
    taken: Taken,
    len: usize,
}

/// Which places are taken: a bit for each, and above it a bit for each word that is full, and so on.
#[derive(Default)]
struct Taken {
    levels: Vec<Vec<u64>>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { chunks: Vec::new(), taken: Taken::default(), len: 0 }
    }
}

impl<T> Slab<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, place: u32) -> Option<&T> {
        let place = place as usize;
        self.chunks.get(place / CHUNK)?.as_ref()?[place % CHUNK].as_ref()
    }

    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        let place = place as usize;
        self.chunks.get_mut(place / CHUNK)?.as_mut()?[place % CHUNK].as_mut()
    }

    /// Puts a value at a free place; gives it back if the place is taken.
    pub(crate) fn put(&mut self, place: u32, value: T) -> Result<(), T> {
        let index = place as usize;
        if index >= PLACES_MAX {
            return Err(value);
        }
        if self.chunks.len() <= index / CHUNK {
            self.chunks.resize_with(index / CHUNK + 1, || None);
        }
        let chunk = self.chunks[index / CHUNK].get_or_insert_with(|| (0..CHUNK).map(|_| None).collect());
        let slot = &mut chunk[index % CHUNK];
        if slot.is_some() {
            return Err(value);
        }
        *slot = Some(value);
        self.taken.set(index);
        self.len += 1;
        Ok(())
    }

    pub(crate) fn remove(&mut self, place: u32) -> Option<T> {
        let index = place as usize;
        let value = self.chunks.get_mut(index / CHUNK)?.as_mut()?[index % CHUNK].take()?;
        self.taken.clear(index);
        self.len -= 1;
        Some(value)
    }

    /// Returns the places that the next values get, in order and without end.
    pub(crate) fn vacant(&self) -> impl Iterator<Item = u32> + '_ {
        let mut from = 0;
        std::iter::repeat_with(move || {
            let place = self.taken.first_free(from);
            from = place + 1;
            u32::try_from(place).unwrap_or(u32::MAX)
        })
    }

    /// Returns the place behind the last one that there is.
    pub(crate) fn end(&self) -> u32 {
        u32::try_from(self.chunks.len() * CHUNK).unwrap_or(u32::MAX)
    }

    /// Returns the values from one place up to before another.
    pub(crate) fn range(&self, from: u32, end: u32) -> impl Iterator<Item = (u32, &T)> {
        (from..end.min(self.end())).filter_map(|place| Some((place, self.get(place)?)))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let chunks = (0u32..).step_by(CHUNK).zip(&self.chunks);
        chunks
            .filter_map(|(first, chunk)| chunk.as_ref().map(|chunk| (first..).zip(chunk)))
            .flat_map(|slots| slots.filter_map(|(place, slot)| slot.as_ref().map(|value| (place, value))))
    }
}

impl Taken {
    fn set(&mut self, mut index: usize) {
        let mut level = 0;
        loop {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let words = &mut self.levels[level];
            if words.len() <= index / BITS {
                words.resize(index / BITS + 1, 0);
            }
            words[index / BITS] |= 1 << (index % BITS);
            let is_full = words[index / BITS] == u64::MAX;
            if !is_full {
                return;
            }
            index /= BITS;
            level += 1;
        }
    }

    fn clear(&mut self, mut index: usize) {
        for words in &mut self.levels {
            let Some(word) = words.get_mut(index / BITS) else { return };
            let was_full = *word == u64::MAX;
            *word &= !(1 << (index % BITS));
            if !was_full {
                return;
            }
            index /= BITS;
        }
    }

    /// Returns the first free place from one on.
    fn first_free(&self, from: usize) -> usize {
        let mut index = from;
        let mut level = 0;
        // Up, past words that are full; then down into the word that is not.
        loop {
            let word = self.word(level, index / BITS) | below(index % BITS);
            if word != u64::MAX {
                index = index / BITS * BITS + word.trailing_ones() as usize;
                break;
            }
            index = index / BITS + 1;
            level += 1;
        }
        while level > 0 {
            level -= 1;
            index = index * BITS + self.word(level, index).trailing_ones() as usize;
        }
        index
    }

    fn word(&self, level: usize, index: usize) -> u64 {
        self.levels.get(level).and_then(|words| words.get(index)).copied().unwrap_or(0)
    }
}

/// Returns a word whose bits before one are set.
fn below(bit: usize) -> u64 {
    (1 << bit) - 1
}
