//! What there is for someone who has configured nothing: model servers on this computer, keys in the environment (names only).

use super::models::Models;
use crate::config::env::Env;
use crate::provider::probe;
use crate::tui::msg::{Found, FoundKey, LocalServer};
use tokio::sync::mpsc;

/// Searches, and tells as it finds.
pub async fn search(models: &Models, env: &Env, found: mpsc::Sender<Found>) {
    for entry in models.catalog().iter() {
        let Some(variable) = entry.key_env.clone().filter(|variable| env.filled(variable).is_some()) else { continue };
        let Some(model) = &entry.suggested else { continue };
        let model = format!("{}:{model}", entry.name);
        let _ = found.send(Found::Key(FoundKey { variable, model })).await;
    }
    for server in probe::local(&probe::places(models.catalog()), probe::QUICK).await {
        let entry = models.catalog().find(&server.provider);
        let name = entry.map_or_else(|_| server.provider.clone(), |entry| entry.title.clone());
        let models = server.models.iter().map(|model| format!("{}:{model}", server.provider)).collect();
        let _ = found.send(Found::Server(LocalServer { name, url: server.base_url, models })).await;
    }
    let _ = found.send(Found::Done).await;
}
