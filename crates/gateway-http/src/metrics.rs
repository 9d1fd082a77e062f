//! Figures for Prometheus. All their names are here.
//!
//! Labels are small sets of words, never names of agents or ids.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use broker::Counts;
use broker::query::figures::{AgentFiguresPage, AllFigures, Figures};
use gateway::{AGENTS_MAX, Hub, Problem};
use message::TaskStatus;
use node::{Durations, STEPS_US};

/// Agents of one kind and what waits for them.
#[derive(Default)]
struct Waiting {
    agents: u64,
    messages: u64,
    age_ms: u64,
}

/// Shows the figures, to the operator or, where it is so set, to whoever asks.
pub(crate) async fn show(State(hub): State<Hub>, headers: HeaderMap) -> Result<Response, Problem> {
    if !hub.shows_metrics() {
        hub.principal(gateway::token(&headers).as_ref())?.must_be_operator()?;
    }
    let figures = hub.query(AllFigures).await?;
    let waiting = waiting(&hub).await?;
    let mut page = Page(String::with_capacity(8 << 10));
    page.traffic(&hub);
    page.state(&hub, &figures.counts, &waiting);
    page.work(&figures);
    page.durations(&hub);
    page.process();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], page.0).into_response())
}

/// Sums up what waits for agents of each kind, page by page.
async fn waiting(hub: &Hub) -> Result<BTreeMap<(&'static str, &'static str), Waiting>, Problem> {
    let mut waiting: BTreeMap<(&str, &str), Waiting> = BTreeMap::new();
    let mut after = None;
    loop {
        let (agents, next) = hub.query(AgentFiguresPage { after, max: AGENTS_MAX }).await?;
        for agent in agents {
            let of_class = waiting.entry((agent.dialect.name(), agent.reachability.name())).or_default();
            of_class.agents += 1;
            of_class.messages += agent.waiting;
            of_class.age_ms = of_class.age_ms.max(agent.age_ms);
        }
        after = next;
        if after.is_none() {
            return Ok(waiting);
        }
    }
}

struct Page(String);

impl Page {
    fn traffic(&mut self, hub: &Hub) {
        let happened = &hub.node().counters().happened;
        let total = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        self.head("convoke_messages_accepted_total", "counter", "Messages that were taken in");
        self.line("convoke_messages_accepted_total", "", total(&happened.accepted));
        self.head("convoke_deliveries_total", "counter", "What became of deliveries");
        for (stage, counter) in [
            ("dispatched", &happened.dispatched),
            ("returned", &happened.returned),
            ("surfaced", &happened.surfaced),
            ("acknowledged", &happened.acknowledged),
            ("retried", &happened.retried),
            ("moved", &happened.moved),
            ("dead", &happened.dead),
            ("expired", &happened.expired),
            ("unconfirmed", &happened.unconfirmed),
            ("withdrawn", &happened.withdrawn),
        ] {
            self.line("convoke_deliveries_total", &format!("stage=\"{stage}\""), total(counter));
        }
        let counters = hub.node().counters();
        for (name, help, counter) in [
            ("convoke_log_batches_total", "Batches that were appended to the log", &counters.batches),
            ("convoke_log_events_total", "Events in them", &counters.events),
            ("convoke_log_bytes_total", "Their bytes", &counters.bytes),
            ("convoke_log_segments_trimmed_total", "Segments that were given up", &counters.segments_trimmed),
            ("convoke_log_bodies_carried_total", "Documents that were carried forward", &counters.carried),
            ("convoke_calls_total", "Calls that were carried out", &counters.calls),
        ] {
            self.head(name, "counter", help);
            self.line(name, "", total(counter));
        }
    }

    fn state(&mut self, hub: &Hub, counts: &Counts, waiting: &BTreeMap<(&str, &str), Waiting>) {
        let position = hub.history().position();
        let durable = hub.node().durable().0;
        for (name, help, value) in [
            ("convoke_messages_open", "Messages that are not settled", counts.messages),
            ("convoke_messages_open_bytes", "Their bytes", counts.bytes),
            ("convoke_dead_letters", "Dead letters", counts.dead),
            ("convoke_deliveries_open", "Deliveries that are handed out", counts.handed_out),
            ("convoke_waits_open", "Senders that wait for a reply", counts.waits),
            ("convoke_connections_open", "Sockets, streams and long polls", hub.connections() as u64),
            ("convoke_log_seq", "The last durable event", durable),
            ("convoke_log_first_seq", "The oldest event that the log holds", hub.node().log_first().0),
            ("convoke_log_disk_bytes", "What the files of the log take", hub.node().log_bytes()),
            ("convoke_log_full", "Whether the disk is full, 1 or 0", u64::from(hub.node().is_full())),
            (
                "convoke_history_lag_events",
                "Events behind the log",
                durable.saturating_sub(position.applied.0),
            ),
            (
                "convoke_history_text_lag_events",
                "Events not searched yet",
                durable.saturating_sub(position.indexed.0),
            ),
        ] {
            self.head(name, "gauge", help);
            self.line(name, "", value);
        }
        let class = |(dialect, reachability): &(&str, &str)| {
            format!("dialect=\"{dialect}\",reachability=\"{reachability}\"")
        };
        self.head("convoke_agents", "gauge", "Agents");
        waiting.iter().for_each(|(key, waiting)| self.line("convoke_agents", &class(key), waiting.agents));
        self.head("convoke_queue_messages", "gauge", "Messages that wait for agents");
        waiting
            .iter()
            .for_each(|(key, waiting)| self.line("convoke_queue_messages", &class(key), waiting.messages));
        self.head("convoke_queue_age_seconds", "gauge", "For how long the oldest of them waits");
        for (key, waiting) in waiting {
            let line = format!("{}.{:03}", waiting.age_ms / 1_000, waiting.age_ms % 1_000);
            self.text("convoke_queue_age_seconds", &class(key), &line);
        }
    }

    fn work(&mut self, work: &Figures) {
        self.head("convoke_tasks", "gauge", "Tasks that are known, by how far they are");
        for (status, count) in TaskStatus::ALL.iter().zip(work.tasks) {
            self.line("convoke_tasks", &format!("status=\"{}\"", status.name()), count);
        }
        self.head("convoke_gates_open", "gauge", "What waits for a human");
        self.line("convoke_gates_open", "", work.gates);
        self.head("convoke_breakers_open", "gauge", "Agents that are given no work");
        self.line("convoke_breakers_open", "", work.breakers);
        self.head("convoke_work_spent_usd", "gauge", "What work has cost");
        self.text("convoke_work_spent_usd", "", &work.spent.to_string());
        self.head("convoke_work_reserved_usd", "gauge", "What is set aside for work that is not over");
        self.text("convoke_work_reserved_usd", "", &work.reserved.to_string());
    }

    fn durations(&mut self, hub: &Hub) {
        let counters = hub.node().counters();
        self.histogram(
            "convoke_sync_seconds",
            "How long it took to make a batch durable",
            "",
            &counters.sync,
        );
        let name = "convoke_query_seconds";
        self.head(name, "histogram", "How long queries held the one writer, for whom everybody waits");
        for (query, durations) in counters.queries.read() {
            self.steps(name, &format!("query=\"{query}\""), &durations);
        }
        let name = "convoke_stage_seconds";
        self.head(name, "histogram", "How long messages took to be answered, handed out and acknowledged");
        for (stage, durations) in [
            ("answered", hub.answered()),
            ("dispatched", &counters.dispatch),
            ("acknowledged", &counters.settle),
        ] {
            self.steps(name, &format!("stage=\"{stage}\""), durations);
        }
    }

    fn process(&mut self) {
        // Elsewhere than on Linux there is no such folder, and no such figures.
        let pages = std::fs::read_to_string("/proc/self/statm").ok();
        let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
        if let Some(pages) = pages {
            self.head("process_resident_memory_bytes", "gauge", "Memory in use");
            self.line("process_resident_memory_bytes", "", pages * PAGE_BYTES);
        }
        if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
            self.head("process_open_fds", "gauge", "Open files and sockets");
            self.line("process_open_fds", "", open.count() as u64);
        }
    }

    fn histogram(&mut self, name: &str, help: &str, label: &str, durations: &Durations) {
        self.head(name, "histogram", help);
        self.steps(name, label, durations);
    }

    fn steps(&mut self, name: &str, label: &str, durations: &Durations) {
        let (steps, sum) = durations.read();
        let comma = if label.is_empty() { "" } else { "," };
        let mut count = 0;
        for (end_us, step) in STEPS_US.iter().zip(&steps) {
            count += step;
            let le = f64::from(u32::try_from(*end_us).unwrap_or(u32::MAX)) / 1e6;
            self.line(&format!("{name}_bucket"), &format!("{label}{comma}le=\"{le}\""), count);
        }
        count += steps.last().copied().unwrap_or(0);
        self.line(&format!("{name}_bucket"), &format!("{label}{comma}le=\"+Inf\""), count);
        self.text(&format!("{name}_sum"), label, &sum.as_secs_f64().to_string());
        self.line(&format!("{name}_count"), label, count);
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}")
            .expect("a string takes whatever is written");
    }

    fn line(&mut self, name: &str, label: &str, value: u64) {
        self.text(name, label, &value.to_string());
    }

    fn text(&mut self, name: &str, label: &str, value: &str) {
        let label = if label.is_empty() { String::new() } else { format!("{{{label}}}") };
        writeln!(self.0, "{name}{label} {value}").expect("a string takes whatever is written");
    }
}

/// Bytes of a page of memory.
const PAGE_BYTES: u64 = 4_096;
