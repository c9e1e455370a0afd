//! A request that the carrier could not carry, although the server may live.
//!
//! Owns no state. A carrier of whole messages (HTTP) knows more about a failure than an error of the protocol can say: whether a tool may have run, and
//! whether the server wants a login. This is handed on beside the error, never read from its text.

use super::reason::Trouble;
use crate::domain::server::ServerState;

/// Whether what was asked for may have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The server never took the request on.
    None,
    /// Nobody knows.
    Possible,
}

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lost {
    /// What is wrong, and what to do.
    pub(super) trouble: Trouble,
    /// Whether it may have had effects.
    pub(super) effect: Effect,
    /// The state of a server whose handshake fails so; `None` where that depends on how far it got.
    pub(super) state: Option<ServerState>,
    /// It may go away by itself.
    pub(super) passes: bool,
}
