//! The embedded scripted model.
//!
//! Owns: the model behind the Tour. It needs no network and no key, and is reachable only through [`Provider`].
//! It looks at nothing but the request it is given: which task came last, which results came after it, which tools are offered, and whether
//! they are offered as functions or taught in the system prompt. So it goes through the same loop, parsers and approvals as any model.
//! Does not: know the dialect module (it knows the formats from what the system prompt teaches), or pretend to be a real model: it says
//! that it is scripted, and what it says about a result is made from that result.

mod scene;
mod script;
mod speech;

use super::{Abilities, EventStream, Provider};
use crate::domain::model::{ModelError, Request, StreamEvent};
use crate::domain::names::NameRule;
use futures::future::{BoxFuture, ready};
use futures::{FutureExt, stream};
use scene::Scene;
use std::time::Duration;

/// Between two pieces: about as fast as people like to read along.
const PACE: Duration = Duration::from_millis(28);

/// The scripted model.
#[derive(Debug, Clone)]
pub struct Demo {
    abilities: Abilities,
    pace: Duration,
}

impl Default for Demo {
    fn default() -> Self {
        Self::with_pace(PACE)
    }
}

impl Demo {
    /// With another time between two pieces of a reply; zero is as fast as it can.
    pub fn with_pace(pace: Duration) -> Self {
        let abilities = Abilities {
            native_tools: true,
            stop_strings: false,
            reasoning_back: false,
            images: false,
            context: None,
            names: NameRule::default(),
        };
        Self { abilities, pace }
    }
}

impl Provider for Demo {
    fn name(&self) -> &'static str {
        "demo:tour"
    }

    fn model(&self) -> &'static str {
        "tour"
    }

    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn is_scripted(&self) -> bool {
        true
    }

    fn stream(&self, request: Request) -> BoxFuture<'static, Result<EventStream, ModelError>> {
        let scene = Scene::read(&request);
        let events = speech::events(&script::play(&scene), scene.style);
        ready(Ok(paced(events, self.pace))).boxed()
    }
}

fn paced(events: Vec<StreamEvent>, pace: Duration) -> EventStream {
    let events = stream::unfold(events.into_iter(), move |mut events| async move {
        let event = events.next()?;
        if !pace.is_zero() && !matches!(event, StreamEvent::Alive | StreamEvent::Finish { .. }) {
            tokio::time::sleep(pace).await;
        }
        Some((Ok(event), events))
    });
    Box::pin(events)
}

#[cfg(test)]
mod tests;
