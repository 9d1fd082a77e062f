//! Stories: one piece of work that crosses dialects, from the request to the last receipt.

use std::cell::Cell;

use dialect::Name;
use json::Value;

use crate::crossing::stage::{Stage, text};

/// Tells a story step by step; each step says what came of it.
struct Story {
    stage: Stage,
    told: Cell<u32>,
}

impl Story {
    fn begin(agents: &[(&str, Name)]) -> Self {
        let agents: Vec<(String, Name)> =
            agents.iter().map(|(name, dialect)| ((*name).to_owned(), *dialect)).collect();
        Story { stage: Stage::start(&agents), told: Cell::new(0) }
    }

    /// Calls, and demands that it is done.
    fn call(&self, method: &str, path: &str, agent: &str, body: &str) -> Value<'static> {
        let (status, answer) = self.stage.call(method, path, agent, body);
        assert!((200..300).contains(&status), "{method} {path} by {agent}: {status} {answer}");
        answer
    }

    /// Calls, and demands that it is refused with a code.
    fn refused(&self, method: &str, path: &str, agent: &str, body: &str, code: &str) {
        let (status, answer) = self.stage.call(method, path, agent, body);
        let found = [text(&answer, "/code"), text(&answer, "/error/code")];
        assert!(
            status >= 400 && found.iter().any(|found| found == code),
            "{method} {path}: {status} {answer}"
        );
    }

    /// Returns an id of its own for a coord message.
    fn id(&self) -> String {
        self.told.set(self.told.get() + 1);
        format!("7b0e4c52-1d3a-4f6b-9c8e-{:012}", self.told.get())
    }

    fn task(&self, id: &str) -> Value<'static> {
        self.call("GET", &format!("/v1/tasks/{id}"), "", "")
    }

    /// Returns what happened to a task, in words.
    fn steps(&self, id: &str) -> Vec<String> {
        let task = self.task(id);
        let history = task.get("history").and_then(Value::as_array).unwrap_or_default();
        history
            .iter()
            .map(|step| format!("{} {}", text(step, "/event_type"), text(step, "/agent_id")))
            .collect()
    }
}

const NOW: &str = "2026-11-15T10:00:00Z";

#[test]
fn a_brief_is_claimed_handed_over_reviewed_and_completed_in_five_dialects() {
    let story = Story::begin(&[
        ("mindy", Name::Wire),
        ("otto", Name::Bus),
        ("cora", Name::Coord),
        ("rex", Name::Channel),
        ("dida", Name::Comms),
    ]);
    let policy = r#"{"version":"1","budget_limits":{"per_task":5,"per_agent":8,"total":20}}"#;
    story.call("PUT", "/v1/policy", "", policy);
    story.call("PUT", "/v1/agents/otto/subscriptions/roles.developer", "otto", "");
    // A wire brief waits in the queue of the developers, with money set aside for it.
    let brief = format!(
        r#"{{"wire":"1.0","type":"brief","sender":"mindy","ts":"{NOW}","payload":{{"goal":"The parser is built.","context":"It reads wires.","constraints":["budget_usd: 2.5"],"acceptance_criteria":["Tests pass"],"output_contract":{{"type":"pr","schema_ref":null,"output_ref_required":false,"min_length":0,"evaluate":null}},"escalation_triggers":[],"env":{{"client_id":"bezeliq","task_id":"0.0.7","project_id":"0.0.1","repo_url":null,"worktree_path":null}}}}}}"#
    );
    let sent = story.call("POST", "/wire?role=developer", "mindy", &brief);
    let request = text(&sent, "/id");
    assert_eq!(text(&story.task("0.0.7"), "/reserved_usd"), "2.50");
    // An agent of the bus claims it; who comes later has missed it.
    let claimed = story.call("POST", "/v1/tasks/claim", "otto", r#"{"role":"developer","lease":"1h"}"#);
    assert_eq!(
        (text(&claimed, "/outcome"), text(&claimed, "/task/holder")),
        ("claimed".into(), "otto".into())
    );
    story.call("PUT", "/v1/agents/rex/subscriptions/roles.developer", "rex", "");
    let missed = story.call("POST", "/v1/tasks/claim", "rex", r#"{"task":"0.0.7"}"#);
    assert_eq!((text(&missed, "/outcome"), text(&missed, "/holder")), ("missed".into(), "otto".into()));
    hand_over(&story, "otto", "cora");
    // Whoever gave it away cannot end it any more.
    let done = format!(
        r#"{{"wire":"1.0","type":"complete","sender":"otto","ts":"{NOW}","payload":{{"task_id":"0.0.7","agent":"otto","output_ref":null,"summary":"Mine.","cost_usd":9,"duration_seconds":1,"verification":{{"mechanical":"pass","semantic":"skipped","attempts":1}}}}}}"#
    );
    story.refused("POST", "/wire", "otto", &done, "not_holder");
    // It is reviewed in a channel.
    let vote = format!(
        r#"{{"id":"msg-20261115-100000-rex-4c78","timestamp":"2026-11-15T10:00:00.000Z","session_id":"team","from":"rex","to":"cora","type":"review_vote","content":{{"text":"approve: reads well"}},"metadata":{{"mode":"chat","in_reply_to":"{request}"}}}}"#
    );
    story.call("POST", "/v1/messages?dialect=channel", "rex", &vote);
    assert_eq!(text(&story.task("0.0.7"), "/reviewed"), "true");
    // It goes on to an agent that keeps records, and ends as a response of its.
    hand_over(&story, "cora", "dida");
    let said = format!(
        r#"{{"convoke":1,"native_id":"done-1","kind":"task.done","from":"dida","to":["mindy"],"task":"0.0.7","created":"{NOW}","status":"done","text":"The parser is in.","metrics":{{"duration_ms":1200,"tokens":300}}}}"#
    );
    let said = message::from_value(crate::crossing::messages::parse(&said)).unwrap().message;
    let response = crate::crossing::messages::written(&said, Name::Comms, &story.stage.names).unwrap();
    assert!(response.contains("agent.comms.response"), "{response}");
    let body = format!(r#"{{"repo":"dida","collection":"agent.comms.response","record":{response}}}"#);
    story.call("POST", "/xrpc/com.atproto.repo.createRecord", "dida", &body);

    assert_eq!(
        story.steps("0.0.7"),
        [
            "requested mindy",
            "claimed otto",
            "handoff_offered otto",
            "handed_over cora",
            "voted rex",
            "reviewed rex",
            "handoff_offered cora",
            "handed_over dida",
            "done dida",
        ]
    );
    everybody_sees_it_done(&story, &request);
}

/// Looks at the work from the doors of those who took part.
fn everybody_sees_it_done(story: &Story, request: &str) {
    let task = story.task("0.0.7");
    assert_eq!(text(&task, "/status"), "done");
    assert_eq!((text(&task, "/reserved_usd"), text(&task, "/tokens")), ("0.00".into(), "300".into()));
    let (policy, wire) =
        (story.call("GET", "/v1/policy", "", ""), story.call("GET", "/wire/tasks/0.0.7", "mindy", ""));
    assert_eq!(text(&policy, "/reserved_usd"), "0.00", "{policy}");
    assert_eq!((text(&wire, "/task_id"), text(&wire, "/holder")), ("0.0.7".into(), "dida".into()), "{wire}");
    assert_eq!(text(&wire, "/brief/payload/goal"), "The parser is built.", "{wire}");
    let state = story.call("GET", "/coord/state", "cora", "");
    assert_eq!(text(&state, "/task_registry/0.0.7/status"), "completed", "{state}");
    // The receipt of the brief says who took it, and the last word is in the requester's inbox as a wire.
    let receipt = story.stage.receipt(request);
    assert_eq!(text(&receipt, "/recipients/0/agent"), "otto", "{receipt}");
    let inbox = story.call("GET", "/wire/inbox/mindy", "mindy", "");
    let wires = inbox.get("messages").and_then(Value::as_array).unwrap_or_default();
    let bodies: String = wires.iter().map(Value::to_json).collect();
    assert!(bodies.contains("The parser is in."), "{inbox}");
}

/// Hands the task over in the words of the coordination protocols.
fn hand_over(story: &Story, from: &str, to: &str) {
    let (offer, answer) = (story.id(), story.id());
    let request = format!(
        r#"{{"id":"{offer}","timestamp":"{NOW}","from":"{from}","to":"{to}","type":"TASK_HANDOFF","payload":{{"task_id":"0.0.7","from_agent":"{from}","to_agent":"{to}","reason":"CAPABILITY_LIMIT","context":{{"task_id":"0.0.7","task_type":"build","priority":"normal","metadata":{{}},"dependencies":[],"history":[]}},"constraints":{{"required_capabilities":[]}},"deadline":"2099-01-01T00:00:00Z"}},"metadata":{{"priority":"high","retry_count":0,"max_retries":3}}}}"#
    );
    story.call("POST", "/coord/messages", from, &request);
    let response = format!(
        r#"{{"id":"{answer}","timestamp":"{NOW}","from":"{to}","to":"{from}","type":"TASK_HANDOFF","payload":{{"accepted":true,"agent_id":"{to}","estimated_completion":"2099-01-01T00:00:00Z","requirements":[],"constraints":{{"required_capabilities":[]}}}},"metadata":{{"correlation_id":"{offer}","priority":"high","retry_count":0,"max_retries":3}}}}"#
    );
    story.call("POST", "/coord/messages", to, &response);
    assert_eq!(text(&story.task("0.0.7"), "/holder"), to);
}

#[test]
fn work_that_costs_too_much_waits_for_a_human_and_help_reaches_one() {
    let story = Story::begin(&[("ann", Name::Convoke), ("bob", Name::Bus)]);
    let policy = r#"{"version":"1","risk_thresholds":{"low":0.25,"high":0.6},"budget_limits":{"per_task":1,"per_agent":1,"total":1},"x_convoke":{"over_budget":"gate"}}"#;
    story.call("PUT", "/v1/policy", "", policy);
    let ask = |task: &str, line: &str| {
        format!(
            r#"{{"convoke":1,"native_id":"{task}","kind":"task.request","from":"ann","to":["bob"],"task":"{task}","text":"Please","brief":{{"constraints":["{line}"]}}}}"#
        )
    };
    story.call("POST", "/v1/messages", "ann", &ask("cheap", "budget_usd: 0.5"));
    story.call("POST", "/v1/messages", "ann", &ask("dear", "budget_usd: 0.75"));
    assert_eq!(text(&story.task("dear"), "/status"), "pending");
    let gates = story.call("GET", "/v1/gates", "", "");
    let gate = text(&gates, "/gates/0/id");
    assert!(text(&gates, "/gates/0/why").contains("1.25 USD"), "{gates}");
    story.refused("POST", &format!("/v1/gates/{gate}/approve"), "ann", "{}", "not_yours");
    // Nothing of it is handed out before.
    let take = r#"{"max":10,"dialect":"convoke"}"#;
    let taken = story.call("POST", "/v1/agents/bob/inbox/take", "bob", take);
    assert_eq!(text(&taken, "/deliveries/0/document/task"), "cheap", "{taken}");
    assert_eq!(text(&taken, "/deliveries/1"), "", "{taken}");
    story.call("POST", &format!("/v1/gates/{gate}/approve"), "", r#"{"reason":"once"}"#);
    let taken = story.call("POST", "/v1/agents/bob/inbox/take", "bob", take);
    assert_eq!(text(&taken, "/deliveries/0/document/task"), "dear", "{taken}");
    // What the answer was, whoever asked is told.
    let inbox = story.call("GET", "/v1/agents/ann/inbox?dialect=convoke", "ann", "");
    assert!(inbox.to_json().contains("the answer is yes: once"), "{inbox}");
    // A policy that would have said otherwise, tried on what was decided.
    let tried = story.call(
        "PUT",
        "/v1/policy?dry_run=true",
        "",
        r#"{"version":"2","budget_limits":{"per_task":0.6}}"#,
    );
    assert!(!text(&tried, "/changed/0/task").is_empty(), "{tried}");
}

#[test]
fn help_finds_whoever_can_and_a_human_when_nobody_does() {
    let story = Story::begin(&[("ann", Name::Coord), ("bob", Name::Bus), ("cid", Name::Convoke)]);
    story.call("PUT", "/v1/agents/bob", "", r#"{"capabilities":["Code review","rust"]}"#);
    let ask = |id: &str, to: &str| {
        format!(
            r#"{{"convoke":1,"native_id":"{id}","kind":"help.ask","from":"cid","to":["{to}"],"text":"Which limit has no test?","severity":"critical"}}"#
        )
    };
    story.call("POST", "/v1/messages", "cid", &ask("call-1", "roles.can.code-review"));
    let taken = story.call("POST", "/v1/agents/bob/inbox/take", "bob", r#"{"max":10,"dialect":"convoke"}"#);
    assert_eq!(text(&taken, "/deliveries/0/document/native_id"), "call-1", "{taken}");
    // Who cannot do it any more is not asked any more.
    story.call("PUT", "/v1/agents/bob", "", r#"{"capabilities":["rust"]}"#);
    let sent = story.call("POST", "/v1/messages", "cid", &ask("call-2", "roles.can.code-review"));
    assert!(sent.to_json().contains("no_recipient"), "{sent}");
    // Who is asked and cannot help says so, and the human hears of it.
    let reply = format!(
        r#"{{"convoke":1,"native_id":"no-1","kind":"help.reply","from":"bob","to":["cid"],"reply_to":"{}","brief":{{"task_type":"UNABLE_TO_HELP"}},"text":"Not mine."}}"#,
        text(&taken, "/deliveries/0/id")
    );
    story.call("POST", "/v1/messages", "bob", &reply);
    let inbox = story.call("GET", "/v1/agents/human/inbox?dialect=convoke", "", "");
    assert!(inbox.to_json().contains("bob answered UNABLE_TO_HELP"), "{inbox}");
}
