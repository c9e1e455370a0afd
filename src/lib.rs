//! mcpane: a full-screen terminal MCP host.
//!
//! This page is the map of the house.

pub mod agent;
pub mod app;
pub mod cli;
pub mod config;
pub mod contract;
pub mod demo_server;
pub mod desktop;
pub mod dialect;
pub mod disk;
pub mod domain;
pub mod guard;
pub mod headless;
pub mod mcp;
pub mod policy;
pub mod provider;
pub mod redact;
pub mod schema;
pub mod strings;
pub mod telemetry;
pub mod tools;
pub mod tui;
