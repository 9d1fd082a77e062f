//! `convoke send`: a message in a few words, or documents of any dialect from a file.

use std::io::{self, Read};

use client::{Client, SendOptions, Sent};
use json::{Limits, Object, Value};
use message::{Address, AgentRef, Dialect, Kind, Message, WrittenTimestamp};

use crate::attachments;
use crate::cli::DialectChoice;
use crate::cli::talk::SendArgs;
use crate::documents::Documents;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::{Remote, Speaker};
use crate::{clock, receipts, screen, show, source};

/// Bytes of a text at most; more is a file to attach.
const TEXT_BYTES_MAX: u64 = 4 << 20;

pub(crate) async fn run(args: &SendArgs) -> Result<Answer, Failure> {
    match &args.file {
        Some(file) => documents(args, file).await,
        None => {
            let speaker = Speaker::find(&args.remote, &args.speaker).await?;
            let document = compose(args, &speaker.name)?.encode();
            deliver(&speaker.remote, &document, &options(args, Some(Dialect::Convoke))).await
        }
    }
}

/// Sends one document and prints what came of it.
pub(crate) async fn deliver(
    remote: &Remote,
    document: &str,
    options: &SendOptions,
) -> Result<Answer, Failure> {
    let sent = remote.client.send(document, options).await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    print(&remote.client, &sent, remote.form, &mut output).await?;
    output.flush()?;
    Ok(Answer::Yes)
}

/// Reads what is to be said: the words, or standard input for `-`.
pub(crate) fn text(words: &[String]) -> Result<Option<String>, Failure> {
    if words != ["-"] {
        return Ok((!words.is_empty()).then(|| words.join(" ")));
    }
    let mut text = String::new();
    let read = io::stdin().lock().take(TEXT_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::unreadable("standard input", &error))?;
    if text.len() as u64 > TEXT_BYTES_MAX {
        return Err(Failure::wrong_use(format!("the text has more than {TEXT_BYTES_MAX} bytes"))
            .hint("put it into a file and attach that with --attach"));
    }
    Ok(Some(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text)))
}

/// Reads something that has to be of a certain form.
pub(crate) fn checked<T: std::str::FromStr<Err: std::fmt::Display>>(
    what: &str,
    text: &str,
) -> Result<T, Failure> {
    text.parse().map_err(|error| Failure::wrong_use(format!("{what} {:?}: {error}", screen::line(text))))
}

/// Sends every document of a file, one after the other, and goes on when one is refused.
async fn documents(args: &SendArgs, file: &str) -> Result<Answer, Failure> {
    let remote = Remote::look(&args.remote, &args.speaker)?;
    let dialect = match args.dialect {
        Some(DialectChoice::Named(dialect)) => Some(dialect),
        Some(DialectChoice::Auto) | None => None,
    };
    let options = options(args, dialect);
    let mut documents = Documents::new(source::open(file)?, Limits::DOCUMENT);
    let (mut output, mut all_sent, mut count) = (Output::new(), true, 0_u64);
    while let Some(document) = documents.next().map_err(|error| Failure::unreadable(file, &error))? {
        count += 1;
        let Some(text) = document.bytes.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
            return Err(Failure::wrong_use(format!("{file}:{}: too large, or not UTF-8", document.line)));
        };
        match remote.client.send(text.trim(), &options).await {
            Ok(sent) => print(&remote.client, &sent, remote.form, &mut output).await?,
            Err(error) => {
                let failure = remote.failure(&error);
                let Some(problem) = error.problem() else { return Err(failure) };
                all_sent = false;
                if remote.form == Form::Json {
                    output.line(problem.to_value())?;
                }
                failure.tell(&format!("{file}:{}: ", document.line));
            }
        }
        output.flush()?;
    }
    if count == 0 {
        return Err(Failure::wrong_use(format!("{file} holds no document")));
    }
    Ok(Answer::from_bool(all_sent))
}

async fn print(client: &Client, sent: &Sent, form: Form, output: &mut Output) -> Result<(), Failure> {
    match (form, sent) {
        (Form::Json, Sent::Receipt(receipt)) => output.line(receipt.to_json())?,
        (Form::Json, Sent::Replied(reply)) => {
            let members: Object<'_> = [
                ("receipt", reply.receipt.to_value()),
                ("dialect", reply.dialect.map_or(Value::Null, |dialect| Value::from(dialect.name()))),
                ("reply", reply.document.clone()),
            ]
            .into_iter()
            .collect();
            output.line(Value::Object(members))?;
        }
        (Form::Text, Sent::Receipt(receipt)) => {
            output.line(receipts::in_one_line(client, receipt).await)?;
            output.flush()?;
            receipts::warn(receipt);
        }
        (Form::Text, Sent::Replied(reply)) => {
            // The receipt that came along was written before the reply was there.
            let receipt = client.receipt(reply.receipt.id).await.unwrap_or_else(|_| reply.receipt.clone());
            eprintln!("{}", receipts::in_one_line(client, &receipt).await);
            receipts::warn(&reply.receipt);
            for line in show::content(&reply.document, reply.dialect) {
                output.line(line)?;
            }
        }
    }
    Ok(())
}

fn options(args: &SendArgs, dialect: Option<Dialect>) -> SendOptions {
    let mut options = SendOptions::default();
    (options.dialect, options.wait, options.hold) = (dialect, args.wait, args.hold);
    options
}

fn compose(args: &SendArgs, from: &str) -> Result<Message, Failure> {
    let from: AgentRef = checked("the sender", from)?;
    let mut to: Vec<Address> = Vec::new();
    for address in &args.to {
        to.push(checked("the recipient", address)?);
    }
    let mut message = Message::new(args.kind.unwrap_or(Kind::Note), from, to);
    message.text = text(&args.text)?;
    message.priority = args.priority;
    message.task = args.task.as_deref().map(|task| checked("the task", task)).transpose()?;
    message.thread = args.thread.as_deref().map(|thread| checked("the thread", thread)).transpose()?;
    message.reply_to = args.reply_to.as_deref().map(|id| checked("what is answered", id)).transpose()?;
    message.data = args.data.as_deref().map(data).transpose()?;
    for file in &args.attach {
        message.attachments.push(attachments::read(file)?);
    }
    if let Some(ttl) = args.ttl {
        let now = clock::now().map_err(|error| Failure::wrong_use(format!("the clock: {error}")))?;
        let expires = now.checked_add(ttl).ok_or_else(|| Failure::wrong_use("--ttl is too long"))?;
        (message.created, message.expires) = (Some(now.into()), Some(WrittenTimestamp::from(expires)));
    }
    if message.text.is_none() && message.data.is_none() && message.attachments.is_empty() {
        return Err(Failure::wrong_use("there is nothing to send")
            .hint("write what to say, or - for standard input, or give --data or --attach"));
    }
    Ok(message)
}

fn data(text: &str) -> Result<Value<'static>, Failure> {
    let parsed = json::parse_str(text, Limits::DOCUMENT);
    parsed.map(Value::into_owned).map_err(|error| {
        Failure::wrong_use(format!("--data is not JSON: {error}")).hint(r#"write it like --data '{"n":1}'"#)
    })
}
