//! Trimming the log of a bus.

use std::time::Duration;

use hyper::Method;
use json::{Object, Value};

use crate::http::Call;
use crate::{Client, ClientError, read};

/// How long a trim may take: what is needed is written again first.
const TRIM_TIME: Duration = Duration::from_secs(600);

/// How much of the log is to be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrimOptions {
    /// What is younger is kept.
    pub keep: Option<Duration>,
    /// So many bytes are kept.
    pub keep_bytes: Option<u64>,
    /// Only say what would be given up.
    pub dry_run: bool,
}

/// What was given up, or would be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trim {
    /// The oldest event that the log holds afterwards.
    pub first: u64,
    /// Segments that went.
    pub segments: u64,
    /// What they took on the disk.
    pub bytes: u64,
    /// Documents that are still needed and were carried forward.
    pub carried: u64,
    /// Why not everything went that should.
    pub kept_because: Option<String>,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

impl Client {
    /// Lets the bus give up what its log need not keep.
    pub async fn trim_log(&self, options: &TrimOptions) -> Result<Trim, ClientError> {
        let mut members: Object<'_> = Object::new();
        if let Some(keep) = options.keep {
            members.insert("keep", format!("{}ms", keep.as_millis()));
        }
        if let Some(bytes) = options.keep_bytes {
            members.insert("keep_bytes", bytes);
        }
        members.insert("dry_run", options.dry_run);
        let call = Call::new(Method::POST, "/v1/log/trim".to_owned());
        let call = call.body(Value::Object(members).to_json()).wait(Some(TRIM_TIME));
        self.ask(call, |value| {
            let number = |key: &str| read::number(&value, key).unwrap_or(0);
            Ok(Trim {
                first: number("first"),
                segments: number("segments"),
                bytes: number("bytes"),
                carried: number("carried"),
                kept_because: read::text_maybe(&value, "kept_because"),
                json: value.clone().into_owned(),
            })
        })
        .await
    }
}
