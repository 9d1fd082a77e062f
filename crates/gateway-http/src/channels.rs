//! Channels: who is in them, which folders they have, and which files there could not be taken in.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::Response;
use broker::query::agents::RegistryPage;
use gateway::channels::{FileProblem, Traffic};
use gateway::{AGENTS_MAX, Answer, Caller, Hub, Problem};

const CHANNEL: &str = "channel:";

/// What is shown of a channel.
#[derive(Default)]
struct Shown {
    members: Vec<String>,
    folders: Vec<(String, String, Traffic)>,
}

/// Lists the channels; where their folders lie is shown to the operator.
pub(crate) async fn list(caller: Caller) -> Result<Response, Problem> {
    let mut channels = members(&caller.hub).await?;
    if caller.principal.is_operator() {
        for (root, folder, traffic) in caller.hub.channels().traffic() {
            let name = dialect_channel::channel_of(&folder).to_string();
            channels.entry(name).or_default().folders.push((root, folder, traffic));
        }
    }
    let shown = channels.into_iter().map(|(name, shown)| channel(&name, shown));
    Ok(Answer::new().list("channels", shown).respond(StatusCode::OK))
}

/// Finds out who is in which channel.
async fn members(hub: &Hub) -> Result<BTreeMap<String, Shown>, Problem> {
    let mut channels: BTreeMap<String, Shown> = BTreeMap::new();
    let mut after = None;
    loop {
        let (agents, next) = hub.query(RegistryPage { after, max: AGENTS_MAX }).await?;
        for agent in agents {
            for channel in agent.memberships.iter().filter_map(|it| it.strip_prefix(CHANNEL)) {
                channels.entry(channel.to_owned()).or_default().members.push(agent.name.to_string());
            }
        }
        after = next;
        if after.is_none() {
            return Ok(channels);
        }
    }
}

/// Lists the files that were not taken in or are odd, the newest first.
pub(crate) async fn problems(caller: Caller) -> Result<Response, Problem> {
    caller.principal.must_be_operator()?;
    let (problems, total) = caller.hub.channels().problems();
    let shown = problems.iter().map(problem);
    Ok(Answer::new().number("total", total).list("problems", shown).respond(StatusCode::OK))
}

fn channel(name: &str, shown: Shown) -> String {
    let folder = |(root, folder, traffic): (String, String, Traffic)| {
        let answer = Answer::new().text("root", &root).text("folder", &folder);
        let answer = answer.number("files", traffic.files).number("sent", traffic.sent);
        answer.number("written", traffic.written).end()
    };
    Answer::new()
        .text("channel", name)
        .texts("members", shown.members)
        .list("folders", shown.folders.into_iter().map(folder))
        .end()
}

fn problem(problem: &FileProblem) -> String {
    Answer::new()
        .text("root", &problem.root)
        .text("channel", &problem.channel)
        .text("file", &problem.file)
        .text("severity", problem.severity.name())
        .text("code", &problem.code)
        .text("detail", &problem.detail)
        .text("at", &problem.at.to_string())
        .end()
}
