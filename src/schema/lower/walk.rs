//! A whole schema rebuilt in a subset that has no references, no boolean schemas and few keywords.

use super::words::{self, demands};
use super::{DEPTH, Losses, NODES, Subset, below};
use crate::schema::view::{View, is_null, resolve};
use serde_json::{Map, Value, json};

pub(super) fn lower(schema: &Value, subset: Subset, losses: &mut Losses) -> Value {
    let mut walk = Walk { root: schema, subset, left: NODES, losses };
    let view = View::new(schema, schema, &[]);
    let members = if view.is_plain_union() { Vec::new() } else { walk.members(&view, "") };
    let mut out = walk.object(&view, members, "", 0);
    if view.kind().is_some_and(|kind| kind != "object") {
        walk.losses.add("", "type");
    }
    // The description of the whole is the tool's.
    out.shift_remove("description");
    Value::Object(walk.named(out))
}

struct Walk<'a, 'l> {
    root: &'a Value,
    subset: Subset,
    left: usize,
    losses: &'l mut Losses,
}

type Node = Map<String, Value>;

impl<'a> Walk<'a, '_> {
    fn is_open_api(&self) -> bool {
        self.subset == Subset::OpenApi
    }

    /// A schema below the top.
    fn schema(&mut self, schema: &'a Value, trail: &[&'a str], at: &str, depth: usize) -> Node {
        if depth > DEPTH || self.left == 0 {
            self.losses.add(at, "depth");
            return self.anything(None);
        }
        self.left -= 1;
        let view = View::new(self.root, schema, trail);
        if view.opaque {
            self.losses.add(at, "$ref");
        }
        let node = self.node(&view, at, depth);
        self.named(node)
    }

    fn node(&mut self, view: &View<'a>, at: &str, depth: usize) -> Node {
        if let Some(values) = values(view) {
            return self.choice(view, values, at);
        }
        if !view.is_plain_union() && !view.has(&["properties"]) {
            return self.union(view, at, depth);
        }
        match view.types() {
            Some(types) if types.len() > 1 => {
                let branches = types.iter().map(|kind| self.typed(kind, view, at, depth)).collect();
                self.any_of(branches, view.nullable)
            }
            types => match types.and_then(|types| types.first().copied()).or_else(|| self.kind(view)) {
                Some(kind) => self.typed(kind, view, at, depth),
                None => self.anything_of(view, at),
            },
        }
    }

    /// The type, also of what a cycle leads back to.
    fn kind(&self, view: &View<'a>) -> Option<&'a str> {
        view.kind().or_else(|| {
            let references = view.layers.iter().filter_map(|layer| layer.get("$ref")?.as_str());
            references.filter_map(|reference| resolve(self.root, reference)).find_map(|target| {
                let named = target.get("type").and_then(Value::as_str);
                named.or_else(|| target.get("properties").map(|_| "object"))
            })
        })
    }

    fn typed(&mut self, kind: &str, view: &View<'a>, at: &str, depth: usize) -> Node {
        match kind {
            "object" => self.object(view, Vec::new(), at, depth),
            "array" => self.array(view, at, depth),
            "string" | "number" | "integer" | "boolean" => self.described(kind, view, Vec::new(), at),
            _ => self.anything_of(view, at),
        }
    }

    /// Type, `null`, description and the keywords that the subset has.
    fn described(&mut self, kind: &str, view: &View<'a>, more: Vec<String>, at: &str) -> Node {
        let (kept, mut words) = demands(view, kind, self.subset, at, self.losses);
        words.extend(more);
        let mut out = Node::new();
        out.insert("type".into(), kind.into());
        if view.nullable && self.is_open_api() {
            out.insert("nullable".into(), true.into());
        }
        if let Some(text) = words::description(view, &words) {
            out.insert("description".into(), text.into());
        }
        out.extend(kept.into_iter().map(|(keyword, value)| (keyword.to_owned(), value.clone())));
        out
    }

    /// An object; `members` are further objects whose properties it may have.
    fn object(&mut self, view: &View<'a>, members: Vec<View<'a>>, at: &str, depth: usize) -> Node {
        let mut out = self.described("object", view, Vec::new(), at);
        let mut properties = Node::new();
        let sources = std::iter::once(view).chain(&members);
        for (name, schema, trail) in
            sources.flat_map(|view| view.properties().into_iter().map(|(name, schema)| (name, schema, &view.trail)))
        {
            if *schema == Value::Bool(false) || properties.contains_key(name) {
                continue;
            }
            let at = below(&below(at, "properties"), name);
            properties.insert(name.to_owned(), self.schema(schema, trail, &at, depth + 1).into());
        }
        let mut required: Vec<&str> =
            view.required().into_iter().filter(|name| properties.contains_key(*name)).collect();
        required.sort_unstable();
        if properties.is_empty() && depth > 0 && self.is_open_api() {
            // The API refuses an object without properties, so one is named that nobody needs.
            let note = "any property, by its own name";
            properties.insert("_".into(), json!({ "type": "STRING", "description": note }));
            self.losses.add(at, "properties");
        }
        if !properties.is_empty() {
            out.insert("properties".into(), properties.into());
        }
        if !required.is_empty() {
            out.insert("required".into(), required.into());
        }
        out
    }

    fn array(&mut self, view: &View<'a>, at: &str, depth: usize) -> Node {
        let mut out = self.described("array", view, Vec::new(), at);
        let tuple = view.get("prefixItems").or_else(|| view.get("items")).and_then(Value::as_array);
        let items = match (tuple, view.get("items")) {
            (Some(tuple), _) => {
                self.losses.add(at, "prefixItems");
                let places = tuple.iter().enumerate();
                let branches = places.map(|(n, item)| {
                    self.schema(item, &view.trail, &below(&below(at, "prefixItems"), &n.to_string()), depth + 1)
                });
                let mut branches: Vec<Node> = branches.collect();
                branches.dedup();
                Some(self.any_of(branches, false))
            }
            (None, Some(items)) => Some(self.schema(items, &view.trail, &below(at, "items"), depth + 1)),
            // The Gemini API refuses an array without items.
            (None, None) if self.is_open_api() => Some(self.anything(None)),
            (None, None) => None,
        };
        if let Some(items) = items {
            out.insert("items".into(), items.into());
        }
        out
    }

    /// One of some values.
    fn choice(&mut self, view: &View<'a>, values: Vec<Value>, at: &str) -> Node {
        let values: Vec<Value> = values.into_iter().filter(|value| !value.is_null()).collect();
        let kind = kind_of(&values);
        let texts = values.iter().all(Value::is_string) && !values.is_empty();
        if self.is_open_api() && !texts {
            self.losses.add_worded(at, "enum");
            let words = vec![words::choices(&values)];
            return match kind {
                Some(kind) => self.described(kind, view, words, at),
                None => self.anything(words::description(view, &words)),
            };
        }
        let mut out = kind.map_or_else(Node::new, |kind| self.described(kind, view, titles(view), at));
        out.insert("enum".into(), values.into());
        out
    }

    fn members(&mut self, view: &View<'a>, at: &str) -> Vec<View<'a>> {
        let mut found = Vec::new();
        for key in ["anyOf", "oneOf"] {
            let Some(members) = view.get(key).and_then(Value::as_array) else { continue };
            self.losses.add(at, key);
            found.extend(members.iter().map(|member| View::new(self.root, member, &view.trail)));
        }
        found
    }

    fn union(&mut self, view: &View<'a>, at: &str, depth: usize) -> Node {
        let key = if view.get("anyOf").is_some() { "anyOf" } else { "oneOf" };
        if key == "oneOf" {
            self.losses.add(at, key);
        }
        let members = view.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut branches = Vec::new();
        for (number, member) in members.iter().enumerate().filter(|(_, member)| !is_null(member)) {
            let at = below(&below(at, key), &number.to_string());
            let mut branch = self.schema(member, &view.trail, &at, depth + 1);
            // The Gemini API takes nothing beside `anyOf`.
            if let Some(text) = view.text("description").filter(|_| self.is_open_api() && number == 0) {
                branch.entry("description").or_insert_with(|| text.into());
            }
            branches.push(branch);
        }
        let mut out = self.any_of(branches, view.nullable);
        if let Some(text) = view.text("description").filter(|_| !self.is_open_api()) {
            out.entry("description").or_insert_with(|| text.into());
        }
        out
    }

    fn any_of(&self, mut branches: Vec<Node>, nullable: bool) -> Node {
        if nullable && self.is_open_api() {
            for branch in &mut branches {
                branch.insert("nullable".into(), true.into());
            }
        }
        match branches.len() {
            0 => self.anything(None),
            1 => branches.swap_remove(0),
            _ => {
                let branches: Vec<Value> = branches.into_iter().map(|branch| self.named(branch).into()).collect();
                Node::from_iter([("anyOf".to_owned(), branches.into())])
            }
        }
    }

    fn anything_of(&mut self, view: &View<'a>, at: &str) -> Node {
        if self.is_open_api() {
            self.losses.add(at, "type");
        }
        self.anything(words::description(view, &[]))
    }

    /// A schema that says nothing. The Gemini API wants a type, so there it is text, number or yes/no.
    fn anything(&self, description: Option<String>) -> Node {
        if self.is_open_api() {
            let mut text = json!({ "type": "STRING" });
            if let Some(description) = description {
                text["description"] = description.into();
            }
            let branches = json!([text, { "type": "NUMBER" }, { "type": "BOOLEAN" }]);
            return Node::from_iter([("anyOf".to_owned(), branches)]);
        }
        description.map(|text| ("description".to_owned(), text.into())).into_iter().collect()
    }

    /// The type by the name that the subset has for it.
    fn named(&self, mut node: Node) -> Node {
        if self.is_open_api()
            && let Some(Value::String(kind)) = node.get_mut("type")
        {
            kind.make_ascii_uppercase();
        }
        node
    }
}

/// The values of an `enum`, a `const`, or a union of such.
fn values(view: &View<'_>) -> Option<Vec<Value>> {
    if let Some(value) = view.get("const") {
        return Some(vec![value.clone()]);
    }
    let choices = view.choices("enum", "enumNames").or_else(|| view.constants())?;
    Some(choices.into_iter().map(|choice| choice.value).collect())
}

/// What the values of a union are called, where that says more than they do.
fn titles(view: &View<'_>) -> Vec<String> {
    let choices = view.choices("enum", "enumNames").or_else(|| view.constants()).unwrap_or_default();
    let named = choices.iter().filter(|choice| choice.value.as_str().is_some_and(|value| value != choice.title));
    named.take(50).map(|choice| format!("{}: {}", choice.value.as_str().unwrap_or_default(), choice.title)).collect()
}

/// The one type of some values.
fn kind_of(values: &[Value]) -> Option<&'static str> {
    let of = |value: &Value| match value {
        Value::String(_) => Some("string"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some("integer"),
        Value::Number(_) => Some("number"),
        _ => None,
    };
    let first = of(values.first()?)?;
    values.iter().all(|value| of(value) == Some(first)).then_some(first)
}
