//! The ceiling for one message at a time: a socket, a file, a sync, one byte back, and nothing else.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;

use super::document::BYTES;
use super::input::Input;
use super::speech::Publish;
use crate::raw::Raw;
use crate::ring::Scale;

/// Writes documents and counts bytes.
pub(crate) struct Writer;

/// Listens for one connection, serves it until it ends, and is gone.
pub(crate) fn start(folder: &Path) -> anyhow::Result<SocketAddr> {
    // One document at a time wants no large file.
    let mut raw = Raw::make(folder, Scale::Tiny)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let mut serve = move || -> anyhow::Result<()> {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut document = [0; BYTES];
        loop {
            stream.read_exact(&mut document)?;
            raw.write(&document)?;
            stream.write_all(b"+")?;
        }
    };
    // Its end is that of the connection, and the other side sees it.
    std::thread::Builder::new().name("bare".to_owned()).spawn(move || drop(serve()))?;
    Ok(address)
}

impl Publish for Writer {
    fn publish(&mut self, document: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(document);
    }

    fn answers(&mut self, input: &mut Input, _out: &mut Vec<u8>) -> anyhow::Result<u64> {
        let count = input.rest().len();
        input.consume(count);
        Ok(count as u64)
    }
}
