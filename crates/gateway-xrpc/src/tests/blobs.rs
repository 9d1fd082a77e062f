//! Blobs: uploaded, referred to, read, collected.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use doorstep::Answer;
use gateway::Token;

use super::{Bus, message};
use crate::store::Blobs;

async fn upload(bus: &Bus, token: &Token, mime: &str, bytes: Vec<u8>) -> Answer {
    let request = Request::builder().method("POST").uri("/xrpc/com.atproto.repo.uploadBlob");
    let request = request
        .header(header::HOST, "localhost")
        .header(header::AUTHORIZATION, format!("Bearer {}", token.reveal()))
        .header(header::CONTENT_TYPE, mime);
    bus.server.send(request.body(Body::from(bytes)).unwrap()).await
}

fn with_blob(blob: &str) -> String {
    let content = format!(r#""kind":"binary","blob":{blob}"#);
    message("ann", "bob", "x").replace(r#""kind":"text","text":"x""#, &content)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blob_is_read_by_whoever_may_read_its_record() {
    let bus = Bus::start_whole().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", "{}").await;
    let eve = bus.server.agent("eve", "{}").await;
    // More than the body of a call may have.
    let bytes = vec![b'x'; 3 << 20];
    let made = upload(&bus, &ann, "text/plain; charset=utf-8", bytes.clone()).await;
    assert_eq!((made.status, made.get("/blob/mimeType")), (200, "text/plain".to_owned()), "{}", made.text);
    let cid = made.get("/blob/ref/$link");
    assert_eq!(cid, lexicon::data::cid_of_blob(&bytes).as_str());
    let again = upload(&bus, &ann, "image/png", bytes.clone()).await;
    assert_eq!(again.get("/blob/mimeType"), "text/plain", "the same bytes are the same blob");
    let get = format!("com.atproto.sync.getBlob?did=did:web:ann.agent.invalid&cid={cid}");
    assert_eq!(bus.get(&get, Some(&bob)).await.status, 400, "nothing refers to it");
    assert_eq!(bus.get(&get, Some(&ann)).await.status, 200, "it is hers");

    bus.create(&ann, "ann", "agent.comms.message", &with_blob(&made.get("/blob"))).await;
    let bus = bus.restart().await;
    let read = bus.get(&get, Some(&bob)).await;
    assert_eq!((read.status, read.text.len()), (200, bytes.len()));
    assert_eq!(bus.get(&get, Some(&eve)).await.status, 400);
    assert_eq!(bus.get(&get, None).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_refers_to_what_is_there_as_it_is() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", "{}").await;
    let blob = upload(&bus, &ann, "image/png", b"png".to_vec()).await.get("/blob");
    let bobs = upload(&bus, &bob, "image/png", b"his".to_vec()).await.get("/blob");
    for (blob, name) in [
        (bobs, "BlobNotFound"),
        (blob.replace("image/png", "image/gif"), "InvalidMimeType"),
        (blob.replace("\"size\":3", "\"size\":4"), "InvalidSize"),
    ] {
        let record = with_blob(&blob);
        let body = format!(r#"{{"repo":"ann","collection":"agent.comms.message","record":{record}}}"#);
        let refused = bus.repo("createRecord", &ann, &body).await;
        assert_eq!((refused.status, refused.get("/error")), (400, name.to_owned()), "{}", refused.text);
    }
    assert_eq!(bus.inbox("bob", &bob).await.get("/messages/0"), "(absent)");
    for (mime, bytes, status) in
        [("image/png", vec![0; (10 << 20) + 1], 413), ("png", vec![0], 400), ("image/png", vec![], 400)]
    {
        assert_eq!(upload(&bus, &ann, mime, bytes).await.status, status, "{mime}");
    }
    let largest = upload(&bus, &ann, "image/png", vec![0; 10 << 20]).await;
    assert_eq!(largest.get("/blob/size"), (10 << 20).to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nothing_refers_to_is_collected() {
    let bus = Bus::start_whole().await;
    let ann = bus.server.agent("ann", "{}").await;
    bus.server.agent("bob", "{}").await;
    let kept = upload(&bus, &ann, "image/png", b"kept".to_vec()).await;
    let lost = upload(&bus, &ann, "image/png", b"lost".to_vec()).await;
    let uri = bus.create(&ann, "ann", "agent.comms.message", &with_blob(&kept.get("/blob"))).await;
    let folder = bus.server.folder().join("blobs");
    let blobs = Blobs::new(folder, u64::MAX, bus.server.node.clone());
    // Whatever the clocks of the disk and of the bus make of a moment.
    let long_ago = Duration::ZERO;
    let there = async |answer: &Answer| {
        let cid = answer.get("/blob/ref/$link");
        bus.get(&format!("com.atproto.sync.getBlob?did=ann&cid={cid}"), Some(&ann)).await.status == 200
    };
    blobs.collect(&bus.server.hub, Duration::from_secs(60)).await;
    assert!(there(&kept).await && there(&lost).await, "they were used a moment ago");
    blobs.collect(&bus.server.hub, long_ago).await;
    assert!(there(&kept).await && !there(&lost).await);
    let key = super::key_of(&uri);
    let gone = format!(r#"{{"repo":"ann","collection":"agent.comms.message","rkey":"{key}"}}"#);
    assert_eq!(bus.repo("deleteRecord", &ann, &gone).await.status, 200);
    blobs.collect(&bus.server.hub, long_ago).await;
    assert!(!there(&kept).await);
}

/// A process that ends between a blob and its record leaves a blob that is collected; one that ends within a blob
/// leaves nothing.
#[tokio::test(flavor = "multi_thread")]
async fn half_a_blob_is_no_blob() {
    let bus = Bus::start_whole().await;
    let ann = bus.server.agent("ann", "{}").await;
    let whole = upload(&bus, &ann, "image/png", b"whole".to_vec()).await;
    let unfinished = bus.server.folder().join("blobs/_unfinished");
    std::fs::create_dir_all(&unfinished).unwrap();
    std::fs::write(unfinished.join("00"), b"half").unwrap();
    let bus = bus.restart().await;
    assert!(!unfinished.exists());
    let record = with_blob(&whole.get("/blob")).replace("web:bob", "web:ann");
    bus.create(&ann, "ann", "agent.comms.message", &record).await;
}
