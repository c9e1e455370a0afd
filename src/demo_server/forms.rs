//! What `deploy` and `register` ask, and how they report the answer.
//!
//! `register` has a field of every kind that elicitation knows. Source: MCP 2025-11-25, `PrimitiveSchemaDefinition`.

use super::text;
use serde_json::{Map, Value, json};

/// A form for the user.
pub(super) struct Form {
    /// What it says.
    pub(super) message: String,
    /// Its fields.
    pub(super) schema: Value,
    /// What an accepted form amounts to.
    pub(super) done: &'static str,
}

/// Enumerations and text.
pub(super) fn deploy(arguments: &Map<String, Value>) -> Form {
    let service = arguments.get("service").and_then(Value::as_str).unwrap_or("website");
    let schema = json!({
        "type": "object",
        "properties": {
            "environment": {
                "type": "string",
                "title": "Environment",
                "description": "Where it goes",
                "oneOf": [
                    { "const": "staging", "title": "Staging" },
                    { "const": "production", "title": "Production" },
                    { "const": "development", "title": "Development" }
                ]
            },
            "regions": {
                "type": "array",
                "title": "Regions",
                "description": "One or two",
                "minItems": 1,
                "maxItems": 2,
                "items": { "type": "string", "enum": ["eu-west", "us-east", "ap-south"] }
            },
            "replicas": { "type": "integer", "title": "Replicas", "description": "How many run at once", "minimum": 1, "maximum": 10, "default": 3 },
            "version": {
                "type": "string",
                "title": "Version",
                "description": "Such as 1.4.2",
                "minLength": 1,
                "maxLength": 20
            },
            "notify": { "type": "boolean", "title": "Notify me", "description": "Send a mail when it is done", "default": false }
        },
        "required": ["environment", "regions", "version"]
    });
    Form {
        message: format!("Please tell me where and how to deploy {service}."),
        schema,
        done: "This is a demonstration, so nothing was deployed.",
    }
}

/// Every kind of field there is.
pub(super) fn register() -> Form {
    let schema = json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "title": "Username", "description": "Small letters, digits, - and _", "minLength": 3, "maxLength": 16, "pattern": "^[a-z][a-z0-9_-]*$" },
            "display_name": { "type": "string", "title": "Display name" },
            "email": { "type": "string", "title": "E-mail", "format": "email" },
            "website": { "type": "string", "title": "Website", "format": "uri" },
            "birthday": { "type": "string", "title": "Birthday", "format": "date" },
            "appointment": { "type": "string", "title": "First appointment", "description": "With time and offset", "format": "date-time" },
            "age": { "type": "integer", "title": "Age", "minimum": 18, "maximum": 120 },
            "height": { "type": "number", "title": "Height", "description": "In metres", "minimum": 0.5, "maximum": 2.5, "default": 1.75 },
            "newsletter": { "type": "boolean", "title": "Newsletter", "default": true },
            "plan": { "type": "string", "title": "Plan", "enum": ["free", "pro", "team"], "default": "free" },
            "role": {
                "type": "string",
                "title": "Role",
                "oneOf": [
                    { "const": "dev", "title": "Developer" },
                    { "const": "ops", "title": "Operations" },
                    { "const": "qa", "title": "Quality" }
                ]
            },
            "size": { "type": "string", "title": "T-shirt", "enum": ["s", "m", "l"], "enumNames": ["Small", "Medium", "Large"], "default": "m" },
            "interests": {
                "type": "array",
                "title": "Interests",
                "description": "One to three",
                "minItems": 1,
                "maxItems": 3,
                "items": { "type": "string", "enum": ["music", "sport", "books", "travel", "games"] }
            },
            "channels": {
                "type": "array",
                "title": "How to reach you",
                "items": { "anyOf": [{ "const": "mail", "title": "By mail" }, { "const": "phone", "title": "By telephone" }, { "const": "chat", "title": "In the chat" }] },
                "default": ["mail"]
            },
            "about": { "type": "string", "title": "About you", "maxLength": 200, "default": "Hello!" }
        },
        "required": ["username", "email", "age", "role", "interests"]
    });
    Form {
        message: "Please fill in your registration.".to_owned(),
        schema,
        done: "This is a demonstration, so nothing was stored.",
    }
}

/// What came back, exactly.
pub(super) fn report(done: &str, answer: &Value) -> Value {
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => {
            let received = answer.get("content").cloned().unwrap_or_else(|| json!({}));
            text(format!("The user accepted. Received: {received}\n{done}"))
        }
        Some("decline") => text("The user declined: the answer is no. Nothing was done."),
        Some("cancel") => text("The user cancelled: the form was put away without an answer. Nothing was done."),
        _ => super::failure(format!(
            "The client answered something that is none of accept, decline and cancel: {answer}"
        )),
    }
}
