//! Policy: what work may cost, how much risk is too much, when an agent is left alone, and the operator's own rules.
//!
//! A policy is a JSON document: the `PolicyState` of the coordination protocols, and beside it, under `x_convoke`, the
//! rules that it has no words for. What it does not say is not limited.

use json::{Finding, Number, Object, Source, Value};
use message::{Address, Severity};

use super::money::Micros;
use super::word::{Blocker, words};

/// The place of our own rules in a policy document.
const OURS: &str = "x_convoke";
/// Texts of a policy at most.
const LIST_MAX: usize = 100;

const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;

words! {
    /// What happens to work that would cost too much.
    Over {
        /// It is refused, with the figure.
        Refuse = "refuse",
        /// A human is asked.
        Gate = "gate",
    }
}

words! {
    /// What happens to a gate that nobody opens or shuts in time.
    Unjudged {
        /// It counts as a no.
        Reject = "reject",
        /// It counts as a yes.
        Approve = "approve",
        /// It waits on, and the human is asked again.
        Wait = "wait",
    }
}

words! {
    /// What happens to a task whose holder was silent for too long.
    Lapse {
        /// Others may claim it.
        Requeue = "requeue",
        /// It stays blocked, and a human is asked.
        Escalate = "escalate",
    }
}

/// The rules in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// What its author calls it.
    pub version: Box<str>,
    /// Chains that may be used, from the least to the most careful. Empty: all.
    pub chains: Vec<Box<str>>,
    /// Below it nobody need look, in millionths.
    pub risk_low: u32,
    /// Above it a human is asked, in millionths.
    pub risk_high: u32,
    /// Whether a human is asked at the upper threshold itself too.
    pub gate_at_high: bool,
    /// What one task may cost.
    pub per_task: Option<Micros>,
    /// What all work of one agent may cost.
    pub per_agent: Option<Micros>,
    /// What everything may cost.
    pub total: Option<Micros>,
    /// When an agent is left alone.
    pub breaker: Option<BreakerRule>,
    /// What happens to work that would cost too much.
    pub over_budget: Over,
    /// How long a gate waits for a human, in milliseconds.
    pub gate_ms: u64,
    /// What happens then.
    pub gate_unjudged: Unjudged,
    /// How many must approve of work before it counts as reviewed.
    pub quorum: u32,
    /// How long a claim lasts that does not say, in milliseconds.
    pub claim_ms: u64,
    /// What happens to a task whose claim has lapsed.
    pub lapse: Lapse,
    /// How often a task may lapse before a human is asked whatever the rule.
    pub lapses_max: u32,
    /// How long an offer of a task waits for an answer that does not say, in milliseconds.
    pub offer_ms: u64,
    /// How long a call for help waits before it goes further, by urgency, in milliseconds.
    pub help_ms: [u64; 4],
    /// To whom blocked tasks go, by blocker: the first that is there.
    pub routes: Vec<(Blocker, Vec<Address>)>,
    /// After how many turns without a human or another task a conversation is parked.
    pub park_after: Option<u32>,
}

/// When an agent is left alone, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerRule {
    /// Consecutive errors.
    pub errors: u32,
    /// How long work may take before it counts as an error, in milliseconds.
    pub timeout_ms: u64,
    /// How long it is left alone, in milliseconds.
    pub reset_ms: u64,
}

/// What is asked of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// What the work may cost.
    pub amount: Option<Micros>,
    /// How risky it is, in millionths.
    pub risk: Option<u32>,
    /// What the work of the same agent has cost and may yet cost.
    pub of_agent: Micros,
    /// What everything has cost and may yet cost.
    pub of_all: Micros,
}

/// What a policy says of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may go, along this chain.
    Go { chain: Option<Box<str>> },
    /// A human is asked, for this reason.
    Gate { chain: Option<Box<str>>, why: String },
    /// It may not go.
    Refuse { why: String },
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            version: "".into(),
            chains: Vec::new(),
            risk_low: 250_000,
            risk_high: 600_000,
            gate_at_high: false,
            per_task: None,
            per_agent: None,
            total: None,
            breaker: None,
            over_budget: Over::Refuse,
            gate_ms: 24 * HOUR_MS,
            gate_unjudged: Unjudged::Reject,
            quorum: 1,
            claim_ms: 30 * MINUTE_MS,
            lapse: Lapse::Requeue,
            lapses_max: 3,
            offer_ms: 5 * MINUTE_MS,
            help_ms: [24 * HOUR_MS, HOUR_MS, 10 * MINUTE_MS, 2 * MINUTE_MS],
            routes: Blocker::ALL.iter().map(|blocker| (*blocker, usual_routes(*blocker))).collect(),
            park_after: None,
        }
    }
}

/// Returns to whom a blocked task goes if the operator says nothing else.
fn usual_routes(blocker: Blocker) -> Vec<Address> {
    let names: &[&str] = match blocker {
        Blocker::SpecGap => &["priya", "roles.ba"],
        Blocker::Dependency => &["engine", "roles.engine"],
        Blocker::ToolFailure => &["atlas", "roles.infra"],
        Blocker::Ambiguity | Blocker::VerificationFail | Blocker::Resource => &["mindy", "roles.supervisor"],
    };
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

impl Policy {
    /// Returns how much a piece of work sets aside: what it says, else what one task may cost.
    pub fn amount(&self, budget: Option<Micros>) -> Option<Micros> {
        budget.or(self.per_task)
    }

    /// Says what becomes of a piece of work.
    pub fn judge(&self, ask: &Ask) -> Verdict {
        let chain = match self.chain(ask.risk) {
            Ok(chain) => chain,
            Err(why) => return Verdict::Refuse { why },
        };
        let chain = chain.map(Box::from);
        if let Some(why) = self.over(ask) {
            return match self.over_budget {
                Over::Refuse => Verdict::Refuse { why },
                Over::Gate => Verdict::Gate { chain, why },
            };
        }
        match ask.risk {
            Some(risk) if risk > self.risk_high || (self.gate_at_high && risk == self.risk_high) => {
                let (risk, high) = (millionths(risk), millionths(self.risk_high));
                Verdict::Gate { chain, why: format!("its risk is {risk}, a human is asked above {high}") }
            }
            Some(_) | None => Verdict::Go { chain },
        }
    }

    /// Picks the chain for a risk: the one that it asks for, else the next more careful one that may be used.
    fn chain(&self, risk: Option<u32>) -> Result<Option<&str>, String> {
        let Some(risk) = risk else { return Ok(None) };
        let wanted = match risk {
            risk if risk < self.risk_low => 0,
            risk if risk <= self.risk_high => 1,
            _ => 2,
        };
        const CHAINS: [&str; 3] = ["A", "B", "C"];
        let may_be_used =
            |chain: &&&str| self.chains.is_empty() || self.chains.iter().any(|one| **one == ***chain);
        match CHAINS.iter().skip(wanted).find(may_be_used) {
            Some(chain) => Ok(Some(chain)),
            None => Err(format!(
                "its risk of {} needs chain {} or a more careful one, and the policy enables none",
                millionths(risk),
                CHAINS[wanted]
            )),
        }
    }

    /// Tells which limit a piece of work would break, and by which figure.
    fn over(&self, ask: &Ask) -> Option<String> {
        let amount = self.amount(ask.amount).unwrap_or_default();
        let limits = [
            ("this task", Micros(0), self.per_task),
            ("the work of this agent", ask.of_agent, self.per_agent),
            ("all work", ask.of_all, self.total),
        ];
        limits.into_iter().find_map(|(what, so_far, limit)| {
            let limit = limit?;
            let sum = so_far.plus(amount);
            (sum > limit).then(|| {
                format!(
                    "{what} would come to {sum} USD ({so_far} so far and {amount}), the limit is {limit} USD"
                )
            })
        })
    }

    /// Returns to whom a blocked task goes.
    pub(crate) fn routes(&self, blocker: Option<Blocker>) -> &[Address] {
        let blocker = blocker.unwrap_or(Blocker::Ambiguity);
        self.routes.iter().find(|(of, _)| *of == blocker).map(|(_, to)| to.as_slice()).unwrap_or_default()
    }

    /// Returns how long help of an urgency may take before it goes further.
    pub(crate) fn help_ms(&self, urgency: Severity) -> u64 {
        self.help_ms.get(urgency as usize).copied().unwrap_or(HOUR_MS)
    }

    /// Reads a policy document.
    pub fn read(document: &Value<'_>) -> Result<Policy, Vec<Finding>> {
        let mut reading = Reading { findings: Vec::new() };
        let policy = reading.policy(document);
        if reading.findings.is_empty() { Ok(policy) } else { Err(reading.findings) }
    }
}

/// Writes millionths as people do.
pub(crate) fn millionths(value: u32) -> String {
    let text = format!("{}.{:06}", value / 1_000_000, value % 1_000_000);
    let kept = text.trim_end_matches('0');
    format!("{}{}", kept, if kept.ends_with('.') { "0" } else { "" })
}

/// Reads a share from 0 to 1 into millionths.
pub fn share(number: &Number<'_>) -> Option<u32> {
    let micros = Micros::parse(number.lexeme())?;
    u32::try_from(micros.0).ok().filter(|share| *share <= 1_000_000)
}

struct Reading {
    findings: Vec<Finding>,
}

impl Reading {
    fn policy(&mut self, document: &Value<'_>) -> Policy {
        let mut policy = Policy::default();
        let Some(object) = self.object("", document) else { return policy };
        if let Some(version) = object.get("version") {
            policy.version = self.text("/version", version).unwrap_or_default().into();
        }
        if let Some(chains) = object.get("enabled_chains") {
            policy.chains = self.texts("/enabled_chains", chains).into_iter().map(Box::from).collect();
        }
        if let Some(risk) =
            object.get("risk_thresholds").and_then(|risk| self.object("/risk_thresholds", risk))
        {
            policy.risk_low = self.share(risk, "/risk_thresholds", "low").unwrap_or(policy.risk_low);
            policy.risk_high = self.share(risk, "/risk_thresholds", "high").unwrap_or(policy.risk_high);
            if policy.risk_low > policy.risk_high {
                self.find("/risk_thresholds", "range", "the lower threshold lies above the upper one");
            }
        }
        if let Some(limits) =
            object.get("budget_limits").and_then(|found| self.object("/budget_limits", found))
        {
            policy.per_task = self.money(limits, "/budget_limits", "per_task");
            policy.per_agent = self.money(limits, "/budget_limits", "per_agent");
            policy.total = self.money(limits, "/budget_limits", "total");
        }
        let breaker = object.get("circuit_breaker_config");
        if let Some(rule) = breaker.and_then(|found| self.object("/circuit_breaker_config", found)) {
            let mut part = |name: &str| self.integer(rule, "/circuit_breaker_config", name);
            let (errors, timeout, reset) =
                (part("error_threshold"), part("timeout_ms"), part("reset_timeout_ms"));
            if let (Some(errors), Some(timeout_ms), Some(reset_ms)) = (errors, timeout, reset) {
                let errors = u32::try_from(errors).unwrap_or(u32::MAX).max(1);
                policy.breaker = Some(BreakerRule { errors, timeout_ms, reset_ms });
            } else {
                let text = "a breaker has `error_threshold`, `timeout_ms` and `reset_timeout_ms`";
                self.find("/circuit_breaker_config", "required", text);
            }
        }
        if let Some(ours) = object.get(OURS).and_then(|ours| self.object("/x_convoke", ours)) {
            self.ours(&mut policy, ours);
        }
        policy
    }

    fn ours(&mut self, policy: &mut Policy, ours: &Object<'_>) {
        const KNOWN: &[&str] = &[
            "over_budget",
            "gate_at_high",
            "gate_ms",
            "gate_unjudged",
            "quorum",
            "claim_ms",
            "lapse",
            "lapses_max",
            "offer_ms",
            "help_ms",
            "routes",
            "park_after",
        ];
        for (name, _) in ours.iter() {
            if !KNOWN.contains(&name) {
                let text = format!("no rule has this name; there are {}", KNOWN.join(", "));
                self.find(&format!("/x_convoke/{name}"), "unknown_field", &text);
            }
        }
        let place = "/x_convoke";
        policy.over_budget = self.word(ours, "over_budget", Over::find, policy.over_budget);
        policy.gate_unjudged = self.word(ours, "gate_unjudged", Unjudged::find, policy.gate_unjudged);
        policy.lapse = self.word(ours, "lapse", Lapse::find, policy.lapse);
        if let Some(value) = ours.get("gate_at_high") {
            match value.as_bool() {
                Some(is_on) => policy.gate_at_high = is_on,
                None => self.find("/x_convoke/gate_at_high", "type", "it is true or false"),
            }
        }
        for (name, field) in [
            ("gate_ms", &mut policy.gate_ms),
            ("claim_ms", &mut policy.claim_ms),
            ("offer_ms", &mut policy.offer_ms),
        ] {
            *field = self.integer(ours, place, name).unwrap_or(*field).max(1_000);
        }
        for (name, field) in [("quorum", &mut policy.quorum), ("lapses_max", &mut policy.lapses_max)] {
            let value = self.integer(ours, place, name);
            *field = value.map_or(*field, |value| u32::try_from(value).unwrap_or(u32::MAX)).max(1);
        }
        let park_after = self.integer(ours, place, "park_after");
        policy.park_after = park_after.map(|turns| u32::try_from(turns).unwrap_or(u32::MAX));
        if let Some(help) = ours.get("help_ms").and_then(|help| self.object("/x_convoke/help_ms", help)) {
            for (urgency, ms) in Severity::ALL.iter().zip(policy.help_ms.iter_mut()) {
                *ms = self.integer(help, "/x_convoke/help_ms", urgency.name()).unwrap_or(*ms);
            }
        }
        if let Some(routes) = ours.get("routes").and_then(|routes| self.object("/x_convoke/routes", routes)) {
            self.routes(policy, routes);
        }
    }

    fn routes(&mut self, policy: &mut Policy, routes: &Object<'_>) {
        for (name, to) in routes.iter() {
            let path = format!("/x_convoke/routes/{name}");
            let Some(blocker) = Blocker::find(name) else {
                self.find(&path, "enum", "no blocker has this name");
                continue;
            };
            let mut addresses = Vec::new();
            for text in self.texts(&path, to) {
                match text.parse() {
                    Ok(address) => addresses.push(address),
                    Err(_) => self.find(&path, "format", &format!("`{text}` is no address")),
                }
            }
            if let Some((_, known)) = policy.routes.iter_mut().find(|(of, _)| *of == blocker) {
                *known = addresses;
            }
        }
    }

    fn find(&mut self, path: &str, code: &'static str, message: &str) {
        let message = message.to_owned();
        self.findings.push(Finding { path: path.to_owned(), code, source: Source::Rule, message });
    }

    fn object<'v, 't>(&mut self, path: &str, value: &'v Value<'t>) -> Option<&'v Object<'t>> {
        let object = value.as_object();
        if object.is_none() {
            self.find(path, "type", "it is an object");
        }
        object
    }

    fn text<'v>(&mut self, path: &str, value: &'v Value<'_>) -> Option<&'v str> {
        let text = value.as_str().filter(|text| text.len() <= 256);
        if text.is_none() {
            self.find(path, "type", "it is a text of at most 256 bytes");
        }
        text
    }

    fn texts<'v>(&mut self, path: &str, value: &'v Value<'_>) -> Vec<&'v str> {
        let items = value.as_array().filter(|items| items.len() <= LIST_MAX);
        if items.is_none() {
            self.find(path, "type", "it is a list of at most 100 texts");
        }
        items.unwrap_or_default().iter().filter_map(|item| self.text(path, item)).collect()
    }

    fn share(&mut self, object: &Object<'_>, place: &str, name: &str) -> Option<u32> {
        let value = object.get(name)?;
        let found = value.as_number().and_then(share);
        if found.is_none() {
            self.find(&format!("{place}/{name}"), "range", "it is a number from 0 to 1");
        }
        found
    }

    fn money(&mut self, object: &Object<'_>, place: &str, name: &str) -> Option<Micros> {
        let value = object.get(name)?;
        let found = value.as_number().and_then(|number| Micros::parse(number.lexeme()));
        if found.is_none() {
            self.find(&format!("{place}/{name}"), "range", "it is an amount of dollars, 0 or more");
        }
        found
    }

    fn integer(&mut self, object: &Object<'_>, place: &str, name: &str) -> Option<u64> {
        let value = object.get(name)?;
        let found = value.as_number().and_then(|number| number.lexeme().parse().ok());
        if found.is_none() {
            self.find(&format!("{place}/{name}"), "range", "it is a whole number, 0 or more");
        }
        found
    }

    fn word<T>(&mut self, object: &Object<'_>, name: &str, find: fn(&str) -> Option<T>, usual: T) -> T {
        let Some(value) = object.get(name) else { return usual };
        match value.as_str().and_then(find) {
            Some(word) => word,
            None => {
                self.find(&format!("/x_convoke/{name}"), "enum", "it is none of the words that stand here");
                usual
            }
        }
    }
}
