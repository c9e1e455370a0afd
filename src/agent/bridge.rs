//! What the tools need of the MCP side, over its handle.

use crate::domain::{ServerName, ToolId, ToolOutcome};
use crate::mcp::{Mcp, Run};
use crate::tools::Invocation;
use crate::tools::scene::ReadResource;
use crate::tools::toolbox::CallServer;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

/// The MCP servers, as the toolbox calls them.
#[derive(Clone)]
pub struct Servers(pub Mcp);

impl CallServer for Servers {
    fn call(&self, tool: ToolId, invocation: Invocation) -> BoxFuture<'static, ToolOutcome> {
        let mcp = self.0.clone();
        async move {
            let Invocation { call, arguments, signals, cancel } = invocation;
            let Value::Object(arguments) = arguments else {
                return ToolOutcome::failed(format!("The arguments of {tool} must be one JSON object."));
            };
            mcp.call(tool, arguments, Run { call, signals, cancel }).await
        }
        .boxed()
    }
}

impl ReadResource for Servers {
    fn read(&self, server: ServerName, uri: String, invocation: Invocation) -> BoxFuture<'static, ToolOutcome> {
        let mcp = self.0.clone();
        async move {
            match mcp.read_resource(&server, &uri, invocation.cancel).await {
                Ok(content) => {
                    ToolOutcome::Done { content, is_error: false, for_model: None, spilled: None, millis: 0 }
                }
                Err(message) => ToolOutcome::failed(message),
            }
        }
        .boxed()
    }
}
