//! The registry of a root: `registry/agents/{id}.json`, which says what role an agent has.

use dialect_channel::addressing::base_id;
use json::Value;

use crate::presence::json_files;
use crate::{Root, RootError};

const FILE_BYTES_MAX: u64 = 64 << 10;
const FILES_MAX: usize = 10_000;

/// An agent of the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// Its id.
    pub agent: String,
    /// Its role: `worker`, `verifier`, `supervisor`, …
    pub role: Option<String>,
    /// The model that it runs on.
    pub model: Option<String>,
}

impl Root {
    /// Returns who is registered, by name. What cannot be read is not.
    pub fn registry(&self) -> Result<Vec<Registered>, RootError> {
        let registry = self.folders().root.child("registry")?;
        let agents = registry.map(|registry| registry.child("agents")).transpose()?.flatten();
        let Some(folder) = agents else { return Ok(Vec::new()) };
        let mut registered = Vec::new();
        for name in json_files(&folder, FILES_MAX)? {
            let Ok(Some(bytes)) = folder.read(&name, FILE_BYTES_MAX) else { continue };
            registered.extend(read(&bytes));
        }
        Ok(registered)
    }
}

fn read(bytes: &[u8]) -> Option<Registered> {
    let document = json::parse(bytes, json::Limits::DOCUMENT).ok()?;
    let text = |key: &str| document.get(key).and_then(Value::as_str).map(str::to_owned);
    let agent = base_id(document.get("id")?.as_str()?).to_owned();
    Some(Registered { agent, role: text("role"), model: text("model") })
}
