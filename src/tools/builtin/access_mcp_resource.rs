//! `access_mcp_resource`: reads a resource of an MCP server.

use super::{define, text};
use crate::domain::policy::{Facts, Preview};
use crate::domain::tool::Risk;
use crate::domain::{ServerName, ToolOutcome, ToolSpec};
use crate::tools::scene::ReadResource;
use crate::tools::{Inspection, Invocation, Tool};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde_json::{Value, json};
use std::sync::Arc;

/// The tool.
pub struct AccessMcpResource {
    spec: Arc<ToolSpec>,
    resources: Arc<dyn ReadResource>,
}

impl AccessMcpResource {
    /// The tool, reading through `resources`.
    pub fn new(resources: &Arc<dyn ReadResource>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "server_name": { "type": "string", "description": "The server that has the resource." },
                "uri": { "type": "string", "description": "The resource's URI." }
            },
            "required": ["server_name", "uri"]
        });
        let description = include_str!("../../../assets/tools/access_mcp_resource.md");
        let spec = define("access_mcp_resource", description, Risk::External, schema);
        Self { spec, resources: Arc::clone(resources) }
    }
}

impl Tool for AccessMcpResource {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn inspect<'a>(&'a self, _arguments: &'a Value) -> BoxFuture<'a, Inspection> {
        ready(Inspection { facts: Facts::default(), preview: Preview::Arguments, warnings: Vec::new() }).boxed()
    }

    fn run(&self, call: Invocation) -> BoxFuture<'static, ToolOutcome> {
        let asked = text(&call.arguments, "server_name").and_then(|server| {
            text(&call.arguments, "uri").map(|uri| (ServerName::from(server.trim()), uri.trim().to_owned()))
        });
        match asked {
            Ok((server, uri)) => self.resources.read(server, uri, call),
            Err(why) => ready(ToolOutcome::failed(why)).boxed(),
        }
    }
}
