use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

fn entry() -> Value {
    json!({ "command": "npx", "args": ["-y", "new"] })
}

#[test]
fn a_new_entry_goes_behind_the_others_and_nothing_else_moves() {
    let text = r#"// my servers
{
    // the first
    "mcpServers": {
        "a": { "command": "a" }, // about a

        /* about b */
        "b": { "command": "b" } // last
    },
    "other": [1,2,   3], // odd, but mine
}
"#;
    let after = with_entry(text, "new", &entry()).unwrap();
    let expected = text.replace(
        "\"b\": { \"command\": \"b\" } // last\n",
        "\"b\": { \"command\": \"b\" }, // last\n        \"new\": {\n            \"command\": \"npx\",\n            \"args\": [\"-y\", \"new\"]\n        }\n",
    );
    assert_eq!(after, expected);
    assert_eq!(without_entry(&after, "new").unwrap().unwrap(), text);
}

#[test]
fn files_of_other_shapes() {
    let fresh = "{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"new\"]\n    }\n  }\n}\n";
    assert_eq!(with_entry("", "new", &entry()).unwrap(), fresh);
    assert_eq!(with_entry("\u{feff}", "new", &entry()).unwrap(), format!("\u{feff}{fresh}"));
    let code = with_entry("{\n\t\"servers\": {}\n}\n", "new", &json!({ "url": "http://x/" })).unwrap();
    assert_eq!(code, "{\n\t\"servers\": {\n\t\t\"new\": {\n\t\t\t\"url\": \"http://x/\"\n\t\t}\n\t}\n}\n");
    let windows = with_entry("{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n", "b", &json!({})).unwrap();
    assert!(!windows.replace("\r\n", "").contains('\n'), "{windows:?}");
    let replaced = with_entry(r#"{"mcpServers":{"a ":1,"a":{"command":"x"}},"k":1}"#, "a", &json!({})).unwrap();
    assert_eq!(data(&replaced).unwrap()["mcpServers"]["a"], json!({}));
    assert_eq!(
        without_entry(r#"{"mcpServers":{"a ":1,"a":2,"b":3}}"#, "a").unwrap().unwrap(),
        r#"{"mcpServers":{"b":3}}"#
    );
    assert_eq!(without_entry(fresh, "other"), Ok(None));
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    assert!(matches!(with_entry("{ \"mcpServers\": {", "a", &entry()), Err(Fault::Syntax(..))));
    assert_eq!(with_entry("[]", "a", &entry()), Err(Fault::Shape("{}")));
    assert_eq!(with_entry("{ \"mcpServers\": 3 }", "a", &entry()), Err(Fault::Shape("mcpServers")));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mcp.json");
    fs::write(&file, "{\n  nonsense\n}\n").unwrap();
    let place = Place { file: file.clone(), locks: None };
    let problem = put(&place, &[("a".into(), entry())], Existing::Keep).unwrap_err();
    assert_eq!((problem.key.as_ref(), crate::strings::lacks(&problem).len()), ("config.edit_syntax", 0));
    assert!(problem.args.iter().any(|(name, value)| name == "line" && value == "2"), "{problem:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n  nonsense\n}\n");
}

#[test]
fn entries_that_are_there_are_kept_or_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place { file: dir.path().join("mcpane/mcp.json"), locks: None };
    let both = [("a".to_owned(), entry()), ("b".to_owned(), json!({ "url": "http://x/" }))];
    let first = put(&place, &both[..1], Existing::Keep).unwrap();
    assert_eq!((first.before, first.done, first.kept), (None, vec!["a".to_owned()], vec![]));
    assert_eq!(fs::metadata(&place.file).unwrap().permissions().mode() & 0o777, 0o600);
    let second = put(&place, &both, Existing::Keep).unwrap();
    assert_eq!((second.done, second.kept), (vec!["b".to_owned()], vec!["a".to_owned()]));
    let third = put(&place, &[("a".into(), json!({ "command": "y" }))], Existing::Replace).unwrap();
    assert_eq!(third.done, ["a"]);
    let removed = remove(&place, "b").unwrap();
    assert_eq!(removed.done, ["b"]);
    let text = fs::read_to_string(&place.file).unwrap();
    assert_eq!(text, "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"y\"\n    }\n  }\n}\n");
    assert_eq!(remove(&place, "b").unwrap().after, None);
}

// --- an edit changes nothing else

/// White space and comments between two tokens.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => Just(String::new()),
        4 => Just(" ".to_owned()),
        4 => "\n( |\t){0,4}",
        1 => Just("\n\n  ".to_owned()),
        2 => "/\\* [a-z]{1,6} \\*/",
        2 => " // [a-z]{1,6}\n",
    ]
}

/// A value that holds no server.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1".to_owned()),
        Just("true".to_owned()),
        Just("\"a // no comment\"".to_owned()),
        (gap(), gap()).prop_map(|(a, b)| format!("[{a}1,{b}\"x\"]")),
        (gap(), gap(), gap()).prop_map(|(a, b, c)| format!("{{{a}\"command\":{b}\"c\"{c}}}")),
    ]
}

/// Gaps around a name, its value, and the gap behind it.
type Parts = (String, String, String, String, String);

/// The members of an object, with their commas, and a last one where the flag says so.
fn members(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let one = (gap(), gap(), gap(), value(), gap());
    (proptest::sample::subsequence(names, 0..=names.len()), proptest::collection::vec(one, names.len()), any::<bool>())
        .prop_map(|(names, parts, trailing)| {
            let last = names.len();
            let member = |(at, (name, (a, b, c, v, d))): (usize, (&&str, &Parts))| {
                let comma = if at + 1 < last || trailing { "," } else { "" };
                format!("{a}\"{name}\"{b}:{c}{v}{d}{comma}")
            };
            names.iter().zip(&parts).enumerate().map(member).collect()
        })
}

fn document() -> impl Strategy<Value = String> {
    let inner = members(&["one", "two", "three"]);
    let key = prop_oneof![Just("mcpServers"), Just("servers"), Just("elsewhere")];
    (gap(), members(&["x", "y"]), gap(), key, gap(), inner, (gap(), gap(), gap())).prop_map(
        |(a, before, b, key, c, inner, (d, e, f))| {
            let comma = if before.is_empty() || before.trim_end().ends_with(',') { "" } else { "," };
            // A comment at the end of what is before would swallow the comma.
            format!("{a}{{{before}\n{comma}{b}\"{key}\":{c}{{{inner}{d}}}{e}}}{f}")
        },
    )
}

/// The tokens of a text without white space and commas: names, values, braces and comments, in order.
fn tokens(text: &str) -> Vec<String> {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").unwrap() + 2
        } else if first == '"' {
            rest[1..].find('"').unwrap() + 2
        } else {
            first.len_utf8()
        };
        let token = rest[..length].trim_end().to_owned();
        if !token.is_empty() && token != "," {
            out.push(token);
        }
        rest = &rest[length..];
    }
    out
}

/// Whether `short` is `long` with one run taken out.
fn lacks_one_run(short: &[String], long: &[String]) -> bool {
    let head = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let tail = short.iter().rev().zip(long.iter().rev()).take_while(|(a, b)| a == b).count();
    short.len() <= long.len() && head + tail >= short.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn putting_an_entry_adds_one_run_of_tokens(text in document()) {
        let after = with_entry(&text, "new", &entry()).unwrap();
        prop_assert!(lacks_one_run(&tokens(&text), &tokens(&after)), "{text}\n---\n{after}");
        prop_assert!(has(&after, "new").unwrap());
        let back = without_entry(&after, "new").unwrap().unwrap();
        prop_assert!(lacks_one_run(&tokens(&text), &tokens(&back)), "{text}\n---\n{back}");
    }

    #[test]
    fn replacing_an_entry_touches_its_value_alone(text in document(), name in prop_oneof![Just("one"), Just("two"), Just("three")]) {
        if has(&text, name).unwrap() {
            let after = with_entry(&text, name, &json!("gone")).unwrap();
            let (old, new) = (tokens(&text), tokens(&after));
            let at = new.iter().position(|token| token == "\"gone\"").unwrap();
            prop_assert_eq!(&old[..at], &new[..at]);
            prop_assert!(old.ends_with(&new[at + 1..]), "{}\n---\n{}", text, after);
        }
    }

    #[test]
    fn removing_an_entry_takes_one_run_of_tokens(text in document(), name in prop_oneof![Just("one"), Just("two"), Just("three")]) {
        if has(&text, name).unwrap() {
            let after = without_entry(&text, name).unwrap().unwrap();
            prop_assert!(lacks_one_run(&tokens(&after), &tokens(&text)), "{text}\n---\n{after}");
            // Comments on lines of their own are not the entry's to take along.
            let own_lines = |text: &str| text.lines().filter(|line| line.trim().starts_with("//")).count();
            prop_assert!(own_lines(&after) >= own_lines(&text).saturating_sub(1), "{text}\n---\n{after}");
        }
    }

    #[test]
    fn no_text_makes_it_panic_or_lose_anything(text in "[\\[\\]{}:,\"a-c/* \\n]{0,40}") {
        let _ = with_entry(&text, "a", &entry());
        let _ = without_entry(&text, "a");
    }
}
