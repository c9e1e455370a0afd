//! Composition root: configuration → agent → front end. The only file that knows every layer.

use crate::cli::{self, Command};
use crate::strings::{Language, Strings};
use crate::{demo_server, guard};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// The program.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let strings = Strings::new(Language::En);
    let cli = match cli::parse(arguments, &strings) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    match cli.command {
        Some(Command::DemoServer) => demo_server::run(),
        Some(Command::Guard) => guard::run(),
        Some(Command::Completions { shell }) => {
            let mut command = cli::command(&strings);
            clap_complete::generate(shell, &mut command, "mcpane", &mut std::io::stdout());
            ExitCode::SUCCESS
        }
        Some(Command::Man) => {
            let mut page = Vec::new();
            let written = clap_mangen::Man::new(cli::command(&strings)).render(&mut page);
            let written = written.and_then(|()| std::io::stdout().write_all(&page));
            if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        None => ExitCode::SUCCESS,
    }
}
