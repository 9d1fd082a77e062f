//! Writing messages as documents. Heartbeats are written by `heartbeat`.

use dialect::{Codec, Encoded, Lens, Names, Sheet};
use json::{Object, Value};
use message::{Address, AgentRef, ChannelName, Message, ThreadId, Timestamp, TopicName};

use crate::addressing::base_id;
use crate::channel_name::{is_plain, slug};
use crate::file_name::{FileName, id_for};
use crate::{channel_of, extension, heartbeat, said, types};

const LENSES: &[Lens] = &[
    Lens { native: "/content/code", canonical: "/code", codec: Codec::Text },
    Lens { native: "/metadata/in_reply_to", canonical: "/reply_to", codec: Codec::Text },
];

/// Writes a message.
pub(crate) fn encode(message: &Message, names: &Names) -> Encoded {
    if heartbeat::is_heartbeat(message) {
        return heartbeat::encode(message, names);
    }
    let mut sheet = Sheet::new(message, names);
    let agent = id_of(&message.from, names);
    id(&mut sheet, &agent);
    timestamp(&mut sheet, "/timestamp");
    let to = visible(&message.to, names);
    let session_id = channel(&mut sheet, "/session_id", &agent, &to);
    sender(&mut sheet, "/from");
    recipients(&mut sheet, &to);
    kind(&mut sheet);
    let said = said::say(message, names);
    content(&mut sheet, &said);
    sheet.write(LENSES);
    sheet.write(extension::OF_MESSAGES);
    metadata(&mut sheet, &session_id, said.lead);
    sheet.finish()
}

/// Writes who sends, and returns it.
pub(crate) fn sender(sheet: &mut Sheet<'_>, native: &str) -> String {
    let agent = id_of(&sheet.message().from, sheet.names());
    sheet.set(native, "/from", agent.clone());
    if is_stand_in(&sheet.message().from, sheet.names()) {
        sheet.invent(native, agent.clone());
    }
    agent
}

/// Returns what an agent is called in channels; ids that are no longer in use are never written.
pub(crate) fn id_of(agent: &AgentRef, names: &Names) -> String {
    let known = names.agent(agent.as_str());
    base_id(&names.slug(known.as_str())).to_owned()
}

/// Writes when the message was made: UTC, with milliseconds.
pub(crate) fn timestamp(sheet: &mut Sheet<'_>, native: &str) {
    let text = written(sheet.message());
    if sheet.message().created.is_some() {
        sheet.set(native, "/created", text);
    } else {
        sheet.invent(native, text);
    }
}

/// Writes in which channel it stands, and returns that: where its address or its thread says, else one of
/// their own for sender and recipient.
pub(crate) fn channel(sheet: &mut Sheet<'_>, native: &str, from: &str, to: &str) -> String {
    let (name, canonical) = room(sheet.message());
    let name = name.unwrap_or_else(|| format!("direct-{from}-{to}"));
    match canonical {
        Some(canonical) => sheet.set(native, canonical, name.clone()),
        None => sheet.invent(native, name.clone()),
    }
    name
}

fn room(message: &Message) -> (Option<String>, Option<&'static str>) {
    let thread = message.thread.as_ref().map(ThreadId::as_str);
    if let Some(channel) = message.to.iter().find_map(as_channel) {
        // The thread may be the same channel, in the letters of its folder.
        let folder = thread.filter(|thread| is_plain(thread) && slug(thread).as_ref() == Some(channel));
        return match folder {
            Some(folder) => (Some(folder.to_owned()), Some("/thread")),
            None => (Some(channel.to_string()), Some("/to")),
        };
    }
    let plain = thread.filter(|thread| is_plain(thread)).map(str::to_owned);
    if let Some(name) = plain.or_else(|| Some(slug(thread?)?.to_string())) {
        return (Some(name), Some("/thread"));
    }
    let topic = message.to.iter().find_map(as_topic).map(TopicName::to_string);
    let canonical = topic.as_ref().map(|_| "/to");
    (topic, canonical)
}

fn id(sheet: &mut Sheet<'_>, agent: &str) {
    let message = sheet.message();
    let timestamp = written(message);
    let native_id = message.native_id.as_ref().map(|id| id.as_str());
    let is_ours = |id: &&str| {
        let name = FileName::parse_stem(id).filter(FileName::has_hex4);
        name.and_then(|name| name.states_second_of(&timestamp)) == Some(true)
    };
    if let Some(id) = native_id.filter(is_ours) {
        return sheet.set("/id", "/native_id", id.to_owned());
    }
    let source = native_id.map(str::to_owned).or_else(|| Some(message.id?.to_string()));
    let source = source.unwrap_or_else(|| without_origin(message));
    sheet.invent("/id", id_for(&source, instant(message), agent));
    if native_id.is_some() {
        sheet.link("/id", "/native_id");
    }
}

/// The message as text; its origin is not part of what it says.
fn without_origin(message: &Message) -> String {
    let mut value = message.to_value();
    if let Some(object) = value.as_object_mut() {
        object.remove("origin");
    }
    value.to_string()
}

fn recipients(sheet: &mut Sheet<'_>, to: &str) {
    match sheet.message().to.as_slice() {
        [] => sheet.invent("/to", to.to_owned()),
        [Address::Agent(agent)] => {
            sheet.set("/to", "/to/0", to.to_owned());
            if is_stand_in(agent, sheet.names()) {
                sheet.invent("/to", to.to_owned());
            }
        }
        [_] => sheet.set("/to", "/to/0", to.to_owned()),
        [_, _, ..] => sheet.set("/to", "/to", to.to_owned()),
    }
}

fn kind(sheet: &mut Sheet<'_>) {
    let name = types::type_of(sheet.message().kind);
    sheet.set("/type", "/kind", name);
}

fn content(sheet: &mut Sheet<'_>, said: &said::Said<'_>) {
    let text = format!("{}{}", said.lead, said.body);
    match said.from {
        Some(canonical) => sheet.set("/content/text", canonical, text),
        None => sheet.invent("/content/text", text),
    }
    for (index, attachment) in sheet.message().attachments.iter().enumerate() {
        let mut whole = Object::from_iter([("path", Value::from(attachment.uri.as_str().to_owned()))]);
        let canonical = format!("/attachments/{index}");
        let described = sheet.get(&canonical).and_then(Value::as_object).cloned().unwrap_or_default();
        for (key, value) in described.into_owned() {
            if !matches!(key.as_ref(), "uri" | "path") {
                whole.insert(key, value);
            }
        }
        let is_bare = whole.len() == 1;
        let artifact =
            if is_bare { Value::from(attachment.uri.as_str().to_owned()) } else { Value::Object(whole) };
        sheet.set(&format!("/content/artifacts/{index}"), &canonical, artifact);
    }
}

/// Writes into our own fields what the others could not say.
fn metadata(sheet: &mut Sheet<'_>, session_id: &str, lead: String) {
    let message = sheet.message();
    if types::kind_of(types::type_of(message.kind)) != message.kind {
        sheet.set(extension::KIND, "/kind", message.kind.name());
    }
    let thread = message.thread.as_ref().map(ThreadId::as_str);
    let is_other = thread.is_some_and(|thread| thread != session_id);
    if is_other {
        sheet.write_one(extension::THREAD, "/thread", Codec::Text);
    }
    let is_said = match message.to.as_slice() {
        [Address::Agent(_)] => true,
        // Our own thread counts only beside our own recipients; see `route`.
        [Address::Channel(channel)] => !is_other && *channel == channel_of(session_id),
        [] | [_] | [_, _, ..] => false,
    };
    if !is_said && !message.to.is_empty() {
        let addresses = message.to.iter().map(|address| Value::from(listed(address, sheet.names())));
        sheet.set(extension::TO, "/to", addresses.collect::<Vec<_>>());
    }
    if !lead.is_empty() {
        sheet.set(extension::LEAD, "/text", lead);
    }
}

/// Returns the one word of `to`: an agent where there is one, else everyone.
fn visible(to: &[Address], names: &Names) -> String {
    match to {
        [Address::Agent(agent)] => id_of(agent, names),
        [Address::Session { agent, .. }] => base_id(agent.as_str()).to_owned(),
        [] | [Address::Role(_) | Address::Topic(_) | Address::Channel(_) | Address::All] | [_, _, ..] => {
            "all".to_owned()
        }
    }
}

/// Returns an address as our own list has it: agents by the name that the bus knows them by.
fn listed(address: &Address, names: &Names) -> String {
    match address {
        Address::Agent(agent) => names.agent(agent.as_str()).to_string(),
        Address::Session { .. }
        | Address::Role(_)
        | Address::Topic(_)
        | Address::Channel(_)
        | Address::All => address.to_string(),
    }
}

fn written(message: &Message) -> String {
    let at = instant(message);
    let plain = at.to_string();
    let own = message.created.as_ref().map(|created| created.text()).filter(|text| {
        let fraction = text.get(19..).and_then(|rest| rest.strip_prefix('.')?.strip_suffix('Z'));
        text.get(..19) == plain.get(..19) && fraction.is_some_and(|digits| digits.len() >= 3)
    });
    let millis = at.unix_micros().rem_euclid(1_000_000) / 1_000;
    own.map_or_else(|| format!("{}.{millis:03}Z", &plain[..19]), str::to_owned)
}

fn instant(message: &Message) -> Timestamp {
    let epoch = || Timestamp::from_unix_micros(0).expect("1970 lies between the years 0 and 9999");
    message.created.as_ref().map_or_else(epoch, |created| created.at())
}

/// Tells whether an agent is only known by a name from elsewhere, so that its name here is made up.
fn is_stand_in(agent: &AgentRef, names: &Names) -> bool {
    matches!(names.agent(agent.as_str()), AgentRef::Alias(_))
}

fn as_channel(address: &Address) -> Option<&ChannelName> {
    match address {
        Address::Channel(channel) => Some(channel),
        Address::Agent(_) | Address::Session { .. } | Address::Role(_) | Address::Topic(_) | Address::All => {
            None
        }
    }
}

fn as_topic(address: &Address) -> Option<&TopicName> {
    match address {
        Address::Topic(topic) => Some(topic),
        Address::Agent(_)
        | Address::Session { .. }
        | Address::Role(_)
        | Address::Channel(_)
        | Address::All => None,
    }
}
