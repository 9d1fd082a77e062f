//! `convoke lexicon check`: does a new version break the old one?

use std::collections::BTreeMap;

use json::{Object, Value};
use lexicon::{Change, Document, Verdict};

use crate::failure::{Answer, Failure};
use crate::lexicons::{self, Source};
use crate::output::{Form, Output};

pub(crate) fn run(old: &str, new: &str, form: Form) -> Result<Answer, Failure> {
    let changes = compare(lexicons::read(old)?, lexicons::read(new)?)?;
    let mut output = Output::new();
    for (id, change) in &changes {
        match form {
            Form::Json => output.line(to_value(id, change))?,
            Form::Text => output.line(format_args!(
                "{} {} {id}{}: {}",
                change.verdict.name(),
                change.rule,
                change.path,
                change.message
            ))?,
        }
    }
    output.flush()?;
    if form == Form::Text {
        summarize(&changes);
    }
    let breaking = changes.iter().any(|(_, change)| change.verdict == Verdict::Breaking);
    Ok(Answer::from_bool(!breaking))
}

/// Compares two lexicons, or two folders of them by their ids.
fn compare(old: Vec<Source>, new: Vec<Source>) -> Result<Vec<(String, Change)>, Failure> {
    if let ([old], [new]) = (old.as_slice(), new.as_slice()) {
        return Ok(changes(&old.document, &new.document));
    }
    let (old, mut new) = (by_id(old)?, by_id(new)?);
    let mut all = Vec::new();
    for (id, document) in &old {
        match new.remove(id) {
            Some(now) => all.extend(changes(document, &now)),
            None => all.push((id.clone(), removed(id))),
        }
    }
    all.extend(new.into_keys().map(|id| (id.clone(), added(&id))));
    Ok(all)
}

fn changes(old: &Document, new: &Document) -> Vec<(String, Change)> {
    let changes = lexicon::compare(old, new).changes.into_iter();
    changes.map(|change| (old.id.to_string(), change)).collect()
}

fn by_id(sources: Vec<Source>) -> Result<BTreeMap<String, Document>, Failure> {
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    let mut documents = BTreeMap::new();
    for Source { place, document, .. } in sources {
        let id = document.id.to_string();
        if let Some(other) = places.insert(id.clone(), place.clone()) {
            let message = format!("{other} and {place} both define {id}");
            return Err(Failure::wrong_use(message).hint("keep one version of each lexicon in a folder"));
        }
        documents.insert(id, document);
    }
    Ok(documents)
}

fn removed(id: &str) -> Change {
    Change {
        verdict: Verdict::Breaking,
        rule: "lexicon_removed",
        path: String::new(),
        message: format!("the lexicon {id} is gone; data that names it is no longer described"),
        advice: Some("keep the old lexicon beside its successor".to_owned()),
    }
}

fn added(id: &str) -> Change {
    Change {
        verdict: Verdict::Safe,
        rule: "lexicon_added",
        path: String::new(),
        message: format!("the lexicon {id} is new"),
        advice: None,
    }
}

fn to_value<'a>(id: &'a str, change: &'a Change) -> Value<'a> {
    let mut members: Object<'a> = [("lexicon", id)].into_iter().collect();
    if let Value::Object(rest) = change.to_value() {
        for (key, value) in rest {
            members.insert(key, value);
        }
    }
    Value::Object(members)
}

fn summarize(changes: &[(String, Change)]) {
    let breaking: Vec<&Change> = changes
        .iter()
        .map(|(_, change)| change)
        .filter(|change| change.verdict == Verdict::Breaking)
        .collect();
    let safe = changes.len() - breaking.len();
    if changes.is_empty() {
        eprintln!("no changes");
        return;
    }
    eprintln!("{} breaking, {safe} safe", breaking.len());
    let mut advice: Vec<&str> = breaking.iter().filter_map(|change| change.advice.as_deref()).collect();
    advice.dedup();
    for advice in advice {
        eprintln!("hint: {advice}");
    }
}
