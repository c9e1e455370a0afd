//! The MCP client side: the only user of rmcp's client.
