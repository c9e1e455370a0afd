//! An MCP server for tests, with faults on request.

fn main() {}
