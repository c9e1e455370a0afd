//! What the user sent.

use crate::domain::{Content, UserInput};

/// What the user sent: the text as typed, and what went with it.
#[derive(Debug)]
pub struct User {
    text: String,
    attachments: Vec<Content>,
}

impl User {
    pub(super) fn new(input: UserInput) -> Self {
        Self { text: input.text, attachments: input.attachments }
    }

    /// The text as typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Files and resources that went with it.
    pub fn attachments(&self) -> &[Content] {
        &self.attachments
    }
}
