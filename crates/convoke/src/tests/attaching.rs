//! Files that go with a message.

use std::fs;

use crate::attachments;

#[test]
fn a_small_file_travels_inside() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[u8], &str, &str); 6] = [
        ("a.diff", b"+ one line\n", "text/x-diff", "KyBvbmUgbGluZQo="),
        ("b.MD", b"", "text/markdown", ""),
        ("c", b"M", "text/plain", "TQ=="),
        ("d", b"Ma", "text/plain", "TWE="),
        ("e", b"Man", "text/plain", "TWFu"),
        ("f", b"\x00\xff\xfe", "application/octet-stream", "AP/+"),
    ];
    for (name, bytes, mime, base64) in cases {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let attachment = attachments::read(path.to_str().unwrap()).unwrap();
        assert_eq!(attachment.uri.as_str(), format!("data:{mime};base64,{base64}"));
        assert_eq!(attachment.name.as_deref(), Some(name));
        assert_eq!((attachment.mime.as_deref(), attachment.size), (Some(mime), Some(bytes.len() as u64)));
        assert_eq!(attachment.sha256, Some(message::Sha256::of(bytes)));
    }
}

#[test]
fn a_large_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large file.txt");
    fs::write(&path, vec![b'x'; (256 << 10) + 1]).unwrap();
    let attachment = attachments::read(path.to_str().unwrap()).unwrap();
    let uri = attachment.uri.as_str();
    assert!(uri.starts_with("file:///") && uri.ends_with("/large%20file.txt"), "{uri}");
}
