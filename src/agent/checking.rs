//! From a written call to what is found out about it: which tool, valid arguments, what it would do, whether it may.
//!
//! Owns no state; what it needs is given. The tool's own look at the call (files) runs as a task.

use super::machine::Found;
use super::servers::Servers;
use crate::contract::ToolInfo;
use crate::dialect;
use crate::domain::model::{Arguments, ProposedCall};
use crate::domain::policy::{Preview, Verdict};
use crate::domain::tool::Origin;
use crate::domain::{ToolCall, ToolSpec};
use crate::policy::{Policy, Subject};
use crate::schema;
use crate::strings::{Language, Strings};
use crate::tools::Inspection;
use crate::tools::toolbox::Toolbox;
use serde_json::Value;
use std::sync::Arc;

/// Looks a proposed call's tool up and brings its arguments into the tool's own form: other names for arguments, texts where the schema wants
/// numbers (the text dialects write everything as text).
pub fn resolve(toolbox: &Toolbox, call: &mut ProposedCall) -> Option<Arc<ToolSpec>> {
    let names = toolbox.names();
    let spec = toolbox.find(names.resolve(&call.name)?)?;
    if let Arguments::Parsed { value } = &mut call.arguments {
        if spec.id.server.is_none() {
            dialect::apply_argument_aliases(&spec.id.name, value);
        }
        if call.origin != Origin::Native {
            dialect::coerce(value, &spec.input_schema);
        }
    }
    Some(Arc::clone(spec))
}

/// The definition of a call's tool and whether its arguments are valid.
pub fn validate(toolbox: &Toolbox, call: &ToolCall, arguments: &Value) -> Result<Arc<ToolSpec>, Found> {
    let invalid = |message| Found::Invalid { message, problems: Vec::new() };
    let spec = call.tool.as_ref().and_then(|tool| toolbox.find(tool));
    let spec = spec.ok_or_else(|| invalid(toolbox.unknown(&call.asked)))?;
    toolbox.check_arguments(spec, arguments).map_err(invalid)?;
    Ok(Arc::clone(spec))
}

/// What follows from the tool's look at the call: it cannot be done, or the policy speaks.
pub fn judge(
    policy: &Policy,
    servers: &Servers,
    spec: Arc<ToolSpec>,
    arguments: &Value,
    origin: Origin,
    inspection: Inspection,
) -> Found {
    if let Preview::Impossible { why } = inspection.preview {
        return Found::Invalid { message: why, problems: Vec::new() };
    }
    let judgement = policy.decide(&Subject {
        spec: &spec,
        arguments,
        origin,
        facts: &inspection.facts,
        trusted_read_only: servers.trusts_read_only(spec.id.server.as_ref()),
    });
    let check = Box::new(judgement.into_check(inspection.preview, inspection.warnings));
    if let Verdict::Deny { why } = &check.verdict {
        let why = Strings::new(Language::En).render(why);
        let message = format!("Not allowed, and it will not be: {why} Do it another way, or tell the user.");
        return Found::Denied { check, message };
    }
    let form = schema::form::form(&spec.input_schema);
    Found::Ready { spec, check, form }
}

/// Every tool as the list of tools shows it.
pub fn list(toolbox: &Toolbox, policy: &Policy) -> Vec<ToolInfo> {
    let names = toolbox.names();
    let info = |spec: &Arc<ToolSpec>| ToolInfo {
        spec: Arc::clone(spec),
        wire_name: names.wire(&spec.id).unwrap_or_default().to_owned(),
        form: schema::form::form(&spec.input_schema),
        grants: policy.grants(&spec.id),
    };
    toolbox.list().iter().map(info).collect()
}
