//! The embedded MCP server: `mcpane demo-server`, a real one, over standard input and output, on rmcp's server side.
//!
//! Owns: the server, its tools' dispatch, and its process. What the tools do stands in `weather`, `machine`, `forms` and `notes`; `tools` lists them.
//! Does not know the host: it is spoken to over the wire like any other server.
//!
//! It is honest: sample data is called so, and a tool that asks the user reports back exactly what it received; *declined* and *cancelled* are two
//! different answers.

mod forms;
mod machine;
mod notes;
mod tools;
mod weather;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, CustomRequest, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer, ServiceError, ServiceExt};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::process::ExitCode;
use std::time::Duration;

/// Serves one client over standard input and output until the input ends.
pub fn run() -> ExitCode {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let served = runtime.block_on(async {
        let service = DemoServer.serve(rmcp::transport::stdio_pipes()).await.map_err(|error| error.to_string())?;
        service.waiting().await.map_err(|error| error.to_string())
    });
    // A read of standard input cannot be called off; do not wait for it.
    runtime.shutdown_background();
    match served {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::debug!(%error, "the demo server ended");
            ExitCode::FAILURE
        }
    }
}

/// The server.
#[derive(Debug, Clone, Copy, Default)]
pub struct DemoServer;

impl ServerHandler for DemoServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(
                Implementation::new("mcpane-demo", env!("CARGO_PKG_VERSION")).with_title("mcpane's demo server"),
            )
            .with_instructions(
                "A demonstration. Weather is sample data. deploy and register ask the user; they change nothing.",
            )
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::LATEST_WITH_INITIALIZE))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        typed(json!({ "tools": tools::definitions() }))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let result = match &*request.name {
            "get_forecast" => weather::forecast(&arguments),
            "get_alerts" => weather::alerts(&arguments),
            "get_memory_usage" => machine::memory(),
            "read_hosts_file" => machine::hosts(),
            "deploy" => asked(forms::deploy(&arguments), &context).await?,
            "register" => asked(forms::register(), &context).await?,
            "slow_job" => slow_job(&arguments, &context).await?,
            other => return Err(ErrorData::invalid_params(format!("There is no tool {other}."), None)),
        };
        let result: CallToolResult = typed(result)?;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        typed(json!({ "resources": notes::list() }))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let contents = notes::read(&uri)
            .ok_or_else(|| ErrorData::resource_not_found(format!("There is no resource {uri}."), None))?;
        let result: ReadResourceResult = typed(json!({ "contents": [contents] }))?;
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        typed(json!({ "prompts": [notes::code_review()] }))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != "code_review" {
            return Err(ErrorData::invalid_params(format!("There is no prompt {}.", request.name), None));
        }
        let messages = notes::review_messages(&request.arguments.unwrap_or_default())
            .ok_or_else(|| ErrorData::invalid_params("The argument code is missing.", None))?;
        let result: GetPromptResult = typed(json!({ "messages": messages }))?;
        Ok(result.into())
    }
}

/// What is written as JSON here, as rmcp's type.
fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A result of one text.
fn text(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }], "isError": false })
}

/// A failure that the model reads.
fn failure(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }], "isError": true })
}

/// Asks the user and reports what came back. The request is sent raw, so that the form keeps its order of fields.
async fn asked(form: forms::Form, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    if context.client_capabilities().is_none_or(|capabilities| capabilities.elicitation.is_none()) {
        return Ok(failure("This client cannot ask its user: it did not declare elicitation."));
    }
    let params = json!({ "message": form.message, "requestedSchema": form.schema });
    let request = ServerRequest::CustomRequest(CustomRequest::new("elicitation/create", Some(params)));
    let answer = tokio::select! {
        answer = context.peer.send_request(request) => answer,
        () = context.ct.cancelled() => return Ok(failure("The call was cancelled.")),
    };
    match answer {
        Ok(ClientResult::CustomResult(answer)) => Ok(forms::report(form.done, &answer.0)),
        Ok(answer) => Ok(forms::report(form.done, &serde_json::to_value(answer).unwrap_or_default())),
        Err(ServiceError::McpError(error)) => {
            Ok(failure(format!("The client refused to ask its user: {}", error.message)))
        }
        Err(error) => Ok(failure(format!("The user could not be asked: {error}"))),
    }
}

/// Sleeps in steps and tells about each.
async fn slow_job(arguments: &Map<String, Value>, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let seconds = arguments.get("seconds").and_then(Value::as_f64).unwrap_or(5.0).clamp(0.0, 600.0);
    let steps = arguments.get("steps").and_then(Value::as_u64).unwrap_or(5).clamp(1, 1_000);
    let pause = Duration::from_secs_f64(seconds / steps as f64);
    let token = context.meta.get_progress_token();
    for step in 1..=steps {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            // Nobody reads this: a cancelled request has no answer.
            () = context.ct.cancelled() => return Ok(failure(format!("Cancelled in step {step} of {steps}."))),
        }
        if let Some(token) = &token {
            let progress = ProgressNotificationParam::new(token.clone(), step as f64).with_total(steps as f64);
            let message = format!("Step {step} of {steps} is done");
            let told = context.peer.notify_progress(progress.with_message(message)).await;
            told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
    }
    Ok(text(format!("The job is done: {steps} steps in {seconds} s.")))
}

#[cfg(test)]
mod tests;
