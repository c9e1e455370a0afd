//! What is said beside the panes: which keys work for what has the focus, and always how to leave it; what runs; what is queued.

use crate::tui::command::Command;
use crate::tui::focus::{Focus, PaneId};
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::scene::Scene;
use crate::tui::theme::Role;
use crate::tui::ui::Ui;
use crate::tui::widget::{Line, frame, spinner};

/// The hints for what has the focus. An opened prompt and a layer name their keys themselves.
pub fn line(look: &Look<'_>, ui: &Ui, focus: Option<Focus>) -> Line {
    match focus {
        None => Line::new(),
        Some(Focus::Composer) => composer(look, ui),
        Some(Focus::Pane(id)) => pane(look, id),
    }
}

fn key(look: &Look<'_>, context: Context, command: Command) -> String {
    look.keymap.label(context, command).unwrap_or_default()
}

fn composer(look: &Look<'_>, ui: &Ui) -> Line {
    if ui.scene.facts.playback.is_some() {
        let (next, help) = (key(look, Context::Global, Command::Next), key(look, Context::Global, Command::Help));
        return frame::hints(look, &[(&next, "pane.hint_panes"), (&help, "pane.hint_help")]);
    }
    if ui.composer.is_completing() {
        return frame::hints(
            look,
            &[("Tab", "pane.hint_complete"), ("Enter", "pane.hint_run"), ("Esc", "pane.hint_close")],
        );
    }
    let send = key(look, Context::Composer, Command::Send);
    let new_line =
        if look.shift_enter { "Shift-Enter".to_owned() } else { key(look, Context::Composer, Command::NewLine) };
    let paste =
        if ui.composer.is_at_paste() { key(look, Context::Composer, Command::OpenPaste) } else { String::new() };
    let next = key(look, Context::Global, Command::Next);
    let palette = key(look, Context::Global, Command::Palette);
    let help = key(look, Context::Global, Command::Help);
    let what = if ui.scene.activity.is_running() { "pane.hint_queue" } else { "pane.hint_send" };
    frame::hints(
        look,
        &[
            (&paste, "pane.hint_open_paste"),
            (&send, what),
            (&new_line, "pane.hint_new_line"),
            (&next, "pane.hint_panes"),
            (&palette, "pane.hint_commands"),
            (&help, "pane.hint_help"),
        ],
    )
}

fn pane(look: &Look<'_>, id: PaneId) -> Line {
    let of = |command| key(look, Context::Pane, command);
    let scroll = format!("{}{}", of(Command::Up), of(Command::Down));
    let toggle = if id == PaneId::Answer { String::new() } else { of(Command::Toggle) };
    let (leave, search, copy) = (key_of_leave(look), of(Command::Search), of(Command::Copy));
    let (step, zoom, help) =
        (format!("{}{}", of(Command::StepBack), of(Command::StepForward)), of(Command::Zoom), of(Command::Help));
    frame::hints(
        look,
        &[
            (&leave, "pane.hint_leave"),
            (&scroll, "pane.hint_scroll"),
            (&toggle, "pane.hint_toggle"),
            (&step, "pane.hint_step"),
            (&search, "pane.hint_search"),
            (&copy, "pane.hint_copy"),
            (&zoom, "pane.hint_zoom"),
            (&help, "pane.hint_help"),
        ],
    )
}

/// Escape leaves a pane wherever the keymap says so; it is the key that people look for.
fn key_of_leave(look: &Look<'_>) -> String {
    let escape = crossterm::event::KeyEvent::new(crossterm::event::KeyCode::Esc, crossterm::event::KeyModifiers::NONE);
    if look.keymap.find(Context::Pane, escape) == Some(Command::ToComposer) {
        return "Esc".to_owned();
    }
    key(look, Context::Pane, Command::ToComposer)
}

/// What waits behind the running turn, for the composer's rule.
pub fn queue(look: &Look<'_>, queued: usize) -> Line {
    let mut line = Line::new();
    if queued > 0 {
        line.push(&look.strings.fill("pane.queued", &[("count", &queued.to_string())]), Role::Text);
        if let Some(up) = look.keymap.label(Context::Composer, Command::HistoryUp) {
            line.push(look.glyphs().dot, Role::Dim);
            line.push(&up, Role::Key).push(" ", Role::Dim).push(look.strings.get("pane.hint_take_back"), Role::Dim);
        }
    }
    line
}

/// What runs, for the composer's rule: a spinner, what it is, for how long, how to stop it.
pub fn working(look: &Look<'_>, scene: &Scene, waits: usize, focus: Option<Focus>) -> Line {
    let mut line = Line::new();
    let (Some(text), Some(since)) = (scene.activity.text(look, waits), scene.activity.since()) else { return line };
    let (mark, role) =
        if waits > 0 { (look.glyphs().waiting, Role::Waiting) } else { (spinner::symbol(since, look), Role::Running) };
    line.push(mark, role).push(" ", role).push(&text, Role::Text);
    let dot = look.glyphs().dot;
    if waits == 0 {
        line.push(dot, Role::Dim).push(&spinner::elapsed(since, look), Role::Dim);
    }
    // Elsewhere the same key closes something else first.
    let escape = look.keymap.label(Context::Global, Command::Escape).filter(|_| focus == Some(Focus::Composer));
    if let Some(key) = escape {
        line.push(dot, Role::Dim).push(&key, Role::Key).push(" ", Role::Dim);
        line.push(look.strings.get("pane.hint_interrupts"), Role::Dim);
    }
    line
}
