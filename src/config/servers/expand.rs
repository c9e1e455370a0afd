//! `${VAR}` and `${VAR:-default}` in a server's entry. Pure.
//!
//! Owns: the syntax of variables and what is wrong with one. A variable that is unset, without a default, is an error that names it: an empty token would
//! only turn up later as a refusal nobody understands. `$VAR` without braces stays as it is.

use crate::config::env::Env;

/// Why a text could not be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// This variable is not set.
    Unset(String),
    /// This is no name of a variable.
    Syntax(String),
}

/// The text with its variables filled in. What they hold is not expanded again.
pub fn expand(text: &str, env: &Env) -> Result<String, Fault> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find("${") {
        out.push_str(&rest[..open]);
        let after = &rest[open + 2..];
        let Some(close) = after.find('}') else { return Err(Fault::Syntax(rest[open..].to_owned())) };
        let (name, default) = match after[..close].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&after[..close], None),
        };
        if !is_name(name) {
            return Err(Fault::Syntax(rest[open..=open + 2 + close].to_owned()));
        }
        // As in a shell, `:-` also stands in for an empty one.
        let value = if default.is_some() { env.filled(name) } else { env.get(name) };
        out.push_str(value.or(default).ok_or_else(|| Fault::Unset(name.to_owned()))?);
        rest = &after[close + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn variables_and_defaults() {
        let env = Env::of([("A", "1"), ("EMPTY", ""), ("NESTED", "${A}")]);
        for (text, expected) in [
            ("plain $A $$ {x}", "plain $A $$ {x}"),
            ("<${A}${A}>", "<11>"),
            ("${NONE:-d}", "d"),
            ("${NONE:-}", ""),
            ("${EMPTY:-d}", "d"),
            ("${EMPTY}", ""),
            ("${A:-d}", "1"),
            ("${NESTED}", "${A}"),
            ("${NONE:-a:-b}", "a:-b"),
        ] {
            assert_eq!(expand(text, &env), Ok(expected.to_owned()), "{text}");
        }
        assert_eq!(expand("x ${NONE} ${ALSO}", &env), Err(Fault::Unset("NONE".into())));
        for (text, shown) in [
            ("${", "${"),
            ("${}", "${}"),
            ("${env:A}", "${env:A}"),
            ("${input:x} y", "${input:x}"),
            ("${1A}", "${1A}"),
            ("a ${A", "${A"),
        ] {
            assert_eq!(expand(text, &env), Err(Fault::Syntax(shown.into())), "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_leaves_plain_text(text in "[a-z${}:é-]{0,20}") {
            let result = expand(&text, &Env::default());
            if !text.contains("${") {
                prop_assert_eq!(result, Ok(text));
            }
        }
    }
}
