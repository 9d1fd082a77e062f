//! Linting an Agent Card: its schema, the standard's rules of form, and its references.

use dialect::{Strictness, Verdict};
use json::{Object, Path, Value};
use message::codes as common;

use crate::codes;
use crate::interfaces::AGENT_CARD;
use crate::prose::{Prose, prose};
use crate::registry::Registry;

/// Constraints that a card needs at least.
pub const CONSTRAINTS_MIN: usize = 3;
/// Sentences of a working style.
pub const WORKING_STYLE_SENTENCES_MAX: usize = 3;
/// Sentences of the description of a voice.
pub const VOICE_SENTENCES_MAX: usize = 2;

const PROHIBITION: &str = "I never ";

/// Checks a card by every rule; with a registry, also whether what it refers to exists.
pub fn lint(card: &Value<'_>, registry: Option<&Registry>) -> Verdict {
    let mut verdict = Verdict::new();
    let Value::Object(object) = card else {
        let found = card.type_name();
        verdict.errors.schema(&Path::ROOT, common::TYPE, || format!("expected an object, found {found}"));
        return verdict;
    };
    AGENT_CARD.check(object, &Path::ROOT, Strictness::Strict, &mut verdict.errors, &mut verdict.warnings);
    sentences(object, &mut verdict);
    constraints(object, &mut verdict);
    if let Some(registry) = registry {
        references(object, registry, &mut verdict);
    }
    verdict
}

fn sentences(card: &Object<'_>, verdict: &mut Verdict) {
    let root = Path::ROOT;
    if let Some(scope) = text(card.get("scope")) {
        let Prose { sentences, is_ended } = prose(scope);
        if sentences != 1 {
            verdict.errors.rule(&root.key("scope"), codes::ONE_SENTENCE, || {
                format!("the scope is one sentence, not {sentences}")
            });
        } else if !is_ended {
            verdict.warnings.rule(&root.key("scope"), codes::ONE_SENTENCE, || {
                "the scope is one sentence: end it with a full stop".to_owned()
            });
        }
    }
    let voice = card.get("voice");
    let style = (text(card.get("working_style")), root.key("working_style"), WORKING_STYLE_SENTENCES_MAX);
    let voice_path = root.key("voice");
    let description = text(voice.and_then(|voice| voice.get("description")));
    for (text, path, sentences_max) in
        [style, (description, voice_path.key("description"), VOICE_SENTENCES_MAX)]
    {
        let count = text.map_or(0, |text| prose(text).sentences);
        if count > sentences_max {
            verdict.errors.rule(&path, codes::TOO_MANY_SENTENCES, || {
                format!("{count} sentences, at most {sentences_max} are allowed")
            });
        }
    }
}

fn constraints(card: &Object<'_>, verdict: &mut Verdict) {
    let path = Path::ROOT.key("constraints");
    let Some(constraints) = card.get("constraints").and_then(Value::as_array) else { return };
    for (index, constraint) in constraints.iter().enumerate() {
        let prohibits =
            |text: &str| text.strip_prefix(PROHIBITION).is_some_and(|rest| !rest.trim().is_empty());
        if text(Some(constraint)).is_some_and(|text| !prohibits(text)) {
            verdict.errors.rule(&path.index(index), codes::NOT_A_PROHIBITION, || {
                "a constraint says \"I never …\": prohibitions hold better than advice".to_owned()
            });
        }
    }
    let count = constraints.len();
    if (1..CONSTRAINTS_MIN).contains(&count) {
        verdict.errors.rule(&path, codes::TOO_FEW_CONSTRAINTS, || {
            format!("{count} constraints, at least {CONSTRAINTS_MIN} are needed")
        });
    }
}

fn references(card: &Object<'_>, registry: &Registry, verdict: &mut Verdict) {
    let root = Path::ROOT;
    let identity = card.get("identity");
    let of_identity = |key: &str| text(identity.and_then(|identity| identity.get(key)));
    if let Some(superior) = of_identity("reports_to")
        && superior != "human"
        && !registry.knows_agent(superior)
    {
        verdict.errors.rule(&root.key("identity").key("reports_to"), codes::UNKNOWN_AGENT, || {
            format!("{superior:?} is not registered; it must be an agent or human")
        });
    }
    if let Some(slug) = of_identity("slug")
        && !registry.knows_agent(slug)
    {
        verdict.warnings.rule(&root.key("identity").key("slug"), codes::UNKNOWN_AGENT, || {
            format!("{slug:?} is not registered itself")
        });
    }
    for (index, rule) in list(card, "escalation_rules").iter().enumerate() {
        if let Some(route) = text(rule.get("route_to"))
            && !registry.knows_route(route)
        {
            let path = root.key("escalation_rules");
            verdict.errors.rule(&path.index(index).key("route_to"), codes::UNKNOWN_ROUTE, || {
                format!("{route:?} is neither a registered role nor an agent nor exec")
            });
        }
    }
    for (index, output) in list(card, "output_types").iter().enumerate() {
        if let Some(output) = text(Some(output))
            && !registry.knows_output(output)
        {
            let path = root.key("output_types");
            verdict.errors.rule(&path.index(index), codes::UNKNOWN_OUTPUT_TYPE, || {
                format!("{output:?} is not a registered output contract")
            });
        }
    }
}

fn text<'v>(value: Option<&'v Value<'_>>) -> Option<&'v str> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn list<'v, 'a>(card: &'v Object<'a>, key: &str) -> &'v [Value<'a>] {
    card.get(key).and_then(Value::as_array).unwrap_or_default()
}
