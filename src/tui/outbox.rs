//! What the user wants of the agent, in order, until the agent takes it. The screen never waits for that, and nothing is lost.

use crate::contract::Op;
use std::collections::VecDeque;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// The outbox.
#[derive(Debug)]
pub struct Outbox {
    ops: mpsc::Sender<Op>,
    waiting: VecDeque<Op>,
}

impl Outbox {
    /// In front of this channel.
    pub fn new(ops: mpsc::Sender<Op>) -> Self {
        Self { ops, waiting: VecDeque::new() }
    }

    /// Sends what can be sent; the rest waits its turn.
    pub fn push(&mut self, op: Op) {
        self.waiting.push_back(op);
        while let Some(op) = self.waiting.pop_front() {
            match self.ops.try_send(op) {
                Ok(()) => {}
                Err(TrySendError::Full(op)) => {
                    self.waiting.push_front(op);
                    return;
                }
                // The agent has ended, and that has been said.
                Err(TrySendError::Closed(_)) => self.waiting.clear(),
            }
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Sends the oldest that waits, when there is room. Safe to drop while it waits.
    pub async fn send_one(&mut self) {
        if let Ok(permit) = self.ops.reserve().await {
            if let Some(op) = self.waiting.pop_front() {
                permit.send(op);
            }
        } else {
            self.waiting.clear();
        }
    }

    /// Sends all that waits.
    pub async fn send_all(&mut self) {
        while !self.is_empty() {
            self.send_one().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_channel_loses_nothing_and_keeps_the_order() {
        let (send, mut receive) = mpsc::channel(1);
        let mut outbox = Outbox::new(send);
        let op = |n: usize| Op::UseModel { model: n.to_string() };
        for n in 0..4 {
            outbox.push(op(n));
        }
        assert!(!outbox.is_empty());
        let mut got = Vec::new();
        while got.len() < 4 {
            got.push(receive.recv().await.unwrap());
            if !outbox.is_empty() {
                outbox.send_one().await;
            }
        }
        assert_eq!(got, [op(0), op(1), op(2), op(3)]);
        drop(receive);
        outbox.push(op(5));
        assert!(outbox.is_empty(), "an agent that has ended is not waited for");
    }
}
