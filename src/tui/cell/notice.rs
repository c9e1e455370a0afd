//! Something the user should read, standing in the conversation.

use crate::domain::Notice;

/// A notice among the entries.
#[derive(Debug)]
pub struct NoticeCell {
    notice: Notice,
}

impl NoticeCell {
    pub(super) fn new(notice: Notice) -> Self {
        Self { notice }
    }

    /// The notice.
    pub fn notice(&self) -> &Notice {
        &self.notice
    }
}
