//! Wire formats and dialects against recorded streams.
