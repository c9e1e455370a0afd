//! Patterns with wildcards. Pure.
//!
//! Owns: reading a pattern (`*`, `**`, `\` as in the header of `rule`) and matching text against it. All positions of a pattern are advanced at
//! once, so the time is bounded by the product of both lengths: no pattern and no text makes it slow.

/// Where relative patterns start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The project directory: absolute, symlinks resolved, no trailing slash.
    pub project: String,
    /// The user's home directory, likewise.
    pub home: Option<String>,
}

/// For wildcards that match every character.
pub(super) fn anything(_: char) -> bool {
    true
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    /// This character.
    One(char),
    /// Any run.
    Any,
    /// Any run without `/`.
    AnyHere,
    /// Nothing, or a run that ends in `/`.
    AnyBelow,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob {
    tokens: Vec<Token>,
    /// For files: the directory itself, where the pattern ends in `/**`.
    itself: Option<String>,
}

impl Glob {
    pub(super) fn plain(text: &str) -> Self {
        let tokens = characters(text).map(|(c, escaped)| if c == '*' && !escaped { Token::Any } else { Token::One(c) });
        Self { tokens: tokens.collect(), itself: None }
    }

    /// A pattern of files, made absolute. The error is the key of a phrase.
    pub(super) fn file(text: &str, place: &Place) -> Result<Self, &'static str> {
        let (base, rest) = if let Some(rest) = text.strip_prefix("~/") {
            (place.home.as_deref().ok_or("policy.rule_home")?, rest)
        } else if let Some(rest) = text.strip_prefix('/') {
            ("", rest)
        } else {
            (place.project.as_str(), text.strip_prefix("./").unwrap_or(text))
        };
        if rest.split('/').any(|step| step == ".." || step == ".") {
            return Err("policy.rule_dots");
        }
        let mut tokens: Vec<Token> = base.trim_end_matches('/').chars().chain(['/']).map(Token::One).collect();
        let mut rest: Vec<(char, bool)> = characters(rest.trim_end_matches('/')).collect();
        if rest.is_empty() {
            return Err("policy.rule_dots");
        }
        let below = rest.ends_with(&[('/', false), ('*', false), ('*', false)]) || rest == [('*', false); 2];
        let mut itself = None;
        if below {
            let literal = &rest[..rest.len() - 2];
            if literal.iter().all(|(c, escaped)| *c != '*' || *escaped) {
                let name: String = literal.iter().map(|(c, _)| *c).collect();
                itself = Some(format!("{}/{}", base.trim_end_matches('/'), name).trim_end_matches('/').to_owned());
            }
        }
        let mut at = 0;
        rest.push(('\0', true));
        while at + 1 < rest.len() {
            match (rest[at], rest.get(at + 1), rest.get(at + 2)) {
                (('*', false), Some(('*', false)), Some(('/', false))) => {
                    tokens.push(Token::AnyBelow);
                    at += 3;
                }
                (('*', false), Some(('*', false)), _) => {
                    tokens.push(Token::Any);
                    at += 2;
                }
                (('*', false), ..) => {
                    tokens.push(Token::AnyHere);
                    at += 1;
                }
                ((c, _), ..) => {
                    tokens.push(Token::One(c));
                    at += 1;
                }
            }
        }
        Ok(Self { tokens, itself })
    }

    pub(super) fn has_wildcard(&self) -> bool {
        self.tokens.iter().any(|token| !matches!(token, Token::One(_)))
    }

    pub(super) fn matches_file(&self, path: &str) -> bool {
        let climbs = path.split('/').any(|step| step == "..");
        !climbs && (self.itself.as_deref() == Some(path.trim_end_matches('/')) || self.matches(path, anything))
    }

    /// Whether the whole text matches; `wild` says what a wildcard may stand for.
    pub(super) fn matches(&self, text: &str, wild: fn(char) -> bool) -> bool {
        let mut here = vec![false; self.tokens.len() + 1];
        here[0] = true;
        self.skip(&mut here, None);
        let mut next = here.clone();
        for c in text.chars() {
            next.fill(false);
            for (at, token) in self.tokens.iter().enumerate().filter(|(at, _)| here[*at]) {
                match token {
                    Token::One(wanted) => next[at + 1] |= *wanted == c,
                    Token::AnyHere => next[at] |= c != '/' && wild(c),
                    Token::Any | Token::AnyBelow => next[at] |= wild(c),
                }
            }
            self.skip(&mut next, Some(c));
            std::mem::swap(&mut here, &mut next);
        }
        here[self.tokens.len()]
    }

    /// A wildcard may end after any character, or match nothing; [`Token::AnyBelow`] only where a directory ends.
    fn skip(&self, states: &mut [bool], last: Option<char>) {
        for (at, token) in self.tokens.iter().enumerate() {
            if !states[at] {
                continue;
            }
            let may_end = match token {
                Token::One(_) => false,
                Token::Any | Token::AnyHere => true,
                Token::AnyBelow => last.is_none_or(|c| c == '/'),
            };
            if may_end {
                states[at + 1] = true;
            }
        }
    }
}

/// Characters with whether they were escaped. A `\` at the end stands for itself.
fn characters(text: &str) -> impl Iterator<Item = (char, bool)> + '_ {
    let mut chars = text.chars();
    std::iter::from_fn(move || match chars.next()? {
        '\\' => Some(chars.next().map_or(('\\', true), |c| (c, true))),
        c => Some((c, false)),
    })
}

pub(super) fn unescaped(text: &str) -> String {
    characters(text).map(|(c, _)| c).collect()
}

/// The first place where a character stands unescaped.
pub(super) fn find_plain(text: &str, wanted: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let hit = c == wanted && !escaped;
        escaped = c == '\\' && !escaped;
        hit.then_some(at)
    })
}

/// Splits where a character stands unescaped.
pub(super) fn split_plain(text: &str, at: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(found) = find_plain(rest, at) {
        parts.push(&rest[..found]);
        rest = &rest[found + at.len_utf8()..];
    }
    parts.push(rest);
    parts
}
