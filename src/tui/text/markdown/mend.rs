//! The end of a text that is still being written: marks that are not closed yet are closed, so that nothing flashes up as raw signs.

/// What to show for the end of a growing document, where that differs from it: emphasis and code that is still open is closed, a mark that has
/// nothing behind it yet is left out. `None` where the text can be shown as it is.
pub fn mend(slice: &str) -> Option<String> {
    let line_at = slice.rfind('\n').map_or(0, |newline| newline + 1);
    let line = &slice[line_at..];
    let trimmed = line.trim_matches([' ', '\t']);
    // Not known yet: an underline of a heading, a rule, a bullet, a fence. (Under a paragraph `-` would make it a heading for a moment.)
    if !trimmed.is_empty()
        && trimmed.bytes().all(|b| matches!(b, b'-' | b'=' | b'*' | b'+' | b'`' | b'~' | b'_' | b'#'))
    {
        return Some(slice[..line_at].to_owned());
    }
    // Emphasis may have begun in an earlier line of the same paragraph.
    let paragraph = slice.rfind("\n\n").map_or(0, |blank| blank + 2);
    let open = open_marks(&slice[paragraph..]);
    if open.is_empty() {
        return None;
    }
    let mut out = slice.to_owned();
    for mark in open.iter().rev() {
        // Nothing behind it yet: it would stand there as itself.
        if out.ends_with(mark) {
            out.truncate(out.len() - mark.len());
        } else if out.ends_with([' ', '\n']) && *mark != "`" {
            // A closing mark binds only to what it touches.
            let end = out.trim_end().len();
            out.insert_str(end, mark);
        } else {
            out.push_str(mark);
        }
    }
    Some(out)
}

/// The marks that are open at the end, outermost first.
fn open_marks(text: &str) -> Vec<&'static str> {
    let bytes = text.as_bytes();
    let mut open: Vec<&'static str> = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let b = bytes[i];
        let run = bytes[i..].iter().take_while(|&&next| next == b).count();
        let in_code = open.last() == Some(&"`");
        match b {
            b'\\' => {
                i += 2;
                continue;
            }
            b'`' if run == 1 => toggle(&mut open, "`"),
            b'*' | b'~' if !in_code => {
                let mark = match (b, run) {
                    (b'*', 2) => Some("**"),
                    (b'*', 1) => Some("*"),
                    (b'~', 2) => Some("~~"),
                    _ => None,
                };
                let touches_after = bytes.get(i + run).is_none_or(|next| !next.is_ascii_whitespace());
                let touches_before = i > 0 && !bytes[i - 1].is_ascii_whitespace();
                if let Some(mark) = mark
                    && (if open.contains(&mark) { touches_before } else { touches_after })
                {
                    toggle(&mut open, mark);
                }
            }
            _ => {}
        }
        i += run;
    }
    open
}

fn toggle(open: &mut Vec<&'static str>, mark: &'static str) {
    match open.iter().rposition(|m| *m == mark) {
        Some(at) => open.truncate(at),
        None => open.push(mark),
    }
}

#[cfg(test)]
mod tests {
    use super::mend;

    fn shown(text: &str) -> String {
        mend(text).unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn closes_what_is_open() {
        assert_eq!(shown("plain"), "plain");
        assert_eq!(shown("a **bold te"), "a **bold te**");
        assert_eq!(shown("a **bold "), "a **bold** ");
        assert_eq!(shown("a **"), "a ");
        assert_eq!(shown("a `co"), "a `co`");
        assert_eq!(shown("a **b `c"), "a **b `c`**");
        assert_eq!(shown("done **b** and `c`"), "done **b** and `c`");
        assert_eq!(shown("2 * 3"), "2 * 3");
        assert_eq!(shown("* item"), "* item");
        assert_eq!(shown("`a ** b"), "`a ** b`");
    }

    #[test]
    fn leaves_out_what_is_not_known_yet() {
        assert_eq!(shown("Items:\n-"), "Items:\n");
        assert_eq!(shown("x\n``"), "x\n");
        assert_eq!(shown("x\n##"), "x\n");
        assert_eq!(shown("x\n- a"), "x\n- a");
    }
}
