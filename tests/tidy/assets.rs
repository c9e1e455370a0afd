//! Assets: every file is built in, and says what the code says.

use crate::source::{Tree, Violation, files, shown};
use std::path::Path;
use std::sync::Arc;

/// Files below `assets/` and `themes/` that nothing builds in.
pub fn tables(tree: &Tree, root: &Path) -> Vec<Violation> {
    let mut all = files(&root.join("assets"), &["toml", "md"]);
    all.extend(files(&root.join("themes"), &["toml"]));
    all.iter()
        .map(|path| shown(path))
        .filter(|path| !is_built_in(tree, path))
        .map(|path| Violation { what: "no table builds this file in".to_owned(), line: 1, path })
        .collect()
}

/// A file is named whole (`include_str!("../assets/a/b.md")`), or by its name in a file that builds in its directory by a macro
/// (`concat!("../assets/a/", $name, ".md")`).
fn is_built_in(tree: &Tree, path: &str) -> bool {
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    tree.sources.iter().any(|source| {
        let texts = || source.facts.texts.iter().map(|text| text.value.as_str());
        let whole = format!("../{path}");
        let prefix = format!("../{directory}/");
        texts().any(|text| text.ends_with(&whole))
            || (texts().any(|text| text.ends_with(&prefix)) && texts().any(|text| text == stem))
    })
}

/// Aliases of tools or parameters that do not exist. The XML reader goes by these lists.
pub fn aliases(root: &Path) -> Vec<Violation> {
    let path = root.join("assets/tools/aliases.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let violation = |tool: &str, what: String| {
        let line = text.lines().position(|line| line.trim() == format!("[tool.{tool}]")).map_or(1, |line| line + 1);
        Violation { path: shown(&path), line, what }
    };
    let mut found = Vec::new();
    for (tool, entry) in table["tool"].as_table().unwrap() {
        let Some(known) = parameters(tool) else {
            found.push(violation(tool, format!("there is no tool {tool}")));
            continue;
        };
        let named: Vec<&str> =
            entry["parameters"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        if named != known {
            found.push(violation(tool, format!("{tool} has the parameters {known:?}, not {named:?}")));
        }
        for (alias, target) in entry.get("arguments").and_then(toml::Value::as_table).into_iter().flatten() {
            let target = target.as_str().unwrap_or_default();
            if !known.iter().any(|name| name == target) || known.contains(alias) {
                found.push(violation(tool, format!("{alias} = {target:?}: {tool} has the parameters {known:?}")));
            }
        }
    }
    found
}

/// The parameters of a built-in tool, as its schema names them.
fn parameters(tool: &str) -> Option<Vec<String>> {
    use mcpane::domain::{ServerName, ToolOutcome};
    use mcpane::tools::{Invocation, Scene, Setting, builtin, scene::ReadResource};
    struct Nothing;
    impl ReadResource for Nothing {
        fn read(&self, _: ServerName, _: String, _: Invocation) -> futures::future::BoxFuture<'static, ToolOutcome> {
            Box::pin(std::future::ready(ToolOutcome::Cancelled))
        }
    }
    let mut setting = Setting::new(env!("CARGO_MANIFEST_DIR"), "spill");
    setting.resources = Some(Arc::new(Nothing));
    let tools = builtin::all(&Scene::new(setting).unwrap());
    let tool = tools.iter().find(|known| &*known.spec().id.name == tool)?;
    Some(tool.spec().input_schema["properties"].as_object()?.keys().cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_outside_its_table_is_found() {
        let tree = Tree::of(&[
            ("src/a.rs", "const A: &str = include_str!(\"../assets/tools/read.md\");"),
            (
                "src/b.rs",
                "macro_rules! m { ($($n:literal),*) => { $(include_str!(concat!(\"../../assets/prompts/\", $n, \".md\"))),* } }\nfn f() { m!(\"one\", \"two\") }",
            ),
            ("src/c.rs", "const X: &str = \"three\";"),
        ]);
        assert!(is_built_in(&tree, "assets/tools/read.md") && is_built_in(&tree, "assets/prompts/two.md"));
        assert!(!is_built_in(&tree, "assets/tools/write.md") && !is_built_in(&tree, "assets/prompts/three.md"));
    }

    #[test]
    fn parameters_come_from_the_tools() {
        assert_eq!(parameters("write_to_file").unwrap(), ["path", "content"]);
        assert_eq!(parameters("nothing"), None);
    }
}
