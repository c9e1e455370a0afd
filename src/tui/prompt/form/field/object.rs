//! A group of fields. It holds no value of its own: the form makes one of the fields in it. Here is what the form does not know: members that
//! have no field, and so are passed on as they are.

use crate::domain::form::{Field, FieldKind};
use serde_json::{Map, Value};

/// A group.
#[derive(Debug, Clone)]
pub(in crate::tui::prompt::form) struct Group {
    extra: Map<String, Value>,
}

impl Group {
    pub(super) fn new(field: &Field, value: Option<&Value>) -> Self {
        let FieldKind::Object { form } = &field.kind else { return Self { extra: Map::new() } };
        let members = value.and_then(Value::as_object).into_iter().flatten();
        let extra = members.filter(|(name, _)| !form.fields.iter().any(|field| field.name == **name));
        Self { extra: extra.map(|(name, value)| (name.clone(), value.clone())).collect() }
    }

    /// Members without a field.
    pub(in crate::tui::prompt::form) fn extra(&self) -> &Map<String, Value> {
        &self.extra
    }
}
