//! Arguments, runtime, run, print the final error.

fn main() {}
