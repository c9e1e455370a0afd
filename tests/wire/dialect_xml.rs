//! The XML protocol: what a reply means.

use crate::dialect_support::*;
use mcpane::dialect::xml::{Xml, XmlParser};
use mcpane::dialect::{Flow, Parser, coerce};
use mcpane::domain::Origin;
use mcpane::domain::model::{Arguments, FinishReason, ModelEvent, StreamEvent};
use proptest::prelude::*;
use serde_json::json;

const CALL: &str = "<use_mcp_tool>\n  <server_name>weather</server_name>\n  <tool_name>get_forecast</tool_name>\n  \
                    <arguments>{\"latitude\": 41.7128, \"longitude\": -74.006}</arguments>\n</use_mcp_tool>";
const WRITE: &str = "<write_to_file>\n<path>result.md</path>\n<content>\n# New York\n\n24 °C & sunny, wind < 5 km/h\n</content>\n\
                     </write_to_file>";

fn completed(result: &str) -> String {
    format!("<attempt_completion>\n<result>\n{result}\n</result>\n</attempt_completion>")
}

#[test]
fn the_first_example_ask_the_weather_and_answer() {
    for (thought, said) in [
        ("The user wants tomorrow's weather in New York.", "Tomorrow it will be 24 °C in New York."),
        ("用户想知道纽约明天的天气，我需要调用 get_forecast。", "纽约明天的温度是24摄氏度。"),
    ] {
        let events = xml(&format!("<thinking>\n{thought}\n</thinking>\n\n{CALL}"));
        assert_eq!(thoughts(&events), thought);
        assert_eq!(answers(&events), "");
        let expected = json!({"latitude": 41.7128, "longitude": -74.006});
        assert_eq!(call(&events), ("weather:get_forecast".to_owned(), expected));
        assert_eq!(calls(&events)[0].origin, Origin::Xml);
        assert_eq!(events.last(), Some(&ModelEvent::Finished { reason: FinishReason::Closed }));

        let events = xml(&format!("<thinking>{thought}</thinking>\n{}", completed(said)));
        assert_eq!((thoughts(&events), answers(&events)), (thought.to_owned(), said.to_owned()));
        assert_eq!(completion(&events), Some(None));
    }
}

#[test]
fn the_second_example_writes_a_file_and_forgets_to_think_before_the_end() {
    let events = xml(&format!("<thinking>还需要把结果写入 result.md。</thinking>\n{WRITE}"));
    assert_eq!(
        call(&events),
        (
            "write_to_file".to_owned(),
            json!({"path": "result.md", "content": "# New York\n\n24 °C & sunny, wind < 5 km/h"})
        )
    );
    for said in ["Done: result.md holds the forecast.", "任务已完成：结果已写入 result.md。"] {
        let events = xml(&completed(said));
        assert_eq!(
            (thoughts(&events), answers(&events), completion(&events)),
            (String::new(), said.into(), Some(None))
        );
    }
}

#[test]
fn what_is_sent_and_in_which_order() {
    let text = format!("<thinking>T</thinking>{CALL}");
    let size = CALL.len() - "<use_mcp_tool>".len() - "</use_mcp_tool>".len();
    let events = xml(&text);
    let kinds: Vec<String> =
        events.iter().map(|event| format!("{event:?}").split([' ', '(']).next().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["Thinking", "CallStarted", "CallGrew", "Call", "Finished"]);
    assert_eq!(events[1], ModelEvent::CallStarted { slot: 0, name: "weather:get_forecast".into() });
    assert!(matches!(events[2], ModelEvent::CallGrew { slot: 0, bytes } if bytes >= size), "{:?} {size}", events[2]);
}

#[test]
fn what_follows_the_first_call_is_never_kept() {
    for (reply, said) in [
        (format!("{CALL}\nUser: [use_mcp_tool] Result:\n99\n{}", completed("99 degrees")), ""),
        (format!("Let me look.\n{WRITE}{WRITE}"), "Let me look."),
        (format!("{}\nUser: and now?", completed("24")), "24"),
    ] {
        for cut in [1, 3, reply.len()] {
            let pieces = pieces(&reply, cut);
            let (events, flow) = read(&Xml, chunks(pieces, FinishReason::Stop));
            assert_eq!(flow, Flow::Stop);
            assert_eq!(answers(&events), said);
            assert_eq!(calls(&events).len(), usize::from(said != "24"));
            assert_eq!(events.last(), Some(&ModelEvent::Finished { reason: FinishReason::Closed }));
        }
    }
}

#[test]
fn a_parser_that_stopped_takes_nothing_more() {
    let mut parser = XmlParser::new(names());
    let mut out = Vec::new();
    assert_eq!(parser.feed(StreamEvent::Text { text: WRITE.into() }, &mut out), Flow::Stop);
    let before = out.len();
    assert_eq!(parser.feed(StreamEvent::Text { text: CALL.into() }, &mut out), Flow::Stop);
    assert_eq!(parser.feed(StreamEvent::Reasoning { text: "more".into() }, &mut out), Flow::Stop);
    assert_eq!(parser.feed(StreamEvent::CallStart { slot: 0, id: None, name: "x".into() }, &mut out), Flow::Stop);
    parser.end(&mut out);
    assert_eq!(out[before..], [ModelEvent::Finished { reason: FinishReason::Closed }]);
}

#[test]
fn built_ins_by_name_and_by_alias() {
    for (reply, name, arguments) in [
        ("<read_file><path>a.rs</path></read_file>", "read_file", json!({"path": "a.rs"})),
        ("<read>\n<file_path>src/index.js</file_path>\n</read>", "read", json!({"file_path": "src/index.js"})),
        (
            "<Bash><command>ls -la | grep '<x>' && echo \"a\" > b</command></Bash>",
            "Bash",
            json!({"command": "ls -la | grep '<x>' && echo \"a\" > b"}),
        ),
        (
            "<read_file>{\"path\": \"a.rs\", \"start_line\": 3}</read_file>",
            "read_file",
            json!({"path": "a.rs", "start_line": 3}),
        ),
        ("<execute_command>\n</execute_command>", "execute_command", json!({})),
        (
            "<access_mcp_resource>\n<server_name>notes</server_name>\n<uri>note://1</uri>\n</access_mcp_resource>",
            "access_mcp_resource",
            json!({"server_name": "notes", "uri": "note://1"}),
        ),
        ("<get_forecast><latitude>1.5</latitude></get_forecast>", "get_forecast", json!({"latitude": "1.5"})),
        (
            "<weather__get_forecast>{\"latitude\": 1}</weather__get_forecast>",
            "weather__get_forecast",
            json!({"latitude": 1}),
        ),
        ("Reading. <read_file><path>a</path></read_file>", "read_file", json!({"path": "a"})),
    ] {
        assert_eq!(call(&xml(reply)), (name.to_owned(), arguments), "{reply}");
    }
}

#[test]
fn questions_with_every_way_to_write_options() {
    let three = json!({"question": "Which one?", "options": ["Red", "Green", "Dark blue"]});
    for options in [
        "<options>[\"Red\", \"Green\", \"Dark blue\"]</options>",
        "<options>\n<option>Red</option>\n<option>Green</option>\n<option> Dark blue </option>\n</options>",
        "<options>\nRed\nGreen\nDark blue\n</options>",
        "<options>\n- Red\n- Green\n- Dark blue\n</options>",
        "<options>\n1. Red\n2. Green\n3) Dark blue\n</options>",
        "<options>Red, Green, Dark blue</options>",
        "<options>[\"Red\", \"Green\", \"Red\", \"Dark blue\"]</options>",
        "<options>[\"Red, Green, Dark blue\"]</options>",
        "<option>Red</option>\n<option>Green</option>\n<option>Dark blue</option>",
        "<options>[{\"label\": \"Red\"}, {\"label\": \"Green\"}, \"Dark blue\"]</options>",
    ] {
        for tag in ["ask_followup_question", "ask_follow_up_question"] {
            let events = xml(&format!("<{tag}>\n<question>Which one?</question>\n{options}\n</{tag}>"));
            assert_eq!(call(&events), (tag.to_owned(), three.clone()), "{options}");
        }
    }
    let events = xml("<ask_followup_question><question>Why?</question></ask_followup_question>");
    assert_eq!(call(&events).1, json!({"question": "Why?"}));
}

#[test]
fn completions() {
    for (reply, said, command) in [
        (completed("42"), "42", None),
        (
            "<attempt_completion><result>a</result><command>open index.html</command></attempt_completion>".into(),
            "a",
            Some("open index.html"),
        ),
        (
            "<attempt_completion>\n<command>\nls\n</command>\n<result>a</result>\n</attempt_completion>".into(),
            "a",
            Some("ls"),
        ),
        ("<attempt_completion>\nJust text.\n</attempt_completion>".into(), "Just text.", None),
        ("<attempt_completion><result>No end</attempt_completion>".into(), "No end", None),
        (completed("HTML: <b>x</b> and </result> inside, a < b"), "HTML: <b>x</b> and </result> inside, a < b", None),
        (
            completed("Write\n<attempt_completion>\n<result>\nx\n</result>\n</attempt_completion>\nat the end."),
            "Write\n<attempt_completion>\n<result>\nx\n</result>\n</attempt_completion>\nat the end.",
            None,
        ),
        ("Before.\n<attempt_completion><result>After.</result></attempt_completion>".into(), "Before.\n\nAfter.", None),
        // A stop string took the closing tag, or a part of it came.
        ("<attempt_completion>\n<result>\n42\n</result>\n\n".into(), "42", None),
        ("<attempt_completion>\n<result>\n42\n</result>\n</attempt_c".into(), "42", None),
        ("<attempt_completion>\n<result>\n42\n</resu".into(), "42", None),
        ("<attempt_completion>\n<result>\n42".into(), "42", None),
    ] {
        let events = xml(&reply);
        assert_eq!(answers(&events), said, "{reply}");
        assert_eq!(completion(&events), Some(command.map(str::to_owned)), "{reply}");
        assert_eq!(reminder(&events), None);
    }
}

#[test]
fn a_completion_that_was_cut_declares_nothing() {
    for reason in [FinishReason::Length, FinishReason::Closed, FinishReason::Filtered] {
        let (events, _) = read(&Xml, chunks(["<attempt_completion><result>The answer is"], reason));
        assert_eq!((answers(&events).as_str(), completion(&events)), ("The answer is", None));
    }
}

#[test]
fn text_is_text() {
    for reply in [
        "Bonjour !",
        "a < b && c > d, x <- y, <3, <>, </>, <!-- no -->",
        "Use <b>bold</b>, <details>\n<summary>x</summary>\n</details> and <table><tr></table>.",
        "Call `<read_file>` or ``<use_mcp_tool>`` here.",
        "```xml\n<read_file>\n<path>a</path>\n</read_file>\n```\nThat is how a call looks.",
        "See:\n~~~\n<attempt_completion>\n<result>x</result>\n</attempt_completion>\n~~~",
        "The <read_file> tag reads a file, <use_mcp_tool> calls a tool.",
        "I would use <attempt_completion> now.",
        "<unknown_tool>\n<path>a</path>\n</unknown_tool>",
        "<thinking is hard",
        "A stray </read_file> and a </thinking> at the end",
        "<",
        "<read_fil",
    ] {
        let events = xml(reply);
        assert_eq!(answers(&events), reply);
        assert_eq!(events.len(), 2, "{events:?}");
        assert_eq!(events[1], ModelEvent::Finished { reason: FinishReason::Stop });
    }
}

#[test]
fn a_call_in_code_is_an_example_unless_the_reply_is_nothing_else() {
    let fenced = format!("```xml\n{CALL}\n```");
    let told = reminder(&xml(&fenced)).unwrap();
    assert!(told.starts_with("The tool call stands in a code block."), "{told}");
    assert!(reminder(&xml(&format!("<thinking>x</thinking>\n```\n{CALL}"))).is_some(), "the fence is never closed");
    assert_eq!(reminder(&xml(&format!("Like this:\n{fenced}"))), None);
    for reply in [&fenced, &format!("Like this:\n{fenced}"), &format!("a `{CALL}`")] {
        assert!(calls(&xml(reply)).is_empty(), "{reply}");
    }
}

#[test]
fn thoughts_only_and_nothing_at_all_are_off_format() {
    for reply in ["<thinking>\nHm.\n</thinking>", "<thinking>Hm.", "", " \n "] {
        let told = reminder(&xml(reply)).unwrap();
        assert!(told.contains("neither a tool call nor an answer") && told.contains("<attempt_completion>"), "{told}");
    }
    let (events, _) = read(&Xml, chunks(["<thinking>Hm."], FinishReason::Length));
    assert_eq!(reminder(&events), None, "it was cut off, not badly written");
}

#[test]
fn broken_calls() {
    // Nothing names a tool: the text stays in sight and the model is told.
    for reply in [
        "<use_mcp_tool>\n<server_name>weather</server_name>\n<arguments>{}</arguments>\n</use_mcp_tool>",
        "<use_mcp_tool>\n<server_name>weather</server_name>\n<arguments>{",
        "<use_mcp_tool>\nget_forecast\n</use_mcp_tool>",
        "<use_mcp_tool>",
    ] {
        let events = xml(reply);
        assert!(calls(&events).is_empty());
        assert_eq!(answers(&events), reply);
        assert!(reminder(&events).is_some(), "{reply}");
    }
    // The tool is known: the model gets a precise error.
    for (reply, name, problem) in [
        (
            "<use_mcp_tool><server_name>weather</server_name><tool_name>get_forecast</tool_name><arguments>{\"a\": 1</arguments></use_mcp_tool>",
            "weather:get_forecast",
            "The arguments are not valid JSON: EOF while parsing an object at line 1 column 7.",
        ),
        (
            "<use_mcp_tool><server_name>weather</server_name><tool_name>get_forecast</tool_name><arguments><latitude>1</latitude></arguments></use_mcp_tool>",
            "weather:get_forecast",
            "<arguments> must hold one JSON object, not tags.",
        ),
        (
            "<use_mcp_tool><server_name>w</server_name><tool_name>t</tool_name><arguments>{}</arguments><x>1</x></use_mcp_tool>",
            "w:t",
            "<arguments> is not closed, so the call is not complete.",
        ),
        (
            "<read_file><path>a</path><path>b</path></read_file>",
            "read_file",
            "<path> stands there twice. Use one call with one <path> per message.",
        ),
        (
            "<write_to_file><path>a</path><content>half",
            "write_to_file",
            "<content> is not closed, so the call is not complete.",
        ),
        (
            "<read_file>{\"path\": }</read_file>",
            "read_file",
            "The arguments are not valid JSON: expected value at line 1 column 10.",
        ),
    ] {
        let events = xml(reply);
        let calls = calls(&events);
        assert_eq!((calls.len(), calls[0].name.as_str()), (1, name), "{reply}");
        assert!(
            matches!(&calls[0].arguments, Arguments::Malformed { problem: found, .. } if found == problem),
            "{:?}",
            calls[0]
        );
    }
}

#[test]
fn lenient_calls_of_servers() {
    let forecast = ("weather:get_forecast".to_owned(), json!({"latitude": 1, "longitude": 2}));
    for reply in [
        "<use_mcp_tool><server_name> weather </server_name><tool_name>\nget_forecast\n</tool_name><arguments>\n```json\n{\"latitude\": 1, \"longitude\": 2,}\n```\n</arguments></use_mcp_tool>",
        "<use_mcp_tool><arguments>{\"latitude\": 1, \"longitude\": 2}</arguments><server_name>weather</server_name><tool_name>get_forecast</tool_name></use_mcp_tool>",
        "<use_mcp_tool><server_name>weather</server_name><tool_name>get_forecast</tool_name><arguments>{&quot;latitude&quot;: 1, &quot;longitude&quot;: 2}</arguments></use_mcp_tool>",
        "<use_mcp_tool>{\"server_name\": \"weather\", \"tool_name\": \"get_forecast\", \"arguments\": {\"latitude\": 1, \"longitude\": 2}}</use_mcp_tool>",
    ] {
        assert_eq!(call(&xml(reply)), forecast, "{reply}");
    }
    for (reply, name, arguments) in [
        (
            "<use_mcp_tool><tool_name>get_forecast</tool_name><arguments></arguments></use_mcp_tool>",
            "get_forecast",
            json!({}),
        ),
        (
            "<use_mcp_tool><server_name>weather</server_name><tool_name>weather__get_forecast</tool_name></use_mcp_tool>",
            "weather__get_forecast",
            json!({}),
        ),
        (
            "<use_mcp_tool><server_name>new</server_name><tool_name>read_file</tool_name><arguments>{}</arguments></use_mcp_tool>",
            "new:read_file",
            json!({}),
        ),
        (
            "<use_mcp_tool><server_name>weather</server_name><tool_name>get_forecast</tool_name><latitude>1</latitude></use_mcp_tool>",
            "weather:get_forecast",
            json!({"latitude": "1"}),
        ),
    ] {
        assert_eq!(call(&xml(reply)), (name.to_owned(), arguments), "{reply}");
    }
}

#[test]
fn text_of_parameters_may_hold_anything() {
    for content in [
        "a < b & c > d; <b>x</b> &lt;kept&gt; <br/>",
        "<feed>\n<entry><content>x</content><path>y</path></entry>\n<content>z</content>\n</feed>",
        "the tag </content> alone, and </path>",
        "</content></entry>",
        "Docs:\n<write_to_file>\n<path>x</path>\n<content>\nhi\n</content>\n</write_to_file>\nEnd.",
        "Use <write_to_file> for it, then </write_to_file>.",
        "<use_mcp_tool><server_name>a</server_name></use_mcp_tool>",
        "```\n</content>\n```",
        "<attempt_completion><result>no</result></attempt_completion>",
        "",
        "\n\nblank lines\n\n",
        "<![CDATA[ half",
    ] {
        let reply = format!(
            "<write_to_file>\n<path>a.md</path>\n<content>\n{content}\n</content>\n</write_to_file>\nUser: done"
        );
        assert_eq!(call(&xml(&reply)).1, json!({"path": "a.md", "content": content}), "{content}");
        if content.contains("</content><path>") {
            continue; // With the content first, this is where it ends.
        }
        let swapped = format!("<write_to_file>\n<content>\n{content}\n</content>\n<path>a.md</path>\n</write_to_file>");
        assert_eq!(call(&xml(&swapped)).1, json!({"path": "a.md", "content": content}), "{content}");
    }
    let reply = "<execute_command><command>echo '</command>' | sed 's/<command>//'</command></execute_command>";
    assert_eq!(call(&xml(reply)).1, json!({"command": "echo '</command>' | sed 's/<command>//'"}));
    let diff = "<<<<<<< SEARCH\na &amp; b\n=======\na && b\n>>>>>>> REPLACE";
    let reply = format!("<replace_in_file><path>a</path><diff>\n{diff}\n</diff></replace_in_file>");
    assert_eq!(call(&xml(&reply)).1, json!({"path": "a", "diff": diff}));
}

#[test]
fn an_example_without_an_end_is_seen_at_the_end() {
    let content = "Start with\n<write_to_file>\nand go on.";
    let reply = format!("<write_to_file><path>a</path><content>\n{content}\n</content></write_to_file>\n");
    assert_eq!(call(&xml(&reply)).1, json!({"path": "a", "content": content}));
    let (events, _) = read(&Xml, chunks([&*reply], FinishReason::Length));
    assert!(matches!(calls(&events)[0].arguments, Arguments::CutOff { .. }));
}

#[test]
fn escaped_text_is_decoded_only_as_a_whole() {
    for (raw, value) in [
        ("cd a &amp;&amp; make", "cd a && make"),
        ("cd a && echo &amp;", "cd a && echo &amp;"),
        ("<![CDATA[echo '&amp;' </command>]]>", "echo '&amp;' </command>"),
    ] {
        let events = xml(&format!("<execute_command><command>{raw}</command></execute_command>"));
        assert_eq!(call(&events).1, json!({"command": value}));
    }
}

#[test]
fn a_missing_closing_tag_of_the_tool_after_a_stop_string() {
    let whole = format!("<thinking>t</thinking>\n{CALL}");
    for end in 1..="</use_mcp_tool>".len() {
        let text = &whole[..whole.len() - end];
        let (events, flow) = read(&Xml, chunks([text], FinishReason::Stop));
        assert_eq!(flow, Flow::Continue);
        assert_eq!(call(&events).0, "weather:get_forecast");
        assert_eq!(events.last(), Some(&ModelEvent::Finished { reason: FinishReason::Stop }));
        for reason in [FinishReason::Length, FinishReason::Other("x".into()), FinishReason::Closed] {
            let (events, _) = read(&Xml, chunks([text], reason));
            assert!(!matches!(calls(&events)[0].arguments, Arguments::Parsed { .. }), "{events:?}");
        }
    }
}

#[test]
fn cut_at_every_byte_nothing_runs_before_it_is_complete() {
    let replies = [
        format!("<thinking>\nWéather.\n</thinking>\n\nHi.\n{CALL}"),
        WRITE.to_owned(),
        "<read_file>{\"path\": \"a\"}</read_file>".to_owned(),
        format!("```\n<read_file>\n```\n{}", completed("中文 <b> 42")),
    ];
    for reply in &replies {
        for at in (0..reply.len()).filter(|&at| reply.is_char_boundary(at)) {
            for reason in [Some(FinishReason::Length), Some(FinishReason::Closed), Some(FinishReason::ToolCalls), None]
            {
                let mut events = vec![StreamEvent::Text { text: reply[..at].to_owned() }];
                events.extend(reason.map(|reason| StreamEvent::Finish { reason }));
                let (events, _) = read(&Xml, events);
                let runnable =
                    |call: &&mcpane::domain::model::ProposedCall| matches!(call.arguments, Arguments::Parsed { .. });
                assert_eq!(calls(&events).iter().find(|call| runnable(call)), None, "{:?}", &reply[..at]);
                assert!(matches!(events.last(), Some(ModelEvent::Finished { .. })));
            }
        }
    }
}

#[test]
fn a_call_that_was_cut_off_says_so() {
    let text = &CALL[..CALL.len() - 30];
    for reason in [FinishReason::Length, FinishReason::Closed, FinishReason::Filtered] {
        let (events, _) = read(&Xml, chunks([text], reason.clone()));
        let calls = calls(&events);
        assert_eq!(calls[0].name, "weather:get_forecast");
        assert_eq!(calls[0].arguments, Arguments::CutOff { text: text.to_owned() });
        assert_eq!(events.last(), Some(&ModelEvent::Finished { reason }));
    }
}

#[test]
fn a_partial_tag_is_never_shown() {
    let replies = [
        format!("<thinking>\nA thought.\n</thinking>\nSome text.\n{CALL}"),
        format!("<think>A</think>{}", completed("The result.")),
    ];
    for reply in &replies {
        let mut parser = XmlParser::new(names());
        let mut out = Vec::new();
        for c in reply.chars() {
            let flow = parser.feed(StreamEvent::Text { text: c.to_string() }, &mut out);
            assert!(!thoughts(&out).contains('<') && !answers(&out).contains('<'), "{out:?}");
            if flow == Flow::Stop {
                break;
            }
        }
        // A reply that is cut in the middle of a tag does not show it either.
        for at in 0..reply.len() {
            let (events, _) = read(&Xml, chunks([&reply[..at]], FinishReason::Length));
            assert!(!thoughts(&events).contains('<') && !answers(&events).contains('<'), "{:?}", &reply[..at]);
        }
    }
}

#[test]
fn what_is_held_back_is_no_longer_than_a_tag() {
    let mut parser = XmlParser::new(names());
    let mut out = Vec::new();
    parser.feed(StreamEvent::Text { text: "<".into() }, &mut out);
    let mut fed = 1;
    while out.is_empty() {
        parser.feed(StreamEvent::Text { text: "a".into() }, &mut out);
        fed += 1;
        assert!(fed <= 32, "{fed} bytes are held back");
    }
    assert_eq!(answers(&out).len(), fed);
}

#[test]
fn thoughts_end_at_their_tag() {
    for (reply, thought) in [
        ("<thinking>a</thinking>x", "a"),
        ("<think>\na\n</think>\nx", "a"),
        ("<thinking>a</think>x", "a"),
        ("<thinking>a <thinking> b</thinking>x", "a <thinking> b"),
        ("<thinking>a < b <c> </d> `</e>`</thinking>x", "a < b <c> </d> `</e>`"),
        (
            "<thinking>call <read_file><path>a</path></read_file> maybe</thinking>x",
            "call <read_file><path>a</path></read_file> maybe",
        ),
        (
            "<thinking>\n```\n<read_file><path>a</path></read_file>\n```\n</thinking>x",
            "```\n<read_file><path>a</path></read_file>\n```",
        ),
        ("<thinking>\n<read_file>\n<path>a</path>\n</thinking>x", "<read_file>\n<path>a</path>"),
        ("</think>\n\nx", ""),
        ("<thinking></thinking>x", ""),
    ] {
        let events = xml(reply);
        assert_eq!((thoughts(&events), answers(&events)), (thought.to_owned(), "x".to_owned()), "{reply}");
        assert!(calls(&events).is_empty());
    }
}

#[test]
fn a_call_after_a_thought_that_was_never_closed_is_recovered() {
    let events =
        xml(&format!("<thinking>\nI look it up.\n{CALL}\nUser: 99\n<thinking>Done</thinking>{}", completed("99")));
    assert_eq!(thoughts(&events), "I look it up.");
    assert_eq!(calls(&events)[0].origin, Origin::Recovered);
    assert_eq!(call(&events).0, "weather:get_forecast");
    assert_eq!(completion(&events), None);
    let events = xml(&format!("<thinking>\nI know.\n{}", completed("42")));
    assert_eq!((thoughts(&events), answers(&events)), ("I know.".to_owned(), "42".to_owned()));
}

#[test]
fn reasoning_and_native_calls_are_taken_too() {
    let events = vec![
        StreamEvent::Reasoning { text: "Hm".into() },
        StreamEvent::Reasoning { text: "m".into() },
        StreamEvent::CallStart { slot: 0, id: Some("c1".into()), name: "read_file".into() },
        StreamEvent::CallArguments { slot: 0, text: "{\"path\":".into() },
        StreamEvent::CallArguments { slot: 0, text: "\"a\"}".into() },
    ];
    let finish = StreamEvent::Finish { reason: FinishReason::ToolCalls };
    let (read_events, flow) = read(&Xml, events.iter().cloned().chain([finish.clone()]));
    assert_eq!(flow, Flow::Continue);
    assert_eq!(thoughts(&read_events), "Hmm");
    assert_eq!(call(&read_events), ("read_file".to_owned(), json!({"path": "a"})));
    assert_eq!(
        (calls(&read_events)[0].origin, calls(&read_events)[0].provider_id.as_deref()),
        (Origin::Native, Some("c1"))
    );
    assert_eq!(reminder(&read_events), None);
    // One call per message here too.
    let second = StreamEvent::CallStart { slot: 1, id: None, name: "read_file".into() };
    let (read_events, flow) = read(&Xml, events.into_iter().chain([second, finish]));
    assert_eq!(flow, Flow::Stop);
    assert_eq!(call(&read_events).1, json!({"path": "a"}));
}

#[test]
fn usage_and_signs_of_life_pass_through() {
    let usage = mcpane::domain::Usage::default();
    let (events, _) = read(&Xml, vec![StreamEvent::Alive, StreamEvent::Usage { usage }]);
    assert_eq!(events[..2], [ModelEvent::Alive, ModelEvent::Usage { usage }]);
}

#[test]
fn strings_get_the_types_of_the_schema() {
    let events = xml("<read_file><path>7</path><start_line> 12 </start_line></read_file>");
    let mut arguments = call(&events).1;
    let schema = json!({"properties": {"path": {"type": "string"}, "start_line": {"type": "integer"}}});
    coerce(&mut arguments, &schema);
    assert_eq!(arguments, json!({"path": "7", "start_line": 12}));
}

#[test]
fn a_long_parameter_costs_the_same_per_byte() {
    // What a careless reader would look at again and again: closing tags, open brackets, white space, tags of the tool.
    let hard =
        ["x", "</content>", "<", " ", "</content> ", "\n<write_to_file>", "</write_to_file>", "<content>", "&lt;", "`"];
    for piece in hard {
        for chunk in [1, 7, 4096, usize::MAX] {
            let per_byte = |size: usize| {
                let body = piece.repeat(size / piece.len());
                let text = format!("<write_to_file><path>a</path><content>\n{body}\nx</content></write_to_file>");
                let mut parser = XmlParser::new(names());
                let mut out = Vec::new();
                for part in pieces(&text, chunk) {
                    parser.feed(StreamEvent::Text { text: part.to_owned() }, &mut out);
                    out.retain(|event| !matches!(event, ModelEvent::CallGrew { .. }));
                }
                parser.feed(StreamEvent::Finish { reason: FinishReason::Stop }, &mut out);
                parser.end(&mut out);
                assert_eq!(calls(&out).len(), 1, "{piece} {out:?}");
                (parser.work() / text.len() as u64, text.len())
            };
            let (small, _) = per_byte(4 << 10);
            let (large, _) = per_byte(if (piece, chunk) == ("</content>", 4096) { 1 << 20 } else { 64 << 10 });
            assert!(
                large <= small.max(4) && large <= 6,
                "{piece:?} in chunks of {chunk}: {small} → {large} looks a byte"
            );
        }
    }
}

/// Replies made of what the grammar knows and of what could disturb it.
fn reply() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<thinking>",
        "</thinking>",
        "<think>",
        "</think>",
        "<use_mcp_tool>",
        "</use_mcp_tool>",
        "<server_name>weather</server_name>",
        "<tool_name>get_forecast</tool_name>",
        "<arguments>",
        "</arguments>",
        "{\"a\": 1}",
        "{",
        "<read_file>",
        "</read_file>",
        "<path>",
        "</path>",
        "<write_to_file>",
        "</write_to_file>",
        "<content>",
        "</content>",
        "<attempt_completion>",
        "</attempt_completion>",
        "<result>",
        "</result>",
        "<command>",
        "</command>",
        "<",
        ">",
        "/",
        "`",
        "```",
        "\n",
        "\n\n",
        " ",
        "  ",
        "text",
        "é中",
        "<b>",
        "<read_fi",
        "</",
        "&lt;",
        "<![CDATA[",
        "]]>",
        "<ask_followup_question>",
        "</ask_followup_question>",
        "<question>q</question>",
        "<options>[\"a\"]</options>",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

#[test]
fn chunks_that_once_made_a_difference() {
    for text in [
        "<attempt_completion> >",
        "<read_file>\n {\"path\": }</read_file>",
        "<thinking><read_file><server_name>weather</server_name></thinking>",
    ] {
        let whole = read(&Xml, chunks([text], FinishReason::Stop));
        for size in 1..text.len() {
            assert_eq!(
                read(&Xml, chunks(pieces(text, size), FinishReason::Stop)),
                whole,
                "{text:?} in pieces of {size}"
            );
        }
    }
}

fn reason() -> impl Strategy<Value = FinishReason> {
    prop::sample::select(vec![
        FinishReason::Stop,
        FinishReason::Length,
        FinishReason::ToolCalls,
        FinishReason::Filtered,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_chunking_gives_the_same_events(text in reply(), size in 1usize..9, reason in reason()) {
        let whole = read(&Xml, chunks([&*text], reason.clone()));
        let cut = read(&Xml, chunks(pieces(&text, size), reason));
        prop_assert_eq!(cut, whole);
    }

    #[test]
    fn at_most_one_call_or_completion_and_nothing_after_it(text in reply(), reason in reason()) {
        let (events, flow) = read(&Xml, chunks([&*text], reason));
        let ends = events.iter().filter(|event| matches!(event, ModelEvent::Call(_) | ModelEvent::Completion { .. })).count();
        prop_assert!(ends <= 1);
        prop_assert!(flow == Flow::Continue || ends == 1 || reminder(&events).is_some());
        if let Some(at) = events.iter().position(|event| matches!(event, ModelEvent::Call(_) | ModelEvent::Completion { .. })) {
            prop_assert_eq!(at + 2, events.len(), "{:?}", events);
        }
    }
}
