//! What the model thought.

/// What the model thought.
#[derive(Debug, Default)]
pub struct Thinking {
    text: String,
    whole: bool,
}

impl Thinking {
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
