use super::*;
use proptest::prelude::*;
use serde_json::json;

fn read(program: Program, root: &Value) -> Found {
    program.read(&root.to_string(), Path::new("f.json"), Path::new("/work/app")).unwrap()
}

fn one(program: Program, root: &Value) -> (Value, Vec<String>) {
    let mut found = read(program, root);
    let taken = found.servers.remove(0);
    for phrase in &taken.remarks {
        assert_eq!(crate::strings::lacks(phrase), Vec::<String>::new());
    }
    (taken.entry.unwrap_or_default(), taken.remarks.iter().map(|phrase| phrase.key.to_string()).collect())
}

#[test]
fn variables_of_editors() {
    let root = json!({
        "inputs": [
            { "id": "api-key", "type": "promptString", "description": "The key", "password": true, "default": "never" },
            { "id": "region", "type": "pickString", "options": ["eu", "us"], "default": "eu" },
        ],
        "servers": { "s": {
            "type": "stdio", "command": "${workspaceFolder}/run", "args": ["${workspaceFolderBasename}", "${config:x.y}", "${userHome}${/}a"],
            "env": { "KEY": "${input:api-key}", "REGION": "${input:region}", "HOME2": "${env:HOME}", "GONE": null },
            "envFile": "${workspaceFolder}/.env", "dev": { "watch": "**" },
        } },
    });
    let (entry, remarks) = one(Program::Vscode, &root);
    assert_eq!(
        entry,
        json!({
            "command": "/work/app/run", "args": ["app", "${config:x.y}", "${HOME}/a"],
            "env": { "KEY": "${API_KEY}", "REGION": "${REGION:-eu}", "HOME2": "${HOME}" },
        })
    );
    assert_eq!(
        remarks,
        [
            "import.folder",
            "import.lost_variable",
            "import.input",
            "import.input",
            "import.lost",
            "import.lost_env_file",
            "import.lost"
        ]
    );
    let old = json!({ "mcp": { "servers": { "s": { "type": "sse", "url": "http://x/sse" } }, "inputs": [] } });
    assert_eq!(one(Program::Vscode, &old).0, json!({ "type": "sse", "url": "http://x/sse" }));
}

#[test]
fn gemini() {
    let root = json!({
        "theme": "x", "mcp": { "excluded": ["b"] },
        "mcpServers": {
            "a": { "command": "x", "env": { "K": "$TOKEN-$1" }, "timeout": 30500, "trust": true, "includeTools": ["r"], "excludeTools": ["w"] },
            "b": { "httpUrl": "http://x/mcp", "headers": { "A": "Bearer ${T}" } },
            "c": { "url": "http://x/sse", "oauth": { "enabled": true } },
        },
    });
    let found = read(Program::Gemini, &root);
    let entry = |at: usize| found.servers[at].entry.clone().unwrap();
    assert_eq!(
        entry(0),
        json!({ "command": "x", "env": { "K": "${TOKEN}-$1" }, "timeout": { "call": 31 }, "tools": { "allow": ["r"], "deny": ["w"] } })
    );
    assert_eq!(entry(1), json!({ "url": "http://x/mcp", "headers": { "A": "Bearer ${T}" }, "disabled": true }));
    assert_eq!(entry(2), json!({ "url": "http://x/sse", "type": "sse" }));
    assert_eq!(found.servers[0].remarks[0].key, "import.lost_trust");
    assert_eq!(found.servers[2].remarks[0].key, "import.lost_oauth");
}

#[test]
fn mcphost_and_opencode() {
    let root = json!({ "model": "x", "mcpServers": {
        "a": { "type": "local", "command": ["npx", "-y", "x"], "environment": { "K": "${env://TOKEN:-none}" }, "allowedTools": ["r"] },
        "b": { "type": "remote", "url": "http://x/mcp", "headers": ["Authorization: Bearer ${env://T}"] },
        "c": { "type": "builtin", "name": "fs" },
    } });
    let found = read(Program::Mcphost, &root);
    assert_eq!(
        found.servers[0].entry,
        Some(
            json!({ "command": "npx", "args": ["-y", "x"], "env": { "K": "${TOKEN:-none}" }, "tools": { "allow": ["r"] } })
        )
    );
    assert_eq!(
        found.servers[1].entry,
        Some(json!({ "url": "http://x/mcp", "headers": { "Authorization": "Bearer ${T}" } }))
    );
    assert_eq!(found.servers[2].entry, None);

    let root = json!({ "$schema": "x", "mcp": {
        "a": { "type": "local", "command": ["x", "--k={env:K}"], "environment": { "F": "{file:~/k}" }, "enabled": false, "timeout": 5000 },
        "b": { "enabled": true },
    } });
    let found = read(Program::Opencode, &root);
    assert_eq!(
        found.servers[0].entry,
        Some(
            json!({ "command": "x", "args": ["--k=${K}"], "env": { "F": "{file:~/k}" }, "disabled": true, "timeout": { "call": 5 } })
        )
    );
    assert_eq!((found.servers[1].entry.clone(), found.servers[1].remarks[0].key.as_ref()), (None, "import.no_way"));
    let root = json!({ "mcp": { "servers": { "a": { "type": "remote", "url": "http://x", "timeout": { "startup": 1, "request": 9000 } } } } });
    assert_eq!(one(Program::Opencode, &root).0, json!({ "url": "http://x", "timeout": { "start": 1, "call": 9 } }));
}

#[test]
fn claude() {
    let root = json!({
        "numStartups": 3,
        "mcpServers": { "a": { "type": "http", "url": "http://x", "headersHelper": "x" } },
        "projects": {
            "/work/app": { "mcpServers": { "p": { "type": "stdio", "command": "p", "args": [] } } },
            "/work/other": { "mcpServers": { "q": {}, "r": {} } },
        },
    });
    let found = read(Program::ClaudeCode, &root);
    let names: Vec<&str> = found.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!((names, found.remarks[0].key.as_ref()), (vec!["p", "a"], "import.other_projects"));
    assert_eq!(found.servers[0].entry, Some(json!({ "command": "p" })));
    let desktop = json!({ "mcpServers": { "a": { "command": "x", "args": ["${HOME}"] } } });
    assert_eq!(one(Program::ClaudeDesktop, &desktop).1, ["import.filled_now"]);
}

#[test]
fn what_cannot_be_read_is_said() {
    let problem = |file: &str, text: &str| Program::Mcphost.read(text, Path::new(file), Path::new("/")).unwrap_err();
    assert_eq!(problem("a.yml", "x: 1").key, "import.yaml");
    assert_eq!(problem("a.json", "{\n nonsense").key, "import.json");
    assert_eq!(Program::Cursor.read("[]", Path::new("a"), Path::new("/")), Ok(Found::default()));
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(text in "[${}:a-z/1\\-]{0,30}") {
        for program in [Program::Cursor, Program::Gemini, Program::Mcphost, Program::Opencode] {
            let root = json!({ "mcpServers": { "a": { "command": text } }, "mcp": { "a": { "command": [text] } } });
            let found = read(program, &root);
            prop_assert_eq!(found.servers.len(), 1);
        }
    }
}
