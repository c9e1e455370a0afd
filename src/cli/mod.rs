//! The command line: definitions and subcommands.
