//! One server, key by key. Pure.

use super::variables::Variables;
use super::{Program, Taken};
use crate::domain::Phrase;
use serde_json::{Map, Value, json};

/// A server of another program as an entry of ours.
pub(super) fn translate(program: Program, name: &str, server: &Value, variables: &Variables<'_>) -> Taken {
    let mut entry = Entry { program, variables, out: Map::new(), tools: Map::new(), remarks: Vec::new(), lost: None };
    match server {
        Value::Object(fields) => {
            for (key, value) in fields {
                entry.take(key, value, fields);
            }
        }
        _ => entry.lose(Phrase::new("import.no_table")),
    }
    entry.finish(name)
}

struct Entry<'a> {
    program: Program,
    variables: &'a Variables<'a>,
    out: Map<String, Value>,
    tools: Map<String, Value>,
    remarks: Vec<Phrase>,
    /// Why nothing of it can be carried over.
    lost: Option<Phrase>,
}

impl Entry<'_> {
    fn take(&mut self, key: &str, value: &Value, all: &Map<String, Value>) {
        match (key, value) {
            ("type" | "transport", Value::String(kind)) => self.kind(kind),
            ("command", Value::Array(words)) => {
                let words: Vec<Value> = words.iter().map(|word| self.filled(word)).collect();
                if let Some((command, args)) = words.split_first() {
                    self.put("command", command.clone());
                    let more = all.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
                    let args: Vec<Value> =
                        args.iter().cloned().chain(more.iter().map(|arg| self.filled(arg))).collect();
                    if !args.is_empty() {
                        self.put("args", Value::Array(args));
                    }
                }
            }
            ("args", _) if all.get("command").is_some_and(Value::is_array) => {}
            ("args", Value::Array(args)) if args.is_empty() => {}
            ("command" | "args" | "cwd" | "url", _) => {
                let value = self.filled(value);
                self.put(key, value);
            }
            ("httpUrl", Value::String(_)) if self.program == Program::Gemini => {
                let value = self.filled(value);
                self.put("url", value);
                self.put("type", json!("http"));
            }
            ("env" | "environment", Value::Object(pairs)) => self.pairs("env", pairs),
            ("headers", Value::Object(pairs)) => self.pairs("headers", pairs),
            ("headers", Value::Array(lines)) => self.header_lines(lines),
            ("disabled", Value::Bool(off)) => self.switch(*off),
            ("enabled", Value::Bool(on)) => self.switch(!*on),
            ("timeout", _) => self.timeout(value),
            ("includeTools" | "allowedTools", Value::Array(_)) => {
                self.tools.insert("allow".to_owned(), value.clone());
            }
            ("excludeTools" | "excludedTools" | "disabledTools", Value::Array(_)) => {
                self.tools.insert("deny".to_owned(), value.clone());
            }
            ("trust" | "autoApprove" | "alwaysAllow", _) => self.say("import.lost_trust", key),
            ("oauth" | "auth" | "authProviderType", _) => self.say("import.lost_oauth", key),
            ("envFile", Value::String(file)) => {
                let text = Phrase::new("import.lost_env_file").with("key", key).with("file", file);
                self.remarks.push(text);
            }
            // It says something about the server, and nothing to do.
            ("description" | "$schema" | "gallery" | "version", _) => {}
            _ => self.say("import.lost", key),
        }
    }

    fn put(&mut self, key: &str, value: Value) {
        self.out.insert(key.to_owned(), value);
    }

    fn say(&mut self, phrase: &'static str, key: &str) {
        self.remarks.push(Phrase::new(phrase).with("key", key));
    }

    fn lose(&mut self, why: Phrase) {
        self.lost.get_or_insert(why);
    }

    fn kind(&mut self, kind: &str) {
        match kind {
            "sse" => self.put("type", json!("sse")),
            "http" | "streamable-http" | "streamableHttp" | "streamable_http" | "streamable" => {
                self.put("type", json!("http"));
            }
            // What they are is plain from `command` and `url`.
            "stdio" | "local" | "remote" => {}
            "builtin" | "inprocess" => self.lose(Phrase::new("import.lost_builtin")),
            other => {
                let text = Phrase::new("import.lost_type").with("type", other);
                self.remarks.push(text);
            }
        }
    }

    fn switch(&mut self, off: bool) {
        if off {
            self.put("disabled", json!(true));
        }
    }

    fn filled(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.variables.fill(text, &mut self.remarks)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.filled(item)).collect()),
            other => other.clone(),
        }
    }

    fn pairs(&mut self, key: &str, pairs: &Map<String, Value>) {
        let mut out = Map::new();
        for (name, value) in pairs {
            // A variable without a value is one that is to be left unset.
            if value.is_null() {
                self.remarks.push(Phrase::new("import.lost").with("key", format!("{key}.{name}")));
                continue;
            }
            out.insert(name.clone(), self.filled(value));
        }
        if !out.is_empty() {
            self.put(key, Value::Object(out));
        }
    }

    /// `Name: value`, one a line.
    fn header_lines(&mut self, lines: &[Value]) {
        let mut out = Map::new();
        for line in lines {
            match line.as_str().and_then(|line| line.split_once(':')) {
                Some((name, value)) => {
                    let value = self.filled(&json!(value.trim()));
                    out.insert(name.trim().to_owned(), value);
                }
                None => self.say("import.lost", "headers"),
            }
        }
        self.put("headers", Value::Object(out));
    }

    /// Milliseconds; those of a request are our idle time of a call.
    fn timeout(&mut self, value: &Value) {
        let seconds =
            |value: Option<&Value>| value.and_then(Value::as_f64).map(|ms| (ms / 1000.0).ceil().max(1.0) as u64);
        let mut out = Map::new();
        out.extend(seconds(value.get("startup")).map(|seconds| ("start".to_owned(), json!(seconds))));
        out.extend(seconds(value.get("request")).map(|seconds| ("call".to_owned(), json!(seconds))));
        out.extend(seconds(Some(value)).map(|seconds| ("call".to_owned(), json!(seconds))));
        if out.is_empty() {
            return self.say("import.lost", "timeout");
        }
        self.put("timeout", Value::Object(out));
    }

    fn finish(mut self, name: &str) -> Taken {
        if !self.tools.is_empty() {
            let tools = std::mem::take(&mut self.tools);
            self.put("tools", Value::Object(tools));
        }
        // Gemini's `url` without anything else is the older transport.
        if self.program == Program::Gemini && self.out.contains_key("url") && !self.out.contains_key("type") {
            self.put("type", json!("sse"));
        }
        // Where the address says it all, the type need not.
        if self.out.get("type") == Some(&json!("http")) {
            self.out.shift_remove("type");
        }
        if !self.out.contains_key("command") && !self.out.contains_key("url") {
            self.lose(Phrase::new("import.no_way"));
        }
        self.remarks.dedup();
        if let Some(why) = self.lost {
            return Taken { name: name.to_owned(), entry: None, remarks: vec![why] };
        }
        Taken { name: name.to_owned(), entry: Some(Value::Object(self.out)), remarks: self.remarks }
    }
}
