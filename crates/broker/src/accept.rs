//! Taking a message in: is it new, whom does it reach, how long is it wanted, what does it answer.

pub(crate) mod apply;
mod carried;
mod targets;

use std::borrow::Cow;

use message::{Guarantee, Kind, MessageId, Seq};

use crate::broker::{Broker, Decided, Decision};
use crate::known::{Known, accepted};
use crate::work::hear::{Heard, Spoken};
use crate::{
    Accept, Accepted, AgentKey, Caution, Context, EntryKey, Event, Fingerprint, Identity, Marks, MessageKey,
    Of, Park, Receipted, Refusal, Reply, Target, Time, turns,
};

/// How far a sender's clock may be off before its times are not believed, in milliseconds.
const SKEW_MS: u64 = 5_000;
/// Retries at most, whatever is configured: attempts are counted in a byte, lost connections included.
pub(crate) const RETRIES_MAX: u32 = 200;
/// How long somebody who waits for a reply has to be written it, in milliseconds.
const WRITE_MS: u64 = 60_000;

/// The message that a reply answers, and the entry through which the replier got it.
struct Answers {
    message: MessageKey,
    of: Of,
}

impl Broker {
    pub(crate) fn accept<'a>(&self, cx: &mut Context<'_>, accept: &'a Accept) -> Decided<'a> {
        self.agent_at(accept.from)?;
        let native_id = accept.identity.native();
        let marks = Marks::of(accept.from, native_id, accept.fingerprint, accept.task.as_deref());
        self.check_claim(cx, accept)?;
        if let Some(reply) = self.repeated(cx, accept, marks.key)? {
            return Ok(Decision { events: Vec::new(), reply: Reply::Accepted(reply) });
        }
        self.check_limits(accept)?;
        let mut cautions = Vec::new();
        let mut targets = self.resolve(accept, &mut cautions)?;
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::DropOnFanOut) && targets.list.len() > 1 {
            targets.list.pop();
        }
        let expires = self.expiry(cx, accept, &targets, &mut cautions)?;
        let answers = self.answered_by(accept, marks.task, &targets.list);
        let filed = answers.as_ref().is_some_and(|answers| self.is_late(answers, accept.kind, &targets.list));
        if filed {
            cautions
                .push(Caution::new("late_reply", "the sender no longer waits for this reply: it is filed"));
        } else if let Some(answers) = &answers {
            self.offer_to_waiter(cx, accept.kind, answers, &mut targets.list);
        }
        let is_loop = self.turns_of(accept, marks.task, &targets.list, &mut cautions);
        let message = MessageKey(self.messages.vacant().next().unwrap_or(u32::MAX));
        let id = cx.message_id(message);
        let spoken = Spoken {
            message,
            id,
            seq: Seq(self.last.0 + 1 + targets.events.len() as u64),
            targets: &targets.list,
            answers: answers.as_ref().map(|answers| answers.of),
        };
        let mut heard = self.hear(cx, accept, &spoken)?;
        let parked = self.parked(cx, accept, &spoken, &mut heard, is_loop);
        cautions.append(&mut heard.cautions);
        let is_anybody = self.may_reach(&targets, accept.from);
        let wait_until = accept.wait_ms.filter(|_| is_anybody).map(|ms| cx.now.plus_ms(ms));
        let guarantee = if accept.live_only { Guarantee::AtMostOnce } else { accept.guarantee };
        targets.events.push(Event::Accepted(Box::new(Accepted {
            message,
            id,
            from: accept.from,
            kind: accept.kind,
            priority: accept.priority,
            guarantee,
            native_id,
            marks,
            fingerprint: accept.fingerprint,
            task: accept.task.as_deref(),
            thread: accept.thread.as_deref(),
            reply_to: accept.reply_to.as_deref(),
            expires,
            timeout_ms: accept.timeout_ms.filter(|_| !accept.live_only),
            retries: self.retries(accept, guarantee),
            backoff: accept.backoff.unwrap_or(message::Backoff::Exponential),
            fallback: targets.fallback,
            wait_until,
            live_only: accept.live_only,
            parked,
            filed: filed || heard.files,
            hops: accept.hops,
            answers: answers.map(|answers| answers.of),
            targets: targets.list,
            body: Cow::Borrowed(&accept.body),
        })));
        let (follows, tells) = heard.into_events();
        targets.events.extend(follows);
        let events = self.with_tells(cx, targets.events, tells);
        Ok(Decision { events, reply: Reply::Accepted(Receipted::new(id, message, wait_until, cautions)) })
    }

    /// Returns what a message waits for before it goes to anybody.
    fn parked<'a>(
        &self,
        cx: &mut Context<'_>,
        accept: &'a Accept,
        spoken: &Spoken<'_, 'a>,
        heard: &mut Heard<'a>,
        is_loop: bool,
    ) -> Park {
        if is_loop {
            self.park_loop(cx, heard, accept, spoken);
        }
        match (heard.parks, is_loop) {
            (true, _) if self.keeps_guarded() => Park::Guard,
            (true, _) | (false, false) => Park::Nothing,
            (false, true) => Park::Loop,
        }
    }

    /// Tells whether the identity of a message is taken, by the same document or by another.
    pub(crate) fn is_known(&self, cx: &Context<'_>, accept: &Accept) -> bool {
        let marks = Marks::of(accept.from, accept.identity.native(), accept.fingerprint, None);
        !matches!(self.repeated(cx, accept, marks.key), Ok(None))
    }

    /// Answers a message that came before.
    fn repeated(
        &self,
        cx: &Context<'_>,
        accept: &Accept,
        key: Fingerprint,
    ) -> Result<Option<Receipted>, Refusal> {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::ForgetKnown) {
            return Ok(None);
        }
        let Some(known) = self.known.find(key) else { return Ok(None) };
        let age_ms = cx.now.ms_since(accepted(known.message));
        let horizon_ms = match &accept.identity {
            Identity::Native(_) => self.retention.known_ms,
            Identity::Content => self.retention.content_ms,
        };
        if age_ms > horizon_ms {
            return Ok(None);
        }
        if known.document != accept.fingerprint && !self.conflicts_pass() {
            return Err(Refusal::Conflict { id: known.message });
        }
        let message = self.find(known.message);
        let extra = message.and_then(|key| self.message(key)).and_then(|message| message.extra.as_deref());
        Ok(Some(Receipted {
            id: known.message,
            message,
            duplicate: true,
            answer: extra.and_then(|extra| extra.answer),
            wait_until: extra.and_then(|extra| extra.wait_until),
            cautions: Vec::new(),
            recipients: Vec::new(),
        }))
    }

    fn keeps_guarded(&self) -> bool {
        #[cfg(feature = "plants")]
        return !self.has_plant(crate::plant::Plant::IgnoreGuard);
        #[cfg(not(feature = "plants"))]
        true
    }

    fn conflicts_pass(&self) -> bool {
        #[cfg(feature = "plants")]
        return self.has_plant(crate::plant::Plant::ConflictAsDuplicate);
        #[cfg(not(feature = "plants"))]
        false
    }

    fn check_limits(&self, accept: &Accept) -> Result<(), Refusal> {
        let limits = &self.settings.limits;
        let bytes = accept.body.len() as u64;
        if bytes > limits.body_bytes_max.min(u32::MAX.into()) {
            return Err(Refusal::TooLarge { bytes, bytes_max: limits.body_bytes_max });
        }
        let count = accept.to.len();
        if count == 0 {
            return Err(Refusal::NoRecipient);
        }
        if count > limits.recipients_max {
            return Err(Refusal::TooManyRecipients { count, count_max: limits.recipients_max });
        }
        let fallbacks = accept.fallback.len();
        if fallbacks > limits.fallbacks_max {
            let (count, count_max) = (fallbacks as u64, limits.fallbacks_max as u64);
            return Err(Refusal::TooMany { what: "fallbacks", count, count_max });
        }
        if accept.hops > limits.hops_max {
            return Err(Refusal::TooManyHops { hops: accept.hops, hops_max: limits.hops_max });
        }
        if self.open_messages >= limits.messages_max {
            return Err(Refusal::BusFull { count: self.open_messages, count_max: limits.messages_max });
        }
        if self.open_bytes + bytes > limits.bytes_max {
            return Err(Refusal::BusBytesFull { bytes: self.open_bytes, bytes_max: limits.bytes_max });
        }
        Ok(())
    }

    /// Returns when a message is no longer wanted, by our wall clock.
    fn expiry(
        &self,
        cx: &Context<'_>,
        accept: &Accept,
        targets: &targets::Targets<'_>,
        cautions: &mut Vec<Caution>,
    ) -> Result<Time, Refusal> {
        if accept.live_only {
            return Ok(cx.wall);
        }
        let created = accept.created.unwrap_or(cx.wall);
        let skew_ms = created.ms_since(cx.wall).max(cx.wall.ms_since(created));
        let has_lifetime = accept.expires.is_some() || accept.lifetime_ms.is_some();
        let is_skewed = skew_ms > SKEW_MS;
        if is_skewed && has_lifetime {
            let text = format!("your clock is {skew_ms} ms off ours: its lifetime counts from now");
            cautions.push(Caution::now("clock_skew", text));
        }
        let base = if is_skewed { cx.wall } else { created };
        let explicit = accept.expires.map(|expires| match accept.created {
            Some(created) if is_skewed => cx.wall.plus_ms(expires.ms_since(created)),
            Some(_) | None => expires,
        });
        let by_lifetime = accept.lifetime_ms.map(|ms| base.plus_ms(ms));
        let offers = 1 + targets.fallback.len() as u64;
        let by_timeout = accept.timeout_ms.map(|ms| cx.wall.plus_ms(ms.saturating_mul(offers)));
        let is_held = targets.list.iter().any(|target| matches!(target, Target::Held { .. }));
        let by_hold = is_held.then(|| cx.wall.plus_ms(self.settings.limits.held_ms_max));
        let ends = [explicit, by_lifetime, by_timeout, by_hold];
        let expires = ends.into_iter().flatten().min().unwrap_or(Time::NEVER);
        if expires <= cx.wall { Err(Refusal::Expired) } else { Ok(expires) }
    }

    fn retries(&self, accept: &Accept, guarantee: Guarantee) -> u32 {
        match guarantee {
            Guarantee::AtMostOnce => 0,
            Guarantee::AtLeastOnce => {
                let retries = &self.settings.retries;
                accept.retries.unwrap_or(retries.retries).min(retries.retries_max).min(RETRIES_MAX)
            }
        }
    }

    /// Finds what a message answers: what it says that it answers, else the task of somebody who waits.
    fn answered_by(&self, accept: &Accept, task: u64, targets: &[Target<'_>]) -> Option<Answers> {
        let recipients = targets.iter().filter_map(recipient);
        let by_id = accept.reply_to.as_deref().and_then(|reference| {
            let ours = reference.parse::<MessageId>().ok().and_then(|id| self.find(id));
            ours.or_else(|| {
                recipients.clone().find_map(|agent| {
                    let known = self.known.find(Known::native_key(agent, reference))?;
                    self.find(known.message)
                })
            })
        });
        let ends_task = matches!(accept.kind, Kind::TaskDone | Kind::TaskFailed | Kind::TaskRejected);
        let by_task = || {
            let mut waits = recipients.clone().flat_map(|agent| self.waits_of(agent));
            waits.find(|key| {
                let is_about_it =
                    ends_task && task != 0 && self.message(*key).is_some_and(|it| it.task == task);
                is_about_it && self.held_by(*key, accept.from).is_some()
            })
        };
        let message = by_id.or_else(by_task)?;
        let asked = self.message(message)?;
        if !recipients.clone().any(|agent| agent == asked.from) {
            return None;
        }
        let entry = self.held_by(message, accept.from)?;
        Some(Answers { message, of: Of { entry, seq: asked.seq } })
    }

    /// Finds the entry of a message that an agent has, or that waits for it.
    fn held_by(&self, message: MessageKey, agent: AgentKey) -> Option<EntryKey> {
        let mut mine = self.entries_of(message).filter(|(_, entry)| self.holder_of(entry) == Some(agent));
        mine.next().map(|(key, _)| key)
    }

    /// Tells whether a reply comes after the wait for it has ended, and goes to nobody else.
    fn is_late(&self, answers: &Answers, kind: Kind, targets: &[Target<'_>]) -> bool {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::AnswerLateReply) {
            return false;
        }
        let Some(asked) = self.message(answers.message) else { return false };
        let has_failed = asked.extra.as_ref().is_some_and(|extra| extra.wait_failed);
        let only_to_sender = targets.iter().all(|target| recipient(target) == Some(asked.from));
        has_failed && is_answer(kind) && only_to_sender
    }

    /// Sends a reply straight to whoever waits for it.
    fn offer_to_waiter(
        &self,
        cx: &mut Context<'_>,
        kind: Kind,
        answers: &Answers,
        targets: &mut [Target<'_>],
    ) {
        let Some(asked) = self.message(answers.message) else { return };
        let is_waiting = asked.extra.as_ref().is_some_and(|extra| extra.wait_until.is_some());
        if !is_waiting || !is_answer(kind) {
            return;
        }
        let until = cx.now.plus_ms(WRITE_MS);
        for target in targets.iter_mut() {
            if let Target::Agent { entry, agent, session: None } = *target
                && agent == asked.from
            {
                *target = Target::Waiter { entry, agent, delivery: cx.delivery_id(entry), until };
            }
        }
    }

    /// Counts the turns of the conversation; tells whether it is to be parked.
    fn turns_of(
        &self,
        accept: &Accept,
        task: u64,
        targets: &[Target<'_>],
        cautions: &mut Vec<Caution>,
    ) -> bool {
        let [target] = targets else { return false };
        let is_awaited = matches!(target, Target::Waiter { .. });
        let Some(to) = recipient(target).filter(|_| !is_awaited) else { return false };
        let conversation = turns::conversation(accept.thread.as_deref(), accept.from, to);
        let count = self.turns.count(conversation, accept.from, task);
        if count >= self.settings.turns_warn {
            cautions.push(Caution::turns("loop_suspected", count));
        }
        let park_after = self.work.policy().park_after.or(self.settings.turns_park);
        let is_parked = park_after.is_some_and(|park| count >= park);
        if is_parked {
            cautions.push(Caution::new("parked", "it waits until a human resumes the conversation"));
        }
        is_parked
    }
}

/// Tells whether a message of this kind ends a wait for a reply.
pub fn is_answer(kind: Kind) -> bool {
    match kind {
        Kind::TaskDone
        | Kind::TaskFailed
        | Kind::TaskRejected
        | Kind::HelpReply
        | Kind::HandoffReply
        | Kind::ErrorReport
        | Kind::ReviewVerdict
        | Kind::Gate
        | Kind::Note
        | Kind::Report => true,
        Kind::Announce
        | Kind::TaskRequest
        | Kind::TaskClaim
        | Kind::TaskProgress
        | Kind::TaskBlocked
        | Kind::HelpAsk
        | Kind::HandoffOffer
        | Kind::AgentStatus
        | Kind::AgentHeartbeat
        | Kind::Question
        | Kind::StateSync => false,
    }
}

fn recipient(target: &Target<'_>) -> Option<AgentKey> {
    match target {
        Target::Agent { agent, .. } | Target::Instead { agent, .. } | Target::Waiter { agent, .. } => {
            Some(*agent)
        }
        Target::Group { .. } | Target::Held { .. } => None,
    }
}

/// Returns the entry of a target.
pub(crate) fn entry_of(target: &Target<'_>) -> EntryKey {
    match target {
        Target::Agent { entry, .. }
        | Target::Group { entry, .. }
        | Target::Held { entry, .. }
        | Target::Instead { entry, .. }
        | Target::Waiter { entry, .. } => *entry,
    }
}
