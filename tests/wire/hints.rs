//! What the tests of this folder share.

use bytes::Bytes;
use futures::{StreamExt, stream};
use mcpane::domain::Usage;
use mcpane::domain::model::{FinishReason, ModelError, StreamEvent};
use mcpane::provider::EventStream;
use mcpane::provider::reply::{Limits, events};
use mcpane::provider::wire::openai_chat::Decoder;
use mcpane::provider::wire::{self, Decode};
use serde_json::{Value, json};
use std::path::Path;

/// How a reply ended: its events, and the error if there was one.
pub type Ended = (Vec<StreamEvent>, Option<ModelError>);

pub fn recording(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recordings").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub async fn collect(mut stream: EventStream) -> Ended {
    let mut events = Vec::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "something follows the error");
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

/// Reads a body in these pieces through the same layer as the transport does.
pub fn read(pieces: Vec<Vec<u8>>) -> Ended {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(reading(pieces))
}

pub async fn reading(pieces: Vec<Vec<u8>>) -> Ended {
    decoded(Box::<Decoder>::default(), pieces).await
}

async fn decoded(decoder: Box<dyn Decode>, pieces: Vec<Vec<u8>>) -> Ended {
    let body = stream::iter(pieces.into_iter().map(|piece| Ok(Bytes::from(piece))));
    collect(events(body, decoder, Limits::default())).await
}

/// The same in the wire format of that name.
pub fn read_as(format: &str, pieces: Vec<Vec<u8>>) -> Ended {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(decoded(wire::find(format).unwrap().decoder(), pieces))
}

/// A body written from an API's public reference.
pub fn reference(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wire").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One that ends well, merged.
pub fn referred(format: &str, name: &str) -> Vec<StreamEvent> {
    let (events, error) = read_as(format, vec![reference(name)]);
    assert_eq!(error, None, "{name}");
    merged(&events)
}

/// A signed block as it is kept: after so many calls and characters.
pub fn opaque(block: Value, calls: usize, chars: usize) -> StreamEvent {
    StreamEvent::Opaque { value: json!({ "block": block, "calls": calls, "chars": chars }) }
}

/// Without signs of life, and with neighbouring pieces of one kind joined.
pub fn merged(events: &[StreamEvent]) -> Vec<StreamEvent> {
    let mut out: Vec<StreamEvent> = Vec::new();
    for event in events {
        match (out.last_mut(), event) {
            (_, StreamEvent::Alive) => {}
            (Some(StreamEvent::Text { text }), StreamEvent::Text { text: more })
            | (Some(StreamEvent::Reasoning { text }), StreamEvent::Reasoning { text: more }) => text.push_str(more),
            (
                Some(StreamEvent::CallArguments { slot, text }),
                StreamEvent::CallArguments { slot: same, text: more },
            ) if slot == same => text.push_str(more),
            _ => out.push(event.clone()),
        }
    }
    out
}

pub fn text(text: &str) -> StreamEvent {
    StreamEvent::Text { text: text.to_owned() }
}

pub fn reasoning(text: &str) -> StreamEvent {
    StreamEvent::Reasoning { text: text.to_owned() }
}

pub fn start(slot: u32, id: Option<&str>, name: &str) -> StreamEvent {
    StreamEvent::CallStart { slot, id: id.map(str::to_owned), name: name.to_owned() }
}

pub fn arguments(slot: u32, text: &str) -> StreamEvent {
    StreamEvent::CallArguments { slot, text: text.to_owned() }
}

pub fn usage(input: u64, output: u64, cached: u64) -> StreamEvent {
    StreamEvent::Usage { usage: Usage { input, output, cached, written: 0, reasoning: 0 } }
}

pub fn finish(reason: FinishReason) -> StreamEvent {
    StreamEvent::Finish { reason }
}
