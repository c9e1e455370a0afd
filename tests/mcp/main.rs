//! MCP servers: the fixture server with its faults always, pinned public servers when `MCPANE_LIVE=1`.
