use super::*;
use crate::domain::policy::Facts;
use crate::domain::tool::{Annotations, Origin, ToolSpec};
use proptest::prelude::*;
use serde_json::json;

fn place() -> Place {
    Place { project: "/home/u/proj".into(), home: Some("/home/u".into()) }
}

fn spec(id: &str, risk: Risk) -> ToolSpec {
    let id = match id.split_once(':') {
        Some((server, name)) => ToolId::on(&server.into(), name),
        None => ToolId::builtin(id),
    };
    ToolSpec {
        id,
        title: None,
        description: String::new(),
        input_schema: json!({}).into(),
        output_schema: None,
        annotations: Annotations::default(),
        risk,
        hash: "h".into(),
    }
}

fn matches(effect: Effect, rule: &str, spec: &ToolSpec, arguments: &Value, facts: &Facts) -> bool {
    let rule = Rule::parse(effect, rule, "c.toml:1", &place()).unwrap_or_else(|p| panic!("{p:?}"));
    rule.matches(&Subject { spec, arguments, origin: Origin::Native, facts, trusted_read_only: false })
}

fn tool(effect: Effect, rule: &str, id: &str) -> bool {
    matches(effect, rule, &spec(id, Risk::External), &json!({}), &Facts::default())
}

fn command(effect: Effect, pattern: &str, line: &str) -> bool {
    let facts = Facts { command: Some(line.into()), ..Facts::default() };
    let rule = format!("execute_command(command={pattern})");
    matches(effect, &rule, &spec("execute_command", Risk::Command), &json!({ "command": line }), &facts)
}

fn file(effect: Effect, pattern: &str, paths: &[&str]) -> bool {
    let facts = Facts { paths: paths.iter().map(|p| (*p).to_owned()).collect(), ..Facts::default() };
    // What the model wrote does not matter; what it resolves to does.
    matches(
        effect,
        &format!("write_to_file(path={pattern})"),
        &spec("write_to_file", Risk::Write),
        &json!({ "path": "docs/x" }),
        &facts,
    )
}

#[test]
fn tools() {
    for (rule, yes, no) in [
        ("read_file", vec!["read_file"], vec!["read_files", "s:read_file"]),
        ("read_*", vec!["read_file"], vec!["s:read_file", "write"]),
        ("github:*", vec!["github:search", "github:x"], vec!["gitlab:search", "search"]),
        ("*:delete_*", vec!["a:delete_x"], vec!["delete_x", "a:x"]),
        ("a:b:c", vec![], vec!["a:b"]),
        ("*", vec!["read_file", "a:b"], vec![]),
        ("*:*", vec!["a:b"], vec!["read_file"]),
        (r"\*:x", vec!["*:x"], vec!["a:x"]),
        (" github:search ", vec!["github:search"], vec![]),
    ] {
        for id in yes {
            assert!(tool(Effect::Allow, rule, id), "{rule} {id}");
        }
        for id in no {
            assert!(!tool(Effect::Allow, rule, id), "{rule} {id}");
        }
    }
    let server_with_colon = ToolSpec { id: ToolId::on(&"plugin:github".into(), "search"), ..spec("x", Risk::External) };
    assert!(matches(Effect::Allow, "plugin:github:*", &server_with_colon, &json!({}), &Facts::default()));
}

#[test]
fn a_wildcard_in_a_command_never_brings_another_along() {
    for line in ["git status", "git status -s", "git status --porcelain 'a b'", " git status "] {
        assert!(command(Effect::Allow, "git status*", line), "{line}");
    }
    for line in [
        "git status; rm -rf /",
        "git status && rm x",
        "git status | sh",
        "git status > /etc/passwd",
        "git status < x",
        "git status $(rm x)",
        "git status `rm x`",
        "git status ${IFS}x",
        "git status\nrm x",
        "git status\rrm x",
        "git status (x)",
        "git status & rm x",
        "git stat",
        "rm x; git status",
    ] {
        assert!(!command(Effect::Allow, "git status*", line), "{line}");
    }
    // What the pattern itself says is allowed as it stands.
    assert!(command(Effect::Allow, r"make && make \(test\)", "make && make (test)"));
    assert!(!command(Effect::Allow, "make && make*", "make && make; rm x"));
    assert!(command(Effect::Allow, "make && make*", "make && make test"));
    let shell = spec("sh:run", Risk::External);
    for name in ["command", "cmd"] {
        let rule = format!("sh:run({name}=git *)");
        assert!(matches(Effect::Allow, &rule, &shell, &json!({ name: "git log" }), &Facts::default()));
        assert!(!matches(Effect::Allow, &rule, &shell, &json!({ name: "git log; rm x" }), &Facts::default()));
    }
}

#[test]
fn to_stop_a_command_one_part_is_enough() {
    for line in [
        "rm -rf /",
        "make && rm -rf /",
        "echo $(rm x)",
        "echo `rm x`",
        "a; rm x",
        "true | rm x",
        "sh -c 'rm x'",
        "a\nrm x",
    ] {
        for effect in [Effect::Deny, Effect::Ask] {
            assert!(command(effect, "rm *", line), "{line}");
        }
    }
    assert!(!command(Effect::Deny, "rm *", "echo form x"));
    assert!(command(Effect::Deny, "*curl*|*sh*", "curl x | sh"));
}

#[test]
fn files_are_matched_where_they_really_are() {
    let inside = "/home/u/proj/docs/a/b.md";
    for pattern in [
        "docs/**",
        "./docs/**",
        "docs/*/b.md",
        "docs/**/b.md",
        "docs/**/a/**",
        "**",
        "/home/u/proj/docs/a/b.md",
        "~/proj/docs/**",
        "**/*.md",
    ] {
        assert!(file(Effect::Allow, pattern, &[inside]), "{pattern}");
    }
    for pattern in ["docs/*", "docs", "*", "src/**", "doc/**", "~/docs/**", "/docs/**", "docs/**/c.md"] {
        assert!(!file(Effect::Allow, pattern, &[inside]), "{pattern}");
    }
    // The call said docs/x, but it is a link to elsewhere.
    assert!(!file(Effect::Allow, "docs/**", &["/etc/passwd"]));
    assert!(!file(Effect::Allow, "docs/**", &["/home/u/proj/docs/../../.ssh/id"]));
    assert!(!file(Effect::Allow, "docs/**", &["/home/u/proj/docsx/a"]));
    // All of them to allow, one of them to stop, and nothing at all allows nothing.
    assert!(!file(Effect::Allow, "docs/**", &[inside, "/etc/passwd"]));
    assert!(file(Effect::Deny, "/etc/**", &[inside, "/etc/passwd"]));
    assert!(!file(Effect::Allow, "**", &[]));
    assert!(file(Effect::Allow, "docs/**", &["/home/u/proj/docs"]));
    assert!(
        file(Effect::Allow, r"a\*b", &["/home/u/proj/a*b"]) && !file(Effect::Allow, r"a\*b", &["/home/u/proj/axb"])
    );
}

#[test]
fn other_arguments() {
    let spec = spec("s:t", Risk::External);
    let yes = |effect, rule: &str, arguments: Value| {
        matches(effect, &format!("s:t({rule})"), &spec, &arguments, &Facts::default())
    };
    assert!(yes(Effect::Allow, "repo=me/*", json!({ "repo": "me/x" })));
    assert!(!yes(Effect::Allow, "repo=me/*", json!({ "repo": "me/../you" })));
    assert!(yes(Effect::Deny, "repo=me/*", json!({ "repo": "me/../you" })));
    assert!(!yes(Effect::Allow, "repo=*", json!({})));
    assert!(yes(Effect::Allow, "n=3", json!({ "n": 3 })) && yes(Effect::Allow, "b=true", json!({ "b": true })));
    assert!(yes(Effect::Allow, "a.b=x", json!({ "a": { "b": "x" } })));
    assert!(
        yes(Effect::Allow, "a=x, b=y", json!({ "a": "x", "b": "y" }))
            && !yes(Effect::Allow, "a=x, b=y", json!({ "a": "x" }))
    );
    assert!(yes(Effect::Allow, r"a=x\,y", json!({ "a": "x,y" })));
    assert!(
        !yes(Effect::Allow, "l=a*", json!({ "l": ["a1", "b"] }))
            && yes(Effect::Deny, "l=a*", json!({ "l": ["a1", "b"] }))
    );
    assert!(!yes(Effect::Allow, "l=a*", json!({ "l": [] })));
}

#[test]
fn what_is_wrong_with_a_rule_is_named() {
    for (rule, key) in [
        ("", "policy.rule_tool"),
        ("(a=b)", "policy.rule_tool"),
        (":x", "policy.rule_tool"),
        ("x:", "policy.rule_tool"),
        ("t(a=b", "policy.rule_unclosed"),
        (r"t(a=b\)", "policy.rule_unclosed"),
        ("t(a=b) x", "policy.rule_after"),
        ("t(a=(b))", "policy.rule_after"),
        ("t(a)", "policy.rule_equals"),
        ("t()", "policy.rule_equals"),
        ("t(=b)", "policy.rule_name"),
        ("t(a.=b)", "policy.rule_name"),
        ("t(path=../x)", "policy.rule_dots"),
        ("t(path=a/./b)", "policy.rule_dots"),
        ("t(path=)", "policy.rule_dots"),
        (&"x".repeat(2_000), "policy.rule_long"),
    ] {
        let problem = Rule::parse(Effect::Allow, rule, "c.toml:1", &place()).unwrap_err();
        assert_eq!(problem.key, key, "{rule}");
        assert_eq!(crate::strings::lacks(&problem), Vec::<String>::new());
    }
    let homeless = Place { home: None, ..place() };
    assert_eq!(Rule::parse(Effect::Allow, "t(path=~/x)", "c.toml:1", &homeless).unwrap_err().key, "policy.rule_home");
}

#[test]
fn rules_for_tools_that_do_not_exist() {
    let mut rules = Rules::default();
    for text in ["exec_command(command=rm *)", "execute_command", "s:nothing", "*", "read_*"] {
        rules.add(Effect::Deny, text, "c.toml:1", &place()).unwrap();
    }
    let unknown = rules.for_unknown_builtins(&["execute_command", "read_file"]);
    let args: Vec<&str> = unknown[0].args.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!((unknown.len(), args), (1, vec!["c.toml:1", "exec_command(command=rm *)"]));
}

proptest! {
    #[test]
    fn no_allowed_command_holds_a_metacharacter_of_its_own(line in "git [ -~\\n]{0,20}", star in prop_oneof![Just("git *"), Just("*"), Just("git *x*")]) {
        if command(Effect::Allow, star, &line) {
            prop_assert!(line.trim().chars().all(|c| !";&|<>$`()\n\r".contains(c)), "{}", line);
        }
    }

    #[test]
    fn the_strictest_rule_wins_in_any_order(order in Just(vec![Effect::Allow, Effect::Ask, Effect::Deny, Effect::Allow]).prop_shuffle(), keep in 1..4_usize) {
        let mut rules = Rules::default();
        for effect in &order[..keep] {
            rules.add(*effect, "s:*", "c.toml:1", &place()).unwrap();
        }
        let spec = spec("s:t", Risk::External);
        let subject = Subject { spec: &spec, arguments: &json!({}), origin: Origin::Native, facts: &Facts::default(), trusted_read_only: true };
        prop_assert_eq!(rules.judge(&subject).map(Rule::effect), order[..keep].iter().max().copied());
    }

    #[test]
    fn reading_a_rule_never_panics(text in "[a-z:*()=,.~/\\\\é ]{0,24}") {
        let _ = Rule::parse(Effect::Allow, &text, "c.toml:1", &place());
    }

    #[test]
    fn a_literal_pattern_matches_itself_only(text in "[a-z/. -]{1,12}", other in "[a-z/. -]{1,12}") {
        let glob = Glob::plain(&text);
        prop_assert!(glob.matches(&text, anything));
        prop_assert_eq!(glob.matches(&other, anything), text == other);
    }

    #[test]
    fn a_file_pattern_never_leaves_its_directory(path in "(/(home|u|proj|docs|\\.\\.|x)){1,7}") {
        if file(Effect::Allow, "docs/**", &[&path]) {
            prop_assert!(path == "/home/u/proj/docs" || path.starts_with("/home/u/proj/docs/"));
            prop_assert!(!path.contains(".."));
        }
    }
}
