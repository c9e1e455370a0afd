//! What the model said to the user, in Markdown.

/// What the model said to the user, in Markdown.
#[derive(Debug, Default)]
pub struct Answer {
    text: String,
    whole: bool,
}

impl Answer {
    /// The text so far, as it came.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing follows any more.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    pub(super) fn append(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn finish(&mut self) {
        self.whole = true;
        self.text.shrink_to_fit();
    }
}
