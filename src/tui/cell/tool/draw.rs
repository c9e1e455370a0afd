//! The rows of a call that are not plain text: its head, its one-line summaries, its progress.

use super::arguments::{self, Argument};
use super::{
    ARGUMENTS, COMMAND, Ctx, DIFF, HEAD, NOTE, OUTPUT_TAIL, PROGRESS, RESULT, RESULTS, SUMMARY, Shown, Stage, Tool,
    WARNINGS,
};
use crate::domain::policy::{Check, Preview, Verdict};
use crate::domain::tool::{Origin, Progress};
use crate::domain::{Phrase, ToolOutcome};
use crate::strings::Strings;
use crate::tui::cell::{Fold, split_row};
use crate::tui::text::Glyphs;
use crate::tui::text::row::{Row, RowBuilder};
use crate::tui::text::wrap::{Frame, Span, wrap};
use crate::tui::text::{diff, measure, sanitize, width};
use crate::tui::theme::{Paint, Role};
use ratatui::style::Modifier;
use std::time::{Duration, Instant};

/// Lines of a running call's output that a folded call shows.
const TAIL_LINES: usize = 4;

/// A running call is not said to run for less: milliseconds would only flicker.
const AT_LEAST: Duration = Duration::from_millis(100);

pub(super) fn rows(tool: &Tool, key: u16, chunk: usize, shown: Shown, ctx: &Ctx<'_>) -> Vec<Row> {
    match key {
        HEAD => vec![head(tool, ctx)],
        SUMMARY => summary(tool, ctx),
        RESULT => result_line(tool, shown, ctx),
        PROGRESS => tool.progress.as_ref().map(|progress| progress_row(progress, ctx)).into_iter().collect(),
        WARNINGS => tool.check.as_deref().map(|check| warnings(check, ctx)).unwrap_or_default(),
        NOTE => note(tool, ctx),
        COMMAND => command(tool, ctx),
        DIFF => {
            let lines = chunk * diff::CHUNK..(chunk + 1) * diff::CHUNK;
            tool.diff().map(|d| diff::part(d, lines, ctx.width, ctx.signs(), ctx.look.strings)).unwrap_or_default()
        }
        OUTPUT_TAIL => tail(&tool.output.text, ctx),
        RESULTS.. => label(tool, usize::from(key - RESULTS) / 2, ctx),
        ARGUMENTS.. => {
            let argument = tool.arguments.get(usize::from(key - ARGUMENTS) / 2);
            let names = arguments::name_columns(&tool.arguments);
            argument.map(|argument: &Argument| arguments::rows(argument, names, ctx.width)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The state of a call: its mark, what colour that has, and what it means in words. `now` is `None` where nothing runs any more.
pub(super) fn state(
    tool: &Tool,
    glyphs: &'static Glyphs,
    strings: &Strings,
    now: Option<Instant>,
) -> (&'static str, Role, String) {
    let said = |key: &str| strings.get(key).to_owned();
    match tool.stage {
        Stage::Writing => {
            let size = measure::size(tool.bytes);
            (glyphs.open, Role::Running, strings.fill("cell.writing", &[("size", &size)]))
        }
        Stage::Abandoned => (glyphs.off, Role::Dim, said("cell.abandoned")),
        Stage::Proposed => (glyphs.open, Role::Running, said("cell.checking")),
        Stage::Asks => (glyphs.waiting, Role::Waiting, said("cell.asks")),
        Stage::Cleared => (glyphs.open, Role::Running, said("cell.cleared")),
        Stage::WaitsForServer => {
            let server = tool.server.as_ref().map_or("", |server| server.as_str());
            (glyphs.open, Role::Running, strings.fill("cell.waits_for_server", &[("server", server)]))
        }
        Stage::Running => {
            let Some((now, started)) = now.zip(tool.started) else {
                return (glyphs.open, Role::Running, said("cell.running"));
            };
            let time = now.saturating_duration_since(started);
            // Four turns a second are enough to see that it lives.
            let turn = (time.as_millis() / 250) as usize % glyphs.spinner.len();
            let words =
                format!("{}{}{}", said("cell.running"), glyphs.dot, measure::elapsed(time.max(AT_LEAST), strings));
            (glyphs.spinner[turn], Role::Running, words)
        }
        Stage::Suspended => (glyphs.paused, Role::Waiting, said("cell.suspended")),
        Stage::Ended => ended(tool, glyphs, strings),
    }
}

fn ended(tool: &Tool, glyphs: &Glyphs, strings: &Strings) -> (&'static str, Role, String) {
    let (sign, role, key) = match tool.outcome() {
        Some(ToolOutcome::Done { is_error: false, .. }) | None => (glyphs.good, Role::Good, "cell.done"),
        Some(ToolOutcome::Done { .. } | ToolOutcome::Failed { may_have_run: false, .. }) => {
            (glyphs.bad, Role::Bad, "cell.failed")
        }
        Some(ToolOutcome::Failed { .. }) => (glyphs.bad, Role::Bad, "cell.failed_may_have_run"),
        Some(ToolOutcome::Rejected { .. }) => (glyphs.off, Role::Warning, "cell.rejected"),
        Some(ToolOutcome::ByHand { .. }) => (glyphs.good, Role::Good, "cell.by_hand"),
        Some(ToolOutcome::Cancelled) => (glyphs.off, Role::Dim, "cell.cancelled"),
        Some(ToolOutcome::Interrupted) => (glyphs.warning, Role::Warning, "cell.interrupted"),
        Some(ToolOutcome::SameAs { .. }) => (glyphs.good, Role::Dim, "cell.same_as"),
    };
    let time = tool.took.map(|took| measure::elapsed(took, strings));
    let words = match (key, time) {
        // The common case says only how long it took.
        ("cell.done", Some(time)) => time,
        (key, Some(time)) => format!("{}{}{time}", strings.get(key), glyphs.dot),
        (key, None) => strings.get(key).to_owned(),
    };
    (sign, role, words)
}

fn head(tool: &Tool, ctx: &Ctx<'_>) -> Row {
    let glyphs = ctx.signs().glyphs();
    let (mut sign, role, words) = state(tool, glyphs, ctx.look.strings, Some(ctx.look.now));
    if tool.stage == Stage::Running && !ctx.look.animate {
        sign = glyphs.open;
    }
    let mut builder = RowBuilder::default();
    builder.push(sign, role).pad_to(2.max(width::of(sign) + 1));
    let name = sanitize::line(&tool.name).into_owned();
    // In a narrow pane the name matters more: of "running · 12 s" the time stays, since the sign says the rest; of what has ended, how it did.
    let narrow = builder.width() + width::of(&name) + width::of(&words) + 1 > ctx.width;
    let words = match words.rsplit_once(glyphs.dot) {
        Some((how, _)) if narrow && tool.stage == Stage::Ended => how.to_owned(),
        Some((_, last)) if narrow => last.to_owned(),
        _ => words,
    };
    let quiet =
        role == Role::Good || tool.outcome().is_some_and(|outcome| matches!(outcome, ToolOutcome::SameAs { .. }));
    let words_role = if quiet { Role::Dim } else { role };
    let paint = Role::Tool.with(Modifier::BOLD);
    split_row(builder, (&name, paint), (&sanitize::line(&words), Paint::from(words_role)), glyphs.more, ctx.width)
}

/// The arguments in one line; of a write, what it would change.
fn summary(tool: &Tool, ctx: &Ctx<'_>) -> Vec<Row> {
    let glyphs = ctx.signs().glyphs();
    if let Some(diff) = tool.diff() {
        let mut builder = RowBuilder::default();
        let room = ctx.width.saturating_sub(16).max(8).min(ctx.width);
        builder.push_cut(&sanitize::line(&diff.path), room, glyphs.more, Role::Value);
        let counts = [(format!("+{}", diff.added), Role::Added), (format!("-{}", diff.removed), Role::Removed)];
        for (text, role) in counts.into_iter().filter(|(text, _)| &text[1..] != "0") {
            let left = ctx.width.saturating_sub(builder.width() + 2);
            builder.push(if builder.width() < ctx.width { " " } else { "" }, Role::Text);
            builder.push_cut(&text, left, "", role);
        }
        if !diff.exists {
            let left = ctx.width.saturating_sub(builder.width());
            let text = format!("{}{}", glyphs.dot, ctx.look.strings.get("cell.new_file"));
            builder.push_cut(&text, left, "", Role::Dim);
        }
        return vec![builder.finish(0..0)];
    }
    if let Some(command) = tool.command() {
        let mut builder = RowBuilder::default();
        builder.push("$ ", Role::Dim);
        let first = sanitize::line(command.lines().next().unwrap_or_default());
        builder.push_cut(&first, ctx.width.saturating_sub(2), glyphs.more, Role::Value);
        return vec![builder.finish(0..0)];
    }
    arguments::line(&tool.arguments, ctx.width, glyphs).into_iter().collect()
}

/// Whether a folded call has a line about its result.
pub(super) fn has_result_line(tool: &Tool) -> bool {
    match tool.outcome() {
        None => false,
        Some(ToolOutcome::Done { .. }) => true,
        Some(_) => !tool.pieces().is_empty(),
    }
}

/// Whether an opened result ends with a line about itself.
pub(super) fn afterword(outcome: &ToolOutcome) -> bool {
    matches!(outcome, ToolOutcome::Done { spilled: Some(_), .. })
}

fn result_line(tool: &Tool, shown: Shown, ctx: &Ctx<'_>) -> Vec<Row> {
    let glyphs = ctx.signs().glyphs();
    let strings = ctx.look.strings;
    if shown.fold == Fold::Open {
        let Some(ToolOutcome::Done { spilled: Some(file), .. }) = tool.outcome() else { return Vec::new() };
        let text = strings.fill("cell.whole_in", &[("file", file)]);
        return lines_of(&text, Role::Dim, ctx.width);
    }
    let bad = tool.outcome().is_some_and(ToolOutcome::is_error);
    let text = match tool.pieces().first() {
        None => return vec![quiet_row(glyphs.result, strings.get("cell.no_output"), ctx)],
        Some(piece) => match &piece.label {
            Some(label) => label.text(strings, glyphs.dot),
            // Folded JSON is one line.
            None if piece.flow == crate::tui::text::blocks::Flow::Json => {
                piece.text.lines().take(40).map(str::trim).collect::<Vec<_>>().join(" ")
            }
            // A first line alone is often a title: what fits of the next ones stands behind it.
            None => {
                let lines = piece.text.lines().map(str::trim).filter(|line| !line.is_empty());
                lines.take(8).collect::<Vec<_>>().join(glyphs.dot)
            }
        },
    };
    let lines: usize = tool.pieces().iter().map(|piece| piece.text.lines().count().max(1)).sum();
    let count = if lines > 1 { strings.fill("cell.lines", &[("n", &lines.to_string())]) } else { String::new() };
    let end = text.char_indices().nth(400).map_or(text.len(), |(at, _)| at);
    let mut builder = RowBuilder::default();
    let role = if bad { Role::Bad } else { Role::Text };
    builder.push(glyphs.result, Role::Dim).push(" ", Role::Text);
    let text = sanitize::line(&text[..end]);
    vec![split_row(builder, (&text, role.into()), (&count, Role::Dim.into()), glyphs.more, ctx.width)]
}

fn quiet_row(sign: &str, text: &str, ctx: &Ctx<'_>) -> Row {
    let mut builder = RowBuilder::default();
    builder.push(sign, Role::Marker).push(" ", Role::Text);
    builder.push_cut(text, ctx.width.saturating_sub(width::of(sign) + 1), "", Role::Dim);
    builder.finish(0..0)
}

fn progress_row(progress: &Progress, ctx: &Ctx<'_>) -> Row {
    let glyphs = ctx.signs().glyphs();
    let mut builder = RowBuilder::default();
    if let Some(total) = progress.total.filter(|total| *total > 0.0) {
        let share = (progress.done / total).clamp(0.0, 1.0);
        let columns = (ctx.width / 3).clamp(4, 20);
        let full = (share * f64::from(columns)).round() as usize;
        builder.push(&glyphs.full.repeat(full), Role::Running);
        builder.push(&glyphs.empty.repeat(usize::from(columns) - full), Role::Marker);
        builder.push(&format!(" {:>3.0} %", share * 100.0), Role::Text);
    } else {
        let places = usize::from(progress.done.fract() != 0.0);
        builder.push(&format!("{:.places$}", progress.done), Role::Text);
    }
    if let Some(message) = &progress.message {
        let text = sanitize::line(message.lines().next().unwrap_or_default()).into_owned();
        let left = ctx.width.saturating_sub(builder.width() + 2);
        builder.push("  ", Role::Text).push_cut(&text, left, glyphs.more, Role::Dim);
    }
    builder.finish(0..0)
}

fn warnings(check: &Check, ctx: &Ctx<'_>) -> Vec<Row> {
    check
        .warnings
        .iter()
        .flat_map(|warning| phrase(ctx.signs().glyphs().warning, warning, Role::Warning, ctx))
        .collect()
}

/// What was found out before it ran.
fn note(tool: &Tool, ctx: &Ctx<'_>) -> Vec<Row> {
    let glyphs = ctx.signs().glyphs();
    let mut rows = Vec::new();
    if let Some(check) = tool.check.as_deref() {
        let (Verdict::Allow { why } | Verdict::Ask { why } | Verdict::Deny { why }) = &check.verdict;
        rows.extend(phrase(glyphs.info, why, Role::Dim, ctx));
        rows.extend(warnings(check, ctx));
        if let Preview::Impossible { why } = &check.preview {
            let text = format!("{}: {why}", ctx.look.strings.get("cell.impossible"));
            rows.extend(phrase(glyphs.bad, &Phrase::literal(text), Role::Bad, ctx));
        }
        if let Preview::Diff(diff) = &check.preview {
            let new = if diff.exists {
                String::new()
            } else {
                format!("{}{}", glyphs.dot, ctx.look.strings.get("cell.new_file"))
            };
            rows.extend(lines_of(&format!("{}{new}", diff.path), Role::Value, ctx.width));
        }
    }
    if tool.origin == Some(Origin::Recovered) {
        rows.extend(phrase(glyphs.warning, &Phrase::new("cell.recovered"), Role::Warning, ctx));
    }
    rows
}

fn command(tool: &Tool, ctx: &Ctx<'_>) -> Vec<Row> {
    let Some(Preview::Command { command, cwd }) = tool.check.as_deref().map(|check| &check.preview) else {
        return Vec::new();
    };
    let mut frame = Frame {
        width: ctx.width,
        first: vec![("$ ".into(), Role::Dim.into())],
        rest: vec![("  ".into(), Role::Text.into())],
        ..Frame::default()
    };
    let mut rows = Vec::new();
    let mut at = 0;
    for part in command.split_inclusive('\n') {
        let line = part.trim_end_matches(['\n', '\r']);
        let span = Span { text: line.into(), paint: Role::Value.into(), source: at..at + line.len() };
        wrap(&[span], &frame, at, &mut rows);
        frame.first.clone_from(&frame.rest);
        at += part.len();
    }
    if !cwd.is_empty() {
        let span = Span { text: cwd.as_str().into(), paint: Role::Dim.into(), source: at..at };
        wrap(&[span], &frame, at, &mut rows);
    }
    rows
}

/// The last lines of what a call prints.
fn tail(text: &str, ctx: &Ctx<'_>) -> Vec<Row> {
    let glyphs = ctx.signs().glyphs();
    let text = text.trim_end_matches(['\n', '\r']);
    let from = text.rmatch_indices('\n').nth(TAIL_LINES - 1).map_or(0, |(at, _)| at + 1);
    text[from..]
        .lines()
        .map(|line| {
            // A progress bar drawn with carriage returns: only its last state is there.
            let line = line.rsplit('\r').next().unwrap_or(line);
            let end = line.char_indices().nth(400).map_or(line.len(), |(at, _)| at);
            let mut builder = RowBuilder::default();
            builder.push(glyphs.column, Role::Marker).push(" ", Role::Text);
            let left = ctx.width.saturating_sub(builder.width());
            builder.push_cut(&sanitize::line(&line[..end]), left, glyphs.more, Role::Dim);
            builder.finish(0..0)
        })
        .collect()
}

fn label(tool: &Tool, piece: usize, ctx: &Ctx<'_>) -> Vec<Row> {
    let Some(label) = tool.pieces().get(piece).and_then(|piece| piece.label.as_ref()) else { return Vec::new() };
    lines_of(&label.text(ctx.look.strings, ctx.signs().glyphs().dot), Role::Dim, ctx.width)
}

fn lines_of(text: &str, role: Role, columns: u16) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in text.lines() {
        wrap(&[Span { text: line.into(), paint: role.into(), source: 0..0 }], &Frame::plain(columns), 0, &mut rows);
    }
    rows
}

fn phrase(sign: &str, phrase: &Phrase, role: Role, ctx: &Ctx<'_>) -> Vec<Row> {
    let mut frame = Frame {
        width: ctx.width,
        first: vec![(format!("{sign} ").into(), role.into())],
        rest: vec![("  ".into(), Role::Text.into())],
        ..Frame::default()
    };
    let mut rows = Vec::new();
    for line in ctx.look.strings.render(phrase).lines() {
        wrap(&[Span { text: line.to_owned().into(), paint: role.into(), source: 0..0 }], &frame, 0, &mut rows);
        frame.first.clone_from(&frame.rest);
    }
    rows
}
