//! The area `lexicon`: its corpus is what it claims to be, and our side runs.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use json::Limits;

use crate::area::{Form, Length, Options, Outcome};
use crate::lexicon::corpus::{Case, Corpus, Verdict};
use crate::lexicon::verdicts::{Agreement, agreement};
use crate::lexicon::{AREA, Measure};

#[test]
fn smoke() {
    let options =
        Options { rounds: 1, duration: Duration::ZERO, form: Form::Text, only: None, length: Length::Full };
    assert_eq!((AREA.smoke)(&options).unwrap(), Outcome::Agreed);
    for measure in Measure::ALL {
        (AREA.work)(measure.name(), 1).unwrap();
    }
    assert!((AREA.work)("nothing", 1).is_err());
}

#[test]
fn records_are_of_the_promised_sizes_and_kinds() {
    let corpus = Corpus::load().unwrap();
    let sizes: Vec<usize> = corpus.records.iter().map(|record| record.text.len()).collect();
    assert!(sizes.iter().all(|size| (900..=1_000).contains(size)), "{sizes:?}");
    assert!(sizes.contains(&914));
    for kind in ["message", "request", "response", "broadcast", "handoff"] {
        let count = corpus.records.iter().filter(|record| record.name.starts_with(kind)).count();
        assert!(count >= 2, "{kind}");
    }
}

#[test]
fn cases_are_many_and_different() {
    let corpus = Corpus::load().unwrap();
    let names: HashSet<&str> = corpus.cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), corpus.cases.len());
    let texts: HashSet<&str> = corpus.cases.iter().map(|case| case.text.as_str()).collect();
    assert_eq!(texts.len(), corpus.cases.len());
    let count = |verdict| corpus.cases.iter().filter(|case| case.ours == verdict).count();
    assert!(count(Verdict::Invalid) >= 40 && count(Verdict::Valid) >= 20);
}

#[test]
fn the_peer_gets_our_bytes_and_lexicons_that_it_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = Corpus::load().unwrap();
    corpus.write(folder.path()).unwrap();
    let files = |set: &str| fs::read_dir(folder.path().join(set)).unwrap().count();
    assert_eq!(files("records"), corpus.records.len());
    assert_eq!(files("cases"), corpus.cases.len());
    assert_eq!(fs::read(folder.path().join("records/000.json")).unwrap(), corpus.records[0].text.as_bytes());
    for definition in definitions::lexicons() {
        let file = folder.path().join("lexicons").join(format!("{}.json", definition.name));
        let text = fs::read_to_string(file).unwrap();
        let parsed = lexicon::Document::parse(text.as_bytes(), Limits::DOCUMENT);
        assert!(parsed.document.is_some() && parsed.report.warnings.is_empty(), "{}", definition.name);
    }
}

#[test]
fn only_what_is_listed_counts_as_agreement() {
    use Verdict::{Invalid, Valid};
    let case = |ours, peer| Case { name: String::new(), text: String::new(), ours, peer, reason: None };
    let same = case(Invalid, Invalid);
    assert_eq!(agreement(&same, Invalid, Invalid), Agreement::Same);
    assert_eq!(agreement(&same, Invalid, Valid), Agreement::Unlisted);
    assert_eq!(agreement(&same, Valid, Valid), Agreement::Unlisted);
    let different = case(Invalid, Valid);
    assert_eq!(agreement(&different, Invalid, Valid), Agreement::ByDesign);
    assert_eq!(agreement(&different, Invalid, Invalid), Agreement::Unlisted);
}

#[test]
fn the_peer_is_pinned() {
    assert_eq!(crate::lexicon::peer::PACKAGE.check(), Ok(()));
}
