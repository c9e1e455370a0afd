//! Model servers on this machine, for the welcome layer.

use super::catalog::{Catalog, Entry};
use super::transport;
use crate::redact::Redactor;
use futures::future::join_all;
use serde_json::Value;
use std::time::Duration;

/// How long a server on this machine may take to answer.
pub const QUICK: Duration = Duration::from_millis(300);

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The provider's name in the catalogue.
    pub provider: String,
    /// The base URL to ask.
    pub base_url: String,
}

/// A server that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The provider's name in the catalogue.
    pub provider: String,
    /// Where it is.
    pub base_url: String,
    /// The names of its models, as it lists them.
    pub models: Vec<String>,
}

/// The places that the catalogue wants looked at.
pub fn places(catalog: &Catalog) -> Vec<Place> {
    let place = |entry: &Entry| Place { provider: entry.name.clone(), base_url: entry.base_url.clone() };
    catalog.iter().filter(|entry| entry.probe).map(place).collect()
}

/// Asks all places at once for their models. A place that is silent, slow, or speaks of something else is left out.
pub async fn local(places: &[Place], within: Duration) -> Vec<Found> {
    let asked = places.iter().map(|place| async move {
        let url = format!("{}/models", place.base_url.trim_end_matches('/'));
        let list = transport::get_json(&url, &[], within, &Redactor::default()).await.ok()?;
        Some(Found { provider: place.provider.clone(), base_url: place.base_url.clone(), models: models(&list)? })
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// The ids of an OpenAI-style list; `None` when it is none.
fn models(list: &Value) -> Option<Vec<String>> {
    let ids = list.get("data")?.as_array()?.iter();
    ids.map(|model| Some(model.get("id")?.as_str()?.to_owned())).collect()
}
