//! Audiences: whom the selectors of a broadcast mean.

use dialect::Names;
use json::{Object, Value};
use message::{Address, ChannelName, TopicName};

/// Whom one selector of an audience means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector<'v> {
    /// One agent, by its DID.
    Agent(&'v str),
    /// Those who follow a topic, by its name without `#`.
    Tag(&'v str),
    /// A group, by its name.
    Group(&'v str),
}

impl<'v> Selector<'v> {
    /// Tells whom a selector means: a DID by its prefix, a tag by `#` or by being the broadcast's topic, else
    /// a group.
    pub fn of(item: &'v str, topic: Option<&str>) -> Self {
        match item.strip_prefix('#') {
            Some(tag) => Selector::Tag(tag),
            None if item.starts_with("did:") => Selector::Agent(item),
            None if topic == Some(item) => Selector::Tag(item),
            None => Selector::Group(item),
        }
    }
}

/// Returns whom the audience of a broadcast means; an empty list is everyone.
pub fn audience_of<'v>(broadcast: &'v Object<'_>) -> Vec<Selector<'v>> {
    let topic = broadcast.get("topic").and_then(Value::as_str);
    let items = broadcast.get("audience").and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(|item| Selector::of(item, topic)).collect()
}

/// Returns the address that one selector of an audience stands for.
///
/// A group has members who all get the message, so it is a channel, unless it is written as an address.
pub fn address_of(item: &str, topic: Option<&str>, names: &Names) -> Address {
    match Selector::of(item, topic) {
        Selector::Agent(did) => Address::Agent(names.agent(did)),
        Selector::Tag(tag) => Address::Topic(topic_name(tag)),
        Selector::Group(group) => match group.parse::<Address>() {
            Ok(address @ (Address::Role(_) | Address::Channel(_) | Address::All)) => address,
            Ok(Address::Agent(_) | Address::Session { .. } | Address::Topic(_)) | Err(_) => {
                Address::Channel(channel_name(group))
            }
        },
    }
}

/// Returns the selector that is read as that address, where the broadcast has that topic.
pub(crate) fn selector_for(address: &Address, topic: Option<&str>, names: &Names) -> String {
    if let Address::Channel(channel) = address
        && address_of(channel.as_str(), topic, names) == *address
    {
        return channel.to_string();
    }
    address.to_string()
}

fn topic_name(text: &str) -> TopicName {
    text.parse().or_else(|_| slug(text).parse()).expect("a slug is a name")
}

fn channel_name(text: &str) -> ChannelName {
    text.parse().or_else(|_| slug(text).parse()).expect("a slug is a name")
}

/// Makes a name of any text. Its characters are those of every name, so it is one of a topic and a channel too.
fn slug(text: &str) -> String {
    Names::default().agent(text.trim_start_matches("did:")).to_string()
}
