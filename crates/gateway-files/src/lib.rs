//! The door of channel folders: what is put into them becomes messages, and messages to those who live there become
//! files.
//!
//! Each root is one `site`: a loop that polls its channels (`inward`), and for each agent that lives in it, and for the
//! root itself, a stream of letters that become files (`outward`). What is on the bus already is noted in the root's
//! `journal`. A root has an agent of its own, `files.NAME`, which is a member of every channel of the root, so that a
//! post reaches the folder also when nobody in it has ever said a word.
//!
//! The door goes the one way: a file is accepted like every other document, and a file is settled when it is durable
//! under its name. It trusts no file: links are not followed, sizes are limited, and a file speaks only in the name of
//! whom its root may speak for.

mod inward;
mod journal;
mod outward;
mod place;
mod presence;
mod residents;
mod roles;
mod settings;
mod shelf;
mod site;

#[cfg(test)]
mod tests;

use gateway::Hub;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use settings::{RootSettings, Settings};
pub use site::SiteError;

/// The roots that are watched. They are let go of when this is dropped.
pub struct Files {
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Files {
    /// Opens every root, and begins to watch it.
    pub async fn open(hub: &Hub, settings: &Settings) -> Result<Self, SiteError> {
        let mut files = Files { stop: watch::Sender::new(false), tasks: Vec::new() };
        for (number, root) in settings.roots.iter().enumerate() {
            let stopping = files.stop.subscribe();
            let site = site::Site::open(hub, stopping, settings, root, number).await?;
            files.tasks.push(tokio::spawn(inward::watch(site)));
        }
        Ok(files)
    }

    /// Lets go of every root: what is under way is finished, and nothing new begun.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for task in self.tasks {
            // One that panicked has said so.
            drop(task.await);
        }
    }
}
