//! Composition root: configuration → agent → front end. The only file that knows every layer.
