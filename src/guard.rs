//! The guard process: ends the process groups it was told about when its pipe closes, for whatever reason.
