//! Rules: policies small enough that work runs into them, as the operator writes them down.

use broker::Unjudged;

/// A policy, money in millionths of a dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) per_task: Option<u64>,
    pub(crate) per_agent: Option<u64>,
    pub(crate) total: Option<u64>,
    pub(crate) breaker: Option<BreakerRule>,
    /// Whether a human is asked about work that would cost too much; else it is refused.
    pub(crate) over_gates: bool,
    /// Above it a human is asked, in millionths.
    pub(crate) risk_high: u32,
    pub(crate) gate_ms: u64,
    pub(crate) unjudged: Unjudged,
    pub(crate) quorum: u32,
    pub(crate) claim_ms: u64,
    /// Whether a human is asked as soon as a claim lapses.
    pub(crate) escalates: bool,
    pub(crate) lapses_max: u32,
    pub(crate) offer_ms: u64,
    /// How long help of any urgency may take.
    pub(crate) help_ms: u64,
    pub(crate) park_after: Option<u32>,
}

/// When an agent is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BreakerRule {
    pub(crate) errors: u32,
    pub(crate) timeout_ms: u64,
    pub(crate) reset_ms: u64,
}

impl Rules {
    /// What holds while the operator has said nothing.
    pub(crate) const USUAL: Rules = Rules {
        per_task: None,
        per_agent: None,
        total: None,
        breaker: None,
        over_gates: false,
        risk_high: 600_000,
        gate_ms: 24 * 3_600_000,
        unjudged: Unjudged::Reject,
        quorum: 1,
        claim_ms: 30 * 60_000,
        escalates: false,
        lapses_max: 3,
        offer_ms: 5 * 60_000,
        help_ms: 0,
        park_after: None,
    };

    /// Writes them as the document that sets all of them.
    pub(crate) fn to_json(self) -> String {
        let money = |name: &str, micros: Option<u64>| {
            micros.map(|micros| format!("\"{name}\":{}.{:06}", micros / 1_000_000, micros % 1_000_000))
        };
        let limits = [
            money("per_task", self.per_task),
            money("per_agent", self.per_agent),
            money("total", self.total),
        ];
        let limits: Vec<String> = limits.into_iter().flatten().collect();
        let breaker = self.breaker.map_or("null".to_owned(), |rule| {
            format!(
                r#"{{"error_threshold":{},"timeout_ms":{},"reset_timeout_ms":{}}}"#,
                rule.errors, rule.timeout_ms, rule.reset_ms
            )
        });
        let park = self.park_after.map(|turns| format!(",\"park_after\":{turns}")).unwrap_or_default();
        let help = ["low", "medium", "high", "critical"].map(|word| format!("\"{word}\":{}", self.help_ms));
        format!(
            r#"{{"budget_limits":{{{}}},"circuit_breaker_config":{breaker},"risk_thresholds":{{"low":0.25,"high":0.{:06}}},"x_convoke":{{"over_budget":"{}","gate_ms":{},"gate_unjudged":"{}","quorum":{},"claim_ms":{},"lapse":"{}","lapses_max":{},"offer_ms":{},"help_ms":{{{}}}{park}}}}}"#,
            limits.join(","),
            self.risk_high,
            if self.over_gates { "gate" } else { "refuse" },
            self.gate_ms,
            self.unjudged.name(),
            self.quorum,
            self.claim_ms,
            if self.escalates { "escalate" } else { "requeue" },
            self.lapses_max,
            self.offer_ms,
            help.join(","),
        )
    }
}
