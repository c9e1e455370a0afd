//! The loop over every wire format but Chat Completions, which the other tests speak: what runs, what is asked, and what the next request holds.

use crate::offices::offices;
use crate::rig::{Plan, Rig, served_as};
use crate::speech::{End, OTHERS, Say, reply};
use crate::sse_model::{ModelServer, Recorded, Reply};
use mcpane::agent::journal::Journal;
use mcpane::contract::event::TextKind;
use mcpane::contract::{Event, Op, TurnEvent};
use mcpane::domain::Usage;
use mcpane::domain::conversation::{StepEnd, TurnEnd};
use mcpane::domain::model::{FinishReason, ModelErrorKind};
use mcpane::domain::prompt::{Choose, Decision};
use mcpane::redact::Redactor;
use serde_json::{Value, json};

const FORECAST: &str = "weather__get_forecast";

fn rig(provider: &str, server: &ModelServer, plan: fn(Plan) -> Plan) -> Rig {
    let home = tempfile::tempdir().unwrap();
    let plan = plan(Plan::with(offices(home.path())));
    Rig::in_home(home, served_as(provider, server), plan, None)
}

fn oslo() -> Say {
    Say::Call("call_oslo", FORECAST, json!({ "city": "Oslo", "days": 1 }))
}

fn paris() -> Say {
    Say::Call("call_paris", FORECAST, json!({ "city": "Paris", "days": 1 }))
}

/// Where each format sends its requests.
fn path(provider: &str) -> &'static str {
    match provider {
        "anthropic" => "/v1/messages",
        "gemini" => "/v1beta/models/test-model:streamGenerateContent?alt=sse",
        "ollama" => "/api/chat",
        _ => "/v1/responses",
    }
}

/// The calls and results of a request, and whether a signed thought came with them: `call NAME ARGUMENTS`, `result TEXT`, `signed`.
fn history(provider: &str, request: &Recorded) -> Vec<String> {
    assert_eq!(request.path, path(provider));
    let body = request.json();
    let list = match provider {
        "gemini" => &body["contents"],
        "openai-responses" => &body["input"],
        _ => &body["messages"],
    };
    let mut out = Vec::new();
    for message in list.as_array().unwrap() {
        match provider {
            "anthropic" => message["content"].as_array().unwrap().iter().for_each(|block| anthropic(block, &mut out)),
            "gemini" => message["parts"].as_array().unwrap().iter().for_each(|part| gemini(part, &mut out)),
            "ollama" => ollama(message, &mut out),
            _ => responses(message, &mut out),
        }
    }
    out
}

fn call(name: &Value, arguments: &Value) -> String {
    format!("call {} {}", name.as_str().unwrap(), arguments["city"].as_str().unwrap())
}

fn result(text: &Value) -> String {
    format!("result {}", text.as_str().unwrap())
}

fn anthropic(block: &Value, out: &mut Vec<String>) {
    match block["type"].as_str().unwrap() {
        "tool_use" => out.push(call(&block["name"], &block["input"])),
        "tool_result" => out.push(result(&block["content"][0]["text"])),
        "thinking" => {
            out.push(format!("signed {} {}", block["thinking"].as_str().unwrap(), block["signature"].as_str().unwrap()))
        }
        _ => {}
    }
}

fn gemini(part: &Value, out: &mut Vec<String>) {
    if let Some(signature) = part["thoughtSignature"].as_str() {
        out.push(format!("signed {signature}"));
    }
    if let Some(made) = part.get("functionCall") {
        out.push(call(&made["name"], &made["args"]));
    }
    if let Some(response) = part.get("functionResponse") {
        out.push(result(&response["response"]["output"]));
    }
}

fn ollama(message: &Value, out: &mut Vec<String>) {
    if let Some(thought) = message["thinking"].as_str() {
        out.push(format!("thought {thought}"));
    }
    for made in message["tool_calls"].as_array().into_iter().flatten() {
        out.push(call(&made["function"]["name"], &made["function"]["arguments"]));
    }
    if message["role"] == "tool" {
        out.push(result(&message["content"]));
    }
}

fn responses(item: &Value, out: &mut Vec<String>) {
    match item["type"].as_str().unwrap() {
        "function_call" => {
            out.push(call(&item["name"], &serde_json::from_str(item["arguments"].as_str().unwrap()).unwrap()));
        }
        "function_call_output" => out.push(result(&item["output"])),
        "reasoning" => out.push(format!("signed {}", item["encrypted_content"].as_str().unwrap())),
        _ => {}
    }
}

/// How a thought comes back in each format.
fn signed(provider: &str) -> &'static str {
    match provider {
        "anthropic" => "signed I need the forecast. c2lnbmVk",
        "ollama" => "thought I need the forecast.",
        _ => "signed c2lnbmVk",
    }
}

fn usages(rig: &Rig) -> Vec<Usage> {
    let pick = |event: &Event| match event {
        Event::Turn(TurnEvent::StepEnded { usage, .. }) => Some(*usage),
        _ => None,
    };
    rig.seen.iter().filter_map(pick).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thought_a_call_its_result_and_an_answer() {
    for provider in OTHERS {
        let server = ModelServer::start(vec![
            reply(provider, &[Say::Think("I need the forecast."), oslo()], End::Done),
            reply(provider, &[Say::Text("It "), Say::Text("snows in Oslo.")], End::Done),
        ]);
        let mut rig = rig(provider, &server, |plan| plan);
        rig.submit("What is the weather in Oslo?").await;
        let call = rig.approve_next().await;
        assert_eq!(
            (call.shown_name().as_str(), &call.arguments),
            ("weather:get_forecast", &json!({ "city": "Oslo", "days": 1 }))
        );
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done, "{provider}");
        assert_eq!(
            (rig.texts(TextKind::Thinking).as_str(), rig.answers().as_str()),
            ("I need the forecast.", "It snows in Oslo.")
        );
        let sent = server.requests_now();
        assert_eq!(history(provider, &sent[0]), Vec::<String>::new());
        let expected = [signed(provider).to_owned(), format!("call {FORECAST} Oslo"), "result Oslo: snow".to_owned()];
        assert_eq!(history(provider, &sent[1]), expected, "{provider}");
        let used = usages(&rig)[0];
        assert_eq!((used.input, used.output), (100, 25), "{provider}");
        assert_eq!(used.cached, if provider == "ollama" { 0 } else { 90 }, "{provider}");
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_calls_are_answered_each_by_its_own() {
    for provider in OTHERS {
        let server = ModelServer::start(vec![
            reply(provider, &[Say::Text("Both."), oslo(), paris()], End::Done),
            reply(provider, &[Say::Text("Done.")], End::Done),
        ]);
        let mut rig = rig(provider, &server, |plan| plan);
        rig.submit("What is the weather in Oslo and in Paris?").await;
        let (first, one) = rig.approval().await;
        let (second, two) = rig.approval().await;
        assert_eq!((&one.arguments["city"], &two.arguments["city"]), (&json!("Oslo"), &json!("Paris")));
        // The other way round.
        rig.approve(second).await;
        rig.outcome(two.id).await;
        rig.approve(first).await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done, "{provider}");
        let told: Vec<String> = history(provider, &server.requests_now()[1])
            .into_iter()
            .filter(|line| !line.starts_with("signed"))
            .collect();
        let calls = [format!("call {FORECAST} Oslo"), format!("call {FORECAST} Paris")];
        assert_eq!(told[..2], calls, "{provider}");
        assert_eq!(told[2..], ["result Oslo: snow", "result Paris: rain"], "{provider}");
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_inside_a_reply_is_tried_again() {
    for provider in OTHERS {
        let server = ModelServer::start(vec![
            reply(provider, &[], End::Error),
            reply(provider, &[Say::Text("At last.")], End::Done),
        ]);
        let mut rig = rig(provider, &server, |plan| plan);
        rig.submit("Hello").await;
        let (prompt, decision) = rig.decision().await;
        let Decision::Retry { attempt: 1, of: 5, error } = decision else { panic!("{provider}: {decision:?}") };
        let kind = if matches!(provider, "anthropic" | "gemini") {
            ModelErrorKind::Overloaded
        } else {
            ModelErrorKind::Server
        };
        assert_eq!((error.kind, error.message.as_str()), (kind, "Overloaded"), "{provider}");
        rig.choose(prompt.id, Choose::Continue).await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
        assert_eq!(rig.answers(), "At last.");
        let sent = server.requests_now();
        assert_eq!(sent[0].body, sent[1].body, "{provider}: the very same request");
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_cut_keeps_what_came_and_runs_nothing() {
    for provider in OTHERS {
        let server = ModelServer::start(vec![
            reply(provider, &[Say::Text("One moment."), oslo()], End::Cut),
            reply(provider, &[Say::Text("Here it is.")], End::Done),
        ]);
        let mut rig = rig(provider, &server, Plan::allow_all);
        rig.submit("What is the weather in Oslo?").await;
        let (prompt, decision) = rig.decision().await;
        let Decision::StreamCut { error } = decision else { panic!("{provider}: {decision:?}") };
        assert_eq!(error.kind, ModelErrorKind::Cut, "{provider}");
        assert_eq!(rig.answers(), "One moment.");
        assert!(rig.ran().is_empty());
        rig.choose(prompt.id, Choose::Continue).await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
        assert_eq!(
            history(provider, &server.requests_now()[1]),
            Vec::<String>::new(),
            "{provider}: no half reply in the history"
        );
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_the_limit_cut_off_never_runs() {
    // The other two never show half a call.
    for provider in ["anthropic", "openai-responses"] {
        let half = Say::Half("call_oslo", FORECAST, "{\"city\": \"Oslo\", \"da");
        let server = ModelServer::start(vec![
            reply(provider, &[half], End::Limit),
            reply(provider, &[Say::Text("I cannot.")], End::Done),
        ]);
        let mut rig = rig(provider, &server, Plan::allow_all);
        rig.submit("What is the weather in Oslo?").await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done, "{provider}");
        assert!(rig.ran().is_empty() && rig.calls().is_empty(), "{provider}");
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_the_provider_holds_back_ends_the_turn() {
    let refusal = json!({ "type": "message_delta", "delta": { "stop_reason": "refusal" } });
    let server =
        ModelServer::start(vec![Reply::sse(format!("data: {refusal}\n\ndata: {{\"type\":\"message_stop\"}}\n\n"))]);
    let mut rig = rig("anthropic", &server, |plan| plan);
    rig.submit("Hello").await;
    let end = rig.ended_unasked().await;
    let TurnEnd::Failed { problem } = end else { panic!("{end:?}") };
    assert_eq!(&*problem.key, "agent.filtered");
    let ended = rig.seen.iter().find_map(|event| match event {
        Event::Turn(TurnEvent::StepEnded { end, reason, .. }) => Some((end.clone(), reason.clone())),
        _ => None,
    });
    assert!(matches!(ended, Some((StepEnd::Cut { .. }, Some(FinishReason::Filtered)))), "{ended:?}");
    assert_eq!(server.requests_now().len(), 1, "it is not asked again");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn thoughts_that_nobody_can_read_survive_the_session() {
    let redacted = json!({ "type": "redacted_thinking", "data": "ZGF0YQ==" });
    let start = json!({ "type": "content_block_start", "index": 0, "content_block": redacted });
    let call = String::from_utf8(body_of("anthropic", &[oslo()])).unwrap().replace("\"index\":0", "\"index\":1");
    let first = format!("data: {start}\n\ndata: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n{call}");
    let answer = || reply("anthropic", &[Say::Text("Snow.")], End::Done);
    let server = ModelServer::start(vec![Reply::sse(first), answer(), answer()]);
    let mut first = rig("anthropic", &server, Plan::allow_all);
    first.submit("What is the weather in Oslo?").await;
    assert_eq!(first.ended_unasked().await, TurnEnd::Done);
    assert_eq!(first.texts(TextKind::Thinking), "");
    let block = |request: &Recorded| request.json()["messages"][1]["content"][0].clone();
    assert_eq!(block(&server.requests_now()[1]), redacted);
    let home = first.shut_down().await;
    let resumed = Journal::resume(&crate::rig::journals(home.path())[0], Redactor::default()).unwrap();
    let plan = Plan::with(offices(home.path())).allow_all();
    let mut again = Rig::in_home(home, served_as("anthropic", &server), plan, Some(resumed));
    again.submit("And now?").await;
    assert_eq!(again.ended_unasked().await, TurnEnd::Done);
    assert_eq!(block(&server.requests_now()[2]), redacted);
    again.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn thoughts_go_back_only_to_the_model_that_had_them() {
    let turn = |provider: &str, city: Say| {
        vec![
            reply(provider, &[Say::Think("I need the forecast."), city], End::Done),
            reply(provider, &[Say::Text("Snow.")], End::Done),
        ]
    };
    let claude = ModelServer::start([turn("anthropic", oslo()), turn("anthropic", oslo())].concat());
    let gemini = ModelServer::start(turn("gemini", paris()));
    let home = tempfile::tempdir().unwrap();
    let models = vec![served_as("gemini", &gemini), served_as("anthropic", &claude)];
    let plan = Plan { models, ..Plan::with(offices(home.path())).allow_all() };
    let mut rig = Rig::in_home(home, served_as("anthropic", &claude), plan, None);
    for (model, task) in [(None, "Oslo?"), (Some("gemini"), "Paris?"), (Some("anthropic"), "Oslo again?")] {
        if let Some(model) = model {
            rig.op(Op::UseModel { model: format!("{model}:test-model") }).await;
        }
        rig.submit(task).await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done, "{task}");
    }
    let own = signed("anthropic").to_owned();
    let (called, told) = (format!("call {FORECAST} Oslo"), "result Oslo: snow".to_owned());
    let (called_there, told_there) = (format!("call {FORECAST} Paris"), "result Paris: rain".to_owned());
    // What the other model did is there, unsigned.
    let there = history("gemini", &gemini.requests_now()[1]);
    let theirs = signed("gemini").to_owned();
    assert_eq!(there, [called.clone(), told.clone(), theirs, called_there.clone(), told_there.clone()]);
    let back = history("anthropic", &claude.requests_now()[3]);
    let before = [own.clone(), called.clone(), told.clone(), called_there, told_there];
    assert_eq!(back, [&before[..], &[own, called, told]].concat());
    rig.shut_down().await;
}

/// The bytes of a reply.
fn body_of(provider: &str, says: &[Say]) -> Vec<u8> {
    crate::speech::bytes(provider, says, End::Done)
}
