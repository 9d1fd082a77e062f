//! More tokens of an agent, and fewer.

use axum::http::StatusCode;
use axum::response::Response;
use gateway::{Body, Code, Denied, Principal, Problem, Token, TokenNote};

use gateway::Answer;
use gateway::{At, Caller};

/// Tokens of one agent at most.
const TOKENS_MAX: usize = 16;
/// What stands for every token of an agent.
const ALL: &str = "all";

/// Makes one more token, which is shown once.
pub(crate) async fn add(caller: Caller, At(name): At<String>, body: Body) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let agent = caller.own(&name)?.key;
    let expires_ms = gateway::fields(&body)?.duration_ms("expires")?;
    let name = caller.hub.name_of(agent).ok_or_else(|| Problem::not_found("there is no such agent"))?;
    let token = Token::new(name.clone()).map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    let hash = token.hash();
    let own = matches!(&caller.principal, Principal::Agent(speaker) if speaker.key == agent);
    let shown = caller.token.as_ref().filter(|_| own).map(Token::hash);
    gateway::change_profile(&caller.hub, name.clone(), move |profile, wall| {
        // The token by which this is asked may have been revoked since the request came.
        if shown.is_some_and(|shown| !profile.has(shown, wall)) {
            return Err(Denied::NoToken.into());
        }
        if profile.tokens.len() >= TOKENS_MAX {
            let detail = format!("an agent has at most {TOKENS_MAX} tokens: revoke one");
            return Err(Problem::new(Code::TooMany, detail));
        }
        profile.tokens.push(TokenNote { hash, expires: expires_ms.map(|ms| wall.plus_ms(ms)) });
        Ok(())
    })
    .await?;
    let answer = Answer::new().text("agent", name.as_str()).text("token", &token.reveal());
    Ok(answer.text("label", &hash.label()).respond(StatusCode::CREATED))
}

/// Revokes a token; it opens nothing any more when this is answered.
pub(crate) async fn revoke(
    caller: Caller,
    At((name, label)): At<(String, String)>,
) -> Result<Response, Problem> {
    let agent = caller.own(&name)?.key;
    let name = caller.hub.name_of(agent).ok_or_else(|| Problem::not_found("there is no such agent"))?;
    gateway::change_profile(&caller.hub, name, move |profile, _| {
        let before = profile.tokens.len();
        profile.tokens.retain(|note| label != ALL && note.hash.label() != label);
        if profile.tokens.len() == before && label != ALL {
            return Err(Problem::not_found(format!("the agent has no token called {label:?}")));
        }
        Ok(())
    })
    .await?;
    Ok(Answer::new().respond(StatusCode::OK))
}
