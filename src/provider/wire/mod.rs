//! HTTP wire formats, one file each. Pure: request → JSON, frame → events.
