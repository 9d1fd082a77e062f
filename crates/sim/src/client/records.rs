//! What those outside keep: commits of records, some of which are messages.

use std::rc::Rc;

use broker::{AgentKey, Broker, Committed, Digest, Swap, Time};

use super::{Asked, Asker, Client, pick};
use crate::request::{Recorded, Recording, Request, Sent, Writing, cid_of};
use crate::step::{KeepPlan, Keeping, NamePlan, SwapPlan};
use crate::world::{COLLECTIONS, RECORDS, World};

/// Whose record it is, its collection and its key.
pub(super) type Name = (AgentKey, &'static str, Rc<str>);

impl Client {
    /// Turns what is to be kept into a commit.
    pub(super) fn keep(
        &mut self,
        world: &World,
        agent: usize,
        (swap, plans): (Option<bool>, &[KeepPlan]),
        (wall, broker): (Time, Option<&Broker>),
    ) -> Option<(Asker, Asked)> {
        let repo = self.agents[agent].key?;
        let writes: Vec<Writing> =
            plans.iter().filter_map(|plan| self.writing(world, repo, plan, (wall, broker))).collect();
        let last = broker.and_then(|broker| broker.repo(repo)).map(|repo| repo.commit);
        let swap = swap.map(|honest| last.filter(|_| honest).unwrap_or(Digest([9; 32])));
        let did =
            world.names.get(agent).map_or("did:web:human.example.com".to_owned(), |_| world.alias(agent));
        let recorded = Rc::new(Recorded { repo, did, swap, writes });
        Some((Asker::Agent(agent), Asked::Request(Request::Commit(recorded))))
    }

    /// Learns the keys that the bus has made.
    pub(crate) fn committed(&mut self, recorded: &Recorded, committed: &Committed) {
        for (writing, key) in recorded.writes.iter().zip(&committed.keys) {
            let name = (recorded.repo, writing.collection, Rc::from(&**key));
            if writing.key.is_none() {
                self.made.push(name.clone());
            }
            self.written.insert(name, writing.how.clone());
        }
    }

    fn writing(
        &mut self,
        world: &World,
        repo: AgentKey,
        plan: &KeepPlan,
        (wall, broker): (Time, Option<&Broker>),
    ) -> Option<Writing> {
        let (collection, key) = match plan.name {
            NamePlan::Known(record) => {
                let (collection, key) = RECORDS[usize::from(record)];
                (collection, Some(Rc::from(key)))
            }
            NamePlan::Made(nth) => {
                let made: Vec<&Name> = self.made.iter().filter(|(whose, ..)| *whose == repo).collect();
                let (_, collection, key) = pick(&made, nth)?;
                (*collection, Some(Rc::clone(key)))
            }
            NamePlan::New { is_message } => (COLLECTIONS[usize::from(!is_message)], None),
        };
        let name = key.clone().map(|key| (repo, collection, key));
        let before = name.as_ref().and_then(|name| self.written.get(name)).cloned();
        let how = match &plan.how {
            Keeping::Write { body_len } => Recording::Set(self.body(usize::from(*body_len)), None),
            Keeping::Send { letter, is_same, same_to } => {
                let mut sent = Sent { from: repo, ..self.message(world, letter, wall)? };
                if let (true, Some(Recording::Set(_, Some(before)))) = (*same_to, &before) {
                    sent.to.clone_from(&before.to);
                }
                let document = if *is_same { Rc::clone(&sent.body) } else { self.body(20) };
                Recording::Set(document, Some(Rc::new(sent)))
            }
            Keeping::Again => before?,
            Keeping::Remove => Recording::Remove,
        };
        let there = name.as_ref().and_then(|(_, _, key)| broker?.record(repo, collection, key));
        let swap = match plan.swap {
            SwapPlan::Anything => Swap::Anything,
            SwapPlan::Nothing => Swap::Nothing,
            SwapPlan::Something => Swap::Something,
            SwapPlan::Is { honest: true } => Swap::Is(there.map(|record| record.cid)),
            SwapPlan::Is { honest: false } => Swap::Is(Some(cid_of(b"another"))),
        };
        if let Some(name) = name {
            self.written.insert(name, how.clone());
        }
        Some(Writing { collection, key, swap, how })
    }
}
