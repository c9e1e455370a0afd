//! The built-in tools on real files and real processes, called as the toolbox calls them: inspected, then run.

use super::*;
use crate::domain::policy::FileDiff;
use crate::domain::{CallId, Content};
use crate::tools::Signals;
use crate::tools::scene::{Setting, Watch};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Mutex;
use tokio_util::sync::CancellationToken;

mod commands;
mod files;
mod searching;

/// A working directory with the tools in it.
pub(super) struct Bench {
    _dir: tempfile::TempDir,
    pub(super) root: PathBuf,
    pub(super) work: PathBuf,
    pub(super) scene: Arc<Scene>,
    pub(super) watched: Arc<Watched>,
    pub(super) heard: Arc<Mutex<Vec<ToolSignal>>>,
    tools: Vec<Arc<dyn Tool>>,
}

/// Remembers which groups are watched.
#[derive(Default)]
pub(super) struct Watched(pub(super) Mutex<Vec<u32>>);

impl Watch for Watched {
    fn watch(&self, group: u32) {
        self.0.lock().unwrap().push(group);
    }
    fn unwatch(&self, group: u32) {
        self.0.lock().unwrap().retain(|other| *other != group);
    }
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with(|_| ())
    }

    pub(super) fn with(change: impl FnOnce(&mut Setting)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let work = root.join("work");
        std::fs::create_dir(&work).unwrap();
        let watched = Arc::new(Watched::default());
        let mut setting = Setting::new(&work, root.join("spill"));
        setting.watch = Arc::clone(&watched) as Arc<dyn Watch>;
        change(&mut setting);
        let scene = Scene::new(setting).unwrap();
        let tools = all(&scene);
        Self { _dir: dir, root, work, scene, watched, heard: Arc::default(), tools }
    }

    pub(super) fn tool(&self, name: &str) -> &Arc<dyn Tool> {
        self.tools.iter().find(|tool| &*tool.spec().id.name == name).unwrap()
    }

    pub(super) fn put(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(super) fn get(&self, path: &str) -> String {
        std::fs::read_to_string(self.work.join(path)).unwrap()
    }

    pub(super) fn invocation(&self, arguments: Value) -> Invocation {
        let heard = Arc::clone(&self.heard);
        let signals: Signals = Arc::new(move |signal| heard.lock().unwrap().push(signal));
        Invocation { call: CallId(7), arguments, signals, cancel: CancellationToken::new() }
    }

    pub(super) async fn inspect(&self, name: &str, arguments: &Value) -> Inspection {
        self.tool(name).inspect(arguments).await
    }

    pub(super) async fn run(&self, name: &str, arguments: Value) -> ToolOutcome {
        self.tool(name).run(self.invocation(arguments)).await
    }

    /// Inspects and runs.
    pub(super) async fn call(&self, name: &str, arguments: Value) -> ToolOutcome {
        self.inspect(name, &arguments).await;
        self.run(name, arguments).await
    }

    pub(super) async fn text(&self, name: &str, arguments: Value) -> String {
        text_of(self.call(name, arguments).await)
    }

    pub(super) async fn failure(&self, name: &str, arguments: Value) -> String {
        match self.call(name, arguments).await {
            ToolOutcome::Failed { message, may_have_run: false } => message,
            other => panic!("{other:?}"),
        }
    }
}

pub(super) fn text_of(outcome: ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Done { content, for_model, .. } => {
            for_model.unwrap_or_else(|| crate::domain::content::plain(&content))
        }
        other => panic!("{other:?}"),
    }
}

pub(super) fn diff_of(inspection: &Inspection) -> &FileDiff {
    match &inspection.preview {
        Preview::Diff(diff) => diff,
        other => panic!("{other:?}"),
    }
}

pub(super) fn why_of(inspection: &Inspection) -> &str {
    match &inspection.preview {
        Preview::Impossible { why } => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn definitions_are_complete_and_stable() {
    let (one, two) = (Bench::new(), Bench::new());
    for (a, b) in one.tools.iter().zip(&two.tools) {
        let (a, b) = (a.spec(), b.spec());
        assert_eq!(serde_json::to_string(a).unwrap(), serde_json::to_string(b).unwrap());
        assert!(a.description.len() > 20 && a.description.len() < 900, "{}", a.id);
        assert_eq!(a.input_schema["type"], "object");
        for (name, property) in a.input_schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{} {name}", a.id);
        }
        for required in a.input_schema["required"].as_array().unwrap() {
            assert!(a.input_schema["properties"][required.as_str().unwrap()].is_object());
        }
    }
    let risks: Vec<(String, Risk)> =
        one.tools.iter().map(|tool| (tool.spec().id.to_string(), tool.spec().risk)).collect();
    let expected = [
        ("ask_followup_question", Risk::Question),
        ("execute_command", Risk::Command),
        ("list_files", Risk::Read),
        ("read_file", Risk::Read),
        ("replace_in_file", Risk::Write),
        ("search_files", Risk::Read),
        ("write_to_file", Risk::Write),
    ];
    assert_eq!(risks, expected.map(|(name, risk)| (name.to_owned(), risk)));
}

#[tokio::test]
async fn every_tool_survives_arguments_of_any_kind() {
    let bench = Bench::new();
    for tool in &bench.tools {
        for arguments in [
            json!(null),
            json!([]),
            json!({}),
            json!({"path": 3, "command": [], "pattern": {}, "cwd": 1}),
            json!({"path": "\0", "cwd": "\0"}),
        ] {
            tool.inspect(&arguments).await;
            let outcome = tool.run(bench.invocation(arguments)).await;
            assert!(
                matches!(outcome, ToolOutcome::Failed { may_have_run: false, .. } | ToolOutcome::Done { .. }),
                "{outcome:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_call_that_was_not_inspected_does_not_run() {
    let bench = Bench::new();
    bench.put("a.txt", "x");
    for (name, arguments) in [
        ("read_file", json!({"path": "a.txt"})),
        ("list_files", json!({})),
        ("search_files", json!({"pattern": "x"})),
        ("write_to_file", json!({"path": "a.txt", "content": "y"})),
        ("execute_command", json!({"command": "touch ran"})),
    ] {
        bench.heard.lock().unwrap().clear();
        assert!(matches!(bench.run(name, arguments).await, ToolOutcome::Failed { may_have_run: false, .. }), "{name}");
        assert_eq!(*bench.heard.lock().unwrap(), [ToolSignal::Stale], "{name}");
    }
    assert_eq!(bench.get("a.txt"), "x");
    assert!(!bench.work.join("ran").exists());
}

#[tokio::test]
async fn the_question_is_never_run() {
    let bench = Bench::new();
    let said = bench.failure("ask_followup_question", json!({"question": "?"})).await;
    assert!(said.contains("Nobody"));
}

#[tokio::test]
async fn a_resource_is_read_through_its_server() {
    struct Echo;
    impl crate::tools::scene::ReadResource for Echo {
        fn read(
            &self,
            server: crate::domain::ServerName,
            uri: String,
            _: Invocation,
        ) -> futures::future::BoxFuture<'static, ToolOutcome> {
            Box::pin(async move {
                ToolOutcome::Done {
                    content: vec![Content::text(format!("{server} {uri}"))],
                    is_error: false,
                    for_model: None,
                    spilled: None,
                    millis: 0,
                }
            })
        }
    }
    let bench = Bench::with(|setting| setting.resources = Some(Arc::new(Echo)));
    let mut names: Vec<&str> = bench.tools.iter().map(|tool| &*tool.spec().id.name).collect();
    names.sort_unstable();
    assert_eq!(names, NAMES);
    let text = bench.text("access_mcp_resource", json!({"server_name": "notes", "uri": "note://1"})).await;
    assert_eq!(text, "notes note://1");
    assert!(bench.failure("access_mcp_resource", json!({"server_name": "notes"})).await.contains("uri"));
}
