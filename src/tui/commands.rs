//! What each command does, for keys, the palette and `/commands` alike.

use crate::contract::{Op, SessionOp};
use crate::domain::model::DialectKind;
use crate::domain::{CallId, Notice, Phrase};
use crate::tui::about;
use crate::tui::activity::Ending;
use crate::tui::cell::Cell;
use crate::tui::command::Command;
use crate::tui::focus::{Focus, PaneId, Turn};
use crate::tui::layer::{details, help, notices, palette, servers, theme, tools};
use crate::tui::layout::{Arrangement, Mode};
use crate::tui::outcome::{Effect, Layer};
use crate::tui::ui::{Dump, Ui};
use std::time::Instant;

/// Carries out a command; `value` is what was written behind a `/command`.
pub fn run(ui: &mut Ui, command: Command, value: &str, now: Instant) -> Vec<Effect> {
    match command {
        Command::OpenWaiting => open_waiting(ui, now),
        Command::Next => turn(ui, Turn::Next),
        Command::Previous => turn(ui, Turn::Previous),
        Command::Palette | Command::Help | Command::Servers | Command::Tools | Command::Notices => {
            let layer = overlay(ui, command);
            ui.layers.toggle(layer, &ui.scene.facts);
            Vec::new()
        }
        Command::Redraw => vec![Effect::Redraw],
        Command::Suspend => vec![Effect::Suspend],
        Command::Escape => escape(ui, now),
        Command::InterruptOrQuit => interrupt_or_quit(ui, now),
        Command::Interrupt => interrupt(ui),
        Command::Quit => vec![Effect::Quit],
        Command::NewSession => vec![Effect::Op(Op::Session(SessionOp::New))],
        Command::Reload => vec![Effect::Op(Op::Reload)],
        Command::Theme | Command::Layout | Command::Model | Command::Dialect => choose(ui, command, value),
        Command::Prompt => {
            ui.layers.toggle(Box::new(details::DetailsLayer::told()), &ui.scene.facts);
            vec![Effect::Op(Op::Session(SessionOp::Prompt))]
        }
        Command::DumpOnExit => dump(ui),
        Command::Send | Command::Editor | Command::OpenPaste | Command::QuitWhenEmpty => {
            let wish = ui.composer.command(command, &ui.dress.look(now));
            ui.grant(wish, now)
        }
        _ => pane(ui, command, now),
    }
}

fn said(text: Phrase) -> Vec<Effect> {
    vec![Effect::Notice(Notice::info(text))]
}

/// The user asks for what waits: layers step aside.
fn open_waiting(ui: &mut Ui, now: Instant) -> Vec<Effect> {
    if ui.arrangement() == Arrangement::TooSmall {
        return Vec::new();
    }
    if ui.scene.prompts.waiting() == 0 {
        return said(Phrase::new("pane.nothing_waits"));
    }
    ui.layers.close_modal();
    if !ui.scene.prompts.is_open() {
        ui.scene.prompts.open_next(now);
    }
    Vec::new()
}

fn turn(ui: &mut Ui, turn: Turn) -> Vec<Effect> {
    let to = ui.focus.turn(turn, ui.arrangement());
    focus(ui, to);
    Vec::new()
}

fn focus(ui: &mut Ui, to: Focus) {
    ui.focus = to;
    if let Focus::Pane(id) = to {
        ui.panes.show(id);
    }
}

fn overlay(ui: &Ui, command: Command) -> Box<dyn Layer> {
    match command {
        Command::Palette => Box::new(palette::Palette::new()),
        Command::Servers => Box::new(servers::Servers::new()),
        Command::Tools => Box::new(tools::Tools::new()),
        Command::Notices => Box::new(notices::Notices::new()),
        Command::Theme => Box::new(theme::ThemePicker::new(ui.wardrobe.names(), ui.wardrobe.current())),
        _ => Box::new(help::Help::new()),
    }
}

/// The innermost thing closes: a guest, what is open in a pane, the pane itself, at last the running turn.
fn escape(ui: &mut Ui, now: Instant) -> Vec<Effect> {
    if ui.layers.top().is_some() {
        ui.layers.pop();
        return Vec::new();
    }
    match ui.focus {
        Focus::Composer => interrupt(ui),
        Focus::Pane(_) => pane(ui, Command::ToComposer, now),
    }
}

fn interrupt(ui: &mut Ui) -> Vec<Effect> {
    match ui.scene.activity.interrupt() {
        Some(_) => vec![Effect::Op(Op::Interrupt)],
        None => Vec::new(),
    }
}

fn interrupt_or_quit(ui: &mut Ui, now: Instant) -> Vec<Effect> {
    match ui.scene.activity.interrupt() {
        Some(Ending::No) => return vec![Effect::Op(Op::Interrupt)],
        // The agent does not answer: it must still be possible to leave.
        Some(Ending::Asked) => return ui.arm_or_quit(now),
        None => {}
    }
    let covered = ui.layers.is_modal() || ui.scene.prompts.is_open();
    if !covered && ui.composer.clear() {
        return Vec::new();
    }
    ui.arm_or_quit(now)
}

fn choose(ui: &mut Ui, command: Command, value: &str) -> Vec<Effect> {
    match command {
        Command::Theme if value.is_empty() => {
            let layer = overlay(ui, command);
            ui.layers.toggle(layer, &ui.scene.facts);
            Vec::new()
        }
        Command::Theme => vec![Effect::UseTheme(value.to_owned())],
        Command::Layout => {
            let Some(mode) = (if value.is_empty() { Some(ui.panes.mode.next()) } else { Mode::from_name(value) })
            else {
                return unknown(value);
            };
            ui.panes.mode = mode;
            ui.focus = ui.focus.fit(ui.arrangement());
            said(Phrase::new("pane.layout_now").with("name", mode.name()))
        }
        Command::Dialect => match value {
            "auto" => vec![Effect::Op(Op::UseDialect { dialect: None })],
            "" => vec![Effect::Details(Box::new(about::model(&ui.scene.facts, &ui.dress.strings)))],
            name => match DialectKind::named(name) {
                None => unknown(value),
                dialect => vec![Effect::Op(Op::UseDialect { dialect })],
            },
        },
        _ if value.is_empty() => {
            vec![Effect::Details(Box::new(about::model(&ui.scene.facts, &ui.dress.strings)))]
        }
        _ => vec![Effect::Op(Op::UseModel { model: value.to_owned() })],
    }
}

fn unknown(value: &str) -> Vec<Effect> {
    vec![Effect::Notice(Notice::warning(Phrase::new("pane.unknown_value").with("value", value)))]
}

fn dump(ui: &mut Ui) -> Vec<Effect> {
    let (dump, key) = match ui.dump {
        Dump::Off => (Dump::On, "pane.dump_on"),
        Dump::On => (Dump::Off, "pane.dump_off"),
    };
    ui.dump = dump;
    said(Phrase::new(key))
}

/// Commands of the content panes. Without a focused pane they mean the one in front.
fn pane(ui: &mut Ui, command: Command, now: Instant) -> Vec<Effect> {
    let arrangement = ui.arrangement();
    let id = match ui.focus {
        Focus::Pane(id) => id,
        Focus::Composer => ui.panes.front(arrangement),
    };
    match command {
        Command::ToComposer => {
            let (store, look) = (&ui.scene.store, ui.dress.look(now));
            if !ui.panes.get(id).close(store, &look) {
                ui.focus = Focus::Composer;
            }
        }
        Command::Pane1 | Command::Pane2 | Command::Pane3 => {
            let index = usize::from(command == Command::Pane2) + 2 * usize::from(command == Command::Pane3);
            focus(ui, Focus::Pane(PaneId::KINDS[index]).fit(arrangement));
        }
        Command::Zoom => ui.panes.zoom(id),
        Command::Shrink | Command::Grow => ui.panes.resize(id, command),
        Command::Details => {
            let (store, look) = (&ui.scene.store, ui.dress.look(now));
            let view = ui.panes.get(id).view();
            if let Some(slot) = view.current(store).and_then(|slot| store.get(slot)) {
                let details = about::entry(&slot.cell, view.copy_text(store, &look), &ui.dress.strings);
                return vec![Effect::Details(Box::new(details))];
            }
        }
        _ => {
            if matches!(command, Command::Search) {
                focus(ui, Focus::Pane(id));
            }
            let look = ui.dress.look(now);
            return ui.panes.command(id, command, &ui.scene.store, &look).unwrap_or_default();
        }
    }
    Vec::new()
}

/// Opens what the current call of a pane waits for; false when it waits for nothing.
pub fn open_waiting_call(ui: &mut Ui, id: PaneId, now: Instant) -> bool {
    let Some(call) = current_call(ui, id) else { return false };
    ui.scene.prompts.for_call(call).is_some_and(|prompt| ui.scene.prompts.open(prompt, now))
}

fn current_call(ui: &mut Ui, id: PaneId) -> Option<CallId> {
    let slot = ui.panes.get(id).view().current(&ui.scene.store)?;
    match &ui.scene.store.get(slot)?.cell {
        Cell::Tool(tool) => Some(tool.call()),
        _ => None,
    }
}
