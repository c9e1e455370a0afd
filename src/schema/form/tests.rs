use super::*;
use proptest::prelude::*;
use serde_json::Map;

fn fields(schema: Value) -> Vec<Field> {
    form(&schema).fields
}

fn one(property: Value) -> Field {
    let mut fields = fields(json!({ "type": "object", "properties": { "p": property } }));
    assert_eq!(fields.len(), 1);
    fields.remove(0)
}

fn titles(options: &[Choice]) -> Vec<(&str, &str)> {
    options.iter().map(|o| (o.value.as_str().unwrap_or("?"), o.title.as_str())).collect()
}

#[test]
fn properties_keep_the_servers_order() {
    let form = fields(json!({
        "type": "object",
        "properties": { "zulu": { "type": "string" }, "alpha": { "type": "boolean" }, "mike": { "type": "number" } },
        "required": ["mike"]
    }));
    assert_eq!(form.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["zulu", "alpha", "mike"]);
    assert_eq!(form.iter().map(|f| f.required).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn every_primitive_of_the_elicitation_schema() {
    let text = one(json!({
        "type": "string", "title": "Mail", "description": "Yours", "minLength": 3, "maxLength": 9, "format": "email", "pattern": "@", "default": "a@b.c"
    }));
    assert_eq!((text.title.as_deref(), text.description.as_deref()), (Some("Mail"), Some("Yours")));
    assert_eq!(text.default, Some(json!("a@b.c")));
    assert_eq!(
        text.kind,
        FieldKind::Text {
            min_length: Some(3),
            max_length: Some(9),
            pattern: Some("@".into()),
            format: Some(TextFormat::Email),
            multiline: false
        }
    );
    for (name, format) in [("uri", TextFormat::Uri), ("date", TextFormat::Date), ("date-time", TextFormat::DateTime)] {
        let FieldKind::Text { format: found, .. } = one(json!({ "type": "string", "format": name })).kind else {
            panic!()
        };
        assert_eq!(found, Some(format));
    }
    // A format that is not known is no reason to lose the field.
    assert!(matches!(
        one(json!({ "type": "string", "format": "hostname" })).kind,
        FieldKind::Text { format: None, .. }
    ));
    let number = one(json!({ "type": "number", "minimum": 0.5, "maximum": 2, "default": 1 }));
    assert_eq!(number.kind, FieldKind::Number { integer: false, min: Some(0.5), max: Some(2.0) });
    assert_eq!(number.default, Some(json!(1)));
    assert_eq!(one(json!({ "type": "integer" })).kind, FieldKind::Number { integer: true, min: None, max: None });
    let yes = one(json!({ "type": "boolean", "default": true }));
    assert_eq!((yes.kind, yes.default), (FieldKind::Boolean, Some(json!(true))));
}

#[test]
fn choices_of_every_revision() {
    let FieldKind::Choice { options } = one(json!({ "type": "string", "enum": ["b", "a"] })).kind else { panic!() };
    assert_eq!(titles(&options), [("b", "b"), ("a", "a")]);
    let legacy = one(json!({ "type": "string", "enum": ["b", "a", "c"], "enumNames": ["Bee", "Ay"], "default": "a" }));
    let FieldKind::Choice { options } = &legacy.kind else { panic!() };
    assert_eq!(titles(options), [("b", "Bee"), ("a", "Ay"), ("c", "c")]);
    assert_eq!(legacy.default, Some(json!("a")));
    for key in ["oneOf", "anyOf"] {
        let titled =
            one(json!({ "type": "string", key: [{ "const": "x", "title": "Ex" }, { "const": "y", "title": "Why" }] }));
        let FieldKind::Choice { options } = titled.kind else { panic!() };
        assert_eq!(titles(&options), [("x", "Ex"), ("y", "Why")]);
    }
}

#[test]
fn multiple_choices_of_every_revision() {
    let plain = one(json!({
        "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "minItems": 1, "maxItems": 2, "default": ["b"]
    }));
    let FieldKind::MultiChoice { options, min, max } = &plain.kind else { panic!() };
    assert_eq!((titles(options), *min, *max), (vec![("a", "a"), ("b", "b")], Some(1), Some(2)));
    assert_eq!(plain.default, Some(json!(["b"])));
    for key in ["anyOf", "oneOf"] {
        let titled = one(json!({ "type": "array", "items": { key: [{ "const": "x", "title": "Ex" }] } }));
        let FieldKind::MultiChoice { options, .. } = titled.kind else { panic!() };
        assert_eq!(titles(&options), [("x", "Ex")]);
    }
    assert!(matches!(one(json!({ "type": "array", "items": { "type": "string" } })).kind, FieldKind::Json { .. }));
}

#[test]
fn defaults_that_do_not_fit_are_dropped() {
    for property in [
        json!({ "type": "integer", "default": "3" }),
        json!({ "type": "integer", "default": 3.5 }),
        json!({ "type": "string", "default": 3 }),
        json!({ "type": "boolean", "default": "true" }),
        json!({ "type": "string", "enum": ["a"], "default": "b" }),
        json!({ "type": "array", "items": { "enum": ["a"] }, "default": ["a", "b"] }),
    ] {
        assert_eq!(one(property.clone()).default, None, "{property}");
    }
    // Too short, but of the type: the user sees it and what is wrong.
    assert_eq!(one(json!({ "type": "string", "minLength": 9, "default": "ab" })).default, Some(json!("ab")));
}

#[test]
fn nested_objects_references_and_unions() {
    let form = fields(json!({
        "type": "object",
        "$defs": {
            "Point": { "type": "object", "title": "Point", "properties": { "x": { "type": "number" }, "y": { "type": "number" } }, "required": ["x"] },
            "Level": { "enum": ["low", "high"] }
        },
        "properties": {
            "at": { "$ref": "#/$defs/Point", "description": "Where", "default": { "x": 1 } },
            "level": { "allOf": [{ "$ref": "#/$defs/Level" }], "default": "low" },
            "maybe": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }], "default": null },
            "either": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
            "fixed": { "const": "v1" },
            "free": { "type": "object", "additionalProperties": { "type": "string" } },
            "list": { "type": "array", "items": { "$ref": "#/$defs/Point" } }
        }
    }));
    let kinds: Vec<(&str, &FieldKind)> = form.iter().map(|f| (f.name.as_str(), &f.kind)).collect();
    let FieldKind::Object { form: point } = kinds[0].1 else { panic!("{kinds:?}") };
    assert_eq!(form[0].title.as_deref(), Some("Point"));
    assert_eq!(form[0].description.as_deref(), Some("Where"));
    assert_eq!(
        point.fields.iter().map(|f| (f.name.as_str(), f.required)).collect::<Vec<_>>(),
        [("x", true), ("y", false)]
    );
    assert_eq!(point.fields[0].default, Some(json!(1)));
    assert!(matches!(kinds[1].1, FieldKind::Choice { options } if options.len() == 2));
    assert_eq!(form[1].default, Some(json!("low")));
    assert_eq!(*kinds[2].1, FieldKind::Number { integer: true, min: Some(1.0), max: None });
    assert_eq!((form[2].required, &form[2].default), (false, &None));
    for at in [3, 5, 6] {
        assert!(matches!(kinds[at].1, FieldKind::Json { .. }), "{:?}", kinds[at]);
    }
    assert!(matches!(kinds[4].1, FieldKind::Choice { options } if options.len() == 1));
}

#[test]
fn required_but_nullable_can_say_null() {
    use crate::domain::form::check::{check_form, check_text};
    let schema = json!({
        "type": "object",
        "properties": {
            "text": { "type": ["string", "null"] },
            "yes": { "type": ["boolean", "null"] },
            "level": { "enum": ["a", null], "type": ["string", "null"] }
        },
        "required": ["text", "yes", "level"]
    });
    let form = form(&schema);
    assert_eq!(check_text(&form.fields[0], ""), Ok(Some(Value::Null)));
    assert_eq!(check_text(&form.fields[0], "x"), Ok(Some(json!("x"))));
    for field in &form.fields[1..] {
        let FieldKind::Choice { options } = &field.kind else { panic!("{field:?}") };
        assert_eq!(options.iter().filter(|o| o.value.is_null()).count(), 1);
    }
    let nulls = json!({ "text": null, "yes": null, "level": null });
    assert_eq!(check_form(&form, nulls.as_object().unwrap()), []);
}

#[test]
fn tolerated_and_inferred() {
    assert_eq!(
        one(json!({ "type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10 })).kind,
        FieldKind::Number { integer: true, min: Some(1.0), max: Some(9.0) }
    );
    assert_eq!(
        one(json!({ "type": "number", "exclusiveMinimum": 0.5, "minimum": 0 })).kind,
        FieldKind::Number { integer: false, min: Some(0.5), max: None }
    );
    assert!(matches!(one(json!({ "minLength": 1 })).kind, FieldKind::Text { .. }));
    assert!(matches!(one(json!({ "maximum": 1 })).kind, FieldKind::Number { .. }));
    assert!(matches!(one(json!({})).kind, FieldKind::Json { .. }));
    assert!(matches!(one(json!(true)).kind, FieldKind::Json { .. }));
    assert!(matches!(one(json!({ "type": ["string", "integer"] })).kind, FieldKind::Json { .. }));
    assert!(matches!(one(json!({ "type": "martian" })).kind, FieldKind::Json { .. }));
    let form = fields(
        json!({ "type": "object", "properties": { "content": { "type": "string" }, "path": { "type": "string" } } }),
    );
    assert!(matches!(form[0].kind, FieldKind::Text { multiline: true, .. }));
    assert!(matches!(form[1].kind, FieldKind::Text { multiline: false, .. }));
    let extra = fields(json!({ "type": "object", "required": ["ghost"] }));
    assert_eq!((extra[0].name.as_str(), extra[0].required), ("ghost", true));
}

#[test]
fn an_object_that_composes() {
    let form = fields(json!({
        "allOf": [
            { "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] },
            { "type": "object", "properties": { "b": { "type": "integer" } } }
        ]
    }));
    assert_eq!(form.iter().map(|f| (f.name.as_str(), f.required)).collect::<Vec<_>>(), [("a", true), ("b", false)]);
}

#[test]
fn no_fields_is_a_confirmation() {
    assert_eq!(fields(json!({ "type": "object", "properties": {} })), []);
    assert_eq!(fields(json!({ "type": "object" })), []);
    assert_eq!(fields(json!({ "type": "object", "properties": {}, "additionalProperties": false })), []);
}

#[test]
fn what_is_no_object_is_one_value() {
    for schema in [
        json!({ "type": "string" }),
        json!(true),
        json!(null),
        json!("string"),
        json!([1]),
        json!({ "type": "object", "additionalProperties": true }),
        json!({ "oneOf": [{ "type": "object", "properties": { "a": {} } }, { "type": "object", "properties": { "b": {} } }] }),
        json!({ "$ref": "https://example.com/schema.json" }),
    ] {
        let fields = fields(schema.clone());
        assert_eq!(fields.len(), 1, "{schema}");
        assert_eq!((fields[0].name.as_str(), fields[0].required), ("", true));
        assert!(matches!(fields[0].kind, FieldKind::Json { .. }));
    }
}

#[test]
fn cycles_and_bombs_end() {
    let cyclic = fields(json!({
        "$ref": "#/$defs/Node",
        "$defs": { "Node": { "type": "object", "properties": { "name": { "type": "string" }, "next": { "$ref": "#/$defs/Node" } } } }
    }));
    assert!(matches!(cyclic[1].kind, FieldKind::Json { .. }));
    let itself = fields(json!({ "type": "object", "properties": { "me": { "$ref": "#" } } }));
    assert!(matches!(itself[0].kind, FieldKind::Object { .. } | FieldKind::Json { .. }));
    assert!(matches!(one(json!({ "$ref": "#/properties/p" })).kind, FieldKind::Json { .. }));
    assert!(matches!(one(json!({ "allOf": [{ "$ref": "#/properties/p" }] })).kind, FieldKind::Json { .. }));
    // Each level names the next one ten times.
    let mut defs = Map::new();
    for level in 0..10 {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        let properties: Map<String, Value> = (0..10).map(|i| (format!("p{i}"), next.clone())).collect();
        defs.insert(format!("l{level}"), json!({ "type": "object", "properties": properties }));
    }
    defs.insert("l10".into(), json!({ "type": "string" }));
    assert_eq!(fields(json!({ "$ref": "#/$defs/l0", "$defs": defs })).len(), 10);
    let many: Map<String, Value> = (0..5_000).map(|i| (format!("p{i}"), json!({ "type": "string" }))).collect();
    assert!(matches!(fields(json!({ "type": "object", "properties": many }))[0].kind, FieldKind::Json { .. }));
    let mut deep = json!({ "type": "string" });
    for _ in 0..100 {
        deep = json!({ "type": "object", "properties": { "in": deep } });
    }
    assert_eq!(fields(deep).len(), 1);
    let options: Vec<String> = (0..15_000).map(|i| i.to_string()).collect();
    let two = fields(json!({ "type": "object", "properties": { "a": { "enum": options }, "b": { "enum": options } } }));
    assert!(matches!((&two[0].kind, &two[1].kind), (FieldKind::Choice { .. }, FieldKind::Json { .. })));
}

/// JSON made of the words of schemas, in every wrong place.
fn wild_schema() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("string"),
        Just("object"),
        Just("array"),
        Just("null"),
        Just("#"),
        Just("#/properties/a"),
        Just("#/$defs/a"),
        Just("[a-"),
        Just("a"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i16>().prop_map(Value::from),
        word.prop_map(Value::from)
    ];
    let key = prop_oneof![
        Just("type"),
        Just("properties"),
        Just("items"),
        Just("anyOf"),
        Just("oneOf"),
        Just("allOf"),
        Just("$ref"),
        Just("$defs"),
        Just("enum"),
        Just("const"),
        Just("required"),
        Just("default"),
        Just("a"),
        Just("b"),
        Just("pattern"),
        Just("minLength"),
        Just("maximum"),
        Just("additionalProperties"),
        Just("enumNames"),
        Just("nullable"),
        Just("patternProperties"),
        Just("not"),
        Just("$id"),
        Just("$schema"),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            4 => proptest::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_that_looks_like_a_schema_breaks_it(schema in wild_schema()) {
        let form = form(&schema);
        prop_assert!(form.fields.len() <= FIELDS);
        let validator = crate::schema::Validator::new(&schema);
        let _ = validator.validate(&json!({ "a": "x", "b": [1, { "a": null }] }));
    }

    #[test]
    fn a_default_passes_its_own_type(schema in wild_schema()) {
        for field in form(&json!({ "type": "object", "properties": { "p": schema } })).fields {
            if let Some(default) = &field.default {
                prop_assert!(*default == Value::Null || fits(&field.kind, default));
            }
        }
    }
}
