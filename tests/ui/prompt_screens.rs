//! How it looks: text, roles and caret, at three sizes and in both languages.

use crate::prompt_kit::{Bench, approval, approval_of, form_of, spec};
use insta::assert_snapshot;
use mcpane::domain::model::{ModelError, ModelErrorKind};
use mcpane::domain::policy::{DiffLine, FileDiff, Preview};
use mcpane::domain::prompt::{Decision, LinkRequest, PromptKind, Question};
use mcpane::domain::tool::Risk;
use mcpane::domain::{Phrase, ToolId};
use mcpane::strings::Language;
use serde_json::json;

/// Columns, and the rows the dock may have, on screens of 120x40, 80x24 and 40x12.
const SIZES: [(u16, u16); 3] = [(120, 28), (80, 16), (40, 9)];

fn everywhere(name: &str, kind: impl Fn() -> PromptKind, keys: &[&str]) {
    for (language, code) in [(Language::En, "en"), (Language::Zh, "zh")] {
        for (columns, rows) in SIZES {
            let mut bench = Bench::sized(columns, rows, language);
            bench.waits_for(1, kind(), Some(295_000)).waits(2, approval(2)).open().keys(keys);
            assert_snapshot!(format!("{name}_{code}_{columns}"), bench.screen());
        }
    }
}

fn deploy() -> PromptKind {
    let properties = json!({
        "username": {"type": "string", "title": "Username", "maxLength": 20, "description": "The account that the deployment runs under."},
        "email": {"type": "string", "title": "电子邮箱 Email", "format": "email"},
        "environment": {"type": "string", "title": "Environment", "enum": ["staging", "production", "development"]},
        "regions": {"type": "array", "title": "Regions", "items": {"type": "string", "enum": ["eu-west", "us-east", "ap-south"]}, "minItems": 1, "maxItems": 2},
        "replicas": {"type": "integer", "title": "Replicas", "minimum": 1, "maximum": 10, "default": 3},
        "notify": {"type": "boolean", "title": "Notify me", "default": false}});
    let schema = json!({"type": "object", "properties": properties, "required": ["username", "environment"]});
    form_of("github", "Please tell me where to deploy. 请告诉我部署到哪里。", schema)
}

fn write() -> PromptKind {
    let line = |sign, old, new, text: &str| DiffLine { sign, old, new, text: text.into() };
    let diff = FileDiff {
        path: "result.md".into(),
        exists: true,
        added: 1,
        removed: 1,
        hunks: vec![vec![
            line(' ', Some(1), Some(1), "# Weather"),
            line('-', Some(2), None, "New York tomorrow: 23 C"),
            line('+', None, Some(2), "纽约明天 24 ℃，晴"),
        ]],
        omitted: 0,
    };
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}});
    let spec = spec(ToolId::builtin("write_to_file"), Risk::Write, schema);
    let mut approval = approval_of(1, spec, json!({"path": "result.md", "content": "…"}), Preview::Diff(diff));
    approval.check.warnings = vec![Phrase::literal("Outside the working directories.")];
    PromptKind::Approval(Box::new(approval))
}

#[test]
fn dock() {
    for (language, code) in [(Language::En, "en"), (Language::Zh, "zh")] {
        for (columns, rows) in SIZES {
            let mut bench = Bench::sized(columns, rows, language);
            bench.waits(1, write());
            assert_snapshot!(format!("dock_{code}_{columns}"), bench.screen());
        }
    }
}

#[test]
fn form() {
    everywhere("form", deploy, &[]);
}

#[test]
fn form_with_errors() {
    everywhere("form_errors", deploy, &["=octocat", "Tab", "=octo@", "Tab", "Right", "Tab", "Ctrl-S"]);
}

#[test]
fn approval_card() {
    everywhere("approval", write, &["Down"]);
}

#[test]
fn approval_always() {
    everywhere("always", write, &["a"]);
}

#[test]
fn approval_edit() {
    everywhere("edit", || approval(1), &["e", "Tab", "=x"]);
}

#[test]
fn question() {
    let options =
        vec!["result.md".to_owned(), "docs/天气.md, linked from the index page of the documentation".to_owned()];
    let kind = || {
        PromptKind::Question(Question { text: "Which file should hold the result?".into(), options: options.clone() })
    };
    everywhere("question", kind, &["Down"]);
}

#[test]
fn retry() {
    let error = ModelError {
        kind: ModelErrorKind::Overloaded,
        message: "busy".into(),
        status: Some(503),
        retry_after_ms: None,
    };
    everywhere("retry", || PromptKind::Decision(Decision::Retry { attempt: 2, of: 5, error: error.clone() }), &[]);
}

#[test]
fn link() {
    let url =
        "https://github.com@xn--80ak6aa92e.com/login?client_id=Iv1.8a61f9b3a7aba766&state=cba3f1e9b9d64f07&scope=repo";
    let kind =
        || PromptKind::Link(LinkRequest { server: "github".into(), message: "Sign in.".into(), url: url.into() });
    everywhere("link", kind, &[]);
}

#[test]
fn ascii() {
    for (name, kind) in [("form", deploy()), ("approval", write())] {
        let mut bench = Bench::sized(80, 16, Language::En);
        bench.ascii = true;
        bench.waits_for(1, kind, Some(295_000)).open().press("Down");
        let screen = bench.screen();
        let foreign = "电子邮箱请告诉我部署到哪里。纽约明天℃，晴";
        assert!(screen.chars().all(|c| c.is_ascii() || foreign.contains(c)), "{screen}");
        assert_snapshot!(format!("ascii_{name}"), screen);
    }
}
