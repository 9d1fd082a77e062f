//! Files become messages: a loop that polls the channels of a root.

use std::collections::HashSet;
use std::sync::Arc;

use broker::{Accept, AgentKey, Command, Receipted};
use channel_root::{Found, Unreadable};
use dialect::Name;
use dialect_channel::{addressing, codes};
use gateway::channels::Severity;
use gateway::socket::stops;
use gateway::{Asking, Code, Hub, Problem, Retry, Submission};
use history::{Query, Scope};
use json::Value;
use message::{MessageId, Seq};

use crate::journal::Doubts;
use crate::place::{Located, as_it_lies};
use crate::presence::Presences;
use crate::residents::Residents;
use crate::roles::Roles;
use crate::shelf::Shelf;
use crate::site::Site;

/// Rows of the history that are looked at together.
const ROWS_MAX: usize = 500;

/// Who is in which channel, so that nobody is asked in twice.
pub(crate) type Joined = HashSet<(AgentKey, String)>;

/// A file on its way to the bus.
struct Prepared {
    file: String,
    submission: Submission,
}

/// Watches a root until the bus stops.
pub(crate) async fn watch(site: Arc<Site>) {
    let mut stopping = site.stopping.clone();
    let mut changes = site.hub.registry_changes();
    let (mut residents, mut presences, mut joined) =
        (Residents::default(), Presences::default(), Joined::new());
    tracing::info!("watching the channel root {}", site.path);
    let mut is_silent = false;
    loop {
        changes.mark_unchanged();
        // Who was registered by the last look lives here from now on.
        if let Err(problem) = residents.refresh(&site).await {
            tracing::warn!("{}: {}", site.path, problem.detail);
        }
        // What was begun is finished, so that the journal says what happened.
        let looked = look(&site, &mut presences, &mut joined).await;
        let more = looked.as_ref().is_ok_and(|more| *more);
        match (looked, is_silent) {
            (Err(reason), false) => {
                tracing::warn!("the channel root {} cannot be read now: {reason}", site.path);
                is_silent = true;
            }
            (Ok(_), true) => {
                tracing::info!("the channel root {} can be read again", site.path);
                is_silent = false;
            }
            (Ok(_), false) | (Err(_), true) => {}
        }
        if more && !*stopping.borrow() {
            continue;
        }
        tokio::select! {
            () = tokio::time::sleep(site.poll) => {}
            () = stops(&mut stopping) => break,
            Ok(()) = changes.changed() => {}
        }
    }
    residents.stopped().await;
}

/// Looks at every channel once, and tells whether there is more than was taken.
async fn look(site: &Arc<Site>, presences: &mut Presences, joined: &mut Joined) -> Result<bool, String> {
    let seen = site.with_shelf(|site, shelf| {
        let channels = site.root.refresh().and_then(|()| shelf.channels());
        let channels = channels.map_err(|error| error.to_string());
        let (seen, registry) = (site.root.presences(site.wall()), site.root.registry());
        channels.map(|channels| (channels, seen.unwrap_or_default(), registry.unwrap_or_default()))
    });
    let (channels, seen, registry) = seen.await.ok_or("it failed")??;
    presences.tell(site, &seen).await;
    presences.show(site, &seen, &channels).await;
    let roles = Roles::new(registry);
    let (mut more, mut failed) = (false, None);
    for channel in channels {
        site.enter(site.agent, &channel, joined).await;
        // What is wrong in one channel does not hold up the others.
        match look_into(site, &channel, &roles, joined).await {
            Ok(is_more) => more |= is_more,
            Err(reason) => failed = failed.or(Some(format!("{channel}: {reason}"))),
        }
    }
    let tidied = site.with_shelf(|_, shelf| shelf.tidy()).await;
    if let Some(Err(error)) = tidied {
        tracing::warn!("what is known of {} cannot be written anew: {error}", site.path);
    }
    failed.map_or(Ok(more), Err)
}

/// Takes in what is new in a channel, and tells whether there is more.
async fn look_into(
    site: &Arc<Site>,
    channel: &str,
    roles: &Roles,
    joined: &mut Joined,
) -> Result<bool, String> {
    let (now, name) = (site.hub.node().steady(), channel.to_owned());
    let polled = site.with_shelf(move |site, shelf| {
        let polled = shelf.poll(&name, now).map_err(|error| error.to_string());
        let files = shelf.known(&name);
        site.hub.channels().count(&site.path, &name, |traffic| traffic.files = files);
        polled
    });
    let polled = polled.await.ok_or("it failed")??;
    for Unreadable { name, problem } in &polled.unreadable {
        site.complain((channel, name), Severity::Refused, problem.code(), &problem.to_string());
    }
    if polled.found.is_empty() {
        return Ok(polled.more);
    }
    let (mut prepared, mut refused) = (Vec::new(), Vec::new());
    for found in polled.found {
        match prepare(site, channel, &found, roles, joined).await {
            Ok(submission) => prepared.push(Prepared { file: found.name, submission }),
            Err(problem) => refused.push((found.name, problem)),
        }
    }
    let ((accepted, late), failed) = match send(site, channel, prepared).await {
        Ok(sent) => (sent, None),
        Err(reason) => (Sent::default(), Some(reason)),
    };
    refused.extend(late);
    conclude(site, channel, accepted, refused).await?;
    failed.map_or(Ok(polled.more), Err)
}

/// Makes a file ready to be sent: finds out who speaks, and reads it.
async fn prepare(
    site: &Arc<Site>,
    channel: &str,
    found: &Found,
    roles: &Roles,
    joined: &mut Joined,
) -> Result<Submission, Problem> {
    let id = found.name.strip_suffix(".json").unwrap_or(&found.name);
    let not_json = || Problem::new(Code::NotJson, "it holds no JSON object");
    let Located { text, value, other_channel } =
        as_it_lies(&found.bytes, channel, id).ok_or_else(not_json)?;
    let said = |key: &str| value.get(key).and_then(Value::as_str);
    let from = addressing::base_id(said("from").or_else(|| said("agent_id")).unwrap_or_default());
    if from.is_empty() {
        return Err(Problem::new(Code::Invalid, "it does not say who sends it: `from` is missing"));
    }
    let principal = site.speaker(from).await?;
    let role_oddity = roles.oddity(from, said("type").unwrap_or("chat"));
    let reply_to = value.pointer("/metadata/in_reply_to").and_then(Value::as_str).map(str::to_owned);
    let asking = Asking { hold: true, ..Asking::default() };
    let mut submission =
        Submission::read_parsed(&site.hub, &principal, (&text, value), Name::Channel, asking)?;
    site.enter(submission.accept.from, channel, joined).await;
    if let Some(message) = answered(site, channel, reply_to).await {
        submission.accept.reply_to = Some(message.to_string().into());
    }
    let place = (channel, found.name.as_str());
    if let Some(oddity) = role_oddity {
        site.complain(place, Severity::Odd, codes::SENDER_ROLE, &oddity);
    }
    if let Some(other) = other_channel {
        let detail = format!("it says that its channel is {other:?}; the folder counts");
        site.complain(place, Severity::Odd, "other_channel", &detail);
    }
    Ok(submission)
}

/// Returns the message that a file answers by naming the file that was written for it.
async fn answered(site: &Arc<Site>, channel: &str, reply_to: Option<String>) -> Option<MessageId> {
    let (channel, reply_to) = (channel.to_owned(), reply_to?);
    site.with_shelf(move |_, shelf| shelf.message_of(&channel, &reply_to)).await.flatten()
}

type Sent = (Vec<(String, Receipted)>, Vec<(String, Problem)>);

/// Has the bus accept files, all in one turn; the journal says so first.
async fn send(site: &Arc<Site>, channel: &str, prepared: Vec<Prepared>) -> Result<Sent, String> {
    if prepared.is_empty() {
        return Ok(Sent::default());
    }
    let after = site.hub.node().durable();
    let (name, files) = (channel.to_owned(), prepared.iter().map(|it| it.file.clone()).collect::<Vec<_>>());
    let noted = site.with_shelf({
        let (name, files) = (name.clone(), files.clone());
        move |_, shelf| shelf.sending(after, &name, &files)
    });
    let noted =
        noted.await.ok_or_else(|| "it failed".to_owned()).and_then(|it| it.map_err(|e| e.to_string()));
    if let Err(reason) = noted {
        put_off(site, name, files).await;
        return Err(reason);
    }
    let (names, commands): (Vec<_>, Vec<_>) = prepared
        .into_iter()
        .map(|Prepared { file, submission }| (file, Command::Accept(submission.without_waiting().accept)))
        .unzip();
    match site.hub.execute_all(commands).await {
        Ok(executed) => {
            let (mut accepted, mut refused) = (Vec::new(), Vec::new());
            for (file, executed) in names.into_iter().zip(executed) {
                match executed.answer::<Box<Accept>>() {
                    Ok(receipted) => accepted.push((file, receipted)),
                    Err(error) => refused.push((file, error.into())),
                }
            }
            Ok((accepted, refused))
        }
        Err(problem) => {
            put_off(site, name, files).await;
            Err(problem.detail)
        }
    }
}

async fn put_off(site: &Arc<Site>, channel: String, files: Vec<String>) {
    let put_off = site.with_shelf(move |_, shelf| {
        files.iter().for_each(|file| shelf.put_off(&channel, file));
    });
    put_off.await.unwrap_or_default();
}

/// Notes what became of files. What may be accepted later is found once more.
async fn conclude(
    site: &Arc<Site>,
    channel: &str,
    accepted: Vec<(String, Receipted)>,
    refused: Vec<(String, Problem)>,
) -> Result<(), String> {
    let (later, refused): (Vec<_>, Vec<_>) =
        refused.into_iter().partition(|(_, problem)| problem.code.retry() == Retry::Later);
    for (file, problem) in &refused {
        site.complain((channel, file), Severity::Refused, problem.code.name(), &problem.detail);
    }
    let sent = accepted.iter().filter(|(_, receipted)| !receipted.duplicate).count() as u64;
    site.hub.channels().count(&site.path, channel, |traffic| traffic.sent += sent);
    let put_off = later.first().map(|(_, problem)| problem.detail.clone());
    let name = channel.to_owned();
    let noted = site.with_shelf(move |_, shelf| {
        for (file, _) in accepted {
            shelf.sent((name.clone(), file))?;
        }
        for (file, _) in refused {
            shelf.refuse((name.clone(), file))?;
        }
        later.iter().for_each(|(file, _)| shelf.put_off(&name, file));
        std::io::Result::Ok(())
    });
    noted.await.ok_or("it failed")?.map_err(|error| error.to_string())?;
    match put_off {
        Some(reason) => Err(reason),
        None => Ok(()),
    }
}

/// Finds out which files that were about to be sent when the process ended are on the bus.
pub(crate) async fn settle_doubts(hub: &Hub, shelf: &mut Shelf, doubts: Doubts) -> Result<(), Problem> {
    let files = doubts.into_files();
    let Some(mut after) = files.iter().map(|(_, after)| *after).min() else { return Ok(()) };
    let mut doubtful: HashSet<(String, String)> = files.into_iter().map(|(place, _)| place).collect();
    loop {
        let fresh = hub.node().durable();
        let query = Query { after: Some(after), fresh, ..Query::new(Scope::Everything, ROWS_MAX) };
        let page = hub.ask(move |history| history.find(&query)).await?;
        for row in page.rows {
            let (Some(id), Some(thread)) = (row.native_id, row.thread) else { continue };
            let place = (thread, format!("{id}.json"));
            if doubtful.remove(&place) {
                let noted = shelf.sent(place);
                noted.map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
            }
        }
        match page.next {
            Some(next) => after = next,
            None if page.upto >= fresh => return Ok(()),
            // The history has not come that far yet.
            None => after = after.max(Seq(page.upto.0)),
        }
    }
}
