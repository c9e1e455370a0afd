//! What a tool saw when a call was inspected, kept until it runs.
//!
//! The user approves what the inspection found; between that and the run a link or a file may have changed. A run compares, and refuses
//! where something is different. **Invariant:** bounded; a forgotten call is refused, never run unseen.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// SHA-256 of a file's bytes.
pub type Print = [u8; 32];

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Where the path led.
    pub path: PathBuf,
    /// What the file held, where the call changes it; `None` where there was no file.
    pub print: Option<Print>,
}

/// Calls kept. More than can wait for approval at once.
const MOST: usize = 128;

/// The memory.
#[derive(Debug, Default)]
pub struct Memory {
    calls: Mutex<VecDeque<(Print, Seen)>>,
}

impl Memory {
    /// Keeps what was seen of a call; a later inspection of the same call replaces it.
    pub fn keep(&self, tool: &str, arguments: &Value, seen: Seen) {
        let key = key(tool, arguments);
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|(kept, _)| *kept != key);
        if calls.len() == MOST {
            calls.pop_front();
        }
        calls.push_back((key, seen));
    }

    /// What was seen of a call.
    pub fn recall(&self, tool: &str, arguments: &Value) -> Option<Seen> {
        let key = key(tool, arguments);
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().rev().find(|(kept, _)| *kept == key).map(|(_, seen)| seen.clone())
    }
}

/// The print of some bytes.
pub fn print(bytes: &[u8]) -> Print {
    Sha256::digest(bytes).into()
}

fn key(tool: &str, arguments: &Value) -> Print {
    let mut hash = Sha256::new();
    hash.update(tool.as_bytes());
    hash.update([0]);
    hash.update(arguments.to_string().as_bytes());
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_newest_counts_and_old_ones_go() {
        let memory = Memory::default();
        let seen = |path: &str| Seen { path: path.into(), print: None };
        memory.keep("read_file", &json!({"path": "a"}), seen("/1"));
        memory.keep("read_file", &json!({"path": "a"}), seen("/2"));
        assert_eq!(memory.recall("read_file", &json!({"path": "a"})), Some(seen("/2")));
        assert_eq!(memory.recall("list_files", &json!({"path": "a"})), None);
        for n in 0..MOST {
            memory.keep("read_file", &json!({ "path": n }), seen("/x"));
        }
        assert_eq!(memory.recall("read_file", &json!({"path": "a"})), None);
    }
}
