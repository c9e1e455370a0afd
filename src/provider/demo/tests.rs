use super::*;
use crate::domain::Content;
use crate::domain::model::{CallRef, FinishReason, Message, ToolDecl};
use futures::StreamExt;
use serde_json::{Value, json};
use std::sync::Arc;

const TOOLS: [&str; 9] = [
    "ask_followup_question",
    "demo__deploy",
    "demo__get_alerts",
    "demo__get_forecast",
    "demo__get_memory_usage",
    "demo__read_hosts_file",
    "demo__register",
    "demo__slow_job",
    "write_to_file",
];

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)] }
}

fn task(text: &str) -> Message {
    user(&format!("<task>\n{text}\n</task>\n\n<environment_details>\nFiles here:\nweather.md\n</environment_details>"))
}

fn native(messages: Vec<Message>) -> Request {
    let decl = |name: &&str| ToolDecl {
        name: (*name).to_owned(),
        description: String::new(),
        schema: Arc::new(json!({ "type": "object" })),
    };
    Request { tools: TOOLS.iter().map(decl).collect(), messages, ..Request::default() }
}

fn xml(messages: Vec<Message>) -> Request {
    let system = format!("<use_mcp_tool> <attempt_completion> {}", TOOLS.join(" "));
    Request { system, messages, ..Request::default() }
}

fn called(name: &str, id: &str, arguments: Value) -> Message {
    let calls = vec![CallRef { id: id.to_owned(), name: name.to_owned(), arguments }];
    Message::Assistant { text: String::new(), reasoning: None, opaque: Vec::new(), calls }
}

fn result(text: &str, is_error: bool) -> Message {
    Message::Tool { call: "1".into(), name: "x".into(), content: vec![Content::text(text)], is_error }
}

/// A reply put together: thought, text, calls (name and arguments), reason.
#[derive(Debug, Default, PartialEq)]
struct Whole {
    thought: String,
    text: String,
    calls: Vec<(String, String)>,
    pieces: usize,
    reason: Option<FinishReason>,
}

fn ask(request: Request) -> Whole {
    let events = futures::executor::block_on(async {
        let stream = Demo::with_pace(Duration::ZERO).stream(request).await.unwrap();
        stream.map(Result::unwrap).collect::<Vec<_>>().await
    });
    let mut whole = Whole::default();
    for event in events {
        assert_eq!(whole.reason, None, "something follows the end");
        match event {
            StreamEvent::Reasoning { text } => whole.thought.push_str(&text),
            StreamEvent::Text { text } => whole.text.push_str(&text),
            StreamEvent::CallStart { slot, name, id } => {
                assert!(slot as usize == whole.calls.len() && id.is_some());
                whole.calls.push((name, String::new()));
            }
            StreamEvent::CallArguments { slot, text } => {
                whole.pieces += 1;
                whole.calls[slot as usize].1.push_str(&text);
            }
            StreamEvent::Finish { reason } => whole.reason = Some(reason),
            _ => {}
        }
    }
    whole
}

fn call(whole: &Whole) -> (&str, Value) {
    assert_eq!((whole.calls.len(), &whole.reason), (1, &Some(FinishReason::ToolCalls)));
    assert!(!whole.thought.is_empty() && whole.text.is_empty());
    (&whole.calls[0].0, serde_json::from_str(&whole.calls[0].1).unwrap())
}

const FORECAST: &str = "New York\nToday: 22 °C, partly cloudy\nTomorrow: 24 °C, clear\nThe day after tomorrow: 19 °C, showers\n(Sample data.)";

#[test]
fn weather_to_a_file_natively() {
    for (words, heading, answer) in [
        (
            "What is the weather in New York tomorrow? Write it to result.md",
            "# Weather",
            "It is written to `result.md`.",
        ),
        ("纽约明天的天气怎么样？把结果写入 result.md", "# 纽约明天的天气", "已写入 `result.md`。"),
    ] {
        let mut messages = vec![task("deploy"), result("old", false), task(words)];
        let first = ask(native(messages.clone()));
        let place = json!({ "latitude": 41.7128, "longitude": -74.006 });
        assert_eq!(call(&first), ("demo__get_forecast", place.clone()));
        assert!(first.pieces > 1);

        messages.extend([called("demo__get_forecast", "1", place), result(FORECAST, false)]);
        let second = ask(native(messages.clone()));
        let (name, arguments) = call(&second);
        assert_eq!((name, arguments["path"].as_str()), ("write_to_file", Some("result.md")));
        let content = arguments["content"].as_str().unwrap();
        assert!(
            content.starts_with(heading) && content.ends_with("\n\nTomorrow: 24 °C, clear\n(Sample data.)\n"),
            "{content}"
        );

        messages.extend([called("write_to_file", "2", arguments), result("Written.", false)]);
        let third = ask(native(messages));
        assert!(third.text.contains("24 °C") && third.text.ends_with(answer), "{}", third.text);
        assert_eq!((third.calls.len(), third.reason), (0, Some(FinishReason::Stop)));
    }
}

#[test]
fn weather_to_a_file_in_xml() {
    let mut messages = vec![task("纽约明天的天气怎么样？把结果写入 result.md")];
    let first = ask(xml(messages.clone()));
    assert!(
        first.thought.is_empty() && first.text.starts_with("<thinking>\n") && first.reason == Some(FinishReason::Stop)
    );
    assert!(first.text.ends_with(
        "</thinking>\n\n<use_mcp_tool>\n<server_name>demo</server_name>\n<tool_name>get_forecast</tool_name>\n<arguments>\n\
         {\"latitude\":41.7128,\"longitude\":-74.006}\n</arguments>\n</use_mcp_tool>"
    ));
    messages.extend([
        called("", "", json!({})),
        user(&format!(
            "[use_mcp_tool for 'demo'] Result:\n{FORECAST}\n\n<environment_details>\nx\n</environment_details>"
        )),
    ]);
    let second = ask(xml(messages.clone()));
    assert!(second.text.ends_with(
        "<write_to_file>\n<path>result.md</path>\n<content># 纽约明天的天气\n\nTomorrow: 24 °C, clear\n(Sample data.)\n</content>\n</write_to_file>"
    ), "{}", second.text);
    messages.extend([called("", "", json!({})), user("[write_to_file for 'result.md'] Result:\nok")]);
    let third = ask(xml(messages.clone()));
    assert!(third.text.ends_with("已写入 `result.md`。\n</result>\n</attempt_completion>"), "{}", third.text);

    messages.pop();
    messages
        .push(user("[write_to_file for 'result.md'] Result:\nThe user rejected this call; it did not run. Reason: no"));
    let refused = ask(xml(messages));
    assert!(refused.text.contains("> The user rejected this call; it did not run. Reason: no"), "{}", refused.text);
    assert!(refused.text.contains("<attempt_completion>") && !refused.text.contains("24 °C"));
}

#[test]
fn a_refused_call_is_told_and_nothing_is_made_up() {
    let weather = || task("weather in New York, save it");
    let refused = ask(native(vec![weather(), result("The user rejected this call; it did not run.", true)]));
    assert!(
        refused.calls.is_empty()
            && refused.text.contains("get_forecast")
            && refused.text.contains("> The user rejected")
    );
    let by_hand = "The user did not run the tool and wrote this result by hand:\nrain";
    let (_, arguments) = {
        let whole = ask(native(vec![weather(), result(by_hand, false)]));
        let (name, arguments) = call(&whole);
        (name.to_owned(), arguments)
    };
    assert_eq!(arguments["content"], "# Weather in New York tomorrow\n\nrain\n");
    let missing = ask(Request { messages: vec![weather()], ..Request::default() });
    assert!(missing.text.contains("`get_forecast`, and it is not offered"), "{}", missing.text);
}

#[test]
fn single_tools_by_key_word_in_both_languages() {
    for (words, tool) in [
        ("deploy", "demo__deploy"),
        ("请部署一下", "demo__deploy"),
        ("register", "demo__register"),
        ("注册", "demo__register"),
        ("slow job", "demo__slow_job"),
        ("慢任务", "demo__slow_job"),
        ("Are there weather alerts?", "demo__get_alerts"),
        ("有没有天气预警？", "demo__get_alerts"),
        ("memory", "demo__get_memory_usage"),
        ("show the hosts file", "demo__read_hosts_file"),
        ("What is the weather in Oslo?", "demo__get_forecast"),
    ] {
        let first = ask(native(vec![task(words)]));
        assert_eq!(call(&first).0, tool, "{words}");
        let done = ask(native(vec![task(words), result("answer 42", false)]));
        assert!(done.calls.is_empty() && done.text.contains("answer 42"), "{words}: {}", done.text);
    }
    let oslo = ask(native(vec![task("weather in Oslo"), result("24", false)]));
    assert!(oslo.text.contains("knows only New York"));
}

#[test]
fn two_calls_at_once_natively_and_one_by_one_in_xml() {
    let words = "How much memory is in use, and what is in the hosts file?";
    let first = ask(native(vec![task(words)]));
    let names: Vec<&str> = first.calls.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["demo__get_memory_usage", "demo__read_hosts_file"]);
    let done = ask(native(vec![task(words), result("5 GB", false), result("The user rejected this call.", true)]));
    assert!(done.text.contains("> 5 GB") && done.text.contains("`read_hosts_file` gave no result"), "{}", done.text);

    let second = ask(xml(vec![task(words), user("[use_mcp_tool for 'demo'] Result:\n5 GB")]));
    assert!(second.text.contains("<tool_name>read_hosts_file</tool_name>"));
}

#[test]
fn a_question_with_options() {
    let asked = ask(native(vec![task("ask me a question")]));
    let (name, arguments) = call(&asked);
    assert_eq!((name, arguments["options"].as_array().map(Vec::len)), ("ask_followup_question", Some(3)));
    let text = ask(xml(vec![task("问我一个问题")])).text;
    let options = text.split("<options>").nth(1).unwrap().split("</options>").next().unwrap();
    assert_eq!(serde_json::from_str::<Vec<String>>(options).unwrap().len(), 3);
    let done = ask(native(vec![task("ask me a question"), result("Forms", false)]));
    assert!(done.text.starts_with("Your answer: Forms"));
}

#[test]
fn anything_else_gets_an_honest_sentence() {
    for (words, part) in [
        ("help", "I am a scripted model"),
        ("你好", "我是一个照脚本行事的演示模型"),
        ("嗨", "我是一个照脚本行事的演示模型"),
        ("Write me a poem", "my script has nothing for that"),
        ("写一首诗", "脚本里没有这件事"),
    ] {
        let told = ask(native(vec![task(words)]));
        assert!(told.calls.is_empty() && told.text.contains(part), "{words}: {}", told.text);
        // The phrases it proposes are phrases that it knows.
        for phrase in told.text.split('`').skip(1).step_by(2) {
            let played = ask(native(vec![task(phrase)]));
            assert!(!played.calls.is_empty(), "{phrase}");
        }
    }
    assert!(ask(Request::default()).text.contains("scripted"));
}

#[tokio::test]
async fn it_speaks_at_a_human_pace() {
    assert!((20..=40).contains(&PACE.as_millis()));
    let start = std::time::Instant::now();
    let stream = Demo::default().stream(native(vec![task("deploy")])).await.unwrap();
    let spoken = stream.filter(|event| std::future::ready(!matches!(event, Ok(StreamEvent::Alive))));
    assert_eq!(spoken.take(8).count().await, 8);
    assert!(start.elapsed() >= PACE * 8, "{:?}", start.elapsed());
}

#[test]
fn reminders_are_no_tasks_and_a_task_left_alone_is_passed_over() {
    let reminded = ask(native(vec![task("deploy"), result("fine", false), user("Remember the format.")]));
    assert!(reminded.text.contains("> fine"), "{}", reminded.text);
    // The dialects join two messages of the user's.
    let Message::User { content } = task("deploy") else { unreachable!() };
    let first = crate::domain::content::plain(&content);
    let joined = user(&format!("{first}\n\n[The user interrupted this task.]\n\n<task>\nregister\n</task>"));
    assert_eq!(call(&ask(native(vec![joined.clone()]))).0, "demo__register");
    assert!(ask(xml(vec![joined])).text.contains("<tool_name>register</tool_name>"));
    let untagged = ask(native(vec![user("deploy")]));
    assert_eq!(call(&untagged).0, "demo__deploy");
}
