//! The data: one document of about 1 KiB in each dialect, all of them about the review of a parser.

use anyhow::ensure;
use dialect::Name;
use json::Limits;

/// The dialects in the order of the tables.
pub(crate) const DIALECTS: [Name; 6] =
    [Name::Comms, Name::Coord, Name::Bus, Name::Channel, Name::Wire, Name::Convoke];

/// Returns the document of a dialect, which is valid in every way.
pub(crate) fn document(name: Name) -> anyhow::Result<&'static str> {
    let text = match name {
        Name::Comms => include_str!("../../corpus/dialects/comms.json"),
        Name::Coord => include_str!("../../corpus/dialects/coord.json"),
        Name::Bus => include_str!("../../corpus/dialects/bus.json"),
        Name::Channel => include_str!("../../corpus/dialects/channel.json"),
        Name::Wire => include_str!("../../corpus/dialects/wire.json"),
        Name::Convoke => include_str!("../../corpus/dialects/convoke.json"),
    };
    let text = text.trim_end();
    let verdict = translate::dialect(name).validate(&json::parse_str(text, Limits::DOCUMENT)?);
    let findings = [verdict.errors.kept(), verdict.warnings.kept()].concat();
    ensure!(findings.is_empty(), "the document of {name} has findings: {findings:?}");
    Ok(text)
}
