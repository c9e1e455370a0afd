//! The buttons of a form: always in sight, reached like fields.

use super::Purpose;
use crate::tui::look::Look;
use crate::tui::prompt::glyph::glyphs;
use crate::tui::text::{RowBuilder, width};
use crate::tui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// A button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Button {
    Submit,
    Decline,
    Cancel,
}

/// The buttons of a purpose, in order.
pub(super) fn of(purpose: Purpose) -> &'static [Button] {
    match purpose {
        Purpose::Elicit => &[Button::Submit, Button::Decline, Button::Cancel],
        Purpose::Arguments | Purpose::Run => &[Button::Submit, Button::Cancel],
    }
}

/// Whether there is anything to fill in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Fields,
    /// Only a question: a confirmation.
    Nothing,
}

fn label<'a>(button: Button, purpose: Purpose, content: Content, look: &'a Look<'_>) -> &'a str {
    look.strings.get(match (button, purpose, content) {
        (Button::Submit, Purpose::Elicit, Content::Fields) => "form.button.submit",
        (Button::Submit, Purpose::Elicit, Content::Nothing) => "form.button.confirm",
        (Button::Submit, Purpose::Arguments, _) => "form.button.apply",
        (Button::Submit, Purpose::Run, _) => "form.button.run",
        (Button::Decline, ..) => "form.button.decline",
        (Button::Cancel, Purpose::Arguments, _) => "form.button.back",
        (Button::Cancel, ..) => "form.button.cancel",
    })
}

/// Draws the buttons; returns the column behind them, and where the caret stands if one of them has the focus.
pub(super) fn draw(
    (purpose, content): (Purpose, Content),
    focused: Option<Button>,
    area: Rect,
    buffer: &mut Buffer,
    look: &Look<'_>,
) -> (u16, Option<Position>) {
    let g = glyphs(look);
    let labels: Vec<(Button, &str)> = of(purpose).iter().map(|b| (*b, label(*b, purpose, content, look))).collect();
    let total: u16 = labels.iter().map(|(_, text)| width::of(text) + 2).sum();
    let gap = if total + 2 * (labels.len() as u16) + 2 <= area.width { 2 } else { 1 };
    let margin = if total + gap * (labels.len() as u16) + 2 <= area.width { 2 } else { 0 };
    let mut row = RowBuilder::default();
    row.push(&" ".repeat(margin), Role::Text);
    let mut caret = None;
    for (index, (button, text)) in labels.into_iter().enumerate() {
        if index > 0 {
            row.push(&" ".repeat(usize::from(gap)), Role::Text);
        }
        let here = focused == Some(button);
        if here {
            let x = (area.x + row.width() + 1).min(area.right().saturating_sub(1));
            caret = Some(Position::new(x, area.y));
        }
        let (frame, name) = if here { (Role::Accent, Role::Selected) } else { (Role::Dim, Role::Text) };
        row.push(g.open, frame).push(text, name).push(g.close, frame);
    }
    let end = row.width();
    row.finish(0..0).draw(area, buffer, look.theme);
    (end, caret)
}
