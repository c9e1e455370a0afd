//! `mcpane doctor`.

use crate::rig::Place;
use crate::stage::Stage as _;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

/// A setup in which everything is wrong that can be.
fn broken() -> Place {
    let place = Place::new();
    place.settings(
        "version = 1\nmodle = \"x\"\nmodel = \"openai:gpt\"\nbase_url = \"http://127.0.0.1:9/v1\"\ntheme = \n[servers.ghost]\ntrust = \"read-only\"\n",
    );
    place.write("home/.config/mcpane/keymap.toml", "[composer]\nno_such_command = \"x\"\n");
    place.write("home/.local/state/mcpane/trust.json", "{ nonsense");
    place.write("home/.mcp.json", "{ \"mcpServers\": {\n  \"a\": { \"command\": \"x\" },\n  oops\n} }");
    let fixture = |args: &[&str]| place.fixture_entry("fixture", args);
    let mut unknown = fixture(&[]);
    unknown["agrs"] = json!([]);
    unknown["env"]["API_TOKEN"] = json!("tok-123456789");
    place.write(
        "home/.config/mcpane/mcp.json",
        format!(
            "{:#}",
            json!({ "mcpServers": {
                "works": unknown,
                "unset": { "command": "x", "args": ["${NOT_SET}"] },
                "absent": { "command": "no-such-program-anywhere" },
                "off": { "command": "neither-this", "disabled": true },
                "dies": fixture(&["--init", "die", "--stderr", "bad token tok-123456789"]),
                "odd": fixture(&["--list", "malformed", "--banner"]),
                "nothing": {},
                "shadowed": { "command": "old" },
            } })
        ),
    );
    let theirs = json!({ "mcpServers": { "shadowed": fixture(&["--stderr", "started though nobody said so"]) } });
    place.write("work/.mcp.json", theirs.to_string());
    place.write("work/.mcpane/config.toml", "rules = 3\nmodel = \"other:model\"\n");
    place
}

#[test]
fn everything_that_is_wrong_is_found() {
    let place = broken();
    let ran = place.run(&["doctor"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    insta::assert_snapshot!("broken", ran.all());
    assert_eq!(place.processes(), [], "nothing is left running");
    let pids = place.read("fixture.pids");
    assert_eq!(pids.lines().count(), 3, "works, dies and odd were started, and nobody else");
    let chinese = place.run(&["doctor", "--lang", "zh"]);
    assert!(chinese.out.contains("等待信任") && !chinese.out.contains("doctor."), "{}", chinese.out);
}

#[test]
fn programs_can_read_it() {
    let place = broken();
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1);
    let report = ran.json();
    assert_eq!((&report["ok"], &report["model"]["reachable"]), (&json!(false), &json!(false)));
    let server = |name: &str| -> Value {
        report["servers"].as_array().unwrap().iter().find(|server| server["name"] == name).unwrap().clone()
    };
    let works = server("works");
    assert_eq!((&works["state"], &works["era"], &works["tools"]), (&json!("ready"), &json!("initialize"), &json!(12)));
    assert_eq!(works["protocol"], json!("2025-11-25"));
    assert_eq!(server("shadowed")["state"], json!("untrusted"));
    assert_eq!(server("shadowed")["shadows"].as_array().unwrap().len(), 1);
    let keys = |value: &Value| -> Vec<String> {
        let findings = value["findings"].as_array().unwrap();
        findings.iter().map(|finding| finding["key"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(keys(&server("unset")), ["config.unset_variable"]);
    assert_eq!(keys(&server("absent")), ["server.not_found"]);
    assert_eq!(keys(&server("dies")), ["server.exited_saying"]);
    assert_eq!(keys(&server("nothing")), ["config.neither"]);
    assert_eq!(server("off")["findings"][0]["level"], json!("info"));
    let file = |end: &str| -> Value {
        let files = report["files"].as_array().unwrap();
        files.iter().find(|file| file["path"].as_str().unwrap().ends_with(end)).unwrap().clone()
    };
    assert_eq!(
        (&file("<HOME>/.mcp.json")["state"], &file("<HOME>/.mcp.json")["findings"][0]["line"]),
        (&json!("broken"), &json!(3))
    );
    assert_eq!(keys(&file("mcpane/mcp.json")), ["config.unknown_key_guess"]);
    assert_eq!(file(".mcpane/mcp.json")["state"], json!("missing"));
    assert_eq!(keys(&report["model"]), ["doctor.unreachable"]);
    assert!(!ran.out.contains("tok-123456789"), "{}", ran.out);
    let counted: usize = ["files", "servers"]
        .iter()
        .flat_map(|part| report[part].as_array().unwrap())
        .chain([&report["model"], &report["terminal"]])
        .flat_map(|part| part["findings"].as_array().unwrap().clone())
        .chain(report["other"].as_array().unwrap().clone())
        .filter(|finding| finding["level"] != "info")
        .count();
    assert_eq!(report["wrong"], json!(counted));
}

#[test]
fn a_setup_that_works_is_well() {
    let place = Place::with_fixtures(&[("good", &["--stderr", "chatter"])]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 4096];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        String::from_utf8_lossy(&request[..length]).to_lowercase()
    });
    place.settings(&format!("version = 1\nmodel = \"openai:gpt\"\nbase_url = \"{url}\"\n"));
    let output = place.command(&["doctor"]).env("OPENAI_API_KEY", "sk-secret-123").output().unwrap();
    let out = place.comparable(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!(output.status.code(), Some(0), "{out}");
    let port = regex::Regex::new(r"127\.0\.0\.1:\d+").unwrap();
    insta::assert_snapshot!("well", port.replace_all(&out, "127.0.0.1:PORT"));
    let request = asked.join().unwrap();
    assert!(request.starts_with("get /v1/models") && !request.contains("authorization"), "{request}");
    assert!(!out.contains("sk-secret-123"));

    let nothing = Place::new();
    let ran = nothing.run(&["doctor"]);
    assert_eq!((ran.code, ran.out.contains("No model is configured")), (0, true), "{ran:#?}");
}

#[test]
fn colours_only_on_a_terminal_that_wants_them() {
    let place = Place::with_fixtures(&[("good", &[])]);
    let mut program = place.launch(&["doctor"]).start();
    program.assert_exit(0);
    assert!(program.written().contains("\u{1b}[32m"), "{}", program.written());
    let mut program = place.launch(&["doctor"]).env("NO_COLOR", "1").start();
    program.assert_exit(0);
    assert!(!program.written().contains("\u{1b}["), "{}", program.written());
}
