//! What stands in a source file, as far as rules care: paths that are named (in `use`, inline and in macros), texts, macros, functions, names. Whatever is
//! compiled for tests only is passed over.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A path, made absolute: `crate`, then modules; or beginning with the name of another crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub segments: Vec<String>,
    pub line: usize,
}

impl Named {
    /// The path behind `crate`, where it is one of ours.
    pub fn ours(&self) -> Option<&[String]> {
        self.segments.split_first().filter(|(first, _)| *first == "crate").map(|(_, rest)| rest)
    }

    /// Whether it begins with this path of another crate.
    pub fn begins(&self, path: &str) -> bool {
        let wanted: Vec<&str> = path.split("::").collect();
        self.segments.len() >= wanted.len() && self.segments.iter().zip(&wanted).all(|(a, b)| a == b)
    }

    /// Whether these segments stand in it, one after another.
    pub fn holds(&self, path: &str) -> bool {
        let wanted: Vec<&str> = path.split("::").collect();
        self.segments.windows(wanted.len()).any(|run| run.iter().zip(&wanted).all(|(a, b)| a == b))
    }
}

/// A text literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub value: String,
    pub line: usize,
    /// What it is given to: `strings.get`, `Phrase::new`, `format!`; empty where it stands by itself.
    pub to: String,
}

/// A text of the catalogue with the arguments it is given, where both are written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    pub key: String,
    pub arguments: Vec<String>,
    pub line: usize,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
}

/// The facts of a file.
#[derive(Debug, Default)]
pub struct Facts {
    pub paths: Vec<Named>,
    pub super_globs: Vec<usize>,
    pub texts: Vec<Text>,
    pub filled: Vec<Filled>,
    pub macros: Vec<(String, usize)>,
    pub functions: Vec<Function>,
    /// Types, traits and modules that are made here.
    pub names: Vec<(String, usize)>,
    /// Lines of what is compiled for tests only.
    pub test_lines: usize,
    /// Modules in other files that are compiled for tests only.
    pub test_modules: Vec<String>,
}

impl Facts {
    /// Of a parsed file that is `module`.
    pub fn of(file: &syn::File, module: &str, modules: &BTreeSet<String>) -> Self {
        let mut reader = Reader { facts: Self::default(), module: module.to_owned(), modules, to: String::new() };
        reader.visit_file(file);
        reader.facts
    }
}

struct Reader<'m> {
    facts: Facts,
    module: String,
    modules: &'m BTreeSet<String>,
    to: String,
}

fn join(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        if path.segments.last().is_some_and(|last| last.ident == "test") {
            return true;
        }
        let syn::Meta::List(list) = &attribute.meta else { return false };
        path.is_ident("cfg") && {
            let words: Vec<String> = list.tokens.clone().into_iter().map(|token| token.to_string()).collect();
            words.iter().any(|word| word == "test")
                || words.iter().any(|word| word == "all") && list.tokens.to_string().contains("test")
        }
    })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(x) => &x.attrs,
        syn::Item::Enum(x) => &x.attrs,
        syn::Item::Fn(x) => &x.attrs,
        syn::Item::Impl(x) => &x.attrs,
        syn::Item::Macro(x) => &x.attrs,
        syn::Item::Mod(x) => &x.attrs,
        syn::Item::Static(x) => &x.attrs,
        syn::Item::Struct(x) => &x.attrs,
        syn::Item::Trait(x) => &x.attrs,
        syn::Item::Type(x) => &x.attrs,
        syn::Item::Use(x) => &x.attrs,
        _ => &[],
    }
}

impl Reader<'_> {
    fn absolute(&self, segments: Vec<String>) -> Vec<String> {
        let mut at: Vec<String> = self.module.split("::").filter(|part| !part.is_empty()).map(String::from).collect();
        let mut rest = segments.as_slice();
        let first = rest.first().map(String::as_str).unwrap_or_default();
        match first {
            "crate" => return segments,
            // The binary names the library by the package's name.
            "mcpane" => {
                let mut path = vec!["crate".to_owned()];
                path.extend_from_slice(&rest[1..]);
                return path;
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            _ if self.modules.contains(&join(&self.module, first)) => {}
            _ => return segments,
        }
        let mut path = vec!["crate".to_owned()];
        path.append(&mut at);
        path.extend_from_slice(rest);
        path
    }

    fn name_path(&mut self, segments: Vec<String>, line: usize) {
        if !segments.is_empty() {
            let segments = self.absolute(segments);
            self.facts.paths.push(Named { segments, line });
        }
    }

    fn use_tree(&mut self, before: &[String], tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                let mut before = before.to_vec();
                before.push(path.ident.to_string());
                self.use_tree(&before, &path.tree);
            }
            syn::UseTree::Name(name) => self.use_end(before, &name.ident),
            syn::UseTree::Rename(name) => self.use_end(before, &name.ident),
            syn::UseTree::Glob(glob) => {
                let line = glob.span().start().line;
                if before.last().is_some_and(|last| last == "super") {
                    self.facts.super_globs.push(line);
                }
                self.name_path(before.to_vec(), line);
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.use_tree(before, tree)),
        }
    }

    fn use_end(&mut self, before: &[String], ident: &syn::Ident) {
        let mut path = before.to_vec();
        if ident != "self" {
            path.push(ident.to_string());
        }
        self.name_path(path, ident.span().start().line);
    }

    fn text(&mut self, value: String, line: usize) {
        self.facts.texts.push(Text { value, line, to: self.to.clone() });
    }

    fn given_to(&mut self, to: String, work: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.to, to);
        work(self);
        self.to = before;
    }

    fn skip(&mut self, span: proc_macro2::Span) {
        self.facts.test_lines += span.end().line + 1 - span.start().line;
    }

    /// Tokens that are no expressions: paths and texts are still seen.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Ident(ident) => {
                    let (mut path, line) = (vec![ident.to_string()], ident.span().start().line);
                    while is_colons(&tokens, at + 1)
                        && let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    match (tokens.get(at + 1), tokens.get(at + 2)) {
                        (Some(TokenTree::Punct(mark)), Some(TokenTree::Group(_))) if mark.as_char() == '!' => {
                            self.facts.macros.push((path.join("::"), line));
                        }
                        _ if path.len() > 1 => self.name_path(path, line),
                        _ => {}
                    }
                }
                TokenTree::Literal(literal) => {
                    if let Ok(syn::Lit::Str(text)) = syn::parse_str::<syn::Lit>(&literal.to_string()) {
                        self.text(text.value(), literal.span().start().line);
                    }
                }
                // `#[doc = "…"]` in the body of a `macro_rules!` is no text of the program.
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    if matches!(tokens.get(at + 1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket)
                    {
                        at += 1;
                    }
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Punct(_) => {}
            }
            at += 1;
        }
    }
}

fn is_colons(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at: usize, spacing: Option<Spacing>| match tokens.get(at) {
        Some(TokenTree::Punct(mark)) => mark.as_char() == ':' && spacing.is_none_or(|wanted| mark.spacing() == wanted),
        _ => false,
    };
    colon(at, Some(Spacing::Joint)) && colon(at + 1, None)
}

/// The last name of what a method is called on: `strings` of `look.strings`, of `self.strings()`, of `&strings`.
fn receiver(expression: &syn::Expr) -> String {
    match expression {
        syn::Expr::Field(field) => match &field.member {
            syn::Member::Named(name) => name.to_string(),
            syn::Member::Unnamed(_) => String::new(),
        },
        syn::Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default(),
        syn::Expr::MethodCall(call) => call.method.to_string(),
        syn::Expr::Reference(inner) => receiver(&inner.expr),
        syn::Expr::Paren(inner) => receiver(&inner.expr),
        _ => String::new(),
    }
}

fn literal(expression: &syn::Expr) -> Option<String> {
    match expression {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        syn::Expr::Reference(inner) => literal(&inner.expr),
        _ => None,
    }
}

/// `Phrase::new("key").with("a", …).with("b", …)`.
fn phrase(call: &syn::ExprMethodCall) -> Option<Filled> {
    let mut arguments = Vec::new();
    let mut at = call;
    loop {
        if at.method != "with" {
            return None;
        }
        arguments.insert(0, literal(at.args.first()?)?);
        match &*at.receiver {
            syn::Expr::MethodCall(inner) => at = inner,
            syn::Expr::Call(new) => {
                let syn::Expr::Path(path) = &*new.func else { return None };
                let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
                if !names.ends_with(&["Phrase".to_owned(), "new".to_owned()]) {
                    return None;
                }
                return Some(Filled { key: literal(new.args.first()?)?, arguments, line: call.span().start().line });
            }
            _ => return None,
        }
    }
}

/// `strings.fill("key", &[("a", …), ("b", …)])`.
fn fill(call: &syn::ExprMethodCall) -> Option<Filled> {
    if call.method != "fill" || receiver(&call.receiver) != "strings" {
        return None;
    }
    let key = literal(call.args.first()?)?;
    let syn::Expr::Reference(list) = call.args.get(1)? else { return None };
    let syn::Expr::Array(list) = &*list.expr else { return None };
    let name = |pair: &syn::Expr| match pair {
        syn::Expr::Tuple(pair) => literal(pair.elems.first()?),
        _ => None,
    };
    let arguments = list.elems.iter().map(name).collect::<Option<Vec<String>>>()?;
    Some(Filled { key, arguments, line: call.span().start().line })
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if is_for_tests(attributes(item)) {
            if let syn::Item::Mod(module) = item
                && module.content.is_none()
            {
                self.test_module(module);
            }
            return self.skip(item.span());
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'a syn::ImplItem) {
        let attributes = match item {
            syn::ImplItem::Fn(x) => &x.attrs,
            syn::ImplItem::Const(x) => &x.attrs,
            _ => return visit::visit_impl_item(self, item),
        };
        if is_for_tests(attributes) {
            return self.skip(item.span());
        }
        visit::visit_impl_item(self, item);
    }

    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        self.facts.names.push((item.ident.to_string(), item.ident.span().start().line));
        let inner = join(&self.module, &item.ident.to_string());
        let before = std::mem::replace(&mut self.module, inner);
        visit::visit_item_mod(self, item);
        self.module = before;
    }

    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.facts.names.push((item.ident.to_string(), item.ident.span().start().line));
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.facts.names.push((item.ident.to_string(), item.ident.span().start().line));
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.facts.names.push((item.ident.to_string(), item.ident.span().start().line));
        visit::visit_item_trait(self, item);
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(&item.sig, item.block.span());
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.function(&item.sig, item.block.span());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        self.use_tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.name_path(segments, path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_lit_str(&mut self, text: &'a syn::LitStr) {
        self.text(text.value(), text.span().start().line);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        if let Some(filled) = phrase(call).or_else(|| fill(call)) {
            self.facts.filled.push(filled);
        }
        // The inner calls of a chain of `with` are the same phrase.
        let mut inner = call;
        while inner.method == "with"
            && let syn::Expr::MethodCall(next) = &*inner.receiver
            && next.method == "with"
        {
            self.arguments(String::new(), &inner.args);
            inner = next;
        }
        self.visit_expr(&inner.receiver);
        self.arguments(format!("{}.{}", receiver(&inner.receiver), inner.method), &inner.args);
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        self.visit_expr(&call.func);
        let to = match &*call.func {
            syn::Expr::Path(path) => {
                let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
                names[names.len().saturating_sub(2)..].join("::")
            }
            _ => String::new(),
        };
        self.arguments(to, &call.args);
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        let name: Vec<String> = call.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let name = name.join("::");
        self.facts.macros.push((name.clone(), call.path.span().start().line));
        if name.contains("::") {
            self.visit_path(&call.path);
        }
        let last = name.rsplit("::").next().unwrap_or_default();
        let body = call.parse_body_with(Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated);
        self.given_to(format!("{last}!"), |reader| match &body {
            Ok(expressions) => expressions.iter().for_each(|expression| reader.visit_expr(expression)),
            Err(_) => reader.tokens(call.tokens.clone()),
        });
    }
}

impl Reader<'_> {
    /// The first argument is what a text is given as; the others stand by themselves.
    fn arguments(&mut self, to: String, arguments: &Punctuated<syn::Expr, syn::Token![,]>) {
        for (index, argument) in arguments.iter().enumerate() {
            let to = if index == 0 { to.clone() } else { String::new() };
            self.given_to(to, |reader| reader.visit_expr(argument));
        }
    }

    /// A module in another file. A `#[path]` is taken from the directory of this file, which is its module's (`mod.rs`) or its parent's.
    fn test_module(&mut self, module: &syn::ItemMod) {
        let stem = module.attrs.iter().find_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(value) if value.path.is_ident("path") => {
                Some(literal(&value.value)?.trim_end_matches(".rs").replace('/', "::"))
            }
            _ => None,
        });
        let parent = self.module.rsplit_once("::").map_or("", |(parent, _)| parent).to_owned();
        match stem {
            Some(stem) => self.facts.test_modules.extend([join(&self.module, &stem), join(&parent, &stem)]),
            None => self.facts.test_modules.push(join(&self.module, &module.ident.to_string())),
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: proc_macro2::Span) {
        let line = signature.span().start().line;
        let lines = block.end().line + 1 - line;
        self.facts.functions.push(Function { name: signature.ident.to_string(), line, lines });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(module: &str, text: &str) -> Facts {
        let modules = ["a", "a::b", "a::c", "tools"].map(String::from).into();
        Facts::of(&syn::parse_file(text).unwrap(), module, &modules)
    }

    fn paths(module: &str, text: &str) -> Vec<String> {
        facts(module, text).paths.iter().map(|path| path.segments.join("::")).collect()
    }

    #[test]
    fn paths_are_made_absolute_wherever_they_stand() {
        assert_eq!(
            paths("a::b", "use super::c::X; use crate::tools as t; use std::{fs, io::{self, Write}};"),
            ["crate::a::c::X", "crate::tools", "std::fs", "std::io", "std::io::Write"]
        );
        assert_eq!(paths("a", "use b::Y;"), ["crate::a::b::Y"]);
        for text in [
            "fn f() { crate::tools::go(); }",
            "fn f() -> Vec<crate::tools::go> { }",
            "fn f() { vec![1, crate::tools::go()]; }",
            "fn f() { tokio::select! { x = crate::tools::go() => {} } }",
            "macro_rules! m { () => { $crate::tools::go() } }",
            "mod inner { fn f() { super::super::tools::go() } }",
        ] {
            assert!(paths("a", text).iter().any(|path| path == "crate::tools::go"), "{text}: {:?}", paths("a", text));
        }
    }

    #[test]
    fn what_is_for_tests_is_not_seen_but_counted() {
        let facts = facts(
            "a",
            "struct X;\nimpl X {\n  #[cfg(test)]\n  fn t() { tokio::go() }\n}\n#[cfg(test)]\nmod tests {\n  use super::*;\n}\n#[cfg(all(test, unix))]\nuse rmcp::x;\n#[cfg(not(windows))]\nuse kept::y;\n",
        );
        assert_eq!(facts.paths.iter().map(|p| p.segments.join("::")).collect::<Vec<_>>(), ["X", "kept::y"]);
        assert!(facts.super_globs.is_empty());
        assert_eq!(facts.test_lines, 2 + 4 + 2);
    }

    #[test]
    fn texts_know_what_they_are_given_to() {
        let facts = facts(
            "a",
            "fn f() { look.strings.get(\"k\"); Phrase::new(if x { \"p\" } else { \"q\" }); format!(\"{} in\", strings.fill(\"m\", &[])); let a = \"alone\"; json!({\"j\": 1}); }",
        );
        let texts: Vec<(&str, &str)> = facts.texts.iter().map(|text| (text.to.as_str(), text.value.as_str())).collect();
        assert_eq!(
            texts,
            [
                ("strings.get", "k"),
                ("Phrase::new", "p"),
                ("Phrase::new", "q"),
                ("format!", "{} in"),
                ("strings.fill", "m"),
                ("", "alone"),
                ("json!", "j")
            ]
        );
    }

    #[test]
    fn filled_texts_know_their_arguments() {
        let facts = facts(
            "a",
            "fn f() { Phrase::new(\"p\").with(\"a\", \"v\").with(\"b\", 2); strings.fill(\"f\", &[(\"c\", &x)]); Phrase::new(k).with(\"d\", 1); }",
        );
        let filled: Vec<(&str, Vec<&str>)> =
            facts.filled.iter().map(|f| (f.key.as_str(), f.arguments.iter().map(String::as_str).collect())).collect();
        assert_eq!(filled, [("p", vec!["a", "b"]), ("f", vec!["c"])]);
        assert!(facts.texts.iter().all(|text| (text.to == "Phrase::new") == (text.value == "p")));
    }

    #[test]
    fn documentation_is_no_text() {
        assert!(facts("a", "//! Two words.\n/// Two words.\n#[must_use = \"two words\"]\nfn f() {}\nmacro_rules! m { ($x:ident) => { #[doc = \"two words\"] struct $x; } }").texts.is_empty());
    }

    #[test]
    fn functions_have_lengths() {
        let facts = facts("a", "/// Doc.\nfn f(\n  x: u8,\n) {\n  x;\n}\n");
        assert_eq!(facts.functions, [Function { name: "f".into(), line: 2, lines: 5 }]);
    }
}
