//! Taking messages in: repeats, for how long a message is wanted, and what it answers.

use std::rc::Rc;

use broker::{AgentKey, Effect, Receipted, Refusal, Reply, Time};
use message::{Kind, MessageId, Stage};

use super::Outcome;
use super::route::{Reason, Route, Way};
use super::state::{Is, Known, Letter, Part, Place, State, Turn};
use super::work::{Heard, No, Spoken};
use crate::driver::Answer;
use crate::request::Sent;
use crate::violation::{Promise, Violation, broken, ensure};

/// How far a sender's clock may be off before its times are not believed, in milliseconds.
const SKEW_MS: u64 = 5_000;
/// What a sender is warned of where work is concerned.
const WARNINGS: [&str; 9] = [
    "waiting",
    "gated",
    "unknown_task",
    "task_answered",
    "not_holder",
    "task_known",
    "unknown_gate",
    "no_verdict",
    "own_work",
];
/// How long somebody who waits for a reply has to be written it, in milliseconds.
const WRITE_MS: u64 = 60_000;

/// What must become of a message.
pub(super) enum Fate {
    /// It claims what it must not have.
    Claim(No),
    /// It came before.
    Repeat(Known),
    /// It is new: accepted, unless there are reasons not to.
    New(Box<Arrival>),
}

/// A new message, and where it goes.
pub(super) struct Arrival {
    route: Route,
    asked: Option<(MessageId, usize)>,
    heard: Heard,
    expires: Time,
    /// Why it must be refused.
    pub(super) reasons: Vec<Reason>,
}

/// What the sender of a message must be told.
pub(super) struct Told {
    wait_until: Option<Time>,
    is_loop: bool,
    is_late: bool,
    warning: Option<&'static str>,
}

impl Told {
    fn check(&self, receipted: &Receipted) -> Result<(), Violation> {
        let is_right = receipted.wait_until == self.wait_until;
        ensure(is_right, Promise::Replies, format_args!("waits: {receipted:?}"))?;
        for (code, is_so) in [("parked", self.is_loop), ("late_reply", self.is_late)] {
            let is_told = receipted.cautions.iter().any(|caution| caution.code == code);
            ensure(is_told == is_so, Promise::Receipts, format_args!("{code}: {is_so}, told {is_told}"))?;
        }
        check_warning(receipted, self.warning)
    }
}

impl State {
    pub(super) fn accepted(&mut self, sent: &Rc<Sent>, answer: &Answer) -> Result<(), Violation> {
        if !self.is_there(sent.from) {
            return self.refused_unknown(sent.from, &answer.outcome).map(drop);
        }
        let is_kept_out = self.heed_sender(sent);
        let update = match sent.update.as_ref().map(|changed| self.carried(changed, answer)).transpose() {
            Ok(update) => update.flatten(),
            Err(no) => {
                let is_right = answer.outcome.as_ref().is_err_and(|refusal| no.fits(refusal));
                let what = format_args!("a change must be refused, {no:?}: {:?}; {sent:?}", answer.outcome);
                return ensure(is_right, Promise::Versions, what);
            }
        };
        let arrival = match self.expect(sent, None, answer) {
            Fate::Claim(no) => {
                let is_right = answer.outcome.as_ref().is_err_and(|refusal| no.fits(refusal));
                let what = format_args!("a claim must be refused, {no:?}: {:?}; {sent:?}", answer.outcome);
                return ensure(is_right, Promise::Claims, what);
            }
            Fate::Repeat(known) => return self.repeated(sent, &known, &answer.outcome),
            Fate::New(arrival) => arrival,
        };
        let reasons = &arrival.reasons;
        match &answer.outcome {
            Err(refusal) => {
                if let Refusal::UnknownRecipient { suggestions, .. } = refusal {
                    let are_known = suggestions.iter().all(|name| self.agent(name).is_some());
                    ensure(are_known, Promise::Unknown, format_args!("nobody is called {suggestions:?}"))?;
                }
                let is_right = reasons.iter().any(|reason| reason.fits(refusal));
                let what = format_args!("refused: {refusal:?}, for none of {reasons:?}; {sent:?}");
                ensure(is_right, Reason::promise_of(refusal), what)
            }
            Ok(Reply::Accepted(receipted)) => {
                if let Some(reason) = reasons.first() {
                    return broken(
                        reason.promise(),
                        format_args!("accepted in spite of {reasons:?}: {sent:?}"),
                    );
                }
                let is_new = !receipted.duplicate && !self.messages.contains_key(&receipted.id);
                ensure(
                    is_new,
                    Promise::Idempotent,
                    format_args!("a new message is an old one: {receipted:?}"),
                )?;
                let is_told = receipted.cautions.iter().any(|caution| caution.code == "not_joined");
                let what = format_args!("kept out of {:?}: {receipted:?}", sent.joins);
                ensure(is_told || !is_kept_out, Promise::Receipts, what)?;
                let told = self.take_in(sent, *arrival, receipted.id, answer)?;
                told.check(receipted)?;
                if let (Some(changed), Some(heard)) = (&sent.update, update) {
                    self.carry(changed, heard, answer.now);
                }
                Ok(())
            }
            Ok(other) => broken(Promise::Answers, format_args!("a message gets {other:?}")),
        }
    }

    /// Finds what must become of a message; its id is known where it was accepted.
    pub(super) fn expect(&self, sent: &Rc<Sent>, id: Option<MessageId>, answer: &Answer) -> Fate {
        if sent.kind == Kind::TaskClaim
            && let Err(no) = self.check_claim(sent, answer.wall)
        {
            return Fate::Claim(no);
        }
        if let Some(known) = self.known_again(sent, answer.now) {
            return Fate::Repeat(known.clone());
        }
        let (route, mut reasons) = self.route(sent);
        let expires = self.expiry(sent, &route, answer.wall);
        if expires <= answer.wall && !sent.live_only {
            reasons.push(Reason::Expired);
        }
        let asked = self.asked(sent, &route);
        let accepted = match &answer.outcome {
            Ok(Reply::Accepted(receipted)) => Some(receipted.id),
            Ok(_) | Err(_) => id,
        };
        let spoken = self.spoken(sent, &route, asked, (accepted, answer));
        let heard = match self.hear(&spoken) {
            Ok(heard) => heard,
            Err(no) => {
                reasons.push(Reason::Work(no));
                Heard::default()
            }
        };
        Fate::New(Box::new(Arrival { route, asked, heard, expires, reasons }))
    }

    /// Notes what a message says of its sender, which holds though the message is refused. Tells whether the sender is
    /// kept out of the group in which it says that it is.
    fn heed_sender(&mut self, sent: &Sent) -> bool {
        if let Some(sign) = &sent.sign {
            self.note_sign(sent.from, sign);
        }
        sent.joins.as_ref().is_some_and(|address| !self.try_join(sent.from, address))
    }

    /// Finds the message that somebody sent under an id, while that is known.
    pub(super) fn known_id(&self, sender: AgentKey, id: &str, now: Time) -> Option<MessageId> {
        let of_sender = self.known.iter().rev().filter(|known| known.sender == sender);
        let mut kept = of_sender.take(self.retention.known_per_sender_max as usize);
        let found = kept.find(|known| known.native_id.as_deref() == Some(id));
        found.filter(|known| now.ms_since(known.at) <= self.retention.known_ms).map(|known| known.message)
    }

    /// Finds the message of which this is a repeat.
    pub(super) fn known_again(&self, sent: &Sent, now: Time) -> Option<&Known> {
        let of_sender = self.known.iter().rev().filter(|known| known.sender == sent.from);
        let kept = of_sender.take(self.retention.known_per_sender_max as usize);
        let mut same = kept.filter(|known| match &sent.native_id {
            Some(id) => known.native_id.as_ref() == Some(id),
            None => known.native_id.is_none() && known.document == sent.body,
        });
        let horizon_ms =
            if sent.native_id.is_some() { self.retention.known_ms } else { self.retention.content_ms };
        same.next().filter(|known| now.ms_since(known.at) <= horizon_ms)
    }

    fn repeated(&self, sent: &Sent, known: &Known, outcome: &Outcome) -> Result<(), Violation> {
        let is_same = known.document == sent.body;
        let letter = &self.messages[&known.message];
        match outcome {
            Ok(Reply::Accepted(receipted)) if is_same => {
                let is_repeat = receipted.duplicate && receipted.id == known.message;
                let what = format_args!("a repeat of {} gets {receipted:?}", known.message);
                ensure(is_repeat, Promise::Idempotent, what)?;
                let same = receipted.answer == letter.answer && receipted.wait_until == letter.wait_until;
                ensure(same, Promise::Replies, format_args!("a repeat joins another wait: {receipted:?}"))
            }
            Err(Refusal::Conflict { id }) if !is_same => ensure(
                *id == known.message,
                Promise::Idempotent,
                format_args!("a conflict with {id}: {sent:?}"),
            ),
            other => {
                broken(Promise::Idempotent, format_args!("{} came again and got {other:?}", known.message))
            }
        }
    }

    /// Returns when a message is no longer wanted, by the wall clock.
    fn expiry(&self, sent: &Sent, route: &Route, wall: Time) -> Time {
        if sent.live_only {
            return wall;
        }
        let off = |created: Time| created.ms_since(wall).max(wall.ms_since(created)) > SKEW_MS;
        let is_off = sent.created.is_some_and(off);
        let base = if is_off { wall } else { sent.created.unwrap_or(wall) };
        let mut ends = vec![Time::NEVER];
        if let Some(expires) = sent.expires {
            let lifetime = expires.ms_since(sent.created.unwrap_or(wall));
            ends.push(if is_off { wall.plus_ms(lifetime) } else { expires });
        }
        ends.extend(sent.lifetime_ms.map(|ms| base.plus_ms(ms)));
        ends.extend(sent.timeout_ms.map(|ms| wall.plus_ms(ms * (1 + route.fallback.len() as u64))));
        if route.ways.iter().any(|way| matches!(way, Way::Held(_))) {
            ends.push(wall.plus_ms(self.settings.limits.held_ms_max));
        }
        ends.into_iter().min().unwrap_or(Time::NEVER)
    }

    /// Takes a message in; returns what its sender is to be told.
    pub(super) fn take_in(
        &mut self,
        sent: &Rc<Sent>,
        arrival: Arrival,
        id: MessageId,
        answer: &Answer,
    ) -> Result<Told, Violation> {
        let Arrival { route, asked, mut heard, expires, .. } = arrival;
        let (route, now) = (&route, answer.now);
        let is_late = asked.is_some_and(|(asked, _)| self.is_late(asked, sent, route));
        let waits = self.awaited(sent, route, asked);
        // What somebody waits for goes to it, however long they have talked.
        let is_awaited = waits.is_some() && matches!(route.ways.as_slice(), [Way::To(Place::Agent(_), _)]);
        let is_loop = self.count_turn(sent, route) && !is_awaited;
        let to = route.ways.first().and_then(Way::recipient).unwrap_or(AgentKey::SYSTEM);
        if is_loop {
            let spoken = self.spoken(sent, route, asked, (Some(id), answer));
            self.park_loop(&mut heard, &spoken, &conversation(sent, to));
        }
        let wait_until = sent.wait_ms.filter(|_| self.reaches(sent, route)).map(|ms| now.plus_ms(ms));
        let told = Told { wait_until, is_loop, is_late, warning: heard.warning };
        for group in &route.made {
            self.groups.entry(Rc::clone(group)).or_default();
        }
        for channel in &route.joins {
            self.enter(channel, sent.from);
        }
        self.births += 1;
        self.messages.insert(id, self.new_letter(sent, route, expires, wait_until));
        self.forget_known(now);
        self.known.push(Known {
            sender: sent.from,
            native_id: sent.native_id.clone(),
            document: Rc::clone(&sent.body),
            message: id,
            at: now,
        });
        let first = self.parts.len();
        for way in &route.ways {
            self.go(id, way, now);
        }
        for part in &mut self.parts[first..] {
            if (is_late || heard.files) && matches!(part.is, Is::Waiting | Is::Held) {
                part.is = Is::Ended(Stage::Expired);
            } else if (is_loop || heard.parks) && part.is == Is::Waiting && !part.unclaimed {
                part.is = Is::Parked;
            }
        }
        if is_loop || heard.parks {
            // What is guarded goes on alone.
            let name = if heard.parks { id.to_string() } else { conversation(sent, to) };
            self.messages.entry(id).and_modify(|letter| letter.conversation = Some(name));
        }
        let waiter = waits.map(|asked| (asked, self.messages[&asked].sent.from));
        self.tell_waiter(id, first, waiter, answer)?;
        if let Some((asked, part)) = asked {
            self.note_answer(asked, part, sent.kind, id);
        }
        self.happen(heard, now);
        Ok(told)
    }

    /// Looks at a message before it is taken in.
    fn spoken<'s>(
        &self,
        sent: &'s Sent,
        route: &'s Route,
        asked: Option<(MessageId, usize)>,
        (id, answer): (Option<MessageId>, &Answer),
    ) -> Spoken<'s> {
        let id = id.unwrap_or(MessageId::from_bytes([0; 16]));
        let is_awaited = self.awaited(sent, route, asked).is_some();
        Spoken { sent, id, route, asked, is_awaited, now: answer.now, wall: answer.wall }
    }

    /// The message for whose answer its sender waits, if this is the answer.
    fn awaited(&self, sent: &Sent, route: &Route, asked: Option<(MessageId, usize)>) -> Option<MessageId> {
        let (asked, _) = asked?;
        let waits = is_answer(sent.kind) && self.messages[&asked].wait_until.is_some();
        (waits && !self.is_late(asked, sent, route)).then_some(asked)
    }

    fn new_letter(&self, sent: &Rc<Sent>, route: &Route, expires: Time, wait_until: Option<Time>) -> Letter {
        let retries = &self.settings.retries;
        let is_once = sent.live_only || sent.guarantee == message::Guarantee::AtMostOnce;
        let wanted = sent.retries.unwrap_or(retries.retries).min(retries.retries_max);
        Letter {
            sent: Rc::clone(sent),
            body: Rc::clone(&sent.body),
            timeout_ms: sent.timeout_ms.filter(|_| !sent.live_only),
            is_once,
            expires,
            retries: if is_once { 0 } else { wanted },
            hops: sent.hops,
            ways: route.ways.len(),
            conversation: None,
            fallback: route.fallback.clone(),
            wait_until,
            wait_failed: false,
            answer: None,
            withdrawn: false,
            bound: true,
            number: self.births,
        }
    }

    /// Tells whether anybody could answer a message; in an empty topic nobody will.
    fn reaches(&self, sent: &Sent, route: &Route) -> bool {
        route.ways.iter().any(|way| match way {
            Way::To(..) | Way::Instead(..) | Way::Role(_) | Way::Held(_) => true,
            Way::Shared(group) => {
                self.groups.get(group).is_some_and(|group| group.members.iter().any(|it| *it != sent.from))
            }
        })
    }

    /// Puts a message on one of its ways.
    pub(super) fn go(&mut self, id: MessageId, way: &Way, now: Time) {
        let order = self.next_order();
        match way {
            Way::To(place, _) => {
                self.add(Part::new(id, place.clone(), order, now));
            }
            Way::Role(role) => {
                self.add(Part::new(id, Place::Role(Rc::clone(role)), order, now));
            }
            Way::Instead(agent, name) => {
                let mut part = Part::new(id, Place::Agent(*agent), order, now);
                part.tried.push((Rc::clone(name), 0));
                self.add(part);
            }
            Way::Held(name) => {
                let mut part = Part::new(id, Place::Name(Rc::clone(name)), order, now);
                part.is = Is::Held;
                self.add(part);
            }
            Way::Shared(group) => {
                let post = self.add(Part::new(id, Place::Post(Rc::clone(group)), order, now));
                self.parts[post].is = Is::Posted;
                self.post_copies(post, group);
            }
        }
    }

    /// Finds what a message answers, and the part through which its sender got that.
    fn asked(&self, sent: &Sent, route: &Route) -> Option<(MessageId, usize)> {
        let named = sent.reply_to.as_ref().and_then(|id| id.parse().ok());
        let named = named.filter(|id| self.messages.contains_key(id));
        let named = named.or_else(|| self.sent_as(sent.reply_to.as_deref()?, route));
        let id = named.or_else(|| self.asked_within(sent, route))?;
        let asker = self.messages[&id].sent.from;
        if !route.ways.iter().any(|way| way.recipient() == Some(asker)) {
            return None;
        }
        let mut parts: Vec<(usize, &Part)> = self.parts_of(id).collect();
        parts.sort_by_key(|(index, part)| std::cmp::Reverse((part.born, *index)));
        let (index, _) = parts.into_iter().find(|(_, part)| self.has(part, sent.from))?;
        Some((id, index))
    }

    /// Forgets the ids that are too old when a message comes, whoever sends it. Until then a reply may name them.
    pub(super) fn forget_known(&mut self, now: Time) {
        let known_ms = self.retention.known_ms;
        self.known.retain(|known| now.ms_since(known.at) <= known_ms);
    }

    /// Finds the message of somebody among the recipients that has an id of its sender's own, such as the name of a
    /// record.
    fn sent_as(&self, native_id: &str, route: &Route) -> Option<MessageId> {
        route.ways.iter().filter_map(Way::recipient).find_map(|agent| {
            let of_sender = self.known.iter().rev().filter(|known| known.sender == agent);
            let mut kept = of_sender.take(self.retention.known_per_sender_max as usize);
            kept.find(|known| known.native_id.as_deref() == Some(native_id)).map(|known| known.message)
        })
    }

    /// Finds what somebody among the recipients waits for, about the task that this message ends.
    fn asked_within(&self, sent: &Sent, route: &Route) -> Option<MessageId> {
        sent.task
            .as_ref()
            .filter(|_| matches!(sent.kind, Kind::TaskDone | Kind::TaskFailed | Kind::TaskRejected))?;
        let recipients = route.ways.iter().filter_map(Way::recipient);
        recipients.into_iter().find_map(|agent| {
            let waits = self.messages.iter().filter(|(id, letter)| {
                let is_theirs = letter.sent.from == agent && letter.wait_until.is_some();
                let is_about_it = letter.sent.task == sent.task;
                is_theirs && is_about_it && self.parts_of(**id).any(|(_, part)| self.has(part, sent.from))
            });
            waits.min_by_key(|(_, letter)| letter.number).map(|(id, _)| *id)
        })
    }

    /// Tells whether a part is, or was last, an agent's own.
    pub(super) fn has(&self, part: &Part, agent: AgentKey) -> bool {
        !part.unclaimed && self.holder(part) == Some(agent)
    }

    /// Returns who has a part, or for whom it waits.
    pub(super) fn holder(&self, part: &Part) -> Option<AgentKey> {
        part.holder.or(match &part.place {
            Place::Agent(owner) => Some(*owner),
            Place::Session(session) => self.sessions.get(session).map(|it| it.agent),
            Place::Role(_) | Place::Name(_) | Place::Post(_) => None,
        })
    }

    fn is_late(&self, asked: MessageId, sent: &Sent, route: &Route) -> bool {
        let letter = &self.messages[&asked];
        let only_to_asker = route.ways.iter().all(|way| way.recipient() == Some(letter.sent.from));
        letter.wait_failed && is_answer(sent.kind) && only_to_asker
    }

    /// A reply goes straight to who waits for it, and nothing else does.
    fn tell_waiter(
        &mut self,
        id: MessageId,
        first: usize,
        waiter: Option<(MessageId, AgentKey)>,
        answer: &Answer,
    ) -> Result<(), Violation> {
        // A commit may send several messages; the effects of all are told together.
        let told = answer.effects.iter().find_map(|effect| match effect {
            Effect::Answered { message, reply, delivery } if *reply == id => {
                Some((*message, *reply, *delivery))
            }
            Effect::Ready(_) | Effect::Answered { .. } | Effect::Unanswered { .. } => None,
        });
        let straight = waiter.and_then(|(asked, asker)| {
            let index = (first..self.parts.len()).find(|index| {
                let part = &self.parts[*index];
                part.place == Place::Agent(asker) && part.tried.is_empty() && part.post.is_none()
            })?;
            Some((asked, asker, index))
        });
        let what = format_args!("the reply {id} tells {told:?}, {waiter:?} waits");
        ensure(told.map(|told| (told.0, told.1)) == straight.map(|it| (it.0, id)), Promise::Replies, what)?;
        if let (Some((_, asker, index)), Some((_, _, delivery))) = (straight, told) {
            let part = &mut self.parts[index];
            part.is = Is::Out { until: answer.now.plus_ms(WRITE_MS), session: None };
            part.to_waiter = true;
            part.attempts = 1;
            part.delivery = Some(delivery);
            part.holder = Some(asker);
            part.in_lane = false;
        }
        Ok(())
    }

    /// An answer settles what it answers, and ends the wait for it.
    fn note_answer(&mut self, asked: MessageId, index: usize, kind: Kind, reply: MessageId) {
        let part = &mut self.parts[index];
        part.answered |= is_answer(kind);
        if is_answer(kind) && (part.is_out() || (part.is_queued() && part.attempts > 0)) {
            part.is = Is::Ended(Stage::Acknowledged);
        }
        if is_answer(kind)
            && let Some(letter) = self.messages.get_mut(&asked)
        {
            letter.answer.get_or_insert(reply);
            letter.wait_until = None;
        }
    }

    /// Counts the turns of a conversation; says whether it is parked.
    fn count_turn(&mut self, sent: &Sent, route: &Route) -> bool {
        let [way] = route.ways.as_slice() else { return false };
        let Some(to) = way.recipient() else { return false };
        let name = conversation(sent, to);
        let count = match self.turns.get(&name) {
            Some(turn) if turn.task == sent.task && sent.from != AgentKey::HUMAN => {
                turn.count + u32::from(turn.last != sent.from)
            }
            Some(_) | None => 0,
        };
        self.turns.insert(name, Turn { last: sent.from, task: sent.task.clone(), count });
        let park = self.work.rules.park_after.or(self.settings.turns_park);
        park.is_some_and(|park| count >= park)
    }
}

/// A sender is warned of what work makes of its message, and of nothing else.
fn check_warning(receipted: &Receipted, wanted: Option<&str>) -> Result<(), Violation> {
    let codes = receipted.cautions.iter().map(|caution| caution.code);
    let told: Vec<&str> = codes.filter(|code| WARNINGS.contains(code)).collect();
    let is_right = wanted.is_none_or(|code| code == "nothing_open" || told.contains(&code));
    let is_all =
        told.iter().all(|code| Some(*code) == wanted || (*code == "waiting" && wanted == Some("gated")));
    let what = format_args!("told {told:?}, expected {wanted:?}");
    ensure(is_right && is_all, Promise::Receipts, what)
}

/// Names a conversation: a thread, or two who write to each other.
fn conversation(sent: &Sent, to: AgentKey) -> String {
    match sent.thread {
        Some(thread) => thread.to_owned(),
        None => format!("{} {}", sent.from.min(to), sent.from.max(to)),
    }
}

/// Tells whether a message of this kind ends a wait for a reply.
pub(super) fn is_answer(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::TaskDone
            | Kind::TaskFailed
            | Kind::TaskRejected
            | Kind::HelpReply
            | Kind::HandoffReply
            | Kind::ErrorReport
            | Kind::ReviewVerdict
            | Kind::Gate
            | Kind::Note
            | Kind::Report
    )
}
