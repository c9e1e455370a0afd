use super::*;
use crate::schema::Validator;
use proptest::prelude::*;

fn lost(schema: &Value, subset: Subset) -> (Value, Vec<String>) {
    let lowered = lower(schema, subset);
    (lowered.schema, lowered.losses.into_iter().map(|loss| format!("{} {}", loss.at, loss.keyword)).collect())
}

fn property(schema: Value, subset: Subset) -> (Value, Vec<String>) {
    let whole = json!({ "type": "object", "properties": { "p": schema }, "$defs": {
        "node": { "type": "object", "properties": { "next": { "$ref": "#/$defs/node" }, "n": { "type": "integer" } } },
        "unit": { "enum": ["C", "F"], "description": "Unit." },
    } });
    let (schema, losses) = lost(&whole, subset);
    (schema["properties"]["p"].clone(), losses.into_iter().map(|loss| loss.replace("/properties/p", "")).collect())
}

#[test]
fn the_top_is_a_plain_object() {
    let fine = json!({ "type": "object", "properties": { "a": { "anyOf": [true, { "$ref": "#/$defs/x" }] } }, "$defs": { "x": {} } });
    assert_eq!(lost(&fine, Subset::Object), (fine.clone(), vec![]));
    assert_eq!(lost(&json!({}), Subset::Object).0, json!({ "type": "object", "properties": {} }));
    assert_eq!(lost(&json!(true), Subset::Object), (json!({ "type": "object" }), vec![]));
    assert_eq!(lost(&json!("odd"), Subset::Object).1, [" type"]);
    let referred = json!({ "$ref": "#/$defs/in", "$defs": { "in": { "type": "object", "properties": { "a": {} }, "required": ["a"] } } });
    let (schema, losses) = lost(&referred, Subset::Object);
    assert_eq!((&schema["type"], &schema["required"], schema.get("$ref")), (&json!("object"), &json!(["a"]), None));
    assert!(losses.is_empty());
    let all = json!({ "allOf": [{ "properties": { "a": {} }, "required": ["a"] }, { "properties": { "b": {} } }], "not": {} });
    let (schema, losses) = lost(&all, Subset::Object);
    assert_eq!((schema["properties"].as_object().unwrap().len(), losses), (2, vec![" not".to_owned()]));
    let round = json!({ "$ref": "#" });
    assert_eq!(lost(&round, Subset::Object).1, [" $ref"]);
}

#[test]
fn names_that_are_refused_are_left_out() {
    let schema = json!({ "type": "object", "properties": { "a b": {}, "c": {} }, "required": ["a b", "c"] });
    let (lowered, losses) = lost(&schema, Subset::NamedObject);
    assert_eq!(lowered, json!({ "type": "object", "properties": { "c": {} }, "required": ["c"] }));
    assert_eq!(losses, ["/properties/a b properties"]);
}

#[test]
fn what_gemini_has_is_kept_and_the_rest_is_said_in_words() {
    use Subset::OpenApi;
    let cases = [
        (json!({ "type": "string", "minLength": 2 }), json!({ "type": "STRING", "minLength": 2 }), vec![]),
        (
            json!({ "type": "string", "description": "D.", "pattern": "^a", "format": "uri", "default": "x" }),
            json!({ "type": "STRING", "description": "D. (matches ^a; format uri; default \"x\")" }),
            vec![" pattern", " format"],
        ),
        (
            json!({ "type": "string", "format": "date-time" }),
            json!({ "type": "STRING", "format": "date-time" }),
            vec![],
        ),
        (
            json!({ "type": ["integer", "null"], "minimum": 1 }),
            json!({ "type": "INTEGER", "nullable": true, "minimum": 1 }),
            vec![],
        ),
        (
            json!({ "type": ["string", "integer"] }),
            json!({ "anyOf": [{ "type": "STRING" }, { "type": "INTEGER" }] }),
            vec![],
        ),
        (
            json!({ "anyOf": [{ "type": "number" }, { "type": "null" }], "title": "T" }),
            json!({ "type": "NUMBER", "nullable": true, "description": "T" }),
            vec![],
        ),
        (
            json!({ "oneOf": [{ "type": "string" }, { "type": "array", "items": {} }], "description": "D" }),
            json!({ "anyOf": [
                { "type": "STRING", "description": "D" },
                { "type": "ARRAY", "items": { "anyOf": [{ "type": "STRING" }, { "type": "NUMBER" }, { "type": "BOOLEAN" }] } },
            ] }),
            vec![" oneOf", "/oneOf/1/items type"],
        ),
        (
            json!({ "$ref": "#/$defs/unit" }),
            json!({ "type": "STRING", "description": "Unit.", "enum": ["C", "F"] }),
            vec![],
        ),
        (json!({ "const": "x" }), json!({ "type": "STRING", "enum": ["x"] }), vec![]),
        (
            json!({ "oneOf": [{ "const": "a", "title": "Alpha" }, { "const": "b" }] }),
            json!({ "type": "STRING", "description": "a: Alpha", "enum": ["a", "b"] }),
            vec![],
        ),
        (
            json!({ "type": "integer", "enum": [1, 2] }),
            json!({ "type": "INTEGER", "description": "one of: 1, 2" }),
            vec![" enum"],
        ),
        (
            json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            json!({ "type": "OBJECT", "properties": { "_": { "type": "STRING", "description": "any property, by its own name" } } }),
            vec![" additionalProperties", " properties"],
        ),
        (
            json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }], "uniqueItems": true }),
            json!({ "type": "ARRAY", "description": "no item twice", "items": { "anyOf": [{ "type": "STRING" }, { "type": "NUMBER" }] } }),
            vec![" uniqueItems", " prefixItems"],
        ),
        (
            json!({ "$ref": "#/$defs/node" }),
            json!({ "type": "OBJECT", "properties": {
                "next": { "type": "OBJECT", "properties": { "_": { "type": "STRING", "description": "any property, by its own name" } } },
                "n": { "type": "INTEGER" },
            } }),
            vec!["/properties/next $ref", "/properties/next properties"],
        ),
        (
            json!({ "$ref": "https://elsewhere.example/x.json" }),
            json!({ "anyOf": [{ "type": "STRING" }, { "type": "NUMBER" }, { "type": "BOOLEAN" }] }),
            vec![" $ref", " type"],
        ),
    ];
    for (schema, lowered, losses) in cases {
        assert_eq!(
            property(schema.clone(), OpenApi),
            (lowered, losses.into_iter().map(str::to_owned).collect()),
            "{schema}"
        );
    }
}

#[test]
fn ollama_gets_no_references_and_no_boolean_schemas() {
    let (lowered, losses) =
        property(json!({ "anyOf": [{ "$ref": "#/$defs/unit" }, { "type": "array", "items": true }] }), Subset::Plain);
    let unit = json!({ "type": "string", "description": "Unit.", "enum": ["C", "F"] });
    assert_eq!(lowered, json!({ "anyOf": [unit, { "type": "array", "items": {} }] }));
    assert!(losses.is_empty());
    assert_eq!(property(json!(true), Subset::Plain).0, json!({}));
    assert_eq!(property(json!({ "enum": [1, "a", null] }), Subset::Plain).0, json!({ "enum": [1, "a"] }));
    assert_eq!(lost(&json!({ "type": "object", "description": "d" }), Subset::Plain).0, json!({ "type": "object" }));
}

#[test]
fn a_hostile_schema_ends() {
    // Each level refers twice to the next: 2^40 leaves.
    let mut defs = Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        defs.insert(format!("l{level}"), json!({ "type": "object", "properties": { "a": next, "b": next } }));
    }
    defs.insert("l40".into(), json!({ "type": "string" }));
    let schema = json!({ "type": "object", "properties": { "p": { "$ref": "#/$defs/l0" } }, "$defs": defs });
    for subset in [Subset::Plain, Subset::OpenApi] {
        let lowered = lower(&schema, subset);
        assert!(lowered.losses.iter().any(|loss| loss.keyword == "depth") && lowered.losses.len() <= REPORTS);
    }
}

#[test]
fn the_original_still_validates_what_the_lowered_one_lets_through() {
    let schema = json!({ "type": "object", "properties": { "p": { "type": "string", "pattern": "^a" } } });
    let lowered = lower(&schema, Subset::OpenApi);
    assert_eq!(lowered.losses, [Loss { at: "/properties/p".into(), keyword: "pattern".into(), told: Told::InWords }]);
    let validator = Validator::new(&schema);
    assert!(
        validator.validate(&json!({ "p": "abc" })).is_empty() && !validator.validate(&json!({ "p": "b" })).is_empty()
    );
}

fn any_schema() -> impl Strategy<Value = Value> {
    let keys = [
        "type",
        "properties",
        "items",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "required",
        "not",
        "additionalProperties",
        "description",
        "minLength",
        "default",
        "prefixItems",
        "$defs",
        "a",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..3).prop_map(Value::from),
        prop::sample::select(vec![
            "object",
            "array",
            "string",
            "integer",
            "null",
            "#",
            "#/properties/a",
            "#/$defs/a",
            "a"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 4, move |inner| {
        let object = proptest::collection::vec((prop::sample::select(keys.to_vec()), inner.clone()), 0..5);
        prop_oneof![
            3 => object.prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
            1 => proptest::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}

/// Whether a lowered schema holds only what Gemini's `Schema` has, with values of the right kind.
fn is_open_api(schema: &Value) -> bool {
    let Some(map) = schema.as_object() else { return false };
    map.iter().all(|(key, value)| match key.as_str() {
        "type" => value
            .as_str()
            .is_some_and(|kind| ["OBJECT", "ARRAY", "STRING", "NUMBER", "INTEGER", "BOOLEAN"].contains(&kind)),
        "nullable" => value.is_boolean(),
        "description" | "format" => value.is_string(),
        "enum" => value.as_array().is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_string)),
        "required" => value.as_array().is_some_and(|names| {
            names.iter().all(|name| map["properties"].get(name.as_str().unwrap_or("?")).is_some())
        }),
        "properties" => value.as_object().is_some_and(|all| !all.is_empty() && all.values().all(is_open_api)),
        "items" => is_open_api(value),
        "anyOf" => map.len() == 1 && value.as_array().is_some_and(|all| all.len() > 1 && all.iter().all(is_open_api)),
        "minLength" | "maxLength" | "minimum" | "maximum" | "minItems" | "maxItems" | "minProperties"
        | "maxProperties" => value.is_number(),
        _ => false,
    }) && (map.contains_key("type") || map.contains_key("anyOf"))
}

/// Whether there is a reference where a schema stands.
fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.iter().any(|(key, value)| key == "$ref" || (key != "enum" && refers(value))),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

proptest! {
    #[test]
    fn anything_becomes_an_object_that_gemini_reads(schema in any_schema()) {
        let lowered = lower(&schema, Subset::OpenApi).schema;
        prop_assert!(is_open_api(&lowered), "{lowered}");
        prop_assert_eq!(&lowered["type"], "OBJECT");
        for subset in [Subset::Object, Subset::NamedObject, Subset::Plain] {
            prop_assert_eq!(&lower(&schema, subset).schema["type"], "object");
        }
        let plain = lower(&schema, Subset::Plain).schema;
        prop_assert!(!refers(&plain), "{plain}");
    }
}
