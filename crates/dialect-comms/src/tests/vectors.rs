//! The vectors of the repository: valid records, and edits of them that are not.

use dialect::Dialect;
use json::Limits;

use super::shown;
use crate::Comms;

#[test]
fn records_are_valid_or_refused_for_the_right_reason() {
    testkit::check_vectors("comms", |bytes| {
        let document = json::parse(bytes, Limits::DOCUMENT).unwrap();
        let verdict = Comms.validate(&document);
        assert_eq!(verdict.is_valid(), verdict.errors.is_empty());
        testkit::Findings { errors: shown(&verdict.errors), warnings: shown(&verdict.warnings) }
    });
}

#[test]
fn good_records_have_no_warnings_that_they_do_not_ask_for() {
    let folder = testkit::root().join("vectors/comms/good");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = testkit::read(&path);
        let document = json::parse_str(&text, Limits::DOCUMENT).unwrap();
        assert!(Comms.recognizes(document.as_object().unwrap()), "{}", path.display());
        let verdict = Comms.validate(&document);
        assert!(verdict.kind.is_some(), "{}", path.display());
        assert_eq!(shown(&verdict.warnings), Vec::<String>::new(), "{}", path.display());
    }
}
