//! What is known beside the transcript: the model, the servers with the ends of their error output, the tools, the notices.
//!
//! Owned by [`super::ui::Ui`]; panes and layers read it. It never asks for anything: it is what the agent said last.

use crate::contract::{ModelInfo, ToolInfo};
use crate::domain::server::{ServerState, ServerStatus};
use crate::domain::{Notice, ServerName, SessionId, Usage};
use crate::tui::msg::Found;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Lines of error output kept for each server.
const STDERR_LINES: usize = 500;
/// Notices kept.
const NOTICES: usize = 200;

/// A server as it was reported last.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerFacts {
    /// Its status.
    pub status: Arc<ServerStatus>,
    /// The last lines of its error output, oldest first, unsanitized.
    pub stderr: VecDeque<String>,
    /// Tools that could not be used, by name, with what is wrong.
    pub rejected: Vec<(String, String)>,
}

/// How many servers are in which kind of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerCount {
    /// They can be called.
    pub ready: usize,
    /// Not needed yet, or stopped by the user.
    pub idle: usize,
    /// On their way.
    pub starting: usize,
    /// They need somebody to do something.
    pub failed: usize,
}

/// How far a recording has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Playback {
    /// Events told.
    pub at: usize,
    /// All of them.
    pub of: usize,
    /// How many times as fast as it was; `None` while it waits for a key.
    pub speed: Option<f64>,
}

/// What is known.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The session's id, once it is open.
    pub session: Option<SessionId>,
    /// Where it works.
    pub cwd: String,
    /// The user's home, to write it as `~`.
    pub home: String,
    /// The model.
    pub model: ModelInfo,
    /// Tokens of the last request and reply.
    pub context: u64,
    /// All tokens used in this session.
    pub total: Usage,
    /// The servers by name.
    pub servers: BTreeMap<ServerName, ServerFacts>,
    /// Every tool, sorted by name.
    pub tools: Arc<Vec<ToolInfo>>,
    /// What was found for someone who has configured nothing.
    pub found: Vec<Found>,
    /// What the user should have read, oldest first.
    pub notices: VecDeque<Notice>,
    /// How far the recording has come, where one is played instead of an agent.
    pub playback: Option<Playback>,
    /// Rises with every change.
    pub revision: u64,
}

impl Facts {
    /// Says that something changed.
    pub fn touch(&mut self) {
        self.revision += 1;
    }

    /// Keeps a notice; the oldest go.
    pub fn notice(&mut self, notice: Notice) {
        if self.notices.len() == NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
        self.touch();
    }

    /// The same notice with paths below the user's home written as people write them, so that what is said about a file has room.
    pub fn from_home(&self, mut notice: Notice) -> Notice {
        let home = self.home.trim_end_matches('/');
        if home.is_empty() {
            return notice;
        }
        for (_, value) in &mut notice.text.args {
            if let Some(rest) = value.strip_prefix(home)
                && rest.starts_with('/')
            {
                *value = format!("~{rest}");
            }
        }
        notice
    }

    /// Takes in something that was found.
    pub fn found(&mut self, found: Found) {
        self.found.push(found);
        self.touch();
    }

    /// Takes in a server's status.
    pub fn server(&mut self, status: ServerStatus) {
        self.touch();
        let status = Arc::new(status);
        if let Some(known) = self.servers.get_mut(&status.name) {
            known.status = status;
        } else {
            let name = status.name.clone();
            self.servers.insert(name, ServerFacts { status, stderr: VecDeque::new(), rejected: Vec::new() });
        }
    }

    /// Takes in lines of a server's error output; the oldest go.
    pub fn stderr(&mut self, server: &ServerName, lines: Vec<String>) {
        if let Some(known) = self.servers.get_mut(server) {
            known.stderr.extend(lines);
            let surplus = known.stderr.len().saturating_sub(STDERR_LINES);
            known.stderr.drain(..surplus);
            self.touch();
        }
    }

    /// How many servers are in which kind of state. Switched-off ones are not counted.
    pub fn count(&self) -> ServerCount {
        let mut count = ServerCount::default();
        for server in self.servers.values() {
            match server.status.state {
                ServerState::Ready => count.ready += 1,
                ServerState::Idle | ServerState::Stopped | ServerState::Untrusted => count.idle += 1,
                ServerState::Starting
                | ServerState::Initializing
                | ServerState::Reconnecting
                | ServerState::WaitingForBrowser => count.starting += 1,
                ServerState::StartFailed
                | ServerState::InitFailed
                | ServerState::Error
                | ServerState::Disconnected
                | ServerState::NeedsAuth => count.failed += 1,
                ServerState::Disabled => {}
            }
        }
        count
    }

    /// How full the model's context is, in percent, where its size is known.
    pub fn context_percent(&self) -> Option<u64> {
        let size = self.model.context.filter(|size| *size > 0)?;
        Some((self.context * 100 / size).min(999))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Phrase;

    #[test]
    fn only_paths_below_home_are_shortened() {
        let facts = Facts { home: "/home/u/".into(), ..Facts::default() };
        let said =
            |file: &str| facts.from_home(Notice::info(Phrase::new("x").with("file", file))).text.args[0].1.clone();
        assert_eq!(said("/home/u/.mcp.json"), "~/.mcp.json");
        assert_eq!(said("/home/uta/.mcp.json"), "/home/uta/.mcp.json");
        assert_eq!(said("/etc/home/u/x"), "/etc/home/u/x");
        let facts = Facts { home: "/".into(), ..Facts::default() };
        assert_eq!(facts.from_home(Notice::info(Phrase::new("x").with("file", "/a"))).text.args[0].1, "/a");
    }
}
