//! A message that was taken in: its row, its deliveries, what it answers.

use broker::{Accepted, Of, Target, is_answer};
use message::{Dialect, Envelope};

use super::{Fold, place_of};
use crate::delivery::{Delivery, End, Mailbox, State, Step};
use crate::error::HistoryError;
use crate::letter::{Change, Flags, Letter, Who};
use crate::registry::UNKNOWN;
use crate::store::Store;

impl Fold {
    pub(super) fn accepted(&mut self, store: &Store, accepted: &Accepted<'_>) -> Result<(), HistoryError> {
        let seq = self.seq;
        let mut letter = self.new_letter(accepted);
        letter.involve(Who::Agent(accepted.from));
        for (nth, target) in (0_i64..).zip(&accepted.targets) {
            let delivery = self.target(accepted, target, nth);
            if !letter.to.is_empty() {
                letter.to.push(' ');
            }
            letter.to.push_str(&self.written(target));
            if let Some(agent) = delivery.recipient() {
                letter.involve(Who::Agent(agent));
            }
            if let Mailbox::Group(group) = delivery.mailbox {
                letter.involve(Who::Group(group));
                if self.registry.is_shared(group) {
                    letter.flags.is_public = true;
                    letter.involve(Who::Everybody);
                }
            }
            letter.deliveries.push(delivery);
        }
        self.tally.add_kind(accepted.kind);
        self.letters.insert(seq, letter);
        self.dirty.push(seq);
        match accepted.answers {
            Some(of) if is_answer(accepted.kind) => self.answered(store, of, accepted),
            Some(_) | None => Ok(()),
        }
    }

    fn new_letter(&self, accepted: &Accepted<'_>) -> Letter {
        let envelope = Envelope::open(&accepted.body);
        Letter {
            seq: self.seq,
            id: accepted.id,
            at: self.at,
            dialect: envelope.map_or(Dialect::Convoke, |envelope| envelope.dialect),
            kind: accepted.kind,
            priority: accepted.priority,
            guarantee: accepted.guarantee,
            from: accepted.from,
            to: String::new(),
            native_id: accepted.native_id.map(str::to_owned),
            thread: accepted.thread.map(str::to_owned),
            task: accepted.task.map(str::to_owned),
            reply_to: accepted.reply_to.map(str::to_owned),
            body: self.seq,
            amended: None,
            flags: Flags {
                is_public: false,
                is_several: accepted.targets.len() > 1,
                is_live_only: accepted.live_only,
                is_withdrawn: false,
            },
            deliveries: Vec::with_capacity(accepted.targets.len()),
            participants: Vec::new(),
            change: Change::New,
        }
    }

    /// Returns the address as its sender meant it.
    fn written(&self, target: &Target<'_>) -> String {
        match target {
            Target::Agent { agent, session: Some(session), .. } => {
                let number = self.registry.sessions.get(session).map_or(0, |session| session.number);
                format!("{}#{number}", self.registry.name(*agent))
            }
            Target::Agent { agent, .. } | Target::Waiter { agent, .. } => {
                self.registry.name(*agent).to_owned()
            }
            Target::Group { group, .. } => self.registry.address(*group).to_owned(),
            // No address has blanks; one that has is not one.
            Target::Held { name, .. } | Target::Instead { name, .. } if name.contains(' ') => {
                UNKNOWN.to_owned()
            }
            Target::Held { name, .. } | Target::Instead { name, .. } => (*name).to_owned(),
        }
    }

    fn target(&mut self, accepted: &Accepted<'_>, target: &Target<'_>, nth: i64) -> Delivery {
        let (entry, mailbox, state) = match target {
            Target::Agent { entry, agent, session: Some(session) } => {
                self.addressed.entry(*session).or_default().push((self.seq, *entry));
                (*entry, Mailbox::Session(*agent, *session), State::Waiting)
            }
            Target::Agent { entry, agent, session: None } | Target::Instead { entry, agent, .. } => {
                (*entry, Mailbox::Agent(*agent), State::Waiting)
            }
            Target::Waiter { entry, agent, .. } => (*entry, Mailbox::Agent(*agent), State::Out),
            Target::Group { entry, group } => {
                let is_shared = self.registry.is_shared(*group);
                let state = if is_shared { State::Post } else { State::Waiting };
                (*entry, Mailbox::Group(*group), state)
            }
            Target::Held { entry, name } => {
                self.held.entry((*name).into()).or_default().push((self.seq, *entry));
                (*entry, Mailbox::Name((*name).into()), State::Held)
            }
        };
        // Those that follow from other events come behind, whatever their number.
        let mut delivery = Delivery::new(entry, nth, mailbox, state);
        if accepted.filed {
            delivery.end(End::Expired, "late", self.at);
            return delivery;
        }
        match target {
            Target::Waiter { agent, .. } => {
                delivery.attempts = 1;
                delivery.holder = Some(*agent);
                delivery.ladder.dispatched = Some(Step::new(self.at, "wait"));
            }
            Target::Group { group, .. } if state == State::Post => {
                delivery.number = self.registry.post(*group);
            }
            Target::Agent { .. } | Target::Instead { .. } | Target::Group { .. } | Target::Held { .. } => {}
        }
        delivery
    }

    /// An answer settles what it answers, if that was handed out.
    fn answered(&mut self, store: &Store, of: Of, accepted: &Accepted<'_>) -> Result<(), HistoryError> {
        let (at, by) = (self.at, self.registry.name(accepted.from).to_owned());
        self.change(store, place_of(of), |delivery| {
            delivery.ladder.answered.get_or_insert_with(|| Step::new(at, &by));
            let was_handed_out = match delivery.state {
                State::Out => true,
                State::Waiting => delivery.attempts > 0,
                State::Held | State::Post | State::Dead(_) | State::Done(_) => false,
            };
            if was_handed_out {
                delivery.end(End::Acknowledged, &by, at);
            }
        })
    }
}
