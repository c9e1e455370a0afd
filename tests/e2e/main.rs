//! The real binary in a PTY, with a local model server and real MCP server processes.
