//! Requests: exact messages in both dialects, and the way of a call into the history and back.

use crate::dialect_support::*;
use mcpane::dialect::{Prompting, ServerBrief, apply_argument_aliases, dialect};
use mcpane::domain::content::{Blob, Content};
use mcpane::domain::conversation::{Conversation, ItemBody, StepEnd, TurnEnd, TurnKind};
use mcpane::domain::model::{CallRef, DialectKind, Message, Opaque, Request};
use mcpane::domain::{CallId, Phrase, ToolOutcome};
use proptest::prelude::*;
use serde_json::{Value, json};

const MODEL: &str = "llamacpp:qwen";

/// Builds the request with every optional thing switched on or off by `change`.
fn request(kind: DialectKind, conversation: &Conversation, change: impl FnOnce(&mut Prompting<'_>)) -> Request {
    let (tools, names) = (tools(), names());
    let servers = [
        ServerBrief { name: "files".into(), instructions: None, starting: false, resources: false },
        ServerBrief { name: "weather".into(), instructions: None, starting: false, resources: false },
    ];
    let mut prompting = Prompting {
        conversation,
        tools: &tools,
        names: &names,
        servers: &servers,
        overrides: &[],
        cwd: "/work/demo",
        system: "Linux, bash",
        language: None,
        instructions: None,
        model: "qwen",
        full_model: MODEL,
        stop_strings: true,
        reasoning_back: false,
    };
    change(&mut prompting);
    dialect(kind).unwrap().request(&prompting)
}

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)] }
}

fn assistant(text: &str) -> Message {
    Message::Assistant { text: text.into(), reasoning: None, opaque: vec![], calls: vec![] }
}

/// The seed's second example, in the middle of its third reply's request and after its end.
fn weather_to_file(end: Option<TurnEnd>) -> Conversation {
    let forecast = tool_call(1, "weather:get_forecast", json!({"latitude": 41.7128, "longitude": -74.006}));
    let write = tool_call(2, "write_to_file", json!({"path": "result.md", "content": "24 °C\n"}));
    let mut steps = vec![
        step(1, vec![thinking("需要查询天气。"), called(forecast, ToolOutcome::text("{\"temperature\": 24}"))]),
        step(2, vec![thinking("还要写文件。"), called(write, ToolOutcome::text("Wrote result.md (6 bytes)."))]),
    ];
    if end.is_some() {
        steps.push(step(3, vec![answer("任务已完成。")]));
    }
    let mut turn = turn(1, "纽约明天的天气怎么样？把结果写入到 result.md 文件中", steps, end);
    turn.environment = Some("<environment_details>\nWorking directory: /work/demo\n</environment_details>".into());
    conversation(vec![turn])
}

const TASK: &str = "<task>\n纽约明天的天气怎么样？把结果写入到 result.md 文件中\n</task>\n\n\
                    <environment_details>\nWorking directory: /work/demo\n</environment_details>";

#[test]
fn xml_messages_byte_for_byte() {
    let request = request(DialectKind::Xml, &weather_to_file(Some(TurnEnd::Done)), |_| {});
    assert_eq!(
        request.messages,
        [
            user(TASK),
            assistant(
                "<thinking>\n需要查询天气。\n</thinking>\n\n<use_mcp_tool>\n<server_name>weather</server_name>\n\
                 <tool_name>get_forecast</tool_name>\n<arguments>\n{\"latitude\": 41.7128, \"longitude\": -74.006}\n\
                 </arguments>\n</use_mcp_tool>"
            ),
            user("[use_mcp_tool for 'weather:get_forecast'] Result:\n{\"temperature\": 24}"),
            assistant(
                "<thinking>\n还要写文件。\n</thinking>\n\n<write_to_file>\n<path>result.md</path>\n<content>\n24 °C\n\n\
                 </content>\n</write_to_file>"
            ),
            user("[write_to_file] Result:\nWrote result.md (6 bytes)."),
            assistant("<attempt_completion>\n<result>\n任务已完成。\n</result>\n</attempt_completion>"),
        ]
    );
    assert_eq!((request.model.as_str(), request.tools.len()), ("qwen", 0));
    assert_eq!(
        request.stop,
        ["</attempt_completion>", "</use_mcp_tool>", "</read_file>", "</execute_command>"],
        "four at most, and none that a written file may hold"
    );
}

#[test]
fn native_messages() {
    let request = request(DialectKind::Native, &weather_to_file(Some(TurnEnd::Done)), |_| {});
    let call = |id: &str, name: &str, arguments: Value| {
        let calls = vec![CallRef { id: id.into(), name: name.into(), arguments }];
        Message::Assistant { text: String::new(), reasoning: None, opaque: vec![], calls }
    };
    let result = |id: &str, name: &str, text: &str| Message::Tool {
        call: id.into(),
        name: name.into(),
        content: vec![Content::text(text)],
        is_error: false,
    };
    assert_eq!(
        request.messages,
        [
            user(TASK),
            call("call_1", "weather__get_forecast", json!({"latitude": 41.7128, "longitude": -74.006})),
            result("call_1", "weather__get_forecast", "{\"temperature\": 24}"),
            call("call_2", "write_to_file", json!({"path": "result.md", "content": "24 °C\n"})),
            result("call_2", "write_to_file", "Wrote result.md (6 bytes)."),
            assistant("任务已完成。"),
        ]
    );
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    assert!(names.contains(&"weather__get_forecast") && names.len() == tools().len());
    assert!(request.stop.is_empty());
}

#[test]
fn a_request_is_a_prefix_of_the_next_one() {
    for (_, kind) in DialectKind::NAMES {
        let earlier = request(kind, &weather_to_file(None), |_| {});
        let later = request(kind, &weather_to_file(Some(TurnEnd::Done)), |_| {});
        assert_eq!(later.messages[..earlier.messages.len()], earlier.messages);
        assert_eq!((earlier.system, earlier.tools), (later.system, later.tools));
        let again = request(kind, &weather_to_file(None), |_| {});
        let bytes = |request: &Request| serde_json::to_string(request).unwrap();
        assert_eq!(bytes(&again), bytes(&request(kind, &weather_to_file(None), |_| {})));
    }
}

#[test]
fn every_outcome_reads_the_same_in_both_dialects() {
    let outcomes = [
        (ToolOutcome::text("fine"), "fine", false),
        (
            ToolOutcome::Rejected { reason: Some("Not now.".into()) },
            "The user rejected this call; it did not run. Reason: Not now.",
            true,
        ),
        (
            ToolOutcome::Interrupted,
            "This call was interrupted and may have had effects. Find out what it did before you repeat it.",
            true,
        ),
        (ToolOutcome::Cancelled, "This call was cancelled before it ran; nothing was done.", true),
        (ToolOutcome::failed("No such file."), "The call failed and had no effect: No such file.", true),
        (
            ToolOutcome::ByHand { text: "24".into() },
            "The user did not run the tool and wrote this result by hand:\n24",
            false,
        ),
    ];
    for (outcome, words, error) in outcomes {
        let call = tool_call(1, "read_file", json!({"path": "a"}));
        let talk = conversation(vec![turn(1, "x", vec![step(1, vec![called(call, outcome)])], None)]);
        let xml = request(DialectKind::Xml, &talk, |_| {}).messages;
        assert_eq!(xml[2], user(&format!("[read_file] Result:\n{words}")));
        let native = request(DialectKind::Native, &talk, |_| {}).messages;
        let content = vec![Content::text(words)];
        assert_eq!(
            native[2],
            Message::Tool { call: "call_1".into(), name: "read_file".into(), content, is_error: error }
        );
    }
}

#[test]
fn every_native_call_has_exactly_one_result() {
    let mut first = tool_call(1, "read_file", json!({"path": "a"}));
    first.provider_id = Some("call_0".into());
    let mut second = tool_call(2, "files:read_file", json!({"path": "b"}));
    second.provider_id = Some("call_0".into());
    let mut gone = tool_call(3, "old server:get (x)", json!({}));
    gone.provider_id = Some(String::new());
    let mut unknown = tool_call(4, "nothing", json!({}));
    unknown.tool = None;
    unknown.asked = "no such: tool".into();
    let open = ItemBody::Call { call: unknown, outcome: None };
    let same = ToolOutcome::SameAs { call: CallId(1) };
    let items =
        vec![called(first, ToolOutcome::text("A")), called(second, same), called(gone, ToolOutcome::Cancelled), open];
    let talk = conversation(vec![turn(1, "x", vec![step(1, items)], None)]);
    let messages = request(DialectKind::Native, &talk, |_| {}).messages;
    let Message::Assistant { calls, .. } = &messages[1] else { panic!("{messages:?}") };
    let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_0", "call_2", "call_3", "call_4"]);
    let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["read_file", "files__read_file", "old_server__get__x_", "no_such___tool"]);
    let results: Vec<(&str, bool)> = messages[2..]
        .iter()
        .map(|message| match message {
            Message::Tool { call, is_error, .. } => (call.as_str(), *is_error),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(results, [("call_0", false), ("call_2", false), ("call_3", true), ("call_4", true)]);
    assert!(serde_json::to_string(&messages[5]).unwrap().contains("was interrupted"));
}

#[test]
fn native_results_keep_their_blocks_and_cut_text_replaces_their_text() {
    let picture = Content::Image { mime: "image/png".into(), data: Blob::from_base64("AAAA") };
    let done = |for_model: Option<&str>| ToolOutcome::Done {
        content: vec![Content::text("a"), picture.clone()],
        is_error: true,
        for_model: for_model.map(str::to_owned),
        spilled: None,
        millis: 3,
    };
    let talk = |outcome| {
        let call = tool_call(1, "read_file", json!({"path": "a"}));
        conversation(vec![turn(1, "x", vec![step(1, vec![called(call, outcome)])], None)])
    };
    let content = |talk: &Conversation| match &request(DialectKind::Native, talk, |_| {}).messages[2] {
        Message::Tool { content, is_error: true, .. } => content.clone(),
        other => panic!("{other:?}"),
    };
    let error = Content::text("The tool reported an error:");
    let described = Content::text("[image image/png, 3 bytes]");
    assert_eq!(content(&talk(done(None))), [error.clone(), Content::text("a"), described, picture.clone()]);
    assert_eq!(content(&talk(done(Some("cut")))), [error, Content::text("cut"), picture.clone()], "nothing is lost");
    let Message::User { content } = &request(DialectKind::Xml, &talk(done(None)), |_| {}).messages[2] else { panic!() };
    let text = "[read_file] Result:\nThe tool reported an error:\na\n[image image/png, 3 bytes]";
    assert_eq!(*content, [Content::text(text), picture]);
}

#[test]
fn reasoning_goes_back_only_where_it_is_wanted_and_signed_thoughts_only_to_their_model() {
    let signed = |model: &str| ItemBody::Thinking {
        text: "Hm.".into(),
        opaque: Some(Opaque { model: model.into(), value: json!({"of": model}) }),
    };
    let items = vec![signed(MODEL), signed("other:model"), answer("Hi."), answer("There.")];
    let talk = conversation(vec![turn(1, "x", vec![step(1, items)], Some(TurnEnd::Done))]);
    for back in [false, true] {
        let messages = request(DialectKind::Native, &talk, |prompting| prompting.reasoning_back = back).messages;
        let reasoning = back.then(|| "Hm.\n\nHm.".to_owned());
        let text = "Hi.\n\nThere.".to_owned();
        assert_eq!(
            messages[1],
            Message::Assistant { text, reasoning, opaque: vec![json!({"of": MODEL})], calls: vec![] }
        );
    }
    let messages = request(DialectKind::Xml, &talk, |prompting| prompting.reasoning_back = true).messages;
    let text = "<thinking>\nHm.\n</thinking>\n\n<thinking>\nHm.\n</thinking>\n\n<attempt_completion>\n<result>\nHi.\n\nThere.\n</result>\n</attempt_completion>";
    assert_eq!(messages[1], assistant(text));
}

#[test]
fn what_is_not_sent() {
    let mut hand = turn(1, "by hand", vec![step(1, vec![answer("secret")])], Some(TurnEnd::Done));
    hand.kind = TurnKind::Hand;
    let mut cut = step(2, vec![answer("secret half")]);
    cut.end = Some(StepEnd::Cut { problem: Phrase::literal("x") });
    let mut interrupted = step(3, vec![called(tool_call(9, "read_file", json!({})), ToolOutcome::text("secret"))]);
    interrupted.end = Some(StepEnd::Interrupted);
    let mut running = step(4, vec![answer("secret so far")]);
    running.end = None;
    let talk = conversation(vec![
        hand,
        turn(2, "first", vec![cut, interrupted, running], Some(TurnEnd::Interrupted)),
        turn(3, "second", vec![], None),
    ]);
    for (_, kind) in DialectKind::NAMES {
        let messages = request(kind, &talk, |_| {}).messages;
        let expected = "<task>\nfirst\n</task>\n\n[The user interrupted this task.]\n\n<task>\nsecond\n</task>";
        assert_eq!(messages, [user(expected)], "one message of the user, not two in a row");
    }
}

#[test]
fn reminders_follow_their_step() {
    let mut thought = step(1, vec![thinking("Hm.")]);
    thought.reminder = Some("Use the format.".into());
    let mut called_step =
        step(2, vec![called(tool_call(2, "read_file", json!({"path": "a"})), ToolOutcome::text("A"))]);
    called_step.reminder = Some("Look at b, too.".into());
    let talk = conversation(vec![turn(1, "x", vec![thought, called_step], None)]);
    let xml = request(DialectKind::Xml, &talk, |_| {}).messages;
    assert_eq!(xml[1..3], [assistant("<thinking>\nHm.\n</thinking>"), user("Use the format.")]);
    assert_eq!(xml[4], user("[read_file] Result:\nA\n\nLook at b, too."));
    let native = request(DialectKind::Native, &talk, |_| {}).messages;
    assert_eq!(
        native[0],
        user("<task>\nx\n</task>\n\nUse the format."),
        "a message of nothing but a thought is left out"
    );
    assert_eq!(native[3], user("Look at b, too."));
}

#[test]
fn a_reminder_is_sent_though_its_step_is_not() {
    let mut cut = step(1, vec![answer("<use_mcp_tool> broken")]);
    cut.end = Some(StepEnd::Cut { problem: Phrase::literal("x") });
    cut.reminder = Some("Use the format.".into());
    let talk = conversation(vec![turn(1, "x", vec![cut], None)]);
    for (_, kind) in DialectKind::NAMES {
        let messages = request(kind, &talk, |_| {}).messages;
        assert_eq!(messages, [user("<task>\nx\n</task>\n\nUse the format.")]);
    }
}

#[test]
fn a_call_that_could_not_be_read_is_told_but_never_shown_as_a_call() {
    let whole = tool_call(1, "read_file", json!({"path": "a"}));
    let broken = tool_call(2, "read_file", json!("{\"path\": "));
    let failed = ToolOutcome::failed("The arguments are not valid JSON: EOF at line 1 column 9.");
    let items = vec![thinking("Both."), called(whole, ToolOutcome::text("A")), called(broken, failed)];
    let talk = conversation(vec![turn(1, "x", vec![step(1, items)], None)]);
    let note = "Your call of read_file failed and had no effect: The arguments are not valid JSON: \
                EOF at line 1 column 9.";
    let native = request(DialectKind::Native, &talk, |_| {}).messages;
    let Message::Assistant { calls, .. } = &native[1] else { panic!("{native:?}") };
    assert_eq!(calls.len(), 1);
    assert_eq!(native[3..], [user(note)]);
    let xml = request(DialectKind::Xml, &talk, |_| {}).messages;
    assert_eq!(xml.len(), 3);
    assert_eq!(xml[2], user(&format!("[read_file] Result:\nA\n\n{note}")));
}

#[test]
fn a_completion_with_a_command_is_written_as_one() {
    let command = tool_call(1, "execute_command", json!({"command": "open index.html"}));
    let mut last = step(1, vec![answer("Made."), called(command, ToolOutcome::text("exit code 0"))]);
    let talk = |step| conversation(vec![turn(1, "x", vec![step], Some(TurnEnd::Done)), turn(2, "y", vec![], None)]);
    let messages = request(DialectKind::Xml, &talk(last.clone()), |_| {}).messages;
    let call = "<execute_command>\n<command>open index.html</command>\n</execute_command>";
    assert_eq!(messages[1], assistant(&format!("Made.\n\n{call}")), "it was not declared done");
    last.completed = true;
    let messages = request(DialectKind::Xml, &talk(last), |_| {}).messages;
    let completion =
        "<attempt_completion>\n<result>\nMade.\n</result>\n<command>open index.html</command>\n</attempt_completion>";
    assert_eq!(messages[1], assistant(completion));
    assert_eq!(messages[2], user("[execute_command] Result:\nexit code 0\n\n<task>\ny\n</task>"));
    let events = xml(completion);
    assert_eq!(crate::dialect_support::completion(&events), Some(Some("open index.html".to_owned())));
}

#[test]
fn several_calls_of_one_step_are_one_a_message_in_xml() {
    let items = vec![
        thinking("Both."),
        called(tool_call(1, "read_file", json!({"path": "a"})), ToolOutcome::text("A")),
        called(tool_call(2, "read_file", json!({"path": "b"})), ToolOutcome::text("B")),
    ];
    let talk = conversation(vec![turn(1, "x", vec![step(1, items)], None)]);
    let messages = request(DialectKind::Xml, &talk, |_| {}).messages;
    assert_eq!(
        messages[1..],
        [
            assistant("<thinking>\nBoth.\n</thinking>\n\n<read_file>\n<path>a</path>\n</read_file>"),
            user("[read_file] Result:\nA"),
            assistant("<read_file>\n<path>b</path>\n</read_file>"),
            user("[read_file] Result:\nB"),
        ]
    );
}

#[test]
fn attachments_travel_with_the_task() {
    let mut with = turn(1, "look", vec![], None);
    let picture = Content::Image { mime: "image/png".into(), data: Blob::from_base64("AAAA") };
    with.input.attachments = vec![picture.clone()];
    for (_, kind) in DialectKind::NAMES {
        let messages = request(kind, &conversation(vec![with.clone()]), |_| {}).messages;
        assert_eq!(
            messages,
            [Message::User { content: vec![Content::text("<task>\nlook\n</task>"), picture.clone()] }]
        );
    }
}

#[test]
fn an_answer_before_the_end_is_no_completion() {
    let talk = |end| conversation(vec![turn(1, "x", vec![step(1, vec![answer("So far.")])], end)]);
    let text = |talk: &Conversation| request(DialectKind::Xml, talk, |_| {}).messages[1].clone();
    assert_eq!(text(&talk(Some(TurnEnd::Stopped))), assistant("So far."));
    assert_eq!(text(&talk(None)), assistant("So far."));
    assert_ne!(text(&talk(Some(TurnEnd::Done))), assistant("So far."));
}

/// Writes the call into the history and reads it back as if the model had said it.
fn round_trip(tool: &str, arguments: Value) -> (String, Value) {
    let call = tool_call(1, tool, arguments);
    let talk = conversation(vec![turn(1, "x", vec![step(1, vec![called(call, ToolOutcome::text("ok"))])], None)]);
    let messages = request(DialectKind::Xml, &talk, |_| {}).messages;
    let Message::Assistant { text, .. } = &messages[1] else { panic!("{messages:?}") };
    crate::dialect_support::call(&xml(text))
}

/// Text that could be taken for the protocol.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "</content>",
        "</path>",
        "</write_to_file>",
        "<write_to_file>",
        "\n<write_to_file>\n",
        "<content>",
        "<path>",
        "</arguments>",
        "</use_mcp_tool>",
        "\n</use_mcp_tool>",
        "<use_mcp_tool>",
        "<tool_name>x</tool_name>",
        "<thinking>",
        "</thinking>",
        "&lt;",
        "&amp;",
        "&",
        "<![CDATA[",
        "]]>",
        "<",
        ">",
        "/",
        "\n",
        "\r\n",
        " ",
        "\t",
        "\"",
        "\\",
        "{",
        "}",
        "`",
        "```",
        "a",
        "é",
        "中",
        "<attempt_completion>",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_built_in_call_survives_the_history(path in hostile(), content in hostile(), swapped in any::<bool>()) {
        let arguments = if swapped { json!({"content": content, "path": path}) } else { json!({"path": path, "content": content}) };
        prop_assert_eq!(round_trip("write_to_file", arguments.clone()), ("write_to_file".to_owned(), arguments));
        let edit = json!({"search": content, "replace": path, "path": "a"});
        prop_assert_eq!(round_trip("replace_in_file", edit.clone()), ("replace_in_file".to_owned(), edit));
    }

    #[test]
    fn a_servers_call_survives_the_history(key in hostile(), text in hostile(), n in any::<i32>()) {
        let arguments = json!({key.clone(): text, "n": [n, null, {"deep": true}], "x": 1.5});
        prop_assert_eq!(round_trip("files:read_file", arguments.clone()), ("files:read_file".to_owned(), arguments));
        // A built-in with arguments that are no parameters is written as JSON.
        let odd = json!({key: text, "path": "a", "n": n});
        let (name, mut found) = round_trip("read_file", odd.clone());
        mcpane::dialect::coerce(&mut found, &json!({"properties": {"n": {"type": "integer"}}}));
        prop_assert_eq!((name, found), ("read_file".to_owned(), odd));
    }
}

#[test]
fn an_alias_reaches_the_tool_with_its_own_parameter_names() {
    let (name, mut arguments) = call(&xml("<Read>\n<file_path>src/index.js</file_path>\n<offset>3</offset>\n</Read>"));
    let id = names().resolve(&name).unwrap().clone();
    apply_argument_aliases(&id.name, &mut arguments);
    assert_eq!((id.to_string().as_str(), arguments), ("read_file", json!({"path": "src/index.js", "start_line": "3"})));
}
