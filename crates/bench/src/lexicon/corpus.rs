//! The data of both sides: records as they are sent, and variants of them with what each side must say.
//!
//! `records.jsonl` holds one valid record a line; these are measured. `cases.jsonl` holds variants: a name, the
//! record that is changed (`message-2` is the second one of that type), the place, the new value (none
//! removes what is there), or else a whole `text`; and the verdict of each side. Where these differ by design,
//! there is a `reason`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use json::{Limits, Value};

const RECORDS: &str = include_str!("../../corpus/lexicon/records.jsonl");
const CASES: &str = include_str!("../../corpus/lexicon/cases.jsonl");

/// All data of the area.
pub(crate) struct Corpus {
    pub(crate) records: Vec<Record>,
    pub(crate) cases: Vec<Case>,
}

/// A record that is measured.
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) text: &'static str,
}

/// A document of which both sides must say whether it is a valid record.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) ours: Verdict,
    pub(crate) peer: Verdict,
    /// Why the sides differ, where they do.
    pub(crate) reason: Option<String>,
}

/// What a side says about a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Valid,
    Invalid,
}

impl Corpus {
    /// Reads what is embedded.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let records = records()?;
        let valid = |record: &Record| Case {
            name: record.name.clone(),
            text: record.text.to_owned(),
            ours: Verdict::Valid,
            peer: Verdict::Valid,
            reason: None,
        };
        let mut cases: Vec<Case> = records.iter().map(valid).collect();
        for (index, line) in CASES.lines().enumerate() {
            let case = Case::read(line, &records).with_context(|| format!("reading case {}", index + 1))?;
            cases.push(case);
        }
        Ok(Corpus { records, cases })
    }

    /// Writes everything that the peer reads, in the bytes that we read.
    pub(crate) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let lexicons = definitions::lexicons().map(|definition| {
            let document = json::parse_str(definition.text, Limits::DOCUMENT)?;
            anyhow::Ok((format!("{}.json", definition.name), lexicon::hoist(&document).to_string()))
        });
        let records = self.records.iter().enumerate().map(|(at, record)| (file_name(at), record.text));
        let cases = self.cases.iter().enumerate().map(|(at, case)| (file_name(at), case.text.as_str()));
        for set in ["lexicons", "records", "cases"] {
            fs::create_dir(folder.join(set)).with_context(|| format!("creating the folder {set}"))?;
        }
        for lexicon in lexicons {
            let (name, text) = lexicon?;
            fs::write(folder.join("lexicons").join(name), text).context("writing a lexicon")?;
        }
        for (name, text) in records {
            fs::write(folder.join("records").join(name), text).context("writing a record")?;
        }
        for (name, text) in cases {
            fs::write(folder.join("cases").join(name), text).context("writing a case")?;
        }
        Ok(())
    }

    /// The bytes of a record on average.
    pub(crate) fn record_bytes(&self) -> f64 {
        let bytes: usize = self.records.iter().map(|record| record.text.len()).sum();
        bytes as f64 / self.records.len().max(1) as f64
    }
}

impl Case {
    fn read(line: &str, records: &[Record]) -> anyhow::Result<Self> {
        let value = json::parse_str(line, Limits::DOCUMENT)?;
        let text_of = |key: &str| value.get(key).and_then(Value::as_str);
        let required = |key: &'static str| text_of(key).with_context(|| format!("{key} is missing"));
        let text = match text_of("text") {
            Some(text) => text.to_owned(),
            None => {
                let name = required("record")?;
                let record = records.iter().find(|record| record.name == name);
                let record = record.with_context(|| format!("there is no record {name}"))?;
                changed(record.text, required("at")?, value.get("value"))?
            }
        };
        let case = Case {
            name: required("name")?.to_owned(),
            text,
            ours: Verdict::read(required("ours")?)?,
            peer: Verdict::read(required("peer")?)?,
            reason: text_of("reason").map(str::to_owned),
        };
        ensure!(
            case.reason.is_some() == (case.ours != case.peer),
            "{}: a reason belongs to a difference",
            case.name
        );
        Ok(case)
    }
}

impl Verdict {
    pub(crate) fn from_validity(valid: bool) -> Self {
        if valid { Verdict::Valid } else { Verdict::Invalid }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "valid",
            Verdict::Invalid => "invalid",
        }
    }

    fn read(word: &str) -> anyhow::Result<Self> {
        match word {
            "valid" => Ok(Verdict::Valid),
            "invalid" => Ok(Verdict::Invalid),
            other => bail!("{other:?} is no verdict"),
        }
    }
}

/// The records that are measured, each named after its type and its place among those of the type.
pub(crate) fn records() -> anyhow::Result<Vec<Record>> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut records = Vec::new();
    for text in RECORDS.lines() {
        let value = json::parse_str(text, Limits::DOCUMENT)?;
        let name = value.get("$type").and_then(Value::as_str).context("a record has no $type")?;
        let word = name.rsplit('.').next().unwrap_or(name).to_owned();
        let count = seen.entry(word.clone()).or_insert(0);
        *count += 1;
        records.push(Record { name: format!("{word}-{count}"), text });
    }
    Ok(records)
}

/// The file of a document in its folder; the order of names is the order of documents.
pub(crate) fn file_name(at: usize) -> String {
    format!("{at:03}.json")
}

/// Puts a value at a place of a record, or removes what is there.
fn changed(record: &str, pointer: &str, new: Option<&Value<'_>>) -> anyhow::Result<String> {
    let mut value = json::parse_str(record, Limits::DOCUMENT)?.into_owned();
    let (parent, key) = pointer.rsplit_once('/').context("the place is no JSON Pointer")?;
    let mut at = &mut value;
    for step in parent.split('/').skip(1) {
        let next = match at {
            Value::Object(object) => object.get_mut(step),
            Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        at = next.with_context(|| format!("there is no {pointer}"))?;
    }
    match (at, new.cloned().map(Value::into_owned)) {
        (Value::Object(object), Some(new)) => {
            object.insert(key.to_owned(), new);
        }
        (Value::Object(object), None) => {
            object.remove(key).with_context(|| format!("there is no {pointer}"))?;
        }
        (Value::Array(items), Some(new)) => {
            let item = key.parse::<usize>().ok().and_then(|index| items.get_mut(index));
            *item.with_context(|| format!("there is no {pointer}"))? = new;
        }
        _ => bail!("{pointer} cannot be changed"),
    }
    Ok(value.to_string())
}
