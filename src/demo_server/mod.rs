//! The embedded MCP server.
