use super::*;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, ClientConfig, CustomResult, ElicitRequestParams, ElicitResult, ElicitationAction,
    ReadResourceRequestParams,
};
use rmcp::service::{RoleClient, RunningService};

/// A client that answers every form in the same way and keeps what it was asked.
#[derive(Clone)]
struct Client {
    answer: Value,
    can_ask: bool,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = if self.can_ask { json!({ "elicitation": {} }) } else { json!({}) };
        ClientConfig::new(serde_json::from_value(capabilities).unwrap(), Implementation::new("test", "1"))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(serde_json::from_value(self.answer.clone()).unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Cancel)))
    }

    async fn on_custom_request(
        &self,
        _: CustomRequest,
        _: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        Ok(CustomResult(self.answer.clone()))
    }
}

async fn connect(client: Client) -> RunningService<RoleClient, Client> {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move { DemoServer.serve(theirs).await.unwrap().waiting().await });
    client.serve(ours).await.unwrap()
}

async fn call(
    client: &RunningService<RoleClient, Client>,
    tool: &'static str,
    arguments: Value,
) -> (String, bool, Value) {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
    let result = serde_json::to_value(client.call_tool(params).await.unwrap()).unwrap();
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (text, result["isError"] == true, result["structuredContent"].clone())
}

fn plain() -> Client {
    Client { answer: json!({ "action": "cancel" }), can_ask: true }
}

#[tokio::test]
async fn tomorrow_in_new_york_is_clear_and_sample_data() {
    let client = connect(plain()).await;
    let (text, failed, data) =
        call(&client, "get_forecast", json!({ "latitude": 40.7128, "longitude": -74.006 })).await;
    assert!(!failed && text.contains("Tomorrow: 24 °C, clear") && text.contains("Sample data"), "{text}");
    assert_eq!(data["days"][1], json!({ "day": "Tomorrow", "celsius": 24, "sky": "clear" }));
    let (text, failed, _) = call(&client, "get_forecast", json!({ "latitude": 140, "longitude": 0 })).await;
    assert!(failed, "{text}");
    let (text, failed, _) = call(&client, "get_alerts", json!({ "state": "ca" })).await;
    assert!(!failed && text.starts_with("CA: Red flag") && text.contains("Sample data"), "{text}");
}

#[tokio::test]
async fn what_is_real_is_real() {
    let client = connect(plain()).await;
    let (text, _, _) = call(&client, "read_hosts_file", json!({})).await;
    assert_eq!(text, std::fs::read_to_string("/etc/hosts").unwrap());
    if cfg!(target_os = "linux") {
        let (text, failed, data) = call(&client, "get_memory_usage", json!({})).await;
        assert!(!failed && data["total_kib"].as_u64().unwrap() > 0, "{text}");
    }
}

#[tokio::test]
async fn forms_report_exactly_what_they_received() {
    let content =
        json!({ "environment": "production", "regions": ["us-east", "eu-west"], "version": "1.2", "notify": false });
    let client = connect(Client { answer: json!({ "action": "accept", "content": content }), can_ask: true }).await;
    let (text, failed, _) = call(&client, "deploy", json!({})).await;
    assert!(!failed && text.contains(&format!("Received: {content}\n")), "{text}");
    let mut told = Vec::new();
    for action in ["decline", "cancel"] {
        let client = connect(Client { answer: json!({ "action": action }), can_ask: true }).await;
        told.push(call(&client, "register", json!({})).await.0);
    }
    assert!(told[0].contains("declined") && told[1].contains("cancelled") && told[0] != told[1], "{told:?}");
    let client = connect(Client { can_ask: false, ..plain() }).await;
    assert!(call(&client, "register", json!({})).await.1);
}

#[tokio::test]
async fn everything_it_lists_can_be_used() {
    let client = connect(plain()).await;
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 7);
    assert!(tools.iter().all(|tool| tool.annotations.is_some() && tool.title.is_some()));
    for resource in client.list_all_resources().await.unwrap() {
        assert!(client.read_resource(ReadResourceRequestParams::new(resource.uri)).await.is_ok());
    }
    assert!(client.read_resource(ReadResourceRequestParams::new("note://none")).await.is_err());
    let prompt = |arguments: Value| {
        let mut params = GetPromptRequestParams::new("code_review");
        params.arguments = arguments.as_object().cloned();
        client.get_prompt(params)
    };
    let review =
        serde_json::to_value(prompt(json!({ "code": "let x = 1;", "language": "rust" })).await.unwrap()).unwrap();
    assert!(review["messages"][0]["content"]["text"].as_str().unwrap().contains("```rust\nlet x = 1;"));
    assert!(prompt(json!({})).await.is_err());
}
