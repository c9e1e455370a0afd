//! `mcpane mcp import`.

use crate::rig::Place;
use crate::stage::Stage as _;
use serde_json::json;

/// A fixture; `WORK` in it is the working directory.
fn fixture(place: &Place, name: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let text = std::fs::read_to_string(root.join(format!("{name}.json"))).unwrap();
    text.replace("WORK", place.work().canonicalize().unwrap().to_str().unwrap())
}

#[test]
fn every_format_is_carried_over_and_what_is_not_is_said() {
    let support = if cfg!(target_os = "macos") { "home/Library/Application Support" } else { "home/.config" };
    for (source, file) in [
        ("claude-desktop", format!("{support}/Claude/claude_desktop_config.json")),
        ("claude-code", "home/.claude.json".to_owned()),
        ("cursor", "home/.cursor/mcp.json".to_owned()),
        ("vscode", format!("{support}/Code/User/mcp.json")),
        ("gemini", "home/.gemini/settings.json".to_owned()),
        ("mcphost", "home/.mcphost.json".to_owned()),
        ("opencode", "home/.config/opencode/opencode.json".to_owned()),
    ] {
        let place = Place::new();
        let before = fixture(&place, source);
        place.write(&file, &before);
        let ran = place.run(&["mcp", "import", source]);
        let written = place.comparable(&place.read("home/.config/mcpane/mcp.json"));
        insta::assert_snapshot!(source, format!("{}--- mcp.json\n{written}", ran.all()));
        assert_eq!(place.read(&file), before, "the other program's file is not touched");
        assert!(!ran.out.contains("ghp_12345678"));
        // What was written is understood without a warning about its keys.
        let list = place.run(&["mcp", "list"]);
        assert!(!list.err.contains("does nothing"), "{source}: {}", list.err);
        let again = place.run(&["mcp", "import", source]);
        assert!(again.out.contains("stands in ~/.config/mcpane/mcp.json already"), "{}", again.out);
        assert_eq!(place.comparable(&place.read("home/.config/mcpane/mcp.json")), written);
    }
}

#[test]
fn what_a_project_brings_asks_first() {
    let place = Place::new();
    place.write("work/.vscode/mcp.json", fixture(&place, "vscode"));
    let refused = place.run(&["mcp", "import", "vscode", ".vscode/mcp.json"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("--scope project"), "{}", refused.err);
    assert!(!place.path("home/.config/mcpane/mcp.json").exists());
    let taken = place.run(&["mcp", "import", "vscode", "--scope", "project"]);
    assert_eq!(taken.code, 0);
    assert!(taken.err.contains("have not trusted yet"), "{}", taken.err);
    assert_eq!(place.run(&["mcp", "get", "fetch", "--json"]).json()["untrusted"], json!(true));
}

#[test]
fn what_cannot_be_imported() {
    let place = Place::new();
    place.write("home/y.yml", "mcpServers: {}\n");
    place.write("home/bad.json", "{\n  oops\n}");
    place.write("home/empty.json", "{}");
    for (args, says) in [
        (&["cursor"][..], "Looked at: ~/.cursor/mcp.json"),
        (&["mcphost", "../home/y.yml"], "is YAML"),
        (&["cursor", "../home/bad.json"], "bad.json:2: "),
        (&["cursor", "../home/empty.json"], "holds no servers"),
        (&["cursor", "../home/none.json"], "There is none of its files"),
        (&["windows"], "invalid value"),
    ] {
        let ran = place.run(&[&["mcp", "import"], args].concat());
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
    }
}
