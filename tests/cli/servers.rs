//! `mcpane mcp list|get|add|add-json|remove|trust|test|tools`.

use crate::rig::Place;
use crate::stage::Stage as _;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

/// A user and a project with servers of every kind.
fn furnished() -> Place {
    let place = Place::new();
    place.write(
        "home/.mcp.json",
        r#"{ "mcpServers": {
            "files": { "command": "old" },
            "web": { "url": "https://example.org/mcp", "headers": { "Authorization": "Bearer sk-123456789" } },
            "off": { "command": "x", "disabled": true }
        } }"#,
    );
    place.write(
        "home/.config/mcpane/mcp.json",
        "{\n  // mine\n  \"mcpServers\": {\n    \"files\": { \"command\": \"npx\", \"args\": [\"-y\", \"files\", \"\"], \"env\": { \"API_TOKEN\": \"tok-123456\", \"MODE\": \"a b\" } },\n    \"needs\": { \"command\": \"x\", \"args\": [\"${NOT_SET}\"] }\n  }\n}\n",
    );
    place.write("work/.mcp.json", r#"{ "mcpServers": { "theirs": { "command": "evil", "args": ["--now"] } } }"#);
    place
}

#[test]
fn what_is_configured_and_from_where() {
    let place = furnished();
    insta::assert_snapshot!("list", place.run(&["mcp", "list"]).all());
    insta::assert_snapshot!("list_zh", place.run(&["mcp", "list", "--lang", "zh"]).all());
    insta::assert_snapshot!("get", place.run(&["mcp", "get", "files"]).all());
    insta::assert_snapshot!("get_json", place.run(&["mcp", "get", "web", "--json"]).all());
    let all = place.run(&["mcp", "list", "--json"]);
    let json = all.json();
    let names: Vec<&str> = json["servers"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["files", "web", "off", "needs", "theirs"]);
    for secret in ["sk-123456789", "tok-123456"] {
        assert!(!all.out.contains(secret), "{}", all.out);
    }
    let near = place.run(&["mcp", "get", "file"]);
    assert_eq!((near.code, near.out.as_str()), (2, ""));
    assert_eq!(near.err, "mcpane: There is no server file. Did you mean files?\n");
    let only = place.run(&["mcp", "list", "--strict-mcp-config"]);
    assert_eq!((only.code, only.out.contains("No servers")), (0, true));
    assert_eq!(place.run(&["mcp", "nonsense"]).code, 2);
    assert_eq!(place.run(&["mcp"]).code, 2);
}

#[test]
fn adding_writes_the_file_that_is_expected_and_keeps_the_rest() {
    let place = furnished();
    let added = place.run(&["mcp", "add", "time", "-e", "TZ=Asia/Shanghai", "--", "uvx", "mcp-server-time", "--x=1"]);
    insta::assert_snapshot!("added", added.all());
    insta::assert_snapshot!("added_file", place.read("home/.config/mcpane/mcp.json"));
    let mode = std::fs::metadata(place.path("home/.config/mcpane/mcp.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let again = place.run(&["mcp", "add", "time", "--", "other"]);
    assert_eq!((again.code, again.out.as_str()), (2, ""));
    assert_eq!(again.err, "mcpane: time stands in ~/.config/mcpane/mcp.json already. --replace replaces it.\n");
    assert_eq!(place.run(&["mcp", "add", "time", "--replace", "--", "other"]).code, 0);

    let url = place.run(&["mcp", "add", "far", "--url", "https://example.org/mcp", "--header", "X-Key: ${KEY:-none}"]);
    assert_eq!((url.code, url.err.as_str()), (0, ""));
    let far = place.run(&["mcp", "get", "far", "--json"]).json();
    assert_eq!((&far["type"], &far["headers"]), (&json!("http"), &json!({ "X-Key": "none" })));

    let entry = r#"{ "command": "x", "agrs": ["y"], } // copied"#;
    let odd = place.run(&["mcp", "add-json", "odd", entry]);
    assert_eq!(odd.code, 0);
    assert!(odd.err.contains("agrs is not known and does nothing. Did you mean args?"), "{}", odd.err);

    let removed = place.run(&["mcp", "remove", "files"]);
    assert_eq!(removed.code, 0);
    assert_eq!(removed.err, "· files is still configured: the entry in ~/.mcp.json:2 counts now.\n");
    assert_eq!(place.run(&["mcp", "remove", "files", "--scope", "project"]).code, 2);
    let text = place.read("home/.config/mcpane/mcp.json");
    assert!(text.starts_with("{\n  // mine\n  \"mcpServers\": {\n    \"needs\": {"), "{text}");
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let place = Place::new();
    for (args, says) in [
        (&["mcp", "add", "a", "--url", "ftp://x"][..], "must begin with http:// or https://"),
        (&["mcp", "add", " a", "--", "x"], "cannot be the name of a server"),
        (&["mcp", "add", "a"], "required"),
        (&["mcp", "add", "a", "-e", "X", "--", "x"], "X is not a variable"),
        (&["mcp", "add", "a", "--url", "http://x", "--", "x"], "cannot be used with"),
        (&["mcp", "add-json", "a", "{"], "The entry is not JSON"),
        (&["mcp", "add-json", "a", "[]"], "must be a table"),
        (&["mcp", "add-json", "a", "{\"args\": []}"], "neither a command nor a url"),
        (&["mcp", "remove", "a"], "No servers are configured"),
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:#?}");
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
    }
    place.write("home/.config/mcpane/mcp.json", "{ \"mcpServers\": {\n  oops\n} }");
    let broken = place.run(&["mcp", "add", "a", "--", "x"]);
    assert_eq!(broken.code, 2);
    assert!(broken.err.contains("mcp.json:2: "), "{}", broken.err);
    assert_eq!(place.read("home/.config/mcpane/mcp.json"), "{ \"mcpServers\": {\n  oops\n} }");
}

#[test]
fn a_project_file_is_shared_and_stays_trusted_only_if_it_was() {
    let place = Place::new();
    let added = place.run(&["mcp", "add", "mine", "--scope", "project", "--", "x"]);
    assert_eq!((added.code, added.err.as_str()), (0, ""));
    let mode = |name: &str| std::fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    place.write("plain", "");
    assert_eq!(mode("work/.mcp.json"), mode("plain"), "others read it too");
    let left: Vec<_> = std::fs::read_dir(place.work()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, [".mcp.json"], "no lock is left in the project");
    let state = |name: &str| place.run(&["mcp", "get", name, "--json"]).json()["untrusted"].clone();
    assert_eq!(state("mine"), json!(false), "what the user has written is trusted");

    let secret = place.run(&["mcp", "add", "leak", "--scope", "project", "-e", "API_TOKEN=abc", "--", "x"]);
    assert!(secret.err.contains("The secret API_TOKEN of leak"), "{}", secret.err);
    assert_eq!(place.run(&["mcp", "remove", "leak"]).code, 0);

    // Somebody else changes it.
    place.write("work/.mcp.json", place.read("work/.mcp.json").replace("\"x\"", "\"evil\""));
    assert_eq!(state("mine"), json!(true));
    let more = place.run(&["mcp", "add", "more", "--scope", "project", "--", "y"]);
    assert_eq!(more.code, 0);
    assert!(more.err.contains("holds servers that you have not trusted yet"), "{}", more.err);
    assert_eq!((state("mine"), state("more")), (json!(true), json!(true)));
    for command in [&["mcp", "test", "mine"][..], &["mcp", "tools", "mine"]] {
        let refused = place.run(command);
        assert_eq!(refused.code, 3);
        assert!(refused.err.contains("mcpane mcp trust shows it and asks"), "{}", refused.err);
    }

    let without = place.run(&["mcp", "trust"]);
    insta::assert_snapshot!("trust_without_terminal", without.all());
    assert_eq!(state("mine"), json!(true));

    let mut program = place.launch(&["mcp", "trust"]).start();
    program.wait_for("[y/N]");
    program.type_text("n").key("enter");
    program.assert_exit(1);
    assert_eq!(state("mine"), json!(true));
    let mut program = place.launch(&["mcp", "trust"]).start();
    program.wait_for("- ").wait_for("evil").wait_for("[y/N]");
    program.type_text("y").key("enter");
    program.assert_exit(0);
    assert_eq!(state("mine"), json!(false));
    assert_eq!(place.run(&["mcp", "trust"]).out, "No file of this project waits for your trust.\n");
}

#[test]
fn servers_are_tried() {
    let place = Place::with_fixtures(&[
        ("good", &["--stderr", "hello there"]),
        ("dies", &["--init", "die", "--stderr", "cannot find the database"]),
        ("odd", &["--list", "malformed"]),
        ("nasty", &["--list", "hostile"]),
    ]);
    insta::assert_snapshot!("test_good", place.run(&["mcp", "test", "good"]).all());
    insta::assert_snapshot!("test_dies", place.run(&["mcp", "test", "dies"]).all());
    insta::assert_snapshot!("test_odd", place.run(&["mcp", "test", "odd"]).all());
    let tools = place.run(&["mcp", "tools", "good"]);
    assert_eq!(tools.code, 0);
    assert!(
        tools.out.starts_with("good:echo         Says it again.\ngood:add          Adds two numbers.\n"),
        "{}",
        tools.out
    );
    let json = place.run(&["mcp", "tools", "good", "--json"]).json();
    assert_eq!(json["tools"][0]["inputSchema"]["required"], json!(["text"]));
    let all = place.run(&["mcp", "tools"]);
    assert_eq!(all.code, 1, "one of them failed");
    assert!(all.err.contains("dies: It ended with exit code 3"), "{}", all.err);
    assert!(all.out.contains("good:echo") && all.out.contains("odd:echo") && all.out.contains("nasty:fine"));
    for text in [&all.out, &all.err] {
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        assert!(!text.contains('\u{202e}'));
    }
    assert_eq!(place.processes(), [], "nothing is left running");
}
