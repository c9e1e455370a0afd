//! Secrets become marks before anything is written: known values, and fields with secret names.
