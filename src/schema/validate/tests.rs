use super::*;
use serde_json::{Map, json};

fn check(schema: &Value, value: &Value) -> Vec<(String, String)> {
    let validator = Validator::new(schema);
    assert_eq!(validator.unchecked(), [], "{schema}");
    validator.validate(value).into_iter().map(|p| (p.path, p.message)).collect()
}

fn strs(problems: &[(String, String)]) -> Vec<(&str, &str)> {
    problems.iter().map(|(p, m)| (p.as_str(), m.as_str())).collect()
}

#[test]
fn problems_say_what_to_do() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "count": { "type": "integer", "minimum": 1, "maximum": 10 },
            "unit": { "enum": ["celsius", "kelvin"] },
            "filters": { "type": "array", "items": { "type": "object", "properties": { "name": { "type": ["string", "null"] } }, "required": ["name"] } }
        },
        "required": ["path"],
        "additionalProperties": false
    });
    assert_eq!(check(&schema, &json!({ "path": "a", "count": 3, "filters": [{ "name": null }] })), []);
    let problems = check(
        &schema,
        &json!({ "Path": "a", "count": 11, "unit": "kelvn", "filters": [{ "name": "x" }, { "name": 3 }, {}] }),
    );
    let mut found = strs(&problems);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("Path", "is not a known property; did you mean `path`?"),
            ("count", "must be at most 10, got 11"),
            ("filters[1].name", "must be null or a string, got 3"),
            ("filters[2].name", "is required but missing"),
            ("path", "is required but missing"),
            ("unit", "must be one of \"celsius\", \"kelvin\"; got the string \"kelvn\""),
        ]
    );
    assert_eq!(strs(&check(&schema, &json!("text"))), [("", "must be an object, got the string \"text\"")]);
    let stranger = check(&schema, &json!({ "path": "a", "qqq": 1 }));
    assert_eq!(strs(&stranger), [("qqq", "is not a known property; known are `path`, `count`, `unit`, `filters`")]);
    assert_eq!(
        strs(&check(&schema, &json!({ "path": "a", "count": "3" }))),
        [("count", "must be an integer, got the string \"3\"")]
    );
}

#[test]
fn unions_speak_of_the_closest_form() {
    let schema = json!({ "properties": { "v": { "anyOf": [
        { "type": "string" },
        { "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] }
    ] } } });
    assert_eq!(
        strs(&check(&schema, &json!({ "v": { "id": "7" } }))),
        [("v.id", "must be an integer, got the string \"7\"")]
    );
    assert_eq!(strs(&check(&schema, &json!({ "v": 7 }))), [("v", "must be a string or an object, got 7")]);
}

#[test]
fn long_values_are_shortened() {
    let long = "x".repeat(10_000);
    let problems = check(&json!({ "type": "integer" }), &json!(long));
    assert!(problems[0].1.len() < 200, "{}", problems[0].1.len());
}

#[test]
fn local_references_hold() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://example.com/tool",
        "definitions": { "pos": { "type": "integer", "minimum": 0 } },
        "properties": {
            "a": { "$ref": "#/definitions/pos" },
            "b": { "$ref": "https://example.com/tool#/definitions/pos" },
            "$ref": { "type": "string" }
        }
    });
    assert_eq!(check(&schema, &json!({ "a": 1, "b": 1, "$ref": "x" })), []);
    assert_eq!(check(&schema, &json!({ "a": -1, "b": -1, "$ref": 1 })).len(), 3);
    let anchored =
        json!({ "$defs": { "p": { "$anchor": "pos", "minimum": 0 } }, "properties": { "a": { "$ref": "#pos" } } });
    assert_eq!(check(&anchored, &json!({ "a": -1 })).len(), 1);
    let tree = json!({ "$defs": { "n": { "type": "object", "properties": { "kids": { "type": "array", "items": { "$ref": "#/$defs/n" } } } } }, "$ref": "#/$defs/n" });
    assert_eq!(strs(&check(&tree, &json!({ "kids": [{ "kids": [1] }] })))[0].0, "kids[0].kids[0]");
}

#[test]
fn what_lies_elsewhere_is_never_fetched_and_counts_as_true() {
    // A server that would notice.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/s.json", listener.local_addr().unwrap());
    let file = std::env::temp_dir().join("mcpane-no-such-schema.json");
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "$ref": url },
            "b": { "$ref": format!("file://{}", file.display()) },
            "c": { "$ref": "other.json#/x" },
            "d": { "$ref": "#/$defs/nowhere" },
            "e": { "type": "integer" }
        }
    });
    let validator = Validator::new(&schema);
    let reasons: Vec<(&str, &Reason)> = validator.unchecked().iter().map(|u| (u.at.as_str(), &u.reason)).collect();
    assert_eq!(
        reasons,
        [
            ("/properties/a/$ref", &Reason::Remote(url)),
            ("/properties/b/$ref", &Reason::Remote(format!("file://{}", file.display()))),
            ("/properties/c/$ref", &Reason::Remote("other.json#/x".into())),
            ("/properties/d/$ref", &Reason::Dangling("#/$defs/nowhere".into())),
        ]
    );
    assert_eq!(validator.validate(&json!({ "a": 1, "b": 2, "c": 3, "d": 4, "e": 5 })), []);
    assert_eq!(validator.validate(&json!({ "e": "x" })).len(), 1);
    assert!(listener.accept().is_err());
}

#[test]
fn unknown_drafts_and_invalid_keywords_cost_only_themselves() {
    let unknown = Validator::new(&json!({ "$schema": "https://example.com/draft", "type": "integer" }));
    assert!(matches!(unknown.unchecked()[0].reason, Reason::Draft(_)));
    assert_eq!(unknown.validate(&json!("x")).len(), 1);
    let broken = Validator::new(
        &json!({ "properties": { "a": { "type": "any", "minimum": "low" }, "b": { "type": "integer" } }, "required": true }),
    );
    assert!(broken.unchecked().iter().all(|u| matches!(u.reason, Reason::Invalid(_))), "{:?}", broken.unchecked());
    assert_eq!(broken.unchecked().len(), 3);
    assert_eq!(broken.validate(&json!({ "a": 1, "b": "x" })).len(), 1);
    for nonsense in [json!(null), json!(3), json!("x"), json!([])] {
        let validator = Validator::new(&nonsense);
        assert!(!validator.unchecked().is_empty(), "{nonsense}");
        assert_eq!(validator.validate(&json!({})), []);
    }
    assert_eq!(Validator::new(&json!(false)).validate(&json!({})).len(), 1);
    // zod writes draft-07; OpenAPI's keywords are passed over.
    let seven = Validator::new(
        &json!({ "$schema": "http://json-schema.org/draft-07/schema#", "items": [{ "type": "integer" }], "nullable": true }),
    );
    assert_eq!((seven.unchecked().len(), seven.validate(&json!(["x"])).len()), (0, 1));
}

#[test]
fn patterns_work_within_limits() {
    let schema = |pattern: &str| json!({ "properties": { "p": { "type": "string", "pattern": pattern } } });
    assert_eq!(check(&schema(r"^(?=.*\d)(?=.*[a-z]).{4,}$"), &json!({ "p": "ab12" })), []);
    assert_eq!(check(&schema(r"^(?=.*\d).+$"), &json!({ "p": "abc" })).len(), 1);
    assert_eq!(check(&schema(r"^(\d+)-\1$"), &json!({ "p": "12-13" })).len(), 1);
    for bad in ["(", "[z-a]", &format!("(?:{}){{1000}}", "a{1000}"), &"x".repeat(5_000)] {
        let validator = Validator::new(&schema(bad));
        assert!(
            matches!(validator.unchecked()[..], [Unchecked { reason: Reason::Pattern(_), .. }]),
            "{:?}",
            validator.unchecked()
        );
        assert_eq!(validator.validate(&json!({ "p": "y" })), []);
    }
    // Backtracks exponentially: given up, and no problem is claimed.
    let evil = Validator::new(&schema(r"^(?:(a+)+\1?)+$"));
    assert_eq!(evil.validate(&json!({ "p": format!("{}!", "a".repeat(60)) })), []);
    let keys = Validator::new(&json!({ "patternProperties": { "(": false, "^x": { "type": "integer" } } }));
    assert_eq!((keys.unchecked().len(), keys.validate(&json!({ "xa": "s" })).len()), (1, 1));
}

#[test]
fn hostile_shapes_end() {
    // Nested beyond the limit.
    let mut deep = json!({ "type": "integer" });
    for _ in 0..500 {
        deep = json!({ "properties": { "a": deep } });
    }
    let validator = Validator::new(&deep);
    assert!(validator.unchecked().iter().all(|u| crate::strings::lacks(&u.phrase()).is_empty()));
    assert!(validator.unchecked().iter().any(|u| u.reason == Reason::Deep));
    assert_eq!(validator.validate(&json!({ "a": { "a": 1 } })), []);
    // Too large.
    let many: Map<String, Value> = (0..30_000).map(|i| (format!("p{i}"), json!({ "type": "integer" }))).collect();
    let validator = Validator::new(&json!({ "properties": many }));
    assert!(validator.unchecked().iter().any(|u| u.reason == Reason::Large));
    assert_eq!(validator.validate(&json!({ "p0": "x" })).len(), 1);
    // More patterns than are compiled.
    let patterns: Map<String, Value> = (0..500).map(|i| (format!("^p{i}"), json!({ "type": "integer" }))).collect();
    assert!(!Validator::new(&json!({ "patternProperties": patterns })).unchecked().is_empty());
    // References in circles.
    for circle in [
        json!({ "$ref": "#" }),
        json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } }, "$ref": "#/$defs/a" }),
    ] {
        assert_eq!(Validator::new(&circle).validate(&json!({ "x": 1 })), []);
    }
}

/// `levels` definitions, each naming the next one `times` times: `times^levels` visits without a limit.
fn exponential(keyword: &str, levels: usize, times: usize, last: &Value) -> Value {
    let mut defs = Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        defs.insert(format!("l{level}"), json!({ keyword: vec![next; times] }));
    }
    defs.insert(format!("l{levels}"), last.clone());
    json!({ "$ref": "#/$defs/l0", "$defs": defs })
}

#[test]
fn exponential_work_is_given_up() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let validator = Validator::new(&exponential(keyword, 40, 3, &json!({ "type": "integer" })));
        for value in [json!("x"), json!({ "x": 1 }), json!(1)] {
            match validator.check(&value) {
                Ok(problems) => assert!(problems.len() <= PROBLEMS),
                Err(reason) => assert_eq!(reason, Reason::Work),
            }
        }
    }
    // Doubling with every level of the value.
    let recursive = Validator::new(&json!({ "anyOf": [
        { "properties": { "a": { "$ref": "#" } }, "required": ["a"] },
        { "properties": { "a": { "$ref": "#" } }, "required": ["a", "b"] },
        { "type": "integer" }
    ] }));
    let mut value = json!("no");
    for _ in 0..100 {
        value = json!({ "a": value });
    }
    let _ = recursive.check(&value);
    let mut bottomless = json!(1);
    for _ in 0..=VALUE_DEPTH {
        bottomless = json!([bottomless]);
    }
    assert_eq!(Validator::new(&json!({})).validate(&bottomless).len(), 1);
    // The limit is per validation, not per thread.
    assert_eq!(Validator::new(&json!({ "type": "integer" })).check(&json!("x")).map(|p| p.len()), Ok(1));
}

#[test]
fn validators_are_kept_by_hash_and_bounded() {
    let validators = Validators::default();
    let schema = json!({ "type": "integer" });
    let first = validators.get(&Arc::from("a"), &schema);
    assert!(Arc::ptr_eq(&first, &validators.get(&Arc::from("a"), &schema)));
    for i in 0..CACHE {
        validators.get(&Arc::from(i.to_string()), &schema);
    }
    assert_eq!(validators.lock().len(), CACHE);
    assert!(!Arc::ptr_eq(&first, &validators.get(&Arc::from("a"), &schema)));
}
