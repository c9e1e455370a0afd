//! What the terminal answers when it is asked.

/// A terminal's manners.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// It answers the question for its attributes, as nearly all do.
    pub attributes: bool,
    /// The background it reports.
    pub background: Option<(u8, u8, u8)>,
    /// It speaks the kitty keyboard protocol.
    pub kitty: bool,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { attributes: true, background: Some((0x11, 0x11, 0x11)), kitty: false }
    }
}

impl Terminal {
    /// One that answers nothing at all.
    pub const SILENT: Self = Self { attributes: false, background: None, kitty: false };

    /// What it answers to the questions among these bytes.
    pub fn answers(self, bytes: &[u8]) -> Vec<u8> {
        let asked = |question: &[u8]| bytes.windows(question.len()).any(|window| window == question);
        let mut out = Vec::new();
        if let Some((r, g, b)) = self.background
            && asked(b"\x1b]11;?\x1b\\")
        {
            out.extend(format!("\x1b]11;rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}\x1b\\").into_bytes());
        }
        if self.kitty && asked(b"\x1b[?u") {
            out.extend(b"\x1b[?0u");
        }
        if self.attributes && asked(b"\x1b[c") {
            out.extend(b"\x1b[?62;22c");
        }
        out
    }
}
