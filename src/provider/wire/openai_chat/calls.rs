//! The calls of one reply, put together from their pieces.
//!
//! Owns: which piece belongs to which call. By id, else by index, else by order; a new name after whole arguments is a new call.
//! **Invariant:** a call keeps its slot, and no slot ever holds pieces of two calls that a server tells apart by id, index or name.

use crate::domain::model::StreamEvent;
use serde_json::Value;
use std::borrow::Cow;

/// A piece of a call, as a delta (or a whole message) holds it.
struct Piece<'a> {
    id: Option<&'a str>,
    index: Option<u64>,
    name: Option<&'a str>,
    arguments: Cow<'a, str>,
}

impl<'a> Piece<'a> {
    fn new(value: &'a Value, place: Option<u64>) -> Self {
        let text = |value: Option<&'a Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty());
        let function = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
        let index = value.get("index").and_then(|i| i.as_u64().or_else(|| i.as_str()?.parse().ok()));
        Self {
            id: text(value.get("id")),
            index: index.or(place),
            name: text(function.get("name")),
            arguments: match function.get("arguments") {
                None | Some(Value::Null) => Cow::Borrowed(""),
                Some(Value::String(text)) => Cow::Borrowed(text),
                // Some servers send the arguments as JSON instead of JSON in a string.
                Some(other) => Cow::Owned(other.to_string()),
            },
        }
    }

    fn adds_text(&self) -> bool {
        !self.arguments.trim().is_empty()
    }
}

/// How far a JSON text has come, without keeping it: enough to know that an object is whole.
#[derive(Default)]
struct Shape {
    depth: u32,
    begun: bool,
    in_string: bool,
    escaped: bool,
}

impl Shape {
    fn feed(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    self.begun = true;
                    self.depth += 1;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn is_whole(&self) -> bool {
        self.begun && self.depth == 0 && !self.in_string
    }
}

#[derive(Default)]
struct Call {
    id: Option<String>,
    index: Option<u64>,
    name: String,
    /// `CallStart` went out; until the name is known the arguments wait in `held`.
    started: bool,
    held: String,
    shape: Shape,
}

/// The calls so far. A call's slot is its place in the list.
#[derive(Default)]
pub(super) struct Calls {
    list: Vec<Call>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes the calls of a delta or of a whole message: `tool_calls`, or the older `function_call`.
    pub(super) fn take(&mut self, message: &Value, out: &mut Vec<StreamEvent>) {
        match message.get("tool_calls") {
            Some(Value::Array(list)) => {
                // Where several come at once without a number, their place in the list is their number.
                let numbered = list.len() > 1;
                for (place, value) in (0..).zip(list) {
                    self.piece(&Piece::new(value, numbered.then_some(place)), out);
                }
            }
            Some(value @ Value::Object(_)) => self.piece(&Piece::new(value, None), out),
            _ => {}
        }
        if let Some(value @ Value::Object(_)) = message.get("function_call") {
            self.piece(&Piece::new(value, None), out);
        }
    }

    /// Lets out what still waits for a name: a call without one is a mistake that the model must read about.
    pub(super) fn finish(&mut self, out: &mut Vec<StreamEvent>) {
        for (slot, call) in (0..).zip(&mut self.list) {
            if !call.started {
                call.start(slot, out);
            }
        }
    }

    fn piece(&mut self, piece: &Piece<'_>, out: &mut Vec<StreamEvent>) {
        if piece.id.is_none() && piece.name.is_none() && piece.arguments.is_empty() {
            return;
        }
        let at = self.find(piece).unwrap_or_else(|| self.open(piece));
        let call = &mut self.list[at];
        if call.name.is_empty() {
            piece.name.unwrap_or_default().clone_into(&mut call.name);
        }
        call.shape.feed(&piece.arguments);
        let slot = u32::try_from(at).unwrap_or(u32::MAX);
        if !call.started && call.name.is_empty() {
            call.held.push_str(&piece.arguments);
            return;
        }
        if !call.started {
            call.start(slot, out);
        }
        if !piece.arguments.is_empty() {
            out.push(StreamEvent::CallArguments { slot, text: piece.arguments.clone().into_owned() });
        }
    }

    /// The call that a piece goes on with; `None` when it begins one.
    fn find(&mut self, piece: &Piece<'_>) -> Option<usize> {
        let by_id = piece.id.and_then(|id| self.list.iter().rposition(|call| call.id.as_deref() == Some(id)));
        let at = match by_id {
            Some(at) => Some(at),
            None => match piece.index {
                Some(index) => self.list.iter().rposition(|call| call.index == Some(index)),
                None => self.list.len().checked_sub(1),
            },
        }?;
        let call = &mut self.list[at];
        if !call.goes_on(piece, by_id.is_some()) {
            return None;
        }
        if call.id.is_none() {
            call.id = piece.id.map(str::to_owned);
        }
        Some(at)
    }

    fn open(&mut self, piece: &Piece<'_>) -> usize {
        // An id that another call has already is no id: a result could not name its call by it.
        let id = piece.id.filter(|id| !self.list.iter().any(|call| call.id.as_deref() == Some(id)));
        self.list.push(Call { id: id.map(str::to_owned), index: piece.index, ..Call::default() });
        self.list.len() - 1
    }
}

impl Call {
    fn goes_on(&self, piece: &Piece<'_>, same_id: bool) -> bool {
        if same_id && self.index.is_some() && piece.index.is_some() && self.index != piece.index {
            return false;
        }
        let Some(name) = piece.name else { return true };
        if self.name.is_empty() {
            // The name comes late.
            return same_id || self.id.is_none() || piece.id.is_none();
        }
        if piece.id.is_some() && !same_id {
            // A new id with a name: a server that numbers every call 0.
            return false;
        }
        // The name is said again. Whole arguments cannot go on, so more of them are another call's.
        self.name == name && !(self.shape.is_whole() && piece.adds_text())
    }

    fn start(&mut self, slot: u32, out: &mut Vec<StreamEvent>) {
        self.started = true;
        out.push(StreamEvent::CallStart { slot, id: self.id.clone(), name: self.name.clone() });
        if !self.held.is_empty() {
            out.push(StreamEvent::CallArguments { slot, text: std::mem::take(&mut self.held) });
        }
    }
}
