//! One form, or one thing that waits, on a screen of its own: for commands that run without the full-screen program.
//!
//! Owns the terminal while it is shown, and gives it back before it answers. Decides nothing: what was filled in is checked by whoever asked.
//! **Invariant:** the keys are those of the full-screen program, and an answer leaves only through the form or the card.

use crate::contract::{Op, PromptEvent};
use crate::domain::PromptId;
use crate::domain::form::{FieldError, Form};
use crate::domain::prompt::{Answer, Closed, Prompt, PromptKind};
use crate::strings::Strings;
use crate::tui::command::Command;
use crate::tui::dress::Dress;
use crate::tui::host::Host;
use crate::tui::input::{Answer as Reply, Pump, Reader, Received};
use crate::tui::keymap::{Context, Keymap};
use crate::tui::look::Look;
use crate::tui::outcome::{Effect, Outcome};
use crate::tui::prompt::Prompts;
use crate::tui::prompt::form::{FormOutcome, FormView, Purpose};
use crate::tui::signals::{Signal, Signals};
use crate::tui::terminal::Terminal;
use crate::tui::theme::Role;
use crate::tui::wardrobe::Wardrobe;
use crate::tui::widget::{Line, frame};
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::{Map, Value};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is wrong with values, by field (empty name: the whole). Nothing where they are good.
pub type Check<'a> = &'a dyn Fn(&Map<String, Value>) -> Vec<(String, FieldError)>;

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// Filled in, and good.
    Values(Map<String, Value>),
    /// Declined, said to whoever asked.
    Declined,
    /// Put away.
    Cancelled,
    /// Whoever asked no longer wants it.
    Withdrawn,
    /// The user or the system stops the program: the signal's number.
    Stopped(i32),
}

/// How it looks, and what it may ask of the world.
pub struct Solo {
    dress: Dress,
    wardrobe: Wardrobe,
    escape: Duration,
    host: Arc<dyn Host>,
}

/// What is shown.
enum Sheet<'a> {
    Form { title: String, view: Box<FormView>, check: Check<'a> },
    Prompt { prompts: Box<Prompts>, id: PromptId, check: Check<'a> },
}

impl Solo {
    /// With these texts, keys and colours.
    pub fn new(
        (strings, keymap): (Strings, Keymap),
        (mut wardrobe, theme): (Wardrobe, &str),
        escape: Duration,
        host: Arc<dyn Host>,
    ) -> Self {
        let mut dress = Dress { strings, keymap, animate: true, ..Dress::default() };
        wardrobe.wear(theme, &mut dress.theme);
        Self { dress, wardrobe, escape, host }
    }

    /// Lets the user fill in a tool's arguments. `problems` are shown at once.
    pub async fn fill(
        &mut self,
        title: &str,
        (form, values): (Form, &Map<String, Value>),
        problems: &[(String, FieldError)],
        check: Check<'_>,
    ) -> io::Result<End> {
        let mut view = FormView::new(form, values, Purpose::Run);
        view.refuse(problems);
        let sheet = Sheet::Form { title: title.to_owned(), view: Box::new(view), check };
        self.show(sheet, std::future::pending()).await
    }

    /// Puts what a server asks before the user, until `gone` says that nobody wants the answer any more.
    pub async fn ask(
        &mut self,
        (kind, expires_ms): (PromptKind, u64),
        check: Check<'_>,
        gone: impl Future<Output = ()>,
    ) -> io::Result<End> {
        let id = PromptId(1);
        let mut prompts = Prompts::new();
        let prompt = Prompt { id, call: None, step: None, kind, expires_ms: Some(expires_ms) };
        let now = Instant::now();
        prompts.event(PromptEvent::Opened { prompt }, now);
        prompts.open(id, now);
        self.show(Sheet::Prompt { prompts: Box::new(prompts), id, check }, gone).await
    }

    async fn show(&mut self, mut sheet: Sheet<'_>, gone: impl Future<Output = ()>) -> io::Result<End> {
        let mut gone = pin!(gone);
        let mut terminal = Terminal::enter()?;
        let mut size = terminal.size();
        self.draw(&mut terminal, size, &mut sheet)?;
        terminal.ask()?;
        let mut signals = Signals::new()?;
        let mut reader = Some(Reader::start(terminal.tty())?);
        let mut pump = Pump::new(self.escape);
        loop {
            let now = Instant::now();
            let due = [pump.deadline(), sheet.deadline(now)].into_iter().flatten().min();
            let received = tokio::select! {
                biased;
                bytes = read(reader.as_mut()) => match bytes {
                    Some((bytes, at)) => pump.bytes(&bytes, at),
                    None => return Ok(End::Stopped(1)),
                },
                signal = signals.next() => {
                    match signal {
                        Signal::Resize => size = terminal.size(),
                        Signal::Continue => terminal.resume()?,
                        Signal::End(number) | Signal::Interrupt(number) => return Ok(End::Stopped(number)),
                        Signal::Hangup => return Ok(End::Stopped(1)),
                    }
                    Vec::new()
                }
                () = &mut gone => return Ok(End::Withdrawn),
                () = sleep(due), if due.is_some() => pump.expire(Instant::now()),
            };
            for one in received {
                let effects = match self.take(one, &mut terminal, &mut sheet)? {
                    Step::End(end) => return Ok(end),
                    Step::Do(effects) => effects,
                };
                for effect in effects {
                    self.perform(effect, &mut terminal, &mut reader, &mut sheet)?;
                }
            }
            self.draw(&mut terminal, size, &mut sheet)?;
        }
    }

    fn draw(&self, terminal: &mut Terminal, size: ratatui::layout::Size, sheet: &mut Sheet<'_>) -> io::Result<()> {
        let look = self.dress.look(Instant::now());
        terminal.draw(size, |buffer| {
            let area = buffer.area;
            (sheet.draw(area, buffer, &look), Vec::new())
        })
    }

    fn take(&mut self, received: Received, terminal: &mut Terminal, sheet: &mut Sheet<'_>) -> io::Result<Step> {
        match received {
            Received::Key(key) => return Ok(sheet.key(key, &self.dress.look(Instant::now()))),
            Received::Paste(text) => sheet.paste(&text),
            Received::Answer(Reply::Background(r, g, b)) => self.wardrobe.background((r, g, b), &mut self.dress.theme),
            Received::Answer(Reply::Keyboard(_)) => {
                terminal.use_keyboard()?;
                self.dress.shift_enter = true;
            }
            Received::Answer(Reply::Synchronizes) => terminal.synchronizes(),
            Received::Answer(Reply::Attributes) => terminal.answered(),
            Received::Answer(Reply::Joins) | Received::Focused | Received::Unfocused => {}
        }
        Ok(Step::Do(Vec::new()))
    }

    fn perform(
        &self,
        effect: Effect,
        terminal: &mut Terminal,
        reader: &mut Option<Reader>,
        sheet: &mut Sheet<'_>,
    ) -> io::Result<()> {
        match effect {
            Effect::Edit { text, extension } => {
                // The editor has the terminal, and nothing else happens meanwhile.
                *reader = None;
                terminal.leave();
                let edited = self.host.edit(&text, extension);
                terminal.resume()?;
                *reader = Some(Reader::start(terminal.tty())?);
                if let Ok(edited) = edited {
                    sheet.edited(edited);
                }
            }
            Effect::OpenUrl(url) => {
                // Where no browser opens, the address is on the screen to be copied.
                let _ = self.host.open_url(&url);
            }
            Effect::Redraw => terminal.forget(),
            _ => {}
        }
        Ok(())
    }
}

/// What follows from a key.
enum Step {
    Do(Vec<Effect>),
    End(End),
}

impl Sheet<'_> {
    fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        match self {
            Self::Form { title, view, .. } => {
                let title = Line::of(title, Role::TitleFocused);
                let hints = view.hint_line(look);
                let inside = frame::sheet(area, buffer, look, &title, &Line::new(), &hints);
                view.draw(inside, buffer, look)
            }
            Self::Prompt { prompts, .. } => {
                frame::blank(area, buffer, look);
                let height = prompts.dock_height(area.width, area.height, look);
                prompts.draw(Rect { height, ..area }, buffer, look)
            }
        }
    }

    fn deadline(&self, now: Instant) -> Option<Instant> {
        match self {
            Self::Form { .. } => None,
            Self::Prompt { prompts, .. } => prompts.next_deadline(now),
        }
    }

    fn paste(&mut self, text: &str) {
        match self {
            Self::Form { view, .. } => view.paste(text),
            Self::Prompt { prompts, .. } => {
                prompts.paste(text);
            }
        }
    }

    fn edited(&mut self, text: String) {
        match self {
            Self::Form { view, .. } => view.edited(&text),
            Self::Prompt { prompts, .. } => prompts.edited(text),
        }
    }

    fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> Step {
        match self {
            Self::Form { view, check, .. } => match view.key(key, look) {
                FormOutcome::Ignored => global(key, look),
                FormOutcome::Consumed => Step::Do(Vec::new()),
                FormOutcome::Submit(values) => {
                    let problems = check(&values);
                    if problems.is_empty() {
                        return Step::End(End::Values(values));
                    }
                    view.refuse(&problems);
                    Step::Do(Vec::new())
                }
                FormOutcome::Decline | FormOutcome::Cancel => Step::End(End::Cancelled),
                FormOutcome::Edit { text, extension } => Step::Do(vec![Effect::Edit { text, extension }]),
            },
            Self::Prompt { prompts, id, check } => match prompts.key(key, look) {
                Outcome::Ignored => global(key, look),
                Outcome::Consumed => Step::Do(Vec::new()),
                // Put back, it would wait where nobody sees it.
                Outcome::Close(effects) if effects.is_empty() => Step::End(End::Cancelled),
                Outcome::Emit(effects) | Outcome::Close(effects) => answered(effects, prompts, (*id, *check), look),
            },
        }
    }
}

/// What a card wants done; an answer that is good ends it.
fn answered(effects: Vec<Effect>, prompts: &mut Prompts, (id, check): (PromptId, Check<'_>), look: &Look<'_>) -> Step {
    let answer = effects.iter().find_map(|effect| match effect {
        Effect::Op(Op::Answer { answer, .. }) => Some(answer.clone()),
        _ => None,
    });
    match answer {
        None => Step::Do(effects),
        Some(Answer::Submit { values }) => {
            let problems = check(&values);
            if problems.is_empty() {
                let why = Closed::Answered { answer: Answer::Submit { values: Map::new() } };
                prompts.event(PromptEvent::Closed { prompt: id, why }, look.now);
                return Step::End(End::Values(values));
            }
            prompts.event(PromptEvent::Refused { prompt: id, problems }, look.now);
            prompts.open(id, look.now);
            Step::Do(Vec::new())
        }
        Some(Answer::Decline) => Step::End(End::Declined),
        Some(_) => Step::End(End::Cancelled),
    }
}

/// Keys that work anywhere; only these mean something here.
fn global(key: KeyEvent, look: &Look<'_>) -> Step {
    match look.keymap.find(Context::Global, key) {
        Some(Command::InterruptOrQuit | Command::Quit) => Step::End(End::Stopped(2)),
        Some(Command::Redraw) => Step::Do(vec![Effect::Redraw]),
        _ => Step::Do(Vec::new()),
    }
}

async fn read(reader: Option<&mut Reader>) -> Option<crate::tui::input::Read> {
    match reader {
        Some(reader) => reader.next().await,
        None => std::future::pending().await,
    }
}

async fn sleep(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until.into()).await,
        None => std::future::pending().await,
    }
}
