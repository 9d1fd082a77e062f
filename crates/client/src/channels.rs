//! Channels: who is in them, their folders, and files that the bus did not take in.

use json::Value;

use crate::query::Target;
use crate::{Client, ClientError, read};

const CHANNELS: &str = "/v1/channels";
const PROBLEMS: &str = "/v1/channels/problems";

/// A channel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Channel {
    /// Its name.
    pub channel: String,
    /// Who is in it.
    pub members: Vec<String>,
    /// Where its folders lie, as far as the asker may know.
    pub folders: Vec<String>,
    /// The files in its folders.
    pub files: u64,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

/// A file that the bus did not take in, or that is odd.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChannelProblem {
    /// The root in which it lies.
    pub root: String,
    /// The channel.
    pub channel: String,
    /// The file.
    pub file: String,
    /// `refused`, or `odd` if it was taken in all the same.
    pub severity: String,
    /// Why, for programs.
    pub code: String,
    /// Why, for people.
    pub detail: String,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

impl Client {
    /// Lists the channels.
    pub async fn channels(&self) -> Result<Vec<Channel>, ClientError> {
        self.look_up(Target::new(CHANNELS), |value| read::list(&value, "channels", channel)).await
    }

    /// Lists the files that were not taken in or are odd, the newest first.
    pub async fn channel_problems(&self) -> Result<Vec<ChannelProblem>, ClientError> {
        self.look_up(Target::new(PROBLEMS), |value| read::list(&value, "problems", problem)).await
    }
}

fn channel(value: &Value<'_>) -> Result<Channel, ClientError> {
    let folders = value.get("folders").and_then(Value::as_array).unwrap_or_default();
    Ok(Channel {
        channel: read::text(value, "channel")?,
        members: read::texts(value, "members"),
        folders: folders.iter().filter_map(|folder| read::text_maybe(folder, "root")).collect(),
        files: folders.iter().filter_map(|folder| read::number(folder, "files")).sum(),
        json: value.clone().into_owned(),
    })
}

fn problem(value: &Value<'_>) -> Result<ChannelProblem, ClientError> {
    Ok(ChannelProblem {
        root: read::text(value, "root")?,
        channel: read::text(value, "channel")?,
        file: read::text(value, "file")?,
        severity: read::text(value, "severity")?,
        code: read::text(value, "code")?,
        detail: read::text(value, "detail")?,
        json: value.clone().into_owned(),
    })
}
