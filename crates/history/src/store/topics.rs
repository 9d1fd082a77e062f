//! The places of messages in their topics: written, and read page by page.

use message::{Seq, Sha256};
use rusqlite::OptionalExtension;

use super::{Store, number, sql};
use crate::error::HistoryError;
use crate::find::Check;
use crate::registry::Registry;
use crate::row::Row;
use crate::sequence::{End, Place, Post, Topic};

impl Store {
    /// Writes the places of messages.
    pub(crate) fn save_places(&self, places: &[Place]) -> Result<(), HistoryError> {
        let mut insert = self.connection.prepare_cached("INSERT INTO topics VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for Place { topic, message, digest, end } in places {
            let (number, message) = (sql(end.number), sql(message.0));
            insert.execute((topic, number, message, digest.to_bytes(), end.hash.to_bytes()))?;
        }
        Ok(())
    }

    /// Reads the end of a topic.
    pub(crate) fn end_of(&self, topic: &str) -> Result<End, HistoryError> {
        let text = "SELECT number, hash FROM topics WHERE topic = ?1 ORDER BY number DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(text)?;
        let end = statement.query_row([topic], |row| {
            Ok(End { number: number(row.get(0)?), hash: Sha256::from_bytes(row.get(1)?) })
        });
        Ok(end.optional()?.unwrap_or_default())
    }

    /// Reads the posts of a topic.
    pub(crate) fn posts(&self, topic: &Topic) -> Result<Vec<Post>, HistoryError> {
        let text = "SELECT number, digest, hash, message FROM topics \
                    WHERE topic = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
        let mut statement = self.connection.prepare_cached(text)?;
        let mut rows = statement.query((&topic.name, sql(topic.after), sql(topic.limit as u64)))?;
        let check = Check::of(topic.scope, None, None, None, None, None);
        let (mut posts, mut registry) = (Vec::new(), Registry::default());
        while let Some(row) = rows.next()? {
            let seq = Seq(number(row.get(3)?));
            let Some(letter) = self.letter(seq)? else { continue };
            self.know_row(&letter, &mut registry)?;
            posts.push(Post {
                number: number(row.get(0)?),
                digest: Sha256::from_bytes(row.get(1)?),
                hash: Sha256::from_bytes(row.get(2)?),
                row: Row::new(&letter, &registry),
                is_visible: check.fetch(self, seq)?.is_some(),
            });
        }
        Ok(posts)
    }
}
