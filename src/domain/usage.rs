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
    /// Tokens of the prompt that were written to it, where that costs extra.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub written: u64,
    /// Tokens of the reply that were reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Adds another request's counts.
    pub fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
        self.written += other.written;
        self.reasoning += other.reasoning;
    }
}

// Serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
