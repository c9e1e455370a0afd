//! Model servers on this machine, for the welcome layer.

use super::catalog::{Catalog, Entry};
use super::transport;
use super::wire;
use crate::redact::Redactor;
use futures::future::join_all;
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
    /// The wire format, which knows where the list is and how to read it.
    pub wire: String,
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
    let place = |entry: &Entry| Place {
        provider: entry.name.clone(),
        base_url: entry.base_url.clone(),
        wire: entry.wire.clone(),
    };
    catalog.iter().filter(|entry| entry.probe).map(place).collect()
}

/// Asks all places at once for their models. A place that is silent, slow, or speaks of something else is left out.
pub async fn local(places: &[Place], within: Duration) -> Vec<Found> {
    let asked = places.iter().map(|place| async move {
        let wire = wire::find(&place.wire)?;
        let url = format!("{}{}", wire.base(&place.base_url), wire.list());
        let list = transport::get_json(&url, &[], within, &Redactor::default()).await.ok()?;
        let models = wire.listed(&list)?.into_iter().map(|model| model.name).collect();
        Some(Found { provider: place.provider.clone(), base_url: place.base_url.clone(), models })
    });
    join_all(asked).await.into_iter().flatten().collect()
}
