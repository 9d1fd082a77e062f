//! Opening the file: whether it is whole, of our form and of this log; and starting anew where it is not.

use broker::Fingerprint;
use log::ReadError;

use super::Worker;
use crate::error::HistoryError;
use crate::fold::Fold;
use crate::history::Shared;
use crate::records::Records;
use crate::settings::Settings;
use crate::store::{Marks, Store, set_aside};

/// What a file is called that cannot be used; nothing is deleted, because a log may have been trimmed that it knew.
const DAMAGED: &str = ".damaged";
const OTHER_FORM: &str = ".old-form";
const OTHER_LOG: &str = ".other-log";

impl<'s> Worker<'s> {
    /// Opens the file, or makes one in the place of one that is of no use.
    pub(super) fn open(shared: &'s Shared) -> Result<Self, HistoryError> {
        let opened = match look(&shared.settings, &shared.records) {
            Ok(Look::Usable(store, marks)) => Some((store, marks)),
            Ok(Look::Useless(ending)) => {
                give_up(shared, ending)?;
                None
            }
            Err(error) if error.is_damage() => {
                give_up(shared, DAMAGED)?;
                None
            }
            Err(error) => return Err(error),
        };
        let (store, marks) = match opened {
            Some(opened) => opened,
            None => fresh(&shared.settings)?,
        };
        let fold = Fold::load(&store, &marks);
        match fold {
            Ok(fold) => Ok(Worker { shared, store, fold, marks, words: String::new(), asked: super::now() }),
            Err(error) if error.is_damage() => {
                drop(store);
                give_up(shared, DAMAGED)?;
                let (store, marks) = fresh(&shared.settings)?;
                let fold = Fold::load(&store, &marks)?;
                Ok(Worker { shared, store, fold, marks, words: String::new(), asked: super::now() })
            }
            Err(error) => Err(error),
        }
    }

    /// Puts a new file in the place of the damaged one.
    pub(super) fn replace(&mut self) -> Result<(), HistoryError> {
        may_give_up(self.shared, DAMAGED)?;
        // Closing removes files by their names, so it comes before the new ones have them.
        drop(std::mem::replace(&mut self.store, Store::nowhere()?));
        self.shared.pool.renew();
        set_aside(&self.shared.settings.file, DAMAGED)?;
        let (store, marks) = fresh(&self.shared.settings)?;
        self.fold = Fold::load(&store, &marks)?;
        (self.store, self.marks) = (store, Marks { is_closed: false, ..marks });
        // Whoever asked in between may have opened the old one.
        self.shared.pool.renew();
        self.tell();
        Ok(())
    }
}

/// Sets a file aside that cannot be used, unless it knows what nobody else does.
fn give_up(shared: &Shared, ending: &'static str) -> Result<(), HistoryError> {
    may_give_up(shared, ending)?;
    set_aside(&shared.settings.file, ending).map(drop)
}

fn may_give_up(shared: &Shared, ending: &'static str) -> Result<(), HistoryError> {
    match shared.records.trimmed_to() {
        Some(first) if !shared.settings.is_lossy => {
            let why = match ending {
                OTHER_FORM => "was written by another version",
                OTHER_LOG => "tells of another log",
                _ => "is damaged",
            };
            Err(HistoryError::Irreplaceable { file: shared.settings.file.clone(), why, first })
        }
        Some(_) | None => Ok(()),
    }
}

/// What was found where the file should be.
enum Look {
    Usable(Store, Marks),
    Useless(&'static str),
}

fn look(settings: &Settings, records: &Records) -> Result<Look, HistoryError> {
    let store = Store::open(settings)?;
    if !store.is_of_this_form()? {
        return Ok(Look::Useless(OTHER_FORM));
    }
    let marks = store.marks()?;
    Ok(if is_of(records, &marks) { Look::Usable(store, marks) } else { Look::Useless(OTHER_LOG) })
}

fn fresh(settings: &Settings) -> Result<(Store, Marks), HistoryError> {
    let store = Store::open(settings)?;
    let marks = store.marks()?;
    Ok((store, marks))
}

/// Tells whether the tables were made from this log. What can no longer be compared is believed.
fn is_of(records: &Records, marks: &Marks) -> bool {
    let is_it = |bytes: &[u8]| match &marks.fingerprint {
        Some(fingerprint) => Fingerprint::of(&[bytes]).0.as_slice() == fingerprint.as_slice(),
        None => true,
    };
    match records.read(marks.applied) {
        Ok(bytes) => is_it(&bytes),
        Err(ReadError::Beyond { .. }) => marks.applied.0 == 0,
        Err(_) => true,
    }
}
