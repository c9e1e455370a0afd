//! Everything the agent has said, in the forms in which it is shown: transcript, facts, activity, what waits.

use crate::contract::{Event, SessionEvent};
use crate::domain::server::ServerSignal;
use crate::domain::{Level, Notice, Phrase};
use crate::tui::activity::Activity;
use crate::tui::facts::{Facts, Playback};
use crate::tui::outcome::Effect;
use crate::tui::project::Projection;
use crate::tui::prompt::Prompts;
use crate::tui::transcript::Store;
use std::sync::Arc;
use std::time::Instant;

/// What the agent has said.
#[derive(Default)]
pub struct Scene {
    /// The conversation.
    pub store: Store,
    /// What is known beside it.
    pub facts: Facts,
    /// What is being done.
    pub activity: Activity,
    /// What waits for the user.
    pub prompts: Prompts,
    projection: Projection,
}

/// What an event means for the composer, which is not the agent's to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Draft {
    /// Nothing.
    Untouched,
    /// A draft from before a crash.
    Found(String),
    /// A queued message that was taken back.
    Back(String),
}

impl Scene {
    /// Takes in an event. Effects are notices.
    pub fn event(&mut self, event: Event, now: Instant) -> (Draft, Vec<Effect>) {
        self.projection.event(&event, &mut self.store, now);
        self.activity.event(&event, now);
        match event {
            Event::Session(event) => (self.session(event), Vec::new()),
            Event::Prompt(event) => (Draft::Untouched, self.prompts.event(event, now)),
            Event::Server(signal) => (Draft::Untouched, self.server(signal)),
            Event::Tools { tools } => {
                self.facts.tools = Arc::new(tools);
                self.facts.touch();
                (Draft::Untouched, Vec::new())
            }
            Event::Notice(notice) => (Draft::Untouched, vec![Effect::Notice(notice)]),
            Event::Turn(_) | Event::Item(_) | Event::Tool(_) => (Draft::Untouched, Vec::new()),
        }
    }

    fn session(&mut self, event: SessionEvent) -> Draft {
        match event {
            SessionEvent::Opened { id, cwd, draft, .. } => {
                self.prompts.clear();
                self.facts.session = Some(id);
                self.facts.cwd = cwd;
                self.facts.context = 0;
                self.facts.touch();
                if !draft.is_empty() {
                    return Draft::Found(draft);
                }
            }
            SessionEvent::Model { model } => {
                self.facts.model = model;
                self.facts.touch();
            }
            SessionEvent::Context { tokens, total } => {
                self.facts.context = tokens;
                self.facts.total = total;
                self.facts.touch();
            }
            SessionEvent::Unqueued { input, .. } => return Draft::Back(input.text),
            SessionEvent::Playback { at, of, speed } => {
                self.facts.playback = Some(Playback { at, of, speed });
            }
            SessionEvent::Queued { .. } | SessionEvent::Held | SessionEvent::Closed => {}
        }
        Draft::Untouched
    }

    fn server(&mut self, signal: ServerSignal) -> Vec<Effect> {
        match signal {
            ServerSignal::Status(status) => {
                let failed = status.state.is_failed();
                let known = self.facts.servers.get(&status.name).is_some_and(|s| s.status.state == status.state);
                let name = status.name.clone();
                self.facts.server(*status);
                if failed && !known {
                    let text = Phrase::new("pane.server_failed").with("server", name);
                    return vec![Effect::Notice(Notice { level: Level::Warning, text })];
                }
            }
            ServerSignal::Removed { server } => {
                self.facts.servers.remove(&server);
                self.facts.touch();
            }
            ServerSignal::Tools { server, rejected, .. } => {
                if let Some(known) = self.facts.servers.get_mut(&server) {
                    known.rejected = rejected;
                    self.facts.touch();
                }
            }
            ServerSignal::Stderr { server, lines } => self.facts.stderr(&server, lines),
            // What a server asks comes as a prompt.
            ServerSignal::Asks { .. } | ServerSignal::AskWithdrawn { .. } => {}
        }
        Vec::new()
    }
}
