//! The text of a parameter between its tags.
//!
//! **Reading.** One newline after the opening tag and one before the closing tag are layout. Short parameters (those that are
//! not `long`) are trimmed. `<![CDATA[…]]>` around the whole text is taken off and its inside read literally. Then character
//! entities: most models write `<` and `&` as they are, some escape everything, and file contents that hold `&amp;` on purpose
//! have raw `<` beside it. So a text is decoded only as a whole and only if it is consistent: it holds one of `&lt; &gt; &amp;
//! &quot; &apos;` or a numbered one, no raw `<`, and no `&` that starts nothing. A long parameter must in addition hold
//! `&lt;` or `&gt;` and no raw `>`. (Seen elsewhere: decoding always breaks XML files, cline#7698 and #2443; never decoding
//! breaks commands of models that escape, cline#611, void#601.)
//!
//! **Writing** for the history is the inverse: what reading would change goes into CDATA. **Invariant:** reading what was
//! written gives the same text.

use std::borrow::Cow;

const CDATA: &str = "<![CDATA[";

/// Whether a parameter holds whole files, edits or JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// It does not.
    Short,
    /// It does.
    Long,
}

/// The value of the raw text between the tags.
pub fn read(raw: &str, length: Length) -> String {
    let text = match length {
        Length::Short => raw.trim(),
        Length::Long => without_layout(raw),
    };
    if let Some(inside) = from_cdata(text.trim()) {
        return inside;
    }
    if is_escaped(text, length) { decode(text) } else { text.to_owned() }
}

/// The text between the tags of parameter `name` of `tool` that reads as `value`.
pub fn write(tool: &str, name: &str, value: &str, length: Length) -> String {
    let (closing, example) = (format!("</{name}>"), format!("<{tool}>"));
    let plain = match length {
        Length::Short if value.contains('\n') => format!("\n{value}\n"),
        Length::Short => value.to_owned(),
        Length::Long => format!("\n{value}\n"),
    };
    let is_plain = !value.contains(&closing) && !value.contains(&example) && read(&plain, length) == value;
    if is_plain { plain } else { to_cdata(value, &example) }
}

fn without_layout(raw: &str) -> &str {
    if let Some(rest) = raw.strip_prefix("\r\n") {
        return rest.strip_suffix("\r\n").unwrap_or(rest);
    }
    match raw.strip_prefix('\n') {
        Some(rest) => rest.strip_suffix('\n').unwrap_or(rest),
        None => raw,
    }
}

/// The inside of one or more CDATA sections with nothing around them.
fn from_cdata(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (inside, after) = rest.strip_prefix(CDATA)?.split_once("]]>")?;
        out.push_str(inside);
        rest = after;
    }
    text.starts_with(CDATA).then_some(out)
}

/// Sections in which no closing tag, no tag of the tool and no end of a section stands whole.
fn to_cdata(value: &str, tag: &str) -> String {
    let split = |out: String, at: &str, cut: usize| {
        let glued = format!("{}]]>{CDATA}{}", &at[..cut], &at[cut..]);
        out.replace(at, &glued)
    };
    // `]]>` first: the next steps put in section ends of their own.
    let inside =
        [("]]>", 2), ("</", 1), (tag, 1)].into_iter().fold(value.to_owned(), |out, (at, cut)| split(out, at, cut));
    format!("{CDATA}{inside}]]>")
}

fn is_escaped(text: &str, length: Length) -> bool {
    if !text.contains('&') || text.contains('<') {
        return false;
    }
    if length == Length::Long && (text.contains('>') || !(text.contains("&lt;") || text.contains("&gt;"))) {
        return false;
    }
    text.split('&').skip(1).all(|after| entity(after).is_some())
}

/// The character of the entity that `after`, the text after an `&`, starts with, and the entity's length without the `&`.
fn entity(after: &str) -> Option<(char, usize)> {
    let end = after.bytes().take(12).position(|byte| byte == b';')?;
    let name = after.get(..end)?;
    let c = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?).filter(|c| !c.is_control())?
        }
    };
    Some((c, end + 1))
}

fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('&');
    out.push_str(pieces.next().unwrap_or_default());
    for after in pieces {
        // Only text in which every `&` starts an entity is decoded.
        let (c, length) = entity(after).unwrap_or(('&', 0));
        out.push(c);
        out.push_str(&after[length..]);
    }
    out
}

/// Text with every occurrence of a closing tag made harmless, for thoughts in the history.
pub fn without_closing_tags<'a>(text: &'a str, tags: &[&str]) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for tag in tags {
        let closing = format!("</{tag}>");
        if text.contains(&closing) {
            text = Cow::Owned(text.replace(&closing, &format!("< /{tag}>")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn layout_is_taken_off() {
        for (raw, short, long) in [
            ("a.txt", "a.txt", "a.txt"),
            (" a.txt ", "a.txt", " a.txt "),
            ("\na.txt\n", "a.txt", "a.txt"),
            ("\r\na\r\nb\r\n", "a\r\nb", "a\r\nb"),
            ("\n\n  a\n\n", "a", "\n  a\n"),
            ("\n  a\n  ", "a", "  a\n  "),
            ("", "", ""),
            ("\n", "", ""),
        ] {
            assert_eq!(read(raw, Length::Short), short, "{raw:?}");
            assert_eq!(read(raw, Length::Long), long, "{raw:?}");
        }
    }

    #[test]
    fn entities_are_decoded_only_where_everything_is_escaped() {
        for (raw, short, long) in [
            ("a &amp;&amp; b", "a && b", "a &amp;&amp; b"),
            ("if a &lt; b &amp; c", "if a < b & c", "if a < b & c"),
            ("Tom &amp; Jerry", "Tom & Jerry", "Tom &amp; Jerry"),
            ("&quot;x&#39; &#x4e2d;", "\"x' 中", "&quot;x&#39; &#x4e2d;"),
            ("<p>Tom &amp; Jerry &lt;</p>", "<p>Tom &amp; Jerry &lt;</p>", "<p>Tom &amp; Jerry &lt;</p>"),
            ("a && b &lt; c", "a && b &lt; c", "a && b &lt; c"),
            ("a &lt; b > c", "a < b > c", "a &lt; b > c"),
            ("x &nbsp; &lt;", "x &nbsp; &lt;", "x &nbsp; &lt;"),
            ("&", "&", "&"),
            ("&#0;&lt;", "&#0;&lt;", "&#0;&lt;"),
            ("&amp;lt;", "&lt;", "&amp;lt;"),
        ] {
            assert_eq!(read(raw, Length::Short), short, "{raw:?}");
            assert_eq!(read(raw, Length::Long), long, "{raw:?}");
        }
    }

    #[test]
    fn cdata_is_taken_off() {
        assert_eq!(read("\n<![CDATA[a &lt; <b>\n]]>\n", Length::Long), "a &lt; <b>\n");
        assert_eq!(read("<![CDATA[a]]]]><![CDATA[>b]]>", Length::Short), "a]]>b");
        assert_eq!(read("<![CDATA[a]]> b", Length::Short), "<![CDATA[a]]> b");
        assert_eq!(read("<![CDATA[]]>", Length::Short), "");
    }

    #[test]
    fn written_plainly_where_that_is_possible() {
        assert_eq!(write("tool", "path", "src/a.rs", Length::Short), "src/a.rs");
        assert_eq!(write("tool", "command", "a\nb", Length::Short), "\na\nb\n");
        assert_eq!(write("tool", "content", "a < b && c\n", Length::Long), "\na < b && c\n\n");
        assert_eq!(write("tool", "path", " a", Length::Short), "<![CDATA[ a]]>");
        assert_eq!(write("tool", "content", "x</content>", Length::Long), "<![CDATA[x<]]><![CDATA[/content>]]>");
        assert_eq!(write("tool", "command", "echo '&lt;'", Length::Short), "<![CDATA[echo '&lt;']]>");
    }

    proptest! {
        #[test]
        fn reading_undoes_writing(
            value in "([a <>&;\n\r\\]\\[!/]|</a>|</content>|<tool>|&lt;|&amp;|]]>|<!\\[CDATA\\[|é){0,12}", long in any::<bool>()
        ) {
            let length = if long { Length::Long } else { Length::Short };
            let written = write("tool", "content", &value, length);
            prop_assert!(!written.contains("</content>") && !written.contains("<tool>"));
            prop_assert_eq!(read(&written, length), value);
        }
    }
}
