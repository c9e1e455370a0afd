//! What the dialect tests share: offered tools, feeding a parser, conversations.

use mcpane::dialect::{Dialect, Flow, aliases, native::Native, object::Json, react::React, xml::Xml};
use mcpane::domain::conversation::{Conversation, Item, ItemBody, Step, StepEnd, Turn, TurnEnd, UserInput};
use mcpane::domain::model::{FinishReason, ModelEvent, ProposedCall, StreamEvent};
use mcpane::domain::names::{NameRule, Names};
use mcpane::domain::tool::{Annotations, Risk};
use mcpane::domain::{CallId, ItemId, Origin, ServerName, StepId, ToolCall, ToolId, ToolOutcome, ToolSpec, TurnId};
use serde_json::{Value, json};
use std::sync::Arc;

/// A tool's definition.
pub fn spec(server: Option<&str>, name: &str, description: &str, schema: Value) -> Arc<ToolSpec> {
    let id = server.map_or_else(|| ToolId::builtin(name), |server| ToolId::on(&ServerName::from(server), name));
    Arc::new(ToolSpec {
        id,
        title: None,
        description: description.into(),
        input_schema: Arc::new(schema),
        output_schema: None,
        annotations: Annotations::default(),
        risk: if server.is_some() { Risk::External } else { Risk::Read },
        hash: "0".into(),
    })
}

fn strings(required: &[&str], optional: &[&str]) -> Value {
    let all = required.iter().chain(optional);
    let properties: serde_json::Map<String, Value> = all
        .map(|name| ((*name).to_owned(), json!({"type": "string", "description": format!("The {name}.")})))
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// The built-ins and two servers, sorted by true name.
pub fn tools() -> Vec<Arc<ToolSpec>> {
    let forecast = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {
        "latitude": {"type": "number"}, "longitude": {"type": "number"}}, "required": ["latitude", "longitude"]});
    let ask = json!({"type": "object", "properties": {"question": {"type": "string", "description": "The question."},
        "options": {"type": "array", "items": {"type": "string"}, "description": "Answers."}}, "required": ["question"]});
    let mut tools = vec![
        spec(None, "access_mcp_resource", "Reads a resource.", strings(&["server_name", "uri"], &[])),
        spec(None, "ask_followup_question", "Asks the user a question.", ask),
        spec(None, "execute_command", "Runs a command.", strings(&["command"], &["cwd"])),
        spec(None, "read_file", "Reads a text file.", strings(&["path"], &["start_line"])),
        spec(None, "replace_in_file", "Changes a file.", strings(&["path"], &["diff", "search", "replace"])),
        spec(None, "write_to_file", "Writes a whole file.", strings(&["path", "content"], &[])),
        spec(Some("files"), "list_folder", "Lists a folder.", strings(&["path"], &[])),
        spec(Some("files"), "read_file", "Reads a file.", strings(&["path"], &[])),
        spec(Some("weather"), "get_forecast", "Get the weather forecast.", forecast),
        spec(Some("weather"), "table", "Shows a table.", strings(&[], &[])),
    ];
    tools.sort_by(|a, b| a.id.cmp(&b.id));
    tools
}

/// Their names.
pub fn names() -> Arc<Names> {
    let tools = tools();
    Arc::new(Names::new(tools.iter().map(|tool| &tool.id), NameRule::default(), aliases().names()))
}

/// Feeds events until the parser stops, then ends it. Neighbouring pieces of text are joined, and of a run of `CallGrew` the
/// last one is kept.
pub fn read(dialect: &dyn Dialect, events: impl IntoIterator<Item = StreamEvent>) -> (Vec<ModelEvent>, Flow) {
    let mut parser = dialect.parser(names());
    let mut out = Vec::new();
    let mut flow = Flow::Continue;
    for event in events {
        flow = parser.feed(event, &mut out);
        if flow == Flow::Stop {
            break;
        }
    }
    parser.end(&mut out);
    (joined(out), flow)
}

fn joined(events: Vec<ModelEvent>) -> Vec<ModelEvent> {
    let mut out: Vec<ModelEvent> = Vec::new();
    for event in events {
        match (out.last_mut(), &event) {
            (Some(ModelEvent::Thinking { text }), ModelEvent::Thinking { text: more })
            | (Some(ModelEvent::Answer { text }), ModelEvent::Answer { text: more }) => text.push_str(more),
            (Some(ModelEvent::CallGrew { slot, bytes }), ModelEvent::CallGrew { slot: same, bytes: now })
                if slot == same =>
            {
                *bytes = *now;
            }
            _ => out.push(event),
        }
    }
    out
}

/// Text in chunks, then the end.
pub fn chunks<'a>(chunks: impl IntoIterator<Item = &'a str>, reason: FinishReason) -> Vec<StreamEvent> {
    let text = chunks.into_iter().map(|chunk| StreamEvent::Text { text: chunk.to_owned() });
    text.chain([StreamEvent::Finish { reason }]).collect()
}

/// The events of an XML reply that came at once and ended by itself.
pub fn xml(text: &str) -> Vec<ModelEvent> {
    read(&Xml, chunks([text], FinishReason::Stop)).0
}

/// The same in plain text with markers.
pub fn react(text: &str) -> Vec<ModelEvent> {
    read(&React, chunks([text], FinishReason::Stop)).0
}

/// The same as an object.
pub fn json(text: &str) -> Vec<ModelEvent> {
    read(&Json, chunks([text], FinishReason::Stop)).0
}

/// The text in pieces of at most `size` bytes.
pub fn pieces(text: &str, size: usize) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut at = size.min(rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let (piece, after) = rest.split_at(at);
        out.push(piece);
        rest = after;
    }
    out
}

/// The events of a native reply.
pub fn native(events: Vec<StreamEvent>) -> Vec<ModelEvent> {
    read(&Native, events).0
}

/// All thoughts.
pub fn thoughts(events: &[ModelEvent]) -> String {
    let text =
        |event: &ModelEvent| if let ModelEvent::Thinking { text } = event { text.clone() } else { String::new() };
    events.iter().map(text).collect()
}

/// All answers.
pub fn answers(events: &[ModelEvent]) -> String {
    let text = |event: &ModelEvent| if let ModelEvent::Answer { text } = event { text.clone() } else { String::new() };
    events.iter().map(text).collect()
}

/// All calls.
pub fn calls(events: &[ModelEvent]) -> Vec<&ProposedCall> {
    events.iter().filter_map(|event| if let ModelEvent::Call(call) = event { Some(call) } else { None }).collect()
}

/// The only call: its name and arguments.
pub fn call(events: &[ModelEvent]) -> (String, Value) {
    let calls = calls(events);
    assert_eq!(calls.len(), 1, "{events:?}");
    match &calls[0].arguments {
        mcpane::domain::model::Arguments::Parsed { value } => (calls[0].name.clone(), value.clone()),
        other => panic!("{other:?}"),
    }
}

/// The command of the completion, if the task was declared done.
#[allow(clippy::option_option)] // Not done, done, done with a command.
pub fn completion(events: &[ModelEvent]) -> Option<Option<String>> {
    events
        .iter()
        .find_map(|event| if let ModelEvent::Completion { command } = event { Some(command.clone()) } else { None })
}

/// The reminder, if the reply was not understood.
pub fn reminder(events: &[ModelEvent]) -> Option<String> {
    events
        .iter()
        .find_map(|event| if let ModelEvent::OffFormat { reminder } = event { Some(reminder.clone()) } else { None })
}

/// A call in a conversation.
pub fn tool_call(id: u64, tool: &str, arguments: Value) -> ToolCall {
    let tool = match tool.split_once(':') {
        Some((server, name)) => ToolId::on(&server.into(), name),
        None => ToolId::builtin(tool),
    };
    ToolCall {
        id: CallId(id),
        provider_id: None,
        asked: tool.to_string(),
        tool: Some(tool),
        arguments,
        origin: Origin::Xml,
    }
}

/// A thought.
pub fn thinking(text: &str) -> ItemBody {
    ItemBody::Thinking { text: text.into(), opaque: None }
}

/// An answer.
pub fn answer(text: &str) -> ItemBody {
    ItemBody::Answer { text: text.into() }
}

/// A call with its outcome.
pub fn called(call: ToolCall, outcome: ToolOutcome) -> ItemBody {
    ItemBody::Call { call, outcome: Some(outcome) }
}

/// A complete step.
pub fn step(id: u64, items: Vec<ItemBody>) -> Step {
    let items = items.into_iter().enumerate().map(|(at, body)| Item { id: ItemId(id * 100 + at as u64), body });
    Step { id: StepId(id), items: items.collect(), end: Some(StepEnd::Complete), ..Step::default() }
}

/// A turn.
pub fn turn(id: u64, text: &str, steps: Vec<Step>, end: Option<TurnEnd>) -> Turn {
    Turn { id: TurnId(id), input: UserInput::text(text), steps, end, ..Turn::default() }
}

/// A conversation.
pub fn conversation(turns: Vec<Turn>) -> Conversation {
    Conversation { turns }
}
