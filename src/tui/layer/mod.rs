//! Overlays, one file each, and the stack they stand on.
//!
//! A layer owns what it shows and where it is scrolled; what it knows comes to it through `learn`. It answers keys with data and never reaches into
//! the screen's owner.

pub mod confirm;
pub mod details;
pub mod help;
pub mod notices;
pub mod palette;
pub mod servers;
pub mod theme;
pub mod tools;
pub mod welcome;

use crate::tui::facts::Facts;
use crate::tui::look::Look;
use crate::tui::outcome::{Layer, Manner, Outcome};
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// The stack.
#[derive(Default)]
pub struct Layers {
    stack: Vec<Box<dyn Layer>>,
    learned: u64,
}

impl Layers {
    /// Opens a layer over all others.
    pub fn push(&mut self, mut layer: Box<dyn Layer>, facts: &Facts) {
        layer.learn(facts);
        self.stack.push(layer);
    }

    /// Opens it, or closes it when it is the topmost already: the key that opens a layer closes it too.
    pub fn toggle(&mut self, layer: Box<dyn Layer>, facts: &Facts) {
        if self.top() == Some(layer.name()) {
            self.stack.pop();
            return;
        }
        self.remove(layer.name());
        self.push(layer, facts);
    }

    /// Closes the topmost.
    pub fn pop(&mut self) {
        self.stack.pop();
    }

    /// Closes a layer by its name.
    pub fn remove(&mut self, name: &str) {
        self.stack.retain(|layer| layer.name() != name);
    }

    /// Closes all that the user opened.
    pub fn close_modal(&mut self) {
        self.stack.retain(|layer| layer.manner() == Manner::Guest);
    }

    /// Name of the topmost.
    pub fn top(&self) -> Option<&'static str> {
        self.stack.last().map(|layer| layer.name())
    }

    /// How the topmost shares the screen.
    pub fn manner(&self) -> Option<Manner> {
        self.stack.last().map(|layer| layer.manner())
    }

    /// Whether one covers the panes that the user did not open.
    pub fn has_guest(&self) -> bool {
        self.stack.iter().any(|layer| layer.manner() == Manner::Guest)
    }

    /// Whether the user opened one.
    pub fn is_modal(&self) -> bool {
        self.manner() == Some(Manner::Modal)
    }

    /// Hands a key to the topmost, and closes it if it says so.
    pub fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome {
        let Some(layer) = self.stack.last_mut() else { return Outcome::Ignored };
        let outcome = layer.key(key, look);
        self.close(outcome)
    }

    /// Hands pasted text to the topmost.
    pub fn paste(&mut self, text: &str) -> Outcome {
        let Some(layer) = self.stack.last_mut() else { return Outcome::Ignored };
        let outcome = layer.paste(text);
        self.close(outcome)
    }

    fn close(&mut self, outcome: Outcome) -> Outcome {
        if matches!(outcome, Outcome::Close(_)) {
            self.stack.pop();
        }
        outcome
    }

    /// Hands an edited text to the topmost.
    pub fn edited(&mut self, text: &str) {
        if let Some(layer) = self.stack.last_mut() {
            layer.edited(text);
        }
    }

    /// Draws them from the bottom: guests into the panes' area, the others into all of it. Returns the caret of a modal one.
    pub fn draw(
        &mut self,
        (whole, panes): (Rect, Rect),
        buffer: &mut Buffer,
        look: &Look<'_>,
        facts: &Facts,
    ) -> Option<Position> {
        if self.learned != facts.revision {
            self.learned = facts.revision;
            for layer in &mut self.stack {
                layer.learn(facts);
            }
        }
        let mut caret = None;
        for layer in &mut self.stack {
            caret = match layer.manner() {
                Manner::Modal => layer.draw(whole, buffer, look),
                Manner::Guest => layer.draw(panes, buffer, look).and(None),
            };
        }
        caret
    }
}
