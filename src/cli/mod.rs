//! The command line: definitions, and what each subcommand needs of the rest.
//!
//! Owns flags and their texts (keys `cli.*` of the catalogue, so that `--help` speaks the user's language). A flag that is not built yet is not
//! offered. Does not run anything.

mod options;
pub mod replay;
pub mod run;
pub mod sessions;

pub use options::Options;

use crate::domain::model::DialectKind;
use crate::strings::Strings;
use clap::{Arg, ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;

/// The whole command line.
#[derive(Debug, Clone, Parser)]
#[command(name = "mcpane", version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do; none opens the full-screen program.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Flags of the full-screen program.
    #[command(flatten)]
    pub chat: Chat,
}

/// Subcommands.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// One task without a screen.
    Run(Box<run::Run>),
    /// Sessions that were kept.
    Sessions(sessions::Sessions),
    /// A recorded session on the screen.
    Replay(replay::Replay),
    /// The embedded MCP server on standard input and output.
    DemoServer,
    /// Completions for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// The manual page.
    Man,
    /// Ends process groups when its pipe closes.
    #[command(hide = true)]
    Guard,
}

/// Flags of the full-screen program.
#[derive(Debug, Clone, Default, Args)]
pub struct Chat {
    /// Sent at once.
    pub prompt: Vec<String>,
    /// Flags of every session.
    #[command(flatten)]
    pub options: Options,
}

/// `--dialect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "clap would print the docs of variants, in English, as help")]
pub enum Dialect {
    // By what the model can do.
    Auto,
    // Function calling.
    Native,
    // XML.
    Xml,
}

impl Dialect {
    /// The dialect, or `None` for the automatic choice.
    pub fn kind(self) -> Option<DialectKind> {
        match self {
            Self::Auto => None,
            Self::Native => Some(DialectKind::Native),
            Self::Xml => Some(DialectKind::Xml),
        }
    }
}

/// `--layout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "clap would print the docs of variants, in English, as help")]
pub enum Layout {
    // By the size of the terminal.
    Auto,
    // Three panes side by side.
    Split,
    // One pane at a time.
    Stack,
    // Everything in order in one pane.
    Timeline,
}

/// `--lang`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "clap would print the docs of variants, in English, as help")]
pub enum Lang {
    // English.
    En,
    // Chinese.
    Zh,
}

/// The definition of the command line, with its texts.
pub fn command(strings: &Strings) -> clap::Command {
    dress(Cli::command(), strings, "")
}

/// Reads the arguments. The error carries its own exit status: 0 for help and version, 2 for a mistake.
pub fn parse(arguments: impl IntoIterator<Item = OsString>, strings: &Strings) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command(strings).try_get_matches_from(arguments)?)
}

/// The value of `--lang` before anything is parsed: the texts of errors and help depend on it.
pub fn language_flag(arguments: &[OsString]) -> Option<String> {
    let mut arguments = arguments.iter().filter_map(|argument| argument.to_str()).take_while(|a| *a != "--");
    while let Some(argument) = arguments.next() {
        if argument == "--lang" {
            return arguments.next().map(str::to_owned);
        }
        if let Some(value) = argument.strip_prefix("--lang=") {
            return Some(value.to_owned());
        }
    }
    None
}

/// Gives a command and everything in it the texts of the catalogue.
fn dress(command: clap::Command, strings: &Strings, path: &str) -> clap::Command {
    let text = |key: String| strings.get(&key).to_owned();
    let about = text(format!("cli.about{path}"));
    // clap's own flags are made when it is too late to give them texts.
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    let version = Arg::new("version").short('V').long("version").action(ArgAction::Version);
    let mut command = command.about(about).long_about(None).disable_help_flag(true).arg(help);
    if path.is_empty() {
        command = command.disable_version_flag(true).arg(version);
    }
    command = command.mut_args(|argument| {
        let key = format!("cli.arg.{}", argument.get_id());
        argument.help(text(key)).long_help(None)
    });
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names {
        let path = format!("{path}_{}", name.replace('-', "_"));
        command = command.mut_subcommand(&name, |sub| dress(sub, strings, &path));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::Language;

    fn parsed(arguments: &[&str]) -> Result<Cli, clap::Error> {
        let all = std::iter::once("mcpane").chain(arguments.iter().copied()).map(OsString::from);
        parse(all, &Strings::default())
    }

    #[test]
    fn words_are_a_prompt_and_subcommands_are_subcommands() {
        let cli = parsed(&["-m", "demo", "what", "is", "this"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.chat.prompt, ["what", "is", "this"]);
        assert!(matches!(parsed(&["demo-server"]).unwrap().command, Some(Command::DemoServer)));
        assert_eq!(parsed(&["--no-such-flag"]).unwrap_err().exit_code(), 2);
        assert_eq!(parsed(&["--help"]).unwrap_err().exit_code(), 0);
    }

    #[test]
    fn every_text_stands_in_the_catalogue_in_both_languages() {
        for language in [Language::En, Language::Zh] {
            let mut commands = vec![command(&Strings::new(language))];
            while let Some(mut command) = commands.pop() {
                for help in [command.render_long_help(), command.render_help()] {
                    assert!(!help.to_string().contains("cli."), "{help}");
                }
                commands.extend(command.get_subcommands().cloned());
            }
        }
    }

    #[test]
    fn the_language_is_known_before_the_rest() {
        let flag = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            language_flag(&arguments)
        };
        assert_eq!(flag(&["mcpane", "--lang", "zh"]).as_deref(), Some("zh"));
        assert_eq!(flag(&["mcpane", "--lang=zh", "x"]).as_deref(), Some("zh"));
        assert_eq!(flag(&["mcpane", "--", "--lang", "zh"]), None);
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
