//! A queue whose values are known by the number at which they came, so that a number stays good until its value goes.
//!
//! It grows and shrinks by chunks: nothing is moved, and memory goes back.

use std::collections::VecDeque;

const CHUNK: u64 = 512;

/// Values with consecutive numbers; a chunk holds those whose numbers have the same quotient.
pub(crate) struct Ring<T> {
    chunks: VecDeque<VecDeque<T>>,
    start: u64,
    end: u64,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring::starting_at(0)
    }
}

impl<T> Ring<T> {
    /// Makes an empty ring whose next value has this number.
    pub(crate) fn starting_at(start: u64) -> Self {
        Ring { chunks: VecDeque::new(), start, end: start }
    }

    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Returns the number of the oldest value, or of the next one if there is none.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Returns the number that the next value gets.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn push(&mut self, value: T) -> u64 {
        let number = self.end;
        if self.chunks.is_empty() || number.is_multiple_of(CHUNK) {
            self.chunks.push_back(VecDeque::new());
        }
        self.chunks.back_mut().expect("a chunk was pushed where there was none").push_back(value);
        self.end += 1;
        number
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let chunk = self.chunks.front_mut()?;
        let value = chunk.pop_front()?;
        self.start += 1;
        if chunk.is_empty() {
            self.chunks.pop_front();
        }
        Some(value)
    }

    pub(crate) fn front(&self) -> Option<&T> {
        self.chunks.front()?.front()
    }

    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        let (chunk, offset) = self.place(number)?;
        self.chunks.get(chunk)?.get(offset)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let (chunk, offset) = self.place(number)?;
        self.chunks.get_mut(chunk)?.get_mut(offset)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        (self.start..).zip(self.chunks.iter().flatten())
    }

    fn place(&self, number: u64) -> Option<(usize, usize)> {
        if !(self.start..self.end).contains(&number) {
            return None;
        }
        let chunk = number / CHUNK - self.start / CHUNK;
        let first = if chunk == 0 { self.start } else { number / CHUNK * CHUNK };
        Some((usize::try_from(chunk).ok()?, usize::try_from(number - first).ok()?))
    }
}
