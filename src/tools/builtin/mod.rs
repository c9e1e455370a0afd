//! Built-in tools, one file each.
