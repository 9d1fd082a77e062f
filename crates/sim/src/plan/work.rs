//! Plans of work: who asks for what, who says how it goes, and what the operator thinks of it.

use broker::{Blocker, HelpAnswer, Operation, Unjudged};
use message::{Kind, PresenceState, Severity, TaskStatus};

use super::Planner;
use crate::rules::{BreakerRule, Rules};
use crate::said::Said;
use crate::step::{Ask, Being, ChangePlan, Letter, SignPlan, To, Wanted};
use crate::world::{CAPABILITIES, Focus, ROLES, TASKS};

/// Kinds that are about work, the usual ones more than once.
const KINDS: [Kind; 22] = [
    Kind::TaskRequest,
    Kind::TaskRequest,
    Kind::TaskRequest,
    Kind::TaskRequest,
    Kind::TaskRequest,
    Kind::TaskClaim,
    Kind::TaskClaim,
    Kind::TaskClaim,
    Kind::TaskProgress,
    Kind::TaskProgress,
    Kind::TaskDone,
    Kind::TaskDone,
    Kind::TaskFailed,
    Kind::TaskRejected,
    Kind::TaskBlocked,
    Kind::HandoffOffer,
    Kind::HandoffReply,
    Kind::HelpAsk,
    Kind::HelpReply,
    Kind::ReviewVerdict,
    Kind::Gate,
    Kind::ErrorReport,
];

/// The role that is asked for work with a price.
pub(super) const PRICED_ROLE: u8 = 0;

/// Money of this world, in millionths of a dollar.
const AMOUNTS: [u64; 6] = [0, 100_000, 1_000_000, 1_500_000, 2_000_000, 5_000_000];

impl Planner {
    /// Chooses what a message is about.
    pub(super) fn kind(&mut self) -> Kind {
        if self.focus == Focus::Budgets && self.dice.percent(50) {
            return self.dice.pick(&[Kind::TaskRequest, Kind::TaskClaim]);
        }
        if self.dice.percent(self.mood.work) { self.dice.pick(&KINDS) } else { Kind::Note }
    }

    /// Chooses with what a delivery is answered.
    pub(super) fn answer_kind(&mut self) -> Kind {
        let is_work = self.dice.percent(self.mood.work);
        match is_work {
            true => self.dice.pick(&KINDS),
            false => {
                self.dice.pick(&[Kind::TaskDone, Kind::TaskFailed, Kind::HelpReply, Kind::Note, Kind::Gate])
            }
        }
    }

    /// Adds to a message what it carries beside itself: a membership, a sign, a change of the shared state.
    fn carry(&mut self, letter: &mut Letter) {
        let (claims, others) = (letter.kind == Kind::TaskClaim, self.dice.percent(3));
        letter.joins = (others || (claims && self.dice.percent(40))).then(|| self.group());
        if letter.kind == Kind::Note && self.dice.percent(10) {
            (letter.kind, letter.sign) = (Kind::AgentStatus, Some(self.sign()));
        } else if letter.kind == Kind::Note && self.dice.percent(self.mood.work / 4) {
            letter.kind = Kind::StateSync;
            letter.update = Some(Box::new(ChangePlan { by: letter.from, ..self.change() }));
        }
    }

    /// Adds to a message what it says about work.
    pub(super) fn say(&mut self, letter: &mut Letter) {
        self.carry(letter);
        letter.said = self.said(letter.kind);
        let dice = &mut self.dice;
        letter.deadline_ms = dice.percent(15).then(|| dice.pick(&[0, 2_000, 10_000, 60_000]));
        if letter.kind == Kind::TaskBlocked && dice.percent(60) {
            let agent = dice.below(self.agents) as u8;
            letter.routes = vec![if dice.percent(50) {
                To::Agent(agent)
            } else {
                To::Group(dice.below(self.groups) as u8)
            }];
        }
        // Work for whoever comes first.
        if letter.kind == Kind::TaskRequest && dice.percent(45) {
            letter.to = vec![To::Group(dice.below(ROLES) as u8)];
            letter.fallback.clear();
        }
        let is_priced = self.focus == Focus::Budgets && self.dice.percent(70);
        if letter.kind == Kind::TaskRequest && is_priced {
            // Nothing but its price keeps an agent from claiming it, and two of them are too much for one agent.
            let budget = Some(self.dice.pick(&[100_000, 1_000_000, 1_000_000]));
            letter.said = Some(Box::new(Said { budget, ..Said::default() }));
            letter.to = vec![To::Group(PRICED_ROLE)];
            letter.fallback.clear();
        }
        // Most who ask for work, or speak of it, say of which.
        if letter.kind != Kind::Note && self.dice.percent(70) {
            letter.task = Some(self.dice.index(TASKS.len()) as u8);
        }
        let speaks = !matches!(letter.kind, Kind::Note | Kind::TaskRequest | Kind::HelpAsk);
        letter.apt = (speaks && self.dice.percent(70)).then(|| self.dice.draw() as u32);
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other kinds say nothing of their own")]
    pub(super) fn said(&mut self, kind: Kind) -> Option<Box<Said>> {
        let dice = &mut self.dice;
        if dice.percent(25) {
            return None;
        }
        let mut said = Said::default();
        match kind {
            Kind::TaskRequest => {
                if dice.percent(30) {
                    let count = dice.range(1, 2);
                    said.dependencies = (0..count).map(|_| dice.pick(&TASKS)).collect();
                }
                said.capabilities = wish(dice, 15);
                said.budget = dice.percent(45).then(|| dice.pick(&AMOUNTS));
                said.tokens_max = dice.percent(20).then(|| dice.pick(&[10, 50]));
                said.quality = dice.percent(10).then(|| dice.pick(&[300_000, 800_000]));
                said.risk = dice.percent(20).then(|| dice.pick(&[100_000, 500_000, 700_000, 900_000]));
            }
            Kind::TaskProgress => {
                said.status = dice.percent(60).then(|| dice.pick(TaskStatus::ALL));
                said.blocker = dice.percent(30).then(|| dice.pick(Blocker::ALL));
            }
            Kind::TaskBlocked => {
                said.blocker = dice.percent(80).then(|| dice.pick(Blocker::ALL));
                if dice.percent(50) {
                    (said.blocker, said.dependencies) = (Some(Blocker::Dependency), vec![dice.pick(&TASKS)]);
                }
            }
            Kind::HandoffOffer => said.capabilities = wish(dice, 15),
            Kind::HelpAsk => said.urgency = Some(dice.pick(Severity::ALL)),
            Kind::HelpReply => said.answer = Some(dice.pick(HelpAnswer::ALL)),
            _ => {}
        }
        let dice = &mut self.dice;
        let has_verdict = matches!(kind, Kind::HandoffReply | Kind::ReviewVerdict | Kind::Gate);
        said.accepts = (has_verdict && dice.percent(70)).then(|| dice.percent(60));
        said.lease_ms = dice.percent(40).then(|| dice.pick(&[500, 2_000, 8_000, 30_000, 90_000]));
        said.cost = dice.percent(40).then(|| dice.pick(&AMOUNTS));
        said.tokens = dice.percent(20).then(|| dice.pick(&[5, 40]));
        Some(Box::new(said))
    }

    /// What is asked about work beside messages.
    pub(super) fn manage(&mut self) -> Ask {
        let agent = self.agent();
        match self.dice.weighted(&[45, 30, 10, 8, 15, 45]) {
            0 => Ask::Change(Box::new(self.change())),
            1 => Ask::Judge {
                nth: self.dice.draw() as u32,
                approved: self.dice.percent(60),
                honest: self.dice.percent(85),
            },
            2 => Ask::Equip { agent, capabilities: wish(&mut self.dice, 60) },
            3 => Ask::Sign { agent, sign: self.sign() },
            4 => Ask::Be { agent, what: Being::Presence { state: self.presence() } },
            _ => self.claim(agent),
        }
    }

    /// A wish to have the next task, or one that is named.
    fn claim(&mut self, agent: u8) -> Ask {
        Ask::Claim {
            agent,
            task: self.dice.percent(25).then(|| self.dice.below(TASKS.len() as u64) as u8),
            group: self.dice.percent(30).then(|| self.group()),
            lease_ms: self.dice.percent(40).then(|| self.dice.pick(&[500, 2_000, 8_000, 30_000])),
            key: self.dice.draw() as u8,
        }
    }

    /// What an agent says of itself, more or less.
    fn sign(&mut self) -> SignPlan {
        SignPlan {
            state: self.presence(),
            quality: self.dice.pick(&[None, Some(200_000), Some(900_000)]),
            from_ms: self.dice.pick(&[None, None, Some(0), Some(5_000), Some(60_000)]),
        }
    }

    pub(super) fn presence(&mut self) -> PresenceState {
        if self.dice.percent(50) { PresenceState::Idle } else { self.dice.pick(PresenceState::ALL) }
    }

    /// Makes a change of the shared state, mostly by who may make it.
    fn change(&mut self) -> ChangePlan {
        let by = if self.dice.percent(55) { self.human() } else { self.agent() };
        let version = self.dice.percent(70).then(|| self.dice.pick(&[1, 1, 1, 1, 0, -1, 2]));
        let which = self.dice.draw() as u32;
        let (what, operation) = match self.dice.weighted(&[35, 25, 15, 25]) {
            0 => self.change_task(),
            1 => (Wanted::Rules(self.rules()), self.dice.pick(&[Operation::Update, Operation::Create])),
            2 => {
                let state = self.presence();
                (Wanted::Presence(state), Operation::Update)
            }
            _ => {
                let (is_money, agent) = (self.dice.percent(50), self.agent());
                let limit = if is_money { self.dice.pick(&AMOUNTS) } else { self.dice.pick(&[0, 20, 100]) };
                let operations = [Operation::Create, Operation::Create, Operation::Update, Operation::Delete];
                (Wanted::Allotment { agent, is_money, limit }, self.dice.pick(&operations))
            }
        };
        let operation = if self.dice.percent(4) { Operation::Delete } else { operation };
        ChangePlan { by, which, operation, what, version }
    }

    fn change_task(&mut self) -> (Wanted, Operation) {
        const WORDS: [&str; 5] = ["pending", "in_progress", "completed", "failed", "cancelled"];
        match self.dice.weighted(&[30, 15, 30, 20, 10]) {
            0 => (Wanted::Status(self.dice.pick(&WORDS)), Operation::Update),
            1 => (Wanted::Note, Operation::Update),
            2 => {
                let assigned = self.dice.percent(60).then(|| self.agent());
                let dependencies =
                    if self.dice.percent(25) { vec![self.dice.pick(&TASKS)] } else { Vec::new() };
                let budget = self.dice.percent(40).then(|| self.dice.pick(&AMOUNTS));
                (Wanted::Task { dependencies, budget, assigned }, Operation::Create)
            }
            3 => (Wanted::Assign(self.agent()), Operation::Update),
            _ => (Wanted::Note, Operation::Delete),
        }
    }

    /// Makes a policy into which work runs soon.
    pub(super) fn rules(&mut self) -> Rules {
        let is_per_agent = self.focus == Focus::Budgets && self.dice.percent(70);
        let dice = &mut self.dice;
        let rules = Rules {
            per_task: dice.percent(30).then(|| dice.pick(&[1_000_000, 2_000_000])),
            per_agent: dice.percent(60).then(|| dice.pick(&[300_000, 1_200_000, 4_000_000])),
            total: dice.percent(25).then(|| dice.pick(&[4_000_000, 12_000_000])),
            breaker: dice.percent(70).then(|| BreakerRule {
                errors: dice.pick(&[1, 2, 3]),
                timeout_ms: dice.pick(&[5_000, 30_000]),
                reset_ms: dice.pick(&[2_000, 10_000]),
            }),
            over_gates: dice.percent(40),
            risk_high: 600_000,
            gate_ms: dice.pick(&[3_000, 20_000, 100_000]),
            unjudged: dice.pick(Unjudged::ALL),
            quorum: dice.pick(&[1, 2]),
            claim_ms: dice.pick(&[2_000, 10_000, 60_000]),
            escalates: dice.percent(30),
            lapses_max: dice.pick(&[1, 2, 3]),
            offer_ms: dice.pick(&[2_000, 15_000]),
            help_ms: dice.pick(&[2_000, 15_000]),
            park_after: dice.pick(&[None, None, Some(4)]),
        };
        if !is_per_agent {
            return rules;
        }
        Rules { per_task: None, total: None, per_agent: Some(1_200_000), ..rules }
    }

    pub(super) fn role(&mut self) -> u8 {
        self.dice.below(ROLES) as u8
    }

    pub(super) fn human(&self) -> u8 {
        self.agents as u8
    }

    /// Somebody who speaks: an agent, and now and then the human.
    pub(super) fn speaker(&mut self) -> u8 {
        if self.dice.percent(8) { self.human() } else { self.agent() }
    }
}

pub(super) fn wish(dice: &mut crate::random::Dice, percent: u64) -> Vec<&'static str> {
    CAPABILITIES.into_iter().filter(|_| dice.percent(percent)).collect()
}
