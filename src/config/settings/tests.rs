use super::*;
use proptest::prelude::*;

fn read(text: &str, owner: Owner) -> (Layer, Vec<(String, String)>) {
    let (layer, notices) = parse(text, Path::new("c.toml"), owner);
    let said = notices.iter().map(|n| {
        assert_eq!(crate::strings::lacks(&n.text), Vec::<String>::new());
        let arg = |name: &str| n.text.args.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str());
        assert_eq!(arg("file"), "c.toml");
        let detail = [arg("key"), arg("guess"), arg("value")]
            .into_iter()
            .filter(|t| !t.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        (format!("{}:{}", arg("line"), n.text.key.trim_start_matches("config.")), detail)
    });
    (layer, said.collect())
}

fn user(text: &str) -> (Layer, Vec<(String, String)>) {
    read(text, Owner::User)
}

fn said(of: &(Layer, Vec<(String, String)>)) -> Vec<(&str, &str)> {
    of.1.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect()
}

#[test]
fn every_key() {
    let (layer, warnings) = user(
        r#"
version = 1
model = "ollama:qwen3"
base_url = "http://x/v1"
api_key_env = "KEY"
temperature = 1
max_tokens = 4_096
dialect = "xml"
language = "中文"
instructions = "Be brief."
lang = "zh"
theme = "dark"
layout = "stack"
ambiguous_width = 2
mouse = true
esc_hold_ms = 80
accessible = true
max_steps = 9
working_dirs = ["../a", "~/b"]
[models."openai:gpt-5"]
temperature = 0.5
max_tokens = 100
[providers.mine]
base_url = "http://mine/v1"
needs_key = false
[providers.mine.quirks]
max_stop = 1
[servers.github]
trust = "read-only"
[rules]
allow = "read_file"
deny = ["execute_command(command=rm *)"]
[notices]
welcome = false
file_changes = true
tool_changes = false
"#,
    );
    assert_eq!(warnings, []);
    assert_eq!(layer.model.as_ref().map(|m| (m.text.as_str(), m.line)), Some(("ollama:qwen3", 3)));
    assert_eq!((layer.temperature, layer.max_tokens, layer.max_steps), (Some(1.0), Some(4096), Some(9)));
    assert_eq!(layer.dialect, Some(DialectChoice::Kind(DialectKind::Xml)));
    assert_eq!(
        (layer.lang, layer.layout, layer.ambiguous_width),
        (Some(Language::Zh), Some(Layout::Stack), Some(AmbiguousWidth::Two))
    );
    assert_eq!((layer.mouse, layer.esc_hold_ms, layer.accessible), (Some(true), Some(80), Some(true)));
    assert_eq!(layer.working_dirs.iter().map(|p| p.text.as_str()).collect::<Vec<_>>(), ["../a", "~/b"]);
    assert_eq!(layer.models["openai:gpt-5"], ModelSettings { temperature: Some(0.5), max_tokens: Some(100) });
    let provider = &layer.providers[0];
    assert_eq!((provider.name.as_str(), provider.line), ("mine", 23));
    assert_eq!(provider.table["quirks"]["max_stop"].as_integer(), Some(1));
    assert_eq!(layer.read_only_servers[0].text, "github");
    assert_eq!((layer.rules.allow[0].text.as_str(), layer.rules.deny[0].line), ("read_file", 32));
    assert_eq!((layer.notice_welcome, layer.notice_tool_changes), (Some(false), Some(false)));
}

#[test]
fn unknown_keys_get_their_line_and_a_guess() {
    let all = user(
        "modle = 'x'\n\nmax_tokns = 3\nzzz = 1\n[rule]\nallow = []\n[rules]\nalow = []\n[models.'a:b']\ntemprature = 1\n[notices]\nbell = true\n",
    );
    assert_eq!(
        said(&all),
        [
            ("1:unknown_key_guess", "modle model"),
            ("3:unknown_key_guess", "max_tokns max_tokens"),
            ("4:unknown_key", "zzz"),
            ("5:unknown_key_guess", "rule rules"),
            ("8:unknown_key_guess", "alow allow"),
            ("10:unknown_key_guess", "temprature temperature"),
            ("12:unknown_key", "bell"),
        ]
    );
}

#[test]
fn wrong_types_cost_only_themselves() {
    let all = user(
        "model = 3\ntemperature = 'hot'\nmax_tokens = -1\nmouse = 'yes'\nlayout = 'sideways'\nambiguous_width = 3\nmax_steps = 0\nworking_dirs = [1, 'ok']\nrules = 3\ntheme = 'kept'\nlang = 'de'\n[models]\nx = 1\n[providers]\ny = 2\n[servers.s]\ntrust = 'all'\nsampling = {}\n[servers.t]\ncommand = 'x'\nargs = []\n",
    );
    assert_eq!(
        said(&all),
        [
            ("1:not_text", "model"),
            ("2:not_number", "temperature"),
            ("3:not_whole", "max_tokens"),
            ("4:not_bool", "mouse"),
            ("5:not_one_of", "layout sideways"),
            ("6:not_one_of", "ambiguous_width 3"),
            ("7:not_whole", "max_steps"),
            ("8:not_texts", "working_dirs"),
            ("9:not_table", "rules"),
            ("11:not_one_of", "lang de"),
            ("13:not_table", "x"),
            ("15:not_table", "y"),
            ("17:not_one_of", "trust all"),
            ("18:not_yet", "sampling"),
            ("20:server_elsewhere", ""),
        ]
    );
    assert_eq!((all.0.theme.as_deref(), all.0.working_dirs.len()), (Some("kept"), 1));
}

#[test]
fn a_broken_line_does_not_cost_the_others() {
    let all = user("theme = 'x'\nmodel = \nmouse = true\n");
    assert_eq!((all.0.theme.as_deref(), all.0.mouse), (Some("x"), Some(true)));
    assert_eq!(all.1[0].0, "2:toml");
    let newer = user("version = 7\ntheme = 'x'\n");
    assert_eq!((said(&newer), newer.0.theme.as_deref()), (vec![("1:newer", "")], Some("x")));
}

#[test]
fn a_project_may_set_little() {
    let all = read(
        "model = 'a:b'\ndialect = 'native'\nlanguage = 'fr'\nlayout = 'split'\ninstructions = 'x'\nbase_url = 'http://evil'\n[rules]\nallow = ['*']\n[providers.openai]\nbase_url = 'http://evil'\n[servers.s]\ntrust = 'read-only'\n[laout]\n",
        Owner::Project,
    );
    assert_eq!(
        said(&all),
        [
            ("6:project_only", "base_url"),
            ("7:project_only", "rules"),
            ("9:project_only", "providers"),
            ("11:project_only", "servers"),
            ("13:unknown_key_guess", "laout layout"),
        ]
    );
    let layer = all.0;
    assert!(
        layer.base_url.is_none()
            && layer.rules == RuleTexts::default()
            && layer.providers.is_empty()
            && layer.read_only_servers.is_empty()
    );
    assert!(
        layer.model.is_some()
            && layer.dialect.is_some()
            && layer.language.is_some()
            && layer.layout.is_some()
            && layer.instructions.is_some()
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = user(&text);
    }

    #[test]
    fn no_toml_like_text_panics(lines in proptest::collection::vec("(model|rules|models|\\[rules\\]|\\[models\\.a\\]|\\[\\[servers\\]\\]|layout|allow|version)( = ('x'|3|\\[1, 'a'\\]|\\{a = 1\\}|true|1e400|0xFFFFFFFFFFFFFFFFFF|2020-01-01|\\[|\"\"\"))?", 0..8)) {
        let _ = user(&lines.join("\n"));
        let _ = read(&lines.join("\n"), Owner::Project);
    }

    #[test]
    fn an_unknown_key_never_drops_a_known_one(keys in proptest::collection::vec("[a-z]{3,12}", 0..6)) {
        let mut text: String = keys.iter().map(|key| format!("z{key} = 1\n")).collect();
        text.push_str("theme = 'kept'\n");
        let (layer, _) = user(&text);
        prop_assert_eq!(layer.theme.as_deref(), Some("kept"));
    }
}
