//! `convoke join` and `convoke leave`: topics, channels, roles.

use json::{Object, Value};
use message::Address;

use crate::cli::talk::MembershipArgs;
use crate::commands::send::checked;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Speaker;

/// Becomes a member.
pub(crate) async fn join(args: &MembershipArgs) -> Result<Answer, Failure> {
    let (speaker, address) = prepare(args).await?;
    let joined = speaker.remote.client.join(&speaker.name, &address).await;
    joined.map_err(|error| speaker.remote.failure(&error))?;
    tell(&speaker, "joined", &address)
}

/// Ends a membership.
pub(crate) async fn leave(args: &MembershipArgs) -> Result<Answer, Failure> {
    let (speaker, address) = prepare(args).await?;
    let left = speaker.remote.client.leave(&speaker.name, &address).await;
    left.map_err(|error| speaker.remote.failure(&error))?;
    tell(&speaker, "left", &address)
}

async fn prepare(args: &MembershipArgs) -> Result<(Speaker, String), Failure> {
    let address: Address = checked("the address", &args.address)?;
    match address {
        Address::Role(_) | Address::Topic(_) | Address::Channel(_) => {}
        Address::Agent(_) | Address::Session { .. } | Address::All => {
            return Err(Failure::wrong_use(format!("{address} is nothing that one joins"))
                .hint("topics are `#name`, channels `channel:name`, roles `roles.name`"));
        }
    }
    Ok((Speaker::find(&args.remote, &args.speaker).await?, address.to_string()))
}

fn tell(speaker: &Speaker, done: &'static str, address: &str) -> Result<Answer, Failure> {
    let mut output = Output::new();
    match speaker.remote.form {
        Form::Json => {
            let members: Object<'_> =
                [("agent", Value::from(speaker.name.as_str())), (done, Value::from(address))]
                    .into_iter()
                    .collect();
            output.line(Value::Object(members))?;
        }
        Form::Text => output.line(format_args!("{} {done} {address}", speaker.name))?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}
