//! All tools that a model may call.
//!
//! Owns: the built-in tools, the tools of every server, their names on the wire, checking arguments against a schema, and running a call of either
//! kind the same way: inspected, timed, its result cut to size. Does not: decide (`policy`), speak MCP (a [`CallServer`] does).
//!
//! **Invariants:** the list is sorted by true name and the same tools give the same bytes, whatever order they came in; a name is never taken by
//! another tool silently.

use super::scene::Scene;
use super::{Inspection, Invocation, Tool, builtin, cut};
use crate::domain::names::{NameRule, Names};
use crate::domain::policy::{Facts, Preview};
use crate::domain::{Phrase, ServerName, ToolId, ToolOutcome, ToolSignal, ToolSpec};
use crate::schema::Validators;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Calls tools of MCP servers.
pub trait CallServer: Send + Sync {
    /// Calls one. The outcome's content is whole; the toolbox cuts it for the model.
    fn call(&self, tool: ToolId, invocation: Invocation) -> BoxFuture<'static, ToolOutcome>;
}

/// Whether a tool is offered to models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// It is.
    Shown,
    /// It is not: nothing could come of it.
    Hidden,
}

/// The built-in tool that makes sense only where a server has resources.
const RESOURCES: &str = "access_mcp_resource";
/// Names proposed for one that does not exist.
const MOST_NEAR: usize = 3;

/// The toolbox. One owner; what runs in it is handed out as futures that hold nothing of it.
pub struct Toolbox {
    scene: Arc<Scene>,
    builtins: BTreeMap<ToolId, Arc<dyn Tool>>,
    servers: BTreeMap<ServerName, Vec<Arc<ToolSpec>>>,
    resources: Offer,
    caller: Arc<dyn CallServer>,
    rule: NameRule,
    aliases: Vec<(String, String)>,
    validators: Validators,
    list: Arc<[Arc<ToolSpec>]>,
    names: Arc<Names>,
}

impl Toolbox {
    /// The built-in tools of a scene, and servers' tools called through `caller`. `aliases`: names that models know from elsewhere → built-ins.
    pub fn new(scene: &Arc<Scene>, caller: Arc<dyn CallServer>, aliases: Vec<(String, String)>) -> Self {
        let builtins = builtin::all(scene).into_iter().map(|tool| (tool.spec().id.clone(), tool)).collect();
        let mut toolbox = Self {
            scene: Arc::clone(scene),
            builtins,
            servers: BTreeMap::new(),
            resources: Offer::Hidden,
            caller,
            rule: NameRule::default(),
            aliases,
            validators: Validators::default(),
            list: Arc::from([]),
            names: Arc::default(),
        };
        toolbox.rebuild();
        toolbox
    }

    /// A server's tools are these now. Returns what the user should know: a server that lists one name twice.
    pub fn set_server_tools(&mut self, server: &ServerName, tools: Vec<Arc<ToolSpec>>) -> Vec<Phrase> {
        let mut kept: Vec<Arc<ToolSpec>> = Vec::with_capacity(tools.len());
        let mut problems = Vec::new();
        for tool in tools {
            if kept.iter().any(|other| other.id == tool.id) {
                problems.push(Phrase::new("tool.duplicate").with("server", server).with("tool", &tool.id.name));
            } else {
                kept.push(tool);
            }
        }
        self.servers.insert(server.clone(), kept);
        self.rebuild();
        problems
    }

    /// A server is gone.
    pub fn remove_server(&mut self, server: &ServerName) {
        if self.servers.remove(server).is_some() {
            self.rebuild();
        }
    }

    /// Whether any server has resources.
    pub fn offer_resources(&mut self, offer: Offer) {
        if self.resources != offer {
            self.resources = offer;
            self.rebuild();
        }
    }

    /// Another provider has another rule for names.
    pub fn set_name_rule(&mut self, rule: NameRule) {
        if self.rule != rule {
            self.rule = rule;
            self.rebuild();
        }
    }

    /// Every tool on offer, sorted by true name.
    pub fn list(&self) -> Arc<[Arc<ToolSpec>]> {
        Arc::clone(&self.list)
    }

    /// Their names on the wire.
    pub fn names(&self) -> Arc<Names> {
        Arc::clone(&self.names)
    }

    /// A tool's definition.
    pub fn find(&self, tool: &ToolId) -> Option<&Arc<ToolSpec>> {
        let at = self.list.binary_search_by(|spec| spec.id.cmp(tool)).ok()?;
        self.list.get(at)
    }

    /// What a model is told that called a tool that does not exist.
    pub fn unknown(&self, asked: &str) -> String {
        let wanted = asked.to_lowercase();
        let mut near: Vec<(f64, &str)> = self
            .names
            .iter()
            .map(|(id, wire)| {
                let score = |name: &str| strsim::normalized_damerau_levenshtein(&wanted, &name.to_lowercase());
                (score(wire).max(score(&id.name)), wire)
            })
            .filter(|(score, _)| *score >= 0.5)
            .collect();
        near.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
        let near: Vec<&str> = near.into_iter().take(MOST_NEAR).map(|(_, name)| name).collect();
        if near.is_empty() {
            return format!("There is no tool {asked:?}. Use only tools that you were given.");
        }
        format!("There is no tool {asked:?}. Did you mean {}?", near.join(", "))
    }

    /// Whether arguments satisfy a tool's schema; if not, what is wrong, for the model.
    pub fn check_arguments(&self, spec: &ToolSpec, arguments: &Value) -> Result<(), String> {
        if !arguments.is_object() {
            return Err(format!("The arguments of {} must be one JSON object.", spec.id));
        }
        let problems = self.validators.get(&spec.hash, &spec.input_schema).validate(arguments);
        if problems.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = problems.iter().map(|problem| format!("- {problem}")).collect();
        Err(format!("The arguments of {} are not valid, so it did not run:\n{}", spec.id, lines.join("\n")))
    }

    /// What a call would do. To be awaited before [`Toolbox::run`] with the same arguments.
    pub fn inspect(&self, tool: &ToolId, arguments: Value) -> BoxFuture<'static, Inspection> {
        match self.builtins.get(tool) {
            Some(tool) => {
                let tool = Arc::clone(tool);
                async move { tool.inspect(&arguments).await }.boxed()
            }
            // What a server does with its arguments is not known here.
            None => {
                ready(Inspection { facts: Facts::default(), preview: Preview::Arguments, warnings: Vec::new() }).boxed()
            }
        }
    }

    /// Runs a call and makes its result fit for the model.
    pub fn run(&self, tool: &ToolId, invocation: Invocation) -> BoxFuture<'static, ToolOutcome> {
        if self.find(tool).is_none() {
            return ready(ToolOutcome::failed(self.unknown(&tool.to_string()))).boxed();
        }
        let running = match self.builtins.get(tool) {
            Some(tool) => {
                (invocation.signals)(ToolSignal::Started);
                tool.run(invocation.clone())
            }
            None => self.caller.call(tool.clone(), invocation.clone()),
        };
        let scene = Arc::clone(&self.scene);
        let call = invocation.call;
        async move {
            let start = Instant::now();
            let mut outcome = running.await;
            if let ToolOutcome::Done { millis, .. } = &mut outcome
                && *millis == 0
            {
                *millis = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
            }
            // Cutting may write files.
            let cut = tokio::task::spawn_blocking(move || cut::fit(outcome, call, scene.budget(), scene.spill()));
            cut.await.unwrap_or_else(|error| ToolOutcome::Failed {
                message: format!("The result could not be prepared: {error}"),
                may_have_run: true,
            })
        }
        .boxed()
    }

    fn rebuild(&mut self) {
        let hidden = |id: &ToolId| self.resources == Offer::Hidden && id.server.is_none() && &*id.name == RESOURCES;
        let mut list: Vec<Arc<ToolSpec>> = self
            .builtins
            .values()
            .map(|tool| Arc::clone(tool.spec()))
            .filter(|spec| !hidden(&spec.id))
            .chain(self.servers.values().flatten().cloned())
            .collect();
        list.sort_by(|a, b| a.id.cmp(&b.id));
        self.names = Arc::new(Names::new(list.iter().map(|spec| &spec.id), self.rule, self.aliases.iter().cloned()));
        self.list = list.into();
    }
}

#[cfg(test)]
mod tests;
