//! The tools of one server: from its last list, or from the catalogue of an earlier start.
//!
//! Owns: the definitions as received, whether the list is being read, and the telling of them. The entry's patterns filter what is told.

use super::World;
use super::catalogue::Catalogue;
use super::convert;
use super::session::Listing;
use crate::domain::ServerName;
use crate::domain::server::{ServerEntry, ServerSignal, ServerStatus};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    No,
    Yes,
    /// It changed while it was being read.
    Stale,
}

/// Shortest time between two readings of a list; it doubles while the list goes on changing.
const LEAST: Duration = Duration::from_millis(250);
/// Longest time.
const MOST: Duration = Duration::from_secs(60);

/// How soon a list that changed is read again: at once, but ever later where it changes with each reading. A server must not keep us busy.
#[derive(Debug)]
struct Pace {
    last: Option<Instant>,
    gap: Duration,
}

impl Pace {
    /// When the next reading may begin.
    fn next(&mut self, now: Instant) -> Instant {
        let at = match self.last {
            Some(last) if now < last + 2 * self.gap => {
                let at = now.max(last + self.gap);
                self.gap = MOST.min(2 * self.gap);
                at
            }
            _ => {
                self.gap = LEAST;
                now
            }
        };
        self.last = Some(at);
        at
    }
}

/// A server's tools.
pub(super) struct Shelf {
    world: Arc<World>,
    /// `None` before they are known.
    listing: Option<Listing>,
    reading: Reading,
    pace: Pace,
}

impl Shelf {
    /// An empty one.
    pub(super) fn new(world: Arc<World>) -> Self {
        Self { world, listing: None, reading: Reading::No, pace: Pace { last: None, gap: LEAST } }
    }

    /// Whether nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        self.listing.is_none()
    }

    /// When the list is to be read; `None` while it is being read: it will be read again.
    pub(super) fn begin_reading(&mut self) -> Option<Instant> {
        let idle = self.reading == Reading::No;
        self.reading = if idle { Reading::Yes } else { Reading::Stale };
        idle.then(|| self.pace.next(Instant::now()))
    }

    /// It was read; `true` if it changed meanwhile.
    pub(super) fn end_reading(&mut self) -> bool {
        std::mem::replace(&mut self.reading, Reading::No) == Reading::Stale
    }

    /// Takes what an earlier start of exactly this entry left, and tells it; with the number of usable tools.
    pub(super) fn load(&mut self, entry: &ServerEntry) -> Option<(Catalogue, usize)> {
        let mut known = Catalogue::load(&self.world.options.state_dir, &entry.fingerprint)?;
        self.listing = Some(Listing { tools: std::mem::take(&mut known.tools), cut: None });
        Some((known, self.publish(entry)?))
    }

    /// Takes a new list, remembers it for the next start, and tells it; the number of usable tools.
    pub(super) fn put(&mut self, entry: &ServerEntry, listing: Listing, status: &ServerStatus) -> usize {
        let catalogue = Catalogue {
            identity: status.identity.clone(),
            protocol: status.protocol.clone(),
            instructions: status.instructions.clone(),
            resources: status.resources,
            ..Catalogue::new(entry.name.as_str(), listing.tools.clone())
        };
        if let Err(error) = catalogue.store(&self.world.options.state_dir, &entry.fingerprint) {
            tracing::warn!(server = %entry.name, %error, "the catalogue of tools could not be written");
        }
        self.listing = Some(listing);
        self.publish(entry).unwrap_or_default()
    }

    /// Tells the tools, filtered by the entry; the number of usable ones. `None` where nothing is known.
    pub(super) fn publish(&self, entry: &ServerEntry) -> Option<usize> {
        let listing = self.listing.as_ref()?;
        let mut tools = convert::tools(&entry.name, &listing.tools, &entry.allow_tools, &entry.deny_tools);
        if let Some(cut) = &listing.cut {
            tools.rejected.push(("tools/list".to_owned(), cut.clone()));
        }
        let usable = tools.usable.len();
        self.tell(&entry.name, tools);
        Some(usable)
    }

    /// Nothing is known any more.
    pub(super) fn clear(&mut self, server: &ServerName) {
        if self.listing.take().is_some() {
            self.tell(server, convert::Tools::default());
        }
        self.reading = Reading::No;
    }

    fn tell(&self, server: &ServerName, tools: convert::Tools) {
        self.world.set_tools(server, tools.usable.clone());
        let signal = ServerSignal::Tools { server: server.clone(), tools: tools.usable, rejected: tools.rejected };
        self.world.emit(signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_never_rests_is_read_ever_more_seldom() {
        let mut pace = Pace { last: None, gap: LEAST };
        let begin = Instant::now();
        let mut now = begin;
        let mut times = 0;
        while now < begin + Duration::from_secs(600) {
            now = pace.next(now) + Duration::from_millis(5);
            times += 1;
        }
        assert!((8..25).contains(&times), "{times}");
        // Once it has rested it is read at once again.
        let later = now + Duration::from_secs(300);
        assert_eq!(pace.next(later), later);
        assert_eq!(pace.next(later + LEAST / 2), later + LEAST);
    }
}
