//! The names that are known, each as a keyed hash: small, and nobody can make two that are taken for one.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::RootError;
use crate::folder::Folder;

#[derive(Debug, Default)]
pub(crate) struct Known {
    keys: [RandomState; 2],
    names: HashSet<u128>,
}

impl Known {
    pub(crate) fn add(&mut self, name: &[u8]) {
        self.names.insert(self.hash(name));
    }

    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.names.contains(&self.hash(name))
    }

    pub(crate) fn remove(&mut self, name: &[u8]) -> bool {
        let hash = self.hash(name);
        self.names.remove(&hash)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Forgets what is no longer in the folder: somebody archived it.
    pub(crate) fn retain_listed(&mut self, folder: &Folder) -> Result<(), RootError> {
        let mut there = HashSet::new();
        folder.each(|name, _| {
            let hash = self.hash(name.to_bytes());
            if self.names.contains(&hash) {
                there.insert(hash);
            }
        })?;
        self.names = there;
        Ok(())
    }

    fn hash(&self, name: &[u8]) -> u128 {
        let [left, right] = &self.keys;
        u128::from(left.hash_one(name)) << 64 | u128::from(right.hash_one(name))
    }
}
