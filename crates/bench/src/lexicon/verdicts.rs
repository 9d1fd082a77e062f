//! The differential test: what both sides say about every case, held against what is listed.

use anyhow::ensure;

use super::corpus::{Case, Verdict};
use super::ours::Ours;

/// One case with what the sides said.
pub(crate) struct Compared<'c> {
    pub(crate) case: &'c Case,
    pub(crate) ours: (Verdict, String),
    pub(crate) peer: (Verdict, String),
    pub(crate) agreement: Agreement,
}

/// How the verdicts stand to each other and to the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// Both say the same, as listed.
    Same,
    /// They differ, as listed, for a reason.
    ByDesign,
    /// They differ, or agree, other than listed.
    Unlisted,
}

/// Holds our verdicts against the peer's, which come in the order of the cases.
pub(crate) fn compare<'c>(
    cases: &'c [Case],
    ours: &Ours<'_>,
    peer: &[(Verdict, String)],
) -> anyhow::Result<Vec<Compared<'c>>> {
    ensure!(cases.len() == peer.len(), "the peer judged {} of {} cases", peer.len(), cases.len());
    let compared = cases.iter().zip(peer).map(|(case, peer)| {
        let ours = ours.verdict(case);
        let agreement = agreement(case, ours.0, peer.0);
        Compared { case, ours, peer: peer.clone(), agreement }
    });
    Ok(compared.collect())
}

/// Whether nobody said anything but what is listed.
pub(crate) fn are_as_listed(compared: &[Compared<'_>]) -> bool {
    compared.iter().all(|compared| compared.agreement != Agreement::Unlisted)
}

pub(crate) fn agreement(case: &Case, ours: Verdict, peer: Verdict) -> Agreement {
    if (case.ours, case.peer) != (ours, peer) {
        Agreement::Unlisted
    } else if ours == peer {
        Agreement::Same
    } else {
        Agreement::ByDesign
    }
}
