//! Which values are secrets.
//!
//! Owns: collecting them from the environment and the servers' entries, for `redact` to mask. Better one value too many than one too few; but a
//! path or a very short word would mask half of every log, so those are left out. Keeps nothing.

use super::env::Env;
use crate::domain::server::{ServerEntry, Transport};
use crate::redact::{SHORTEST, is_secret_name};

/// Known secret values, each once: variables with secret names, `named` variables (those that providers take their keys from), and what
/// servers get in their environment, headers, arguments and addresses.
pub fn collect<'a>(env: &Env, named: impl IntoIterator<Item = &'a str>, servers: &[ServerEntry]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |value: &str| {
        let value = value.trim();
        if is_worth_masking(value) && !out.iter().any(|known| known == value) {
            out.push(value.to_owned());
        }
    };
    named.into_iter().filter_map(|name| env.get(name)).for_each(&mut add);
    env.iter().filter(|(name, _)| is_secret_variable(name)).for_each(|(_, value)| add(value));
    for transport in servers.iter().filter_map(|server| server.transport.as_ref().ok()) {
        match transport {
            Transport::Stdio { args, env, .. } => {
                env.iter().filter(|(name, _)| is_secret_variable(name)).for_each(|(_, value)| add(value));
                of_arguments(args).for_each(&mut add);
            }
            Transport::Http { url, headers } | Transport::Sse { url, headers } => {
                headers.iter().filter(|(name, _)| is_secret_header(name)).for_each(|(_, value)| {
                    add(value);
                    // `Bearer x`: the token alone turns up elsewhere.
                    if let Some((_, token)) = value.trim().split_once(' ') {
                        add(token);
                    }
                });
                for value in of_address(url) {
                    add(&value);
                }
            }
        }
    }
    out
}

fn is_worth_masking(value: &str) -> bool {
    let is_path = value.starts_with(['/', '~']) || value.starts_with("./");
    value.chars().count() >= SHORTEST && !is_path && !value.chars().all(|c| c.is_ascii_digit())
}

/// `GITHUB_TOKEN`, `X_PAT`, `OPENAI_KEY`; not `SSH_AUTH_SOCK` or `TOKEN_FILE`.
fn is_secret_variable(name: &str) -> bool {
    let words: Vec<String> = name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    let last = words.last().map_or("", String::as_str);
    let place = ["file", "path", "dir", "sock", "env", "name", "id", "url", "cmd", "command"];
    if place.contains(&last) {
        return false;
    }
    let telling = [
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "apikey",
        "credentials",
        "credential",
        "pat",
        "auth",
        "key",
    ];
    is_secret_name(name) || words.iter().any(|word| telling.contains(&word.as_str()))
}

fn is_secret_header(name: &str) -> bool {
    is_secret_variable(name) || name.eq_ignore_ascii_case("cookie") || name.eq_ignore_ascii_case("authorization")
}

/// `--api-key x`, `--token=x`.
fn of_arguments(args: &[String]) -> impl Iterator<Item = &str> {
    let next = args.windows(2).filter(|pair| is_flag(&pair[0]) && !pair[0].contains('=')).map(|pair| pair[1].as_str());
    let same =
        args.iter().filter_map(|arg| arg.split_once('=')).filter(|(name, _)| is_flag(name)).map(|(_, value)| value);
    next.chain(same)
}

fn is_flag(name: &str) -> bool {
    name.starts_with('-') && is_secret_variable(name.trim_start_matches('-'))
}

/// The password before the `@`, and parameters with secret names.
fn of_address(address: &str) -> Vec<String> {
    let Ok(url) = url::Url::parse(address) else { return Vec::new() };
    let password = url.password().map(str::to_owned);
    let parameters =
        url.query_pairs().filter(|(name, _)| is_secret_variable(name)).map(|(_, value)| value.into_owned());
    password.into_iter().chain(parameters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::server::{Source, Timeouts};

    fn server(transport: Transport) -> ServerEntry {
        ServerEntry {
            name: "s".into(),
            transport: Ok(transport),
            source: Source::default(),
            disabled: false,
            untrusted: false,
            lazy: true,
            protocol: None,
            timeouts: Timeouts::default(),
            tool_timeouts: Vec::new(),
            allow_tools: Vec::new(),
            deny_tools: Vec::new(),
            trust_read_only: false,
            fingerprint: "".into(),
        }
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.into(), value.into())
    }

    #[test]
    fn values_that_must_not_be_shown() {
        let env = Env::of([
            ("GITHUB_TOKEN", "ghp_123456"),
            ("MY_LLM", "named-by-a-provider"),
            ("HOME", "/home/user"),
            ("SSH_AUTH_SOCK", "/tmp/ssh-agent"),
            ("TOKEN_FILE", "secrets.txt"),
            ("SHORT_TOKEN", "abc"),
            ("LANG", "en_US.UTF-8"),
            ("KEYBOARD", "us-intl"),
            ("MAX_TOKENS", "1000000"),
        ]);
        let stdio = server(Transport::Stdio {
            command: "x".into(),
            args: ["--api-key", "key-in-args", "--token=token-in-args", "--name", "plain"].map(str::to_owned).to_vec(),
            env: vec![pair("DB_PASSWORD", "hunter22"), pair("MODE", "production")],
            cwd: None,
        });
        let http = server(Transport::Http {
            url: "https://u:pass-word@example.com/mcp?api_key=in-query&page=secondpage".into(),
            headers: vec![
                pair("Authorization", "Bearer tok-in-header"),
                pair("X-Api-Key", "key-in-header"),
                pair("Accept", "text/plain"),
            ],
        });
        let found = collect(&env, ["MY_LLM", "NOT_SET"], &[stdio, http]);
        assert_eq!(
            found,
            [
                "named-by-a-provider",
                "ghp_123456",
                "hunter22",
                "key-in-args",
                "token-in-args",
                "Bearer tok-in-header",
                "tok-in-header",
                "key-in-header",
                "pass-word",
                "in-query",
            ]
        );
    }
}
