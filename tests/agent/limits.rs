//! The bounds of the loop: steps, repetition, and the messages that wait.

use crate::body::{bodies, body};
use crate::calls::{calling, echo, said};
use crate::rig::{Plan, Rig, fixture_server, served};
use crate::sse_model::{ModelServer, Reply};
use mcpane::agent::machine::Limits;
use mcpane::contract::{Event, Op, SessionEvent, TurnEvent};
use mcpane::domain::conversation::TurnEnd;
use mcpane::domain::prompt::{Choose, Decision};
use mcpane::domain::{ToolOutcome, UserInput};

fn plan() -> Plan {
    Plan::with(vec![fixture_server("s", &[])]).allow_all()
}

/// A model that calls, with arguments that differ as the function says, until it has called so often.
fn stubborn(times: usize, text: impl Fn(usize) -> String + Send + 'static) -> ModelServer {
    let mut asked = 0;
    ModelServer::start_with(move |_| {
        asked += 1;
        let id = format!("c{asked}");
        if asked > times { said("Done.") } else { calling(&[echo(&id, &text(asked))]) }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_call_a_third_time_in_a_row_is_the_users_business() {
    let server = stubborn(20, |_| "same".to_owned());
    let mut rig = Rig::new(served(&server), plan());
    rig.submit("Echo").await;
    let (prompt, decision) = rig.decision().await;
    assert_eq!(decision, Decision::Repeated { tool: "s:echo".into(), times: 3 });
    assert_eq!(rig.ran().len(), 2, "the third has not run");
    rig.choose(prompt.id, Choose::Continue).await;
    // Counting starts over.
    let (prompt, _) = rig.decision().await;
    assert_eq!(rig.ran().len(), 5);
    rig.choose(prompt.id, Choose::Hint { text: "Say something else.".into() }).await;
    let (prompt, _) = rig.decision().await;
    assert_eq!(rig.ran().len(), 7, "the sixth did not run, two more did");
    let hinted = body(&server, 7).await.result("c6");
    assert_eq!(hinted, "The user rejected this call; it did not run. Reason: Say something else.");
    rig.choose(prompt.id, Choose::Stop).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Stopped);
    assert_eq!(rig.ran().len(), 7);
    assert_eq!(rig.outcomes().last().unwrap().1, ToolOutcome::Cancelled);
    assert_eq!(bodies(&server).len(), 9);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_at_a_repeated_call_ends_the_turn() {
    let server = stubborn(3, |_| "same".to_owned());
    let mut rig = Rig::new(served(&server), plan());
    rig.submit("Echo").await;
    rig.decision().await;
    rig.op(Op::Interrupt).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Interrupted);
    rig.submit("Again").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let last = body(&server, 4).await;
    assert_eq!(last.result("c3"), "This call was cancelled before it ran; nothing was done.");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_differ_are_no_repetition() {
    let server = stubborn(6, |n| format!("text {}", n % 2));
    let mut rig = Rig::new(served(&server), plan());
    rig.submit("Echo").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(rig.ran().len(), 6);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_limit_of_steps_the_user_decides() {
    let server = stubborn(5, |n| n.to_string());
    let limits = Limits { steps: 2, ..Limits::default() };
    let mut rig = Rig::new(served(&server), Plan { limits, ..plan() });
    rig.submit("Echo").await;
    let (prompt, decision) = rig.decision().await;
    assert_eq!(decision, Decision::StepLimit { limit: 2 });
    assert_eq!(bodies(&server).len(), 2);
    rig.choose(prompt.id, Choose::Continue).await;
    let (prompt, _) = rig.decision().await;
    assert_eq!((bodies(&server).len(), rig.ran().len()), (4, 4), "as many again");
    rig.choose(prompt.id, Choose::Hint { text: "Come to an end.".into() }).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let sent = bodies(&server);
    assert_eq!(sent[4].told(), "Come to an end.");
    sent.windows(2).for_each(|pair| pair[1].assert_continues(&pair[0]));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_at_the_limit_of_steps_is_an_end_of_its_own() {
    let server = stubborn(1, |n| n.to_string());
    let limits = Limits { steps: 1, ..Limits::default() };
    let mut rig = Rig::new(served(&server), Plan { limits, ..plan() });
    rig.submit("Echo").await;
    let (prompt, _) = rig.decision().await;
    rig.choose(prompt.id, Choose::Stop).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::StepLimit);
    // A new task has its own share.
    rig.submit("Again").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(body(&server, 2).await.told().contains("[This task was not finished.]"));
    rig.shut_down().await;
}

fn queued(event: &Event) -> Option<(UserInput, usize)> {
    match event {
        Event::Session(SessionEvent::Queued { input, waiting }) => Some((input.clone(), *waiting)),
        _ => None,
    }
}

fn unqueued(event: &Event) -> Option<(UserInput, usize)> {
    match event {
        Event::Session(SessionEvent::Unqueued { input, waiting }) => Some((input.clone(), *waiting)),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_wait_for_the_turn_and_the_newest_can_be_taken_back() {
    let server = ModelServer::start(vec![calling(&[echo("c1", "x")]), said("One."), said("Two."), said("Three.")]);
    let mut rig = Rig::new(served(&server), Plan::with(vec![fixture_server("s", &[])]));
    rig.submit("one").await;
    let (prompt, _) = rig.approval().await;
    for (n, text) in ["two", "three", "four"].into_iter().enumerate() {
        rig.submit(text).await;
        assert_eq!(rig.until(queued).await, (UserInput::text(text), n + 1));
    }
    rig.op(Op::Unqueue).await;
    assert_eq!(rig.until(unqueued).await, (UserInput::text("four"), 2));
    rig.approve(prompt).await;
    for _ in 0..3 {
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    }
    rig.op(Op::Unqueue).await;
    let sent = bodies(&server);
    assert_eq!(sent.len(), 4);
    assert!(sent[2].told().starts_with("<task>\ntwo\n</task>") && sent[3].told().starts_with("<task>\nthree\n</task>"));
    let started = rig.seen.iter().filter(|event| matches!(event, Event::Turn(TurnEvent::Started { .. }))).count();
    assert_eq!(started, 3);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_wait_for_a_turn_that_fails_come_back() {
    let server = ModelServer::start(vec![calling(&[echo("c1", "x")]), Reply::status(400, &[], "no"), said("Yes.")]);
    let mut rig = Rig::new(served(&server), Plan::with(vec![fixture_server("s", &[])]));
    rig.submit("one").await;
    let (prompt, _) = rig.approval().await;
    rig.submit("two").await;
    rig.submit("three").await;
    rig.approve(prompt).await;
    assert!(matches!(rig.ended().await, TurnEnd::Failed { .. }));
    assert_eq!(rig.until(unqueued).await, (UserInput::text("three"), 1));
    assert_eq!(rig.until(unqueued).await, (UserInput::text("two"), 0));
    assert_eq!(bodies(&server).len(), 2);
    rig.shut_down().await;
}
