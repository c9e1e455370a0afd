//! The real driver under a random user and a random model: every request that goes out is a legal one, and every call has one outcome.

use crate::body::{Body, bodies};
use crate::rig::{Plan, Rig, fixture_server, served};
use crate::sse_model::{Chat, ModelServer, Reply};
use mcpane::agent::machine::Limits;
use mcpane::contract::{ClockOp, Event, Op, PromptEvent, ToolEvent, TurnEvent};
use mcpane::domain::prompt::{Answer, Choose, Prompt, PromptKind, Scope};
use mcpane::domain::{CallId, ToolId};
use mcpane::policy::Effect;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What the model does at its next turn.
#[derive(Debug, Clone)]
enum Says {
    Text,
    Nothing,
    Thought,
    Calls(Vec<Makes>),
    /// It breaks off after these calls.
    Broken(Vec<Makes>),
    /// The token limit ends it in its last call.
    CutOff(Vec<Makes>),
    Hangs,
    Status(u16),
}

/// A call of the model.
#[derive(Debug, Clone, Copy)]
enum Makes {
    Echo(u8),
    Slow,
    Elicit,
    Write(u8),
    Command,
    Question,
    Unknown,
    Invalid,
    Unreadable,
}

/// What the user does next.
#[derive(Debug, Clone)]
enum Does {
    Submit,
    /// Answers one of what waits, in one of several ways.
    Answers(usize, u8),
    Amends(usize),
    Interrupts,
    CancelsCall(usize),
    Unqueues,
    RunsTool,
    Holds,
    GoesOn,
    /// Lets things happen.
    Waits,
}

fn makes() -> impl Strategy<Value = Makes> {
    prop_oneof![
        4 => (0..3_u8).prop_map(Makes::Echo),
        1 => Just(Makes::Slow),
        1 => Just(Makes::Elicit),
        2 => (0..2_u8).prop_map(Makes::Write),
        1 => Just(Makes::Command),
        1 => Just(Makes::Question),
        1 => Just(Makes::Unknown),
        1 => Just(Makes::Invalid),
        1 => Just(Makes::Unreadable),
    ]
}

fn says() -> impl Strategy<Value = Says> {
    let calls = || prop::collection::vec(makes(), 1..5);
    prop_oneof![
        3 => Just(Says::Text),
        1 => Just(Says::Nothing),
        1 => Just(Says::Thought),
        6 => calls().prop_map(Says::Calls),
        1 => calls().prop_map(Says::Broken),
        1 => calls().prop_map(Says::CutOff),
        1 => Just(Says::Hangs),
        1 => prop_oneof![Just(400), Just(503), Just(429)].prop_map(Says::Status),
    ]
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        3 => Just(Does::Submit),
        8 => (any::<usize>(), any::<u8>()).prop_map(|(which, how)| Does::Answers(which, how)),
        1 => any::<usize>().prop_map(Does::Amends),
        2 => Just(Does::Interrupts),
        1 => any::<usize>().prop_map(Does::CancelsCall),
        1 => Just(Does::Unqueues),
        1 => Just(Does::RunsTool),
        1 => Just(Does::Holds),
        1 => Just(Does::GoesOn),
        6 => Just(Does::Waits),
    ]
}

fn call(chat: Chat, at: usize, id: &str, makes: Makes) -> Chat {
    let at = at as u32;
    match makes {
        Makes::Echo(n) => chat.call(at, id, "s__echo", &json!({ "text": n.to_string() })),
        Makes::Slow => chat.call(at, id, "s__slow", &json!({ "steps": 3, "ms": 5 })),
        Makes::Elicit => chat.call(at, id, "s__elicit", &json!({ "message": "?" })),
        Makes::Write(n) => chat.call(at, id, "write_to_file", &json!({ "path": "w.txt", "content": format!("{n}\n") })),
        Makes::Command => chat.call(at, id, "execute_command", &json!({ "command": "echo x" })),
        Makes::Question => chat.call(at, id, "ask_followup_question", &json!({ "question": "?" })),
        Makes::Unknown => chat.call(at, id, "s__nothing", &json!({})),
        Makes::Invalid => chat.call(at, id, "s__echo", &json!({ "text": 1 })),
        Makes::Unreadable => chat.call_start(at, id, "s__echo", "{\"text\": \"a"),
    }
}

/// The reply; ids of calls repeat from reply to reply, as those of some providers do.
fn reply(says: &Says) -> Reply {
    let calls = |chat: Chat, calls: &[Makes]| {
        calls.iter().enumerate().fold(chat, |chat, (at, makes)| call(chat, at, &format!("c{at}"), *makes))
    };
    match says {
        Says::Text => Chat::new().reasoning("Hm.").text("Done.").finish("stop").done(),
        Says::Nothing => Chat::new().finish("stop").done(),
        Says::Thought => Chat::new().reasoning("Hm.").finish("stop").done(),
        Says::Calls(made) => calls(Chat::new().text("I call."), made).finish("tool_calls").done(),
        Says::Broken(made) => Reply::cut_after(calls(Chat::new().text("I c"), made).bytes()),
        Says::CutOff(made) => calls(Chat::new(), made).finish("length").done(),
        Says::Hangs => Reply::sse(Chat::new().text("Wait").bytes()).then_hang(),
        Says::Status(status) => Reply::status(*status, &[], "no"),
    }
}

/// What the user sees.
#[derive(Default)]
struct Sight {
    waiting: BTreeMap<mcpane::domain::PromptId, Prompt>,
    open: BTreeSet<CallId>,
    outcomes: BTreeSet<CallId>,
    turns: i32,
}

impl Sight {
    fn take(&mut self, event: &Event) -> Result<(), TestCaseError> {
        match event {
            Event::Prompt(PromptEvent::Opened { prompt }) => {
                prop_assert!(self.waiting.insert(prompt.id, prompt.clone()).is_none(), "{:?} twice", prompt.id);
            }
            Event::Prompt(PromptEvent::Closed { prompt, .. }) => {
                prop_assert!(self.waiting.remove(prompt).is_some(), "{:?} was not open", prompt);
            }
            Event::Tool(ToolEvent::Proposed { call, .. }) => {
                self.open.insert(call.id);
            }
            Event::Tool(ToolEvent::Finished { call, .. }) => {
                prop_assert!(self.open.remove(call), "{:?} was not open", call);
                prop_assert!(self.outcomes.insert(*call), "{:?} ended twice", call);
            }
            Event::Turn(TurnEvent::Started { .. }) => self.turns += 1,
            Event::Turn(TurnEvent::Ended { .. }) => self.turns -= 1,
            _ => {}
        }
        Ok(())
    }

    fn pick(&self, which: usize) -> Option<Prompt> {
        self.waiting.values().nth(which.checked_rem(self.waiting.len())?).cloned()
    }
}

fn answer(prompt: &Prompt, how: u8) -> Answer {
    let last = match &prompt.kind {
        PromptKind::Approval(_) => {
            Answer::Approve { scope: if how.is_multiple_of(5) { Scope::Session } else { Scope::Once }, version: None }
        }
        PromptKind::Form(_) => Answer::Submit { values: serde_json::Map::new() },
        PromptKind::Decision(_) if how % 4 == 1 => Answer::Choose(Choose::Hint { text: "Hint.".into() }),
        PromptKind::Decision(_) if how % 4 == 2 => Answer::Choose(Choose::Stop),
        PromptKind::Decision(_) => Answer::Choose(Choose::Continue),
        _ => Answer::Text { text: "An answer.".into() },
    };
    match how {
        0..32 => Answer::Reject { reason: None },
        32..48 => Answer::ByHand { text: "By hand.".into() },
        48..64 => Answer::Decline,
        64..80 => Answer::Cancel,
        _ => last,
    }
}

/// Reads what is there, and what comes within a moment.
async fn look(rig: &mut Rig, sight: &mut Sight, moment: u64) -> Result<(), TestCaseError> {
    let until = tokio::time::Instant::now() + Duration::from_millis(moment);
    while let Ok(Some(event)) = tokio::time::timeout_at(until, rig.agent.events.recv()).await {
        sight.take(&event)?;
        rig.seen.push(event);
    }
    Ok(())
}

async fn act(rig: &mut Rig, sight: &mut Sight, does: &Does) -> Result<(), TestCaseError> {
    match does {
        Does::Submit => rig.submit("A task").await,
        Does::Answers(which, how) => {
            if let Some(prompt) = sight.pick(*which) {
                rig.answer(prompt.id, answer(&prompt, *how)).await;
            }
        }
        Does::Amends(which) => {
            if let Some(prompt) = sight.pick(*which) {
                rig.op(Op::Amend { prompt: prompt.id, arguments: json!({ "text": "amended" }) }).await;
            }
        }
        Does::Interrupts => rig.op(Op::Interrupt).await,
        Does::CancelsCall(which) => {
            let calls: Vec<CallId> = sight.open.iter().chain(&sight.outcomes).copied().collect();
            if let Some(at) = which.checked_rem(calls.len()) {
                rig.op(Op::CancelCall { call: calls[at] }).await;
            }
        }
        Does::Unqueues => rig.op(Op::Unqueue).await,
        Does::RunsTool => {
            rig.op(Op::RunTool { tool: ToolId::on(&"s".into(), "echo"), arguments: json!({ "text": "hand" }) }).await;
        }
        Does::Holds => rig.op(Op::Clock(ClockOp::Hold)).await,
        Does::GoesOn => rig.op(Op::Clock(ClockOp::Go)).await,
        Does::Waits => look(rig, sight, 20).await?,
    }
    look(rig, sight, 1).await
}

/// Ends everything: no turn runs, nothing waits, every call has its outcome.
async fn settle(rig: &mut Rig, sight: &mut Sight) -> Result<(), TestCaseError> {
    rig.op(Op::Clock(ClockOp::Go)).await;
    for _ in 0..200 {
        look(rig, sight, 10).await?;
        if sight.turns == 0 && sight.waiting.is_empty() && sight.open.is_empty() {
            return Ok(());
        }
        rig.op(Op::Interrupt).await;
        if let Some(prompt) = sight.pick(0) {
            rig.answer(prompt.id, Answer::Cancel).await;
            rig.answer(prompt.id, Answer::Reject { reason: None }).await;
        }
    }
    Err(TestCaseError::fail(format!("it does not come to rest: {:?} {:?}\n{}", sight.waiting, sight.open, rig.story())))
}

async fn run(replies: Vec<Says>, acts: Vec<Does>) -> Result<(), TestCaseError> {
    let mut replies = replies.into_iter();
    let server = ModelServer::start_with(move |_| reply(&replies.next().unwrap_or(Says::Text)));
    let limits = Limits { steps: 6, ..Limits::default() };
    let plan = Plan::with(vec![fixture_server("s", &[])])
        .rule(Effect::Allow, "s:slow")
        .rule(Effect::Allow, "s:elicit")
        .rule(Effect::Deny, "s:echo(text=2)");
    let mut rig = Rig::new(served(&server), Plan { limits, ..plan });
    rig.offers("s:echo").await;
    let mut sight = Sight::default();
    for does in &acts {
        act(&mut rig, &mut sight, does).await?;
    }
    settle(&mut rig, &mut sight).await?;
    // One last task, so that everything before it is in a request.
    rig.submit("The last task").await;
    let count = server.requests_now().len();
    while server.requests_now().len() == count {
        look(&mut rig, &mut sight, 2).await?;
    }
    settle(&mut rig, &mut sight).await?;
    let sent: Vec<Body> = bodies(&server);
    for body in &sent {
        prop_assert_eq!(body.tools(), sent[0].tools());
        prop_assert!(!body.raw.contains("\"hand\""), "what was run by hand went to the model");
    }
    rig.shut_down().await;
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_is_legal_whatever_model_and_user_do(
        replies in prop::collection::vec(says(), 1..12),
        acts in prop::collection::vec(does(), 5..50),
    ) {
        let mut acts = acts;
        acts.insert(0, Does::Submit);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(run(replies, acts))?;
    }
}
