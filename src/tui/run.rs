//! The loop: wait for one thing, take in what else has come, do what follows from it, draw if that is due.
//!
//! Owns the terminal, the reader, the channels and the clock; decides nothing about the screen. **Invariants:** the first frame is written before anything
//! is awaited; the agent is never awaited, and nothing meant for it is lost; while nothing runs no timer is armed; the terminal is given back before
//! anything is printed.

use crate::contract::{ClockOp, Event, Op, SessionEvent};
use crate::domain::{Notice, Phrase};
use crate::tui::clipboard::{self, Through};
use crate::tui::dress::Dress;
use crate::tui::farewell;
use crate::tui::frame::FrameClock;
use crate::tui::history::History;
use crate::tui::host::Host;
use crate::tui::input::{Answer, Pump, Reader, Received};
use crate::tui::layer::welcome::Welcome;
use crate::tui::maybe::{read, receive, sleep};
use crate::tui::msg::{Found, Msg, Presence};
use crate::tui::outbox::Outbox;
use crate::tui::outcome::{Effect, Remember};
use crate::tui::pane::composer::Composer;
use crate::tui::settings::Fault;
pub use crate::tui::setup::{Exit, Setup};
use crate::tui::signals::{Signal, Signals};
use crate::tui::terminal::Terminal;
use crate::tui::text::width;
use crate::tui::ui::Ui;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

/// Events taken in before a frame: as many as the channel from the agent holds, so that one frame shows all that had come.
const DRAIN: usize = 1024;
/// How long the agent may take to say that its timers are held.
const HOLD: Duration = Duration::from_millis(300);
/// After asking to be stopped: how long it takes to know that we were not.
const STOP: Duration = Duration::from_millis(200);
/// How long a full channel may delay leaving.
const LAST_WORDS: Duration = Duration::from_millis(500);

enum Done {
    Edited(Result<String, Phrase>),
    Said(Notice),
    Nothing,
}

/// Runs the screen until the user leaves. Errors are the terminal's. The agent has been told to shut down then; waiting for that is the caller's.
pub async fn run(setup: Setup) -> io::Result<Exit> {
    let mut screen = Screen::new(setup)?;
    screen.draw()?;
    screen.terminal.ask()?;
    let mut signals = Signals::new()?;
    screen.reader = Some(Reader::start(screen.terminal.tty())?);
    loop {
        if !screen.lent && screen.clock.is_due(screen.now()) {
            screen.gather()?;
            screen.draw()?;
        }
        let exit = screen.wait(&mut signals).await?;
        let exit = match exit {
            None if screen.must_stop() => screen.stop(&mut signals).await?,
            other => other,
        };
        if let Some(exit) = exit {
            Box::pin(screen.leave()).await;
            return Ok(exit);
        }
    }
}

struct Screen {
    ui: Ui,
    terminal: Terminal,
    reader: Option<Reader>,
    pump: Pump,
    clock: FrameClock,
    outbox: Outbox,
    events: Option<mpsc::Receiver<Event>>,
    found: Option<mpsc::Receiver<Found>>,
    tasks: JoinSet<Done>,
    host: Arc<dyn Host>,
    through: Through,
    copies: Option<PathBuf>,
    /// Time that the program was stopped for; not part of its own time.
    away: Duration,
    /// The program is about to stop itself, at the latest then.
    stopping: Option<Instant>,
    /// The editor has the terminal.
    lent: bool,
    exit: Option<Exit>,
    fault: Fault,
    /// What was received and not taken in yet.
    pending: VecDeque<Received>,
    /// Syntax colours became ready.
    colours: Arc<Notify>,
}

impl Screen {
    fn new(setup: Setup) -> io::Result<Self> {
        width::set_ambiguous_wide(setup.settings.ambiguous_wide);
        let terminal = Terminal::enter()?;
        let mut dress = Dress {
            strings: setup.strings,
            keymap: setup.keymap,
            ascii: setup.settings.ascii,
            animate: true,
            ..Dress::default()
        };
        let mut wardrobe = setup.wardrobe;
        let theme = wardrobe.wear(&setup.settings.theme, &mut dress.theme);
        let composer = Composer::new(History::new(setup.history), wardrobe.names());
        let pump = Pump::new(setup.settings.escape);
        let fault = setup.settings.fault;
        let mut ui = Ui::new(setup.settings, dress, wardrobe, composer, terminal.size());
        let now = Instant::now();
        for notice in setup.notices.into_iter().chain(theme) {
            ui.show(notice, now);
        }
        let colours = Arc::new(Notify::new());
        let ready = Arc::clone(&colours);
        ui.scene.store.set_waker(Arc::new(move || ready.notify_one()));
        if setup.found.is_some() {
            ui.layers.push(Box::new(Welcome::new()), &ui.scene.facts);
        }
        let mut outbox = Outbox::new(setup.ops);
        if let Some(text) = setup.prompt {
            outbox.push(Op::Submit { input: crate::domain::UserInput::text(text) });
        }
        Ok(Self {
            ui,
            terminal,
            reader: None,
            pump,
            clock: FrameClock::default(),
            outbox,
            events: Some(setup.events),
            found: setup.found,
            tasks: JoinSet::new(),
            host: setup.host,
            through: setup.through,
            copies: setup.copies,
            away: Duration::ZERO,
            stopping: None,
            lent: false,
            exit: None,
            fault,
            pending: VecDeque::new(),
            colours,
        })
    }

    fn now(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.away).unwrap_or(now)
    }

    fn draw(&mut self) -> io::Result<()> {
        // The size the screen knows, not the newest: that one comes with its signal.
        let (now, size) = (self.now(), self.ui.size());
        let Self { ui, terminal, .. } = self;
        let mut painted = None;
        terminal.draw(size, |buffer| {
            let mut drawn = ui.draw(buffer, now);
            let panes = std::mem::take(&mut drawn.panes);
            let caret = drawn.caret;
            painted = Some(drawn);
            (caret, panes)
        })?;
        if let Some(painted) = painted {
            self.clock.drawn(now, painted.motion, painted.deadline);
        }
        Ok(())
    }

    fn draw_now(&mut self) {
        let now = self.now();
        self.clock.now(now);
    }

    fn draw_soon(&mut self) {
        let now = self.now();
        self.clock.soon(now);
    }

    /// When something is due though nothing comes.
    fn deadline(&self) -> Option<Instant> {
        let frame = self.clock.due().filter(|_| !self.lent);
        let own = [frame, self.ui.due(), self.pump.deadline()].into_iter().flatten().min();
        let own = own.map(|at| at + self.away);
        [own, self.stopping].into_iter().flatten().min()
    }

    /// Waits for one thing and takes it in, with what else has come.
    async fn wait(&mut self, signals: &mut Signals) -> io::Result<Option<Exit>> {
        let deadline = self.deadline();
        tokio::select! {
            biased;
            bytes = read(self.reader.as_mut()), if self.reader.is_some() => match bytes {
                Some((bytes, at)) => self.bytes(&bytes, at)?,
                None => return Ok(Some(Exit::Hangup)),
            },
            signal = signals.next() => return self.signal(signal),
            done = self.tasks.join_next(), if !self.tasks.is_empty() => self.done(done)?,
            event = receive(self.events.as_mut()), if self.events.is_some() && (self.lent || !self.clock.gathers()) => {
                self.event(event)?;
            }
            found = receive(self.found.as_mut()), if self.found.is_some() => self.found(found)?,
            () = self.colours.notified() => {
                self.draw_soon();
            }
            () = self.outbox.send_one(), if !self.outbox.is_empty() => {}
            () = sleep(deadline), if deadline.is_some() => self.time()?,
        }
        Ok(self.exit)
    }

    fn bytes(&mut self, bytes: &[u8], at: Instant) -> io::Result<()> {
        let received = self.pump.bytes(bytes, at.checked_sub(self.away).unwrap_or(at));
        self.received(received)
    }

    fn received(&mut self, received: Vec<Received>) -> io::Result<()> {
        self.pending.extend(received);
        // Keys behind the one that lent the terminal away are for when it is back.
        while self.exit.is_none() && !self.lent {
            let Some(one) = self.pending.pop_front() else { break };
            let msg = match one {
                Received::Key(key) => Msg::Key(key),
                Received::Paste(text) => Msg::Paste(text),
                Received::Focused => Msg::Presence(Presence::Here),
                Received::Unfocused => Msg::Presence(Presence::Away),
                Received::Answer(Answer::Background(r, g, b)) => Msg::Background(r, g, b),
                Received::Answer(Answer::Keyboard(_)) => {
                    self.terminal.use_keyboard()?;
                    Msg::ShiftEnter
                }
                Received::Answer(Answer::Synchronizes) => {
                    self.terminal.synchronizes();
                    continue;
                }
                Received::Answer(Answer::Joins) => {
                    width::set_joins(true);
                    self.terminal.forget();
                    self.draw_now();
                    continue;
                }
                Received::Answer(Answer::Attributes) => {
                    self.terminal.answered();
                    continue;
                }
            };
            self.update(msg)?;
            self.draw_now();
        }
        Ok(())
    }

    fn event(&mut self, event: Option<Event>) -> io::Result<()> {
        let Some(event) = event else {
            self.events = None;
            return self.update(Msg::Notice(Notice::error(Phrase::new("pane.agent_ended"))));
        };
        self.take(event)?;
        self.gather()?;
        self.draw_soon();
        Ok(())
    }

    /// Takes in what has come.
    fn gather(&mut self) -> io::Result<()> {
        for _ in 0..DRAIN {
            let Some(Ok(event)) = self.events.as_mut().map(mpsc::Receiver::try_recv) else { break };
            self.take(event)?;
        }
        Ok(())
    }

    fn take(&mut self, event: Event) -> io::Result<()> {
        if matches!(event, Event::Session(SessionEvent::Held)) && self.stopping.is_some() {
            self.stopping = Some(Instant::now());
        }
        self.update(Msg::Agent(event))
    }

    fn found(&mut self, found: Option<Found>) -> io::Result<()> {
        if found.is_none() {
            self.found = None;
        }
        self.draw_soon();
        self.update(Msg::Found(found.unwrap_or(Found::Done)))
    }

    fn time(&mut self) -> io::Result<()> {
        let now = self.now();
        if self.pump.deadline().is_some_and(|at| at <= now) {
            let received = self.pump.expire(now);
            self.received(received)?;
        }
        if self.ui.due().is_some_and(|at| at <= now) {
            self.update(Msg::Time)?;
        }
        Ok(())
    }

    fn done(&mut self, done: Option<Result<Done, tokio::task::JoinError>>) -> io::Result<()> {
        match done {
            Some(Ok(Done::Edited(result))) => {
                self.lent = false;
                self.take_back()?;
                let (text, problem) = match result {
                    Ok(text) => (Some(text), None),
                    Err(problem) => (None, Some(problem)),
                };
                self.update(Msg::Edited(text))?;
                if let Some(problem) = problem {
                    self.update(Msg::Notice(Notice::warning(problem)))?;
                }
                self.received(Vec::new())?;
            }
            Some(Ok(Done::Said(notice))) => self.update(Msg::Notice(notice))?,
            // A task that panicked has been logged; a terminal that it had is taken back.
            Some(Err(_)) if self.lent => {
                self.lent = false;
                self.take_back()?;
                self.update(Msg::Edited(None))?;
            }
            _ => {}
        }
        self.draw_now();
        Ok(())
    }

    fn signal(&mut self, signal: Signal) -> io::Result<Option<Exit>> {
        match signal {
            Signal::Resize => {
                let size = self.terminal.size();
                self.update(Msg::Resize(size))?;
                self.draw_now();
            }
            // Stopped and continued from outside: somebody else may have used the terminal.
            Signal::Continue if !self.lent => self.take_back()?,
            Signal::Continue => {}
            // The editor shares our terminal, and so the key for it.
            Signal::Interrupt(_) if self.lent => {}
            Signal::Interrupt(number) | Signal::End(number) => return Ok(Some(Exit::Signal(number))),
            Signal::Hangup => return Ok(Some(Exit::Hangup)),
        }
        Ok(None)
    }

    fn update(&mut self, msg: Msg) -> io::Result<()> {
        let now = self.now();
        let effects = self.ui.update(msg, now);
        for effect in effects {
            self.perform(effect);
        }
        if !self.terminal.is_ours() && !self.lent {
            return Err(io::Error::other(self.ui.dress.strings.get("pane.panicked").to_owned()));
        }
        Ok(())
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Op(op) => {
                let was_full = !self.outbox.is_empty();
                self.outbox.push(op);
                if !self.outbox.is_empty() && !was_full {
                    let now = self.now();
                    self.ui.show(Notice::warning(Phrase::new("pane.agent_busy")), now);
                }
            }
            Effect::Copy(text) => {
                let Self { terminal, copies, through, .. } = self;
                let notice = clipboard::copy(&text, *through, copies.as_deref(), |bytes| terminal.write(bytes));
                let now = self.now();
                self.ui.show(notice, now);
            }
            Effect::OpenUrl(url) => self.ask_host(move |host| match host.open_url(&url) {
                Ok(()) => Done::Nothing,
                Err(problem) => Done::Said(Notice::warning(problem)),
            }),
            Effect::Remember(what) => self.remember(what),
            Effect::Edit { text, extension } => {
                self.reader = None;
                self.terminal.leave();
                self.lent = true;
                self.ask_host(move |host| Done::Edited(host.edit(&text, extension)));
            }
            Effect::Suspend if self.stopping.is_none() && !self.lent => {
                self.outbox.push(Op::Clock(ClockOp::Hold));
                self.stopping = Some(Instant::now() + HOLD);
            }
            Effect::Redraw => {
                assert_ne!(self.fault, Fault::Redraw, "broken on purpose (MCPANE_FAULT)");
                self.terminal.forget();
            }
            Effect::Quit => self.exit = Some(Exit::Quit),
            // The screen has done these itself.
            Effect::Suspend
            | Effect::Notice(_)
            | Effect::Details(_)
            | Effect::Confirm { .. }
            | Effect::UseTheme(_)
            | Effect::Command(_) => {}
        }
    }

    fn remember(&mut self, what: Remember) {
        self.ask_host(move |host| {
            Done::Said(match host.remember(&what) {
                Ok(said) => Notice::info(said),
                Err(problem) => Notice::warning(problem),
            })
        });
    }

    fn ask_host(&mut self, ask: impl FnOnce(&dyn Host) -> Done + Send + 'static) {
        let host = Arc::clone(&self.host);
        self.tasks.spawn_blocking(move || ask(&*host));
    }

    /// The terminal is ours again, whatever was done to it.
    fn take_back(&mut self) -> io::Result<()> {
        self.terminal.resume()?;
        if self.reader.is_none() {
            self.reader = Some(Reader::start(self.terminal.tty())?);
        }
        let size = self.terminal.size();
        self.update(Msg::Resize(size))?;
        self.draw_now();
        Ok(())
    }

    fn must_stop(&self) -> bool {
        self.stopping.is_some_and(|at| at <= Instant::now()) && self.exit.is_none()
    }

    /// Stops the program as Ctrl-Z does elsewhere, and comes back. Without a shell that could continue us the system does not stop us at all.
    async fn stop(&mut self, signals: &mut Signals) -> io::Result<Option<Exit>> {
        self.stopping = None;
        self.update(Msg::Hold)?;
        self.reader = None;
        self.terminal.leave();
        let left = Instant::now();
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        let signal = tokio::select! {
            signal = signals.next_but_resize() => Some(signal),
            () = tokio::time::sleep(STOP) => None,
        };
        self.away += left.elapsed();
        let exit = match signal {
            Some(Signal::End(number) | Signal::Interrupt(number)) => Some(Exit::Signal(number)),
            Some(Signal::Hangup) => Some(Exit::Hangup),
            _ => None,
        };
        if exit.is_none() {
            self.take_back()?;
            self.update(Msg::Go)?;
            self.outbox.push(Op::Clock(ClockOp::Go));
        }
        Ok(exit)
    }

    /// Gives the terminal back, then says the last things: to the agent, and to the user on the normal screen.
    async fn leave(mut self) {
        self.reader = None;
        self.terminal.leave();
        if let Some(draft) = self.ui.last_draft() {
            self.outbox.push(draft);
        }
        self.outbox.push(Op::Shutdown);
        // What the agent sends meanwhile must not keep it from reading.
        self.events = None;
        let _ = tokio::time::timeout(LAST_WORDS, self.outbox.send_all()).await;
        if self.exit == Some(Exit::Quit) {
            // Where standard output is closed nobody reads it.
            let _ = farewell::say(&self.ui);
        }
    }
}
