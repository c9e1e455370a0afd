//! The user's editor and browser: the only processes that are started for the person at the screen, and only when they asked for it.
//!
//! What is started is data (`VISUAL`, `EDITOR`, `BROWSER` as the configuration read them). Nothing of a server or a model gets here but the URL that the
//! user agreed to open, and that only as an argument of its own.

use crate::domain::Phrase;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Lets the user edit a text in their editor, in a file that only they can read. Blocks until the editor ends; it has the terminal meanwhile.
/// `editor` is a command line, as in `code --wait`.
pub fn edit(editor: Option<&str>, text: &str, extension: &str) -> Result<String, Phrase> {
    let Some(editor) = editor.map(str::trim).filter(|editor| !editor.is_empty()) else {
        return Err(Phrase::new("pane.editor_missing"));
    };
    let failed = |error: &dyn std::fmt::Display| Phrase::new("pane.editor_failed").with("error", error);
    let suffix = format!(".{extension}");
    let mut file = tempfile::Builder::new().prefix("mcpane-").suffix(&suffix).tempfile().map_err(|e| failed(&e))?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(|e| failed(&e))?;
    // The variable may hold arguments and quotes; the shell knows what they mean. The path stays an argument of its own.
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file.path());
    let status = command.status().map_err(|e| failed(&e))?;
    if !status.success() {
        return Err(failed(&status));
    }
    // Many editors write a new file in the old one's place, so it is opened again by its name.
    let mut edited = String::new();
    std::fs::File::open(file.path()).and_then(|mut file| file.read_to_string(&mut edited)).map_err(|e| failed(&e))?;
    Ok(edited)
}

/// Opens a URL in the user's browser: `browser` if they named one, else what the system has. Only http and https.
pub fn open_url(browser: Option<&str>, url: &str) -> Result<(), Phrase> {
    let failed = |error: &dyn std::fmt::Display| Phrase::new("pane.browser_failed").with("error", error);
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(failed(&url));
    }
    let system = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let program = browser.map(str::trim).filter(|browser| !browser.is_empty()).unwrap_or(system);
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A browser that stays must not die with us, nor get our signals.
    command.process_group(0);
    let mut child = command.spawn().map_err(|e| failed(&e))?;
    // A starter ends at once and says how it went; a browser itself stays, which is as good.
    for _ in 0..20 {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(&status)),
            Ok(None) => std::thread::sleep(std::time::Duration::from_millis(50)),
            Err(error) => return Err(failed(&error)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_with_arguments_changes_the_text() {
        assert_eq!(edit(Some("sed -i -e s/a/b/"), "a\n", "md"), Ok("b\n".to_owned()));
        assert_eq!(edit(Some("false"), "a", "md").unwrap_err().key, "pane.editor_failed");
        assert_eq!(edit(None, "a", "md").unwrap_err().key, "pane.editor_missing");
    }

    #[test]
    fn only_the_web_is_opened() {
        assert_eq!(open_url(Some("true"), "https://example.org"), Ok(()));
        assert_eq!(open_url(Some("false"), "https://example.org").unwrap_err().key, "pane.browser_failed");
        assert!(open_url(Some("true"), "file:///etc/passwd").is_err());
        assert!(open_url(Some("true"), "--version").is_err());
    }
}
