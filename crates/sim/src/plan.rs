//! Plans: everything that will happen, decided by the seed before anything does.

mod work;

use message::{Backoff, Guarantee, Priority};

use crate::random::Dice;
use crate::step::{Ask, Being, Change, Crash, CrashPoint, DiskFault, Handling, KeepPlan, Keeping, Letter};
use crate::step::{
    ChangePlan, Meddling, NackDelay, NamePlan, ProfileSwapPlan, RegisterPlan, Step, SwapPlan, To, Wanted,
};
use crate::world::{BULK_BODY_BYTES_MAX, Focus, RECORDS, TASKS, THREADS, World};
use broker::Operation;

/// A world and what happens in it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) world: World,
    pub(crate) steps: Vec<Step>,
}

/// Makes the plan of a seed.
pub(crate) fn plan(seed: u64, step_count: usize) -> Plan {
    let world = World::new(seed);
    let mut planner = Planner {
        dice: Dice::new(seed, 2),
        agents: world.names.len() as u64,
        groups: world.groups.len() as u64,
        jitter: world.settings.retries.jitter,
        focus: world.focus,
        answers_late: world.in_flight_max.is_some(),
        sends: 0,
        mood: Mood::default(),
    };
    planner.choose_mood();
    let mut steps = planner.opening();
    while steps.len() < step_count {
        let step = planner.step();
        let next = planner.after(&step);
        steps.push(step);
        steps.extend(next);
    }
    steps.truncate(step_count);
    Plan { world, steps }
}

struct Planner {
    dice: Dice,
    agents: u64,
    groups: u64,
    jitter: bool,
    focus: Focus,
    /// Whether the log answers late, so that appends may be in flight before and behind one that is refused.
    answers_late: bool,
    sends: u32,
    mood: Mood,
}

/// What a seed is mostly about; all things at once would seldom reach the corners of one.
#[derive(Default)]
struct Mood {
    /// Percent of messages with a task, so that lanes fill.
    tasks: u64,
    /// Percent of messages that are about work.
    work: u64,
    /// Percent of messages that are handed out at most once.
    at_most_once: u64,
    /// Percent of messages to groups.
    groups: u64,
    /// Percent of deliveries that are refused instead of settled.
    nacks: u64,
    /// Weight of crashes.
    crashes: u64,
    /// Weight of faults of the disk.
    faults: u64,
    /// How many recipients a sender has to choose from; few make long queues.
    crowd: u64,
    /// Weight of taking against sending.
    takes: u64,
    /// Weight of snapshots and of trims.
    upkeep: (u64, u64),
    /// Weight of registering, joining and leaving.
    membership: u64,
    /// Percent of messages that are held for recipients that are not there yet, whatever else they wish.
    held: u64,
    /// Bytes of a body, from and to.
    body_len: (u64, u64),
}

impl Planner {
    fn choose_mood(&mut self) {
        let dice = &mut self.dice;
        self.mood = Mood {
            tasks: dice.pick(&[20, 60, 90]),
            work: dice.pick(&[10, 50, 90]),
            at_most_once: dice.pick(&[10, 30, 70]),
            groups: dice.pick(&[5, 20, 50]),
            nacks: dice.pick(&[10, 30, 60]),
            crashes: dice.pick(&[0, 4, 12]),
            faults: dice.pick(&[0, 4, 12]),
            crowd: dice.range(1, self.agents),
            takes: dice.pick(&[50, 100, 150]),
            upkeep: (12, 16),
            membership: 25,
            held: 0,
            body_len: (4, 60),
        };
        match self.focus {
            Focus::Mixed => {}
            Focus::Storage => {
                (self.mood.crashes, self.mood.faults) = (70, 40);
                self.mood.upkeep = (40, 50);
                self.mood.body_len = (BULK_BODY_BYTES_MAX / 2, BULK_BODY_BYTES_MAX);
            }
            Focus::Budgets => (self.mood.work, self.mood.takes) = (90, 50),
            Focus::Arrivals => {
                (self.mood.membership, self.mood.held) = (60, 70);
                (self.mood.crowd, self.mood.groups) = (self.agents, 5);
            }
        }
    }

    /// Most agents are there from the beginning; some come later, so that messages are held for them.
    fn opening(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let (sure, percent) = if self.focus == Focus::Arrivals { (1, 15) } else { (2, 60) };
        for agent in 0..self.agents as u8 {
            if agent < sure || self.dice.percent(percent) {
                let plan = self.registration(agent);
                let swap = ProfileSwapPlan::New;
                steps.push(Step::Ask(Ask::Register(RegisterPlan { swap, ..plan })));
            }
        }
        steps.extend([Step::Turn, Step::Sync]);
        for agent in 0..self.agents as u8 {
            if self.focus == Focus::Budgets {
                steps.push(Step::Ask(Ask::Be { agent, what: Being::Join { group: work::PRICED_ROLE } }));
            } else if self.dice.percent(60) {
                let group = if self.dice.percent(50) { self.role() } else { self.group() };
                steps.push(Step::Ask(Ask::Be { agent, what: Being::Join { group } }));
            }
            if self.dice.percent(60) {
                steps.push(Step::Ask(Ask::Be { agent, what: Being::Connect }));
            }
        }
        steps.extend([Step::Turn, Step::Sync]);
        // Most worlds have rules from the beginning.
        if self.dice.percent(self.mood.work) || self.focus == Focus::Budgets {
            let (by, what) = (self.human(), Wanted::Rules(self.rules()));
            let (operation, version) = (Operation::Create, Some(1));
            steps.push(Step::Ask(Ask::Change(Box::new(ChangePlan {
                by,
                which: 0,
                operation,
                what,
                version,
            }))));
        }
        steps
    }

    fn step(&mut self) -> Step {
        let (snapshots, trims) = self.mood.upkeep;
        let weights = [500, 230, 170, 90, 6, 4, snapshots, trims, self.mood.crashes, self.mood.faults];
        match self.dice.weighted(&weights) {
            0 => Step::Ask(self.ask()),
            1 => Step::Turn,
            2 => Step::Sync,
            3 => Step::Pass { ms: self.pause() },
            4 => Step::Jump { ms: self.jump() },
            5 => Step::Sleep { ms: self.dice.range(31_000, 120_000) },
            6 => Step::Snapshot,
            7 => Step::Trim,
            8 => self.crash(),
            _ => self.fault(),
        }
    }

    /// Chooses what follows a step at once: a snapshot that is ahead of the log shows only if the log is then lost, and
    /// a refusal does most where others are in flight.
    fn after(&mut self, step: &Step) -> Option<Step> {
        if self.answers_late && matches!(step, Step::Turn) {
            return self.dice.percent(3).then_some(Step::Refuse);
        }
        let is_snapshot = matches!(step, Step::Snapshot);
        (self.focus == Focus::Storage && is_snapshot && self.dice.percent(40)).then(|| self.crash())
    }

    fn ask(&mut self) -> Ask {
        let takes = self.mood.takes;
        let managing = self.mood.work / 2;
        let weights = [220, takes, takes + 60, 25, 25, self.mood.membership, 30, managing];
        match self.dice.weighted(&weights) {
            0 => self.send(),
            1 => self.take(),
            2 => self.handle(),
            3 => self.meddle(),
            4 => self.connection(),
            5 => self.membership(),
            6 => self.keep(),
            _ => self.manage(),
        }
    }

    fn send(&mut self) -> Ask {
        match self.dice.weighted(&[70, 12, 18]) {
            0 => Ask::Send(Box::new(self.letter())),
            1 => Ask::Again {
                send: self.dice.draw() as u32,
                change: if self.dice.percent(75) { Change::Nothing } else { Change::Body },
            },
            _ => {
                let kind = self.answer_kind();
                Ask::Answer {
                    agent: self.speaker(),
                    delivery: self.dice.draw() as u32,
                    kind,
                    native: self.dice.percent(70),
                    task: self.dice.percent(30).then(|| self.dice.index(TASKS.len()) as u8),
                    said: self.said(kind),
                }
            }
        }
    }

    fn letter(&mut self) -> Letter {
        self.sends += 1;
        let plain = self.dice.percent(50);
        let mood_at_most_once = self.mood.at_most_once;
        let mood_tasks = self.mood.tasks;
        let (body_len_min, body_len_max) = self.mood.body_len;
        let mut letter = Letter {
            from: self.speaker(),
            to: self.recipients(),
            kind: self.kind(),
            priority: self.dice.pick(&[Priority::Low, Priority::Normal, Priority::High, Priority::Critical]),
            guarantee: if self.dice.percent(mood_at_most_once) {
                Guarantee::AtMostOnce
            } else {
                Guarantee::AtLeastOnce
            },
            native: self.dice.percent(85).then_some(self.sends),
            task: self.dice.percent(mood_tasks).then(|| self.dice.index(TASKS.len()) as u8),
            thread: self.dice.percent(20).then(|| self.dice.index(THREADS.len()) as u8),
            created: None,
            expires_ms: None,
            lifetime_ms: None,
            timeout_ms: None,
            retries: None,
            backoff: None,
            fallback: Vec::new(),
            wait_ms: None,
            live_only: false,
            hold: false,
            hops: 0,
            body_len: self.dice.range(body_len_min, body_len_max) as u16,
            said: None,
            apt: None,
            deadline_ms: None,
            routes: Vec::new(),
            joins: None,
            sign: None,
            update: None,
        };
        self.say(&mut letter);
        if !plain {
            self.embellish(&mut letter);
        }
        letter.hold |= self.dice.percent(self.mood.held);
        letter
    }

    fn embellish(&mut self, letter: &mut Letter) {
        let dice = &mut self.dice;
        letter.created = dice.percent(30).then(|| dice.pick(&[0, 0, -1_000, 1_000, -20_000, 20_000]));
        letter.expires_ms = dice.percent(25).then(|| dice.pick(&[0, 1_000, 5_000, 20_000, 60_000]));
        letter.lifetime_ms = dice.percent(20).then(|| dice.pick(&[500, 5_000, 30_000]));
        letter.timeout_ms = dice.percent(25).then(|| dice.pick(&[1_000, 5_000, 15_000]));
        letter.retries = dice.percent(40).then(|| dice.range(0, 5) as u32);
        letter.backoff = dice.percent(40).then(|| dice.pick(&[Backoff::Exponential, Backoff::Linear]));
        letter.wait_ms = dice.percent(20).then(|| dice.pick(&[2_000, 10_000, 60_000]));
        letter.live_only = dice.percent(8);
        letter.hold = dice.percent(45);
        letter.hops = if dice.percent(5) { 3 } else { dice.range(0, 2) as u8 };
        if dice.percent(4) {
            letter.body_len = letter.body_len.max(400);
        }
        if dice.percent(4) {
            letter.native = Some(dice.range(1, u64::from(self.sends)) as u32);
        }
        // Where chance decides when a try starts, whether it started in time could not be told from outside.
        if self.jitter {
            letter.timeout_ms = None;
        }
        // A fallback is for one recipient: which of several gets it could not be told from outside either.
        if let [To::Agent(_) | To::Alias(_) | To::Session(..) | To::Human] = letter.to.as_slice() {
            let fallback_count = self.dice.weighted(&[50, 25, 15, 10, 1]);
            letter.fallback = (0..fallback_count).map(|_| self.agent()).collect();
        }
    }

    fn recipients(&mut self) -> Vec<To> {
        let count = self.dice.weighted(&[1, 85, 10, 4, 2, 2]);
        let mut recipients: Vec<To> = (0..count).map(|_| self.recipient()).collect();
        // Through two topics a member would get it twice, and which of the two it answers, nobody could tell.
        let mut has_group = false;
        recipients.retain(|to| match to {
            To::Group(_) | To::All => !std::mem::replace(&mut has_group, true),
            To::Agent(_) | To::Alias(_) | To::Session(..) | To::Human => true,
        });
        recipients
    }

    fn recipient(&mut self) -> To {
        if self.dice.percent(self.mood.groups) {
            return if self.dice.percent(15) { To::All } else { To::Group(self.group()) };
        }
        let crowd = self.mood.crowd;
        let agent = self.dice.below(crowd) as u8;
        match self.dice.weighted(&[80, 6, 6, 4, 12]) {
            0 => To::Agent(agent),
            1 => To::Alias(agent),
            2 => To::Session(agent, self.dice.range(1, 2) as u8),
            3 => To::Human,
            _ => To::Agent(self.agent()),
        }
    }

    fn take(&mut self) -> Ask {
        let agent =
            if self.dice.percent(60) { self.dice.below(self.mood.crowd) as u8 } else { self.speaker() };
        let lease_ms = if self.dice.percent(3) {
            self.dice.pick(&[10, 100_000])
        } else {
            self.dice.range(1, 15) * 1_000
        };
        if self.dice.percent(30) {
            let session = self.dice.below(3) as u8;
            let what = Being::Credit { session, credit: self.dice.range(1, 4) as u8, lease_ms };
            return Ask::Be { agent, what };
        }
        let what = Being::Take {
            session: self.dice.percent(40).then(|| self.dice.below(3) as u8),
            max: self.dice.pick(&[1, 1, 2, 4, 8, 20]),
            bytes_max: self.dice.pick(&[u16::MAX, u16::MAX, 100, 1]),
            lease_ms,
        };
        Ask::Be { agent, what }
    }

    fn handle(&mut self) -> Ask {
        let agent =
            if self.dice.percent(60) { self.dice.below(self.mood.crowd) as u8 } else { self.speaker() };
        let delivery = self.dice.draw() as u32;
        let nacks = self.mood.nacks;
        let how = match self.dice.weighted(&[100 - nacks, nacks, 10, 8, 6, 6]) {
            0 => Handling::Ack,
            1 => Handling::Nack(self.nack_delay()),
            2 => Handling::Surface,
            3 => Handling::Extend { lease_ms: self.dice.pick(&[2_000, 20_000, 90_000]) },
            4 => Handling::Return,
            _ => Handling::Process,
        };
        Ask::Handle { agent, delivery, how }
    }

    fn nack_delay(&mut self) -> NackDelay {
        match self.dice.weighted(&[50, 40, 10]) {
            0 => NackDelay::Backoff,
            1 => NackDelay::Ms(self.dice.pick(&[0, 500, 3_000, 20_000])),
            _ => NackDelay::Never,
        }
    }

    fn meddle(&mut self) -> Ask {
        let message = self.dice.draw() as u32;
        let how = match self.dice.weighted(&[25, 20, 15, 10, 10, 10]) {
            0 => Meddling::Retract { honest: self.dice.percent(80) },
            1 => Meddling::Amend { honest: self.dice.percent(80), body_len: self.dice.range(4, 80) as u16 },
            2 => return Ask::RetryDead { nth: message },
            3 => return Ask::DropDead { nth: message },
            4 => Meddling::EndWait,
            _ => Meddling::Resume,
        };
        Ask::Meddle { message, how }
    }

    fn keep(&mut self) -> Ask {
        let agent = self.agent();
        let swap = self.dice.percent(10).then(|| self.dice.percent(60));
        let counts = if self.focus == Focus::Storage { [1, 0, 0] } else { [70, 20, 10] };
        let is_crowded = self.focus != Focus::Storage && self.dice.percent(25);
        let count = if is_crowded { 3 } else { 1 + self.dice.weighted(&counts) };
        let mut writes: Vec<KeepPlan> = (0..count).map(|_| self.keeping(agent, is_crowded)).collect();
        if is_crowded {
            self.crowd(&mut writes);
        }
        Ask::Keep { agent, swap, writes }
    }

    fn keeping(&mut self, agent: u8, is_new: bool) -> KeepPlan {
        let is_message = is_new || self.dice.percent(70);
        let names = match self.focus {
            _ if is_new => [0, 0, 1],
            // Records that nobody removes are carried for ever, and fewer segments are filled by what is new.
            Focus::Storage => [1, 0, 0],
            Focus::Mixed | Focus::Budgets | Focus::Arrivals => [60, 15, 25],
        };
        let name = match self.dice.weighted(&names) {
            0 => NamePlan::Known(self.dice.index(RECORDS.len()) as u8),
            1 => NamePlan::Made(self.dice.draw() as u32),
            _ => NamePlan::New { is_message },
        };
        let is_new = matches!(name, NamePlan::New { .. });
        let swap = match self.dice.weighted(&[75, 8, 7, 10]) {
            1 if !is_new => SwapPlan::Nothing,
            2 if !is_new => SwapPlan::Something,
            3 if !is_new => SwapPlan::Is { honest: self.dice.percent(70) },
            _ => SwapPlan::Anything,
        };
        let how = match self.dice.weighted(&[50, 20, 12]) {
            _ if is_new && is_message => self.message(agent),
            0 if is_message => self.message(agent),
            1 if !is_new => Keeping::Remove,
            2 if !is_new => Keeping::Again,
            _ => Keeping::Write { body_len: self.dice.pick(&[4, 40, 200, 400]) },
        };
        KeepPlan { name, swap, how }
    }

    /// Makes a record a message; it carries nothing beside itself.
    fn message(&mut self, agent: u8) -> Keeping {
        let mut letter = self.letter();
        letter.from = agent;
        (letter.wait_ms, letter.joins, letter.sign, letter.update) = (None, None, None, None);
        if self.dice.percent(85) {
            letter.native = None;
        }
        let letter = Box::new(letter);
        Keeping::Send { letter, is_same: self.dice.percent(85), same_to: self.dice.percent(80) }
    }

    /// Sends all messages of a commit to one recipient, so large that it may have room for one and not for all.
    fn crowd(&mut self, writes: &mut [KeepPlan]) {
        let (to, body_len) = (To::Agent(self.agent()), self.dice.range(180, 290) as u16);
        for plan in writes {
            if let Keeping::Send { letter, .. } = &mut plan.how {
                letter.to = vec![to];
                letter.body_len = letter.body_len.max(body_len);
            }
        }
    }

    fn connection(&mut self) -> Ask {
        let agent = self.agent();
        match self.dice.weighted(&[60, 40]) {
            0 => Ask::Be { agent, what: Being::Connect },
            _ => Ask::Be { agent, what: Being::Disconnect { session: self.dice.below(3) as u8 } },
        }
    }

    /// An agent that is registered, once more or for the first time.
    fn registration(&mut self, agent: u8) -> RegisterPlan {
        let swap = match self.dice.weighted(&[40, 20, 25, 15]) {
            0 => ProfileSwapPlan::Anything,
            1 => ProfileSwapPlan::New,
            2 => ProfileSwapPlan::Current,
            _ => ProfileSwapPlan::Profile(self.dice.below(3) as u8),
        };
        RegisterPlan {
            agent,
            alias: self.dice.percent(40),
            profile: self.dice.below(3) as u8,
            swap,
            join: self.dice.percent(20).then(|| self.group()),
            capabilities: self.dice.percent(15).then(|| work::wish(&mut self.dice, 40)),
        }
    }

    fn membership(&mut self) -> Ask {
        let agent = self.agent();
        match self.dice.weighted(&[45, 8, 35, 18, 7]) {
            0 => Ask::Register(self.registration(agent)),
            1 => Ask::Remove { agent },
            2 => Ask::Be { agent, what: Being::Join { group: self.group() } },
            3 => Ask::Be { agent, what: Being::Leave { group: self.group() } },
            _ => Ask::Be { agent, what: Being::Presence { state: self.presence() } },
        }
    }

    fn crash(&mut self) -> Step {
        let at = self.dice.pick(&[
            CrashPoint::BeforeWrite,
            CrashPoint::AfterWrite,
            CrashPoint::DuringSync,
            CrashPoint::AfterSync,
            CrashPoint::Idle,
        ]);
        let power = self.dice.percent(75).then(|| self.dice.draw());
        let again = self.dice.percent(15).then(|| self.dice.below(12));
        Step::Crash(Crash { at, power, again, down_ms: self.dice.pick(&[0, 500, 5_000, 40_000]) })
    }

    fn fault(&mut self) -> Step {
        // One byte of many rots, and most of them are in segments that are spare.
        let rots = if self.focus == Focus::Storage { 120 } else { 40 };
        match self.dice.weighted(&[20, 20, 30, 15, 10, rots]) {
            0 => Step::DiskFull { bytes: self.dice.pick(&[0, 0, 4_000]) },
            1 => Step::DiskFreed,
            2 => Step::SyncFault {
                after: self.dice.below(2),
                fault: self.dice.pick(&[DiskFault::Error, DiskFault::Interrupted]),
            },
            3 => Step::WriteFault {
                after: self.dice.below(3),
                fault: self.dice.pick(&[
                    DiskFault::Error,
                    DiskFault::Full,
                    DiskFault::Interrupted,
                    DiskFault::Short,
                ]),
            },
            4 => Step::Refuse,
            _ => Step::Rot { pick: self.dice.draw() },
        }
    }

    fn pause(&mut self) -> u64 {
        match self.dice.weighted(&[20, 40, 25, 10]) {
            0 => self.dice.range(0, 20),
            1 => self.dice.range(100, 1_500),
            2 => self.dice.range(1_500, 6_000),
            _ => self.dice.range(6_000, 25_000),
        }
    }

    fn jump(&mut self) -> i64 {
        let size = self.dice.pick(&[1_000, 10_000, 3_600_000]);
        if self.dice.percent(50) { size } else { -size }
    }

    fn agent(&mut self) -> u8 {
        self.dice.below(self.agents) as u8
    }

    fn group(&mut self) -> u8 {
        self.dice.below(self.groups) as u8
    }
}
