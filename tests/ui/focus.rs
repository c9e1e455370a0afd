//! The focus rule: nothing that appears by itself receives a key that was typed for something else.

use crate::script;
use mcpane::contract::{Event, Op, PromptEvent};
use mcpane::domain::policy::Preview;
use mcpane::domain::prompt::Closed;
use mcpane::domain::tool::Risk;
use mcpane::domain::{Phrase, PromptId};
use mcpane::tui::focus::Focus;
use mcpane::tui::harness::Harness;
use mcpane::tui::prompt::STANDS;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

#[derive(Debug, Clone)]
enum Act {
    Type(char),
    Press(&'static str),
    Paste,
    Approval,
    Question,
    Withdraw,
    Wait(u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => prop::sample::select(vec!['y', 's', 'a', 'n', 'r', 'e', 'm', 'd', 'x', '1', '2', ' ', '?', 'j', '纽'])
            .prop_map(Act::Type),
        4 => Just(Act::Press("Enter")),
        1 => prop::sample::select(vec!["Ctrl-O", "Esc", "Tab", "Up", "Down", "Backspace", "Alt-D", "Ctrl-S", "Shift-Tab"])
            .prop_map(Act::Press),
        1 => Just(Act::Paste),
        3 => Just(Act::Approval),
        1 => Just(Act::Question),
        1 => Just(Act::Withdraw),
        3 => prop::sample::select(vec![1_u64, 20, 150, 399, 400, 2000]).prop_map(Act::Wait),
    ];
    prop::collection::vec(act, 1..70)
}

/// What must be true, followed beside the real screen.
struct Follower {
    screen: Harness,
    next: u64,
    /// Prompts that wait, in order, and since when the front is the front.
    waiting: Vec<u64>,
    /// What must be written in the composer.
    written: String,
}

impl Follower {
    fn new() -> Self {
        let mut screen = Harness::new(120, 40);
        for event in script::quiet() {
            screen.feed(event);
        }
        screen.feed(script::started(1, "go")).feed(script::step(1, 10, 1));
        screen.draw();
        screen.effects();
        Self { screen, next: 100, waiting: Vec::new(), written: String::new() }
    }

    fn arrive(&mut self, approval: bool) {
        self.next += 1;
        let id = self.next;
        if approval {
            let tool = script::spec(None, "write_to_file", Risk::Write);
            let call = script::call(id, &tool, json!({"path": "a"}));
            let check = script::asks(Preview::Arguments);
            self.screen.feed(script::proposed(10, &call, &tool));
            self.screen.feed(script::checked(&call, check.clone()));
            self.screen.feed(script::approval(id, 10, &call, &tool, check));
        } else {
            self.screen.feed(script::question(id));
        }
        self.waiting.push(id);
    }

    fn act(&mut self, act: &Act) -> Result<(), TestCaseError> {
        let open = self.screen.ui.scene.prompts.is_open();
        let opened = self.screen.ui.scene.prompts.opened();
        let may = self.screen.ui.scene.prompts.may_open_by_enter(self.screen.now());
        let focus = self.screen.ui.focus;
        // A layer that the user opened has the keys too.
        let layer = self.screen.ui.layers.is_modal();
        let writing = !open && !layer && focus == Focus::Composer;
        let empty = self.screen.ui.composer.is_empty();
        match act {
            Act::Type(c) => {
                self.screen.type_text(&c.to_string());
                if writing {
                    self.written.push(*c);
                }
            }
            Act::Press(key) => {
                self.screen.press(key);
            }
            Act::Paste => {
                self.screen.paste("pasted");
                if !open && !layer {
                    self.written.push_str("pasted");
                }
            }
            Act::Approval => self.arrive(true),
            Act::Question => self.arrive(false),
            Act::Withdraw => {
                if let Some(id) = self.waiting.first().copied() {
                    let why = Closed::Withdrawn { why: Phrase::literal("gone") };
                    self.screen.feed(Event::Prompt(PromptEvent::Closed { prompt: PromptId(id), why }));
                }
            }
            Act::Wait(ms) => {
                self.screen.advance(Duration::from_millis(*ms));
            }
        }
        let ops = self.screen.ops();
        for op in &ops {
            match op {
                Op::Answer { prompt, .. } => {
                    prop_assert_eq!(Some(*prompt), opened, "answered without having been open: {:?}", act);
                    let why = Closed::Withdrawn { why: Phrase::literal("answered") };
                    self.screen.feed(Event::Prompt(PromptEvent::Closed { prompt: *prompt, why }));
                    self.waiting.retain(|id| *id != prompt.0);
                }
                Op::Submit { input } => {
                    prop_assert!(writing, "sent while something else had the keys");
                    prop_assert_eq!(input.text.clone(), std::mem::take(&mut self.written));
                }
                _ => {}
            }
        }
        if matches!(act, Act::Withdraw) && !self.waiting.is_empty() {
            self.waiting.remove(0);
        }
        let opens = match act {
            Act::Press("Enter") if focus == Focus::Composer => empty && may,
            Act::Press("Ctrl-O" | "Enter") => true,
            _ => false,
        };
        let is_open = self.screen.ui.scene.prompts.is_open();
        prop_assert!(open || !is_open || opens, "{act:?} opened a prompt");
        if writing {
            match act {
                Act::Press("Backspace") => drop(self.written.pop()),
                // The edges of the history and of the text.
                Act::Press("Up" | "Down") => self.written = self.screen.ui.composer.draft(),
                _ => {}
            }
        }
        prop_assert_eq!(self.screen.ui.composer.draft(), self.written.clone(), "a typed key was lost at {:?}", act);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_prompt_is_answered_that_was_not_opened_and_no_key_is_lost(acts in acts()) {
        let mut follower = Follower::new();
        for act in &acts {
            follower.act(act)?;
        }
        follower.screen.draw();
    }
}

#[test]
fn an_approval_in_the_middle_of_typing_gets_no_key() {
    let mut follower = Follower::new();
    follower.screen.type_text("the da");
    follower.arrive(true);
    follower.screen.type_text("y").press("Enter");
    let ops = follower.screen.ops();
    assert!(matches!(ops.as_slice(), [Op::Submit { input }] if input.text == "the day"), "{ops:?}");
    assert!(!follower.screen.ui.scene.prompts.is_open());
}

#[test]
fn enter_on_an_empty_composer_opens_what_has_stood() {
    let mut follower = Follower::new();
    follower.arrive(true);
    follower.screen.press("Enter");
    assert!(!follower.screen.ui.scene.prompts.is_open(), "it appeared under the finger");
    follower.screen.advance(STANDS).press("Enter");
    assert!(follower.screen.ui.scene.prompts.is_open());
    assert!(follower.screen.ops().is_empty(), "opening is not answering");
    follower.screen.press("Esc").type_text("more");
    assert_eq!(follower.screen.ui.composer.draft(), "more");
}

#[test]
fn space_on_a_waiting_call_folds_and_enter_opens() {
    let mut follower = Follower::new();
    follower.arrive(true);
    follower.screen.draw();
    follower.screen.press("Shift-Tab").press("Space");
    assert!(!follower.screen.ui.scene.prompts.is_open());
    follower.screen.press("Enter");
    assert!(follower.screen.ui.scene.prompts.is_open());
}
