//! The fields of a form, groups flattened, with what was put into each; and the answer they make together.
//!
//! A group that need not be there takes part only if something was put into it: the defaults of its fields alone do not bring it in.
//!
//! **Invariants:** a value that was not touched is answered exactly as it was given; an optional field left empty is not in the answer; a map
//! leaves [`Tree::answer`] only if every field in it is good.

use super::Purpose;
use super::field::{Control, Group};
use crate::domain::form::check::check_value;
use crate::domain::form::{Field, FieldError, FieldKind, Form};
use serde_json::{Map, Value};

/// Where the value of a field comes from that was not touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    /// It is part of the values the form was made with.
    Yes,
    /// It is the field's default, or there is none.
    No,
}

/// One field, or the heading of a group.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub field: Field,
    /// How many groups it stands in.
    pub depth: u16,
    /// The group it stands in.
    pub parent: Option<usize>,
    pub control: Control,
    /// The value it came with.
    original: Option<Value>,
    given: Given,
    pub touched: bool,
    /// What is shown to be wrong with it.
    pub error: Option<FieldError>,
}

impl Entry {
    pub(super) fn is_group(&self) -> bool {
        matches!(self.control, Control::Group(_))
    }

    fn is_filled(&self) -> bool {
        match self.given {
            _ if self.touched => !self.control.is_empty(),
            Given::Yes => self.original.as_ref().is_some_and(|value| !value.is_null()),
            Given::No => false,
        }
    }

    /// Its value, checked. `None` where it has none.
    fn value(&self) -> Result<Option<Value>, FieldError> {
        let value = match &self.original {
            Some(value) if !self.touched => Some(value.clone()),
            _ => self.control.value(&self.field)?,
        };
        match value {
            Some(value) => check_value(&self.field, &value).map(|()| Some(value)),
            // What must be there and may be null is null when it is left empty.
            None if self.field.default == Some(Value::Null) => Ok(Some(Value::Null)),
            None if self.field.required => Err(FieldError::Required),
            None => Ok(None),
        }
    }
}

/// All fields.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub entries: Vec<Entry>,
    /// Values that came without a field; they are passed on.
    extra: Map<String, Value>,
}

impl Tree {
    pub(super) fn new(form: &Form, values: &Map<String, Value>, purpose: Purpose) -> Self {
        let mut tree = Self { entries: Vec::new(), extra: Map::new() };
        tree.add(form, values, purpose, None);
        let extra = values.iter().filter(|(name, _)| !form.fields.iter().any(|field| field.name == **name));
        tree.extra = extra.map(|(name, value)| (name.clone(), value.clone())).collect();
        tree
    }

    fn add(&mut self, form: &Form, values: &Map<String, Value>, purpose: Purpose, parent: Option<usize>) {
        let depth = parent.map_or(0, |parent| self.entries[parent].depth + 1);
        for field in &form.fields {
            let original = start(field, values.get(&field.name), purpose);
            let control = Control::new(field, original.as_ref(), purpose);
            let index = self.entries.len();
            let group = matches!(control, Control::Group(_));
            self.entries.push(Entry {
                field: field.clone(),
                depth,
                parent,
                control,
                original: original.clone(),
                given: if values.contains_key(&field.name) { Given::Yes } else { Given::No },
                touched: false,
                error: None,
            });
            if let (true, FieldKind::Object { form: inner }) = (group, &field.kind) {
                let members = original.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
                self.add(inner, &members, purpose, Some(index));
            }
        }
    }

    fn children(&self, parent: Option<usize>) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter(move |(_, entry)| entry.parent == parent)
    }

    /// Whether a group takes part in the answer: it must, or something stands in it.
    fn is_active(&self, group: usize) -> bool {
        let entry = &self.entries[group];
        let Control::Group(control) = &entry.control else { return true };
        let untouched = entry.original.is_some() && !self.is_touched_below(group);
        entry.field.required || untouched || !control.extra().is_empty() || self.holds(group)
    }

    /// Whether anything stands anywhere in a group.
    fn holds(&self, group: usize) -> bool {
        self.children(Some(group)).any(|(i, child)| if child.is_group() { self.holds(i) } else { child.is_filled() })
    }

    fn is_touched_below(&self, group: usize) -> bool {
        self.children(Some(group))
            .any(|(i, child)| if child.is_group() { self.is_touched_below(i) } else { child.touched })
    }

    /// Whether the groups around an entry take part in the answer.
    fn counts(&self, index: usize) -> bool {
        let mut at = self.entries[index].parent;
        while let Some(group) = at {
            if !self.is_active(group) {
                return false;
            }
            at = self.entries[group].parent;
        }
        true
    }

    /// Whether anything was typed or chosen.
    pub(super) fn is_touched(&self) -> bool {
        self.entries.iter().any(|entry| entry.touched)
    }

    /// Looks at one field anew, as when it is left: what is wrong is shown from now on.
    pub(super) fn judge(&mut self, index: usize) {
        let error = if self.counts(index) { self.entries[index].value().err() } else { None };
        self.entries[index].error = error;
    }

    /// The whole answer, or the entries that are wrong (their errors are shown from now on).
    pub(super) fn answer(&mut self) -> Result<Map<String, Value>, Vec<usize>> {
        let mut bad = Vec::new();
        for index in 0..self.entries.len() {
            if self.entries[index].is_group() {
                continue;
            }
            self.judge(index);
            if self.entries[index].error.is_some() {
                bad.push(index);
            }
        }
        if bad.is_empty() { Ok(self.map_of(None, &self.extra)) } else { Err(bad) }
    }

    fn map_of(&self, parent: Option<usize>, extra: &Map<String, Value>) -> Map<String, Value> {
        let mut map = Map::new();
        for (index, entry) in self.children(parent) {
            let value = match &entry.control {
                Control::Group(group) => self.is_active(index).then(|| self.group_value(index, group)),
                _ => entry.value().ok().flatten(),
            };
            if let Some(value) = value {
                map.insert(entry.field.name.clone(), value);
            }
        }
        for (name, value) in extra {
            map.insert(name.clone(), value.clone());
        }
        map
    }

    fn group_value(&self, index: usize, group: &Group) -> Value {
        Value::Object(self.map_of(Some(index), group.extra()))
    }

    /// The entry that a name means: `inner` fields are `outer.inner` or `/outer/inner`; the deepest one that exists.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let path = name.trim_start_matches(['/', '$', '.']).replace('/', ".");
        let found = |wanted: &str| (0..self.entries.len()).find(|index| self.path(*index) == wanted);
        let mut wanted = path.as_str();
        loop {
            if let Some(index) = found(wanted).filter(|index| !self.entries[*index].is_group()) {
                return Some(index);
            }
            wanted = wanted.rsplit_once('.')?.0;
        }
    }

    fn path(&self, index: usize) -> String {
        let entry = &self.entries[index];
        match entry.parent {
            Some(parent) => format!("{}.{}", self.path(parent), entry.field.name),
            None => entry.field.name.clone(),
        }
    }
}

/// What a field starts with: the value it was given; else, where nothing was called yet, its default. A default that the field itself does
/// not offer is none.
fn start(field: &Field, given: Option<&Value>, purpose: Purpose) -> Option<Value> {
    if given.is_some() || purpose == Purpose::Arguments {
        return given.cloned();
    }
    let shows_anything =
        matches!(field.kind, FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::Json { .. });
    field.default.clone().filter(|default| shows_anything || check_value(field, default).is_ok())
}
