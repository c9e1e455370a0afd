//! Prompts without the rest of the screen: feed events, press keys, let time pass, look.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use mcpane::contract::{Op, PromptEvent};
use mcpane::domain::form::Form;
use mcpane::domain::policy::{ArgumentRule, Check, Grant, Preview, Verdict};
use mcpane::domain::prompt::{Answer, Approval, Closed, FormRequest, Prompt, PromptKind};
use mcpane::domain::tool::{Annotations, Risk};
use mcpane::domain::{CallId, Origin, Phrase, PromptId, ToolCall, ToolId, ToolSpec};
use mcpane::schema;
use mcpane::strings::{Language, Strings};
use mcpane::tui::keymap::{Chord, Keymap};
use mcpane::tui::look::Look;
use mcpane::tui::outcome::{Effect, Outcome};
use mcpane::tui::prompt::Prompts;
use mcpane::tui::text::width;
use mcpane::tui::theme::{Role, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What waits, on a clock of its own.
pub struct Bench {
    pub prompts: Prompts,
    pub now: Instant,
    pub size: (u16, u16),
    pub ascii: bool,
    strings: Strings,
    keymap: Keymap,
    theme: Theme,
    effects: Vec<Effect>,
}

impl Bench {
    pub fn new() -> Self {
        Self::sized(100, 24, Language::En)
    }

    pub fn sized(columns: u16, rows: u16, language: Language) -> Self {
        Self {
            prompts: Prompts::new(),
            now: Instant::now(),
            size: (columns, rows),
            ascii: false,
            strings: Strings::new(language),
            keymap: Keymap::built_in(),
            theme: Theme::probe(),
            effects: Vec::new(),
        }
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut Prompts, &Look<'_>) -> T) -> T {
        let look = Look {
            theme: &self.theme,
            strings: &self.strings,
            keymap: &self.keymap,
            now: self.now,
            ascii: self.ascii,
            animate: true,
            shift_enter: false,
        };
        act(&mut self.prompts, &look)
    }

    pub fn feed(&mut self, event: PromptEvent) -> &mut Self {
        let effects = self.prompts.event(event, self.now);
        self.effects.extend(effects);
        self
    }

    /// Something waits from now on.
    pub fn waits(&mut self, id: u64, kind: PromptKind) -> &mut Self {
        self.waits_for(id, kind, None)
    }

    pub fn waits_for(&mut self, id: u64, kind: PromptKind, expires_ms: Option<u64>) -> &mut Self {
        let call = match &kind {
            PromptKind::Approval(approval) => Some(approval.call.id),
            _ => None,
        };
        let prompt = Prompt { id: PromptId(id), call, step: None, kind, expires_ms };
        self.feed(PromptEvent::Opened { prompt })
    }

    pub fn closed(&mut self, id: u64, why: Closed) -> &mut Self {
        self.feed(PromptEvent::Closed { prompt: PromptId(id), why })
    }

    pub fn advance(&mut self, ms: u64) -> &mut Self {
        self.now += Duration::from_millis(ms);
        self
    }

    /// Opens what waits first, a second after it came, and looks at it for a second.
    pub fn open(&mut self) -> &mut Self {
        self.open_now().advance(1_000)
    }

    /// Opens what waits first, a second after it came.
    pub fn open_now(&mut self) -> &mut Self {
        self.advance(1_000);
        assert!(self.prompts.open_next(self.now), "nothing waits");
        self
    }

    pub fn key(&mut self, key: KeyEvent) -> Outcome {
        self.draw();
        let outcome = self.with(|prompts, look| prompts.key(key, look));
        if let Outcome::Emit(effects) | Outcome::Close(effects) = &outcome {
            self.effects.extend(effects.iter().cloned());
        }
        outcome
    }

    /// Presses a key by its name, or types what follows `=`.
    pub fn press(&mut self, name: &str) -> Outcome {
        if let Some(text) = name.strip_prefix('=') {
            return self.type_text(text);
        }
        let chord = Chord::parse(name).unwrap_or_else(|| panic!("no key {name}"));
        self.key(chord.event())
    }

    pub fn keys(&mut self, names: &[&str]) -> &mut Self {
        for name in names {
            self.press(name);
        }
        self
    }

    pub fn type_text(&mut self, text: &str) -> Outcome {
        let mut last = Outcome::Ignored;
        for c in text.chars() {
            last = self.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        }
        last
    }

    pub fn repeat(&mut self, name: &str) -> Outcome {
        let mut key = Chord::parse(name).unwrap().event();
        key.kind = KeyEventKind::Repeat;
        self.key(key)
    }

    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    pub fn ops(&mut self) -> Vec<Op> {
        let ops = self.effects().into_iter().filter_map(|effect| match effect {
            Effect::Op(op) => Some(op),
            _ => None,
        });
        ops.collect()
    }

    /// The answers that went out.
    pub fn answers(&mut self) -> Vec<(u64, Answer)> {
        let answers = self.ops().into_iter().map(|op| match op {
            Op::Answer { prompt, answer } => (prompt.0, answer),
            other => panic!("{other:?}"),
        });
        answers.collect()
    }

    /// The values of the only form that was sent.
    pub fn sent(&mut self) -> Option<Value> {
        let mut answers = self.answers();
        assert!(answers.len() <= 1, "{answers:?}");
        match answers.pop()?.1 {
            Answer::Submit { values } => Some(Value::Object(values)),
            other => panic!("{other:?}"),
        }
    }

    pub fn draw(&mut self) -> (Buffer, Option<Position>) {
        let (columns, rows) = self.size;
        self.with(|prompts, look| {
            let height = prompts.dock_height(columns, rows, look);
            assert!(height <= rows);
            let area = Rect::new(0, 0, columns, height);
            let mut buffer = Buffer::empty(area);
            let caret = prompts.draw(area, &mut buffer, look);
            if let Some(caret) = caret {
                assert!(area.contains(caret), "{caret:?} outside {area:?}");
            }
            (buffer, caret)
        })
    }

    pub fn text(&mut self) -> String {
        let (buffer, _) = self.draw();
        let rows: Vec<String> = (0..buffer.area.height).map(|y| row_text(&buffer, y).trim_end().to_owned()).collect();
        rows.join("\n")
    }

    /// Text, then roles, then the caret.
    pub fn screen(&mut self) -> String {
        let (buffer, caret) = self.draw();
        let mut out = String::new();
        for y in 0..buffer.area.height {
            let _ = writeln!(out, "{y:>2}|{}|", row_text(&buffer, y));
        }
        for y in 0..buffer.area.height {
            let roles = row_roles(&buffer, y);
            if !roles.is_empty() {
                let _ = writeln!(out, "{y:>2} {roles}");
            }
        }
        let _ = write!(out, "caret {}", caret.map_or("none".to_owned(), |at| format!("{},{}", at.x, at.y)));
        out
    }
}

fn row_text(buffer: &Buffer, y: u16) -> String {
    let mut out = String::new();
    let mut covered = 0;
    for x in 0..buffer.area.width {
        if covered > 0 {
            covered -= 1;
            continue;
        }
        let symbol = buffer[(x, y)].symbol();
        let columns = width::of(symbol);
        assert!(x + columns.max(1) <= buffer.area.width, "{symbol:?} hangs over the edge in row {y}");
        covered = columns.saturating_sub(1);
        out.push_str(symbol);
    }
    out
}

fn row_roles(buffer: &Buffer, y: u16) -> String {
    let mut stretches: Vec<(String, u16, u16)> = Vec::new();
    for x in 0..buffer.area.width {
        let cell = &buffer[(x, y)];
        let role = Theme::role_of(cell.fg).unwrap_or(Role::Text);
        if role == Role::Text && cell.modifier.is_empty() {
            continue;
        }
        let mut name = format!("{role:?}");
        for (emphasis, _) in cell.modifier.iter_names() {
            name.push('+');
            name.push_str(&emphasis.to_lowercase());
        }
        match stretches.last_mut() {
            Some((last, _, end)) if *last == name && *end + 1 == x => *end = x,
            _ => stretches.push((name, x, x)),
        }
    }
    let words: Vec<String> = stretches.into_iter().map(|(name, from, to)| format!("{name} {from}-{to}")).collect();
    words.join("  ")
}

/// A server's form over a schema.
pub fn form(properties: Value, required: &[&str]) -> PromptKind {
    form_of("github", "Please fill this in.", json!({"type": "object", "properties": properties, "required": required}))
}

pub fn form_of(server: &str, message: &str, schema: Value) -> PromptKind {
    let form = schema::form(&schema);
    PromptKind::Form(FormRequest { server: server.into(), message: message.into(), form })
}

pub fn empty_form() -> PromptKind {
    PromptKind::Form(FormRequest { server: "shop".into(), message: "Really?".into(), form: Form::default() })
}

/// Fills a form with one field `x` by these keys; what was sent, if anything.
pub fn fill(schema: Value, required: bool, keys: &[&str]) -> Option<Value> {
    let mut bench = Bench::new();
    let names: &[&str] = if required { &["x"] } else { &[] };
    bench.waits(1, form(json!({"x": schema}), names)).open();
    bench.keys(keys);
    bench.sent()
}

pub fn spec(id: ToolId, risk: Risk, input_schema: Value) -> Arc<ToolSpec> {
    Arc::new(ToolSpec {
        id,
        title: None,
        description: "Does what it does.".into(),
        input_schema: Arc::new(input_schema),
        output_schema: None,
        annotations: Annotations { read_only: Some(true), open_world: Some(true), ..Annotations::default() },
        risk,
        hash: "ab12".into(),
    })
}

pub fn approval_of(call: u64, spec: Arc<ToolSpec>, arguments: Value, preview: Preview) -> Approval {
    let grant = Grant {
        tool: spec.id.clone(),
        arguments: ArgumentRule::Inside { directory: "/home/me/proj".into() },
        project: "/home/me/proj".into(),
        definition: "ab12".into(),
    };
    Approval {
        call: ToolCall {
            id: CallId(call),
            provider_id: None,
            asked: spec.id.to_string(),
            tool: Some(spec.id.clone()),
            arguments,
            origin: Origin::Native,
        },
        form: schema::form(&spec.input_schema),
        spec,
        check: Check {
            verdict: Verdict::Ask { why: Phrase::literal("Tools of servers ask.") },
            warnings: Vec::new(),
            preview,
            grant: Some(grant),
        },
        problems: Vec::new(),
        version: 0,
    }
}

/// A call of a server's tool with a number and two optional arguments.
pub fn forecast(call: u64) -> Approval {
    let schema = json!({"type": "object", "required": ["latitude"], "properties": {
        "latitude": {"type": "number", "minimum": -90, "maximum": 90},
        "days": {"type": "integer", "minimum": 1, "default": 3},
        "units": {"type": "string", "enum": ["metric", "imperial"]}}});
    let spec = spec(ToolId::on(&"weather".into(), "get_forecast"), Risk::External, schema);
    approval_of(call, spec, json!({"latitude": 41.5, "units": "metric"}), Preview::Arguments)
}

pub fn approval(call: u64) -> PromptKind {
    PromptKind::Approval(Box::new(forecast(call)))
}
