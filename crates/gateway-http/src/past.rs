//! Looking back: what was said, by whom, in which conversation; and searching in it.

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use gateway::{Hub, Problem, Query};
use history::{Page, Row};
use message::{Kind, Seq};

use gateway::Answer;
use gateway::Caller;
use gateway::letters;

const LIMIT_DEFAULT: u64 = 50;
const LIMIT_MAX: u64 = 1_000;
/// Bytes of documents that are read for their words; of what is listed behind them, none are shown.
const WORDS_BYTES_MAX: usize = 64 << 20;
/// Characters around the first match that are shown.
const HIGHLIGHT_CHARS: usize = 160;

/// Lists messages that the caller may see.
pub(crate) async fn list(caller: Caller, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let asked = read(&caller, Query(query.as_deref()))?;
    let (text, durable) = (asked.text.clone(), caller.hub.node().durable());
    let asked = history::Query { fresh: durable, ..asked };
    let page = caller.hub.ask(move |history| history.find(&asked)).await?;
    let lag = durable.0.saturating_sub(page.upto.0);
    let Page { rows, next, earlier, .. } = page;
    let places: Vec<Seq> = rows.iter().map(|row| row.body).collect();
    // A message whose document was trimmed is shown without its words.
    let (mut messages, mut bytes_left) = (Vec::with_capacity(rows.len()), WORDS_BYTES_MAX);
    let mut bodies = caller.hub.node().body_reader(places);
    for row in &rows {
        let body = if bytes_left > 0 { bodies.next().await.and_then(Result::ok) } else { None };
        let body = body.unwrap_or_default();
        bytes_left = bytes_left.saturating_sub(body.len());
        messages.push(row_text(&caller.hub, row, &body, text.as_deref()));
    }
    let mut answer = Answer::new().list("messages", messages);
    for (key, place) in [("next", next), ("earlier", earlier)] {
        if let Some(place) = place {
            answer = answer.number(key, place.0);
        }
    }
    Ok(answer.number("lag", lag).respond(StatusCode::OK))
}

fn read(caller: &Caller, query: Query<'_>) -> Result<history::Query, Problem> {
    let limit = query.number("limit")?.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX);
    let mut asked = history::Query::new(caller.principal.scope(), usize::try_from(limit).unwrap_or(1));
    let text = |key: &str| query.get(key).map(|text| text.map(|text| text.into_owned()));
    if let Some(agent) = query.get("agent")? {
        asked.agent = Some(caller.agent(&agent)?.key);
    }
    if let Some(kind) = query.get("kind")? {
        let unknown = || Problem::bad_request(format!("there is no kind {kind:?}"));
        asked.kind = Some(Kind::from_name(&kind).ok_or_else(unknown)?);
    }
    (asked.thread, asked.task, asked.text) = (text("thread")?, text("task")?, text("q")?);
    // A channel may be named without its prefix.
    asked.channel = text("channel")?.map(|name| {
        if name.contains([':', '#', '.']) || name == "all" { name } else { format!("channel:{name}") }
    });
    asked.after = query.number("after")?.map(Seq);
    asked.before = query.number("before")?.map(Seq);
    Ok(asked)
}

fn row_text(hub: &Hub, row: &Row, body: &[u8], text: Option<&str>) -> String {
    let said = hub.reading(|reading| gateway::said(body, reading));
    let summary = said.as_deref().map(gateway::head);
    let highlight = text.and_then(|text| {
        // What is found elsewhere than in the words themselves is shown with what stands around it.
        let in_words = said.as_deref().and_then(|said| history::highlight(said, text, HIGHLIGHT_CHARS));
        let is_marked = |shown: &String| shown.contains('«');
        in_words.filter(is_marked).or_else(|| history::highlight(&history::text(body), text, HIGHLIGHT_CHARS))
    });
    Answer::with_capacity(512)
        .number("seq", row.seq.0)
        .text("id", &row.id.to_string())
        .maybe("native_id", row.native_id.as_deref())
        .text("at", &letters::came(row.id).to_string())
        .text("dialect", row.dialect.name())
        .text("kind", row.kind.name())
        .text("from", &row.from)
        .texts("to", row.to.iter().map(ToString::to_string))
        .maybe("thread", row.thread.as_deref())
        .maybe("task", row.task.as_deref())
        .maybe("reply_to", row.reply_to.as_deref())
        .text("priority", row.priority.name())
        .text("stage", row.stage.name())
        .maybe("text", summary.as_deref())
        .maybe("highlight", highlight.as_deref())
        .end()
}
