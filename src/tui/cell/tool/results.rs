//! What a call answered, as text: every kind of content, media by type and size.

use crate::domain::{Content, ToolOutcome};
use crate::strings::Strings;
use crate::tui::text::blocks::Flow;
use crate::tui::text::{json, measure};

/// Text that looks like JSON is read as such up to this size, in bytes.
const JSON_LIMIT: usize = 256 * 1024;

/// A piece of a result.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// What it is, where that is not plain.
    pub label: Option<Label>,
    /// What it says; may be empty.
    pub text: String,
    pub flow: Flow,
}

/// What a piece is.
#[derive(Debug)]
pub(super) enum Label {
    /// An image.
    Image { mime: String, bytes: usize },
    /// A sound.
    Audio { mime: String, bytes: usize },
    /// A resource or a link to one.
    Resource { name: Option<String>, uri: String, mime: Option<String>, bytes: Option<usize> },
}

impl Label {
    /// The label as a line.
    pub fn text(&self, strings: &Strings, dot: &str) -> String {
        let (key, facts) = match self {
            Self::Image { mime, bytes } => ("cell.image", vec![mime.clone(), measure::size(*bytes)]),
            Self::Audio { mime, bytes } => ("cell.audio", vec![mime.clone(), measure::size(*bytes)]),
            Self::Resource { name, uri, mime, bytes } => {
                let mut facts: Vec<String> = name.iter().chain([uri]).chain(mime).cloned().collect();
                facts.extend(bytes.map(measure::size));
                ("cell.resource", facts)
            }
        };
        format!("{} {}", strings.get(key), facts.join(dot))
    }
}

/// Takes an outcome apart into what is shown of it.
pub(super) fn read(outcome: &mut ToolOutcome) -> Vec<Piece> {
    match outcome {
        ToolOutcome::Done { content, .. } => {
            let mut pieces: Vec<Piece> = Vec::new();
            for block in std::mem::take(content) {
                let piece = piece(block);
                // A server that gives structured content gives the same as text.
                let said =
                    piece.flow == Flow::Json && pieces.iter().any(|p| p.flow == Flow::Json && p.text == piece.text);
                if !said && (piece.label.is_some() || !piece.text.is_empty()) {
                    pieces.push(piece);
                }
            }
            pieces
        }
        ToolOutcome::Failed { message, .. } => plain(std::mem::take(message)),
        ToolOutcome::Rejected { reason } => reason.take().map(plain).unwrap_or_default(),
        ToolOutcome::ByHand { text } => plain(std::mem::take(text)),
        ToolOutcome::Cancelled | ToolOutcome::Interrupted | ToolOutcome::SameAs { .. } => Vec::new(),
    }
}

fn plain(text: String) -> Vec<Piece> {
    let piece = text_piece(text, None);
    if piece.text.is_empty() { Vec::new() } else { vec![piece] }
}

fn piece(block: Content) -> Piece {
    match block {
        Content::Text { text } => text_piece(text, None),
        Content::Json { value } => Piece { text: json::pretty(&value), flow: Flow::Json, label: None },
        Content::Image { mime, data } => labelled(Label::Image { mime, bytes: data.bytes }),
        Content::Audio { mime, data } => labelled(Label::Audio { mime, bytes: data.bytes }),
        Content::Resource { uri, mime, text, blob } => {
            let bytes = blob.map(|blob| blob.bytes);
            let piece = text.map(|text| text_piece(text, mime.as_deref())).unwrap_or_default();
            Piece { label: Some(Label::Resource { name: None, uri, mime, bytes }), ..piece }
        }
        Content::ResourceLink { uri, name, title, description, mime, size } => {
            let bytes = size.map(|size| size as usize);
            let label = Label::Resource { name: title.or(Some(name)), uri, mime, bytes };
            Piece { label: Some(label), text: description.unwrap_or_default(), flow: Flow::Plain }
        }
        Content::Unknown { raw } => Piece { text: json::pretty(&raw), flow: Flow::Json, label: None },
    }
}

fn labelled(label: Label) -> Piece {
    Piece { label: Some(label), text: String::new(), flow: Flow::Plain }
}

fn text_piece(mut text: String, mime: Option<&str>) -> Piece {
    text.truncate(text.trim_end().len());
    if matches!(mime, Some("text/markdown" | "text/x-markdown")) {
        return Piece { text, flow: Flow::Markdown, label: None };
    }
    let looks = text.len() <= JSON_LIMIT && text.trim_start().starts_with(['{', '[']);
    if looks && let Ok(value) = serde_json::from_str(&text) {
        return Piece { text: json::pretty(&value), flow: Flow::Json, label: None };
    }
    Piece { text, flow: Flow::Plain, label: None }
}
