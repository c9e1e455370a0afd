//! Arguments, runtime, run, print the final error.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcpane::app::main(std::env::args_os().collect())
}
