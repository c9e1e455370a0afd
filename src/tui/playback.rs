//! A recording on the screen: its keys, and the line that stands where one would write.
//!
//! Owns no state: how far the recording has come is the player's to say. **Invariant:** nothing can be written while a recording is played.

use crate::contract::Op;
use crate::contract::op::PlaybackOp;
use crate::tui::command::Command;
use crate::tui::commands;
use crate::tui::facts::Playback;
use crate::tui::focus::Focus;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::outcome::Effect;
use crate::tui::theme::Role;
use crate::tui::ui::Ui;
use crate::tui::widget::Line;
use crate::tui::widget::frame::{self, Lit};
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::time::Instant;

/// Takes a key; `None` where it is a pane's.
pub fn key(ui: &mut Ui, key: KeyEvent, now: Instant) -> Option<Vec<Effect>> {
    let searching = matches!(ui.focus, Focus::Pane(id) if ui.panes.get(id).is_searching());
    if searching {
        return None;
    }
    let op = match ui.dress.keymap.find(Context::Playback, key) {
        Some(Command::PlaybackStep) => PlaybackOp::Step,
        Some(Command::PlaybackPause) => PlaybackOp::Pause,
        Some(Command::PlaybackFaster) => PlaybackOp::Faster,
        Some(Command::PlaybackSlower) => PlaybackOp::Slower,
        Some(command) => return Some(commands::run(ui, command, "", now)),
        None if ui.focus == Focus::Composer => {
            let command = ui.dress.keymap.find(Context::Global, key);
            return Some(command.map(|command| commands::run(ui, command, "", now)).unwrap_or_default());
        }
        None => return None,
    };
    Some(vec![Effect::Op(Op::Playback(op))])
}

/// Draws the rule with the place in the recording, and the keys below it. There is no caret.
pub fn draw(area: Rect, buffer: &mut Buffer, look: &Look<'_>, lit: Lit, playback: Playback) -> Option<Position> {
    let (at, of) = (playback.at.to_string(), playback.of.to_string());
    let mut left = Line::of(&look.strings.fill("pane.playback_place", &[("at", &at), ("of", &of)]), Role::Text);
    let more = match playback.speed {
        Some(speed) => Some(look.strings.fill("pane.playback_speed", &[("speed", &speed.to_string())])),
        None if playback.at == playback.of => Some(look.strings.get("pane.playback_ended").to_owned()),
        None => None,
    };
    if let Some(more) = more {
        left.push(look.glyphs().dot, Role::Dim).push(&more, Role::Dim);
    }
    frame::rule(Rect { height: 1, ..area }, buffer, look, lit, &left, &Line::new());
    let label = |command| look.keymap.label(Context::Playback, command).unwrap_or_default();
    let keys = [
        (label(Command::PlaybackStep), "pane.playback_step"),
        (label(Command::PlaybackPause), "pane.playback_pause"),
        (label(Command::PlaybackFaster), "pane.playback_faster"),
        (label(Command::PlaybackSlower), "pane.playback_slower"),
        (label(Command::Quit), "pane.playback_quit"),
    ];
    let keys: Vec<(&str, &str)> = keys.iter().map(|(key, text)| (key.as_str(), *text)).collect();
    let row = Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: 1 };
    if area.height > 1 {
        frame::hints(look, &keys).draw(row, buffer, look.theme);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::SessionEvent;
    use crate::tui::frame::Motion;
    use crate::tui::harness::Harness;

    fn playing(at: usize, speed: Option<f64>) -> Harness {
        let mut screen = Harness::new(100, 24);
        screen.feed(SessionEvent::Playback { at, of: 9, speed }.into());
        screen
    }

    #[test]
    fn keys_play_and_nothing_is_written() {
        let mut screen = playing(3, None);
        let text = screen.text();
        assert!(text.contains("recording: 3 of 9") && text.contains("Space"), "{text}");
        screen.press("Space").press("p").press("+").press("-").type_text("xyz").paste("pasted");
        let ops: Vec<PlaybackOp> = screen
            .ops()
            .into_iter()
            .map(|op| match op {
                Op::Playback(op) => op,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(ops, [PlaybackOp::Step, PlaybackOp::Pause, PlaybackOp::Faster, PlaybackOp::Slower]);
        assert!(screen.ui.composer.is_empty());
        screen.press("Tab").press("Space");
        assert_eq!(screen.ops(), [Op::Playback(PlaybackOp::Step)], "in a pane too");
        screen.press("F1");
        assert!(screen.text().contains("While a recording is played"), "{}", screen.text());
        screen.press("Esc").press("q");
        assert_eq!(screen.effects(), [Effect::Quit]);
    }

    #[test]
    fn a_recording_that_waits_does_not_move() {
        use crate::contract::TurnEvent;
        use crate::domain::conversation::TurnKind;
        use crate::domain::{TurnId, UserInput};
        let mut screen = playing(1, None);
        let started = TurnEvent::Started { turn: TurnId(1), kind: TurnKind::Task, input: UserInput::text("go") };
        screen.feed(started.into());
        assert_eq!(screen.draw().1.motion, Motion::Still);
        screen.feed(SessionEvent::Playback { at: 2, of: 9, speed: Some(2.0) }.into());
        assert_eq!(screen.draw().1.motion, Motion::Spinning);
        assert!(screen.text().contains("2 times as fast"));
        screen.feed(SessionEvent::Playback { at: 9, of: 9, speed: None }.into());
        assert!(screen.text().contains("the end"));
    }
}
