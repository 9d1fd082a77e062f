//! Registering an agent together with the roles in which it is and with what it can do.

use message::{Address, AgentName, Seq};

use crate::broker::Broker;
use crate::effect::Effects;
use crate::group::check_group;
use crate::{AgentKey, Context, Event, ProfileSwap, Refusal, Register, Reply, Time};

/// Roles of what one agent can do.
const CAPABILITY_ROLES_MAX: usize = 50;

impl Broker {
    /// Registers an agent, makes it a member of the groups that the command names, and notes what it can do. What may be
    /// refused is checked before anything is done.
    pub(crate) fn register_with_carried(
        &mut self,
        cx: &mut Context<'_>,
        register: &Register,
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) -> Result<Reply, Refusal> {
        self.check_swap(&register.name, &register.swap)?;
        let registered = self.register(register)?;
        self.check_joins(self.agent(register.name.as_str()), &register.joins)?;
        if let Some(capabilities) = &register.capabilities {
            self.check_capabilities(capabilities)?;
        }
        self.commit_all(cx.now, &registered.events, effects, write);
        let Reply::Agent(agent) = registered.reply else { return Ok(registered.reply) };
        for address in &register.joins {
            let joined = self.join(agent, address)?;
            self.commit_all(cx.now, &joined.events, effects, write);
        }
        if let Some(capabilities) = &register.capabilities {
            self.equip_in_roles(cx, (agent, capabilities), effects, write)?;
        }
        Ok(Reply::Agent(agent))
    }

    /// Notes what an agent can do. It is a member of a role for each capability, so that others can ask for the
    /// capability without knowing who has it.
    pub(crate) fn equip_in_roles(
        &mut self,
        cx: &mut Context<'_>,
        (agent, capabilities): (AgentKey, &[Box<str>]),
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) -> Result<Reply, Refusal> {
        let before = capability_roles(self.capabilities_of(agent));
        let now = capability_roles(capabilities);
        let equipped = self.equip(agent, capabilities)?;
        self.commit_all(cx.now, &equipped.events, effects, write);
        #[cfg(feature = "plants")]
        let before = if self.has_plant(crate::plant::Plant::KeepLostRoles) { Vec::new() } else { before };
        for role in &now {
            // An agent with too many memberships is registered nevertheless, without the role.
            if let Ok(joined) = self.join(agent, role) {
                self.commit_all(cx.now, &joined.events, effects, write);
            }
        }
        for role in before.iter().filter(|role| !now.contains(role)) {
            let left = self.leave(agent, role)?;
            self.commit_all(cx.now, &left.events, effects, write);
        }
        Ok(Reply::Done)
    }

    /// Refuses a registration that rests on something else than what is known of the agent.
    fn check_swap(&self, name: &AgentName, swap: &ProfileSwap) -> Result<(), Refusal> {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::IgnoreProfileSwap) {
            return Ok(());
        }
        let known = self.agent(name.as_str()).and_then(|agent| self.agent_at(agent).ok());
        // A name that is an alias of another agent is refused as taken.
        let known = known.filter(|known| *known.name == *name.as_str());
        match (swap, known) {
            (ProfileSwap::Anything, _) | (ProfileSwap::New, None) => Ok(()),
            (ProfileSwap::Is(profile), Some(known)) if *profile == known.profile => Ok(()),
            (ProfileSwap::New | ProfileSwap::Is(_), _) => {
                Err(Refusal::ProfileChanged { name: name.to_string() })
            }
        }
    }

    /// Refuses memberships that an agent, or one that is new, cannot have.
    fn check_joins(&self, agent: Option<AgentKey>, joins: &[Address]) -> Result<(), Refusal> {
        let mut new: Vec<&Address> = Vec::new();
        for address in joins {
            check_group(address)?;
            let group = self.group(&address.to_string());
            let is_member = agent.zip(group).is_some_and(|(agent, group)| self.is_member(agent, group));
            if !is_member && !new.contains(&address) {
                new.push(address);
            }
        }
        let memberships = agent.map_or(0, |agent| self.membership_count(agent));
        let (count, count_max) = (memberships + new.len() as u64, self.settings.limits.memberships_max);
        if !new.is_empty() && count > count_max {
            let count = count - 1;
            return Err(Refusal::TooMany { what: "memberships of this agent", count, count_max });
        }
        let made = new.iter().filter(|address| self.group(&address.to_string()).is_none()).count();
        made.checked_sub(1).map_or(Ok(()), |before| self.may_make_group(before))
    }
}

/// Returns the roles of those who can do something: `roles.can.code-review` for `Code review`.
fn capability_roles(capabilities: &[Box<str>]) -> Vec<Address> {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let word = |text: &str| text.chars().flat_map(char::to_lowercase).map(letter).collect::<String>();
    let roles = capabilities.iter().map(|text| format!("roles.can.{}", word(text).trim_matches('-')));
    let mut roles: Vec<Address> =
        roles.filter_map(|role| role.parse().ok()).take(CAPABILITY_ROLES_MAX).collect();
    roles.dedup();
    roles
}
