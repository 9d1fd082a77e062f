//! `convoke ack`, `nack`, `surfaced` and `extend`: what becomes of deliveries.

use std::time::Duration;

use client::{ClientError, Nack};
use json::Value;
use message::DeliveryId;

use crate::cli::talk::DeliveryArgs;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Speaker;
use crate::screen;

/// Says that deliveries are done with.
pub(crate) async fn ack(args: &DeliveryArgs) -> Result<Answer, Failure> {
    each(args, "acknowledged", async |speaker, delivery| speaker.remote.client.ack(delivery, None).await)
        .await
}

/// Gives deliveries back.
pub(crate) async fn nack(
    args: &DeliveryArgs,
    reason: Option<String>,
    delay: Option<Duration>,
    last: bool,
) -> Result<Answer, Failure> {
    let mut nack = Nack::default();
    (nack.reason, nack.delay, nack.last) = (reason, delay, last);
    each(args, "given back", async |speaker, delivery| speaker.remote.client.nack(delivery, &nack).await)
        .await
}

/// Says that a model was shown deliveries.
pub(crate) async fn surfaced(args: &DeliveryArgs) -> Result<Answer, Failure> {
    each(args, "surfaced", async |speaker, delivery| {
        speaker.remote.client.surfaced(delivery, Some("cli")).await
    })
    .await
}

/// Asks for more time.
pub(crate) async fn extend(args: &DeliveryArgs, lease: Option<Duration>) -> Result<Answer, Failure> {
    each(args, "extended", async |speaker, delivery| speaker.remote.client.extend(delivery, lease).await)
        .await
}

/// Does the same with each delivery, and goes on when one is refused.
async fn each(
    args: &DeliveryArgs,
    done: &str,
    settle: impl AsyncFn(&Speaker, DeliveryId) -> Result<Value<'static>, ClientError>,
) -> Result<Answer, Failure> {
    let mut deliveries = Vec::new();
    for text in &args.deliveries {
        deliveries.push(delivery_id(text)?);
    }
    let speaker = Speaker::find(&args.remote, &args.speaker).await?;
    let (mut output, mut all_done) = (Output::new(), true);
    for delivery in deliveries {
        match settle(&speaker, delivery).await {
            Ok(answer) => print(&answer, delivery, done, speaker.remote.form, &mut output)?,
            Err(error) => {
                let failure = speaker.remote.failure(&error);
                let Some(problem) = error.problem() else { return Err(failure) };
                all_done = false;
                if speaker.remote.form == Form::Json {
                    output.line(problem.to_value())?;
                }
                failure.tell(&format!("{delivery}: "));
            }
        }
    }
    output.flush()?;
    Ok(Answer::from_bool(all_done))
}

fn print(
    answer: &Value<'_>,
    delivery: DeliveryId,
    done: &str,
    form: Form,
    output: &mut Output,
) -> Result<(), Failure> {
    let text = |key: &str| answer.get(key).and_then(Value::as_str).map(screen::line);
    match (form, text("lease_until")) {
        (Form::Json, _) => output.line(answer)?,
        (Form::Text, Some(until)) => output.line(format_args!("{delivery} yours until {until}"))?,
        (Form::Text, None) => {
            let stage = text("stage").unwrap_or_else(|| done.to_owned());
            output.line(format_args!("{delivery} {stage}"))?;
        }
    }
    Ok(())
}

fn delivery_id(text: &str) -> Result<DeliveryId, Failure> {
    text.parse().map_err(|_| {
        Failure::wrong_use(format!("{:?} is not a delivery", screen::line(text)))
            .hint("deliveries are those that `convoke inbox --take` printed")
    })
}
