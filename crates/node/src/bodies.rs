//! Reading bodies for async callers: from memory where they are recent, else from the files on a thread that may block.

use std::io;

use bytes::Bytes;
use log::ReadError;
use message::Seq;

use crate::Node;

/// Bytes of bodies that are read at a time; one body is read in any case.
const PIECE_BYTES: usize = 1 << 20;

/// Bodies that are read as they are asked for: however many there are, few are in memory.
pub struct BodyReader {
    node: Node,
    places: Vec<Seq>,
    /// How many of them were read.
    read: usize,
    here: std::vec::IntoIter<Bytes>,
    failed: Option<ReadError>,
}

impl BodyReader {
    /// Returns the next body. Behind one that cannot be read the others come.
    pub async fn next(&mut self) -> Option<Result<Bytes, ReadError>> {
        if self.here.len() == 0 && self.failed.is_none() && self.read < self.places.len() {
            self.read_more().await;
        }
        self.here.next().map(Ok).or_else(|| self.failed.take().map(Err))
    }

    async fn read_more(&mut self) {
        let rest = &self.places[self.read..];
        let recent = self.node.recent_bodies(rest, PIECE_BYTES);
        let bodies = if recent.is_empty() {
            let (node, rest) = (self.node.clone(), rest.to_vec());
            let (bodies, read) = blocking(move || node.bodies_within(&rest, PIECE_BYTES)).await;
            self.failed = read.err();
            bodies
        } else {
            recent
        };
        self.read += bodies.len() + usize::from(self.failed.is_some());
        self.here = bodies.into_iter();
    }
}

impl Node {
    /// Reads the body of a message from its place in the log, or from where it was carried.
    pub async fn body(&self, place: Seq) -> Result<Bytes, ReadError> {
        Ok(self.bodies(vec![place]).await?.pop().unwrap_or_default())
    }

    /// Reads the bodies of messages from their places in the log, in that order.
    pub async fn bodies(&self, places: Vec<Seq>) -> Result<Vec<Bytes>, ReadError> {
        let recent = self.recent_bodies(&places, usize::MAX);
        if recent.len() == places.len() {
            return Ok(recent);
        }
        let node = self.clone();
        let (bodies, read) = blocking(move || node.bodies_within(&places, usize::MAX)).await;
        read.map(|()| bodies)
    }

    /// Reads bodies one after the other, as they are asked for.
    pub fn body_reader(&self, places: Vec<Seq>) -> BodyReader {
        let (node, here) = (self.clone(), Vec::new().into_iter());
        BodyReader { node, places, read: 0, here, failed: None }
    }

    /// Reads a record of the log as it is.
    pub async fn record(&self, place: Seq) -> Result<Vec<u8>, ReadError> {
        let record = self.records(vec![place]).await.pop();
        record.unwrap_or_else(|| Err(ReadError::Storage(io::Error::other("the read did not end"))))
    }

    /// Reads records of the log as they are.
    pub async fn records(&self, places: Vec<Seq>) -> Vec<Result<Vec<u8>, ReadError>> {
        if places.is_empty() {
            return Vec::new();
        }
        let node = self.clone();
        let read = move || places.iter().map(|place| node.record_blocking(*place)).collect();
        tokio::task::spawn_blocking(read).await.unwrap_or_default()
    }
}

/// Runs a read on a thread that may block.
async fn blocking(
    read: impl FnOnce() -> (Vec<Bytes>, Result<(), ReadError>) + Send + 'static,
) -> (Vec<Bytes>, Result<(), ReadError>) {
    let read = tokio::task::spawn_blocking(read).await;
    // The runtime stops, or the read panicked.
    read.unwrap_or_else(|error| (Vec::new(), Err(ReadError::Storage(io::Error::other(error)))))
}
