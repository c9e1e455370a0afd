use super::*;
use crate::domain::tool::{Annotations, Risk};
use crate::domain::{CallId, Content};
use crate::tools::Setting;
use serde_json::json;
use std::sync::Mutex;
use tokio_util::sync::CancellationToken;

struct Server;

impl CallServer for Server {
    fn call(&self, tool: ToolId, invocation: Invocation) -> BoxFuture<'static, ToolOutcome> {
        let content = match &*tool.name {
            "long" => "0123456789\n".repeat(9_000),
            _ => format!("{tool} {}", invocation.arguments),
        };
        ready(ToolOutcome::Done {
            content: vec![Content::text(content)],
            is_error: false,
            for_model: None,
            spilled: None,
            millis: 0,
        })
        .boxed()
    }
}

fn spec(server: &str, name: &str) -> Arc<ToolSpec> {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    Arc::new(ToolSpec {
        id: ToolId::on(&server.into(), name),
        title: None,
        description: "d".into(),
        hash: crate::schema::definition_hash(name, "d", &schema, None, &Annotations::default()),
        input_schema: Arc::new(schema),
        output_schema: None,
        annotations: Annotations::default(),
        risk: Risk::External,
    })
}

fn toolbox() -> (tempfile::TempDir, Toolbox) {
    let dir = tempfile::tempdir().unwrap();
    let scene = Scene::new(Setting::new(dir.path(), dir.path().join("spill"))).unwrap();
    (dir, Toolbox::new(&scene, Arc::new(Server), vec![("Read".into(), "read_file".into())]))
}

fn invocation(arguments: Value) -> (Invocation, Arc<Mutex<Vec<ToolSignal>>>) {
    let heard: Arc<Mutex<Vec<ToolSignal>>> = Arc::default();
    let to = Arc::clone(&heard);
    let signals: super::super::Signals = Arc::new(move |signal| to.lock().unwrap().push(signal));
    (Invocation { call: CallId(1), arguments, signals, cancel: CancellationToken::new() }, heard)
}

fn names(toolbox: &Toolbox) -> Vec<String> {
    toolbox.list().iter().map(|spec| spec.id.to_string()).collect()
}

#[test]
fn the_list_is_sorted_whatever_came_first() {
    let (_dir, mut one) = toolbox();
    one.set_server_tools(&"b".into(), vec![spec("b", "y"), spec("b", "x")]);
    one.set_server_tools(&"a".into(), vec![spec("a", "z")]);
    let (_dir, mut two) = toolbox();
    two.set_server_tools(&"a".into(), vec![spec("a", "z")]);
    two.set_server_tools(&"b".into(), vec![spec("b", "x"), spec("b", "y")]);
    assert_eq!(serde_json::to_string(&one.list()).unwrap(), serde_json::to_string(&two.list()).unwrap());
    assert_eq!(names(&one)[7..], ["a:z", "b:x", "b:y"]);
    assert_eq!(one.names().wire(&ToolId::on(&"a".into(), "z")), Some("a__z"));
    assert_eq!(one.names().resolve("Read"), Some(&ToolId::builtin("read_file")));
    one.remove_server(&"b".into());
    assert_eq!(names(&one).len(), 8);
    assert!(one.names().resolve("b__x").is_none());
}

#[test]
fn a_name_twice_is_said_and_the_first_stays() {
    let (_dir, mut toolbox) = toolbox();
    let mut other = (*spec("s", "t")).clone();
    other.description = "evil".into();
    let problems = toolbox.set_server_tools(&"s".into(), vec![spec("s", "t"), Arc::new(other)]);
    assert_eq!(problems, [Phrase::new("tool.duplicate").with("server", "s").with("tool", "t")]);
    assert_eq!(toolbox.find(&ToolId::on(&"s".into(), "t")).unwrap().description, "d");
}

#[test]
fn resources_are_offered_only_where_there_are_any() {
    struct Nothing;
    impl crate::tools::scene::ReadResource for Nothing {
        fn read(&self, _: ServerName, _: String, _: Invocation) -> BoxFuture<'static, ToolOutcome> {
            ready(ToolOutcome::Cancelled).boxed()
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let mut setting = Setting::new(dir.path(), dir.path().join("spill"));
    setting.resources = Some(Arc::new(Nothing));
    let mut toolbox = Toolbox::new(&Scene::new(setting).unwrap(), Arc::new(Server), Vec::new());
    let id = ToolId::builtin(RESOURCES);
    assert!(toolbox.find(&id).is_none());
    toolbox.offer_resources(Offer::Shown);
    assert!(toolbox.find(&id).is_some());
}

#[test]
fn arguments_are_checked_precisely() {
    let (_dir, toolbox) = toolbox();
    let read = toolbox.find(&ToolId::builtin("read_file")).unwrap();
    assert_eq!(toolbox.check_arguments(read, &json!({"path": "x", "start_line": 3})), Ok(()));
    let said = toolbox.check_arguments(read, &json!({"start_line": "three"})).unwrap_err();
    assert!(
        said.starts_with("The arguments of read_file are not valid")
            && said.contains("`path` is required")
            && said.contains("`start_line`"),
        "{said}"
    );
    assert!(toolbox.check_arguments(read, &json!("x")).unwrap_err().contains("one JSON object"));
}

#[tokio::test]
async fn both_kinds_run_the_same_way() {
    let (dir, mut toolbox) = toolbox();
    std::fs::write(dir.path().join("f"), "hello").unwrap();
    toolbox.set_server_tools(&"s".into(), vec![spec("s", "t"), spec("s", "long")]);
    let read = ToolId::builtin("read_file");
    let arguments = json!({"path": "f"});
    assert!(toolbox.inspect(&read, arguments.clone()).await.facts.inside);
    let (call, heard) = invocation(arguments);
    assert!(
        matches!(toolbox.run(&read, call).await, ToolOutcome::Done { content, .. } if content == [Content::text("hello")])
    );
    assert_eq!(*heard.lock().unwrap(), [ToolSignal::Started]);

    let tool = ToolId::on(&"s".into(), "t");
    let inspection = toolbox.inspect(&tool, json!({"n": 1})).await;
    assert_eq!((inspection.facts, inspection.preview), (Facts::default(), Preview::Arguments));
    let (call, _) = invocation(json!({"n": 1}));
    assert!(
        matches!(toolbox.run(&tool, call).await, ToolOutcome::Done { content, for_model: None, .. } if content == [Content::text("s:t {\"n\":1}")])
    );

    let (call, _) = invocation(json!({"n": 1}));
    match toolbox.run(&ToolId::on(&"s".into(), "long"), call).await {
        ToolOutcome::Done { content, for_model: Some(cut), spilled: Some(path), .. } => {
            assert!(cut.len() <= 24_000);
            assert_eq!(crate::domain::content::plain(&content), std::fs::read_to_string(path).unwrap());
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_tool_that_does_not_exist_is_answered_with_near_names() {
    let (_dir, toolbox) = toolbox();
    assert!(toolbox.unknown("read_fil").contains("Did you mean read_file"));
    assert!(toolbox.unknown("zzz").contains("Use only tools"));
    let (call, _) = invocation(json!({}));
    let outcome = toolbox.run(&ToolId::builtin("write_files"), call).await;
    assert!(
        matches!(outcome, ToolOutcome::Failed { message, may_have_run: false } if message.contains("write_to_file"))
    );
}
