//! What a model's endpoint has to say to the user beside its reply.

use crate::domain::Notice;
use std::sync::{Arc, Mutex, PoisonError};

/// Notices that wait to be read. Clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct Notices(Arc<Mutex<Vec<Notice>>>);

impl Notices {
    /// Adds one.
    pub fn push(&self, notice: Notice) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }

    /// Takes all.
    pub fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
