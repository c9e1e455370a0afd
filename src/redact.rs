//! Secrets become marks before anything is written: known values, and fields with secret names.
//!
//! Owns: the type of a secret, the list of known secret values, the rule by which a field's name is a secret's. Below everyone who writes.
//! Does not: find secrets that nobody registered in free text, or join pieces (a secret split over two texts is seen in neither).
//! **Invariant:** no registered value of [`SHORTEST`] characters or more stands in a text that was masked.

use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

/// What stands in place of a secret. Shorter than any registered value, so that masking always comes to an end.
pub const MASK: &str = "•••";

/// Values shorter than this are not registered: they would mask ordinary words.
pub const SHORTEST: usize = 6;

/// A value that must never be shown. Its `Debug` form is the mask, and it has no `Display` and no `Serialize`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a value; white space around it (the end of a key file's line) is dropped.
    pub fn new(value: &str) -> Self {
        Self(Arc::from(value.trim()))
    }

    /// The value itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self::new(&value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({MASK})")
    }
}

/// The known secret values. Clones share one list.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Vec<Box<str>>>>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} values)", self.read().len())
    }
}

impl Redactor {
    /// Adds a value, with the forms it takes inside JSON text and inside a URL. Values that are too short are left out.
    pub fn register(&self, value: &str) {
        let value = value.trim();
        if value.chars().count() < SHORTEST {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for form in [value.to_owned(), in_json(value), in_url(value)] {
            if !known.iter().any(|have| **have == *form) {
                known.push(form.into_boxed_str());
            }
        }
    }

    /// Adds a secret.
    pub fn register_secret(&self, secret: &Secret) {
        self.register(secret.expose());
    }

    /// The text with every known value replaced by the mask; values that overlap become one mask.
    pub fn mask_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.read();
        let mut text = Cow::Borrowed(text);
        // A mask and its neighbours can make up a known value anew. Each round makes the text shorter, so this ends.
        while let Some(masked) = mask_once(&known, &text) {
            text = Cow::Owned(masked);
        }
        text
    }

    /// Masks known values in every string (and every name), and the values of fields with secret names, at any depth.
    pub fn mask_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.mask_string(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_json(item)),
            Value::Object(fields) => self.mask_object(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn mask_string(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.mask_text(text) {
            *text = masked;
        }
    }

    fn mask_object(&self, fields: &mut Map<String, Value>) {
        // Headers are often written as a list of {name, value}.
        let names_secret = ["name", "key", "header"]
            .iter()
            .any(|field| fields.get(*field).and_then(Value::as_str).is_some_and(is_secret_name));
        for (name, value) in fields.iter_mut() {
            if is_secret_name(name) || (names_secret && name == "value") {
                hide(value);
            }
            self.mask_json(value);
        }
        if fields.keys().any(|name| matches!(self.mask_text(name), Cow::Owned(_))) {
            let old = std::mem::take(fields);
            fields.extend(old.into_iter().map(|(name, value)| (self.mask_text(&name).into_owned(), value)));
        }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Vec<Box<str>>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Replaces every string and number inside. `null` and booleans say only whether there is a secret. A JSON Schema describes a secret and holds
/// none, so it is left readable.
fn hide(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::String(text) if text.is_empty() => {}
        Value::String(_) | Value::Number(_) => *value = Value::String(MASK.to_owned()),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(fields) if is_schema(fields) => {}
        Value::Object(fields) => fields.values_mut().for_each(hide),
    }
}

fn is_schema(fields: &Map<String, Value>) -> bool {
    const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
    let typed = match fields.get("type") {
        Some(Value::String(name)) => TYPES.contains(&name.as_str()),
        Some(Value::Array(names)) => names.iter().all(|name| name.as_str().is_some_and(|name| TYPES.contains(&name))),
        _ => false,
    };
    typed || ["$ref", "anyOf", "oneOf", "allOf", "enum"].iter().any(|key| fields.contains_key(*key))
}

/// Whether a field of this name holds a secret. Case, dashes, underscores and other marks do not matter; counts of tokens are no secrets.
pub fn is_secret_name(name: &str) -> bool {
    const WHOLE: [&str; 8] =
        ["authorization", "proxyauthorization", "cookie", "setcookie", "bearer", "passwd", "credential", "credentials"];
    const ENDS: [&str; 8] =
        ["token", "apikey", "password", "passphrase", "secret", "secretkey", "accesskey", "privatekey"];
    // Tokens that are places in a list, marks of a vocabulary or units of a count.
    const HARMLESS: [&str; 12] = [
        "progresstoken",
        "pagetoken",
        "nexttoken",
        "continuationtoken",
        "eostoken",
        "bostoken",
        "padtoken",
        "unktoken",
        "stoptoken",
        "pertoken",
        "firsttoken",
        "lasttoken",
    ];
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    WHOLE.contains(&name.as_str())
        || (ENDS.iter().any(|end| name.ends_with(end)) && !HARMLESS.iter().any(|end| name.ends_with(end)))
}

fn mask_once(known: &[Box<str>], text: &str) -> Option<String> {
    let mut hits: Vec<Range<usize>> = known.iter().flat_map(|value| occurrences(text, value)).collect();
    if hits.is_empty() {
        return None;
    }
    hits.sort_by_key(|hit| hit.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let mut hits = hits.into_iter().peekable();
    while let Some(mut hit) = hits.next() {
        while let Some(next) = hits.next_if(|next| next.start <= hit.end) {
            hit.end = hit.end.max(next.end);
        }
        out.push_str(&text[from..hit.start]);
        out.push_str(MASK);
        from = hit.end;
    }
    out.push_str(&text[from..]);
    Some(out)
}

/// Where a value stands, overlapping places included.
fn occurrences<'a>(text: &'a str, value: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let step = value.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(value)?;
        from = at + step;
        Some(at..at + value.len())
    })
}

fn in_json(value: &str) -> String {
    let quoted = Value::String(value.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn in_url(value: &str) -> String {
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn knowing(values: &[&str]) -> Redactor {
        let redactor = Redactor::default();
        for value in values {
            redactor.register(value);
        }
        redactor
    }

    #[test]
    fn known_values_are_masked_in_every_form() {
        let redactor = knowing(&["sk-12\"34/5", "short"]);
        assert_eq!(redactor.mask_text("key sk-12\"34/5!"), "key •••!");
        assert_eq!(redactor.mask_text(r#"{"k":"sk-12\"34/5"}"#), r#"{"k":"•••"}"#);
        assert_eq!(redactor.mask_text("?key=sk-12%2234%2F5&x=1"), "?key=•••&x=1");
        assert!(matches!(redactor.mask_text("a short text"), Cow::Borrowed(_)));
        assert_eq!(format!("{:?} {:?}", Secret::new("sk-12345"), redactor), "Secret(•••) Redactor(3 values)");
    }

    #[test]
    fn overlapping_values_leave_no_rest() {
        assert_eq!(knowing(&["abcdefgh", "efghijkl"]).mask_text("<abcdefghijkl>"), "<•••>");
        assert_eq!(knowing(&["abcabc"]).mask_text("<abcabcabc>"), "<•••>");
        assert_eq!(knowing(&["•••abc", "secret"]).mask_text("secretabc"), "•••");
    }

    #[test]
    fn fields_with_secret_names() {
        let mut value = json!({
            "headers": { "Authorization": "Bearer x", "X-Api-Key": "k", "Set-Cookie": ["a", "b"], "Accept": "y" },
            "list": [{ "name": "Cookie", "value": "c" }, { "name": "Host", "value": "h" }],
            "apiKey": "k", "api_key": 5, "access_token": "t", "refresh-token": "r", "client_secret": { "value": "v" }, "GITHUB_TOKEN": "g",
            "token": null, "password": true, "max_tokens": 7, "prompt_tokens": 8, "token_count": 9, "progressToken": 3, "tokens": ["a"],
            "properties": { "password": { "type": "string", "description": "d" } },
        });
        Redactor::default().mask_json(&mut value);
        let expected = json!({
            "headers": { "Authorization": MASK, "X-Api-Key": MASK, "Set-Cookie": [MASK, MASK], "Accept": "y" },
            "list": [{ "name": "Cookie", "value": MASK }, { "name": "Host", "value": "h" }],
            "apiKey": MASK, "api_key": MASK, "access_token": MASK, "refresh-token": MASK, "client_secret": { "value": MASK }, "GITHUB_TOKEN": MASK,
            "token": null, "password": true, "max_tokens": 7, "prompt_tokens": 8, "token_count": 9, "progressToken": 3, "tokens": ["a"],
            "properties": { "password": { "type": "string", "description": "d" } },
        });
        assert_eq!(value, expected);
    }

    fn strings(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::String(text) => out.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                out.push(name.clone());
                strings(value, out);
            }),
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn no_registered_value_survives(
            secrets in proptest::collection::vec("[ab•é\"]{6,9}", 1..4),
            pieces in proptest::collection::vec(("[ab•é\" ]{0,5}", 0usize..4, 0usize..6), 0..8),
        ) {
            let redactor = Redactor::default();
            for secret in &secrets {
                redactor.register(secret);
            }
            let mut text = String::new();
            for (filler, which, cut) in &pieces {
                text.push_str(filler);
                let secret = &secrets[which % secrets.len()];
                text.extend(secret.chars().skip(*cut % 2 * cut));
            }
            let masked = redactor.mask_text(&text).into_owned();
            let mut value = json!({ "a": [{ text.as_str(): { "b": text.as_str() } }, text.as_str()] });
            redactor.mask_json(&mut value);
            let mut found = vec![masked];
            strings(&value, &mut found);
            for secret in &secrets {
                prop_assert!(found.iter().all(|text| !text.contains(secret.trim())));
            }
        }
    }
}
