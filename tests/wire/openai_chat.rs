//! Replies in the Chat Completions format: recorded ones whole, and the habits of other servers written out.

use crate::hints::{arguments, finish, merged, read, reasoning, recording, start, text, usage};
use mcpane::domain::Usage;
use mcpane::domain::model::FinishReason::{Filtered, Length, Other, Stop, ToolCalls};
use mcpane::domain::model::{FinishReason, ModelErrorKind, StreamEvent};
use mcpane::provider::wire::Decode;
use mcpane::provider::wire::openai_chat::Decoder;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A recording that ends well, merged.
fn played(name: &str) -> Vec<StreamEvent> {
    let (events, error) = read(vec![recording(name)]);
    assert_eq!(error, None);
    merged(&events)
}

/// The chunks as a stream, ended with `[DONE]`.
fn stream_of(chunks: &[Value]) -> Vec<u8> {
    let lines: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    format!("{lines}data: [DONE]\n\n").into_bytes()
}

fn delta(delta: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn ends(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn calls(list: Value) -> Value {
    delta(json!({ "tool_calls": list }))
}

fn told(chunks: &[Value]) -> Vec<StreamEvent> {
    let (events, error) = read(vec![stream_of(chunks)]);
    assert_eq!(error, None);
    merged(&events)
}

#[test]
fn two_parallel_calls() {
    let (events, _) = read(vec![recording("qwen1.5b-host.b_tools_parallel.sse")]);
    // The role's chunk is a sign of life; the first piece of a call begins it.
    let id = "j9cgWPLnNq7FcIKQWM6p0j7hn5w70Ml3";
    let first =
        [StreamEvent::Alive, start(0, Some(id), "weather__get_forecast"), arguments(0, "{"), arguments(0, "\"")];
    assert_eq!(events[..4], first);
    let second = events.iter().find_map(|event| match event {
        StreamEvent::CallStart { slot: 1, id, .. } => id.clone(),
        _ => None,
    });
    assert_eq!(
        merged(&events),
        [
            start(0, Some(id), "weather__get_forecast"),
            arguments(0, r#"{"city": "Oslo", "days": 1}"#),
            start(1, second.as_deref(), "weather__get_forecast"),
            arguments(1, r#"{"city": "Paris", "days": 1}"#),
            usage(440, 68, 414),
            finish(ToolCalls),
        ]
    );
    assert!(second.is_some_and(|other| other != id));
}

#[test]
fn the_same_call_thirteen_times_until_the_limit() {
    let events = played("qwen1.5b-host.loop-native.turn1.sse");
    let starts: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::CallStart { name, .. } => Some(name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(starts[0], "files__list_folder");
    assert_eq!(starts[1..], ["files__read_file"; 13]);
    let same = events.iter().filter(
        |event| matches!(event, StreamEvent::CallArguments { slot: 1.., text } if text == r#"{"path": "notes/c.txt"}"#),
    );
    assert_eq!(same.count(), 13);
    assert_eq!(events.last(), Some(&finish(Length)));
}

#[test]
fn nine_calls_the_last_cut_off() {
    let events = played("qwen0.5b-host.b_tools_auto.sse");
    for slot in 0..8 {
        let whole = arguments(slot, &format!("{{\"city\": \"Oslo\", \"days\": {}}}", slot + 2));
        assert!(events.contains(&whole), "{slot}");
    }
    assert_eq!(
        events[events.len() - 3..],
        [arguments(8, r#"{"city": "Oslo", "days":"#), usage(433, 300, 8), finish(Length)]
    );
}

#[test]
fn reasoning_only() {
    let events = played("qwen0.5b-host.c_think_chat.sse");
    let said = "The farmer has 17 sheep. All but 9 run away. Therefore, the number of sheep left is 17 - 9 = 8.\n";
    assert_eq!(events[0], reasoning(said));
    assert_eq!((events.len(), events.last()), (3, Some(&finish(Stop))));
    let both = played("qwen1.5b-think-on.chat.sse");
    assert!(matches!(&both[0], StreamEvent::Reasoning { text } if text.starts_with("12")));
}

#[test]
fn comments_are_life_and_text_is_whole() {
    let (events, error) = read(vec![recording("qwen0.5b-host.g_keepalive.sse")]);
    assert_eq!((merged(&events), error), (vec![text("1"), usage(3634, 2, 0), finish(Stop)], None));
    assert_eq!(played("qwen1.5b-host.g_utf8.sse")[0], text("Good morning! 🌅🌅🌅"));
    assert_eq!(played("qwen1.5b-host.f_max_tokens.sse").last(), Some(&finish(Length)));
    let markdown = played("qwen1.5b-host.a_chat_md.sse");
    assert!(matches!(&markdown[0], StreamEvent::Text { text } if text.contains("```")), "{markdown:?}");
    assert_eq!((markdown.len(), markdown.last()), (3, Some(&finish(Stop))));
    // A call written into the text stays text here; to recover it is a dialect's affair.
    let leaked = played("qwen1.5b-stock.b_tools_auto.sse");
    assert!(matches!(&leaked[0], StreamEvent::Text { text } if text.starts_with("```json")));
    assert_eq!((leaked.len(), leaked.last()), (3, Some(&finish(Stop))));
}

#[test]
fn a_server_that_does_not_stream() {
    assert_eq!(
        played("qwen1.5b-host.g_no_stream_tools.sse"),
        [
            start(0, Some("F5uCExQfUUIoi4brw87dY7A64w0397n3"), "weather__get_forecast"),
            arguments(0, r#"{"city": "Oslo", "days": 2}"#),
            usage(433, 35, 414),
            finish(ToolCalls),
        ]
    );
    let cut = played("qwen0.5b-host.g_no_stream_tools.sse");
    assert_eq!(cut.iter().filter(|event| matches!(event, StreamEvent::CallStart { .. })).count(), 9);
    assert_eq!(cut.last(), Some(&finish(Length)));
    // Laid out over lines, without a reason for the end.
    let body = "\u{feff}\r\n{\n \"choices\": [\r\n{\"message\": {\"content\": \"a\"}}\n]\n}";
    let (events, error) = read(vec![body.into()]);
    assert_eq!((merged(&events), error), (vec![text("a"), finish(Stop)], None));
}

#[test]
fn reasoning_by_its_other_names() {
    let thought = |value: Value| merged(&told(&[delta(value), ends("stop")]))[0].clone();
    assert_eq!(thought(json!({ "reasoning": "a" })), reasoning("a"));
    assert_eq!(thought(json!({ "reasoning_content": "a", "reasoning": "a" })), reasoning("a"));
    assert_eq!(thought(json!({ "reasoning_content": "", "reasoning": "a" })), reasoning("a"));
    let details = json!([{ "type": "reasoning.summary", "summary": "a" }, { "type": "reasoning.text", "text": "b" }]);
    assert_eq!(thought(json!({ "reasoning_details": details })), reasoning("ab"));
    assert_eq!(thought(json!({ "reasoning": "a", "reasoning_details": details })), reasoning("a"));
    let parts = json!([{ "type": "thinking", "thinking": [{ "type": "text", "text": "a" }] }]);
    assert_eq!(thought(json!({ "content": parts })), reasoning("a"));
}

#[test]
fn content_in_parts_nulls_and_refusals() {
    let parts = json!([{ "type": "text", "text": "a" }, { "type": "output_text", "text": "b" }, "c", null, {}]);
    assert_eq!(told(&[delta(json!({ "content": parts })), ends("stop")])[0], text("abc"));
    assert_eq!(told(&[delta(json!({ "content": null, "refusal": "no" })), ends("stop")])[0], text("no"));
    let nulls = json!({
        "id": null, "error": null, "usage": null,
        "choices": [{ "index": null, "delta": { "content": null, "tool_calls": null, "function_call": null, "reasoning": null,
            "reasoning_details": null, "role": null }, "finish_reason": null, "message": null }],
    });
    assert_eq!(told(&[nulls, ends("stop")]), [finish(Stop)]);
    let empty = json!({ "choices": [{ "delta": null, "finish_reason": "" }] });
    assert_eq!(told(&[empty, json!({ "choices": null }), ends("stop")]), [finish(Stop)]);
    // Only the first choice is read.
    let two = json!({ "choices": [{ "index": 1, "delta": { "content": "b" } }, { "index": 0, "delta": { "content": "a" } }] });
    assert_eq!(told(&[two, ends("stop")])[0], text("a"));
}

#[test]
fn deltas_without_content_are_alive() {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    for data in
        [delta(json!({ "content": "" })), delta(json!({ "reasoning_content": "" })), delta(json!({})), json!({})]
    {
        decoder.data(&data.to_string(), &mut out).unwrap();
    }
    decoder.data("", &mut out).unwrap();
    assert_eq!(out, vec![StreamEvent::Alive; 5]);
}

#[test]
fn calls_told_apart() {
    let whole = |index: Value, id: Value, name: &str, arguments: &str| json!({ "index": index, "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    let (a, b) = (r#"{"n":1}"#, r#"{"n":2}"#);
    let two = |first: Option<&str>, second: Option<&str>| {
        vec![start(0, first, "f"), arguments(0, a), start(1, second, "f"), arguments(1, b), finish(ToolCalls)]
    };
    let null = Value::Null;
    let cases: Vec<(&str, Vec<Value>, Vec<StreamEvent>)> = vec![
        (
            "index 0 again and again, other ids",
            vec![
                calls(json!([whole(json!(0), json!("x"), "f", a)])),
                calls(json!([whole(json!(0), json!("y"), "f", b)])),
            ],
            two(Some("x"), Some("y")),
        ),
        (
            "index 0 again and again, no ids",
            vec![
                calls(json!([whole(json!(0), json!(""), "f", a)])),
                calls(json!([whole(json!(0), null.clone(), "f", b)])),
            ],
            two(None, None),
        ),
        (
            "neither index nor id",
            vec![
                calls(json!([whole(null.clone(), null.clone(), "f", a)])),
                calls(json!([whole(null.clone(), null.clone(), "f", b)])),
            ],
            two(None, None),
        ),
        (
            "both in one delta, neither index nor id",
            vec![calls(json!([whole(null.clone(), null.clone(), "f", a), whole(null.clone(), null.clone(), "f", b)]))],
            two(None, None),
        ),
        (
            "one id for all",
            vec![
                calls(json!([whole(json!(0), json!("x"), "f", a)])),
                calls(json!([whole(json!(1), json!("x"), "f", b)])),
            ],
            two(Some("x"), None),
        ),
        (
            "arguments as JSON",
            vec![calls(json!([{ "id": "x", "function": { "name": "f", "arguments": { "n": 1 } } }]))],
            vec![start(0, Some("x"), "f"), arguments(0, a), finish(ToolCalls)],
        ),
        (
            "the function's fields beside the id",
            vec![calls(json!({ "id": "x", "name": "f", "arguments": a }))],
            vec![start(0, Some("x"), "f"), arguments(0, a), finish(ToolCalls)],
        ),
        (
            "a new id with every piece",
            vec![
                calls(json!([whole(json!(0), json!("x"), "f", "{\"n\"")])),
                calls(json!([{ "index": 0, "id": "y", "function": { "arguments": ":1}" } }])),
            ],
            vec![start(0, Some("x"), "f"), arguments(0, a), finish(ToolCalls)],
        ),
        (
            "id and name with every piece, and once more at the end",
            vec![
                calls(json!([whole(json!(0), json!("x"), "f", "{\"n\"")])),
                calls(json!([whole(json!(0), json!("x"), "f", ":1}")])),
                calls(json!([whole(json!(0), json!("x"), "f", "")])),
            ],
            vec![start(0, Some("x"), "f"), arguments(0, a), finish(ToolCalls)],
        ),
        (
            "the name after the arguments began",
            vec![
                calls(json!([{ "index": 0, "id": "x", "function": { "arguments": "{\"n\"" } }])),
                calls(json!([{ "index": 0, "function": { "name": "f", "arguments": ":1}" } }])),
            ],
            vec![start(0, Some("x"), "f"), arguments(0, a), finish(ToolCalls)],
        ),
        (
            "pieces of two calls in turn",
            vec![
                calls(json!([whole(json!(0), json!("x"), "f", "{\"n\""), whole(json!(1), json!("y"), "f", "{\"n\"")])),
                calls(
                    json!([{ "index": 1, "function": { "arguments": ":2}" } }, { "index": 0, "function": { "arguments": ":1}" } }]),
                ),
            ],
            vec![
                start(0, Some("x"), "f"),
                arguments(0, "{\"n\""),
                start(1, Some("y"), "f"),
                arguments(1, b),
                arguments(0, ":1}"),
                finish(ToolCalls),
            ],
        ),
        (
            "an older server's function_call",
            vec![
                delta(json!({ "function_call": { "name": "f", "arguments": "{\"n\"" } })),
                delta(json!({ "function_call": { "arguments": ":1}" } })),
                ends("function_call"),
            ],
            vec![start(0, None, "f"), arguments(0, a), finish(ToolCalls)],
        ),
        (
            "braces inside strings do not end a call",
            vec![
                calls(json!([whole(json!(0), null.clone(), "f", r#"{"s":"}\"}"#)])),
                calls(json!([whole(json!(0), null.clone(), "f", r#"{"}"#)])),
            ],
            vec![start(0, None, "f"), arguments(0, r#"{"s":"}\"}{"}"#), finish(ToolCalls)],
        ),
        (
            "a call without a name",
            vec![calls(json!([{ "index": 0, "id": "x", "function": { "arguments": a } }]))],
            vec![start(0, Some("x"), ""), arguments(0, a), finish(ToolCalls)],
        ),
    ];
    for (what, chunks, expected) in cases {
        assert_eq!(told(&chunks), expected, "{what}");
    }
}

#[test]
fn reasons_for_the_end() {
    let reason = |reason: &str| told(&[delta(json!({ "content": "a" })), ends(reason)]).pop();
    let cases: [(&str, FinishReason); 7] = [
        ("stop", Stop),
        ("STOP", Stop),
        ("length", Length),
        ("max_tokens", Length),
        ("content_filter", Filtered),
        ("tool_calls", ToolCalls),
        ("Weird", Other("Weird".into())),
    ];
    for (said, meant) in cases {
        assert_eq!(reason(said), Some(finish(meant)), "{said}");
    }
    // "stop" although there is a call; no reason at all, but [DONE].
    let call = calls(json!([{ "index": 0, "id": "x", "function": { "name": "f", "arguments": "{}" } }]));
    assert_eq!(told(&[call.clone(), ends("stop")]).pop(), Some(finish(ToolCalls)));
    assert_eq!(told(std::slice::from_ref(&call)).pop(), Some(finish(ToolCalls)));
    assert_eq!(told(&[delta(json!({ "content": "a" }))]).pop(), Some(finish(Stop)));
}

#[test]
fn after_the_reason_only_counts_are_taken() {
    let late = told(&[
        delta(json!({ "content": "a" })),
        ends("stop"),
        delta(json!({ "content": "b" })),
        json!({ "error": { "message": "late" } }),
        json!({ "choices": [], "usage": { "prompt_tokens": 1, "completion_tokens": 2 } }),
        ends("length"),
    ]);
    assert_eq!(late, [text("a"), usage(1, 2, 0), finish(Stop)]);
    // No [DONE], no empty line at the end.
    let body = format!("data: {}\n\ndata: {}", delta(json!({ "content": "a" })), ends("stop"));
    let (events, error) = read(vec![body.into()]);
    assert_eq!((merged(&events), error), (vec![text("a"), finish(Stop)], None));
}

#[test]
fn token_counts_by_their_other_names() {
    let counted = |usage: Value| {
        let events = told(&[json!({ "choices": [], "usage": usage }), ends("stop")]);
        let StreamEvent::Usage { usage } = events[0] else { panic!("no usage: {events:?}") };
        usage
    };
    let details = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
        "prompt_tokens_details": { "cached_tokens": 4 }, "completion_tokens_details": { "reasoning_tokens": 3 },
    });
    assert_eq!(counted(details), Usage { input: 10, output: 5, cached: 4, written: 0, reasoning: 3 });
    let deepseek = json!({ "prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 6 });
    assert_eq!(counted(deepseek), Usage { input: 10, output: 5, cached: 6, written: 0, reasoning: 0 });
    let xai = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 18, "completion_tokens_details": { "reasoning_tokens": 3 },
    });
    assert_eq!(counted(xai), Usage { input: 10, output: 8, cached: 0, written: 0, reasoning: 3 });
    let groq = json!({ "choices": [], "x_groq": { "usage": { "prompt_tokens": 1, "completion_tokens": 2 } } });
    assert_eq!(told(&[groq, ends("stop")])[0], usage(1, 2, 0));
    // Counts in every chunk are said once, zeros never.
    let same = json!({ "choices": [], "usage": { "prompt_tokens": 1, "completion_tokens": 0 } });
    let zero = json!({ "choices": [], "usage": { "prompt_tokens": 0, "completion_tokens": 0 } });
    assert_eq!(told(&[zero, same.clone(), same, ends("stop")]), [usage(1, 0, 0), finish(Stop)]);
}

#[test]
fn errors_inside_a_reply() {
    let failed = |chunks: &[Value]| {
        let (events, error) = read(vec![stream_of(chunks)]);
        let error = error.unwrap();
        (merged(&events).len(), error.kind, error.message, error.status)
    };
    let limit = json!({ "error": { "message": "too many", "code": 429 }, "choices": [] });
    let said = |kind, message: &str, status| (0, kind, message.to_owned(), status);
    assert_eq!(failed(std::slice::from_ref(&limit)), said(ModelErrorKind::RateLimited, "too many", Some(429)));
    assert_eq!(failed(&[json!({ "error": "boom" })]), said(ModelErrorKind::Server, "boom", None));
    let overloaded = json!({ "error": { "type": "overloaded_error", "message": "m" } });
    assert_eq!(failed(&[overloaded]), said(ModelErrorKind::Overloaded, "m", None));
    // In the middle of an answer what came is kept, and nothing is tried again unasked.
    let (events, kind, ..) = failed(&[delta(json!({ "content": "a" })), limit]);
    assert_eq!((events, kind), (1, ModelErrorKind::Cut));
}

#[test]
fn replies_that_break() {
    let broken = |body: &str| {
        let (events, error) = read(vec![body.as_bytes().to_vec()]);
        (merged(&events).len(), error.unwrap().kind)
    };
    let said = format!("data: {}\n\n", delta(json!({ "content": "a" })));
    assert_eq!(broken(&said), (1, ModelErrorKind::Cut));
    assert_eq!(broken(&format!("{said}data: {{\"choi")), (1, ModelErrorKind::Cut));
    assert_eq!(broken(": only a comment\n\n"), (0, ModelErrorKind::Network));
    assert_eq!(broken(""), (0, ModelErrorKind::Network));
    assert_eq!(broken(&format!("data: nonsense\n\n{said}")), (0, ModelErrorKind::Protocol));
    assert_eq!(broken("{\"choices\": "), (0, ModelErrorKind::Network));
    assert_eq!(broken("<html>not a model</html>"), (0, ModelErrorKind::Network));
}

#[test]
fn an_event_of_several_lines_cut_anywhere() {
    for line_end in ["\n", "\r\n", "\r"] {
        let body = format!(
            "data: {{\"choices\":\ndata: [{{\"delta\":\ndata: {{\"content\":\"a🌅\"}}}}]}}\n\ndata: {}\n\n",
            ends("stop")
        );
        let body = body.replace('\n', line_end).into_bytes();
        for at in 0..=body.len() {
            let (events, error) = read(vec![body[..at].to_vec(), body[at..].to_vec()]);
            assert_eq!((merged(&events), error), (vec![text("a🌅"), finish(Stop)], None), "{line_end:?} {at}");
        }
    }
}

/// Every recording that is a stream.
const STREAMS: [&str; 6] = [
    "qwen1.5b-host.b_tools_parallel.sse",
    "qwen0.5b-host.c_think_chat.sse",
    "qwen0.5b-host.g_keepalive.sse",
    "qwen1.5b-host.g_utf8.sse",
    "qwen1.5b-host.g_no_stream_tools.sse",
    "qwen1.5b-think-on.chat.sse",
];

fn pieces(body: &[u8], cuts: &[proptest::sample::Index]) -> Vec<Vec<u8>> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
    at.extend([0, body.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| body[pair[0]..pair[1]].to_vec()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_cutting_of_the_bytes_gives_the_same_events(
        which in 0..STREAMS.len(),
        line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        bom in any::<bool>(),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..40),
    ) {
        let body = recording(STREAMS[which]);
        let alive = |events: Vec<StreamEvent>| {
            events.into_iter().filter(|event| *event != StreamEvent::Alive).collect::<Vec<_>>()
        };
        let (expected, error) = read(vec![body.clone()]);
        prop_assert_eq!(error, None);
        let text = String::from_utf8(body).unwrap().replace('\n', line_end);
        let text = if bom { format!("\u{feff}{text}") } else { text };
        let (events, error) = read(pieces(text.as_bytes(), &cuts));
        prop_assert_eq!(error, None);
        prop_assert_eq!(alive(events), alive(expected));
    }

    #[test]
    fn byte_by_byte_gives_the_same_events(which in 0..STREAMS.len()) {
        let body = recording(STREAMS[which]);
        let (expected, _) = read(vec![body.clone()]);
        let (events, _) = read(body.iter().map(|byte| vec![*byte]).collect());
        prop_assert_eq!(merged(&events), merged(&expected));
    }

    #[test]
    fn no_bytes_panic(body in proptest::collection::vec(any::<u8>(), 0..400), cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8)) {
        read(pieces(&body, &cuts));
    }

    #[test]
    fn no_json_panics(chunks in proptest::collection::vec(odd_chunk(), 0..12)) {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        let mut finishes = 0;
        for chunk in &chunks {
            if decoder.data(&chunk.to_string(), &mut out).is_err() {
                return Ok(());
            }
        }
        let _ = decoder.end(&mut out);
        let mut begun = 0;
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

    /// Whatever a server does to tell its calls apart, and in whatever order their pieces come, each comes out as it went in.
    #[test]
    fn parallel_calls_are_never_merged(
        bodies in proptest::collection::vec(("[a-c]", "[a-z{}\\\\\"é ]{0,12}"), 1..6),
        habit in 0..5usize,
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 6),
        order in any::<u64>(),
    ) {
        let expected: Vec<(String, String)> =
            bodies.iter().map(|(name, text)| (name.clone(), json!({ "v": text }).to_string())).collect();
        let mut chunks = Vec::new();
        // Only servers that number their calls (0: index and id, 1: index) send pieces of several in turn.
        let mut rest: Vec<(usize, String)> = Vec::new();
        for (at, (name, text)) in expected.iter().enumerate() {
            let marks = match habit {
                0 => json!({ "index": at, "id": format!("id{at}") }),
                1 => json!({ "index": at }),
                2 => json!({ "index": 0, "id": format!("id{at}") }),
                3 => json!({ "index": 0 }),
                _ => json!({}),
            };
            let cut = if habit < 2 { cuts[at].index(text.len() + 1) } else { text.len() };
            let cut = (0..=cut).rev().find(|cut| text.is_char_boundary(*cut)).unwrap();
            let mut first = marks;
            first["function"] = json!({ "name": name, "arguments": &text[..cut] });
            chunks.push(calls(json!([first])));
            if cut < text.len() {
                rest.push((at, text[cut..].to_owned()));
            }
        }
        let turn = usize::try_from(order).unwrap() % rest.len().max(1);
        rest.rotate_left(turn);
        chunks.extend(rest.into_iter().map(|(at, text)| calls(json!([{ "index": at, "function": { "arguments": text } }]))));
        chunks.push(ends("tool_calls"));
        let mut found: Vec<(String, String)> = Vec::new();
        for event in told(&chunks) {
            match event {
                StreamEvent::CallStart { name, .. } => found.push((name, String::new())),
                StreamEvent::CallArguments { slot, text } => found[slot as usize].1.push_str(&text),
                _ => {}
            }
        }
        prop_assert_eq!(found, expected);
    }
}

/// Chunks with the right names and any values.
fn odd_chunk() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..3).prop_map(Value::from),
        "[a-z{}\"]{0,6}".prop_map(Value::from),
    ];
    let names = [
        "choices",
        "delta",
        "message",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "index",
        "error",
        "code",
        "type",
        "usage",
        "finish_reason",
        "reasoning",
        "reasoning_details",
        "text",
        "function_call",
        "prompt_tokens",
    ];
    leaf.prop_recursive(7, 40, 4, move |inner| {
        let object = proptest::collection::vec((prop::sample::select(names.to_vec()), inner.clone()), 0..5);
        prop_oneof![
            object.prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
            proptest::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}
