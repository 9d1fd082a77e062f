//! Tests of what all dialects share.

use json::{Findings, Limits, Object, Path, Value};
use message::Kind;
use proptest::prelude::*;

use crate::{
    Codec, Draft, Field, IdForm, Interface, Lens, Names, Need, Shape, Sheet, Strictness, cut_to_bytes,
    cut_to_words, get, is_cut, put, words,
};

fn value(text: &str) -> Value<'_> {
    json::parse_str(text, Limits::DOCUMENT).unwrap()
}

fn object(text: &str) -> Object<'static> {
    value(text).into_owned().as_object().unwrap().clone()
}

static INNER: Interface = Interface {
    name: "Inner",
    fields: &[Field { name: "n", need: Need::Required, shape: Shape::Integer(0, 9) }],
};

static OUTER: Interface = Interface {
    name: "Outer",
    fields: &[
        Field { name: "text", need: Need::Required, shape: Shape::NonEmpty },
        Field { name: "word", need: Need::Defaulted("a"), shape: Shape::Words(&["a", "b"]) },
        Field { name: "at", need: Need::Optional, shape: Shape::Timestamp },
        Field { name: "ratio", need: Need::Optional, shape: Shape::Number(0.0, 1.0) },
        Field { name: "more", need: Need::Optional, shape: Shape::Number(0.0, f64::INFINITY) },
        Field { name: "long", need: Need::Optional, shape: Shape::TextMax(4) },
        Field { name: "wait", need: Need::Optional, shape: Shape::Duration },
        Field { name: "id", need: Need::Optional, shape: Shape::Uuid },
        Field { name: "yes", need: Need::Optional, shape: Shape::Boolean },
        Field { name: "list", need: Need::Optional, shape: Shape::NonEmptyList(&Shape::Object(&INNER)) },
        Field { name: "map", need: Need::Optional, shape: Shape::MapOf(&Shape::Boolean) },
        Field { name: "null", need: Need::Required, shape: Shape::OrNull(&Shape::Text) },
        Field { name: "odd", need: Need::Optional, shape: Shape::Checked("odd", |text| text.len() % 2 == 1) },
    ],
};

fn check(text: &str, strictness: Strictness) -> (Vec<String>, Vec<String>) {
    let (mut errors, mut warnings) = (Findings::new(100), Findings::new(100));
    OUTER.check(&object(text), &Path::ROOT, strictness, &mut errors, &mut warnings);
    let show = |findings: Findings| -> Vec<String> {
        findings.kept().iter().map(|finding| format!("{} {}", finding.path, finding.code)).collect()
    };
    (show(errors), show(warnings))
}

#[test]
fn a_uri_is_nobody_elses_because_it_ends_like_a_name() {
    let names = value(r#"[{"slug":"ann","uri":"codex://ann"},{"slug":"bob"}]"#);
    let names = Names::from_value(&names).unwrap();
    for (native, meant) in [
        ("codex://ann", "ann"),
        ("ann", "ann"),
        ("cursor://ann", "cursor://ann"),
        ("cursor://bob", "bob"),
        ("cursor://cyd", "cyd"),
    ] {
        assert_eq!(names.agent(native).as_str(), meant, "{native}");
    }
}

#[test]
fn interfaces_are_checked_field_by_field() {
    let good = r#""text":"x","word":"a","null":null"#;
    let cases = [
        (String::new(), vec![]),
        (r#""at":"2026-11-15T10:00:00Z","ratio":1,"more":1e9,"long":"four","wait":"300s","yes":true"#.into(), vec![]),
        (r#""at":null,"ratio":null,"unknown":{"x":[1.5]}"#.into(), vec![]),
        (r#""id":"0193ABCD-0000-7000-8000-000000000000","list":[{"n":0},{"n":9}],"map":{"a":true},"odd":"x""#.into(), vec![]),
        (r#""at":"yesterday","ratio":1.01,"more":-1,"long":"fivee","wait":"300","id":"x","yes":1"#.into(),
         vec!["/at format", "/ratio range", "/more range", "/long too_long", "/wait format", "/id format", "/yes type"]),
        (r#""list":[]"#.into(), vec!["/list required"]),
        (r#""list":[{"n":10},{},{"n":1.5},1],"map":{"a":1},"odd":"xx""#.into(),
         vec!["/list/0/n range", "/list/1/n required", "/list/2/n type", "/list/3 type", "/map/a type", "/odd format"]),
    ];
    for (rest, errors) in cases {
        let comma = if rest.is_empty() { "" } else { "," };
        let text = format!("{{{good}{comma}{rest}}}");
        assert_eq!(
            check(&text, Strictness::Strict),
            (errors.iter().map(|error| (*error).to_owned()).collect(), vec![]),
            "{text}"
        );
    }
}

#[test]
fn what_has_a_default_may_be_missing_for_a_tolerant_reader() {
    let text = r#"{"text":"","null":1}"#;
    let errors = |codes: &[&str]| codes.iter().map(|code| (*code).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        check(text, Strictness::Strict),
        (errors(&["/text format", "/word required", "/null type"]), vec![])
    );
    assert_eq!(
        check(text, Strictness::Tolerant),
        (errors(&["/text format", "/null type"]), errors(&["/word required"]))
    );
    assert_eq!(
        check(r#"{"text":"x","word":"c","null":null}"#, Strictness::Tolerant).0,
        errors(&["/word enum"])
    );
}

#[test]
fn places_are_made_on_the_way() {
    let mut made = Object::new();
    put(&mut made, "/a/b/0/c", Value::from(1_i64));
    put(&mut made, "/a/b/1/c", Value::from(2_i64));
    put(&mut made, "/a/d", Value::from("x"));
    put(&mut made, "/a/d/e", Value::from("ignored"));
    assert_eq!(made.to_string(), r#"{"a":{"b":[{"c":1},{"c":2}],"d":"x"}}"#);
    assert_eq!(get(&made, "/a/b/1/c"), Some(&Value::integer(2)));
    assert_eq!(get(&object(r#"{"a":{"b":null}}"#), "/a/b"), None);
}

#[test]
fn texts_are_cut_with_a_mark() {
    let long = "wörd ".repeat(1_000);
    let cut = cut_to_bytes(&long, 200);
    assert!(cut.len() <= 200 && cut.len() > 190 && is_cut(&cut), "{cut}");
    let cut = cut_to_words(&long, 150);
    assert!(words(&cut) <= 150 && words(&cut) > 140 && is_cut(&cut), "{cut}");
    assert_eq!(cut_to_bytes("short", 5), "short");
    assert_eq!(cut_to_words("two words", 2), "two words");
    assert!(!is_cut("plain [cut, sha256 abc]"));
}

#[test]
fn names_are_found_or_stood_in_for() {
    let registry = r#"{"agents":[{"slug":"ann","did":"did:plc:ann","handle":"ann.example","uri":"codex://ann-of-green","framework":"codex","roles":["developer"]}]}"#;
    let names = Names::from_value(&value(registry)).unwrap();
    for alias in ["ann", "did:plc:ann", "ann.example", "codex://ann-of-green"] {
        assert_eq!(names.agent(alias).to_string(), "ann", "{alias}");
    }
    assert_eq!(names.did("ann"), ("did:plc:ann".to_owned(), true));
    assert_eq!(
        (names.uri("ann").as_str(), names.framework("ann").as_deref()),
        ("codex://ann-of-green", Some("codex"))
    );
    let none = Names::default();
    let cases = [
        ("bob", "bob", "did:web:bob.agent.invalid"),
        ("did:plc:zoe", "did:plc:zoe", "did:plc:zoe"),
        ("claude-code://orchestrator", "orchestrator", "did:web:orchestrator.agent.invalid"),
        ("Big Bob!", "big-bob-", "did:web:big-bob.agent.invalid"),
        ("qc_1.x", "qc_1.x", "did:web:qc-1-x.agent.invalid"),
        ("", "agent-", "did:web:agent.agent.invalid"),
        ("all", "agent-all", "did:web:agent-all.agent.invalid"),
        ("日本", "agent-", "did:web:agent.agent.invalid"),
    ];
    for (native, agent, did) in cases {
        assert_eq!(none.agent(native).to_string(), agent, "{native:?}");
        assert_eq!(none.did(agent).0, did, "{native:?}");
    }
    assert_eq!(none.agent("did:web:bob.agent.invalid").to_string(), "bob");
    let mut some = Names::default();
    some.add(crate::Identity::new("qc_1.x".parse().unwrap())).unwrap();
    assert_eq!(some.agent("did:web:qc-1-x.agent.invalid").to_string(), "qc_1.x", "it leads back");
    some.add(crate::Identity::new("qc-1-x".parse().unwrap())).unwrap();
    assert_eq!(some.agent("did:web:qc-1-x.agent.invalid").to_string(), "qc-1-x", "the very name goes first");
    some.remove("qc_1.x");
    some.remove("qc-1-x");
    assert_eq!(some.agent("did:web:qc-1-x.agent.invalid").to_string(), "qc-1-x");
    assert_eq!(none.address("roles.developer").to_string(), "roles.developer");
    assert_eq!(none.address("all").to_string(), "all");
}

#[test]
fn a_registry_that_contradicts_itself_is_refused() {
    let cases = [
        ("{}", "(document)"),
        (r#"[{"slug":"A B"}]"#, "/0/slug"),
        (r#"[{"did":"did:plc:x"}]"#, "/0/slug"),
        (r#"[{"slug":"a","did":1}]"#, "/0/did"),
        (r#"[{"slug":"a","roles":"x"}]"#, "/0/roles"),
        (r#"[{"slug":"a","did":"did:plc:x"},{"slug":"b","did":"did:plc:x"}]"#, "/1"),
    ];
    for (text, place) in cases {
        let error = Names::from_value(&value(text)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{place}:")), "{text}: {error}");
    }
}

static LENSES: &[Lens] = &[
    Lens { native: "/head/from", canonical: "/from", codec: Codec::Agent(IdForm::Slug) },
    Lens { native: "/head/to", canonical: "/to/0", codec: Codec::Address(IdForm::Slug) },
    Lens {
        native: "/urgency",
        canonical: "/priority",
        codec: Codec::Words(&[("now", "critical"), ("soon", "high")]),
    },
    Lens { native: "/files", canonical: "/attachments", codec: Codec::Uris },
    Lens { native: "/body", canonical: "/data", codec: Codec::Same },
    Lens { native: "/says", canonical: "/text", codec: Codec::Text },
];

#[test]
fn lenses_read_and_write_the_same_fields() {
    let names = Names::default();
    let text = r#"{"head":{"from":"ann","to":"roles.dev"},"urgency":"now","files":["file:a"],"body":{"x":1.50},"says":"hi"}"#;
    let document = object(text);
    let mut draft = Draft::new(&document, &names, Kind::Note, &[]);
    draft.read(LENSES);
    let decoded = draft.finish().unwrap();
    let mut sheet = Sheet::new(&decoded.message, &names);
    sheet.write(LENSES);
    let encoded = sheet.finish();
    assert_eq!(Value::Object(encoded.document), value(text));
    assert_eq!(encoded.links, decoded.links);
    assert!(encoded.invented.is_empty());
}

#[test]
fn a_message_that_cannot_be_is_reported_where_it_came_from() {
    let names = Names::default();
    let document = object(r#"{"head":{"from":"ann"},"files":["not a uri\u0000"]}"#);
    let mut draft = Draft::new(&document, &names, Kind::Note, &[]);
    draft.read(LENSES);
    let errors = draft.finish().unwrap_err();
    let places: Vec<&str> = errors.kept().iter().map(|finding| finding.path.as_str()).collect();
    assert!(places.contains(&"/to"), "{places:?}");
}

proptest! {
    #[test]
    fn any_text_makes_a_name_and_a_did(text in any::<String>()) {
        let names = Names::default();
        let agent = names.agent(&text);
        prop_assert!(agent.to_string().parse::<message::AgentRef>().is_ok());
        let (did, _) = names.did(&agent.to_string());
        prop_assert!(did.starts_with("did:"));
        prop_assert!(names.slug(&agent.to_string()).parse::<message::AgentName>().is_ok());
    }

    #[test]
    fn cut_texts_keep_to_the_limit(text in any::<String>(), bytes_max in 100_usize..400, words_max in 8_usize..50) {
        prop_assert!(cut_to_bytes(&text, bytes_max).len() <= bytes_max);
        prop_assert!(words(&cut_to_words(&text, words_max)) <= words_max);
    }
}

#[test]
fn interfaces_are_written_as_json_schema() {
    let schema = crate::json_schema(&OUTER).to_string();
    let expected = [
        r#""title":"Outer","type":"object","required":["text","word","null"]"#,
        r##""list":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/Inner"},"minItems":1},{"type":"null"}]}"##,
        r#""$defs":{"Inner":{"type":"object","required":["n"],"properties":{"n":{"type":"integer","minimum":0,"maximum":9}}}}"#,
        r#""word":{"enum":["a","b"]}"#,
        r#""null":{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
    ];
    for part in expected {
        assert!(schema.contains(part), "{part} is not in {schema}");
    }
}

proptest! {
    #[test]
    fn generated_messages_are_messages(document in testkit::generate::convoke::document()) {
        let decoded = message::from_value(document.clone());
        prop_assert!(decoded.is_ok(), "{document}: {decoded:?}");
    }
}

#[test]
fn an_identity_that_goes_takes_its_names_along_and_nobody_elses() {
    let identity = |slug: &str, did: &str| {
        let mut identity = crate::Identity::new(slug.parse().unwrap());
        identity.did = Some(did.to_owned());
        identity
    };
    let mut names = Names::default();
    for (slug, did) in [("ann", "did:web:a"), ("bob", "did:web:b"), ("cyd", "did:web:c")] {
        names.add(identity(slug, did)).unwrap();
    }
    assert_eq!(names.add(identity("dan", "did:web:b")), Err("did:web:b".to_owned()));
    assert!(names.find("dan").is_none(), "nothing is added where something clashes");
    names.remove("did:web:a");
    assert!(names.find("ann").is_some(), "only its own name removes it");
    names.remove("ann");
    let slugs = ["ann", "did:web:a", "did:web:b", "did:web:c"]
        .map(|alias| names.find(alias).map(|identity| identity.slug.to_string()));
    assert_eq!(slugs, [None, None, Some("bob".to_owned()), Some("cyd".to_owned())]);
    names.add(identity("ann", "did:web:new")).unwrap();
    assert_eq!(names.slug("did:web:new"), "ann");
}
