//! Settings that need more than a number or a path: what they take, and where it goes.

use std::path::PathBuf;

use gateway_files::RootSettings;

use super::{LogFormat, Settings};

pub(super) fn set_listen(settings: &mut Settings, text: &str) -> Result<(), String> {
    let listen = text.parse().map_err(|_| format!("{text:?} is not an address and a port"))?;
    settings.listen = listen;
    Ok(())
}

pub(super) fn set_hosts(settings: &mut Settings, hosts: Vec<String>) -> Result<(), String> {
    if let Some(host) = hosts.iter().find(|host| host.is_empty() || host.contains(['/', ' ', '*'])) {
        return Err(format!("{host:?} is not the name of a host"));
    }
    settings.hosts = hosts.into_iter().map(|host| host.to_ascii_lowercase()).collect();
    Ok(())
}

pub(super) fn set_keep(settings: &mut Settings, text: &str) -> Result<(), String> {
    settings.keep.time = match text {
        "whole" => None,
        _ => Some(
            message::parse_duration(text)
                .map_err(|_| format!("{text:?} is neither \"whole\" nor a duration"))?,
        ),
    };
    Ok(())
}

pub(super) fn set_public(settings: &mut Settings, collections: Vec<String>) -> Result<(), String> {
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    let is_wrong = |collection: &&String| {
        let name = collection.strip_suffix('*').unwrap_or(collection);
        !is_name(name) || !name.contains('.')
    };
    if let Some(collection) = collections.iter().find(is_wrong) {
        return Err(format!("{collection:?} is not the name of a collection, nor the beginning of some"));
    }
    settings.public_collections = collections;
    Ok(())
}

pub(super) fn set_roots(settings: &mut Settings, roots: Vec<PathBuf>) {
    settings.channels.roots = roots.iter().map(|root| RootSettings::parse(root)).collect();
}

pub(super) fn set_format(settings: &mut Settings, text: &str) -> Result<(), String> {
    settings.logs.format = match text {
        "text" => LogFormat::Text,
        "json" => LogFormat::Json,
        _ => return Err(format!("{text:?} is neither \"text\" nor \"json\"")),
    };
    Ok(())
}

pub(super) fn set_level(settings: &mut Settings, text: &str) -> Result<(), String> {
    settings.logs.level = match text {
        "error" => tracing::Level::ERROR,
        "warn" => tracing::Level::WARN,
        "info" => tracing::Level::INFO,
        "debug" => tracing::Level::DEBUG,
        "trace" => tracing::Level::TRACE,
        _ => return Err(format!("{text:?} is not a level of a log")),
    };
    Ok(())
}

pub(super) fn set_nats(settings: &mut Settings, url: &str) -> Result<(), String> {
    // The address may hold a password, so it is not shown.
    let is_good = url.is_empty() || ["nats://", "tls://"].iter().any(|scheme| url.starts_with(scheme));
    if !is_good {
        return Err("an address of NATS starts with nats:// or tls://".to_owned());
    }
    settings.nats.url = url.to_owned();
    Ok(())
}
