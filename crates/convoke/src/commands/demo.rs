//! `convoke demo`: one small agent of each dialect, a conversation, its receipts.
//!
//! Everything is real: a bus of its own in a temporary folder, tokens, documents that each agent writes and reads in
//! its own dialect. The bus is a child process, which ends with the demo, however that ends.

mod bus;
mod cast;
mod step;

use std::io;

use client::Client;
use json::{Limits, Object, Value};
use message::Receipt;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::screen::{self, Screen, Tone};
use crate::table::Table;
use crate::{clock, refusal};

use self::bus::Bus;
use self::cast::Cast;
use self::step::{Hop, Step};

const CONVERSATION: &str = include_str!("demo/conversation.jsonl");

pub(crate) async fn run(form: Form) -> Result<Answer, Failure> {
    let stopped = stopped()?;
    let mut bus = Bus::spawn()?;
    let played = tokio::select! {
        played = play(&mut bus, form) => played,
        () = stopped => Ok(Answer::No),
    };
    // Whatever happened, the process is gone before its folder is.
    bus.stop().await;
    played
}

/// Waits for whoever wants the demo to end.
fn stopped() -> Result<impl Future<Output = ()>, Failure> {
    let listen =
        |kind: SignalKind| signal(kind).map_err(|error: io::Error| Failure::wrong_use(error.to_string()));
    let (mut interrupted, mut terminated, mut hung_up) =
        (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?, listen(SignalKind::hangup())?);
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
            _ = hung_up.recv() => {}
        }
    })
}

async fn play(bus: &mut Bus, form: Form) -> Result<Answer, Failure> {
    let (url, operator) = bus.ready().await?;
    let cast = Cast::register(&url, &operator).await?;
    let mut stage = Stage { cast: &cast, form, screen: Screen::of_stdout(), output: Output::new() };
    if form == Form::Text {
        stage.output.line("six agents on one bus, each with a dialect of its own\n")?;
    }
    let now = clock::now().map_err(|error| Failure::wrong_use(format!("the clock: {error}")))?;
    let mut receipts = Vec::new();
    for line in CONVERSATION.lines() {
        let line = line.replace("{now}", &now.to_string());
        let value = json::parse_str(&line, Limits::DOCUMENT)
            .map_err(|error| Failure::wrong_use(format!("the conversation: {error}")))?;
        for hop in Step::read(&value)?.play(&cast).await? {
            stage.show(&hop)?;
            receipts.push((hop.from, hop.id));
        }
    }
    let mut last = Vec::new();
    for (from, id) in receipts {
        let receipt = cast.client(from)?.receipt(id).await;
        last.push(receipt.map_err(|error| refusal::failure(&error))?);
    }
    stage.receipts(&last)?;
    Ok(Answer::Yes)
}

/// Where the conversation is shown.
struct Stage<'s> {
    cast: &'s Cast,
    form: Form,
    screen: Screen,
    output: Output,
}

impl Stage<'_> {
    fn show(&mut self, hop: &Hop) -> Result<(), Failure> {
        let (wrote, got) = (self.cast.dialect(hop.from), self.cast.dialect(hop.to));
        match self.form {
            Form::Json => {
                let members: Object<'_> = [
                    ("id", Value::from(hop.id.to_string())),
                    ("from", Value::from(hop.from)),
                    ("dialect", Value::from(wrote.name())),
                    ("written", hop.written.clone()),
                    ("to", Value::from(hop.to)),
                    ("received_dialect", Value::from(got.name())),
                    ("received", hop.received.clone()),
                ]
                .into_iter()
                .collect();
                self.output.line(Value::Object(members))?;
            }
            Form::Text => {
                let wrote = format!("{} wrote in {}", hop.from, wrote.name());
                let got = format!("{} got in {}", hop.to, got.name());
                self.line(&wrote, &hop.written)?;
                self.line(&got, &hop.received)?;
                self.output.line("")?;
            }
        }
        Ok(self.output.flush()?)
    }

    fn line(&mut self, who: &str, document: &Value<'_>) -> Result<(), Failure> {
        let said = screen::line(&step::content(document).to_json());
        let width = self.screen.width.unwrap_or(160).saturating_sub(26).max(20);
        let who = self.screen.paint(Tone::Strong, &format!("{who:24}"));
        Ok(self.output.line(format_args!("{who}  {}", screen::cut(&said, width)))?)
    }

    fn receipts(&mut self, receipts: &[Receipt]) -> Result<(), Failure> {
        let mut table = Table::new(&["message", "from", "to", "kind", "stage", "steps"]);
        for receipt in receipts {
            if self.form == Form::Json {
                self.output.line(receipt.to_json())?;
            }
            let steps = receipt.recipients.iter().flat_map(|recipient| &recipient.stages);
            let steps: Vec<&str> = steps.map(|entry| entry.stage.name()).collect();
            let to: Vec<String> = receipt.to.iter().map(ToString::to_string).collect();
            table.row([
                receipt.id.to_string(),
                receipt.from.to_string(),
                to.join(" "),
                receipt.kind.to_string(),
                receipt.stage().to_string(),
                steps.join(" → "),
            ]);
        }
        if self.form == Form::Text {
            table.print(&mut self.output)?;
        }
        Ok(self.output.flush()?)
    }
}

/// Turns what the client says into a failure of the demo.
fn told<T>(answer: Result<T, client::ClientError>) -> Result<T, Failure> {
    answer.map_err(|error| refusal::failure(&error))
}

/// Makes a client.
fn client(url: &str, token: &str) -> Result<Client, Failure> {
    told(Client::new(url, Some(token)))
}
