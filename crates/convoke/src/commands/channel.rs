//! `convoke channel`: channels on the bus, and in folders with or without one.

mod links;
mod list;
mod message;
mod mirror;
mod post;
mod presence;
mod read;
mod send_message;

use std::path::{Path, PathBuf};

use channel_root::{Root, RootError};

use crate::cli::channel::{ChannelCommand, CollabArgs};
use crate::failure::{Answer, Failure, chain};
use crate::output::Form;
use crate::remote::block_on;

pub(crate) use links::script;
pub(crate) use mirror::settings as nats_settings;
pub(crate) use presence::in_root as who_in_root;

/// Where the scripts of a Multi-Agent OS have their root.
const COLLAB: &str = "/mnt/shared/collab";

/// Runs a command.
pub(crate) fn run(command: ChannelCommand) -> Result<Answer, Failure> {
    match command {
        ChannelCommand::Post(args) => match &args.root {
            Some(root) => post::into_root(&open(root)?, &args),
            None => block_on(post::to_bus(&args)),
        },
        ChannelCommand::Read(args) => match &args.root {
            Some(root) => {
                let (max, form) = (Some(args.max), Form::from_flag(args.remote.json));
                read::from_root(&open(root)?, &args.channel, max, args.follow, form)
            }
            None => block_on(read::from_bus(&args)),
        },
        ChannelCommand::List { root: Some(root), remote, .. } => {
            list::of_root(&open(&root)?, Form::from_flag(remote.json))
        }
        ChannelCommand::List { problems: true, remote, .. } => block_on(list::problems(&remote)),
        ChannelCommand::List { speaker, remote, .. } => block_on(list::of_bus(&remote, &speaker)),
        ChannelCommand::Mirror(args) => block_on(mirror::run(&args)),
        ChannelCommand::Links { folder } => links::make(&folder),
        ChannelCommand::SendMessage(args) => send_message::run(&open(&collab(&args.collab))?, &args),
        ChannelCommand::ReadMessages(args) => {
            let (root, max) = (open(&collab(&args.collab))?, (!args.all).then_some(args.number));
            read::from_root(&root, &args.channel, max, args.follow, Form::from_flag(args.json))
        }
        ChannelCommand::Who(args) => {
            presence::in_root(&collab(&args.collab), args.agent.as_deref(), Form::from_flag(args.json))
        }
    }
}

/// Opens a root that is there.
pub(crate) fn open(path: &Path) -> Result<Root, Failure> {
    Root::open(path).map_err(|error| failure(&error))
}

/// Turns what went wrong with a root into words and a hint.
pub(crate) fn failure(error: &RootError) -> Failure {
    let (message, hint) = (chain(error), error.hint());
    match error {
        RootError::NoSuchChannel { .. } | RootError::Clash { .. } => Failure::not_found(message).hint(hint),
        RootError::NotARoot { .. }
        | RootError::NotAFolder { .. }
        | RootError::BadName { .. }
        | RootError::TooLarge { .. }
        | RootError::Storage { .. } => Failure::wrong_use(message).hint(hint),
    }
}

/// Returns the root on which a script works.
fn collab(args: &CollabArgs) -> PathBuf {
    args.root.clone().or_else(links::root_of_link).unwrap_or_else(|| PathBuf::from(COLLAB))
}
