//! What the model does: the task's key words choose a scenario, the number of results chooses its step.

use super::scene::{Outcome, Scene};
use crate::strings::Strings;
use serde_json::{Map, Value, json};

/// The server whose tools the script calls.
const SERVER: &str = "demo";
/// Longest part of a result that goes into a file or an answer, in lines.
const LINES: usize = 12;

/// A call to make.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    /// `None`: a built-in.
    pub server: Option<&'static str>,
    /// The tool's own name.
    pub tool: &'static str,
    /// The name to call it by natively.
    pub wire_name: String,
    pub arguments: Map<String, Value>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    Call(Vec<Call>),
    Complete(String),
}

/// One reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub thought: String,
    pub act: Act,
}

/// Chooses the scenario, and its step.
pub(super) fn play(scene: &Scene<'_>) -> Reply {
    let stage = Stage { scene, strings: Strings::new(scene.language) };
    let task = scene.task.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| task.contains(word));
    let (memory, hosts) = (has(&["memory", "内存", "ram "]), has(&["hosts"]));
    if has(&["alert", "预警", "警报"]) {
        stage.tools("demo.think_alerts", &[("get_alerts", json!({ "state": "CA" }))])
    } else if has(&["weather", "forecast", "天气", "预报"]) {
        stage.weather(file_name(&task, &scene.task).as_deref())
    } else if has(&["deploy", "部署"]) {
        stage.tools("demo.think_deploy", &[("deploy", json!({}))])
    } else if has(&["register", "sign up", "注册", "登记"]) {
        stage.tools("demo.think_register", &[("register", json!({}))])
    } else if memory || hosts {
        let calls = [("get_memory_usage", json!({})), ("read_hosts_file", json!({}))];
        stage.tools("demo.think_machine", &calls[usize::from(!memory)..=usize::from(hosts)])
    } else if has(&["slow", "progress", "慢任务", "耗时", "进度"]) {
        stage.tools("demo.think_slow", &[("slow_job", json!({}))])
    } else if has(&["ask me", "question", "问我", "提问", "问题"]) {
        stage.question()
    } else if has(&["help", "hello", "what can you", "who are you", "帮助", "你好", "您好", "你是谁", "能做什么"])
        || is_greeting(&task)
    {
        stage.about("demo.think_about", "demo.about")
    } else {
        stage.about("demo.think_unknown", "demo.unknown")
    }
}

fn is_greeting(task: &str) -> bool {
    matches!(task.trim().trim_end_matches(['!', '.', '！', '。', '~']), "" | "hi" | "hey" | "嗨" | "?" | "？")
}

/// The file that the task names, or the usual one when it only speaks of writing. `None`: no file is wanted.
fn file_name(lower: &str, task: &str) -> Option<String> {
    let named = task
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/')))
        .map(|word| word.trim_end_matches('.'))
        .find(|word| [".md", ".txt"].iter().any(|end| word.len() > end.len() && word.ends_with(end)));
    let wanted =
        ["write", "save", "写入", "写到", "写进", "保存", "存到", "存入"].iter().any(|word| lower.contains(word));
    named.map(str::to_owned).or_else(|| wanted.then(|| "result.md".to_owned()))
}

/// The part of a result that the script uses: tomorrow's line and the notes in brackets where the server marks that day, else the beginning.
fn gist(result: &str) -> String {
    let lines = || result.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let marked = |line: &&str| {
        let line = line.trim_start().to_lowercase();
        line.starts_with("tomorrow") || line.starts_with("明天")
    };
    let kept: Vec<&str> = match lines().find(marked) {
        Some(line) => std::iter::once(line).chain(lines().filter(|line| line.starts_with('('))).collect(),
        None => lines().take(LINES).collect(),
    };
    kept.join("\n")
}

fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

struct Stage<'a> {
    scene: &'a Scene<'a>,
    strings: Strings,
}

impl Stage<'_> {
    fn say(&self, key: &str, args: &[(&str, &str)]) -> String {
        self.strings.fill(key, args)
    }

    fn complete(&self, thought: &str, answer: String) -> Reply {
        Reply { thought: self.say(thought, &[]), act: Act::Complete(answer) }
    }

    fn about(&self, thought: &str, answer: &str) -> Reply {
        self.complete(thought, self.say(answer, &[("menu", self.strings.get("demo.menu"))]))
    }

    fn call(&self, server: Option<&'static str>, tool: &'static str, arguments: Value) -> Result<Call, Reply> {
        let Some(wire_name) = self.scene.offered(server, tool) else {
            return Err(self.complete("demo.think_missing", self.say("demo.missing", &[("tool", tool)])));
        };
        let Value::Object(arguments) = arguments else {
            return Ok(Call { server, tool, wire_name, arguments: Map::new() });
        };
        Ok(Call { server, tool, wire_name, arguments })
    }

    fn act(thought: String, call: Result<Call, Reply>) -> Reply {
        call.map_or_else(|missing| missing, |call| Reply { thought, act: Act::Call(vec![call]) })
    }

    fn failed(&self, tool: &str, outcome: &Outcome) -> Reply {
        self.complete("demo.think_failed", self.told(tool, outcome))
    }

    fn told(&self, tool: &str, outcome: &Outcome) -> String {
        let text = outcome.text.trim();
        let result = if text.is_empty() { self.strings.get("demo.nothing") } else { text };
        let key = if outcome.usable { "demo.done_tool" } else { "demo.failed" };
        self.say(key, &[("tool", tool), ("result", &quoted(result))])
    }

    fn weather(&self, file: Option<&str>) -> Reply {
        let results = &self.scene.results;
        let Some(forecast) = results.first() else {
            let place = json!({ "latitude": 41.7128, "longitude": -74.006 });
            return Self::act(self.say("demo.think_forecast", &[]), self.call(Some(SERVER), "get_forecast", place));
        };
        if !forecast.usable {
            return self.failed("get_forecast", forecast);
        }
        let result = gist(&forecast.text);
        let Some(path) = file else {
            return self
                .complete("demo.think_answer", self.placed(self.say("demo.done_forecast", &[("result", &result)])));
        };
        match results.get(1) {
            None => {
                let content = self.say("demo.file", &[("result", &result)]);
                let write = self.call(None, "write_to_file", json!({ "path": path, "content": content }));
                Self::act(self.say("demo.think_write", &[("path", path)]), write)
            }
            Some(written) if written.usable => {
                let answer = self.say("demo.done_written", &[("result", &result), ("path", path)]);
                self.complete("demo.think_written", self.placed(answer))
            }
            Some(refused) => self.failed("write_to_file", refused),
        }
    }

    /// The script always looks at New York; an answer to a question about another place has to say so.
    fn placed(&self, answer: String) -> String {
        let task = self.scene.task.to_lowercase();
        if ["new york", "nyc", "纽约"].iter().any(|name| task.contains(name)) {
            return answer;
        }
        format!("{answer}\n\n{}", self.strings.get("demo.only_new_york"))
    }

    /// Calls tools of the server, all at once where the format allows it, and passes on what they say.
    fn tools(&self, thought: &str, calls: &[(&'static str, Value)]) -> Reply {
        let results = &self.scene.results;
        if results.len() < calls.len() {
            let parallel = self.scene.style == super::scene::Style::Native && results.is_empty();
            let count = if parallel { calls.len() } else { 1 };
            let next = &calls[results.len()..results.len() + count];
            let made = next.iter().map(|(tool, arguments)| self.call(Some(SERVER), tool, arguments.clone()));
            return match made.collect() {
                Ok(calls) => Reply { thought: self.say(thought, &[]), act: Act::Call(calls) },
                Err(missing) => missing,
            };
        }
        let told = calls.iter().zip(results).map(|((tool, _), outcome)| self.told(tool, outcome));
        let answer = told.collect::<Vec<_>>().join("\n\n");
        let usable = results.iter().any(|outcome| outcome.usable);
        self.complete(if usable { "demo.think_result" } else { "demo.think_failed" }, answer)
    }

    fn question(&self) -> Reply {
        if let Some(answer) = self.scene.results.first() {
            if !answer.usable {
                return self.failed("ask_followup_question", answer);
            }
            let args = [("answer", answer.text.trim()), ("menu", self.strings.get("demo.menu"))];
            return self.complete("demo.think_question_done", self.say("demo.done_question", &args));
        }
        let options = ["demo.option_forms", "demo.option_files", "demo.option_slow"].map(|key| self.strings.get(key));
        let arguments = json!({ "question": self.strings.get("demo.question"), "options": options });
        Self::act(self.say("demo.think_question", &[]), self.call(None, "ask_followup_question", arguments))
    }
}
