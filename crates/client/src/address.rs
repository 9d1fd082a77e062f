//! Where a bus listens, taken apart once.

use crate::ClientError;

/// How one speaks to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// The address of a bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) scheme: Scheme,
    /// The host without the brackets of IPv6, to be looked up.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The host and port as the URL has them.
    pub(crate) authority: String,
    /// What every path starts with; empty, or a path without a slash at its end.
    pub(crate) prefix: String,
}

impl Address {
    /// Takes a URL apart.
    pub(crate) fn parse(url: &str) -> Result<Self, ClientError> {
        let refuse = |reason: &'static str| ClientError::Url { url: url.to_owned(), reason };
        let (scheme, rest) = match url.split_once("://") {
            Some(("http", rest)) => (Scheme::Http, rest),
            Some(("https", rest)) => (Scheme::Https, rest),
            Some(_) | None => return Err(refuse("it starts with http:// or https://")),
        };
        if rest.contains(['?', '#', '@']) || rest.contains(|letter: char| !letter.is_ascii_graphic()) {
            return Err(refuse("it is a host, a port and perhaps a path, nothing else"));
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = split_port(authority).ok_or_else(|| refuse("its port is no number"))?;
        if host.is_empty() {
            return Err(refuse("it has no host"));
        }
        let usual = match scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
        };
        Ok(Address {
            scheme,
            host: host.to_owned(),
            port: port.unwrap_or(usual),
            authority: authority.to_owned(),
            prefix: path.trim_end_matches('/').to_owned(),
        })
    }

    /// Returns the URL, for messages to people.
    pub(crate) fn url(&self) -> String {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        format!("{scheme}://{}{}", self.authority, self.prefix)
    }
}

/// Splits a port off; the colons within brackets are IPv6.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    match rest.strip_prefix(':') {
        Some(port) => port.parse().ok().map(|port| (host, Some(port))),
        None => rest.is_empty().then_some((host, None)),
    }
}
