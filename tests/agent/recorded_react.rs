//! The ReAct loop against recorded replies of real small models.

use crate::body::bodies;
use crate::offices::{offices, played, recorded};
use crate::rig::{Plan, Rig, local};
use crate::sse_model::{Chat, ModelServer, Pace};
use mcpane::domain::conversation::TurnEnd;
use mcpane::domain::model::DialectKind;
use serde_json::json;

fn rig(server: &ModelServer) -> Rig {
    let home = tempfile::tempdir().unwrap();
    let plan = Plan::with(offices(home.path())).dialect(DialectKind::React);
    Rig::in_home(home, local(server), plan, None)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observation_that_the_model_invents_is_never_believed() {
    for name in ["qwen1.5b-host.e_react_nostop", "qwen0.5b-host.e_react_nostop", "qwen1.5b-host.e_react_call"] {
        let server =
            ModelServer::start(vec![played(name, Pace::Scaled(0.2)), recorded("qwen1.5b-host.e_react_result")]);
        let mut rig = rig(&server);
        rig.submit("What is the weather forecast for Oslo for the next 2 days?").await;
        let call = rig.approve_next().await;
        assert_eq!(call.shown_name(), "weather:get_forecast");
        assert_eq!(call.arguments, json!({ "city": "Oslo", "days": 2 }));
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
        assert_eq!(
            rig.answers(),
            "The weather forecast for Oslo for the next 2 days is: Mon: 3°C, snow; Tue: 5°C, clear"
        );
        let sent = bodies(&server);
        assert_eq!(sent[0].json["stop"], json!(["\nObservation:"]));
        sent[1].assert_continues(&sent[0]);
        let written = sent[1].history()[1]["content"].as_str().unwrap();
        assert!(
            written.starts_with("Thought: I need to get the weather forecast for Oslo")
                && written
                    .ends_with("\nAction: weather__get_forecast\nAction Input: {\"city\": \"Oslo\", \"days\": 2}"),
            "{written}"
        );
        assert!(sent[1].told().starts_with("Observation: {\"city\":\"Oslo\""), "{}", sent[1].told());
        for invented in ["sunny", "Sunny", "high of"] {
            assert!(!sent[1].raw.contains(invented) && !serde_json::to_string(&rig.seen).unwrap().contains(invented));
        }
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_loops_of_small_models() {
    let find = "List the folder notes, then read the file c.txt in it, and tell me the gate code.";
    let one = "What does the file notes/b.txt say?";
    for (name, turns, task, answer) in [
        ("qwen1.5b-host.loop-react", 2, find, "The gate code is in the file c.txt."),
        ("qwen1.5b-host.loop-react-one", 2, one, "The file notes/b.txt says: Buy milk and two lemons."),
        ("qwen1.5b-host.loop-react-error", 2, "Read notes/z.txt.", "The file notes/z.txt does not exist."),
        ("qwen0.5b-host.loop-react-one", 2, one, "Buy milk and two lemons."),
    ] {
        let script = (1..=turns).map(|turn| played(&format!("{name}.turn{turn}"), Pace::Scaled(0.02))).collect();
        let server = ModelServer::start(script);
        let mut rig = rig(&server);
        rig.submit(task).await;
        for _ in 1..turns {
            rig.approve_next().await;
        }
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done, "{name}");
        assert_eq!((rig.answers().as_str(), rig.ran().len()), (answer, turns - 1), "{name}");
        let sent = bodies(&server);
        sent.windows(2).for_each(|pair| pair[1].assert_continues(&pair[0]));
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_input_again_and_again_is_one_call() {
    // Six inputs behind one action; the first is the call, the stream is closed behind it.
    let server = ModelServer::start(vec![
        recorded("qwen0.5b-host.loop-react-error.turn5"),
        Chat::new().text("Final Answer: It is not there.").finish("stop").done(),
    ]);
    let mut rig = rig(&server);
    rig.submit("Read the file notes/z.txt. If it does not exist, say so.").await;
    let call = rig.approve_next().await;
    assert_eq!((call.shown_name().as_str(), &call.arguments), ("files:list_folder", &json!({ "path": "a.txt" })));
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!((rig.answers().as_str(), rig.calls().len()), ("It is not there.", 1));
    rig.shut_down().await;
}
