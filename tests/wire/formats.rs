//! What holds for every wire format, whatever comes.

use crate::hints::{merged, read_as, reference};
use mcpane::domain::model::StreamEvent;
use mcpane::provider::wire;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// Bodies that end well, by format.
const BODIES: &[(&str, &str)] = &[
    ("anthropic", "anthropic.every_event.sse"),
    ("anthropic", "anthropic.answer.sse"),
    ("anthropic", "anthropic.max_tokens.sse"),
    ("gemini", "gemini.every_part.sse"),
    ("gemini", "gemini.answer.sse"),
    ("gemini", "gemini.malformed_call.sse"),
    ("ollama", "ollama.every_line.ndjson"),
    ("ollama", "ollama.answer.ndjson"),
    ("openai_responses", "openai_responses.every_event.sse"),
    ("openai_responses", "openai_responses.incomplete.sse"),
];

/// Names that the formats give a meaning, and values that they know.
const NAMES: &[&str] = &[
    "type",
    "index",
    "message",
    "content_block",
    "delta",
    "text",
    "thinking",
    "signature",
    "data",
    "id",
    "name",
    "input",
    "partial_json",
    "stop_reason",
    "usage",
    "input_tokens",
    "output_tokens",
    "error",
    "content",
    "candidates",
    "parts",
    "functionCall",
    "args",
    "finishReason",
    "thoughtSignature",
    "thought",
    "usageMetadata",
    "done",
    "tool_calls",
    "function",
    "arguments",
    "done_reason",
    "output_index",
    "item",
    "call_id",
    "response",
    "output",
    "summary",
    "encrypted_content",
];
const VALUES: &[&str] = &[
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "message",
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "text_delta",
    "thinking_delta",
    "signature_delta",
    "input_json_delta",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.reasoning_summary_text.delta",
    "response.completed",
    "function_call",
    "reasoning",
    "STOP",
    "MALFORMED_FUNCTION_CALL",
];

fn pieces(body: &[u8], cuts: &[Index]) -> Vec<Vec<u8>> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
    at.extend([0, body.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| body[pair[0]..pair[1]].to_vec()).collect()
}

fn without_life(events: Vec<StreamEvent>) -> Vec<StreamEvent> {
    events.into_iter().filter(|event| *event != StreamEvent::Alive).collect()
}

/// A frame with the right names, values that mean something, and any structure.
fn odd_frame() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..4).prop_map(Value::from),
        "[a-z{}\"]{0,6}".prop_map(Value::from),
        prop::sample::select(VALUES.to_vec()).prop_map(Value::from),
    ];
    let tree = leaf.prop_recursive(5, 40, 4, move |inner| {
        let object = proptest::collection::vec((prop::sample::select(NAMES.to_vec()), inner.clone()), 0..5);
        prop_oneof![
            3 => object.prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
            1 => proptest::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    });
    (
        prop::sample::select(VALUES.to_vec()),
        proptest::collection::vec((prop::sample::select(NAMES.to_vec()), tree), 0..6),
    )
        .prop_map(|(kind, fields)| {
            let mut frame: serde_json::Map<String, Value> =
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            frame.insert("type".into(), kind.into());
            frame.into()
        })
}

fn calls(events: &[StreamEvent]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for event in events {
        match event {
            StreamEvent::CallStart { name, .. } => found.push((name.clone(), String::new())),
            StreamEvent::CallArguments { slot, text } => found[*slot as usize].1.push_str(text),
            _ => {}
        }
    }
    found
}

/// A reply with these calls, as the format streams it. `mixed`: their pieces come in turn, where the format can tell them apart.
fn parallel(format: &str, wanted: &[(String, Value)], mixed: bool) -> Vec<u8> {
    match format {
        "anthropic" => anthropic_calls(wanted, mixed),
        "gemini" => gemini_calls(wanted, mixed),
        "ollama" => ollama_calls(wanted, mixed),
        "openai_responses" => responses_calls(wanted, mixed),
        other => panic!("no parallel calls for {other}"),
    }
}

fn sse(events: &[Value]) -> Vec<u8> {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into_bytes()
}

fn halves(arguments: &Value) -> [String; 2] {
    let text = arguments.to_string();
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap();
    [text[..middle].to_owned(), text[middle..].to_owned()]
}

fn anthropic_calls(wanted: &[(String, Value)], mixed: bool) -> Vec<u8> {
    let mut events = Vec::new();
    let mut late = Vec::new();
    for (index, (name, arguments)) in wanted.iter().enumerate() {
        // The same id twice: the index tells them apart.
        let block = json!({ "type": "tool_use", "id": "toolu", "name": name, "input": {} });
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        for half in halves(arguments) {
            let piece = json!({ "type": "content_block_delta", "index": index, "delta": { "type": "input_json_delta", "partial_json": half } });
            if mixed { late.push(piece) } else { events.push(piece) }
        }
        if !mixed {
            events.push(json!({ "type": "content_block_stop", "index": index }));
        }
    }
    // First halves in order, then second halves.
    events.extend(late.iter().step_by(2).cloned());
    events.extend(late.iter().skip(1).step_by(2).cloned());
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }));
    sse(&events)
}

/// A line a call, or all in one; no ids, or all the same.
fn ollama_calls(wanted: &[(String, Value)], mixed: bool) -> Vec<u8> {
    let call = |(name, arguments): &(String, Value)| {
        let mut call = json!({ "function": { "index": 0, "name": name, "arguments": arguments } });
        if mixed {
            call["id"] = "same".into();
        }
        call
    };
    let calls: Vec<Value> = wanted.iter().map(call).collect();
    let groups: Vec<Vec<Value>> = if mixed { vec![calls] } else { calls.into_iter().map(|call| vec![call]).collect() };
    let mut lines: Vec<Value> = groups
        .into_iter()
        .map(|calls| json!({ "message": { "role": "assistant", "content": "", "tool_calls": calls }, "done": false }))
        .collect();
    lines.push(json!({ "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop" }));
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

/// A frame a call, or all in one; no ids, or all the same.
fn gemini_calls(wanted: &[(String, Value)], mixed: bool) -> Vec<u8> {
    let part = |(name, arguments): &(String, Value)| {
        let mut call = json!({ "name": name, "args": arguments });
        if mixed {
            call["id"] = "same".into();
        }
        json!({ "functionCall": call })
    };
    let parts: Vec<Value> = wanted.iter().map(part).collect();
    let groups: Vec<Vec<Value>> = if mixed { vec![parts] } else { parts.into_iter().map(|part| vec![part]).collect() };
    let mut frames: Vec<Value> =
        groups.into_iter().map(|parts| json!({ "candidates": [{ "content": { "parts": parts } }] })).collect();
    frames.push(json!({ "candidates": [{ "finishReason": "STOP" }] }));
    sse(&frames)
}

fn responses_calls(wanted: &[(String, Value)], mixed: bool) -> Vec<u8> {
    let (mut events, mut late) = (Vec::new(), Vec::new());
    for (index, (name, arguments)) in wanted.iter().enumerate() {
        let item = |text: &str| json!({ "type": "function_call", "call_id": "same", "name": name, "arguments": text });
        events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": item("") }));
        for half in halves(arguments) {
            let piece =
                json!({ "type": "response.function_call_arguments.delta", "output_index": index, "delta": half });
            if mixed { late.push(piece) } else { events.push(piece) }
        }
        if !mixed {
            let done = json!({ "type": "response.output_item.done", "output_index": index, "item": item(&arguments.to_string()) });
            events.push(done);
        }
    }
    events.extend(late.iter().step_by(2).cloned());
    events.extend(late.iter().skip(1).step_by(2).cloned());
    events.push(json!({ "type": "response.completed", "response": { "status": "completed" } }));
    sse(&events)
}

const FORMATS: &[&str] = &["anthropic", "gemini", "ollama", "openai_responses"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_cutting_of_the_bytes_gives_the_same_events(
        which in 0..BODIES.len(),
        line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        bom in any::<bool>(),
        cuts in proptest::collection::vec(any::<Index>(), 0..40),
    ) {
        let (format, name) = BODIES[which];
        let body = reference(name);
        let (expected, error) = read_as(format, vec![body.clone()]);
        prop_assert_eq!(error, None);
        let text = String::from_utf8(body).unwrap().replace('\n', line_end);
        let text = if bom { format!("\u{feff}{text}") } else { text };
        let (events, error) = read_as(format, pieces(text.as_bytes(), &cuts));
        prop_assert_eq!(error, None);
        prop_assert_eq!(without_life(events), without_life(expected));
    }

    #[test]
    fn a_body_cut_anywhere_never_finishes_falsely(which in 0..BODIES.len(), cut in any::<Index>()) {
        let (format, name) = BODIES[which];
        let body = reference(name);
        let (whole, _) = read_as(format, vec![body.clone()]);
        let (events, error) = read_as(format, vec![body[..cut.index(body.len())].to_vec()]);
        let finished = matches!(events.last(), Some(StreamEvent::Finish { .. }));
        prop_assert_eq!(finished, error.is_none());
        // What came is a beginning of what would have come.
        let (events, whole) = (without_life(events), without_life(whole));
        let said = events.iter().take_while(|event| !matches!(event, StreamEvent::Usage { .. } | StreamEvent::Finish { .. } | StreamEvent::Opaque { .. })).count();
        prop_assert_eq!(&events[..said], &whole[..said]);
    }

    #[test]
    fn no_bytes_panic(
        which in 0..FORMATS.len(),
        body in proptest::collection::vec(any::<u8>(), 0..400),
        cuts in proptest::collection::vec(any::<Index>(), 0..8),
    ) {
        read_as(FORMATS[which], pieces(&body, &cuts));
    }

    #[test]
    fn no_json_panics(which in 0..FORMATS.len(), frames in proptest::collection::vec(odd_frame(), 0..16)) {
        let mut decoder = wire::find(FORMATS[which]).unwrap().decoder();
        let mut out = Vec::new();
        for frame in &frames {
            if decoder.data(&frame.to_string(), &mut out).is_err() {
                return Ok(());
            }
        }
        let _ = decoder.end(&mut out);
        let (mut begun, mut finishes) = (0, 0);
        for event in &out {
            match event {
                StreamEvent::CallStart { slot, .. } => {
                    prop_assert_eq!(*slot, begun, "slots rise");
                    begun += 1;
                }
                StreamEvent::CallArguments { slot, .. } => prop_assert!(*slot < begun, "arguments before their call"),
                StreamEvent::Finish { .. } => finishes += 1,
                _ => {}
            }
        }
        prop_assert!(finishes <= 1);
    }

    #[test]
    fn parallel_calls_are_never_merged(
        which in 0..FORMATS.len(),
        bodies in proptest::collection::vec(("[a-c]", "[a-z{}\\\\\"é ]{0,12}"), 1..6),
        mixed in any::<bool>(),
        cuts in proptest::collection::vec(any::<Index>(), 0..10),
    ) {
        let format = FORMATS[which];
        let wanted: Vec<(String, Value)> =
            bodies.iter().map(|(name, text)| (name.clone(), json!({ "v": text }))).collect();
        let (events, error) = read_as(format, pieces(&parallel(format, &wanted, mixed), &cuts));
        prop_assert_eq!(error, None);
        let found: Vec<(String, Value)> = calls(&merged(&events))
            .into_iter()
            .map(|(name, text)| (name, serde_json::from_str(&text).unwrap()))
            .collect();
        prop_assert_eq!(found, wanted);
    }
}
