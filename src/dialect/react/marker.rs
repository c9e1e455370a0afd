//! The words at the beginnings of lines that tell the parts of a reply.
//!
//! `Thought:`, `Action:`, `Action Input:`, `Observation:`, `Final Answer:` in any case, in English or Chinese, with a plain or a full-width
//! colon, in bold or as a heading. A quoted line (`> Action:`) or a list's is none.
//! **Invariant:** what is decided about the beginning of a line is not changed by what follows it; [`LONGEST`] bytes always decide.

/// What a line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A thought.
    Thought,
    /// The name of a tool.
    Action,
    /// What goes into it.
    Input,
    /// Its result, which only we may write.
    Observation,
    /// The answer to the user.
    Answer,
}

/// What is known of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// It may still begin with a marker.
    Open,
    /// It does not.
    Nothing,
    /// It does; what it introduces begins at this byte of the line.
    Found(Marker, usize),
}

/// Whether more of the line may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// It may.
    ToCome,
    /// This is all.
    Gone,
}

/// So many bytes of a line always decide.
pub const LONGEST: usize = 64;
/// Spaces before a marker. More make a block of code.
const INDENT: usize = 3;
/// Marks of headings and strong text before, or after, the word.
const MARKS: usize = 8;

const WORDS: [(&str, Marker); 20] = [
    ("thought", Marker::Thought),
    ("thoughts", Marker::Thought),
    ("thinking", Marker::Thought),
    ("action input", Marker::Input),
    ("action_input", Marker::Input),
    ("actioninput", Marker::Input),
    ("action", Marker::Action),
    ("observation", Marker::Observation),
    ("final answer", Marker::Answer),
    ("final_answer", Marker::Answer),
    ("思考", Marker::Thought),
    ("想法", Marker::Thought),
    ("行动输入", Marker::Input),
    ("动作输入", Marker::Input),
    ("行动", Marker::Action),
    ("动作", Marker::Action),
    ("观察", Marker::Observation),
    ("观察结果", Marker::Observation),
    ("最终答案", Marker::Answer),
    ("最终回答", Marker::Answer),
];

/// Looks at the beginning of a line.
pub fn sight(line: &str, rest: Rest) -> Sight {
    let found = look(line, rest);
    match found {
        Sight::Open if rest == Rest::Gone || line.len() >= LONGEST => Sight::Nothing,
        found => found,
    }
}

fn look(line: &str, rest: Rest) -> Sight {
    let indent = line.bytes().take_while(|byte| *byte == b' ').count();
    if indent > INDENT {
        return Sight::Nothing;
    }
    let marks = line[indent..].bytes().take_while(|byte| matches!(byte, b'#' | b'*' | b'_' | b' ')).count();
    if marks > MARKS {
        return Sight::Nothing;
    }
    let word = &line[indent + marks..];
    if word.is_empty() {
        return Sight::Open;
    }
    let strong = line[indent..indent + marks].bytes().filter(|byte| matches!(byte, b'*' | b'_')).count();
    let mut open = false;
    for (name, marker) in WORDS {
        match after(word, name) {
            None => {}
            Some("") => open = true,
            Some(behind) => match colon(behind, strong, rest) {
                Colon::Until(skipped) => return Sight::Found(marker, line.len() - behind.len() + skipped),
                Colon::Open => open = true,
                Colon::Absent => {}
            },
        }
    }
    if open { Sight::Open } else { Sight::Nothing }
}

/// What stands behind the name at the beginning of `word`; `Some("")` where `word` may still become it; `None` where it cannot.
fn after<'a>(word: &'a str, name: &str) -> Option<&'a str> {
    let shared = word.len().min(name.len());
    let same = word.as_bytes()[..shared].eq_ignore_ascii_case(&name.as_bytes()[..shared]);
    same.then(|| word.get(name.len()..).unwrap_or_default())
}

/// What stands behind a word.
enum Colon {
    /// More must come first.
    Open,
    /// No colon.
    Absent,
    /// A colon; it and the strong text that it stands in (`**Thought:** x`) end at this byte.
    Until(usize),
}

fn colon(behind: &str, strong: usize, rest: Rest) -> Colon {
    let marks = behind.bytes().take_while(|byte| matches!(byte, b'*' | b'_' | b' ')).count();
    if marks > MARKS {
        return Colon::Absent;
    }
    let Some(mark) = behind[marks..].chars().next() else { return Colon::Open };
    if !matches!(mark, ':' | '：') {
        return Colon::Absent;
    }
    let end = marks + mark.len_utf8();
    let closed = behind[..marks].bytes().filter(|byte| *byte != b' ').count();
    let wanted = strong.saturating_sub(closed);
    let closing = behind[end..].bytes().take(wanted).take_while(|byte| matches!(byte, b'*' | b'_')).count();
    let all = closing == wanted || end + closing < behind.len() || rest == Rest::Gone;
    if all { Colon::Until(end + closing) } else { Colon::Open }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(line: &str) -> Option<(Marker, &str)> {
        match sight(line, Rest::Gone) {
            Sight::Found(marker, at) => Some((marker, &line[at..])),
            _ => None,
        }
    }

    #[test]
    fn markers_however_they_are_written() {
        for (line, marker, behind) in [
            ("Thought: I", Marker::Thought, " I"),
            ("thought:x", Marker::Thought, "x"),
            ("**Thought:** I", Marker::Thought, " I"),
            ("**Thought**: I", Marker::Thought, " I"),
            ("**Thought:", Marker::Thought, ""),
            ("Thought: **strong**", Marker::Thought, " **strong**"),
            ("__Action__ : x", Marker::Action, " x"),
            ("### Action: x", Marker::Action, " x"),
            ("### **Action:** x", Marker::Action, " x"),
            ("ACTION INPUT: {}", Marker::Input, " {}"),
            ("Action_Input：{}", Marker::Input, "{}"),
            ("  Observation: 3", Marker::Observation, " 3"),
            ("Final Answer：好", Marker::Answer, "好"),
            ("思考：我", Marker::Thought, "我"),
            ("行动: x", Marker::Action, " x"),
            ("行动输入：{}", Marker::Input, "{}"),
            ("最终答案：24", Marker::Answer, "24"),
        ] {
            assert_eq!(found(line), Some((marker, behind)), "{line}");
        }
    }

    #[test]
    fn other_lines() {
        for line in [
            "",
            "Thought",
            "Thoughtful: x",
            "- Action: x",
            "> Action: x",
            "    Action: x",
            "Actions: x",
            "An Action: x",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
        assert_eq!(sight("***", Rest::ToCome), Sight::Open);
        assert_eq!(sight("Action In", Rest::ToCome), Sight::Open);
        assert_eq!(sight("**Thought:", Rest::ToCome), Sight::Open, "its stars may follow");
        assert_eq!(sight("Thought:", Rest::ToCome), Sight::Found(Marker::Thought, 8));
        assert_eq!(sight("Actor", Rest::ToCome), Sight::Nothing);
    }

    proptest! {
        #[test]
        fn decided_once(line in "[ #*_]{0,5}(Thought|action|Action Input|行动|行动输入|x)?[ *_]{0,3}[:：]?[*_ ]{0,3}[a-c中 ]{0,60}") {
            let mut decided = None;
            for at in (0..=line.len()).filter(|&at| line.is_char_boundary(at)) {
                let now = sight(&line[..at], Rest::ToCome);
                match decided {
                    None if now != Sight::Open => decided = Some(now),
                    Some(before) => prop_assert_eq!(now, before, "{:?}", &line[..at]),
                    None => prop_assert!(at < LONGEST),
                }
            }
            if let Some(decided) = decided {
                prop_assert_eq!(sight(&line, Rest::Gone), decided);
            }
        }
    }
}
