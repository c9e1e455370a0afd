//! The tools, as the server lists them.

use serde_json::{Value, json};

/// All definitions.
pub(super) fn definitions() -> Vec<Value> {
    [looking(), acting()].into_iter().flat_map(|group| group.as_array().cloned().unwrap_or_default()).collect()
}

/// The schema of a tool without arguments.
fn nothing() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

/// Those that only look.
fn looking() -> Value {
    json!([
        {
            "name": "get_forecast",
            "title": "Weather forecast",
            "description": "Get the weather forecast for a place, today and the next days. Sample data of a demonstration, not a real forecast.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "latitude": { "type": "number", "minimum": -90, "maximum": 90, "description": "Latitude of the place, degrees north" },
                    "longitude": { "type": "number", "minimum": -180, "maximum": 180, "description": "Longitude of the place, degrees east" }
                },
                "required": ["latitude", "longitude"]
            },
            "outputSchema": super::weather::forecast_schema(),
            "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false }
        },
        {
            "name": "get_alerts",
            "title": "Weather alerts",
            "description": "Get the weather alerts of a US state. Sample data of a demonstration, no real alerts.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "state": { "type": "string", "pattern": "^[A-Za-z]{2}$", "description": "Two-letter code of the state, such as NY or CA" }
                },
                "required": ["state"]
            },
            "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false }
        },
        {
            "name": "get_memory_usage",
            "title": "Memory of this machine",
            "description": "Get how much memory this machine has and uses. Real figures.",
            "inputSchema": nothing(),
            "annotations": { "readOnlyHint": true, "openWorldHint": false }
        },
        {
            "name": "read_hosts_file",
            "title": "Hosts file of this machine",
            "description": "Read /etc/hosts of this machine. The real file.",
            "inputSchema": nothing(),
            "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false }
        }
    ])
}

/// Those that ask the user, or take their time.
fn acting() -> Value {
    json!([
        {
            "name": "deploy",
            "title": "Deploy a service",
            "description": "Deploy a service. Asks the user where to and how; reports what the user answered. A demonstration: nothing is deployed.",
            "inputSchema": {
                "type": "object",
                "properties": { "service": { "type": "string", "description": "Name of the service", "default": "website" } }
            },
            "annotations": { "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true }
        },
        {
            "name": "register",
            "title": "Register a user",
            "description": "Register a new user. Asks the user for everything; reports what the user answered. A demonstration: nothing is stored.",
            "inputSchema": nothing(),
            "annotations": { "readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false }
        },
        {
            "name": "slow_job",
            "title": "A job that takes its time",
            "description": "Run a job that takes some seconds and reports its progress. It can be cancelled.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "seconds": { "type": "number", "minimum": 0, "maximum": 600, "default": 5, "description": "How long it takes altogether" },
                    "steps": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 5, "description": "In how many steps" }
                }
            },
            "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false }
        }
    ])
}
