//! Calls that are called off, one by one or with their turn.

use crate::body::body;
use crate::calls::{calling, echo, said};
use crate::rig::{Plan, Rig, eventually, fixture_server, received, recorded_server, result_text, served};
use crate::sse_model::ModelServer;
use mcpane::contract::{Event, Op, ToolEvent};
use mcpane::domain::conversation::TurnEnd;
use mcpane::domain::prompt::Closed;
use mcpane::domain::{CallId, ToolId, ToolOutcome};
use mcpane::policy::Effect;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

const CANCELLED: &str = "This call was cancelled before it ran; nothing was done.";
const INTERRUPTED: &str =
    "This call was interrupted and may have had effects. Find out what it did before you repeat it.";

fn slow(id: &str) -> (&str, &'static str, Value) {
    (id, "s__slow", json!({ "steps": 10_000, "ms": 10 }))
}

async fn progress(rig: &mut Rig, wanted: CallId) {
    rig.until(|event| matches!(event, Event::Tool(ToolEvent::Progress { call, .. }) if *call == wanted).then_some(()))
        .await;
}

/// Whether a process runs.
fn alive(pid: &str) -> bool {
    let status = std::process::Command::new("kill").args(["-0", pid]).stderr(std::process::Stdio::null()).status();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.unwrap().success() && !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}

fn pids(file: &Path) -> Vec<String> {
    std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_a_running_command_and_everything_it_started() {
    let command = "echo $$ > pids; sleep 1000 & echo $! >> pids; echo begun; wait";
    let calls = [("c1", "execute_command", json!({ "command": command })), echo("c2", "waits"), slow("c3")];
    let server = ModelServer::start(vec![calling(&calls), said("I see.")]);
    let plan = Plan::with(vec![fixture_server("s", &[])])
        .rule(Effect::Allow, "execute_command")
        .rule(Effect::Ask, "s:echo")
        .rule(Effect::Allow, "s:slow");
    let mut rig = Rig::new(served(&server), plan);
    rig.submit("Run").await;
    let (prompt, _) = rig.approval().await;
    let [command, echo, slow] = [0, 1, 2].map(|n| rig.calls()[n].id);
    progress(&mut rig, slow).await;
    let file = rig.work().join("pids");
    eventually("two processes", || pids(&file).len() == 2).await;
    rig.op(Op::Interrupt).await;
    assert!(matches!(rig.closed(prompt).await, Closed::Withdrawn { why } if why.key == "agent.interrupted"));
    assert_eq!(rig.ended_unasked().await, TurnEnd::Interrupted);
    let outcomes = rig.outcomes();
    let outcome = |id| outcomes.iter().find(|(call, _)| *call == id).unwrap().1.clone();
    assert_eq!(
        [outcome(command), outcome(echo), outcome(slow)],
        [ToolOutcome::Interrupted, ToolOutcome::Cancelled, ToolOutcome::Interrupted]
    );
    eventually("the processes to end", || pids(&file).iter().all(|pid| !alive(pid))).await;
    rig.submit("What happened?").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let next = body(&server, 2).await;
    assert_eq!(next.roles(), "user assistant tool tool tool user");
    assert_eq!([next.result("c1"), next.result("c2"), next.result("c3")], [INTERRUPTED, CANCELLED, INTERRUPTED]);
    assert!(next.told().starts_with("[The user interrupted this task.]\n\n<task>\nWhat happened?"), "{}", next.told());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_is_called_off_and_the_turn_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let entry = recorded_server("s", &[], home.path());
    let server =
        ModelServer::start(vec![calling(&[slow("c1"), echo("c2", "fine"), echo("c3", "asks")]), said("I see.")]);
    let plan = Plan::with(vec![entry])
        .rule(Effect::Allow, "s:slow")
        .rule(Effect::Ask, "s:echo(text=asks)")
        .rule(Effect::Allow, "s:echo");
    let mut rig = Rig::in_home(home, served(&server), plan, None);
    rig.submit("Run").await;
    let (prompt, asks) = rig.approval().await;
    let first = rig.calls()[0].id;
    progress(&mut rig, first).await;
    rig.op(Op::CancelCall { call: first }).await;
    assert_eq!(rig.outcome(first).await, ToolOutcome::Interrupted);
    // One that waits can be called off, too.
    rig.op(Op::CancelCall { call: asks.id }).await;
    assert!(matches!(rig.closed(prompt).await, Closed::Withdrawn { .. }));
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let next = body(&server, 2).await;
    assert_eq!([next.result("c1"), next.result("c2"), next.result("c3")], [INTERRUPTED, "fine", CANCELLED]);
    let told = received("s", rig.home.path());
    assert!(told.iter().any(|message| message["method"] == "notifications/cancelled"), "the server was told");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_does_not_wait_for_what_left_the_commands_group() {
    // It holds the command's output open for ten seconds.
    let command = "setsid sleep 10 & echo begun; wait";
    let server = ModelServer::start(vec![calling(&[("c1", "execute_command", json!({ "command": command }))])]);
    let mut rig = Rig::new(served(&server), Plan::default());
    rig.submit("Run").await;
    let call = rig.approve_next().await;
    rig.until(|event| matches!(event, Event::Tool(ToolEvent::Output { .. })).then_some(())).await;
    let began = Instant::now();
    rig.op(Op::Interrupt).await;
    // A second one does no harm.
    rig.op(Op::Interrupt).await;
    assert_eq!(rig.outcome(call.id).await, ToolOutcome::Interrupted);
    assert_eq!(rig.ended_unasked().await, TurnEnd::Interrupted);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_without_a_turn_stops_what_was_run_by_hand() {
    let server = ModelServer::start(vec![]);
    let mut rig = Rig::new(served(&server), Plan::with(vec![fixture_server("s", &[])]));
    rig.offers("s:slow").await;
    rig.op(Op::RunTool { tool: ToolId::on(&"s".into(), "slow"), arguments: json!({ "steps": 10_000, "ms": 10 }) })
        .await;
    let call = rig.until(|event| match event {
        Event::Tool(ToolEvent::Proposed { call, .. }) => Some(call.id),
        _ => None,
    });
    let call = call.await;
    progress(&mut rig, call).await;
    rig.op(Op::Interrupt).await;
    assert_eq!(rig.outcome(call).await, ToolOutcome::Interrupted);
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shutting_down_in_the_middle_ends_everything() {
    let home = tempfile::tempdir().unwrap();
    let entry = recorded_server("s", &["--grandchild"], home.path());
    let calls =
        [slow("c1"), echo("c2", "waits"), ("c3", "execute_command", json!({ "command": "echo $$ > pid; sleep 1000" }))];
    let server = ModelServer::start(vec![calling(&calls)]);
    let plan = Plan::with(vec![entry]).rule(Effect::Allow, "s:slow");
    let mut rig = Rig::in_home(home, served(&server), plan, None);
    rig.submit("Run").await;
    let (_waits, _) = rig.approval().await;
    rig.approve_next().await;
    let first = rig.calls()[0].id;
    progress(&mut rig, first).await;
    let pid = rig.work().join("pid");
    eventually("the command to run", || !pids(&pid).is_empty()).await;
    let began = Instant::now();
    let home = rig.shut_down().await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let mut all = pids(&home.path().join("work/pid"));
    all.extend(pids(&home.path().join("s.pids")));
    assert!(all.len() >= 2);
    eventually("every process to end", || all.iter().all(|pid| !alive(pid))).await;
    // The journal says what became of each.
    let kept = std::fs::read_to_string(&crate::rig::journals(home.path())[0]).unwrap();
    assert_eq!((kept.matches("\"interrupted\"").count() >= 2, kept.contains("\"cancelled\"")), (true, true), "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_one_reply_run_one_after_another() {
    let run = |id: &'static str, text: &str| (id, "execute_command", json!({ "command": text }));
    let calls = [run("c1", "sleep 0.5; echo one >> log"), run("c2", "echo two >> log"), run("c3", "cat log")];
    let server = ModelServer::start(vec![calling(&calls), said("Done.")]);
    let mut rig = Rig::new(served(&server), Plan::default());
    rig.submit("Run").await;
    // Approved in another order than they were asked for.
    let mut prompts = Vec::new();
    for _ in 0..3 {
        prompts.push(rig.approval().await.0);
    }
    for prompt in [prompts[0], prompts[2], prompts[1]] {
        rig.approve(prompt).await;
    }
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(result_text(&rig.outcomes()[2].1).contains("one\ntwo\n"), "{:?}", rig.outcomes());
    rig.shut_down().await;
}
