//! The pinned public server `server-everything`, through the real screen, when `MCPANE_LIVE=1`. Then a missing one is a failure.
//!
//! `tests/mcp/install-live.sh DIRECTORY` installs it; `MCPANE_LIVE_DIR` names the directory.

use crate::rig::{Model, Place, Reply, ms};
use serde_json::{Value, json};

#[test]
fn the_elicitation_tool_of_everything_is_filled_in_through_the_form() {
    if std::env::var("MCPANE_LIVE").as_deref() != Ok("1") {
        return;
    }
    let dir =
        std::env::var("MCPANE_LIVE_DIR").expect("MCPANE_LIVE_DIR names the directory that install-live.sh filled");
    let server = std::path::Path::new(&dir).join("node/node_modules/.bin/mcp-server-everything");
    assert!(server.exists(), "{} is missing: run tests/mcp/install-live.sh", server.display());
    let place = Place::new();
    place.servers(json!({ "everything": { "command": server, "timeout": { "start": 60, "init": 30, "list": 30 } } }));
    place.settings("[rules]\nallow = [\"everything:trigger-elicitation-request\"]\n");
    let call = Reply::tool("everything__trigger-elicitation-request", json!({}));
    let model = Model::replies([call, Reply::text("All is said.")]);
    let mut program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    program.wait_for("1 ready").submit("Ask me").open("everything asks", "⟨Cancel⟩").wait_quiet(ms(200));
    program.type_text("Ada Lovelace").keys(&["tab", "tab", "tab"]).type_text("ada");
    // Down to the friends: the second one.
    program.keys(&["tab", "tab", "tab", "tab", "tab", "right"]).wait_quiet(ms(100));
    program.key("c-s").wait_for("not an e-mail address").wait_quiet(ms(100));
    assert_eq!(model.requests().len(), 1, "what is invalid never leaves the form");
    program.type_text("@example.org").key("c-s").wait_for("All is said.").wait_idle();
    // What the server received comes back in its answer.
    let heard = model.request(1).last_text();
    let raw = heard.split("Raw result:").nth(1).unwrap_or_else(|| panic!("{heard}"));
    let received: Value = serde_json::Deserializer::from_str(raw).into_iter().next().unwrap().unwrap();
    assert_eq!(received["action"], "accept");
    let content = received["content"].as_object().unwrap();
    for (field, value) in [
        ("name", json!("Ada Lovelace")),
        ("firstLine", json!("It was a dark and stormy night.")),
        ("email", json!("ada@example.org")),
        ("integer", json!(42)),
        ("number", "3.14".parse().unwrap()),
        ("untitledSingleSelectEnum", json!("Rachel")),
        ("untitledMultipleSelectEnum", json!(["Guitar"])),
        ("titledSingleSelectEnum", json!("hero-1")),
        ("titledMultipleSelectEnum", json!(["fish-1"])),
        ("legacyTitledEnum", json!("pet-1")),
    ] {
        assert_eq!(content[field], value, "{field}");
    }
    assert!(!content.contains_key("homepage") && !content.contains_key("birthdate"), "{content:?}");
    program.quit();
    place.assert_nothing_left();
}
