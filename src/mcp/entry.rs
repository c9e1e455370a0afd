//! What follows from a server's entry alone: its state at rest, its first status, its time limits.
//!
//! Owns no state; what looks like a secret in an entry is registered with the redactor.

use super::calls::Limits;
use super::convert;
use super::reason::Trouble;
use crate::domain::server::{ServerEntry, ServerState, ServerStatus, Transport};
use crate::redact::{self, Redactor};
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

/// The status of an entry that nobody has looked at. Registers the entry's secrets.
pub(super) fn status(entry: &ServerEntry, redactor: &Redactor) -> ServerStatus {
    let (transport, address) = match &entry.transport {
        Ok(Transport::Stdio { command, args, env, .. }) => {
            register(env, redactor);
            ("stdio", command_line(command, args, redactor))
        }
        Ok(Transport::Http { url, headers }) => {
            register(headers, redactor);
            ("http", address(url, redactor))
        }
        Ok(Transport::Sse { url, headers }) => {
            register(headers, redactor);
            ("sse", address(url, redactor))
        }
        Err(_) => ("", String::new()),
    };
    let address = redactor.mask_text(&address).into_owned();
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

fn register(pairs: &[(String, String)], redactor: &Redactor) {
    for (_, value) in pairs.iter().filter(|(name, _)| redact::is_secret_name(name)) {
        redactor.register(value);
        // `Bearer x`: the token alone turns up elsewhere.
        if let Some((_, token)) = value.trim().split_once(' ') {
            redactor.register(token);
        }
    }
}

/// A URL with its password and the parameters that are named like secrets masked. They are registered.
fn address(url: &str, redactor: &Redactor) -> String {
    let Ok(mut shown) = url::Url::parse(url) else { return url.to_owned() };
    if let Some(password) = shown.password() {
        redactor.register(password);
        let _ = shown.set_password(None);
        let _ = shown.set_username("");
    }
    let secrets: Vec<String> = shown
        .query_pairs()
        .filter(|(name, value)| redact::is_secret_name(name) && !value.is_empty())
        .map(|(_, value)| value.into_owned())
        .collect();
    if !secrets.is_empty() {
        for secret in &secrets {
            redactor.register(secret);
        }
        shown.set_query(Some(redact::MASK));
        return shown.as_str().replace("%E2%80%A2%E2%80%A2%E2%80%A2", redact::MASK);
    }
    shown.into()
}

/// A command line with the values of options that are named like secrets masked: `--token X`, `--token=X`, `TOKEN=X`. They are registered.
fn command_line(command: &str, args: &[String], redactor: &Redactor) -> String {
    let mut line = vec![command.to_owned()];
    let mut secret_next = false;
    for arg in args {
        let shown = match arg.split_once('=') {
            _ if secret_next && !arg.starts_with('-') => {
                redactor.register(arg);
                redact::MASK.to_owned()
            }
            Some((name, value)) if redact::is_secret_name(name) => {
                redactor.register(value);
                format!("{name}={}", redact::MASK)
            }
            _ => arg.clone(),
        };
        secret_next = arg.starts_with('-') && !arg.contains('=') && redact::is_secret_name(arg);
        line.push(shown);
    }
    line.join(" ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_no_secret() {
        let redactor = Redactor::default();
        let shown = |url| address(url, &redactor);
        assert_eq!(shown("https://x.example/mcp?a=1"), "https://x.example/mcp?a=1");
        assert_eq!(shown("https://u:pa55word@x.example/mcp"), "https://x.example/mcp");
        assert_eq!(shown("https://x.example/mcp?api_key=abcdefgh"), "https://x.example/mcp?•••");
        assert_eq!(redactor.mask_text("abcdefgh pa55word"), "••• •••");
    }

    #[test]
    fn a_command_line_shows_no_secret() {
        let redactor = Redactor::default();
        let args = ["-y", "server", "--api-key", "sk-123456", "--token=abcdefgh", "--password", "-v", "--port", "8080"];
        let args = args.map(str::to_owned);
        let line = command_line("npx", &args, &redactor);
        assert_eq!(line, "npx -y server --api-key ••• --token=••• --password -v --port 8080");
        assert_eq!(redactor.mask_text("key sk-123456 and abcdefgh"), "key ••• and •••");
    }
}
