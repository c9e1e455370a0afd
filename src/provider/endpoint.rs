//! A model at an HTTP endpoint.
//!
//! Owns: what of the catalogue, the settings and the request wins (request, then settings, then the model's entry, then the provider's).
//! Does not: know the format (`wire`) or HTTP (`transport`).

use super::catalog::{Entry, ModelEntry, OpenOptions};
use super::reply::Limits;
use super::transport::{self, Outgoing, Tap};
use super::wire::{Quirks, Wire};
use super::{Abilities, EventStream, Provider, problem};
use crate::domain::model::{ModelError, ModelErrorKind, Request};
use crate::domain::names::NameRule;
use crate::redact::Redactor;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde_json::{Map, Value};
use std::sync::Arc;

pub(super) struct Endpoint {
    name: String,
    model: String,
    abilities: Abilities,
    wire: &'static dyn Wire,
    quirks: Quirks,
    url: String,
    /// Or why no request can be sent.
    headers: Result<Vec<(String, String)>, ModelError>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    extra: Map<String, Value>,
    limits: Limits,
    redactor: Redactor,
    tap: Option<Arc<dyn Tap>>,
}

impl Endpoint {
    pub(super) fn new(entry: &Entry, model: &str, wire: &'static dyn Wire, options: &OpenOptions) -> Self {
        let special = entry.models.get(model).cloned().unwrap_or_default();
        let ModelEntry { temperature, max_tokens, context, native_tools, images, extra } = special;
        let mut quirks = entry.quirks.clone();
        quirks.images = images.unwrap_or(quirks.images);
        let url = address(options.base_url.as_deref().unwrap_or(&entry.base_url), &wire.path(model));
        let mut all = entry.extra.clone();
        all.extend(extra);
        Self {
            name: format!("{}:{model}", entry.name),
            model: model.to_owned(),
            abilities: Abilities {
                native_tools: native_tools.unwrap_or(entry.native_tools),
                stop_strings: quirks.max_stop > 0,
                reasoning_back: quirks.reasoning_back,
                images: quirks.images,
                context: context.or(entry.context),
                names: NameRule::default(),
            },
            wire,
            quirks,
            limits: options.limits.unwrap_or_else(|| transport::patience(&url)),
            url,
            headers: headers(entry, wire, options),
            temperature: options.temperature.or(temperature).or(entry.temperature),
            max_tokens: options.max_tokens.or(max_tokens).or(entry.max_tokens),
            extra: all,
            redactor: options.redactor.clone(),
            tap: options.tap.clone(),
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

    fn stream(&self, request: Request) -> BoxFuture<'static, Result<EventStream, ModelError>> {
        let headers = match &self.headers {
            Ok(headers) => headers.clone(),
            Err(error) => return ready(Err(error.clone())).boxed(),
        };
        let request = self.completed(request);
        let outgoing = Outgoing {
            url: self.url.clone(),
            headers,
            body: self.wire.body(&request, &self.quirks).to_string().into_bytes(),
            decoder: self.wire.decoder(),
            limits: self.limits,
            redactor: self.redactor.clone(),
            tap: self.tap.clone(),
        };
        transport::send(outgoing).boxed()
    }
}

/// The path below the base URL. People paste whole addresses, so a path that is there already is not added again.
fn address(base: &str, path: &str) -> String {
    let base = base.trim().trim_end_matches('/');
    if base.ends_with(path) { base.to_owned() } else { format!("{base}{path}") }
}

fn headers(entry: &Entry, wire: &dyn Wire, options: &OpenOptions) -> Result<Vec<(String, String)>, ModelError> {
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
        assert!(endpoint("", &elsewhere).headers.is_ok());
    }
}
