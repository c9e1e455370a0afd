//! The arguments of a call, as text: what a person reads, not what goes over the wire.

use crate::tui::text::blocks::Flow;
use crate::tui::text::glyph::Glyphs;
use crate::tui::text::row::{Row, RowBuilder, cut};
use crate::tui::text::wrap::{Frame, Span, wrap};
use crate::tui::text::{json, sanitize, width};
use crate::tui::theme::Role;
use serde_json::Value;

/// More arguments than this are shown together as one JSON text.
const MOST: usize = 100;
/// Names are padded to the widest of them up to this many columns.
const NAME_COLUMNS: u16 = 18;
/// A value of one line up to this many bytes stands beside its name.
const SHORT: usize = 240;

/// One argument.
#[derive(Debug)]
pub(super) struct Argument {
    pub name: String,
    /// A string as it is; anything else as JSON.
    pub value: String,
    pub flow: Flow,
}

impl Argument {
    fn new(name: String, value: Value) -> Self {
        match value {
            Value::String(value) => Self { name, value, flow: Flow::Plain },
            other => Self { name, value: json::pretty(&other), flow: Flow::Json },
        }
    }

    /// Whether the value stands beside its name.
    pub fn is_short(&self) -> bool {
        self.value.len() <= SHORT && !self.value.contains('\n')
    }
}

/// Takes arguments apart.
pub(super) fn read(arguments: Value) -> Vec<Argument> {
    match arguments {
        Value::Null => Vec::new(),
        Value::Object(fields) if fields.len() <= MOST => {
            fields.into_iter().map(|(name, value)| Argument::new(name, value)).collect()
        }
        other => vec![Argument::new(String::new(), other)],
    }
}

/// All of them in one line: `name value · name value`.
pub(super) fn line(arguments: &[Argument], columns: u16, glyphs: &Glyphs) -> Option<Row> {
    if arguments.is_empty() {
        return None;
    }
    let mut builder = RowBuilder::default();
    for argument in arguments {
        let room = |builder: &RowBuilder| columns.saturating_sub(builder.width());
        if !builder.is_empty() {
            if room(&builder) < 8 {
                let left = room(&builder);
                builder.push_cut(glyphs.more, left, "", Role::Marker);
                break;
            }
            builder.push(glyphs.dot, Role::Marker);
        }
        if !argument.name.is_empty() {
            let left = room(&builder);
            builder.push_cut(&sanitize::line(&argument.name), left, glyphs.more, Role::Label);
            if room(&builder) > 1 {
                builder.push(" ", Role::Text);
            }
        }
        let value = one_line(argument);
        let left = room(&builder);
        let (shown, was_cut) = cut(&value, left, glyphs.more);
        builder.push(shown, Role::Value);
        if was_cut || argument.value.trim_end().contains('\n') && width::of(glyphs.more) <= room(&builder) {
            builder.push(glyphs.more, Role::Marker);
        }
    }
    Some(builder.finish(0..0))
}

fn one_line(argument: &Argument) -> String {
    let text = if argument.flow == Flow::Json {
        // Pretty-printed: its lines joined are JSON again.
        argument.value.lines().map(str::trim).collect::<Vec<_>>().join(" ")
    } else {
        argument.value.lines().next().unwrap_or_default().to_owned()
    };
    let end = text.char_indices().nth(400).map_or(text.len(), |(at, _)| at);
    sanitize::line(&text[..end]).into_owned()
}

/// Columns of the names, all padded alike.
pub(super) fn name_columns(arguments: &[Argument]) -> u16 {
    let widest = arguments.iter().filter(|argument| argument.is_short());
    widest.map(|argument| width::of(&sanitize::line(&argument.name))).max().unwrap_or(0).min(NAME_COLUMNS)
}

/// The rows of one argument: its name, and its value beside it if it is short.
pub(super) fn rows(argument: &Argument, names: u16, columns: u16) -> Vec<Row> {
    let mut rows = Vec::new();
    let name = sanitize::line(&argument.name);
    let name_span = |text: &str| Span { text: text.to_owned().into(), paint: Role::Label.into(), source: 0..0 };
    if !argument.is_short() {
        wrap(&[name_span(&name)], &Frame::plain(columns), 0, &mut rows);
        return rows;
    }
    let spaces = names.saturating_sub(width::of(&name)) + u16::from(!name.is_empty());
    let padded = format!("{name}{}", " ".repeat(usize::from(spaces)));
    let hang = width::of(&padded).min(columns / 2);
    let frame = Frame {
        width: columns,
        first: vec![(padded.into(), Role::Label.into())],
        rest: vec![(" ".repeat(usize::from(hang)).into(), Role::Text.into())],
        ..Frame::default()
    };
    if hang < width::of(&frame.first[0].0) {
        // A long name: the value goes below it.
        wrap(&[name_span(&name)], &Frame::plain(columns), 0, &mut rows);
        let below = Frame { first: frame.rest.clone(), ..frame };
        wrap(&value_spans(argument), &below, 0, &mut rows);
    } else {
        wrap(&value_spans(argument), &frame, 0, &mut rows);
    }
    rows
}

fn value_spans(argument: &Argument) -> Vec<Span<'_>> {
    if argument.flow == Flow::Json {
        json::spans(&argument.value, 0)
    } else {
        let source = 0..argument.value.len();
        vec![Span { text: argument.value.as_str().into(), paint: Role::Value.into(), source }]
    }
}
