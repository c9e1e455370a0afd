//! Everything there is to know about a call that waits, for the details layer.

use super::words;
use crate::domain::policy::Preview;
use crate::domain::prompt::Approval;
use crate::tui::about;
use crate::tui::look::Look;
use crate::tui::outcome::{DetailBody, Details};
use std::sync::Arc;

/// The details of a call.
pub(super) fn of(approval: &Approval, look: &Look<'_>) -> Details {
    let strings = look.strings;
    let heading = |key: &str| strings.get(key).to_owned();
    let spec = &approval.spec;
    let mut facts = vec![
        (heading("prompt.details.tool"), spec.id.to_string()),
        (heading("prompt.details.kind"), words::kind(approval, look)),
    ];
    if spec.id.server.is_some() {
        facts.push((heading("prompt.details.annotations"), about::hints(&spec.annotations, strings)));
    }
    facts.push((heading("prompt.details.why"), words::why(&approval.check, look)));
    if let Some(grant) = &approval.check.grant {
        facts.push((heading("prompt.details.grant"), words::rule(grant, look)));
    }
    facts.push((heading("prompt.details.definition"), spec.hash.to_string()));
    if approval.call.asked != spec.id.to_string() {
        facts.insert(1, (heading("prompt.details.asked"), approval.call.asked.clone()));
    }
    let arguments = DetailBody::Json(Arc::new(approval.call.arguments.clone()));
    let mut sections = vec![(heading("prompt.details.arguments"), arguments)];
    match &approval.check.preview {
        Preview::Diff(diff) => sections.insert(0, (String::new(), DetailBody::Diff(diff.clone()))),
        Preview::Command { command, .. } => sections.insert(0, (String::new(), DetailBody::Text(command.clone()))),
        Preview::Impossible { why } => sections.insert(0, (String::new(), DetailBody::Text(why.clone()))),
        Preview::Arguments => {}
    }
    sections.push((String::new(), DetailBody::Fields(facts)));
    sections.push((heading("prompt.details.description"), DetailBody::Text(spec.description.clone())));
    sections.push((heading("prompt.details.schema"), DetailBody::Json(Arc::clone(&spec.input_schema))));
    Details { title: spec.id.to_string(), sections }
}
