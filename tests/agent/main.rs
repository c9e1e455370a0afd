//! The real driver with a scripted provider and real tools: what goes out, what comes back.
