//! What a tool result or a user message is made of: MCP's content blocks, kept whole.
//! Source: MCP 2025-11-25, `ContentBlock`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// Binary data, kept as the base64 text it arrived in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// Standard base64, as received.
    pub base64: Arc<str>,
    /// Decoded size in bytes; computed from the text's length where it was not decoded.
    pub bytes: usize,
}

impl Blob {
    /// Wraps base64 text; the size is computed from its length and padding.
    pub fn from_base64(text: impl Into<Arc<str>>) -> Self {
        let base64: Arc<str> = text.into();
        let trimmed = base64.trim_end_matches('=');
        let bytes = trimmed.len() * 3 / 4;
        Self { base64, bytes }
    }
}

/// One block of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Plain or Markdown text.
    Text {
        /// The text, unsanitized: it is cleaned where it is drawn.
        text: String,
    },
    /// Structured content of a tool result.
    Json {
        /// Any JSON value.
        value: Value,
    },
    /// An image.
    Image {
        /// MIME type.
        mime: String,
        /// The picture.
        data: Blob,
    },
    /// A sound.
    Audio {
        /// MIME type.
        mime: String,
        /// The sound.
        data: Blob,
    },
    /// A resource embedded in a result.
    Resource {
        /// Its URI.
        uri: String,
        /// MIME type where the server named one.
        mime: Option<String>,
        /// Text contents, if it is text.
        text: Option<String>,
        /// Binary contents, if it is binary.
        blob: Option<Blob>,
    },
    /// A pointer to a resource that can be read with `resources/read`.
    ResourceLink {
        /// Its URI.
        uri: String,
        /// Programmatic name.
        name: String,
        /// Title for people.
        title: Option<String>,
        /// What it is.
        description: Option<String>,
        /// MIME type where the server named one.
        mime: Option<String>,
        /// Size in bytes where the server named one.
        size: Option<u64>,
    },
    /// A block of a kind this version does not know, kept whole.
    Unknown {
        /// The block as received.
        raw: Value,
    },
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Whether it is a picture or a sound.
    pub fn is_media(&self) -> bool {
        matches!(self, Self::Image { .. } | Self::Audio { .. })
    }

    /// The block as text for a model that reads only text. Media are described, not included.
    pub fn to_plain(&self) -> String {
        match self {
            Self::Text { text } => text.clone(),
            Self::Json { value } => value.to_string(),
            Self::Image { mime, data } => format!("[image {mime}, {} bytes]", data.bytes),
            Self::Audio { mime, data } => format!("[audio {mime}, {} bytes]", data.bytes),
            Self::Resource { uri, mime, text, blob } => match (text, blob) {
                (Some(text), _) => format!("[resource {uri}]\n{text}"),
                (None, Some(blob)) => {
                    format!("[resource {uri}, {}, {} bytes]", mime.as_deref().unwrap_or("unknown type"), blob.bytes)
                }
                (None, None) => format!("[resource {uri}, empty]"),
            },
            Self::ResourceLink { uri, name, description, mime, .. } => {
                let mut line = format!("[resource link {name}: {uri}");
                if let Some(mime) = mime {
                    line.push_str(", ");
                    line.push_str(mime);
                }
                line.push(']');
                if let Some(description) = description {
                    line.push(' ');
                    line.push_str(description);
                }
                line
            }
            Self::Unknown { raw } => raw.to_string(),
        }
    }
}

/// The blocks of a result as plain text, where pictures and sounds travel beside it or not at all: what stands beside them describes them; alone,
/// they are described here.
pub fn beside_media(blocks: &[Content]) -> String {
    let texts: Vec<Content> = blocks.iter().filter(|block| !block.is_media()).cloned().collect();
    plain(if texts.is_empty() { blocks } else { &texts })
}

/// All blocks as plain text, one after another, separated by newlines.
pub fn plain(blocks: &[Content]) -> String {
    let mut out = String::new();
    for (i, block) in blocks.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        out.push_str(&block.to_plain());
    }
    out
}
