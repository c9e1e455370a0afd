//! ReAct in plain text: what a reply means.

use crate::dialect_support::*;
use mcpane::dialect::react::{React, ReactParser};
use mcpane::dialect::{Flow, Parser};
use mcpane::domain::Origin;
use mcpane::domain::model::{Arguments, FinishReason, ModelEvent, StreamEvent};
use serde_json::{Value, json};

const OSLO: &str = "Action: weather__get_forecast\nAction Input: {\"latitude\": 41.7128, \"longitude\": -74.006}";

fn place() -> Value {
    json!({"latitude": 41.7128, "longitude": -74.006})
}

#[test]
fn the_seed_of_it_word_for_word() {
    let events = react(
        "Thought: 我需要获取纽约的天气\nAction: get_forecast({\"latitude\": 41.7128, \"longitude\": -74.006})\nObservation: 99",
    );
    assert_eq!(thoughts(&events), "我需要获取纽约的天气");
    assert_eq!(call(&events), ("get_forecast".to_owned(), place()));
    assert_eq!((calls(&events)[0].origin, answers(&events).as_str()), (Origin::React, ""));
    let events = react("Thought: 任务已完成\nFinal Answer: 纽约明天的天气是24摄氏度。");
    assert_eq!(
        (thoughts(&events).as_str(), answers(&events).as_str(), completion(&events)),
        ("任务已完成", "纽约明天的天气是24摄氏度。", Some(None))
    );
}

#[test]
fn the_examples_in_both_languages() {
    for (thought, said) in [("I need the weather.", "It will be 24 °C."), ("需要查询天气。", "明天 24 ℃。")]
    {
        let events = react(&format!("Thought: {thought}\n{OSLO}"));
        assert_eq!(thoughts(&events), thought);
        assert_eq!(call(&events), ("weather__get_forecast".to_owned(), place()));
        assert_eq!(events.last(), Some(&ModelEvent::Finished { reason: FinishReason::Closed }));
        // Thinking before the end is forgotten.
        let events = react(&format!("Final Answer: {said}"));
        assert_eq!((answers(&events), completion(&events)), (said.to_owned(), Some(None)));
        assert_eq!(thoughts(&events), "");
    }
    let write = "Thought: 还需要写入文件。\nAction: write_to_file\nAction Input: {\"path\": \"result.md\", \"content\": \"# 纽约\\n\\n24 °C\\n\"}";
    let expected = json!({"path": "result.md", "content": "# 纽约\n\n24 °C\n"});
    assert_eq!(call(&react(write)), ("write_to_file".to_owned(), expected));
}

#[test]
fn however_the_markers_are_written() {
    for reply in [
        format!("thought: t\n{}", OSLO.to_lowercase()),
        format!("**Thought:** t\n\n**Action:** weather__get_forecast\n**Action Input:** {}", place()),
        format!("### Thought: t\n### Action: `weather__get_forecast`\n### Action Input:\n```json\n{}\n```", place()),
        format!("思考：t\n行动：weather__get_forecast\n行动输入：{}", place()),
        format!("Thought： t\nAction： weather.get_forecast\nAction Input： {}", place()),
        format!("```\nThought: t\n{OSLO}\n```"),
        format!("```text\nThought: t\n{OSLO}"),
        format!("Thought: t\nAction: weather:get_forecast {}", place()),
        "Thought: t\nAction: get_forecast(latitude=41.7128, longitude=-74.006)".to_owned(),
        format!("Thought: t\nAction: get_forecast (of the weather)\nAction Input: {}", place()),
        format!("Thought: t\nAction: get_forecast\n{}", place()),
        format!("Thought: t\nAction:\nget_forecast\n\nAction Input:\n\n{}", place()),
        format!("Thought: t\nAction:\n```json\n{{\"action\": \"get_forecast\", \"action_input\": {}}}\n```", place()),
        format!("Thought: t\nAction: {{\"tool\": \"get_forecast\", \"arguments\": {}}}", place()),
        "Thought: t\nAction: get_forecast\nAction Input: {\"latitude\": 41.7128,\n  \"longitude\": -74.006,\n}"
            .to_owned(),
    ] {
        for size in [1, 5, reply.len()] {
            let (events, flow) = read(&React, chunks(pieces(&reply, size), FinishReason::Stop));
            assert_eq!((thoughts(&events).as_str(), answers(&events).as_str()), ("t", ""), "{reply}");
            let calls = calls(&events);
            assert_eq!((calls.len(), flow), (1, Flow::Stop), "{reply}\n{events:?}");
            assert!(calls[0].name.ends_with("get_forecast"), "{events:?}");
            assert_eq!(calls[0].arguments, Arguments::Parsed { value: place() }, "{reply}");
            assert_eq!(calls[0].origin, Origin::React);
        }
    }
}

#[test]
fn inputs_that_are_no_json() {
    for (reply, name, arguments) in [
        ("Action: read_file\nAction Input: notes/b.txt", "read_file", json!({"path": "notes/b.txt"})),
        (
            "Action: read_file\nAction Input: path: notes/b.txt\nObservation: x",
            "read_file",
            json!({"path": "notes/b.txt"}),
        ),
        ("Action: read_file[notes/b.txt]", "read_file", json!({"path": "notes/b.txt"})),
        (
            "Action: get_forecast\nAction Input:\n  latitude: 1\n  longitude: 2\n\nObservation: 3",
            "get_forecast",
            json!({"latitude": "1", "longitude": "2"}),
        ),
        ("Action: table", "table", json!({})),
        ("Action: table\nAction Input:", "table", json!({})),
        ("Action: table()\n", "table", json!({})),
        (
            "Action: write_to_file\nAction Input:\npath: a.md\ncontent: # A\n\nb: c\nAn Action: none\nObservation: Wrote it.\nThought: done",
            "write_to_file",
            json!({"path": "a.md", "content": "# A\n\nb: c\nAn Action: none"}),
        ),
        ("Action: execute_command\nAction Input: `ls -la`", "execute_command", json!({"command": "`ls -la`"})),
    ] {
        assert_eq!(call(&react(reply)), (name.to_owned(), arguments), "{reply}");
    }
}

#[test]
fn nothing_behind_the_input_is_believed() {
    for behind in [
        "\nObservation: 99\nThought: I know\nFinal Answer: 99",
        "\n\nFinal Answer: 99",
        "} ]",
        "\nAction: read_file\nAction Input: {}",
    ] {
        let events = react(&format!("Thought: t\n{OSLO}{behind}"));
        assert_eq!((call(&events).1, answers(&events)), (place(), String::new()), "{behind}");
        assert_eq!(completion(&events), None);
    }
    for behind in
        ["\nObservation: 99", "\nThought: Let me check that.\nAction: read_file\nAction Input: {\"path\": \"a\"}"]
    {
        let (events, flow) = read(&React, chunks([&*format!("Final Answer: 24{behind}")], FinishReason::Stop));
        assert_eq!((answers(&events).as_str(), completion(&events), flow), ("24", Some(None), Flow::Stop), "{behind}");
        assert!(calls(&events).is_empty());
    }
    // A result that the model made up before it called anything.
    for reply in ["Thought: t\nObservation: 99\nFinal Answer: 99", "Observation: 99"] {
        let events = react(reply);
        assert!(answers(&events).is_empty() && reminder(&events).unwrap().contains("neither an action"), "{events:?}");
    }
}

#[test]
fn text_is_text() {
    for reply in [
        "Bonjour !",
        "Thoughtful people say:\nActions speak. An Action: here",
        "> Action: read_file\n> Action Input: {}",
        "- Action: buy milk\n- Thought: none",
        "This is ReAct:\n```\nThought: t\nAction: read_file\nAction Input: {\"path\": \"a\"}\nObservation: x\n```\nThat is all.",
        "    Action: read_file\n",
        "Action",
        "**",
    ] {
        let events = react(reply);
        assert_eq!(answers(&events), reply.trim_end_matches('\n'), "{reply}");
        assert!(calls(&events).is_empty() && reminder(&events).is_none(), "{events:?}");
    }
    let answer = "See:\n```\nObservation: x\nThought: y\n```\nand\nAction: this is no tool";
    let events = react(&format!("Final Answer: {answer}"));
    assert_eq!((answers(&events).as_str(), completion(&events)), (answer, Some(None)));
    let thought = "I could do\n> Action: read_file\nor\n```py\nx = 1\nAction: no\n```\nbut no.";
    let events = react(&format!("Thought: {thought}\nFinal Answer: x"));
    assert_eq!((thoughts(&events).as_str(), answers(&events).as_str()), (thought, "x"));
}

#[test]
fn text_before_the_first_marker_is_an_answer_and_an_action_in_a_fence_behind_a_thought_asks() {
    let events = react(&format!("Let me look.\n\n{OSLO}"));
    assert_eq!((answers(&events).as_str(), call(&events).1), ("Let me look.", place()));
    assert_eq!(calls(&events)[0].origin, Origin::React);
    let events = react(&format!("Thought: I look.\n```\n{OSLO}\n```"));
    assert_eq!((thoughts(&events).as_str(), calls(&events)[0].origin), ("I look.", Origin::Recovered));
    let events = react("```\nThought: t\nFinal Answer: a\nb\n```");
    assert_eq!((answers(&events).as_str(), completion(&events)), ("a\nb", Some(None)));
}

#[test]
fn replies_against_the_format() {
    for (reply, told) in [
        ("Thought: hm", "neither an action nor a final answer"),
        ("", "neither an action nor a final answer"),
        ("Thought: t\nAction: I look at the file\nAction Input: {}", "must name one tool"),
        ("Thought: t\nAction:\nObservation: x", "neither \"tool\" nor"),
        ("Thought: t\nAction Input: {}", "must name one tool"),
    ] {
        let events = react(reply);
        let reminder = reminder(&events).unwrap_or_else(|| panic!("{reply}: {events:?}"));
        assert!(reminder.contains(told) && reminder.contains("Final Answer: your final answer"), "{reply}: {reminder}");
        assert!(calls(&events).is_empty(), "{reply}");
    }
    for (reply, problem) in [
        ("Action: read_file\nAction Input: {\"path\": }", "not valid JSON"),
        ("Action: read_file\nAction Input: {\"path\": \"a\"", "not valid JSON"),
        ("Action: read_file({\"path\": \"a\"", "a bracket is missing"),
        ("Action: read_file\nAction Input: {\"path\": \"a\"\nObservation: x\nThought: y\n", "not valid JSON"),
        ("Action: get_forecast\nAction Input: Oslo", "must be one JSON object"),
    ] {
        let events = react(reply);
        let calls = calls(&events);
        assert_eq!(calls.len(), 1, "{reply}: {events:?}");
        assert!(
            matches!(&calls[0].arguments, Arguments::Malformed { problem: found, .. } if found.contains(problem)),
            "{reply}: {events:?}"
        );
        assert!(!answers(&events).contains("Observation"));
    }
}

#[test]
fn a_finish_where_a_tool_belongs_is_an_answer() {
    for reply in [
        "Thought: t\nAction: Final Answer\nAction Input: It is 24.",
        "Thought: t\nAction: Finish[It is 24.]",
        "Thought: t\nAction: final_answer\nAction Input: {\"answer\": \"It is 24.\"}",
    ] {
        let events = react(reply);
        assert_eq!((answers(&events).as_str(), completion(&events)), ("It is 24.", Some(None)), "{reply}");
    }
}

#[test]
fn a_partial_marker_is_never_shown() {
    let replies = [format!("Thought: A.\n{OSLO}"), "**Thought:** B\n\n**Final Answer:** C".to_owned()];
    for reply in &replies {
        let mut parser = ReactParser::new(names());
        let mut out = Vec::new();
        for c in reply.chars() {
            let flow = parser.feed(StreamEvent::Text { text: c.to_string() }, &mut out);
            let shown = thoughts(&out) + &answers(&out);
            assert!(shown.len() <= 2 && !shown.contains([':', '*']), "{out:?}");
            if flow == Flow::Stop {
                break;
            }
        }
        for at in 0..reply.len() {
            let (events, _) = read(&React, chunks([&reply[..at]], FinishReason::Length));
            let shown = thoughts(&events) + &answers(&events);
            assert!(shown.len() <= 2 && !shown.contains([':', '*']), "{:?}: {shown}", &reply[..at]);
        }
    }
}
