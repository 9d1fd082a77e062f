//! The lexicons, compiled once.

use std::sync::OnceLock;

use definitions::Language;
use json::Limits;
use lexicon::{Catalog, Document};

/// Returns the catalog of the `agent.comms.*` lexicons.
pub fn catalog() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let ours = |definition: &&definitions::Definition| {
            definition.language == Language::Lexicon && definition.name.starts_with("agent.comms.")
        };
        let documents = definitions::ALL.iter().filter(ours).map(|definition| {
            let parsed = Document::parse(definition.text.as_bytes(), Limits::DOCUMENT);
            parsed.document.expect("the lexicons that we ship are valid, a test parses them")
        });
        Catalog::new(documents.collect()).expect("the lexicons that we ship have different names")
    })
}
