//! Tracing to a file; never to the screen.
