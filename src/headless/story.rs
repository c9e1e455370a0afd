//! A conversation told again: the events that it would have been made of.
//!
//! Owns the pace where none is known: a journal holds what happened, not when. How long calls took is known and kept.

use super::playback::Beat;
use crate::contract::event::TextKind;
use crate::contract::{Event, ItemEvent, SessionEvent, ToolEvent, TurnEvent};
use crate::domain::{Conversation, Item, ItemBody, SessionId, Step, StepEnd, ToolCall, ToolOutcome, Turn, TurnEnd};
use std::time::Duration;

/// A piece of text: so many characters, every so often. About as fast as a good model writes.
const PIECE: usize = 24;
const EVERY: Duration = Duration::from_millis(60);
/// Before a turn, a step, a call.
const PAUSE: Duration = Duration::from_millis(500);

/// The beats of a conversation.
pub fn beats(id: &SessionId, cwd: &str, conversation: &Conversation) -> Vec<Beat> {
    let mut teller = Teller { now: Duration::ZERO, beats: Vec::new() };
    teller.say(SessionEvent::Opened {
        id: id.clone(),
        cwd: cwd.to_owned(),
        conversation: Conversation::default(),
        draft: String::new(),
    });
    for turn in &conversation.turns {
        teller.turn(turn);
    }
    teller.beats
}

struct Teller {
    now: Duration,
    beats: Vec<Beat>,
}

impl Teller {
    fn say(&mut self, event: impl Into<Event>) {
        self.beats.push(Beat { at: self.now, event: event.into() });
    }

    fn turn(&mut self, turn: &Turn) {
        self.now += PAUSE;
        self.say(TurnEvent::Started { turn: turn.id, kind: turn.kind, input: turn.input.clone() });
        for (number, step) in (1..).zip(&turn.steps) {
            self.now += PAUSE;
            self.say(TurnEvent::StepStarted { turn: turn.id, step: step.id, number });
            self.step(step);
        }
        let end = turn.end.clone().unwrap_or(TurnEnd::Interrupted);
        self.say(TurnEvent::Ended { turn: turn.id, end });
    }

    fn step(&mut self, step: &Step) {
        for item in &step.items {
            match &item.body {
                ItemBody::Thinking { text, .. } => self.text(step, item, TextKind::Thinking, text),
                ItemBody::Answer { text } => self.text(step, item, TextKind::Answer, text),
                ItemBody::Call { call, .. } => {
                    self.now += PAUSE;
                    self.say(ToolEvent::Proposed { step: step.id, call: call.clone(), spec: None });
                }
            }
        }
        for (call, outcome) in step.calls() {
            self.call(call, outcome);
        }
        let end = step.end.clone().unwrap_or(StepEnd::Interrupted);
        self.say(TurnEvent::StepEnded { step: step.id, end, reason: None, usage: step.usage });
    }

    fn text(&mut self, step: &Step, item: &Item, kind: TextKind, text: &str) {
        self.say(ItemEvent::Started { item: item.id, step: step.id, kind });
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.char_indices().nth(PIECE).map_or(rest.len(), |(at, _)| at);
            let (piece, more) = rest.split_at(end);
            self.now += EVERY;
            self.say(ItemEvent::Delta { item: item.id, text: piece.to_owned() });
            rest = more;
        }
        self.say(ItemEvent::Finished { item: item.id });
    }

    fn call(&mut self, call: &ToolCall, outcome: Option<&ToolOutcome>) {
        let Some(outcome) = outcome.cloned() else { return };
        let ran = match &outcome {
            ToolOutcome::Done { millis, .. } => Some(Duration::from_millis(*millis)),
            ToolOutcome::Interrupted | ToolOutcome::Failed { may_have_run: true, .. } => Some(PAUSE),
            _ => None,
        };
        self.now += PAUSE;
        if let Some(ran) = ran {
            self.say(ToolEvent::Started { call: call.id });
            self.now += ran;
        }
        self.say(ToolEvent::Finished { call: call.id, outcome });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CallId, ItemId, Origin, StepId, TurnId, UserInput};
    use serde_json::json;

    #[test]
    fn it_is_told_in_order_and_whole() {
        let call = ToolCall {
            id: CallId(4),
            provider_id: None,
            asked: "t".into(),
            tool: None,
            arguments: json!({}),
            origin: Origin::Native,
        };
        let done =
            ToolOutcome::Done { content: Vec::new(), is_error: false, for_model: None, spilled: None, millis: 1_234 };
        let answer = "纽约 is a city. ".repeat(20);
        let items = vec![
            Item { id: ItemId(4), body: ItemBody::Call { call, outcome: Some(done) } },
            Item { id: ItemId(5), body: ItemBody::Answer { text: answer.clone() } },
        ];
        let step = Step { id: StepId(2), items, ..Step::default() };
        let turn = Turn { id: TurnId(1), input: UserInput::text("go"), steps: vec![step], ..Turn::default() };
        let beats = beats(&"s".into(), "/", &Conversation { turns: vec![turn] });
        assert!(beats.windows(2).all(|pair| pair[0].at <= pair[1].at));
        let text: String = beats
            .iter()
            .filter_map(|beat| match &beat.event {
                Event::Item(ItemEvent::Delta { text, .. }) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(text, answer);
        let at = |wanted: fn(&Event) -> bool| beats.iter().find(|beat| wanted(&beat.event)).unwrap().at;
        let started = at(|event| matches!(event, Event::Tool(ToolEvent::Started { .. })));
        let finished = at(|event| matches!(event, Event::Tool(ToolEvent::Finished { .. })));
        assert_eq!(finished.saturating_sub(started), Duration::from_millis(1_234));
        assert!(matches!(beats.last().unwrap().event, Event::Turn(TurnEvent::Ended { .. })));
    }
}
