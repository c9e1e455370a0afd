//! A model at an HTTP endpoint.
//!
//! Owns: what of the catalogue, the settings and the request wins (request, then settings, then the model's entry, then the provider's), what the
//! endpoint said about the model, and what the user should know about it.
//! Does not: know the format (`wire`) or HTTP (`transport`).

use super::catalog::{Entry, ModelEntry, OpenOptions};
use super::notices::Notices;
use super::reply::Limits;
use super::transport::{self, Outgoing, Tap};
use super::wire::{Facts, Quirks, Wire};
use super::{Abilities, EventStream, Provider, problem};
use crate::domain::model::{ModelError, ModelErrorKind, Request};
use crate::domain::names::NameRule;
use crate::domain::{Notice, Phrase};
use crate::redact::Redactor;
use crate::schema::lower::{Told, lower};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How long an endpoint may take to say what it knows about a model.
const QUESTION: Duration = Duration::from_secs(10);

pub(super) struct Endpoint {
    name: String,
    model: String,
    abilities: Abilities,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    extra: Map<String, Value>,
    line: Arc<Line>,
}

/// What stays the same from request to request.
struct Line {
    wire: &'static dyn Wire,
    model: String,
    quirks: Quirks,
    /// Whether the entry or the user said if it reads pictures.
    sight_is_set: bool,
    /// What it knows at most of a prompt, tokens, where the entry or the user said so.
    context: Option<u64>,
    base: String,
    /// Or why no request can be sent.
    headers: Result<Vec<(String, String)>, ModelError>,
    limits: Limits,
    redactor: Redactor,
    tap: Option<Arc<dyn Tap>>,
    /// What the endpoint said about the model, once it did.
    facts: OnceLock<Facts>,
    notices: Notices,
    /// Tools whose schemas were lowered: each is told of once.
    lowered: Mutex<HashSet<String>>,
}

impl Endpoint {
    pub(super) fn new(entry: &Entry, model: &str, wire: &'static dyn Wire, options: &OpenOptions) -> Self {
        let special = entry.models.get(model).cloned().unwrap_or_default();
        let ModelEntry { temperature, max_tokens, context, native_tools, images, extra } = special;
        let mut quirks = entry.quirks.clone();
        quirks.images = images.unwrap_or(quirks.images);
        let mut all = entry.extra.clone();
        all.extend(extra);
        let context = context.or(entry.context);
        Self {
            name: format!("{}:{model}", entry.name),
            model: model.to_owned(),
            abilities: Abilities {
                native_tools: native_tools.unwrap_or(entry.native_tools),
                stop_strings: quirks.max_stop > 0,
                reasoning_back: quirks.reasoning_back,
                images: quirks.images,
                context,
                names: NameRule::default(),
            },
            temperature: options.temperature.or(temperature).or(entry.temperature),
            max_tokens: options.max_tokens.or(max_tokens).or(entry.max_tokens),
            extra: all,
            line: Arc::new(Line {
                wire,
                model: model.to_owned(),
                sight_is_set: images.is_some() || quirks.images,
                quirks,
                context,
                base: wire.base(options.base_url.as_deref().unwrap_or(&entry.base_url)),
                headers: headers(entry, wire, options),
                limits: options.limits,
                redactor: options.redactor.clone(),
                tap: options.tap.clone(),
                facts: OnceLock::new(),
                notices: Notices::default(),
                lowered: Mutex::default(),
            }),
        }
    }

    fn completed(&self, mut request: Request) -> Request {
        if request.model.is_empty() {
            request.model.clone_from(&self.model);
        }
        request.temperature = request.temperature.or(self.temperature);
        request.max_tokens = request.max_tokens.or(self.max_tokens);
        for (name, value) in &self.extra {
            request.extra.entry(name.clone()).or_insert_with(|| value.clone());
        }
        request
    }
}

impl Provider for Endpoint {
    fn name(&self) -> &str {
        &self.name
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn notices(&self) -> Vec<Notice> {
        self.line.notices.take()
    }

    fn stream(&self, request: Request) -> BoxFuture<'static, Result<EventStream, ModelError>> {
        Arc::clone(&self.line).send(self.completed(request)).boxed()
    }
}

impl Line {
    async fn send(self: Arc<Self>, request: Request) -> Result<EventStream, ModelError> {
        let headers = self.headers.clone()?;
        let facts = self.ask(&headers).await;
        if facts.tools == Some(false) && !request.tools.is_empty() {
            let text = format!("{} has no function calling; start with --dialect xml", self.model);
            return Err(problem::error(ModelErrorKind::BadRequest, text));
        }
        let mut quirks = self.quirks.clone();
        if !self.sight_is_set {
            quirks.images = facts.images.unwrap_or(false);
        }
        self.tell_losses(&request);
        let body = self.wire.body(&request, &quirks, &facts);
        let outgoing = Outgoing {
            url: address(&self.base, &self.wire.path(&request.model)),
            headers,
            decoder: self.wire.reader(&body, &self.notices),
            body: body.to_string().into_bytes(),
            limits: self.limits,
            redactor: self.redactor.clone(),
            tap: self.tap.clone(),
        };
        transport::send(outgoing).await
    }

    /// What the endpoint says about the model; asked once. An endpoint that does not say is used all the same: the request itself will tell.
    async fn ask(&self, headers: &[(String, String)]) -> Facts {
        let Some((path, body)) = self.wire.question(&self.model) else { return self.limited(Facts::default()) };
        if let Some(facts) = self.facts.get() {
            return *facts;
        }
        let url = format!("{}{path}", self.base);
        match transport::post_json(&url, headers, &body, QUESTION, &self.redactor).await {
            Ok(answer) => *self.facts.get_or_init(|| self.limited(self.wire.facts(&answer))),
            Err(_) => self.limited(Facts::default()),
        }
    }

    /// The context that the entry or the user set is a limit to what the model could have.
    fn limited(&self, facts: Facts) -> Facts {
        let context = match (facts.context, self.context) {
            (Some(largest), Some(set)) => Some(largest.min(set)),
            (largest, set) => largest.or(set),
        };
        Facts { context, ..facts }
    }

    /// Says once of each tool that the model gets a simpler schema than its server sent. What is said in words instead is no news to the user.
    fn tell_losses(&self, request: &Request) {
        let mut told = self.lowered.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names = Vec::new();
        for tool in &request.tools {
            if told.contains(&tool.name) {
                continue;
            }
            told.insert(tool.name.clone());
            let losses = lower(&tool.schema, self.wire.subset()).losses;
            for loss in &losses {
                tracing::debug!(tool = tool.name, at = loss.at, keyword = loss.keyword, "a schema was simplified");
            }
            if losses.iter().any(|loss| loss.told == Told::Nowhere) {
                names.push(tool.name.as_str());
            }
        }
        if !names.is_empty() {
            let text = Phrase::new("model.schemas_lowered").with("count", names.len()).with("tools", names.join(", "));
            self.notices.push(Notice::info(text));
        }
    }
}

/// The path below the base URL. People paste whole addresses, so a path that is there already is not added again.
fn address(base: &str, path: &str) -> String {
    let base = base.trim().trim_end_matches('/');
    if base.ends_with(path) { base.to_owned() } else { format!("{base}{path}") }
}

pub(super) fn headers(
    entry: &Entry,
    wire: &dyn Wire,
    options: &OpenOptions,
) -> Result<Vec<(String, String)>, ModelError> {
    let mut headers: Vec<(String, String)> =
        wire.headers().iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    headers.extend(entry.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
    match options.api_key.as_ref().filter(|key| !key.is_empty()) {
        Some(key) => {
            let (name, value) = wire.auth(key.expose());
            headers.push((name.to_owned(), value));
        }
        // Behind another address there is another server, which may want no key.
        None if entry.needs_key && options.base_url.is_none() => {
            let variable = options.key_env.as_ref().or(entry.key_env.as_ref());
            let text = match variable {
                Some(variable) => format!("{} needs an API key: set {variable}", entry.title),
                None => format!("{} needs an API key, and its entry names no variable for it", entry.title),
            };
            return Err(problem::error(ModelErrorKind::Auth, text));
        }
        None => {}
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::catalog::Catalog;
    use serde_json::json;

    fn endpoint(table: &str, options: &OpenOptions) -> Endpoint {
        let mut catalog = Catalog::built_in();
        catalog.overlay("openai", &table.parse().unwrap());
        let entry = catalog.find("openai").unwrap();
        Endpoint::new(entry, "m", crate::provider::wire::find(&entry.wire).unwrap(), options)
    }

    #[test]
    fn addresses() {
        for base in ["http://h/v1", " http://h/v1/ ", "http://h/v1/chat/completions"] {
            assert_eq!(address(base, "/chat/completions"), "http://h/v1/chat/completions");
        }
    }

    #[test]
    fn the_nearest_setting_wins() {
        let table = "temperature = 0.1\nmax_tokens = 10\nextra = { a = 1, b = 1, c = 1 }\n\
                     [models.m]\ntemperature = 0.2\ncontext = 99\nextra = { b = 2, c = 2 }";
        let open = |options| endpoint(table, &options);
        let request = || Request { extra: Map::from_iter([("c".into(), json!(3))]), ..Request::default() };
        let read = |request: Request| (request.model, request.temperature, request.max_tokens, request.extra);
        let plain = open(OpenOptions::default());
        assert_eq!(plain.abilities().context, Some(99));
        let (model, temperature, limit, extra) = read(plain.completed(request()));
        assert_eq!((model.as_str(), temperature, limit), ("m", Some(0.2), Some(10)));
        assert_eq!(Value::from(extra), json!({"c": 3, "a": 1, "b": 2}));
        let set = open(OpenOptions { temperature: Some(0.3), max_tokens: Some(20), ..OpenOptions::default() });
        let (_, temperature, limit, _) = read(set.completed(request()));
        assert_eq!((temperature, limit), (Some(0.3), Some(20)));
        let (_, temperature, ..) = read(set.completed(Request { temperature: Some(0.0), ..request() }));
        assert_eq!(temperature, Some(0.0));
    }

    #[test]
    fn a_missing_key_fails_the_first_request_and_names_its_variable() {
        let refused = |options: &OpenOptions| {
            endpoint("", options).stream(Request::default()).now_or_never().and_then(Result::err)
        };
        let error = refused(&OpenOptions::default()).unwrap();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ModelErrorKind::Auth, "OpenAI needs an API key: set OPENAI_API_KEY")
        );
        let named = OpenOptions { key_env: Some("MINE".into()), api_key: Some("  ".into()), ..OpenOptions::default() };
        assert!(refused(&named).unwrap().message.ends_with("set MINE"));
        let elsewhere = OpenOptions { base_url: Some("http://127.0.0.1:1/v1".into()), ..OpenOptions::default() };
        assert!(endpoint("", &elsewhere).line.headers.is_ok());
    }
}
