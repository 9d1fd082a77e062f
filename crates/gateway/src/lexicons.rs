//! Lexicons: those that the bus has from the start, and those that the operator added.
//!
//! The operator's are records of its own repository, under their names, as the AT Protocol publishes lexicons; so they
//! are in the log like everything else. What they describe is checked against them: records of their collections, and
//! the content of messages that names one as its schema.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use broker::AgentKey;
use broker::query::records::RecordPage;
use json::{Finding, Limits, Source, Value};
use lexicon::{Catalog, Document, Purpose, Target, Verdict};
use message::{Envelope, Message};

use crate::{Code, Hub, Problem, letters};

/// The collection in which lexicons are published.
pub const COLLECTION: &str = "com.atproto.lexicon.schema";
/// Lexicons of the operator at most.
const LEXICONS_MAX: usize = 1_000;

/// The lexicons by which is checked now.
pub(crate) struct Lexicons(RwLock<Arc<Catalog>>);

impl Default for Lexicons {
    fn default() -> Self {
        Lexicons(RwLock::new(Arc::new(dialect_comms::catalog().clone())))
    }
}

impl Lexicons {
    pub(crate) fn get(&self) -> Arc<Catalog> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set(&self, catalog: Catalog) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalog);
    }
}

/// Tells whether a lexicon came with the bus.
pub fn is_ours(id: &str) -> bool {
    dialect_comms::catalog().document(id).is_some()
}

/// Refuses what cannot be a lexicon of the operator: one that cannot be read, has another name than its key, or
/// stands for one that came with the bus.
pub(crate) fn check(record: &Value<'_>, key: Option<&str>) -> Result<Document, Problem> {
    let parsed = Document::from_value(record);
    let Some(document) = parsed.document else {
        let errors = parsed.report.errors.kept().iter().map(|finding| finding.to_value().into_owned());
        let problem = Problem::new(Code::Invalid, "this is not a lexicon");
        return Err(problem.with("errors", Value::Array(errors.collect())));
    };
    let id = document.id.as_str();
    if key != Some(id) {
        let detail = format!("the lexicon {id} is published under its own name, not under {key:?}");
        return Err(Problem::new(Code::Invalid, detail));
    }
    if is_ours(id) {
        return Err(Problem::new(Code::NameTaken, format!("{id} came with the bus and stays as it is")));
    }
    Ok(document)
}

/// Refuses a lexicon that breaks the one of the same name.
pub(crate) fn check_change(catalog: &Catalog, new: &Document) -> Result<(), Problem> {
    let Some(old) = catalog.document(new.id.as_str()) else {
        let count = catalog.documents().len();
        return match count < LEXICONS_MAX {
            true => Ok(()),
            false => Err(Problem::new(Code::TooMany, format!("there are {count} lexicons"))),
        };
    };
    let changes = lexicon::compare(old, new).changes;
    let breaking: Vec<_> = changes.iter().filter(|change| change.verdict == Verdict::Breaking).collect();
    let [first, ..] = breaking.as_slice() else { return Ok(()) };
    let detail = format!("{} breaks the lexicon of that name: {}", new.id, first.message);
    let found = breaking.iter().map(|change| Finding {
        path: change.path.clone(),
        code: change.rule,
        source: Source::Rule,
        message: change.message.clone(),
    });
    let found = found.map(|finding| finding.to_value().into_owned()).collect();
    Err(Problem::new(Code::Breaking, detail).with("errors", Value::Array(found)))
}

/// Checks the content of a message against the lexicon that it names as its schema; where none is known by that name,
/// there is nothing to be wrong.
pub(crate) fn check_content(catalog: &Catalog, message: &Message) -> Vec<Finding> {
    let Some(schema) = message.schema.as_deref().filter(|schema| catalog.document(schema).is_some()) else {
        return Vec::new();
    };
    let (place, data) = match (&message.data, &message.result) {
        (Some(data), _) => ("/data", data),
        (None, Some(result)) => ("/result", result),
        (None, None) => return Vec::new(),
    };
    let report = catalog.validate(Target::Definition(schema), data, Purpose::Write);
    let findings = report.errors.into_kept().into_iter().map(|mut finding| {
        finding.path.insert_str(0, place);
        finding.source = Source::Rule;
        finding
    });
    findings.collect()
}

impl Hub {
    /// Returns the operator's lexicons by their names, as they were written.
    pub async fn lexicon_texts(&self) -> Result<BTreeMap<String, String>, Problem> {
        let (mut names, mut places) = (Vec::new(), Vec::new());
        loop {
            let page = RecordPage {
                repo: AgentKey::HUMAN,
                collection: COLLECTION.to_owned(),
                cursor: names.last().cloned(),
                ascending: true,
                max: LEXICONS_MAX,
            };
            let records = self.query(page).await?;
            names.extend(records.iter().map(|record| record.key.to_string()));
            places.extend(records.iter().map(|record| record.body));
            if records.len() < LEXICONS_MAX {
                break;
            }
        }
        let bodies = letters::bodies(self, places).await?;
        let texts = bodies.iter().map(|body| {
            let document = Envelope::open(body).map(|envelope| envelope.document).unwrap_or_default();
            String::from_utf8_lossy(document).into_owned()
        });
        Ok(names.into_iter().zip(texts).collect())
    }

    /// Looks at the operator's lexicons again, before a change of them is answered.
    pub async fn refresh_lexicons(&self) -> Result<(), Problem> {
        let mut documents = dialect_comms::catalog().documents().to_vec();
        for (name, text) in self.lexicon_texts().await? {
            match Document::parse(text.as_bytes(), Limits::DOCUMENT).document {
                Some(document) => documents.push(document),
                None => tracing::warn!("the lexicon {name} cannot be read, and nothing is checked by it"),
            }
        }
        let catalog = Catalog::new(documents);
        let catalog = catalog.map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
        self.set_lexicons(catalog);
        Ok(())
    }
}
