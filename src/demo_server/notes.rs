//! Notes as resources, and the prompt.

use serde_json::{Map, Value, json};

/// Name, title, text.
const NOTES: [(&str, &str, &str); 3] = [
    (
        "welcome",
        "Welcome",
        "# Welcome\n\nThis note is a *resource* of mcpane's demo server. A host can list it, read it, and attach it to a message.\n",
    ),
    (
        "shopping",
        "Shopping list",
        "# Shopping\n\n- [x] Bread\n- [ ] Green tea\n- [ ] 豆腐\n\n| what | how much |\n|---|---:|\n| Apples | 1.5 kg |\n| Milk | 2 l |\n",
    ),
    (
        "release",
        "Release checklist",
        "# Release\n\n1. All tests pass.\n2. The change log is written.\n3. `deploy` to staging, look, then to production.\n",
    ),
];

/// The notes, as resources.
pub(super) fn list() -> Vec<Value> {
    let resource = |(name, title, text): &(&str, &str, &str)| {
        json!({
            "uri": format!("note://{name}"),
            "name": name,
            "title": title,
            "description": format!("A note: {}", title.to_lowercase()),
            "mimeType": "text/markdown",
            "size": text.len(),
        })
    };
    NOTES.iter().map(resource).collect()
}

/// One note's contents.
pub(super) fn read(uri: &str) -> Option<Value> {
    let (_, _, text) = NOTES.iter().find(|(name, ..)| uri.strip_prefix("note://") == Some(name))?;
    Some(json!({ "uri": uri, "mimeType": "text/markdown", "text": text }))
}

/// The prompt, as the server lists it.
pub(super) fn code_review() -> Value {
    json!({
        "name": "code_review",
        "title": "Review code",
        "description": "Asks for a review of a piece of code.",
        "arguments": [
            { "name": "code", "title": "Code", "description": "The code to review", "required": true },
            { "name": "language", "title": "Language", "description": "The programming language it is written in", "required": false },
            { "name": "focus", "title": "Focus", "description": "What to look at: security, speed, style", "required": false }
        ]
    })
}

/// Its messages; `None` where there is no code.
pub(super) fn review_messages(arguments: &Map<String, Value>) -> Option<Value> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let code = text("code")?;
    let language = text("language").unwrap_or_default();
    let focus = text("focus").map(|focus| format!(" Look at {focus} above all.")).unwrap_or_default();
    let ask = format!(
        "Please review this code. Name what is wrong, where, and what to do instead.{focus}\n\n```{language}\n{code}\n```"
    );
    Some(json!([{ "role": "user", "content": { "type": "text", "text": ask } }]))
}
