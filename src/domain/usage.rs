//! What a model request used.

use serde::{Deserialize, Serialize};

/// Token counts of one request, as the provider reported them. Zero where it said nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub input: u64,
    /// Tokens of the reply, reasoning included.
    pub output: u64,
    /// Tokens of the prompt that came from the provider's cache.
    pub cached: u64,
    /// Tokens of the reply that were reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Adds another request's counts.
    pub fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
        self.reasoning += other.reasoning;
    }
}
