//! Loading: the newest snapshot and the tail of the log become the state.

use std::ops::ControlFlow;

use broker::{Broker, Fold, FoldError};
use log::{Entry, Reader, Snapshots};
use message::Seq;

use crate::failure::StartError;

/// A state made from a snapshot and the records after it.
pub struct Loaded {
    /// The state.
    pub broker: Broker,
    /// The snapshot from which it was made.
    pub snapshot: Option<Seq>,
    /// How many records were applied after it.
    pub replayed: u64,
    /// Records that a salvage had left out.
    pub missing: Vec<(Seq, Seq)>,
    /// How many records after them fit nothing any more and were passed over.
    pub passed_over: u64,
}

/// Makes the state after a record: the newest snapshot, and what came after it.
pub fn load(
    snapshots: &impl Snapshots,
    reader: &impl Reader,
    settings: &broker::Settings,
    upto: Seq,
) -> Result<Loaded, StartError> {
    load_prepared(snapshots, reader, settings, upto, &|_| {})
}

/// Loads a state that is prepared before anything is folded into it, by which faults are planted.
pub fn load_prepared(
    snapshots: &impl Snapshots,
    reader: &impl Reader,
    settings: &broker::Settings,
    upto: Seq,
    prepare: &dyn Fn(&mut Broker),
) -> Result<Loaded, StartError> {
    let snapshot = snapshots.load().map_err(StartError::Snapshots)?;
    let at = snapshot.as_ref().map(|snapshot| snapshot.at);
    let mut broker = match snapshot {
        Some(mut snapshot) => {
            let mut bytes = Vec::new();
            snapshot.bytes.read_to_end(&mut bytes).map_err(StartError::Folder)?;
            let restored = Broker::restore(settings.clone(), &bytes);
            restored.map_err(|source| StartError::Snapshot { at: snapshot.at, source })?
        }
        None => Broker::new(settings.clone()),
    };
    prepare(&mut broker);
    replay(broker, reader, upto, at)
}

/// Folds the records after a snapshot into its state.
fn replay(
    broker: Broker,
    reader: &impl Reader,
    upto: Seq,
    snapshot: Option<Seq>,
) -> Result<Loaded, StartError> {
    let from = Seq(broker.last().0 + 1);
    let mut fold = Fold::new(broker);
    let (mut replayed, mut missing, mut failed) = (0, Vec::new(), None);
    let visited = reader.scan(from, upto, &mut |entry| {
        let folded = match entry {
            Entry::Record { seq, bytes, .. } => {
                replayed += 1;
                fold.apply(seq, bytes).map_err(|error| (seq, error))
            }
            Entry::Gap { first, last } => {
                missing.push((first, last));
                fold.pass(last);
                Ok(())
            }
        };
        failed = folded.err();
        if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match failed {
        Some((seq, FoldError::Record(source))) => Err(StartError::Record { seq, source }),
        Some((_, FoldError::Misfit(misfit))) => Err(StartError::Misfit(misfit)),
        None => {
            visited.map_err(StartError::Read)?;
            let passed_over = fold.passed_over();
            Ok(Loaded { broker: fold.into_broker(), snapshot, replayed, missing, passed_over })
        }
    }
}
