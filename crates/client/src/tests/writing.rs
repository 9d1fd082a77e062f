//! Frames as they are written.

use std::time::Duration;

use message::Dialect;

use crate::socket::frame::Writing;
use crate::{Nack, SocketSend};

#[test]
fn frames() {
    let delivery = "0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071".parse().unwrap();
    let mut how = SocketSend::default();
    let plain = Writing::send(1, r#"{"a":1}"#, &how);
    (how.dialect, how.wait, how.key) = (Some(Dialect::Wire), Some(Duration::from_secs(30)), Some("k\"1"));
    let mut nack = Nack::default();
    (nack.reason, nack.delay, nack.last) = (Some("no\n".to_owned()), Some(Duration::from_millis(500)), true);
    let cases = [
        (plain, r#"{"op":"send","ref":"1","document":{"a":1}}"#),
        (
            Writing::send(2, "{}", &how),
            r#"{"op":"send","ref":"2","dialect":"wire","wait":"30s","key":"k\"1","document":{}}"#,
        ),
        (Writing::credit(100), r#"{"op":"credit","n":100}"#),
        (
            Writing::settle("ack", delivery),
            r#"{"op":"ack","delivery":"0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071"}"#,
        ),
        (
            Writing::nack(delivery, &nack),
            r#"{"op":"nack","delivery":"0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071","reason":"no\n","delay":"500ms","retryable":false}"#,
        ),
        (
            Writing::extend(delivery, Duration::from_secs(60)),
            r#"{"op":"extend","delivery":"0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071","lease":"1m"}"#,
        ),
    ];
    for (written, expected) in cases {
        assert_eq!(written, expected);
        json::parse_str(&written, json::Limits::DOCUMENT).unwrap();
    }
}
