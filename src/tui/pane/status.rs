//! The line at the bottom: which keys work here, and the last notice.
//!
//! A notice stays until a key is pressed after it has stood for [`READ`]; it takes no key and moves nothing.

use crate::domain::{Level, Notice};
use crate::tui::look::Look;
use crate::tui::theme::Role;
use crate::tui::widget::Line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::{Duration, Instant};

/// Long enough to be read.
const READ: Duration = Duration::from_secs(4);

/// What a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Voice {
    /// Something happened by itself.
    #[default]
    News,
    /// It answers a key: it is shown at once, whatever stands here.
    Answer,
}

/// The status line.
#[derive(Debug, Default)]
pub struct Status {
    notice: Option<(Notice, Instant)>,
    /// Notices that came since the last one that was seen to go.
    unread: usize,
    voice: Voice,
}

impl Status {
    /// Shows a notice.
    pub fn show(&mut self, notice: Notice, now: Instant) {
        // A worse one that nobody can have read yet is not covered by a lesser one.
        let covered = self.voice == Voice::News
            && self
                .notice
                .as_ref()
                .is_some_and(|(shown, at)| shown.level > notice.level && now.saturating_duration_since(*at) < READ);
        self.unread += 1;
        if !covered {
            self.notice = Some((notice, now));
        }
    }

    /// What the notices that come now are.
    pub fn listen(&mut self, voice: Voice) {
        self.voice = voice;
    }

    /// A key was pressed.
    pub fn key(&mut self, now: Instant) {
        if self.notice.as_ref().is_some_and(|(_, at)| now.saturating_duration_since(*at) >= READ) {
            self.clear();
        }
    }

    /// The notice is done with.
    pub fn clear(&mut self) {
        self.notice = None;
        self.unread = 0;
    }

    /// Draws the hints from the left and the notice from the right; the notice has precedence.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, look: &Look<'_>, hints: &Line) {
        let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        let Some((notice, _)) = &self.notice else {
            hints.draw(area, buffer, look.theme);
            return;
        };
        let line = notice_line(notice, look);
        let mut rest = Line::new();
        if self.unread > 1 {
            let more = (self.unread - 1).to_string();
            rest.push(" ", Role::Dim).push(&look.strings.fill("pane.more_notices", &[("count", &more)]), Role::Dim);
        } else if line.width() > area.width {
            rest.push(" ", Role::Dim).push("/notices", Role::Dim);
        }
        // Where the whole of it can be read is never cut off.
        let before = Rect { width: area.width.saturating_sub(rest.width()), ..area };
        let used = rest.draw_right(area, buffer, look.theme) + line.draw_right(before, buffer, look.theme);
        let room = area.width.saturating_sub(used + 3);
        if room >= 12 {
            hints.draw(Rect { width: room, ..area }, buffer, look.theme);
        }
    }
}

/// A notice on one line, a mark before it so that colour is not the only sign.
pub fn notice_line(notice: &Notice, look: &Look<'_>) -> Line {
    let (mark, role) = match notice.level {
        Level::Info => ("", Role::Text),
        Level::Warning => (look.glyphs().warning, Role::Warning),
        Level::Error => (look.glyphs().bad, Role::Bad),
    };
    let mut line = Line::of(mark, role);
    if !line.is_empty() {
        line.push(" ", role);
    }
    line.push(&look.strings.render(&notice.text), role);
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Phrase;

    #[test]
    fn a_notice_outlives_the_keys_typed_under_it() {
        let (mut status, now) = (Status::default(), Instant::now());
        status.show(Notice::error(Phrase::literal("bad")), now);
        status.show(Notice::info(Phrase::literal("fine")), now);
        status.key(now + Duration::from_secs(1));
        let kept = status.notice.as_ref().map(|(notice, _)| notice.level);
        assert_eq!((kept, status.unread), (Some(Level::Error), 2));
        status.listen(Voice::Answer);
        status.show(Notice::info(Phrase::literal("as you wished")), now);
        assert_eq!(status.notice.as_ref().map(|(notice, _)| notice.level), Some(Level::Info));
        status.key(now + READ);
        assert!(status.notice.is_none());
    }
}
