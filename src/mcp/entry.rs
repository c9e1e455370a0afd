//! What follows from a server's entry alone: its state at rest, its first status, its time limits.
//!
//! Owns no state.

use super::calls::Limits;
use super::convert;
use super::reason::Trouble;
use crate::domain::server::{ServerEntry, ServerState, ServerStatus, Transport};
use std::time::Duration;

/// Longest part of a server's name for itself, bytes.
const NAME: usize = 128;

/// The state of an entry that nobody has started.
pub(super) fn resting(entry: &ServerEntry) -> (ServerState, Option<Trouble>) {
    match &entry.transport {
        _ if entry.disabled => (ServerState::Disabled, None),
        _ if entry.untrusted => (ServerState::Untrusted, None),
        Err(problem) => (ServerState::StartFailed, Some(problem.clone().into())),
        Ok(_) => (ServerState::Idle, None),
    }
}

pub(super) fn startable(entry: &ServerEntry) -> bool {
    !entry.disabled && !entry.untrusted && entry.transport.is_ok()
}

/// Whether a running server need not be restarted for the new entry.
pub(super) fn starts_alike(a: &ServerEntry, b: &ServerEntry) -> bool {
    a.transport == b.transport
        && a.protocol == b.protocol
        && a.fingerprint == b.fingerprint
        && (a.disabled, a.untrusted) == (b.disabled, b.untrusted)
}

pub(super) fn status(entry: &ServerEntry) -> ServerStatus {
    let (transport, address) = match &entry.transport {
        Ok(Transport::Stdio { command, args, .. }) => {
            ("stdio", [std::slice::from_ref(command), args].concat().join(" "))
        }
        Ok(Transport::Http { url, .. }) => ("http", url.clone()),
        Ok(Transport::Sse { url, .. }) => ("sse", url.clone()),
        Err(_) => ("", String::new()),
    };
    ServerStatus {
        name: entry.name.clone(),
        state: ServerState::Idle,
        reason: None,
        fix: None,
        source: entry.source.clone(),
        transport: transport.to_owned(),
        address,
        calls: 0,
        pid: None,
        protocol: None,
        identity: None,
        tools: None,
        cached: false,
        start_millis: None,
        noise: 0,
        resources: false,
        instructions: None,
    }
}

pub(super) fn identity(name: &str, version: &str) -> Option<String> {
    let text = format!("{} {}", convert::clip(name, NAME), convert::clip(version, NAME));
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

pub(super) fn limits(entry: &ServerEntry, tool: &str) -> Limits {
    let own = entry.tool_timeouts.iter().find(|(name, _)| name == tool).map(|(_, idle)| *idle);
    Limits { idle: seconds(own.unwrap_or(entry.timeouts.call)), max: seconds(entry.timeouts.call_max) }
}

/// A limit of the configuration; beyond a year it means none, and the clock could not hold it.
pub(super) fn seconds(limit: u64) -> Duration {
    Duration::from_secs(limit.min(365 * 24 * 3600))
}
