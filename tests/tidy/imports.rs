//! Who may use what.

use crate::facts::Named;
use crate::source::{Source, Tree, Violation, is_within};

/// Below all: whoever needs them may use them, but for those that [`DIRECTIONS`] gives no more than it names.
const SHARED: &[&str] = &["redact", "guard", "strings", "disk", "sanitize"];

/// Which of our modules a module may use, beside itself. The longest fitting line counts.
const DIRECTIONS: &[(&str, Allowed)] = &[
    ("", Allowed::All),
    ("main", Allowed::All),
    ("app", Allowed::All),
    ("cli", Allowed::All),
    ("domain", Allowed::Exactly(&[])),
    ("redact", Allowed::Exactly(&[])),
    ("disk", Allowed::Exactly(&[])),
    ("sanitize", Allowed::Exactly(&[])),
    ("guard", Allowed::Exactly(&[])),
    ("desktop", Allowed::Exactly(&["domain"])),
    ("strings", Allowed::Exactly(&["domain"])),
    ("telemetry", Allowed::Exactly(&["domain", "redact", "disk"])),
    ("schema", Allowed::Exactly(&["domain"])),
    ("contract", Allowed::Exactly(&["domain"])),
    ("config", Allowed::These(&["schema", "domain"])),
    ("dialect", Allowed::These(&["schema", "domain"])),
    ("web", Allowed::Exactly(&[])),
    ("mcp", Allowed::These(&["web", "schema", "domain"])),
    ("provider", Allowed::These(&["web", "schema", "domain"])),
    ("policy", Allowed::These(&["schema", "domain"])),
    ("tools", Allowed::These(&["mcp", "schema", "domain"])),
    ("tui", Allowed::These(&["contract", "domain", "config"])),
    ("headless", Allowed::These(&["contract", "domain", "config"])),
    (
        "agent",
        Allowed::These(&["provider", "dialect", "tools", "mcp", "policy", "schema", "config", "contract", "domain"]),
    ),
    ("agent::machine", Allowed::Exactly(&["contract", "domain"])),
    ("relay", Allowed::These(&["provider", "contract", "domain"])),
    ("doctor", Allowed::These(&["config", "mcp", "domain"])),
    ("demo_server", Allowed::These(&["domain"])),
];

enum Allowed {
    /// Everything.
    All,
    /// These and the shared ones.
    These(&'static [&'static str]),
    /// These alone.
    Exactly(&'static [&'static str]),
}

impl Allowed {
    fn holds(&self, target: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(modules) => modules.contains(&target) || SHARED.contains(&target),
            Self::Exactly(modules) => modules.contains(&target),
        }
    }
}

/// Modules that import another one against the direction of dependencies.
pub fn directions(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        let line = DIRECTIONS
            .iter()
            .filter(
                |(module, _)| {
                    if module.is_empty() { source.module.is_empty() } else { is_within(&source.module, module) }
                },
            )
            .max_by_key(|(module, _)| module.len());
        let Some((from, allowed)) = line else {
            found.push(
                source
                    .violation(1, format!("{} has no line in the directions of tests/tidy/imports.rs", source.module)),
            );
            continue;
        };
        for path in &source.facts.paths {
            let Some(ours) = path.ours() else { continue };
            let Some(target) = ours.first().filter(|first| tree.modules.contains(*first)) else { continue };
            // `agent::machine` is held to its own line even within `agent`.
            let own = is_within(&ours.join("::"), from) || (!from.contains("::") && from == target);
            if !own && !allowed.holds(target) {
                found.push(source.violation(path.line, format!("{from} must not use {}", ours.join("::"))));
            }
        }
    }
    found
}

/// Something that only some may use.
struct Ban {
    /// What it is about, for the message.
    what: &'static str,
    /// Whether a path is such a thing.
    is: fn(&Named) -> bool,
    /// Where it is banned.
    place: Place,
}

enum Place {
    /// Everywhere but in these modules.
    But(&'static [&'static str]),
    /// In these modules.
    In(&'static [&'static str]),
}

/// Modules that get time and everything else as arguments.
const PURE: &[&str] =
    &["domain", "contract", "dialect", "agent::machine", "provider::wire", "policy::rule", "tui::layout", "tui::frame"];

const BANS: &[Ban] = &[
    Ban {
        what: "rmcp belongs to mcp and demo_server",
        is: |p| p.begins("rmcp"),
        place: Place::But(&["mcp", "demo_server"]),
    },
    Ban {
        what: "reqwest belongs to web, provider::transport, mcp::remote and relay",
        is: |p| p.begins("reqwest"),
        place: Place::But(&["web", "provider::transport", "mcp::remote", "relay"]),
    },
    Ban {
        what: "ratatui and crossterm belong to tui",
        is: |p| ["ratatui", "crossterm", "tui_textarea"].iter().any(|name| p.begins(name)),
        place: Place::But(&["tui"]),
    },
    Ban {
        what: "colours belong to tui::theme",
        is: |p| p.segments.iter().any(|s| s == "Color" || s == "Stylize") || p.holds("style::palette"),
        place: Place::But(&["tui::theme"]),
    },
    Ban {
        what: "processes are started in mcp::launch, guard, desktop and tools only",
        is: |p| p.holds("process::Command") || p.begins("process_wrap") || p.begins("portable_pty"),
        place: Place::But(&["mcp::launch", "guard", "desktop", "tools"]),
    },
    Ban {
        what: "the environment is read in config and main only",
        is: |p| {
            ["var", "var_os", "vars", "vars_os", "set_var", "remove_var"].iter().any(|f| p.holds(&format!("env::{f}")))
        },
        place: Place::But(&["config", "main"]),
    },
    Ban {
        what: "no runtime here: results come in as arguments",
        is: |p| ["tokio", "tokio_util", "rmcp", "reqwest"].iter().any(|name| p.begins(name)),
        place: Place::In(PURE),
    },
    Ban {
        what: "no clock here: time comes in as an argument",
        is: |p| ["Instant", "SystemTime", "Zoned", "Timestamp"].iter().any(|clock| p.holds(&format!("{clock}::now"))),
        place: Place::In(PURE),
    },
    Ban {
        what: "no IO here",
        // The traits of `std::io` over bytes in memory are none.
        is: |p| {
            ["fs", "net", "process", "env", "thread", "os"].iter().any(|name| p.begins(&format!("std::{name}")))
                || ["stdin", "stdout", "stderr", "pipe"].iter().any(|stream| p.holds(&format!("io::{stream}")))
        },
        place: Place::In(PURE),
    },
];

/// Uses of what is banned where they stand.
pub fn forbidden(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        for ban in BANS {
            let banned = match ban.place {
                Place::But(places) => !places.iter().any(|place| is_within(&source.module, place)),
                Place::In(places) => places.iter().any(|place| is_within(&source.module, place)),
            };
            for path in source.facts.paths.iter().filter(|path| banned && (ban.is)(path)) {
                found.push(source.violation(path.line, format!("{} ({})", ban.what, path.segments.join("::"))));
            }
        }
        for line in &source.facts.super_globs {
            found.push(source.violation(*line, "`use super::*` is for tests: name what is used"));
        }
    }
    found
}

/// Directories whose files stand beside each other and know nothing of each other.
const SIBLINGS: &[&str] = &["pane", "layer", "builtin", "wire", "field", "cell"];

/// Siblings that import each other.
pub fn siblings(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        let Some((parent, own)) = family(source) else { continue };
        for path in &source.facts.paths {
            let Some(rest) = path.ours().and_then(|ours| strip(ours, &parent)) else { continue };
            let Some(other) = rest.first() else { continue };
            if *other != own && tree.modules.contains(&format!("{}::{other}", parent.join("::"))) {
                let what =
                    format!("{own} must not use its sibling {other}: what both need goes to {}", parent.join("::"));
                found.push(source.violation(path.line, what));
            }
        }
    }
    found
}

/// The parent among [`SIBLINGS`], and which of its children this is.
fn family(source: &Source) -> Option<(Vec<String>, String)> {
    let parts: Vec<String> = source.module.split("::").map(String::from).collect();
    let at = parts.iter().rposition(|part| SIBLINGS.contains(&part.as_str()))?;
    let own = parts.get(at + 1)?.clone();
    Some((parts[..=at].to_vec(), own))
}

fn strip<'a>(path: &'a [String], parent: &[String]) -> Option<&'a [String]> {
    path.strip_prefix(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(violations: &[Violation]) -> Vec<String> {
        violations.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn directions_are_kept() {
        let tree = Tree::of(&[
            ("src/domain/mod.rs", "use crate::strings::X;"),
            ("src/strings.rs", ""),
            ("src/tui/mod.rs", "use crate::contract::Op;\nuse crate::strings::Y;"),
            ("src/tui/pane/answer.rs", "fn f() {\n    crate::agent::go();\n}"),
            ("src/contract/mod.rs", "use crate::domain::Z;"),
            ("src/agent/mod.rs", "use crate::provider::P;\nmod machine;"),
            (
                "src/agent/machine/mod.rs",
                "use crate::contract::Op;\nuse super::driver::D;\nuse crate::agent::machine::turn;\nuse crate::strings::S;",
            ),
            ("src/provider/mod.rs", "use crate::agent::A;"),
            ("src/main.rs", "use mcpane::agent;"),
            ("src/new_room.rs", ""),
        ]);
        assert_eq!(
            lines(&directions(&tree)),
            [
                "src/domain/mod.rs:1: domain must not use strings::X",
                "src/tui/pane/answer.rs:2: tui must not use agent::go",
                "src/agent/machine/mod.rs:2: agent::machine must not use agent::driver::D",
                "src/agent/machine/mod.rs:4: agent::machine must not use strings::S",
                "src/provider/mod.rs:1: provider must not use agent::A",
                "src/new_room.rs:1: new_room has no line in the directions of tests/tidy/imports.rs",
            ]
        );
    }

    #[test]
    fn each_ban_bites() {
        for (path, text) in [
            ("src/agent/mod.rs", "use rmcp::model::Tool;"),
            ("src/provider/catalog.rs", "fn f() -> reqwest::Client { }"),
            ("src/mcp/hub.rs", "use reqwest::Client;"),
            ("src/headless/mod.rs", "use ratatui::text::Line;"),
            ("src/tui/pane/x.rs", "use ratatui::style::{Color, Style};"),
            ("src/tui/pane/x.rs", "fn f() { style.fg(Color::Red) }"),
            ("src/tui/pane/x.rs", "use ratatui::style::Stylize as _;"),
            ("src/agent/driver.rs", "fn f() { std::process::Command::new(\"x\"); }"),
            ("src/tui/x.rs", "use tokio::process::Command;"),
            ("src/mcp/hub.rs", "use process_wrap::tokio::CommandWrap;"),
            ("src/tools/x.rs", "fn f() { std::env::var(\"HOME\"); }"),
            ("src/tools/x.rs", "use std::env;\nfn f() { env::vars(); }"),
            ("src/domain/x.rs", "use tokio::sync::mpsc;"),
            ("src/dialect/x.rs", "fn f() { std::time::Instant::now(); }"),
            ("src/tui/frame.rs", "use std::time::Instant;\nfn f() { Instant::now(); }"),
            ("src/provider/wire/x.rs", "use std::io;\nfn f() { io::stdout(); }"),
            ("src/agent/machine/turn.rs", "use std::fs;"),
            ("src/tools/x.rs", "mod a { use super::*; }"),
        ] {
            assert_eq!(forbidden(&Tree::of(&[(path, text)])).len(), 1, "{path}: {text}");
        }
        for (path, text) in [
            ("src/mcp/hub.rs", "use rmcp::model::Tool;"),
            ("src/provider/transport.rs", "use reqwest::Client;"),
            ("src/mcp/remote/courier.rs", "use reqwest::Client;"),
            ("src/tui/theme/mod.rs", "use ratatui::style::Color;"),
            ("src/tools/process.rs", "use tokio::process::Command;"),
            ("src/config/mod.rs", "fn f() { std::env::var(\"HOME\"); }"),
            ("src/tui/frame.rs", "use std::time::{Duration, Instant};\nfn f(now: Instant) {}"),
            ("src/agent/driver.rs", "use std::process::ExitStatus;"),
            ("src/domain/x.rs", "#[cfg(test)]\nmod tests { use super::*; use std::fs; }"),
        ] {
            assert_eq!(lines(&forbidden(&Tree::of(&[(path, text)]))), Vec::<String>::new(), "{path}: {text}");
        }
    }

    #[test]
    fn siblings_are_strangers() {
        let tree = Tree::of(&[
            ("src/tools/builtin/mod.rs", "mod a;\nmod b;\nuse a::A;"),
            ("src/tools/builtin/a.rs", "use super::define;\nuse super::b::B;"),
            ("src/tools/builtin/b.rs", "fn f() { crate::tools::builtin::a::go(); crate::tools::builtin::b::own(); }"),
            ("src/tools/builtin/b/deep.rs", "use super::own;"),
        ]);
        assert_eq!(
            lines(&siblings(&tree)),
            [
                "src/tools/builtin/a.rs:2: a must not use its sibling b: what both need goes to tools::builtin",
                "src/tools/builtin/b.rs:1: b must not use its sibling a: what both need goes to tools::builtin",
            ]
        );
    }
}
