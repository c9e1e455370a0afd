//! `mcp add`, `add-json` and `remove`: changing the files of servers.
//!
//! **Invariant:** a project's file stays trusted through a change of ours only if it was trusted before, or held no server; what somebody else wrote into
//! it is never trusted along.

use super::{list, mention};
use crate::app::ground::Ground;
use crate::cli::paper::Ink;
use crate::cli::servers::{Add, Whose};
use crate::config::edit::{self, Changed, Existing, Place};
use crate::config::report::cleaned;
use crate::config::servers::{self, Scope, names, syntax};
use crate::domain::{Notice, Phrase};
use crate::redact::is_secret_name;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What `--replace` says.
pub(super) fn existing(replace: bool) -> Existing {
    if replace { Existing::Replace } else { Existing::Keep }
}

/// `mcp add`.
pub(super) fn add(ground: &mut Ground, add: &Add) -> Result<ExitCode, Phrase> {
    let mut entry = Map::new();
    if let Some(url) = &add.url {
        entry.insert("url".into(), json!(url));
        let headers = pairs(&add.header, &['=', ':'], "cli.bad_header")?;
        if !headers.is_empty() {
            entry.insert("headers".into(), Value::Object(headers));
        }
    } else {
        let mut words = add.line.iter();
        entry.insert("command".into(), json!(words.next()));
        let args: Vec<&String> = words.collect();
        if !args.is_empty() {
            entry.insert("args".into(), json!(args));
        }
        let env = pairs(&add.env, &['='], "cli.bad_variable")?;
        if !env.is_empty() {
            entry.insert("env".into(), Value::Object(env));
        }
    }
    put(ground, &add.server, Value::Object(entry), (add.scope, existing(add.replace)))
}

/// `K=V`, split at the first mark.
fn pairs(texts: &[String], marks: &[char], key: &'static str) -> Result<Map<String, Value>, Phrase> {
    let pair = |text: &String| {
        let (name, value) = text.split_once(marks).ok_or_else(|| Phrase::new(key).with("text", text))?;
        Ok((name.trim().to_owned(), json!(value.trim_start())))
    };
    texts.iter().map(pair).collect()
}

/// `mcp add-json`.
pub(super) fn add_json(
    ground: &mut Ground,
    name: &str,
    text: &str,
    how: (Whose, Existing),
) -> Result<ExitCode, Phrase> {
    let entry: Value = jsonc_parser::parse_to_serde_value(text, &syntax())
        .map_err(|error| Phrase::new("cli.bad_json").with("problem", error))?;
    put(ground, name, entry, how)
}

fn put(
    ground: &mut Ground,
    name: &str,
    entry: Value,
    (whose, existing): (Whose, Existing),
) -> Result<ExitCode, Phrase> {
    if name.is_empty() || cleaned(name) != name {
        return Err(Phrase::new("cli.bad_name").with("name", name));
    }
    let scope = scope(whose);
    let (fault, notices) = servers::judge(name, &entry, "JSON", scope);
    if let Some(fault) = fault {
        return Err(fault);
    }
    let place = place(ground, &new_file(ground, whose));
    let exposed = exposed(name, &entry, scope);
    let changed = edit::put(&place, &[(name.to_owned(), entry)], existing)?;
    if changed.after.is_none() {
        let file = list::short(ground, &place.file.display().to_string());
        return Err(Phrase::new("cli.there_already").with("server", name).with("file", file));
    }
    let trust = keep_trust(ground, &place.file, scope, &changed);
    ground.reload();
    let mut paper = ground.paper();
    let file = list::short(ground, &place.file.display().to_string());
    let said = Phrase::new("cli.added").with("server", name).with("file", file);
    paper.item(0, (Ink::Good, "✓".into()), &ground.say(&said));
    let mut notices = notices;
    notices.extend(exposed);
    notices.extend(trust);
    notices.extend(after_put(ground, name, &place.file));
    mention(ground, &notices);
    Ok(Ground::print(&paper, 0))
}

/// A secret in a file that others read, too.
pub(super) fn exposed(name: &str, entry: &Value, scope: Scope) -> Option<Notice> {
    let mut pairs = ["env", "headers"].into_iter().filter_map(|key| entry.get(key)?.as_object()).flatten();
    let literal = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty() && !text.contains("${"));
    let (key, _) = pairs.find(|(key, value)| is_secret_name(key) && literal(value))?;
    let text = Phrase::new("cli.secret_shared").with("server", name).with("key", key);
    (scope == Scope::Project).then(|| Notice::warning(text))
}

/// What the user should know of an entry that was just written.
pub(super) fn after_put(ground: &Ground, name: &str, file: &Path) -> Vec<Notice> {
    let Ok(entry) = ground.entry(name) else { return Vec::new() };
    let mut notices = Vec::new();
    let here = Path::new(&entry.source.file) == file;
    let shown = |path: &str| list::short(ground, path);
    if !here {
        let text = Phrase::new("cli.is_shadowed").with("server", name).with("file", shown(&entry.source.file));
        notices.push(Notice::warning(text));
    } else if let Some(shadowed) = entry.source.shadows.last() {
        let text = Phrase::new("cli.shadows").with("server", name).with("file", shown(shadowed));
        notices.push(Notice::info(text));
    }
    if let (true, Err(problem)) = (here, &entry.transport) {
        notices.push(Notice::warning(problem.clone()));
    }
    notices
}

/// `mcp remove`.
pub(super) fn remove(ground: &mut Ground, name: &str, whose: Option<Whose>) -> Result<ExitCode, Phrase> {
    let files: Vec<PathBuf> = match whose {
        Some(Whose::User) => ground.dirs.servers().into_iter().rev().collect(),
        Some(Whose::Project) => crate::config::paths::project_servers(&ground.project).into_iter().rev().collect(),
        None => vec![PathBuf::from(&ground.entry(name)?.source.file)],
    };
    for file in files.iter().filter(|file| file.exists()) {
        let place = place(ground, file);
        let changed = edit::remove(&place, name)?;
        if changed.after.is_none() {
            continue;
        }
        let scope = if place.file.starts_with(&ground.project) { Scope::Project } else { Scope::User };
        let mut notices = Vec::from_iter(keep_trust(ground, file, scope, &changed));
        ground.reload();
        if let Ok(other) = ground.entry(name) {
            let text = Phrase::new("cli.now_counts").with("server", name).with("file", list::origin(ground, other));
            notices.push(Notice::info(text));
        }
        let mut paper = ground.paper();
        let shown = list::short(ground, &file.display().to_string());
        let said = Phrase::new("cli.removed").with("server", name).with("file", shown);
        paper.item(0, (Ink::Good, "✓".into()), &ground.say(&said));
        mention(ground, &notices);
        return Ok(Ground::print(&paper, 0));
    }
    Err(match whose {
        None => ground.entry(name).err().unwrap_or_else(|| Phrase::new("cli.no_servers")),
        Some(_) => Phrase::new("cli.not_in_scope").with("server", name),
    })
}

/// The file that a new entry goes into.
pub(super) fn new_file(ground: &Ground, whose: Whose) -> PathBuf {
    let [_, own] = ground.dirs.servers();
    let [project, _] = crate::config::paths::project_servers(&ground.project);
    match whose {
        Whose::User => own,
        Whose::Project => project,
    }
}

pub(super) fn scope(whose: Whose) -> Scope {
    match whose {
        Whose::User => Scope::User,
        Whose::Project => Scope::Project,
    }
}

/// A file in our own directory is the user's alone; others keep who may read them.
pub(super) fn place(ground: &Ground, file: &Path) -> Place {
    let own = file.starts_with(&ground.dirs.config);
    Place { file: file.to_path_buf(), locks: (!own).then(|| ground.dirs.state.join("locks")) }
}

/// What was trusted stays so; what was not is said.
pub(super) fn keep_trust(ground: &mut Ground, file: &Path, scope: Scope, changed: &Changed) -> Option<Notice> {
    let after = plain_text(changed.after.as_deref()?);
    if scope != Scope::Project {
        return None;
    }
    let before = changed.before.as_deref().map(plain_text).unwrap_or_default();
    if names(before).is_empty() || ground.trust.is_trusted(file, before) {
        return ground.trust.accept(file, after).err();
    }
    let file = list::short(ground, &file.display().to_string());
    Some(Notice::warning(Phrase::new("cli.still_untrusted").with("file", file)))
}

/// The text as the loader reads it.
fn plain_text(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_split_at_the_first_mark() {
        let header = |text: &str| pairs(&[text.to_owned()], &['=', ':'], "cli.bad_header");
        let one = |name: &str, value: &str| Map::from_iter([(name.to_owned(), json!(value))]);
        assert_eq!(header("Authorization: Bearer a=b:c"), Ok(one("Authorization", "Bearer a=b:c")));
        assert_eq!(header("X-Key=a:b"), Ok(one("X-Key", "a:b")));
        assert_eq!(pairs(&["A=b=c".to_owned()], &['='], "cli.bad_variable"), Ok(one("A", "b=c")));
        assert_eq!(header("nothing").unwrap_err().key, "cli.bad_header");
    }
}
