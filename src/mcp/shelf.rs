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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    No,
    Yes,
    /// It changed while it was being read.
    Stale,
}

/// A server's tools.
pub(super) struct Shelf {
    world: Arc<World>,
    /// `None` before they are known.
    listing: Option<Listing>,
    reading: Reading,
}

impl Shelf {
    /// An empty one.
    pub(super) fn new(world: Arc<World>) -> Self {
        Self { world, listing: None, reading: Reading::No }
    }

    /// Whether nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        self.listing.is_none()
    }

    /// `true` if the list is to be read now; one that is being read will be read again.
    pub(super) fn begin_reading(&mut self) -> bool {
        let idle = self.reading == Reading::No;
        self.reading = if idle { Reading::Yes } else { Reading::Stale };
        idle
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
