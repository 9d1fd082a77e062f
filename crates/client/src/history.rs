//! History and search, a page at a time.

use json::Value;
use message::{Dialect, MessageId};

use crate::query::Target;
use crate::{Client, ClientError, read};

/// Which messages are wanted; everything that is left out matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryQuery {
    /// Sent or received by this agent.
    pub agent: Option<String>,
    /// Of this conversation.
    pub thread: Option<String>,
    /// About this task.
    pub task: Option<String>,
    /// Posted in this channel.
    pub channel: Option<String>,
    /// Of this kind.
    pub kind: Option<String>,
    /// Holding these words.
    pub words: Option<String>,
    /// After this sequence number; without it the newest come.
    pub after: Option<u64>,
    /// Before this sequence number.
    pub before: Option<u64>,
    /// How many at most.
    pub limit: Option<u64>,
}

/// A page of history, oldest first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HistoryPage {
    /// The messages.
    pub messages: Vec<HistoryEntry>,
    /// The `after` of the next page; nothing at the end.
    pub next: Option<u64>,
    /// How far history is behind the log.
    pub lag: u64,
}

/// A message as history has it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// Its place in the log.
    pub seq: u64,
    /// Its id.
    pub id: MessageId,
    /// The id that its sender gave.
    pub native_id: Option<String>,
    /// When it came.
    pub at: Option<String>,
    /// The language in which it came.
    pub dialect: Option<Dialect>,
    /// What it means.
    pub kind: Option<String>,
    /// Who sent it.
    pub from: Option<String>,
    /// To whom.
    pub to: Vec<String>,
    /// How far it is.
    pub stage: Option<String>,
    /// What it says.
    pub text: Option<String>,
    /// What it says, with what was searched for between `«` and `»`.
    pub highlight: Option<String>,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

impl Client {
    /// Returns a page of history.
    ///
    /// ```no_run
    /// # async fn example(client: client::Client) -> Result<(), client::ClientError> {
    /// let mut query = client::HistoryQuery::default();
    /// query.words = Some("parser".to_owned());
    /// for message in client.history(&query).await?.messages {
    ///     println!("{} {}", message.id, message.text.unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn history(&self, query: &HistoryQuery) -> Result<HistoryPage, ClientError> {
        let target = Target::new("/v1/messages")
            .maybe("agent", query.agent.as_ref())
            .maybe("thread", query.thread.as_ref())
            .maybe("task", query.task.as_ref())
            .maybe("channel", query.channel.as_ref())
            .maybe("kind", query.kind.as_ref())
            .maybe("q", query.words.as_ref())
            .maybe("after", query.after)
            .maybe("before", query.before)
            .maybe("limit", query.limit);
        self.look_up(target, |value| {
            Ok(HistoryPage {
                messages: read::list(&value, "messages", entry)?,
                next: read::number(&value, "next"),
                lag: read::number(&value, "lag").unwrap_or(0),
            })
        })
        .await
    }
}

fn entry(value: &Value<'_>) -> Result<HistoryEntry, ClientError> {
    Ok(HistoryEntry {
        seq: read::number(value, "seq").ok_or_else(|| read::missing("seq"))?,
        id: read::parsed(value, "id")?,
        native_id: read::text_maybe(value, "native_id"),
        at: read::text_maybe(value, "at"),
        dialect: read::word(value, "dialect", Dialect::from_name),
        kind: read::text_maybe(value, "kind"),
        from: read::text_maybe(value, "from"),
        to: read::texts(value, "to"),
        stage: read::text_maybe(value, "stage"),
        text: read::text_maybe(value, "text"),
        highlight: read::text_maybe(value, "highlight"),
        json: value.clone().into_owned(),
    })
}
