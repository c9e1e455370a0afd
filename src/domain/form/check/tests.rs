use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;

fn field(kind: FieldKind) -> Field {
    Field { name: "f".into(), title: None, description: None, required: true, kind, default: None }
}

fn text() -> FieldKind {
    FieldKind::Text { min_length: None, max_length: None, pattern: None, format: None, multiline: false }
}

fn formatted(format: TextFormat) -> Field {
    field(FieldKind::Text { min_length: None, max_length: None, pattern: None, format: Some(format), multiline: false })
}

fn patterned(pattern: &str) -> Field {
    field(FieldKind::Text {
        min_length: None,
        max_length: None,
        pattern: Some(pattern.into()),
        format: None,
        multiline: false,
    })
}

fn number(integer: bool, min: Option<f64>, max: Option<f64>) -> Field {
    field(FieldKind::Number { integer, min, max })
}

fn options(values: &[Value]) -> Vec<Choice> {
    values.iter().map(|v| Choice { value: v.clone(), title: format!("The {v}") }).collect()
}

#[test]
fn empty_is_omitted_required_or_a_value() {
    let mut f = field(text());
    assert_eq!(check_text(&f, ""), Err(FieldError::Required));
    assert_eq!(check_text(&f, "  "), Ok(Some(json!("  "))));
    f.required = false;
    assert_eq!(check_text(&f, ""), Ok(None));
    f.default = Some(Value::Null);
    assert_eq!(check_text(&f, ""), Ok(Some(Value::Null)));
    assert_eq!(check_value(&f, &Value::Null), Ok(()));

    let mut file =
        field(FieldKind::Text { min_length: None, max_length: None, pattern: None, format: None, multiline: true });
    assert_eq!(check_text(&file, ""), Ok(Some(json!(""))));
    file.required = false;
    assert_eq!(check_text(&file, ""), Ok(None));

    let mut n = number(true, None, None);
    assert_eq!(check_text(&n, " "), Err(FieldError::Required));
    n.required = false;
    assert_eq!(check_text(&n, " "), Ok(None));
}

#[test]
fn lengths_are_characters() {
    let f = field(FieldKind::Text {
        min_length: Some(2),
        max_length: Some(3),
        pattern: None,
        format: None,
        multiline: false,
    });
    assert_eq!(check_text(&f, "纽"), Err(FieldError::TooShort { min: 2 }));
    assert!(check_text(&f, "纽约").is_ok());
    assert!(check_text(&f, "😀😀😀").is_ok());
    assert_eq!(check_text(&f, "纽约明天"), Err(FieldError::TooLong { max: 3 }));
}

#[test]
fn patterns_are_ecma_and_linear() {
    for (pattern, good, bad) in [
        (r"^\d{3}$", "123", "12"),
        (r"^\d+$", "7", "٣"),
        (r"^https?:\/\/", "https://x", "ftp://x"),
        ("b", "abc", "xyz"),
        (r"^[\w.-]+$", "a.b-c", "a b"),
        (r"^(?<year>\d{4})$", "2024", "24"),
        (r"^\u4e2d$", "中", "国"),
        (r"^[^\s]+$", "ab", "a b"),
        (r"^(a+)+$", "aaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
    ] {
        let f = patterned(pattern);
        assert_eq!(unchecked_pattern(&f), None, "{pattern}");
        assert!(check_text(&f, good).is_ok(), "{pattern} {good}");
        assert_eq!(check_text(&f, bad), Err(FieldError::Pattern { pattern: pattern.into() }), "{bad}");
    }
}

#[test]
fn a_pattern_that_cannot_be_enforced_says_so() {
    for pattern in [r"^(?=.*\d).+$", r"(a)\1", "(", "[", &"x".repeat(PATTERN_LIMIT + 1), r"(\pL{1000}){1000}"] {
        let f = patterned(pattern);
        assert_eq!(unchecked_pattern(&f), Some(pattern), "{}", &pattern[..pattern.len().min(20)]);
        assert_eq!(check_text(&f, "anything"), Ok(Some(json!("anything"))));
    }
    assert_eq!(unchecked_pattern(&field(text())), None);
}

#[test]
fn email_addresses() {
    let f = formatted(TextFormat::Email);
    for good in [
        "a@b.co",
        "first.last+tag@sub.example.com",
        "o'neil@ex-ample.org",
        "u@localhost",
        "u@[127.0.0.1]",
        "用户@例子.公司",
    ] {
        assert!(check_text(&f, good).is_ok(), "{good}");
    }
    assert_eq!(check_text(&f, " a@b.co\n"), Ok(Some(json!("a@b.co"))));
    for bad in [
        "octo@",
        "@b.co",
        "a b@c.de",
        "a@b",
        "a@.de",
        "a@b..de",
        "a@b.de.",
        "a@-b.de",
        "a@@b.de",
        "a",
        ".a@b.de",
        "a..b@c.de",
        "a@b_c.de",
        "Me <a@b.co>",
        "a@[300.1.1.1]",
    ] {
        assert_eq!(check_text(&f, bad), Err(FieldError::Format { format: TextFormat::Email }), "{bad}");
    }
}

#[test]
fn uris_are_absolute() {
    let f = formatted(TextFormat::Uri);
    for good in [
        "https://example.com",
        "http://[::1]:8080/a?b=c#d",
        "mailto:a@b.co",
        "urn:isbn:0451450523",
        "file:///etc/hosts",
        "HTTPS://EXAMPLE.com/%20",
        "memo://insights",
    ] {
        assert!(check_text(&f, good).is_ok(), "{good}");
    }
    for bad in [
        "example.com",
        "/etc/hosts",
        "//example.com",
        "https://",
        "http:example.com",
        "https://a b.com",
        "https://例子.com",
        "https://x/%2",
        "https://x:99999/",
        "https://x/#a#b",
        "://x",
        "x:",
        "1http://x",
        "https://x/<y>",
    ] {
        assert_eq!(check_text(&f, bad), Err(FieldError::Format { format: TextFormat::Uri }), "{bad}");
    }
}

#[test]
fn dates_are_of_the_calendar() {
    let f = formatted(TextFormat::Date);
    for good in ["2024-02-29", "2000-02-29", "1999-12-31", "0001-01-01"] {
        assert!(check_text(&f, good).is_ok(), "{good}");
    }
    for bad in [
        "2023-02-29",
        "1900-02-29",
        "2024-02-30",
        "2024-13-01",
        "2024-00-10",
        "2024-04-31",
        "2024-1-1",
        "24-01-01",
        "2024/01/01",
        "2024-01-01T00:00:00Z",
        "+2024-01-1",
        "2024-01-0a",
        "٢٠٢٤-٠١-٠١",
        "2024-01-00",
    ] {
        assert_eq!(check_text(&f, bad), Err(FieldError::Format { format: TextFormat::Date }), "{bad}");
    }
}

#[test]
fn date_times_have_an_offset() {
    let f = formatted(TextFormat::DateTime);
    for good in [
        "2024-02-29T23:59:59Z",
        "2024-01-01t00:00:00z",
        "2024-01-01T00:00:00.123456789+08:00",
        "2024-01-01T00:00:00-00:00",
        "2016-12-31T23:59:60Z",
        "2017-01-01T07:59:60+08:00",
    ] {
        assert!(check_text(&f, good).is_ok(), "{good}");
    }
    for bad in [
        "2024-01-01T00:00:00",
        "2024-01-01 00:00:00Z",
        "2024-01-01",
        "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z",
        "2024-01-01T12:00:60Z",
        "2024-01-01T00:00:00.Z",
        "2024-01-01T00:00Z",
        "2024-01-01T00:00:00+8:00",
        "2024-01-01T00:00:00+24:00",
        "2023-02-29T00:00:00Z",
        "2024-01-01T00:00:00Z ",
        "2024-01-01T00:00:00+0800",
        "日本日本日本日本",
    ] {
        let expected =
            if bad.ends_with("Z ") { Ok(()) } else { Err(FieldError::Format { format: TextFormat::DateTime }) };
        assert_eq!(check_text(&f, bad).map(|_| ()), expected, "{bad}");
    }
}

#[test]
fn numbers_are_read_exactly_or_refused() {
    let any = number(false, None, None);
    let int = number(true, None, None);
    for (text, value) in [
        ("3", json!(3)),
        ("+3", json!(3)),
        ("-0.5", json!(-0.5)),
        ("1e3", json!(1000)),
        ("1E-2", json!(0.01)),
        (" 42 ", json!(42)),
        ("9223372036854775808", json!(9_223_372_036_854_775_808_u64)),
        ("18446744073709551615", json!(u64::MAX)),
        ("1e300", json!(1e300)),
        ("007", json!(7)),
    ] {
        assert_eq!(check_text(&any, text), Ok(Some(value)), "{text}");
    }
    for (text, value) in
        [("1e3", json!(1000)), ("3.0", json!(3)), ("-7", json!(-7)), ("9223372036854775808", json!(1_u64 << 63))]
    {
        assert_eq!(check_text(&int, text), Ok(Some(value)), "{text}");
    }
    for bad in [
        "NaN", "inf", "Infinity", "-inf", "1,5", "1 000", "1_000", "0x10", "1e", "e3", ".5", "5.", "--1", "+-1",
        "１２", "1e+", "", "-",
    ] {
        if !bad.is_empty() {
            assert_eq!(check_text(&any, bad), Err(FieldError::NotANumber), "{bad}");
            assert_eq!(check_text(&int, bad), Err(FieldError::NotAnInteger), "{bad}");
        }
    }
    assert_eq!(check_text(&int, "3.5"), Err(FieldError::NotAnInteger));
    assert!(matches!(check_text(&int, "18446744073709551616"), Err(FieldError::TooLarge { .. })));
    assert!(matches!(check_text(&int, "-9223372036854775809"), Err(FieldError::TooSmall { .. })));
    assert!(matches!(check_text(&any, "1e999"), Err(FieldError::TooLarge { .. })));
    assert!(matches!(check_text(&any, "-1e999"), Err(FieldError::TooSmall { .. })));
}

#[test]
fn number_limits_do_not_round() {
    let f = number(true, Some(1.0), Some(9_007_199_254_740_992.0));
    assert_eq!(check_text(&f, "0"), Err(FieldError::TooSmall { min: 1.0 }));
    assert!(check_text(&f, "9007199254740992").is_ok());
    assert_eq!(check_text(&f, "9007199254740993"), Err(FieldError::TooLarge { max: 9_007_199_254_740_992.0 }));
    assert!(check_value(&f, &json!(2.0)).is_ok());
    assert_eq!(check_value(&f, &json!(2.5)), Err(FieldError::NotAnInteger));
    assert_eq!(check_value(&f, &json!("2")), Err(FieldError::NotANumber));
}

#[test]
fn choices_by_value_json_or_title() {
    let f = field(FieldKind::Choice { options: options(&[json!("eu"), json!(2), json!(true)]) });
    for (text, value) in [("eu", json!("eu")), ("2", json!(2)), ("true", json!(true)), ("The \"eu\"", json!("eu"))] {
        assert_eq!(check_text(&f, text), Ok(Some(value)), "{text}");
    }
    assert!(check_text(&f, "us").is_err());
    assert!(check_value(&f, &json!(2.0)).is_ok());
    assert!(check_value(&f, &json!("2")).is_err());

    let many = field(FieldKind::MultiChoice {
        options: options(&[json!("a"), json!("b"), json!("c")]),
        min: Some(1),
        max: Some(2),
    });
    assert_eq!(check_text(&many, "a, c"), Ok(Some(json!(["a", "c"]))));
    assert_eq!(check_text(&many, "[\"b\"]"), Ok(Some(json!(["b"]))));
    assert_eq!(check_text(&many, "a,b,c"), Err(FieldError::TooMany { max: 2 }));
    assert_eq!(check_value(&many, &json!([])), Err(FieldError::TooFew { min: 1 }));
    assert!(check_text(&many, "a,x").is_err());
}

#[test]
fn other_kinds() {
    let yes = field(FieldKind::Boolean);
    assert_eq!(check_text(&yes, "Yes"), Ok(Some(json!(true))));
    assert!(check_text(&yes, "maybe").is_err());
    let json_field = field(FieldKind::Json { schema: Arc::new(json!({})) });
    assert_eq!(check_text(&json_field, "[1, {}]"), Ok(Some(json!([1, {}]))));
    assert!(matches!(check_text(&json_field, "[1,"), Err(FieldError::NotJson { .. })));
    assert!(matches!(check_text(&json_field, &"[".repeat(10_000)), Err(FieldError::NotJson { .. })));
}

#[test]
fn a_form_names_inner_fields() {
    let mut inner = number(true, Some(1.0), None);
    inner.name = "port".into();
    let mut outer = field(FieldKind::Object { form: Form { fields: vec![inner] } });
    outer.name = "server".into();
    let mut optional = field(text());
    optional.name = "note".into();
    optional.required = false;
    let form = Form { fields: vec![outer, optional] };
    let values = |v: Value| v.as_object().cloned().unwrap();
    assert_eq!(check_form(&form, &values(json!({ "server": { "port": 1 } }))), []);
    assert_eq!(check_form(&form, &values(json!({}))), [("server".to_owned(), FieldError::Required)]);
    let problems = check_form(&form, &values(json!({ "server": { "port": 0 }, "note": 1 })));
    assert_eq!(problems[0], ("server.port".to_owned(), FieldError::TooSmall { min: 1.0 }));
    assert_eq!(problems[1].0, "note");
    assert_eq!(check_form(&form, &values(json!({ "server": {} }))), [("server.port".to_owned(), FieldError::Required)]);
}

#[test]
fn values_become_text_and_back() {
    assert_eq!(text_of(&Value::Null), "");
    assert_eq!(text_of(&json!("a\nb")), "a\nb");
    let json_field = field(FieldKind::Json { schema: Arc::new(json!({})) });
    let value = json!({ "a": [1, 2.5, null] });
    assert_eq!(check_text(&json_field, &text_of(&value)), Ok(Some(value)));
}

fn any_field() -> impl Strategy<Value = Field> {
    let opts = options(&[json!("a"), json!("b")]);
    let kinds = prop_oneof![
        (
            proptest::option::of(0..5_u64),
            proptest::option::of(0..9_u64),
            proptest::option::of("[a-z^$.*()\\[\\]]{0,6}"),
            0..5_u8
        )
            .prop_map(|(min_length, max_length, pattern, format)| FieldKind::Text {
                min_length,
                max_length,
                pattern,
                format: [
                    Some(TextFormat::Email),
                    Some(TextFormat::Uri),
                    Some(TextFormat::Date),
                    Some(TextFormat::DateTime),
                    None
                ][format as usize],
                multiline: format == 4,
            }),
        (any::<bool>(), proptest::option::of(-9.0..9.0), proptest::option::of(-9.0..9.0))
            .prop_map(|(integer, min, max)| FieldKind::Number { integer, min, max }),
        Just(FieldKind::Boolean),
        Just(FieldKind::Choice { options: opts.clone() }),
        Just(FieldKind::MultiChoice { options: opts, min: Some(1), max: None }),
        Just(FieldKind::Json { schema: Arc::new(json!({})) }),
    ];
    (kinds, any::<bool>()).prop_map(|(kind, required)| Field { required, ..field(kind) })
}

proptest! {
    #[test]
    fn what_the_text_check_accepts_the_value_check_accepts(f in any_field(), input in "\\PC{0,12}|[0-9eE+.-]{0,9}|[ab,]{0,5}") {
        if let Ok(Some(value)) = check_text(&f, &input) {
            prop_assert!(check_value(&f, &value).is_ok(), "{value}");
        }
    }

    #[test]
    fn integers_survive(n in any::<i64>(), u in any::<u64>()) {
        let int = number(true, None, None);
        prop_assert_eq!(check_text(&int, &n.to_string()), Ok(Some(json!(n))));
        prop_assert_eq!(check_text(&int, &u.to_string()), Ok(Some(json!(u))));
    }

    #[test]
    fn floats_survive(x in proptest::num::f64::NORMAL) {
        let any = number(false, None, None);
        let Ok(Some(value)) = check_text(&any, &format!("{x:e}")) else { return Err(TestCaseError::fail("refused")) };
        prop_assert_eq!(value.as_f64(), Some(x));
    }

    #[test]
    fn days_agree_with_the_calendar(y in 1..9999_i16, m in 0..14_i8, d in 0..33_i8) {
        let f = formatted(TextFormat::Date);
        let real = jiff::civil::Date::new(y, m, d).is_ok();
        prop_assert_eq!(check_text(&f, &format!("{y:04}-{m:02}-{d:02}")).is_ok(), real);
    }
}
