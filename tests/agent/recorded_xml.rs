//! The XML loop against recorded replies of real small models: what runs, what is asked, and the bytes of the next request.

use crate::body::{Body, bodies};
use crate::offices::{offices, played, recorded};
use crate::rig::{Plan, Rig, local, result_text};
use crate::sse_model::{Chat, ModelServer, Pace, Reply};
use mcpane::contract::event::TextKind;
use mcpane::contract::{Event, TurnEvent};
use mcpane::domain::conversation::{StepEnd, TurnEnd};
use mcpane::domain::model::FinishReason;
use mcpane::domain::prompt::{Choose, Decision};
use serde_json::{Value, json};

fn rig(server: &ModelServer) -> Rig {
    let home = tempfile::tempdir().unwrap();
    let plan = Plan::with(offices(home.path())).xml();
    Rig::in_home(home, local(server), plan, None)
}

fn completion(text: &str) -> Reply {
    Chat::new()
        .text(&format!("<attempt_completion>\n<result>\n{text}\n</result>\n</attempt_completion>"))
        .finish("stop")
        .done()
}

/// Nothing of a text is in what was shown, kept, or sent.
#[track_caller]
fn nowhere(invented: &str, rig: &Rig, sent: &[Body]) {
    let shown = serde_json::to_string(&rig.seen).unwrap();
    assert!(!shown.contains(invented), "{invented:?} was shown");
    let kept = std::fs::read_to_string(&rig.journals()[0]).unwrap();
    assert!(!kept.contains(invented), "{invented:?} was kept: {kept}");
    for body in sent {
        assert!(!body.raw.contains(invented), "{invented:?} was sent: {}", body.raw);
    }
}

struct Invention {
    name: &'static str,
    task: &'static str,
    tool: &'static str,
    arguments: Value,
    result: &'static str,
    invented: &'static [&'static str],
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_ends_with_its_first_call_and_what_it_invents_after_it_is_not_believed() {
    let oslo = "What is the weather forecast for Oslo for the next 2 days?";
    let forecast = json!({ "city": "Oslo", "days": 2 });
    let cases = [
        Invention {
            name: "qwen1.5b-host.d_xml_call",
            task: oslo,
            tool: "weather:get_forecast",
            arguments: forecast.clone(),
            result: "\"sky\":\"snow\"",
            invented: &["2023-04-01", "Sunny", "Partly"],
        },
        Invention {
            name: "qwen0.5b-host.d_xml_call",
            task: oslo,
            tool: "weather:get_forecast",
            arguments: forecast,
            result: "\"sky\":\"snow\"",
            invented: &["Good day", "22 degrees"],
        },
        Invention {
            name: "qwen1.5b-host.d_xml_read",
            task: "What is in /etc/hostname?",
            tool: "files:read_file",
            arguments: json!({ "path": "/etc/hostname" }),
            result: "box-17",
            invented: &["example.com", "Result:\\nexample"],
        },
        Invention {
            name: "qwen1.5b-host.d_xml_plain",
            task: "Say hello in French.",
            tool: "files:read_file",
            arguments: json!({ "path": "greetings/french.txt" }),
            result: "Salut",
            invented: &["Bonjour"],
        },
    ];
    for case in cases {
        let server = ModelServer::start(vec![played(case.name, Pace::Scaled(0.04)), completion("As it says.")]);
        let mut rig = rig(&server);
        rig.submit(case.task).await;
        let (prompt, call) = rig.approval().await;
        assert_eq!((call.shown_name().as_str(), &call.arguments), (case.tool, &case.arguments), "{}", case.name);
        server.wait_left(1).await;
        rig.approve(prompt).await;
        let outcome = rig.outcome(call.id).await;
        assert!(result_text(&outcome).contains(case.result), "{outcome:?}");
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
        assert_eq!((rig.answers().as_str(), rig.calls().len()), ("As it says.", 1), "{}", case.name);
        let sent = bodies(&server);
        assert_eq!(sent.len(), 2);
        sent[1].assert_continues(&sent[0]);
        case.invented.iter().for_each(|text| nowhere(text, &rig, &sent));
        insta::assert_snapshot!(format!("xml_{}", case.name), sent[1].shown());
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_a_stop_string_ended_is_the_same_call() {
    for name in ["qwen1.5b-host.d_xml_stop", "qwen0.5b-host.d_xml_stop"] {
        let server = ModelServer::start(vec![played(name, Pace::Scaled(0.2)), recorded("qwen1.5b-host.d_xml_result")]);
        let mut rig = rig(&server);
        rig.submit("What is the weather forecast for Oslo for the next 2 days?").await;
        rig.approve_next().await;
        assert_eq!(rig.ended().await, TurnEnd::Done);
        assert_eq!(rig.answers(), "The forecast for Oslo for the next 2 days is:\nMon: 3°C, snow\nTue: 5°C, clear");
        let sent = bodies(&server);
        assert!(
            sent[0].json["stop"].as_array().unwrap().contains(&json!("</use_mcp_tool>")),
            "{}",
            sent[0].json["stop"]
        );
        // The history shows the call whole.
        let written = sent[1].history()[1]["content"].as_str().unwrap();
        assert!(written.ends_with("{\"city\": \"Oslo\", \"days\": 2}\n</arguments>\n</use_mcp_tool>"), "{written}");
        insta::assert_snapshot!(format!("xml_{name}"), sent[1].shown());
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_loops_of_small_models() {
    let find = "List the folder notes, then read the file c.txt in it, and tell me the gate code.";
    let one = "What does the file notes/b.txt say?";
    let error = "Read the file notes/z.txt. If it does not exist, say so.";
    for (name, turns, task, answer) in [
        ("qwen1.5b-host.loop-xml", 3, find, "The garden gate code is 4417."),
        ("qwen1.5b-host.loop-xml-one", 2, one, "The note says: Buy milk and two lemons."),
        ("qwen1.5b-host.loop-xml-error", 2, error, "The file \"notes/z.txt\" does not exist."),
        ("qwen0.5b-host.loop-xml", 2, find, "The note says: Error: no such folder"),
        ("qwen0.5b-host.loop-xml-one", 2, one, "The note says: Error: no such folder"),
        ("qwen0.5b-host.loop-xml-error", 2, error, "The note says: Error: no such file: notes/z.txt"),
    ] {
        let script = (1..=turns).map(|turn| played(&format!("{name}.turn{turn}"), Pace::Scaled(0.02))).collect();
        let server = ModelServer::start(script);
        let mut rig = rig(&server);
        rig.submit(task).await;
        for _ in 1..turns {
            rig.approve_next().await;
        }
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done, "{name}");
        assert_eq!(rig.answers(), answer, "{name}");
        assert_eq!((rig.calls().len(), rig.ran().len()), (turns - 1, turns - 1));
        let sent = bodies(&server);
        assert_eq!(sent.len(), turns);
        sent.windows(2).for_each(|pair| pair[1].assert_continues(&pair[0]));
        insta::assert_snapshot!(format!("xml_{name}"), sent[turns - 1].shown());
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn thoughts_alone_are_reminded_twice_and_then_the_user_decides() {
    let thought = || played("qwen0.5b-host.d_xml_plain", Pace::Recorded);
    let server = ModelServer::start(vec![thought(), thought(), thought(), completion("Bonjour.")]);
    let mut rig = rig(&server);
    rig.submit("Say hello in French.").await;
    let (prompt, decision) = rig.decision().await;
    assert_eq!(decision, Decision::OffFormat);
    // The thoughts stay on the screen; in the history there is nothing of them.
    assert_eq!(rig.texts(TextKind::Thinking).matches("Bonjour !").count(), 3);
    let sent = bodies(&server);
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|body| body.roles() == "user" && !body.raw.contains("Bonjour")));
    sent.windows(2).for_each(|pair| pair[1].assert_continues(&pair[0]));
    insta::assert_snapshot!("xml_thoughts_reminded", sent[1].shown());
    rig.choose(prompt.id, Choose::Hint { text: "Just say it.".into() }).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(rig.answers(), "Bonjour.");
    let last = crate::body::body(&server, 4).await;
    assert!(last.told().ends_with("\n\nJust say it."), "{}", last.told());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reasoning_without_a_word_is_reminded_too() {
    let server = ModelServer::start(vec![recorded("qwen0.5b-host.c_think_chat"), completion("9")]);
    let mut rig = rig(&server);
    rig.submit("How many sheep are left?").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let sent = bodies(&server);
    assert_eq!(sent[1].roles(), "user");
    assert!(sent[1].told().contains("neither a tool call nor an answer"), "{}", sent[1].told());
    assert!(!sent[1].raw.contains("17 - 9"));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_cut_off_by_the_token_limit_never_runs() {
    let text = "<thinking>\nI write it.\n</thinking>\n\n<write_to_file>\n<path>a.txt</path>\n<content>\nhalf of ";
    let server = ModelServer::start(vec![
        Chat::new().words(text).finish("length").done(),
        Chat::new().text("<attempt_completion>\n<result>\nI gave").finish("length").done(),
        completion("Done."),
    ]);
    let home = tempfile::tempdir().unwrap();
    let mut rig = Rig::in_home(home, local(&server), Plan::default().xml().allow_all(), None);
    rig.submit("Write a.txt").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(rig.ran().is_empty() && !rig.work().join("a.txt").exists());
    let sent = bodies(&server);
    assert_eq!(sent[1].roles(), "user");
    assert!(sent[1].told().contains("cut off by the token limit"), "{}", sent[1].told());
    insta::assert_snapshot!("xml_cut_off", sent.last().unwrap().shown());
    // An answer that reached the limit is an answer; the reason is there for whoever reads it.
    let ends: Vec<_> = rig
        .seen
        .iter()
        .filter_map(|event| match event {
            Event::Turn(TurnEvent::StepEnded { end, reason, .. }) => Some((end.clone(), reason.clone())),
            _ => None,
        })
        .collect();
    assert!(matches!(ends[0], (StepEnd::Cut { .. }, None)), "{ends:?}");
    assert_eq!(ends[1], (StepEnd::Complete, Some(FinishReason::Length)), "{ends:?}");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_of_a_completion_always_asks() {
    let text = "<attempt_completion>\n<result>\nIt is there.\n</result>\n<command>cat made.txt</command>\n</attempt_completion>";
    let server = ModelServer::start(vec![Chat::new().text(text).finish("stop").done(), completion("Again.")]);
    let home = tempfile::tempdir().unwrap();
    let mut rig = Rig::in_home(home, local(&server), Plan::default().xml().allow_all(), None);
    std::fs::write(rig.work().join("made.txt"), "made\n").unwrap();
    rig.submit("Make it.").await;
    let (prompt, call) = rig.approval().await;
    assert_eq!((call.shown_name().as_str(), call.arguments), ("execute_command", json!({ "command": "cat made.txt" })));
    rig.approve(prompt).await;
    assert!(result_text(&rig.outcome(call.id).await).contains("made\n"));
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done, "the task is done when the command is");
    assert_eq!(bodies(&server).len(), 1);
    rig.submit("And again.").await;
    assert_eq!(rig.ended().await, TurnEnd::Done);
    insta::assert_snapshot!("xml_completion_with_command", bodies(&server)[1].shown());
    rig.shut_down().await;
}
