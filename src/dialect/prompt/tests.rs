use super::*;
use crate::domain::conversation::Conversation;
use crate::domain::names::{NameRule, Names};
use crate::domain::tool::{Annotations, Risk, ToolId};
use serde_json::json;

fn spec(server: Option<&str>, name: &str) -> Arc<ToolSpec> {
    let id = server.map_or_else(|| ToolId::builtin(name), |server| ToolId::on(&server.into(), name));
    let schema = json!({"$schema": "x", "type": "object", "properties": {"path": {"type": "string", "description": "The path."},
        "content": {"type": "string"}, "n": {"type": "integer"}}, "required": ["path", "content"]});
    Arc::new(ToolSpec {
        id,
        title: None,
        description: format!("Does {name}."),
        input_schema: Arc::new(schema),
        output_schema: None,
        annotations: Annotations::default(),
        risk: Risk::Read,
        hash: "0".into(),
    })
}

const BUILTINS: [&str; 8] = [
    "access_mcp_resource",
    "ask_followup_question",
    "execute_command",
    "list_files",
    "read_file",
    "replace_in_file",
    "search_files",
    "write_to_file",
];

struct Case {
    conversation: Conversation,
    tools: Vec<Arc<ToolSpec>>,
    names: Names,
    servers: Vec<ServerBrief>,
    overrides: Vec<(String, String)>,
}

impl Case {
    fn full() -> Self {
        let mut tools: Vec<_> = BUILTINS.iter().map(|name| spec(None, name)).collect();
        tools.push(spec(Some("weather"), "get_forecast"));
        let brief = |name: &str, starting: bool| ServerBrief {
            name: name.into(),
            instructions: (!starting).then(|| "Ask for one city at a time.".to_owned()),
            starting,
            resources: true,
        };
        let servers = vec![brief("github", true), brief("weather", false)];
        let names = Names::new(tools.iter().map(|tool| &tool.id), NameRule::default(), []);
        Self { conversation: Conversation::default(), tools, names, servers, overrides: Vec::new() }
    }

    fn prompting(&self) -> Prompting<'_> {
        Prompting {
            conversation: &self.conversation,
            tools: &self.tools,
            names: &self.names,
            servers: &self.servers,
            overrides: &self.overrides,
            cwd: "/work/demo",
            system: "Linux, bash",
            language: Some("中文"),
            instructions: Some("Be {brief}."),
            model: "m",
            full_model: "p:m",
            stop_strings: false,
            reasoning_back: false,
        }
    }

    fn pieces(&self, dialect: DialectKind) -> Vec<(&'static str, String)> {
        pieces(dialect, &self.prompting())
    }
}

/// A careful estimate: English and tags have more bytes a token in every known tokenizer.
fn tokens(text: &str) -> usize {
    (text.len() * 2).div_ceil(7)
}

#[test]
fn without_tool_definitions_it_is_short() {
    for (dialect, limit) in
        [(DialectKind::Xml, 1_600), (DialectKind::Native, 700), (DialectKind::React, 1_600), (DialectKind::Json, 1_600)]
    {
        let pieces = Case::full().pieces(dialect);
        let plain: usize = pieces
            .iter()
            .filter(|(name, _)| !name.ends_with("builtins") && !name.ends_with("servers"))
            .map(|(_, text)| tokens(text))
            .sum();
        // What frames the definitions counts, too.
        let heading: usize = ASSETS
            .iter()
            .filter(|(name, _)| name.starts_with(dialect.name()))
            .filter(|(name, _)| name.ends_with("builtins") || name.ends_with("servers"))
            .map(|(_, text)| tokens(text))
            .sum();
        assert!(plain + heading < limit, "{dialect:?}: {plain} + {heading}");
    }
}

#[test]
fn the_pieces_in_order() {
    let all = [
        (DialectKind::Xml, XML),
        (DialectKind::Native, NATIVE),
        (DialectKind::React, REACT),
        (DialectKind::Json, JSON),
    ];
    for (kind, wanted) in all {
        let names: Vec<&str> = Case::full().pieces(kind).iter().map(|(name, _)| *name).collect();
        assert_eq!(names, wanted);
    }
}

#[test]
fn only_what_is_offered_is_spoken_of() {
    let mut case = Case::full();
    case.tools.retain(|tool| &*tool.id.name == "read_file");
    case.servers.clear();
    for kind in [DialectKind::React, DialectKind::Json] {
        let text = system(kind, &case.prompting());
        let absent = ["execute_command", "write_to_file", "replace_in_file", "ask_followup", "access_mcp", "CONNECTED"];
        assert!(absent.iter().all(|absent| !text.contains(absent)) && text.contains("## read_file"), "{text}");
    }
    let text = system(DialectKind::Xml, &case.prompting());
    for absent in [
        "execute_command",
        "write_to_file",
        "replace_in_file",
        "ask_followup",
        "access_mcp",
        "use_mcp_tool",
        "CONNECTED",
        "library",
    ] {
        assert!(!text.contains(absent), "{absent}");
    }
    assert!(text.contains("read_file before you change a file"));
    case.tools.clear();
    let text = system(DialectKind::Xml, &case.prompting());
    assert!(!text.contains("read_file") && !text.contains("CHOOSING") && text.contains("attempt_completion"));
}

#[test]
fn tools_are_described_with_their_schema() {
    let pieces = Case::full().pieces(DialectKind::Xml);
    let piece = |name: &str| pieces.iter().find(|(piece, _)| *piece == name).unwrap().1.clone();
    let write = "## write_to_file\nDoes write_to_file.\n- path (string, required): The path.\n- content (string, required)\n- n (integer, optional)\n\
                 <write_to_file>\n<path>path here</path>\n<content>\ncontent here\n</content>\n</write_to_file>";
    assert!(piece("xml.builtins").contains(write), "{}", piece("xml.builtins"));
    let servers = piece("xml.servers");
    assert!(servers.contains("# github\n(This server is still starting"), "{servers}");
    let weather = "# weather\nAsk for one city at a time.\n- get_forecast: Does get_forecast.\n  Arguments: {\"type\": \"object\", \"properties\": \
                   {\"path\": {\"type\": \"string\", \"description\": \"The path.\"}, ";
    assert!(servers.contains(weather), "{servers}");
    assert!(!servers.contains("$schema"));
    let native =
        Case::full().pieces(DialectKind::Native).into_iter().find(|(name, _)| *name == "native.servers").unwrap().1;
    assert!(native.contains("still starting") && !native.contains("get_forecast:"), "{native}");
}

#[test]
fn the_example_of_a_servers_call_names_a_tool_that_is_there() {
    let mut case = Case::full();
    let example = |case: &Case| {
        let all = case.pieces(DialectKind::Xml);
        all.into_iter().find(|(name, _)| *name == "xml.examples.mcp").map(|(_, text)| text)
    };
    let text = example(&case).unwrap();
    let call = "<server_name>weather</server_name>\n<tool_name>get_forecast</tool_name>\n<arguments>\n\
                {\"path\": \"abc\", \"content\": \"abc\"}\n</arguments>";
    assert!(text.contains(call), "{text}");
    assert!(text.contains("[use_mcp_tool for 'weather:get_forecast'] Result:"));
    case.tools.retain(|tool| tool.id.server.is_none());
    assert_eq!(example(&case), None);
    let schema = json!({"properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "integer", "minimum": 3}, "c": {"default": true},
        "d": {"type": "array"}, "e": {"type": "boolean"}}, "required": ["a", "b", "c", "d", "e"]});
    assert_eq!(Value::Object(samples(&schema)), json!({"a": "x", "b": 3, "c": true, "d": [], "e": true}));
}

#[test]
fn pieces_can_be_replaced_or_left_out() {
    let mut case = Case::full();
    case.overrides = vec![
        ("guidelines".into(), "Be nice.\nUse read_file.".into()),
        ("steps".into(), String::new()),
        ("environment".into(), "You are in {cwd}, {unknown}.".into()),
    ];
    let pieces = case.pieces(DialectKind::Xml);
    let piece = |name: &str| pieces.iter().find(|(piece, _)| *piece == name).map(|(_, text)| text.as_str());
    assert_eq!(piece("guidelines"), Some("Be nice.\nUse read_file."));
    assert_eq!(piece("steps"), None);
    assert_eq!(piece("environment"), Some("You are in /work/demo, {unknown}."));
    assert!(piece("instructions").unwrap().contains("Be {brief}."));
}

#[test]
fn values_are_not_read_for_placeholders_again() {
    assert_eq!(fill("{a} {b} {{a}} {", &[("a", "{b}"), ("b", "x")]), "{b} x {{b}} {");
}

#[test]
fn long_instructions_of_servers_are_cut() {
    let mut case = Case::full();
    case.servers[1].instructions = Some("é".repeat(3_000));
    let text = system(DialectKind::Native, &case.prompting());
    assert!(text.len() < 6_000 && text.contains("é…"));
}

#[test]
fn every_file_is_a_piece_and_every_piece_is_used() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/prompts");
    let mut files: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let mut names: Vec<String> = builtin_pieces().map(|(name, _)| format!("{name}.md")).collect();
    names.sort();
    assert_eq!(files, names);
    for (name, text) in builtin_pieces() {
        let inside = name == "server.starting" || name.ends_with(".reminder");
        assert!(inside || [XML, NATIVE, REACT, JSON].iter().any(|list| list.contains(&name)), "{name}");
        assert!(!text.trim().is_empty() && text.ends_with('\n'), "{name}");
    }
}

#[test]
fn text_dialects_call_every_tool_by_its_name_on_the_wire() {
    let case = Case::full();
    let react = system(DialectKind::React, &case.prompting());
    for part in [
        "## write_to_file\nDoes write_to_file.\n- path (string, required): The path.\n- content (string, required)\n- n (integer, optional)\n\
         Action: write_to_file\nAction Input: {\"path\": \"path here\", \"content\": \"content here\"}",
        "# weather\nAsk for one city at a time.\n- weather__get_forecast: Does get_forecast.\n  Arguments: {",
        "Action: weather__get_forecast\nAction Input: {\"path\": \"abc\", \"content\": \"abc\"}\nUser: Observation: 42",
        "## access_mcp_resource",
    ] {
        assert!(react.contains(part), "{part}\n\n{react}");
    }
    let json = system(DialectKind::Json, &case.prompting());
    let call = "{\"tool\": \"write_to_file\", \"arguments\": {\"path\": \"path here\", \"content\": \"content here\"}}";
    assert!(
        json.contains(call) && json.contains("\"tool\": \"weather__get_forecast\", \"arguments\": {\"path\": \"abc\""),
        "{json}"
    );
}

#[test]
fn a_reminder_keeps_its_problem_and_takes_the_form_of_the_dialect() {
    let all = [DialectKind::Native, DialectKind::Xml, DialectKind::React, DialectKind::Json];
    for from in all {
        let told = reminder(from, "It is {odd}.");
        assert!(told.starts_with("It is {odd}. Your message was not used."), "{told}");
        let joined = format!("{told}\n\nA hint.");
        for to in all {
            assert_eq!(reminder_in(to, &joined), format!("{}\n\nA hint.", reminder(to, "It is {odd}.")));
        }
    }
    assert_eq!(reminder_in(DialectKind::Json, "Use the format."), "Use the format.");
}
