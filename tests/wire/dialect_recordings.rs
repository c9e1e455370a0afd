//! The dialects against recorded replies of real small models.

use crate::dialect_support::*;
use mcpane::dialect::Flow;
use mcpane::dialect::native::Native;
use mcpane::dialect::xml::Xml;
use mcpane::domain::model::{Arguments, FinishReason, ModelEvent, StreamEvent};
use serde_json::{Value, json};
use std::path::Path;

/// The deltas of a recording. A plain reading of the recorded lines, apart from the program's own wire format.
fn deltas(name: &str) -> Vec<StreamEvent> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recordings").join(format!("{name}.sse"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut out = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("data: {")) {
        let chunk: Value = serde_json::from_str(&format!("{{{line}")).unwrap();
        for choice in chunk["choices"].as_array().unwrap() {
            let delta = &choice["delta"];
            let string = |key: &str| delta[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            out.extend(string("reasoning_content").map(|text| StreamEvent::Reasoning { text }));
            out.extend(string("content").map(|text| StreamEvent::Text { text }));
            for call in delta["tool_calls"].as_array().into_iter().flatten() {
                let slot = u32::try_from(call["index"].as_u64().unwrap()).unwrap();
                if let Some(name) = call["function"]["name"].as_str() {
                    let id = call["id"].as_str().map(str::to_owned);
                    out.push(StreamEvent::CallStart { slot, id, name: name.to_owned() });
                }
                if let Some(text) = call["function"]["arguments"].as_str().filter(|text| !text.is_empty()) {
                    out.push(StreamEvent::CallArguments { slot, text: text.to_owned() });
                }
            }
            match choice["finish_reason"].as_str() {
                Some("stop") => out.push(StreamEvent::Finish { reason: FinishReason::Stop }),
                Some("length") => out.push(StreamEvent::Finish { reason: FinishReason::Length }),
                Some("tool_calls") => out.push(StreamEvent::Finish { reason: FinishReason::ToolCalls }),
                _ => {}
            }
        }
    }
    assert!(matches!(out.last(), Some(StreamEvent::Finish { .. })), "{name}");
    out
}

/// The whole text of a recording.
fn text(name: &str) -> String {
    deltas(name).iter().map(|event| if let StreamEvent::Text { text } = event { text.as_str() } else { "" }).collect()
}

/// Feeds the deltas as they came, and the text at once: both must mean the same.
fn replay(name: &str) -> (Vec<ModelEvent>, Flow) {
    let recorded = deltas(name);
    let whole = chunks(
        [text(name).as_str()],
        match recorded.last() {
            Some(StreamEvent::Finish { reason }) => reason.clone(),
            other => panic!("{other:?}"),
        },
    );
    let found = read(&Xml, recorded);
    assert_eq!(found, read(&Xml, whole), "{name}");
    found
}

#[test]
fn every_recorded_call_is_read_and_nothing_after_it_is_kept() {
    let oslo = json!({"city": "Oslo", "days": 2});
    let hostname = json!({"path": "/etc/hostname"});
    for (name, tool, arguments, flow) in [
        // These go on after the call and invent its result.
        ("qwen1.5b-host.d_xml_call", "weather:get_forecast", oslo.clone(), Flow::Stop),
        ("qwen0.5b-host.d_xml_call", "weather:get_forecast", oslo.clone(), Flow::Stop),
        ("qwen1.5b-host.d_xml_read", "files:read_file", hostname.clone(), Flow::Stop),
        ("qwen0.5b-host.d_xml_read", "files:read_file", hostname, Flow::Stop),
        // A call that nobody asked for.
        ("qwen1.5b-host.d_xml_plain", "files:read_file", json!({"path": "greetings/french.txt"}), Flow::Stop),
        // A stop string took the closing tag.
        ("qwen1.5b-host.d_xml_stop", "weather:get_forecast", oslo.clone(), Flow::Continue),
        ("qwen0.5b-host.d_xml_stop", "weather:get_forecast", oslo, Flow::Continue),
        ("qwen1.5b-host.loop-xml.turn1", "files:list_folder", json!({"path": "/notes"}), Flow::Continue),
        (
            "qwen1.5b-host.loop-xml.turn2",
            "files:read_file",
            json!({"path": "/notes/c.txt", "folder": "/notes"}),
            Flow::Continue,
        ),
        ("qwen1.5b-host.loop-xml-one.turn1", "files:read_file", json!({"path": "notes/b.txt"}), Flow::Continue),
        ("qwen1.5b-host.loop-xml-error.turn1", "files:read_file", json!({"path": "notes/z.txt"}), Flow::Continue),
        ("qwen0.5b-host.loop-xml.turn1", "files:list_folder", json!({"path": "/tmp/notes"}), Flow::Continue),
        ("qwen0.5b-host.loop-xml-one.turn1", "files:list_folder", json!({"path": "notes/b.txt"}), Flow::Continue),
        ("qwen0.5b-host.loop-xml-error.turn1", "files:read_file", json!({"path": "notes/z.txt"}), Flow::Continue),
    ] {
        let (events, found) = replay(name);
        assert_eq!((call(&events), found), ((tool.to_owned(), arguments), flow), "{name}");
        assert!(
            thoughts(&events).starts_with("The user wants") || thoughts(&events).starts_with("I have"),
            "{events:?}"
        );
        assert_eq!((answers(&events).as_str(), completion(&events), reminder(&events)), ("", None, None), "{name}");
        let thought = text(name).find("</thinking>").unwrap();
        assert_eq!(
            thoughts(&events),
            text(name)[.."<thinking>\n".len().max(thought)]["<thinking>\n".len()..].trim_end()
        );
    }
}

#[test]
fn every_recorded_answer_is_read() {
    for (name, said) in [
        (
            "qwen1.5b-host.d_xml_result",
            "The forecast for Oslo for the next 2 days is:\nMon: 3°C, snow\nTue: 5°C, clear",
        ),
        (
            "qwen0.5b-host.d_xml_result",
            "{\"city\":\"Oslo\",\"forecast\":[{\"day\":\"Mon\",\"high_c\":3,\"sky\":\"snow\"},{\"day\":\"Tue\",\"high_c\":5,\"sky\":\"clear\"}]}",
        ),
        ("qwen1.5b-host.loop-xml.turn3", "The garden gate code is 4417."),
        ("qwen1.5b-host.loop-xml-one.turn2", "The note says: Buy milk and two lemons."),
        ("qwen1.5b-host.loop-xml-error.turn2", "The file \"notes/z.txt\" does not exist."),
        ("qwen0.5b-host.loop-xml.turn2", "The note says: Error: no such folder"),
        ("qwen0.5b-host.loop-xml-one.turn2", "The note says: Error: no such folder"),
        ("qwen0.5b-host.loop-xml-error.turn2", "The note says: Error: no such file: notes/z.txt"),
    ] {
        let (events, _) = replay(name);
        assert_eq!((answers(&events).as_str(), completion(&events)), (said, Some(None)), "{name}");
        assert!(calls(&events).is_empty() && !thoughts(&events).is_empty());
    }
}

#[test]
fn every_recording_of_the_protocol_is_tested() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recordings");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let xml = names.filter(|name| name.strip_suffix(".sse").is_some_and(|stem| stem.contains("xml")));
    assert_eq!(xml.count(), 14 + 8 + 1);
}

#[test]
fn thoughts_only_get_a_reminder() {
    let (events, _) = replay("qwen0.5b-host.d_xml_plain");
    assert_eq!(thoughts(&events), "Bonjour ! Comment puis-je vous aider aujourd'hui ?");
    assert!(reminder(&events).unwrap().contains("neither a tool call nor an answer"));
    assert!(calls(&events).is_empty() && completion(&events).is_none());
}

#[test]
fn nothing_runs_before_its_recorded_text_is_complete() {
    let name = "qwen1.5b-host.d_xml_call";
    let text = text(name);
    let end = text.find("</use_mcp_tool>").unwrap() + "</use_mcp_tool>".len();
    for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
        let (events, _) = read(&Xml, chunks([&text[..at]], FinishReason::Length));
        let parsed = calls(&events).iter().filter(|call| matches!(call.arguments, Arguments::Parsed { .. })).count();
        assert_eq!(parsed, usize::from(at >= end), "{at}");
    }
}

#[test]
fn native_the_same_call_thirteen_times() {
    let (events, _) = read(&Native, deltas("qwen1.5b-host.loop-native.turn1"));
    let calls = calls(&events);
    assert_eq!(calls.len(), 14);
    assert_eq!((calls[0].name.as_str(), calls[1].name.as_str()), ("files__list_folder", "files__read_file"));
    let ids: std::collections::HashSet<_> = calls.iter().map(|call| call.provider_id.clone().unwrap()).collect();
    assert_eq!(ids.len(), 14);
    assert!(calls[1..13].iter().all(|call| call.arguments == calls[1].arguments && call.name == calls[1].name));
    assert!(matches!(calls[1].arguments, Arguments::Parsed { .. }));
    assert!(matches!(calls[13].arguments, Arguments::CutOff { .. }), "the limit of tokens ended the reply");
    assert_eq!(events.last(), Some(&ModelEvent::Finished { reason: FinishReason::Length }));
}

#[test]
fn native_arguments_that_were_cut_off() {
    let (events, _) = read(&Native, deltas("qwen0.5b-host.b_tools_auto"));
    let calls = calls(&events);
    assert_eq!(calls.len(), 9);
    assert!(calls[..8].iter().all(|call| matches!(call.arguments, Arguments::Parsed { .. })));
    assert!(matches!(&calls[8].arguments, Arguments::CutOff { text } if text.ends_with("\"days\":")), "{:?}", calls[8]);
}

#[test]
fn native_two_calls_and_reasoning_only() {
    let (events, _) = read(&Native, deltas("qwen1.5b-host.b_tools_parallel"));
    assert_eq!(calls(&events).len(), 2);
    let (events, _) = read(&Native, deltas("qwen0.5b-host.c_think_chat"));
    assert!(!thoughts(&events).is_empty() && answers(&events).is_empty() && calls(&events).is_empty());
    assert_eq!(events.last(), Some(&ModelEvent::Finished { reason: FinishReason::Stop }));
    let (events, _) = read(&Xml, deltas("qwen0.5b-host.c_think_chat"));
    assert!(reminder(&events).is_some());
}
