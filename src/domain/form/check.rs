//! Is what stands in a field good enough? One answer for the screen and for the agent.
//!
//! Owns: reading typed text as a field's value, and checking values against a field or a whole form. Pure. Does not know the whole schema
//! (`schema::validate` does) and writes no interface text: what is wrong is a [`FieldError`].
//!
//! What counts as what:
//! - Lengths count characters (Unicode scalar values), as JSON Schema does. Text is sent as typed; only texts with a format are trimmed.
//! - An optional field left empty is omitted. A required text left empty is [`FieldError::Required`], unless the schema says
//!   `minLength: 0` or the field is multi-line (an empty file is a file). A field whose default is `null` may be null: left empty, it *is* null.
//! - Numbers are written as in JSON, plus a leading `+`; no thousands separators, no decimal comma, no NaN. A whole number beyond
//!   64 bits is refused where an integer is wanted: it would lose digits on the way.
//! - A pattern that Rust's linear-time engine cannot do (look-around, back references) is not enforced here; [`unchecked_pattern`] says so.
//! - Formats: `email` is local@domain with a dot (or localhost, or an address literal); `uri` is RFC 3986 with a scheme; `date` and `date-time`
//!   are RFC 3339, with real calendar days and an obligatory offset.

use super::{Choice, Field, FieldError, FieldKind, Form, TextFormat};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Number, Value};
use std::cell::RefCell;
use std::cmp::Ordering;

/// Reads what was typed into a field. `Ok(None)`: left empty and optional, so it is omitted from the answer.
pub fn check_text(field: &Field, text: &str) -> Result<Option<Value>, FieldError> {
    let keeps_empty = match &field.kind {
        FieldKind::Text { min_length, multiline, format, .. } => {
            format.is_none() && (*multiline || *min_length == Some(0))
        }
        _ => false,
    };
    // An answer of blanks is an answer only where text is taken as it stands.
    let plain_text = matches!(&field.kind, FieldKind::Text { format: None, .. });
    if text.is_empty() || (!plain_text && text.trim().is_empty()) {
        return match (&field.default, field.required) {
            (Some(Value::Null), _) => Ok(Some(Value::Null)),
            (_, false) => Ok(None),
            (_, true) if keeps_empty => {
                let empty = Value::String(String::new());
                check_value(field, &empty).map(|()| Some(empty))
            }
            (_, true) => Err(FieldError::Required),
        };
    }
    let value = match &field.kind {
        FieldKind::Text { format: None, .. } => Value::String(text.to_owned()),
        FieldKind::Text { .. } => Value::String(text.trim().to_owned()),
        FieldKind::Number { integer, .. } => Value::Number(read_number(text.trim(), *integer)?),
        FieldKind::Boolean => read_boolean(text.trim()).map(Value::Bool).ok_or_else(|| schema("true or false"))?,
        FieldKind::Choice { options } => pick(options, text).ok_or_else(|| schema("not one of the choices"))?,
        FieldKind::MultiChoice { options, .. } => read_choices(options, text)?,
        FieldKind::Object { .. } | FieldKind::Json { .. } => read_json(text)?,
    };
    check_value(field, &value)?;
    Ok(Some(value))
}

/// Checks a value that a field would be answered with.
pub fn check_value(field: &Field, value: &Value) -> Result<(), FieldError> {
    if value.is_null() && field.default == Some(Value::Null) {
        return Ok(());
    }
    match (&field.kind, value) {
        (FieldKind::Text { min_length, max_length, pattern, format, .. }, Value::String(text)) => {
            check_length(text, *min_length, *max_length)?;
            if let Some(pattern) = pattern
                && matches(pattern, text) == Some(false)
            {
                return Err(FieldError::Pattern { pattern: pattern.clone() });
            }
            format.map_or(Ok(()), |format| check_format(format, text))
        }
        (FieldKind::Text { .. }, _) => Err(schema("not a text")),
        (FieldKind::Number { integer, min, max }, Value::Number(number)) => check_number(number, *integer, *min, *max),
        (FieldKind::Number { .. }, _) => Err(FieldError::NotANumber),
        (FieldKind::Boolean, Value::Bool(_)) | (FieldKind::Json { .. }, _) => Ok(()),
        (FieldKind::Boolean, _) => Err(schema("true or false")),
        (FieldKind::Choice { options }, value) => {
            if offers(options, value) {
                Ok(())
            } else {
                Err(schema("not one of the choices"))
            }
        }
        (FieldKind::MultiChoice { options, min, max }, Value::Array(chosen)) => {
            if chosen.iter().any(|value| !offers(options, value)) {
                return Err(schema("not one of the choices"));
            }
            check_count(chosen.len() as u64, *min, *max)
        }
        (FieldKind::MultiChoice { .. }, _) => Err(schema("not a list of choices")),
        (FieldKind::Object { form }, Value::Object(values)) => {
            check_form(form, values).into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
        }
        (FieldKind::Object { .. }, _) => Err(schema("not an object")),
    }
}

/// Checks a whole answer: what is wrong, by field, in the form's order. Inner fields are named `outer.inner`.
/// A form with one field of empty name stands for a single value; its answer is the map's entry of that name.
pub fn check_form(form: &Form, values: &Map<String, Value>) -> Vec<(String, FieldError)> {
    let mut problems = Vec::new();
    collect(form, values, "", &mut problems);
    problems
}

fn collect(form: &Form, values: &Map<String, Value>, prefix: &str, out: &mut Vec<(String, FieldError)>) {
    for field in &form.fields {
        let name = if prefix.is_empty() { field.name.clone() } else { format!("{prefix}.{}", field.name) };
        match (values.get(&field.name), &field.kind) {
            (None, _) if field.required => out.push((name, FieldError::Required)),
            (None, _) => {}
            (Some(Value::Object(inner)), FieldKind::Object { form }) => collect(form, inner, &name, out),
            (Some(value), _) => {
                if let Err(error) = check_value(field, value) {
                    out.push((name, error));
                }
            }
        }
    }
}

/// The pattern of a text field that cannot be enforced while typing; it should be shown as such. The whole schema is checked in any case.
pub fn unchecked_pattern(field: &Field) -> Option<&str> {
    match &field.kind {
        FieldKind::Text { pattern: Some(pattern), .. } if matches(pattern, "").is_none() => Some(pattern),
        _ => None,
    }
}

/// A value as text for a field to start with: the reverse of [`check_text`]. `null` is empty.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => serde_json::to_string_pretty(value).unwrap_or_default(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn schema(problem: &str) -> FieldError {
    FieldError::Schema { problem: problem.to_owned() }
}

fn check_length(text: &str, min: Option<u64>, max: Option<u64>) -> Result<(), FieldError> {
    let length = text.chars().count() as u64;
    match (min, max) {
        (Some(min), _) if length < min => Err(FieldError::TooShort { min }),
        (_, Some(max)) if length > max => Err(FieldError::TooLong { max }),
        _ => Ok(()),
    }
}

fn check_count(count: u64, min: Option<u64>, max: Option<u64>) -> Result<(), FieldError> {
    match (min, max) {
        (Some(min), _) if count < min => Err(FieldError::TooFew { min }),
        (_, Some(max)) if count > max => Err(FieldError::TooMany { max }),
        _ => Ok(()),
    }
}

// --- numbers

/// JSON's number grammar with an optional `+`. Digits beyond what a value can carry are refused: the server must read what the user wrote.
fn read_number(text: &str, integer: bool) -> Result<Number, FieldError> {
    let kind_error = || if integer { FieldError::NotAnInteger } else { FieldError::NotANumber };
    let text = text.strip_prefix('+').filter(|rest| !rest.starts_with(['+', '-'])).unwrap_or(text);
    let (digits, has_point) = shape(text).ok_or_else(kind_error)?;
    if !has_point {
        if let Ok(small) = text.parse::<i64>() {
            return Ok(small.into());
        }
        if let Ok(large) = text.parse::<u64>() {
            return Ok(large.into());
        }
    }
    let float: f64 = text.parse().map_err(|_| kind_error())?;
    if !float.is_finite() || (integer && !has_point) {
        // A whole number beyond 64 bits cannot be sent digit by digit.
        let max = if float > 0.0 { u64::MAX as f64 } else { i64::MIN as f64 };
        return Err(match (integer, float > 0.0) {
            (true, true) => FieldError::TooLarge { max },
            (true, false) => FieldError::TooSmall { min: max },
            (false, true) => FieldError::TooLarge { max: f64::MAX },
            (false, false) => FieldError::TooSmall { min: f64::MIN },
        });
    }
    // 2^53: below it every whole number is exact.
    if float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0 {
        if integer || digits <= 15 {
            return Ok((float as i64).into());
        }
    } else if integer {
        return Err(FieldError::NotAnInteger);
    }
    Number::from_f64(float).ok_or_else(kind_error)
}

/// Number of significant digits, and whether there is a point or an exponent; `None` if it is not a number.
fn shape(text: &str) -> Option<(usize, bool)> {
    let rest = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let exponent_ok = exponent.is_none_or(|e| all_digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    if !all_digits(whole) || !fraction.is_none_or(all_digits) || !exponent_ok {
        return None;
    }
    Some((whole.len() + fraction.map_or(0, str::len), fraction.is_some() || exponent.is_some()))
}

fn check_number(number: &Number, integer: bool, min: Option<f64>, max: Option<f64>) -> Result<(), FieldError> {
    if integer && whole(number).is_none() && number.as_f64().is_none_or(|f| f.fract() != 0.0) {
        return Err(FieldError::NotAnInteger);
    }
    match (min, max) {
        (Some(min), _) if compare(number, min) == Some(Ordering::Less) => Err(FieldError::TooSmall { min }),
        (_, Some(max)) if compare(number, max) == Some(Ordering::Greater) => Err(FieldError::TooLarge { max }),
        _ => Ok(()),
    }
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Compares without rounding the number to a float first, where both are whole.
fn compare(number: &Number, limit: f64) -> Option<Ordering> {
    match whole(number) {
        Some(exact) if limit.fract() == 0.0 && limit.abs() < 1e37 => Some(exact.cmp(&(limit as i128))),
        _ => number.as_f64()?.partial_cmp(&limit),
    }
}

// --- choices, yes and no, JSON

fn read_boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "y" => Some(true),
        "false" | "no" | "n" => Some(false),
        _ => None,
    }
}

fn offers(options: &[Choice], value: &Value) -> bool {
    options.iter().any(|option| same(&option.value, value))
}

/// Equality as JSON Schema sees it: 1 and 1.0 are one number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.as_f64().is_some() && a.as_f64() == b.as_f64()),
        _ => a == b,
    }
}

/// The value that a text names: its own text, its JSON, or its title.
fn pick(options: &[Choice], text: &str) -> Option<Value> {
    let text = text.trim();
    let by = |test: &dyn Fn(&Choice) -> bool| options.iter().find(|option| test(option)).map(|o| o.value.clone());
    by(&|o| o.value.as_str() == Some(text))
        .or_else(|| by(&|o| !o.value.is_string() && text_of(&o.value) == text))
        .or_else(|| by(&|o| o.title == text))
}

/// A JSON array, or names separated by commas or line ends.
fn read_choices(options: &[Choice], text: &str) -> Result<Value, FieldError> {
    if text.trim_start().starts_with('[') {
        return read_json(text);
    }
    let names = text.split([',', '\n']).map(str::trim).filter(|name| !name.is_empty());
    let chosen: Option<Vec<Value>> = names.map(|name| pick(options, name)).collect();
    chosen.map(Value::Array).ok_or_else(|| schema("not one of the choices"))
}

fn read_json(text: &str) -> Result<Value, FieldError> {
    serde_json::from_str(text).map_err(|error| FieldError::NotJson { problem: error.to_string() })
}

// --- patterns

/// Patterns longer than this are not worth their compile time.
const PATTERN_LIMIT: usize = 4096;
/// Compiled patterns kept: more than a form has fields, because all of them are checked with every key.
const PATTERN_CACHE: usize = 512;
/// Largest compiled pattern, bytes: it decides how long compiling takes.
const PATTERN_SIZE: usize = 256 * 1024;

thread_local! {
    /// A form checks its fields with every key, so patterns are compiled once. `None`: cannot be compiled.
    static PATTERNS: RefCell<Vec<(String, Option<Regex>)>> = const { RefCell::new(Vec::new()) };
}

/// Whether the text contains a match, `None` where the pattern cannot be enforced.
fn matches(pattern: &str, text: &str) -> Option<bool> {
    PATTERNS.with_borrow_mut(|cache| {
        if let Some((_, regex)) = cache.iter().find(|(known, _)| known == pattern) {
            return regex.as_ref().map(|regex| regex.is_match(text));
        }
        let regex = compile(pattern);
        let result = regex.as_ref().map(|regex| regex.is_match(text));
        if cache.len() >= PATTERN_CACHE {
            cache.remove(0);
        }
        cache.push((pattern.to_owned(), regex));
        result
    })
}

/// ECMA-262 to Rust as far as that goes (`\d` is ASCII, `\/` and `\cX` are legal); then Rust's engine, which is linear in the text.
fn compile(pattern: &str) -> Option<Regex> {
    if pattern.len() > PATTERN_LIMIT {
        return None;
    }
    let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
    RegexBuilder::new(&translated).size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_SIZE).build().ok()
}

// --- formats

fn check_format(format: TextFormat, text: &str) -> Result<(), FieldError> {
    let good = match format {
        TextFormat::Email => is_email(text),
        TextFormat::Uri => is_uri(text),
        TextFormat::Date => is_date(text),
        TextFormat::DateTime => is_date_time(text),
    };
    if good { Ok(()) } else { Err(FieldError::Format { format }) }
}

/// Pragmatic: what mail systems accept, not all that RFC 5322 allows.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let odd = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '(' | ')' | ',' | ';' | ':' | '\\' | '"' | '@')
    };
    if local.is_empty() || local.chars().any(odd) || text.len() > 254 {
        return false;
    }
    if local.starts_with('.') || local.ends_with('.') || local.contains("..") {
        return false;
    }
    if let Some(address) = domain.strip_prefix('[').and_then(|d| d.strip_suffix(']')) {
        let v6 = address.strip_prefix("IPv6:").unwrap_or("");
        return address.parse::<std::net::Ipv4Addr>().is_ok() || v6.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let label = |l: &str| {
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || (!c.is_ascii() && c.is_alphanumeric());
        !l.is_empty() && !l.starts_with('-') && !l.ends_with('-') && l.chars().all(legal)
    };
    domain == "localhost" || (domain.contains('.') && domain.split('.').all(label))
}

/// RFC 3986 `URI`: a scheme, only legal characters, whole percent escapes. `url` then refuses hosts and ports that cannot be.
fn is_uri(text: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&b);
    if !text.bytes().all(legal) || text.matches('#').count() > 1 {
        return false;
    }
    let escapes_whole = text.split('%').skip(1).all(|rest| {
        let hex = rest.as_bytes();
        hex.len() >= 2 && hex[0].is_ascii_hexdigit() && hex[1].is_ascii_hexdigit()
    });
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let needs_authority = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https" | "ws" | "wss" | "ftp");
    escapes_whole && !rest.is_empty() && (!needs_authority || rest.starts_with("//")) && url::Url::parse(text).is_ok()
}

fn two(bytes: &[u8]) -> Option<u8> {
    match bytes {
        [a, b] if a.is_ascii_digit() && b.is_ascii_digit() => Some((a - b'0') * 10 + (b - b'0')),
        _ => None,
    }
}

/// RFC 3339 `full-date`: a day of the calendar.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let (Some(century), Some(year), Some(month), Some(day)) =
        (two(&bytes[..2]), two(&bytes[2..4]), two(&bytes[5..7]), two(&bytes[8..]))
    else {
        return false;
    };
    let year = i16::from(century) * 100 + i16::from(year);
    i8::try_from(month).is_ok_and(|m| i8::try_from(day).is_ok_and(|d| jiff::civil::Date::new(year, m, d).is_ok()))
}

/// RFC 3339 `date-time`. A second of 60 is legal only where a leap second can be: 23:59:60 UTC.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_at_checked(10) else { return false };
    let Some(time) = time.strip_prefix(['T', 't']) else { return false };
    is_date(date) && is_time_with_offset(time.as_bytes()).unwrap_or(false)
}

fn is_time_with_offset(time: &[u8]) -> Option<bool> {
    let clock = time.get(..8)?;
    if clock[2] != b':' || clock[5] != b':' {
        return None;
    }
    let (hour, minute, second) = (two(&clock[..2])?, two(&clock[3..5])?, two(&clock[6..])?);
    let mut rest = &time[8..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        rest = &fraction[digits..];
    }
    let offset = match rest {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (two(&[*h1, *h2])?, two(&[*m1, *m2])?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let total = i32::from(hours) * 60 + i32::from(minutes);
            if *sign == b'-' { -total } else { total }
        }
        _ => return None,
    };
    let utc = (i32::from(hour) * 60 + i32::from(minute) - offset).rem_euclid(24 * 60);
    Some(hour < 24 && minute < 60 && (second < 60 || (second == 60 && utc == 23 * 60 + 59)))
}

#[cfg(test)]
mod tests;
