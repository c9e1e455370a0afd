//! Results for a model: one text, within a budget.
//!
//! Owns: leaving out structured content that the text already says, describing media, cutting a long text at both ends and spilling it whole to
//! a file that `read_file` may read on. What the user sees (`content`) stays whole up to [`MOST_SHOWN`]: more than that nobody reads on a screen, and it
//! would be kept in memory and in the journal; the file has it.
//!
//! **Invariant:** what a model is given is never longer than the budget, and always holds the beginning and the end.

use super::ends::{self, Cut};
use super::media;
use super::spill::Spill;
use crate::domain::{Blob, CallId, Content, ToolOutcome};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::path::Path;

/// Room kept free for the note between head and tail, beside the file's path.
pub const NOTE: usize = 320;

/// Largest text of a result that is kept as it is, bytes.
const MOST_SHOWN: usize = 1024 * 1024;

/// Makes an outcome fit for a model. Blocking: writes files.
pub fn fit(outcome: ToolOutcome, call: CallId, budget: usize, spill: &Spill) -> ToolOutcome {
    match outcome {
        ToolOutcome::Done { content, is_error, for_model, spilled, millis } => {
            let fitted = match for_model {
                // The tool knew better what a model needs; only the size is held.
                Some(text) => Fitted { text: Some(shorten(&text, budget)), spilled },
                None => fit_content(&content, call, budget, spill),
            };
            let content = content.into_iter().map(|block| kept(block, fitted.spilled.as_deref())).collect();
            ToolOutcome::Done { content, is_error, for_model: fitted.text, spilled: fitted.spilled, millis }
        }
        ToolOutcome::Failed { message, may_have_run } => {
            ToolOutcome::Failed { message: shorten(&message, budget), may_have_run }
        }
        other => other,
    }
}

/// A block as it is kept for people.
fn kept(block: Content, spilled: Option<&str>) -> Content {
    let short = |text: String| {
        ends::fit(&text, MOST_SHOWN, NOTE + spilled.map_or(0, |path| 2 * path.len()), |cut| match spilled {
            Some(path) => left_out(cut, Path::new(path)),
            None => format!("[… {} ({}) left out here …]", count(cut.lines, "line"), media::size(cut.bytes)),
        })
    };
    match block {
        Content::Text { text } if text.len() > MOST_SHOWN => Content::Text { text: short(text) },
        Content::Resource { uri, mime, text: Some(text), blob } if text.len() > MOST_SHOWN => {
            Content::Resource { uri, mime, text: Some(short(text)), blob }
        }
        Content::Json { value } | Content::Unknown { raw: value } if is_larger(&value, MOST_SHOWN) => {
            Content::Text { text: short(value.to_string()) }
        }
        other => other,
    }
}

/// Whether a value's JSON text has more bytes than this. Costs no more than that.
fn is_larger(value: &Value, most: usize) -> bool {
    struct Left(usize);
    impl std::io::Write for Left {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::WriteZero)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Left(most), value).is_err()
}

struct Fitted {
    text: Option<String>,
    spilled: Option<String>,
}

fn fit_content(content: &[Content], call: CallId, budget: usize, spill: &Spill) -> Fitted {
    let whole = text_of(content, call, spill);
    if whole.len() > budget {
        let (text, spilled) = match spill.text(call, &whole) {
            Ok(path) => {
                let spare = NOTE + 2 * path.as_os_str().len();
                (ends::fit(&whole, budget, spare, |cut| left_out(cut, &path)), Some(path.display().to_string()))
            }
            Err(error) => (ends::fit(&whole, budget, NOTE, |cut| lost(cut, &error.to_string())), None),
        };
        return Fitted { text: Some(text), spilled };
    }
    let differs = whole != crate::domain::content::plain(content);
    Fitted { text: differs.then_some(whole), spilled: None }
}

/// The note where something is missing and a file has it.
pub fn left_out(cut: &Cut, path: &Path) -> String {
    let path = path.display().to_string();
    format!(
        "[… {} ({}) left out here. The whole result is in {path}; to read on: read_file {{\"path\": {}, \"start_line\": {}}} …]",
        count(cut.lines, "line"),
        media::size(cut.bytes),
        Value::from(path.as_str()),
        cut.from
    )
}

/// The note where something is missing and nothing has it.
pub fn lost(cut: &Cut, why: &str) -> String {
    let why = ends::fit(why, 120, 0, |_| String::new());
    format!(
        "[… {} ({}) left out here; they could not be saved: {why} …]",
        count(cut.lines, "line"),
        media::size(cut.bytes)
    )
}

fn shorten(text: &str, budget: usize) -> String {
    ends::fit(text, budget, NOTE, |cut| {
        format!("[… {} ({}) left out here …]", count(cut.lines, "line"), media::size(cut.bytes))
    })
}

/// `1 line`, `2 lines`.
pub fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn text_of(content: &[Content], call: CallId, spill: &Spill) -> String {
    let duplicate = duplicate(content);
    let mut parts = Vec::new();
    for (index, block) in content.iter().enumerate() {
        if duplicate == Some(index) {
            continue;
        }
        parts.push(match block {
            Content::Image { mime, data } => medium("image", mime, data, call, parts.len() + 1, spill),
            Content::Audio { mime, data } => medium("audio", mime, data, call, parts.len() + 1, spill),
            Content::Resource { uri, mime, text: None, blob: Some(data) } => {
                let mime = mime.as_deref().unwrap_or("application/octet-stream");
                let what = medium("resource", mime, data, call, parts.len() + 1, spill);
                format!("{uri}: {what}")
            }
            other => other.to_plain(),
        });
    }
    parts.join("\n")
}

/// `[image png 640×480, 12 KB, saved as …]`.
fn medium(kind: &str, mime: &str, data: &Blob, call: CallId, number: usize, spill: &Spill) -> String {
    let what = media::describe(kind, mime, data);
    match STANDARD.decode(data.base64.as_bytes()) {
        Ok(bytes) => match spill.data(call, number, media::extension(mime), &bytes) {
            Ok(path) => format!("[{what}, saved as {}]", path.display()),
            Err(_) => format!("[{what}]"),
        },
        Err(_) => format!("[{what}, but it is not valid base64]"),
    }
}

/// The structured block that the text blocks say already. Servers send both, as MCP asks them to; some wrap the structured one in `result`,
/// and some send each element of a list as a block of its own.
fn duplicate(content: &[Content]) -> Option<usize> {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|block| match block {
            Content::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    if texts.is_empty() {
        return None;
    }
    content.iter().position(|block| match block {
        Content::Json { value } => {
            says(&texts, value)
                || value
                    .as_object()
                    .filter(|object| object.len() == 1)
                    .and_then(|object| object.get("result"))
                    .is_some_and(|inner| says(&texts, inner))
        }
        _ => false,
    })
}

fn says(texts: &[&str], value: &Value) -> bool {
    let same = |text: &str, value: &Value| {
        value.as_str() == Some(text) || serde_json::from_str::<Value>(text).is_ok_and(|said| said == *value)
    };
    match (texts, value) {
        ([text], value) if same(text, value) => true,
        (texts, Value::Array(items)) if texts.len() == items.len() => {
            texts.iter().zip(items).all(|(text, item)| same(text, item))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Redactor;
    use proptest::prelude::*;
    use serde_json::json;

    fn spill() -> (tempfile::TempDir, Spill) {
        let dir = tempfile::tempdir().unwrap();
        let spill = Spill::new(dir.path().join("spill"), Redactor::default());
        (dir, spill)
    }

    fn done(content: Vec<Content>) -> ToolOutcome {
        ToolOutcome::Done { content, is_error: false, for_model: None, spilled: None, millis: 3 }
    }

    fn fitted(content: Vec<Content>, budget: usize, spill: &Spill) -> (Option<String>, Option<String>) {
        match fit(done(content.clone()), CallId(9), budget, spill) {
            ToolOutcome::Done { content: kept, for_model, spilled, millis: 3, .. } if kept == content => {
                (for_model, spilled)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn small_results_pass_unchanged_and_touch_no_disk() {
        let (_dir, spill) = spill();
        assert_eq!(
            fitted(vec![Content::text("a"), Content::Json { value: json!({"b": 1}) }], 1000, &spill),
            (None, None)
        );
        assert!(!spill.directory().exists());
    }

    #[test]
    fn one_of_text_and_structure_is_sent() {
        let (_dir, spill) = spill();
        let json = |value| Content::Json { value };
        for content in [
            vec![Content::text("{\n  \"a\": 1\n}"), json(json!({"a": 1}))],
            vec![Content::text("sunny"), json(json!({"result": "sunny"}))],
            vec![Content::text("{\"a\":1}"), Content::text("2"), json(json!({"result": [{"a": 1}, 2]}))],
        ] {
            let (text, _) = fitted(content, 1000, &spill);
            assert!(!text.unwrap().contains("result"), "the structured one is left out");
        }
        let both = vec![Content::text("24 °C"), json(json!({"celsius": 24}))];
        assert_eq!(fitted(both, 1000, &spill).0, None, "they say different things: both are sent");
    }

    #[test]
    fn what_nobody_reads_on_a_screen_is_kept_in_the_file_alone() {
        let (_dir, spill) = spill();
        let long = "x".repeat(3 * MOST_SHOWN);
        let content = vec![
            Content::text(long.clone()),
            Content::Json { value: json!({ "a": [long] }) },
            Content::Json { value: json!({ "a": 1 }) },
        ];
        let outcome = ToolOutcome::Done { content, is_error: false, for_model: None, spilled: None, millis: 1 };
        let ToolOutcome::Done { content, spilled, .. } = fit(outcome, CallId(7), 4000, &spill) else { panic!() };
        let path = spilled.unwrap();
        for block in &content[..2] {
            let Content::Text { text } = block else { panic!("{block:?}") };
            assert!(text.len() <= MOST_SHOWN && text.contains(&path) && text.ends_with(['x', '}']));
        }
        assert_eq!(content[2], Content::Json { value: json!({ "a": 1 }) });
        assert!(std::fs::metadata(path).unwrap().len() > 6 * MOST_SHOWN as u64);
    }

    #[test]
    fn huge_results_go_to_a_file_and_the_text_says_how_to_read_on() {
        let (_dir, spill) = spill();
        let text: String = (1..=5000).map(|n| format!("row {n}\n")).collect();
        let (cut, file) = fitted(vec![Content::text(text.clone())], 4000, &spill);
        let (cut, file) = (cut.unwrap(), file.unwrap());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        assert!(cut.len() <= 4000 && cut.starts_with("row 1\n") && cut.ends_with("row 5000\n"));
        let note = cut.lines().find(|line| line.starts_with('[')).unwrap();
        let from: usize = note.split("\"start_line\": ").nth(1).unwrap().split('}').next().unwrap().parse().unwrap();
        assert!(cut.contains(&format!("row {}\n", from - 1)) && !cut.contains(&format!("row {from}\n")), "{note}");
        assert!(note.contains(&file) && note.contains("lines ("), "{note}");
    }

    #[test]
    fn media_are_described_and_saved() {
        let (_dir, spill) = spill();
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x03".to_vec();
        png.extend([0; 100]);
        let image = Content::Image { mime: "image/png".into(), data: Blob::from_base64(STANDARD.encode(&png)) };
        let (text, _) = fitted(vec![Content::text("here"), image], 1000, &spill);
        let text = text.unwrap();
        let path = spill.directory().join("9-2.png");
        assert_eq!(text, format!("here\n[image png 2×3, 124 bytes, saved as {}]", path.display()));
        assert_eq!(std::fs::read(path).unwrap(), png);
    }

    #[test]
    fn an_unwritable_spill_is_said() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let spill = Spill::new(dir.path().join("file/spill"), Redactor::default());
        let (text, file) = fitted(vec![Content::text("x\n".repeat(9000))], 3000, &spill);
        assert!(file.is_none() && text.unwrap().contains("could not be saved"));
    }

    #[test]
    fn failures_are_held_to_the_budget_too() {
        let (_dir, spill) = spill();
        let long = ToolOutcome::Failed { message: "e".repeat(9000), may_have_run: true };
        match fit(long, CallId(1), 1000, &spill) {
            ToolOutcome::Failed { message, may_have_run: true } => assert!(message.len() <= 1000),
            other => panic!("{other:?}"),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn never_over_budget_and_both_ends(
            blocks in proptest::collection::vec("(字|[a-z ]|\n|🦀){0,900}", 1..6), budget in 1200usize..4000, json in any::<bool>(),
        ) {
            let (_dir, spill) = spill();
            let mut content: Vec<Content> = blocks.iter().map(Content::text).collect();
            if json { content.push(Content::Json { value: json!({"rows": blocks}) }); }
            let whole = crate::domain::content::plain(&content);
            let (text, file) = fitted(content, budget, &spill);
            match text {
                None => prop_assert!(whole.len() <= budget),
                Some(text) => {
                    prop_assert!(text.len() <= budget, "{} > {budget}", text.len());
                    prop_assert_eq!(text.chars().next(), whole.chars().next());
                    prop_assert_eq!(text.chars().last(), whole.chars().last());
                    let spilled = std::fs::read_to_string(file.unwrap()).unwrap();
                    prop_assert_eq!(spilled, whole);
                }
            }
        }
    }
}
