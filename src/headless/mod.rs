//! The same events, printed.
