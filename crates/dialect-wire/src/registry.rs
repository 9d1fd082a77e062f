//! The registry against which the references of a card are checked.

use std::collections::HashSet;

use dialect::IdentityError;
use json::Value;

use crate::syntax::role_name;

/// The agents, roles and output contracts that exist. A list that is not given is not checked against.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    agents: Option<HashSet<String>>,
    roles: Option<HashSet<String>>,
    output_contracts: Option<HashSet<String>>,
}

impl Registry {
    /// Reads a registry: `agents`, `roles` and `output_contracts`, each a list of slugs or of objects with `slug`.
    ///
    /// The roles that agents have are known as well. A list alone is one of agents.
    pub fn from_value(value: &Value<'_>) -> Result<Self, IdentityError> {
        if value.as_array().is_some() {
            return Registry::from_agents(value, "");
        }
        let lists = ["agents", "roles", "output_contracts"];
        if !lists.iter().any(|list| value.get(list).is_some()) {
            return Err(error("", "expected an object with agents, roles or output_contracts"));
        }
        let mut registry = match value.get("agents") {
            Some(agents) => Registry::from_agents(agents, "/agents")?,
            None => Registry::default(),
        };
        if let Some(roles) = value.get("roles") {
            let named = slugs(roles, "/roles")?;
            let named = named.iter().map(|role| role_name(role).to_owned());
            registry.roles.get_or_insert_default().extend(named);
        }
        if let Some(contracts) = value.get("output_contracts") {
            registry.output_contracts = Some(slugs(contracts, "/output_contracts")?.into_iter().collect());
        }
        Ok(registry)
    }

    fn from_agents(agents: &Value<'_>, place: &str) -> Result<Self, IdentityError> {
        let mut registry =
            Registry { agents: Some(slugs(agents, place)?.into_iter().collect()), ..Registry::default() };
        for (index, agent) in agents.as_array().unwrap_or_default().iter().enumerate() {
            if let Some(roles) = agent.get("roles") {
                let roles = slugs(roles, &format!("{place}/{index}/roles"))?;
                let roles = roles.iter().map(|role| role_name(role).to_owned());
                registry.roles.get_or_insert_default().extend(roles);
            }
        }
        Ok(registry)
    }

    /// Tells whether an agent may exist.
    pub(crate) fn knows_agent(&self, slug: &str) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.contains(slug))
    }

    /// Tells whether an escalation may lead there: to a role, with or without its prefix, or to an agent.
    pub(crate) fn knows_route(&self, route: &str) -> bool {
        let is_role = self.roles.as_ref().is_none_or(|roles| roles.contains(role_name(route)));
        let is_agent = !route.starts_with("roles.") && self.knows_agent(route);
        role_name(route) == "exec" || is_role || is_agent
    }

    /// Tells whether an output contract may exist.
    pub(crate) fn knows_output(&self, slug: &str) -> bool {
        self.output_contracts.as_ref().is_none_or(|contracts| contracts.contains(slug))
    }
}

fn slugs(value: &Value<'_>, place: &str) -> Result<Vec<String>, IdentityError> {
    let Value::Array(items) = value else { return Err(error(place, "expected a list of slugs")) };
    let slug = |(index, item): (usize, &Value<'_>)| {
        let slug = item.as_str().or_else(|| item.get("slug")?.as_str());
        slug.map(str::to_owned)
            .ok_or_else(|| error(&format!("{place}/{index}"), "expected a slug, or an object with slug"))
    };
    items.iter().enumerate().map(slug).collect()
}

fn error(path: &str, message: &str) -> IdentityError {
    IdentityError { path: path.to_owned(), message: message.to_owned() }
}
