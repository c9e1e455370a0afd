//! What an approval says: what the tool is, what a choice does, what a grant would cover.

use crate::domain::policy::{ArgumentRule, Check, Grant, Preview, Verdict};
use crate::domain::prompt::Approval;
use crate::domain::tool::{Origin, Risk};
use crate::tui::command::Command;
use crate::tui::look::Look;
use crate::tui::prompt::glyph::glyphs;
use crate::tui::prompt::lines::first_line;
use serde_json::Value;

/// The key of a choice's label.
pub(super) fn label(command: Command) -> &'static str {
    match command {
        Command::ApproveOnce => "prompt.choice.once",
        Command::ApproveSession => "prompt.choice.session",
        Command::ApproveAlways => "prompt.choice.always",
        Command::Reject => "prompt.choice.reject",
        Command::RejectWithReason => "prompt.choice.reason",
        Command::EditArguments => "prompt.choice.edit",
        Command::AnswerByHand => "prompt.choice.by_hand",
        _ => "prompt.choice.details",
    }
}

/// What a choice does.
pub(super) fn about(command: Command, approval: &Approval, look: &Look<'_>) -> String {
    let rule = || approval.check.grant.as_ref().map(|grant| rule(grant, look)).unwrap_or_default();
    let strings = look.strings;
    match command {
        Command::ApproveOnce => strings.get("prompt.about.once").to_owned(),
        Command::ApproveSession => strings.fill("prompt.about.session", &[("rule", &rule())]),
        Command::ApproveAlways => strings.fill("prompt.about.always", &[("rule", &rule())]),
        Command::Reject => strings.get("prompt.about.reject").to_owned(),
        Command::RejectWithReason => strings.get("prompt.about.reason").to_owned(),
        Command::EditArguments => strings.get("prompt.about.edit").to_owned(),
        Command::AnswerByHand => strings.get("prompt.about.by_hand").to_owned(),
        _ => strings.get("prompt.about.details").to_owned(),
    }
}

/// What a grant covers.
pub(super) fn rule(grant: &Grant, look: &Look<'_>) -> String {
    let tool = grant.tool.to_string();
    match &grant.arguments {
        ArgumentRule::Any => look.strings.fill("prompt.rule.any", &[("tool", &tool)]),
        ArgumentRule::Exactly { arguments } => {
            let arguments = exact(arguments);
            look.strings.fill("prompt.rule.exactly", &[("tool", &tool), ("arguments", &arguments)])
        }
        ArgumentRule::Inside { directory } => {
            look.strings.fill("prompt.rule.inside", &[("tool", &tool), ("directory", directory)])
        }
    }
}

/// A lone command reads better than the object around it.
fn exact(arguments: &Value) -> String {
    let map = arguments.as_object().filter(|map| map.len() == 1);
    let lone = map.and_then(|map| map.get("command")).and_then(Value::as_str);
    lone.map_or_else(|| arguments.to_string(), str::to_owned)
}

/// What kind of thing the tool is: `built-in, writes`, `server weather`.
pub(super) fn kind(approval: &Approval, look: &Look<'_>) -> String {
    let strings = look.strings;
    let owner = match &approval.spec.id.server {
        Some(server) => strings.fill("prompt.kind.server", &[("server", server.as_str())]),
        None => strings.get("prompt.kind.built_in").to_owned(),
    };
    let does = match approval.spec.risk {
        Risk::Read => Some("prompt.kind.reads"),
        Risk::Write => Some("prompt.kind.writes"),
        Risk::Command => Some("prompt.kind.runs"),
        Risk::Question | Risk::External => None,
    };
    match does {
        Some(key) => strings.fill("prompt.kind.both", &[("owner", &owner), ("does", strings.get(key))]),
        None => owner,
    }
}

/// Why it asks.
pub(super) fn why(check: &Check, look: &Look<'_>) -> String {
    match &check.verdict {
        Verdict::Ask { why } | Verdict::Allow { why } | Verdict::Deny { why } => look.strings.render(why),
    }
}

/// Whether the call was found in text rather than made properly.
pub(super) fn is_recovered(approval: &Approval) -> bool {
    approval.call.origin == Origin::Recovered
}

/// What the call is about, in a few words.
pub(super) fn summary(approval: &Approval, look: &Look<'_>) -> String {
    let dot = glyphs(look).dot;
    match &approval.check.preview {
        Preview::Diff(diff) => format!("{}{dot}{}", diff.path, changes(diff.added, diff.removed, look)),
        Preview::Command { command, .. } => first_line(command).to_owned(),
        Preview::Impossible { why } => first_line(why).to_owned(),
        Preview::Arguments => {
            let pairs = approval.call.arguments.as_object().into_iter().flatten();
            let shown: Vec<String> = pairs.map(|(name, value)| format!("{name} {}", brief(value))).collect();
            shown.join(dot)
        }
    }
}

fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => first_line(text).to_owned(),
        other => other.to_string(),
    }
}

/// `+2 −1 lines`.
pub(super) fn changes(added: usize, removed: usize, look: &Look<'_>) -> String {
    let minus = glyphs(look).minus;
    let count = match (added, removed) {
        (added, 0) => format!("+{added}"),
        (0, removed) => format!("{minus}{removed}"),
        (added, removed) => format!("+{added} {minus}{removed}"),
    };
    let key = if added + removed == 1 { "prompt.diff.line" } else { "prompt.diff.lines" };
    look.strings.fill(key, &[("count", &count)])
}
