//! The owner of the screen: panes, composer, layers, focus. Messages in, effects out; drawing on demand.
//!
//! Keys go to the topmost layer, then to an opened prompt, then to what has the focus, then to the keys that work anywhere.
//!
//! **Invariant (the focus rule):** nothing that appears by itself receives a key that was typed for something else. Only three things open a prompt:
//! the key for it, Enter on its call in a pane, and Enter on an empty composer when it has stood long enough. Nothing an event does moves the focus,
//! opens a layer that takes text, or touches what is being written.

use crate::contract::{Op, SessionOp};
use crate::domain::{Notice, Phrase, UserInput};
use crate::tui::command::Command;
use crate::tui::commands;
use crate::tui::draft::DraftKeeper;
use crate::tui::dress::Dress;
use crate::tui::focus::{Focus, PaneId};
use crate::tui::frame::{Motion, Painted};
use crate::tui::keymap::Context;
use crate::tui::layer::Layers;
use crate::tui::layout::{self, Areas, Arrangement, Dock, Wishes};
use crate::tui::leaving::Leaving;
use crate::tui::msg::{Msg, Presence};
use crate::tui::outcome::{Effect, Manner, Outcome};
use crate::tui::pane::composer::{Composer, Wish};
use crate::tui::pane::header;
use crate::tui::pane::status::{Status, Voice};
use crate::tui::panes::{First, Panes};
use crate::tui::scene::{Draft, Scene};
use crate::tui::settings::Settings;
use crate::tui::theme::Role;
use crate::tui::wardrobe::Wardrobe;
use crate::tui::widget::frame::Lit;
use crate::tui::widget::{Line, frame};
use crate::tui::{hints, layer, playback};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use std::time::Instant;

/// Whether the transcript is written to the normal screen on leaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dump {
    /// No.
    #[default]
    Off,
    /// Yes.
    On,
}

/// Who gets the text back from the editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Editing {
    Composer,
    Prompt,
    Layer,
}

/// The owner of the screen.
pub struct Ui {
    /// Colours, texts, keys.
    pub dress: Dress,
    /// What the agent has said.
    pub scene: Scene,
    /// The panes.
    pub panes: Panes,
    /// Where the user writes.
    pub composer: Composer,
    /// The line at the bottom.
    pub status: Status,
    /// The overlays.
    pub layers: Layers,
    /// The themes there are.
    pub wardrobe: Wardrobe,
    /// What has the focus.
    pub focus: Focus,
    /// Whether the transcript is written to the normal screen on leaving.
    pub dump: Dump,
    keeper: DraftKeeper,
    size: Size,
    presence: Presence,
    leaving: Leaving,
    editing: Option<Editing>,
}

impl Ui {
    /// A screen that knows nothing yet.
    pub fn new(settings: Settings, dress: Dress, wardrobe: Wardrobe, composer: Composer, size: Size) -> Self {
        let mut scene = Scene::default();
        scene.facts.cwd = settings.cwd;
        scene.facts.home = settings.home;
        scene.facts.model = settings.model;
        Self {
            dress,
            scene,
            panes: Panes::new(settings.layout),
            composer,
            status: Status::default(),
            layers: Layers::default(),
            wardrobe,
            focus: Focus::Composer,
            dump: settings.dump,
            keeper: DraftKeeper::default(),
            size,
            presence: Presence::Here,
            leaving: Leaving::default(),
            editing: None,
        }
    }

    /// The size of the screen.
    pub fn size(&self) -> Size {
        self.size
    }

    /// How the panes stand on this screen.
    pub fn arrangement(&self) -> Arrangement {
        self.panes.mode.arrange(self.size)
    }

    /// Takes in what happened; answers what the loop must do.
    pub fn update(&mut self, msg: Msg, now: Instant) -> Vec<Effect> {
        let voice = if matches!(msg, Msg::Key(_) | Msg::Paste(_)) { Voice::Answer } else { Voice::News };
        self.status.listen(voice);
        let effects = match msg {
            Msg::Key(key) => self.key(key, now),
            Msg::Paste(text) => self.paste(&text, now),
            Msg::Resize(size) => {
                self.size = size;
                self.focus = self.focus.fit(self.arrangement());
                Vec::new()
            }
            Msg::Presence(presence) => {
                self.presence = presence;
                Vec::new()
            }
            Msg::ShiftEnter => {
                self.dress.shift_enter = true;
                Vec::new()
            }
            Msg::Background(r, g, b) => {
                self.wardrobe.background((r, g, b), &mut self.dress.theme);
                Vec::new()
            }
            Msg::Agent(event) => self.agent(event, now),
            Msg::Edited(text) => self.edited(text),
            Msg::Found(found) => {
                self.scene.facts.found(found);
                Vec::new()
            }
            Msg::Notice(notice) => vec![Effect::Notice(notice)],
            Msg::Hold => {
                self.scene.prompts.hold(now);
                Vec::new()
            }
            Msg::Go => {
                self.scene.prompts.go(now);
                Vec::new()
            }
            Msg::Time => Vec::new(),
        };
        let mut out = self.settle(effects, now);
        self.keep_draft(&mut out, now);
        out
    }

    /// When [`Msg::Time`] is due though nothing happens.
    pub fn due(&self) -> Option<Instant> {
        self.keeper.due()
    }

    /// The draft as the agent must know it before the program ends; `None` when it does.
    pub fn last_draft(&mut self) -> Option<Op> {
        let dirty = self.keeper.is_dirty();
        self.keeper.told(self.composer.revision());
        dirty.then(|| Op::Session(SessionOp::Draft { text: self.composer.draft() }))
    }

    fn keep_draft(&mut self, out: &mut Vec<Effect>, now: Instant) {
        let revision = self.composer.revision();
        self.keeper.saw(revision, now);
        if self.keeper.take(revision, now) {
            out.push(Effect::Op(Op::Session(SessionOp::Draft { text: self.composer.draft() })));
        }
        if let Some(problem) = self.composer.history().problem() {
            self.show(problem, now);
        }
    }

    /// Carries out what is the screen's own to do; what is left is the loop's.
    fn settle(&mut self, effects: Vec<Effect>, now: Instant) -> Vec<Effect> {
        let mut out = Vec::new();
        let mut queue: std::collections::VecDeque<Effect> = effects.into();
        while let Some(effect) = queue.pop_front() {
            match effect {
                Effect::Command(command) => {
                    let more = commands::run(self, command, "", now);
                    more.into_iter().rev().for_each(|effect| queue.push_front(effect));
                }
                Effect::Notice(notice) => self.show(notice, now),
                Effect::Details(details) => {
                    let layer = Box::new(layer::details::DetailsLayer::new(*details));
                    self.layers.push(layer, &self.scene.facts);
                }
                Effect::Confirm { question, yes } => {
                    let layer = Box::new(layer::confirm::Confirm::new(question, yes));
                    self.layers.push(layer, &self.scene.facts);
                }
                Effect::UseTheme(name) => {
                    for problem in self.wardrobe.wear(&name, &mut self.dress.theme) {
                        self.show(problem, now);
                    }
                }
                Effect::Edit { .. } => {
                    self.editing = Some(self.editor_belongs_to());
                    out.push(effect);
                }
                _ => out.push(effect),
            }
        }
        out
    }

    fn editor_belongs_to(&self) -> Editing {
        if self.layers.is_modal() {
            Editing::Layer
        } else if self.scene.prompts.is_open() {
            Editing::Prompt
        } else {
            Editing::Composer
        }
    }

    /// Shows a notice and keeps it.
    pub fn show(&mut self, notice: Notice, now: Instant) {
        let notice = self.scene.facts.from_home(notice);
        self.scene.facts.notice(notice.clone());
        self.status.show(notice, now);
    }

    fn agent(&mut self, event: crate::contract::Event, now: Instant) -> Vec<Effect> {
        let (draft, effects) = self.scene.event(event, now);
        match draft {
            Draft::Untouched => {}
            Draft::Back(text) => self.composer.put_back(&text),
            Draft::Found(text) if self.composer.is_empty() => {
                self.composer.replace(&text);
                self.keeper.told(self.composer.revision());
            }
            // Something was written already: the found draft can be had with ↑.
            Draft::Found(text) => self.composer.history().push(&text),
        }
        if !self.scene.facts.model.name.is_empty() || self.scene.activity.is_running() {
            self.layers.remove(layer::welcome::NAME);
        }
        effects
    }

    fn edited(&mut self, text: Option<String>) -> Vec<Effect> {
        if let (Some(to), Some(text)) = (self.editing.take(), text) {
            match to {
                Editing::Composer => self.composer.replace(text.trim_end_matches('\n')),
                Editing::Prompt => self.scene.prompts.edited(text),
                Editing::Layer => self.layers.edited(&text),
            }
        }
        Vec::new()
    }

    fn key(&mut self, key: KeyEvent, now: Instant) -> Vec<Effect> {
        self.status.key(now);
        let effects = self.pressed(key, now);
        self.leaving.passed();
        effects
    }

    fn pressed(&mut self, key: KeyEvent, now: Instant) -> Vec<Effect> {
        if self.arrangement() != Arrangement::TooSmall
            && let Some(effects) = self.covering_key(key, now)
        {
            return effects;
        }
        if self.scene.facts.playback.is_some()
            && let Some(effects) = playback::key(self, key, now)
        {
            return effects;
        }
        match self.focus {
            Focus::Composer => self.composer_key(key, now),
            Focus::Pane(id) => self.pane_key(id, key, now),
        }
    }

    /// A key while something covers the panes or the composer; `None` when nothing does, or nothing there wants it.
    fn covering_key(&mut self, key: KeyEvent, now: Instant) -> Option<Vec<Effect>> {
        let guest = self.layers.manner() == Some(Manner::Guest);
        if self.layers.is_modal() || (guest && self.guest_may_have(key)) {
            match self.layers.key(key, &self.dress.look(now)) {
                Outcome::Consumed => return Some(Vec::new()),
                Outcome::Emit(effects) | Outcome::Close(effects) => return Some(effects),
                Outcome::Ignored if !guest => return Some(self.covered_key(key, now)),
                Outcome::Ignored => {}
            }
        }
        if !self.scene.prompts.is_open() {
            return None;
        }
        Some(match self.scene.prompts.key(key, &self.dress.look(now)) {
            Outcome::Consumed => Vec::new(),
            Outcome::Emit(effects) | Outcome::Close(effects) => effects,
            Outcome::Ignored => self.covered_key(key, now),
        })
    }

    /// What appeared by itself gets only keys that type nothing, while nothing is written and nothing else has the focus.
    fn guest_may_have(&self, key: KeyEvent) -> bool {
        let types = matches!(key.code, KeyCode::Char(_))
            && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        !types && self.composer.is_empty() && self.focus == Focus::Composer && !self.scene.prompts.is_open()
    }

    /// A key that a layer or an opened prompt did not want: only what works anywhere, and nothing that moves what lies underneath.
    fn covered_key(&mut self, key: KeyEvent, now: Instant) -> Vec<Effect> {
        let keymap = &self.dress.keymap;
        let found = keymap.find(Context::Global, key).or_else(|| keymap.find(Context::Call, key));
        match found {
            Some(Command::Escape) if self.layers.is_modal() => {
                self.layers.pop();
                Vec::new()
            }
            Some(
                command @ (Command::OpenWaiting
                | Command::Palette
                | Command::Help
                | Command::Servers
                | Command::Tools
                | Command::Notices
                | Command::Redraw
                | Command::Suspend
                | Command::InterruptOrQuit),
            ) => commands::run(self, command, "", now),
            _ => Vec::new(),
        }
    }

    fn composer_key(&mut self, key: KeyEvent, now: Instant) -> Vec<Effect> {
        let queued = self.scene.activity.queued();
        match self.composer.key(key, &self.dress.look(now), queued) {
            Wish::Ignored => match self.dress.keymap.find(Context::Global, key) {
                Some(command) => commands::run(self, command, "", now),
                None => Vec::new(),
            },
            wish => self.grant(wish, now),
        }
    }

    /// Does what the composer wants.
    pub fn grant(&mut self, wish: Wish, now: Instant) -> Vec<Effect> {
        match wish {
            Wish::Ignored | Wish::Nothing => Vec::new(),
            Wish::Send(text) => {
                self.keeper.told(self.composer.revision());
                self.panes.follow();
                let input = UserInput::text(text);
                let draft = SessionOp::Draft { text: String::new() };
                vec![Effect::Op(Op::Submit { input }), Effect::Op(Op::Session(draft))]
            }
            Wish::Command(command, value) => commands::run(self, command, &value, now),
            Wish::Unknown(name) => {
                let text = Phrase::new("pane.unknown_command").with("name", name);
                vec![Effect::Notice(Notice::warning(text))]
            }
            Wish::Open => {
                if self.scene.prompts.may_open_by_enter(now) {
                    self.scene.prompts.open_next(now);
                }
                Vec::new()
            }
            Wish::Unqueue => vec![Effect::Op(Op::Unqueue)],
            Wish::Edit(text) => vec![Effect::Edit { text, extension: "md" }],
            Wish::Quit => vec![Effect::Quit],
        }
    }

    fn pane_key(&mut self, id: PaneId, key: KeyEvent, now: Instant) -> Vec<Effect> {
        let keymap = &self.dress.keymap;
        let anywhere = keymap.find(Context::Global, key);
        if self.panes.get(id).is_searching() {
            let steers = key.modifiers.contains(KeyModifiers::CONTROL) || matches!(key.code, KeyCode::F(_));
            if let Some(command) = anywhere.filter(|_| steers) {
                return commands::run(self, command, "", now);
            }
            self.panes.get(id).search_key(key, &self.scene.store, &self.dress.look(now));
            return Vec::new();
        }
        match keymap.find(Context::Pane, key).or(anywhere) {
            // Enter on a waiting call, and no other key, opens it.
            Some(Command::Toggle) if key.code == KeyCode::Enter && commands::open_waiting_call(self, id, now) => {
                Vec::new()
            }
            Some(command) => commands::run(self, command, "", now),
            None => Vec::new(),
        }
    }

    fn paste(&mut self, text: &str, now: Instant) -> Vec<Effect> {
        if self.layers.is_modal() {
            return self.layers.paste(text).effects();
        }
        if self.scene.prompts.is_open() {
            return self.scene.prompts.paste(text).effects();
        }
        let look = self.dress.look(now);
        if let Focus::Pane(id) = self.focus
            && self.panes.get(id).paste(text, &self.scene.store, &look)
        {
            return Vec::new();
        }
        if self.scene.facts.playback.is_some() {
            return Vec::new();
        }
        // Pasted text is meant to be sent, wherever the focus is.
        self.focus = Focus::Composer;
        self.composer.paste(text, &look);
        Vec::new()
    }

    /// Ctrl-C with nothing left to do: the first asks, the second leaves.
    pub fn arm_or_quit(&mut self, now: Instant) -> Vec<Effect> {
        if self.leaving.press(now) {
            return vec![Effect::Quit];
        }
        self.status.clear();
        vec![Effect::Notice(Notice::info(Phrase::new("pane.again_to_quit")))]
    }

    fn areas(&mut self, look_now: Instant) -> Areas {
        let open = if self.scene.prompts.is_open() { Dock::Open } else { Dock::Closed };
        let composer = layout::composer_rows(self.size, self.composer.rows(self.size.width), open);
        let room = layout::dock_room(self.size, composer, open);
        let dock = self.scene.prompts.dock_height(self.size.width, room, &self.dress.look(look_now));
        layout::areas(self.size, self.panes.mode, self.panes.shown(), Wishes { composer, dock })
    }

    /// Draws everything into a buffer of the screen's size.
    pub fn draw(&mut self, buffer: &mut Buffer, now: Instant) -> Painted {
        let areas = self.areas(now);
        let look = self.dress.look(now);
        let still = Painted { caret: None, motion: Motion::Still, deadline: None, panes: Vec::new() };
        if areas.arrangement == Arrangement::TooSmall {
            let (columns, rows) = (layout::MIN.width.to_string(), layout::MIN.height.to_string());
            let text = look.strings.fill("pane.too_small", &[("columns", &columns), ("rows", &rows)]);
            Line::of(&text, Role::Warning).draw(areas.header, buffer, look.theme);
            return still;
        }
        let waits = self.scene.prompts.waiting();
        header::draw(areas.header, buffer, &look, &self.scene.facts, waits);
        let opened = self.scene.prompts.is_open();
        let covered = opened || self.layers.is_modal();
        let focus = Some(self.focus).filter(|_| !covered);
        let focused = match focus {
            Some(Focus::Pane(id)) => Some(id),
            _ => None,
        };
        let first = if self.scene.facts.model.scripted { First::Tour } else { First::Task };
        let drawn = self.panes.draw(&areas, buffer, &look, &self.scene.store, (focused, waits), first);
        let dock = (!areas.dock.is_empty()).then(|| self.scene.prompts.draw(areas.dock, buffer, &look)).flatten();
        let lit = if focus == Some(Focus::Composer) { Lit::Bright } else { Lit::Dim };
        let left = hints::working(&look, &self.scene, waits, focus);
        let right = hints::queue(&look, self.scene.activity.queued());
        let recording = self.scene.facts.playback;
        let caret = match recording {
            Some(playback) => playback::draw(areas.composer, buffer, &look, lit, playback),
            None => Some(self.composer.draw(areas.composer, buffer, &look, lit, (&left, &right))),
        };
        if let Some(divider) = areas.divider {
            frame::join_below(divider, buffer, &look);
        }
        let line = hints::line(&look, self, focus);
        self.status.draw(areas.hints, buffer, &look, &line);
        if lit == Lit::Bright {
            let above = Rect::new(0, 1, areas.composer.width, areas.composer.y.saturating_sub(1));
            self.composer.draw_completion(above, buffer, &look);
        }
        let whole = Rect::new(0, 1, self.size.width, self.size.height - 1);
        let middle = Rect { height: areas.dock.y - 1, ..whole };
        let over = self.layers.draw((whole, middle), buffer, &look, &self.scene.facts);
        let caret = match focus {
            _ if self.layers.is_modal() => over,
            _ if opened => dock,
            Some(Focus::Composer) => caret,
            _ => drawn.caret,
        };
        // While all that runs waits for the user, nothing needs to move.
        let moves = (self.scene.activity.is_running() && waits == 0) || drawn.ticks;
        let paused = recording.is_some_and(|playback| playback.speed.is_none());
        let spins = moves && !paused && self.dress.animate && self.presence == Presence::Here;
        let motion = if spins { Motion::Spinning } else { Motion::Still };
        let panes = areas.panes.iter().map(|(_, area)| Rect { y: area.y + 1, height: area.height - 1, ..*area });
        Painted { caret, motion, deadline: self.scene.prompts.next_deadline(now), panes: panes.collect() }
    }
}
