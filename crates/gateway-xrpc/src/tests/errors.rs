//! What goes wrong has the name and the status that clients of a PDS know.

use super::{Bus, message};

/// Who calls.
#[derive(Clone, Copy)]
enum Who {
    Nobody,
    Ann,
    Bearing(&'static str),
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_the_names_of_a_pds() {
    use Who::{Ann, Bearing, Nobody};
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    bus.server.agent("bob", "{}").await;
    let create = |rest: &str| format!(r#"{{"repo":"ann",{rest}}}"#);
    let note = r#""collection":"com.example.note","rkey":"a","record":{"a":1}"#;
    assert_eq!(bus.repo("createRecord", &ann, &create(note)).await.status, 200);
    let spoofed = format!(r#""collection":"agent.comms.message","record":{}"#, message("bob", "ann", "x"));
    let writes = |count: usize| {
        let write =
            r#"{"$type":"com.atproto.repo.applyWrites#delete","collection":"com.example.note","rkey":"x"}"#;
        format!(r#"{{"repo":"ann","writes":[{}]}}"#, vec![write; count].join(","))
    };
    let cases: Vec<(&str, &str, Who, String, u16, &str)> = vec![
        ("POST", "com.atproto.repo.createRecord", Nobody, create(note), 401, "AuthMissing"),
        ("POST", "com.atproto.repo.createRecord", Bearing("Bearer x.y.z"), create(note), 400, "InvalidToken"),
        ("POST", "com.atproto.repo.createRecord", Bearing("Bearer junk"), create(note), 400, "InvalidToken"),
        ("POST", "com.atproto.repo.createRecord", Bearing("Basic eDp5"), create(note), 401, "AuthMissing"),
        ("POST", "com.atproto.repo.createRecord", Ann, create(note), 400, "InvalidRequest"),
        ("POST", "com.atproto.repo.createRecord", Ann, "{".to_owned(), 400, "InvalidRequest"),
        ("POST", "com.atproto.repo.createRecord", Ann, "{}".to_owned(), 400, "InvalidRequest"),
        ("POST", "com.atproto.repo.createRecord", Ann, create(&spoofed), 403, "Forbidden"),
        (
            "POST",
            "com.atproto.repo.createRecord",
            Ann,
            create(note).replace("ann", "bob"),
            401,
            "AuthenticationRequired",
        ),
        (
            "POST",
            "com.atproto.repo.createRecord",
            Ann,
            create(note).replace("ann", "eve"),
            403,
            "AccountNotFound",
        ),
        (
            "POST",
            "com.atproto.repo.createRecord",
            Ann,
            create(&note.replace("1}", "1.5}")),
            400,
            "InvalidRequest",
        ),
        (
            "POST",
            "com.atproto.repo.createRecord",
            Ann,
            create(&note.replace("{\"a\":1}", "[]")),
            400,
            "InvalidRequest",
        ),
        (
            "POST",
            "com.atproto.repo.createRecord",
            Ann,
            create(&note.replace("\"a\":1", "\"$type\":\"com.example.other\"")),
            400,
            "InvalidRequest",
        ),
        (
            "POST",
            "com.atproto.repo.createRecord",
            Ann,
            create(&note.replace("com.example.note", "note")),
            400,
            "InvalidRequest",
        ),
        (
            "POST",
            "com.atproto.repo.createRecord",
            Ann,
            create(&note.replace("\"a\",", "\"a/b\",")),
            400,
            "InvalidRequest",
        ),
        (
            "POST",
            "com.atproto.repo.createRecord",
            Ann,
            create(&format!("{note},\"validate\":7")),
            400,
            "InvalidRequest",
        ),
        (
            "POST",
            "com.atproto.repo.createRecord",
            Ann,
            create(&format!("{note},\"swapCommit\":\"x\"")),
            400,
            "InvalidRequest",
        ),
        ("POST", "com.atproto.repo.applyWrites", Ann, writes(1), 400, "RecordNotFound"),
        (
            "POST",
            "com.atproto.repo.applyWrites",
            Ann,
            writes(2).replace(r#""rkey":"x""#, r#""rkey":"a""#),
            400,
            "InvalidRequest",
        ),
        ("POST", "com.atproto.repo.applyWrites", Ann, writes(201), 400, "InvalidRequest"),
        (
            "POST",
            "com.atproto.repo.applyWrites",
            Ann,
            writes(1).replace("#delete", "#burn"),
            400,
            "InvalidRequest",
        ),
        (
            "GET",
            "com.atproto.repo.getRecord?repo=ann&collection=com.example.note&rkey=b",
            Ann,
            String::new(),
            400,
            "RecordNotFound",
        ),
        (
            "GET",
            "com.atproto.repo.getRecord?repo=ann&collection=com.example.note&rkey=a&cid=bafyreib",
            Ann,
            String::new(),
            400,
            "RecordNotFound",
        ),
        (
            "GET",
            "com.atproto.repo.getRecord?repo=eve&collection=com.example.note&rkey=a",
            Ann,
            String::new(),
            400,
            "InvalidRequest",
        ),
        ("GET", "com.atproto.repo.getRecord?repo=ann&rkey=a", Ann, String::new(), 400, "InvalidRequest"),
        (
            "GET",
            "com.atproto.repo.getRecord?repo=ann&collection=com.example.note&rkey=a",
            Nobody,
            String::new(),
            401,
            "AuthMissing",
        ),
        (
            "GET",
            "com.atproto.repo.listRecords?repo=ann&collection=com.example.note&limit=0",
            Ann,
            String::new(),
            400,
            "InvalidRequest",
        ),
        (
            "GET",
            "com.atproto.repo.listRecords?repo=ann&collection=com.example.note&limit=101",
            Ann,
            String::new(),
            400,
            "InvalidRequest",
        ),
        ("GET", "com.atproto.repo.describeRepo?repo=eve", Ann, String::new(), 400, "RepoNotFound"),
        (
            "GET",
            "com.atproto.identity.resolveHandle?handle=eve.example",
            Ann,
            String::new(),
            400,
            "HandleNotFound",
        ),
        ("GET", "com.atproto.repo.createRecord", Ann, String::new(), 400, "InvalidRequest"),
        ("GET", "app.bsky.actor.getProfile?actor=ann", Ann, String::new(), 501, "MethodNotImplemented"),
        ("GET", "com.atproto.sync.getBlob?did=ann&cid=bafkreiabc", Ann, String::new(), 400, "InvalidRequest"),
        (
            "POST",
            "com.atproto.server.createSession",
            Nobody,
            r#"{"identifier":"ann","password":"no"}"#.to_owned(),
            401,
            "AuthenticationRequired",
        ),
        (
            "POST",
            "com.atproto.server.createSession",
            Nobody,
            r#"{"identifier":"ann"}"#.to_owned(),
            400,
            "InvalidRequest",
        ),
        ("POST", "com.atproto.server.refreshSession", Nobody, String::new(), 401, "AuthMissing"),
    ];
    let mut wrong = Vec::new();
    for (verb, call, who, body, status, name) in &cases {
        let path = format!("/xrpc/{call}");
        let answer = match who {
            Nobody => bus.server.call(verb, &path, None, body).await,
            Ann => bus.server.call(verb, &path, Some(&ann), body).await,
            Bearing(bearer) => bus.bearing(verb, call, bearer, body).await,
        };
        if (answer.status, answer.get("/error").as_str()) != (*status, *name)
            || answer.get("/message") == "(absent)"
        {
            wrong.push(format!("{verb} {call} {body}: {} {}", answer.status, answer.text));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let health = bus.get("_health", None).await;
    assert_eq!(health.status, 200);
    assert_eq!(bus.get("com.atproto.server.describeServer", None).await.get("/inviteCodeRequired"), "true");
}
