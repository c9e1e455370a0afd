//! What a server asks during a call: a form or a link for somebody at a terminal; without one the answer is *cancel*.

use super::arguments::{at_fields, is_interactive};
use crate::app::chat;
use crate::app::fleet::Fleet;
use crate::app::ground::Ground;
use crate::app::host::Desk;
use crate::app::manage::mention;
use crate::domain::prompt::{FormRequest, LinkRequest, PromptKind};
use crate::domain::server::{ServerAsk, ServerSignal};
use crate::domain::{AskId, Notice, Phrase, ServerName, ToolOutcome};
use crate::mcp::AskAnswer;
use crate::schema::{self, Validator};
use crate::tui::keymap::Keymap;
use crate::tui::solo::{End, Solo};
use crate::tui::theme::Library;
use crate::tui::wardrobe::Wardrobe;
use serde_json::{Map, Value};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// What a server asks.
pub(super) struct Question {
    /// The MCP side's number for it.
    pub(super) ask: AskId,
    /// Who asks.
    pub(super) server: ServerName,
    /// What.
    pub(super) what: ServerAsk,
    /// How long it may wait, milliseconds.
    pub(super) expires_ms: u64,
}

/// What follows.
pub(super) enum Then {
    /// The call goes on.
    GoOn,
    /// The call ended meanwhile.
    Done(ToolOutcome),
    /// The user wants to stop: the signal's number.
    Stop(i32),
}

/// A screen for one form.
pub(super) fn solo(ground: &Ground) -> Solo {
    let config = &ground.loaded.config;
    let mut keymap = Keymap::built_in();
    let _ = chat::user_keys(&ground.dirs, &mut keymap);
    let wardrobe = Wardrobe::new(Library::new(Some(&ground.dirs.themes())), chat::depth(&ground.env));
    let around = &config.surroundings;
    let host = Desk { editor: around.editor.clone(), browser: around.browser.clone(), file: config.file.clone() };
    let escape = Duration::from_millis(config.ui.esc_hold_ms);
    Solo::new((ground.strings.clone(), keymap), (wardrobe, &config.ui.theme), escape, Arc::new(host))
}

/// Puts a question before the user and answers it. Questions that come meanwhile are put one after the other.
pub(super) async fn put(
    ground: &Ground,
    fleet: &mut Fleet,
    first: Question,
    calling: &mut Pin<&mut impl Future<Output = ToolOutcome>>,
) -> Then {
    let mut waiting = std::collections::VecDeque::from([first]);
    while let Some(question) = waiting.pop_front() {
        if !is_interactive(ground) {
            cancel(ground, fleet, &question);
            continue;
        }
        let (mut done, mut gone) = (None, false);
        let ended = async {
            let expired = tokio::time::sleep(Duration::from_millis(question.expires_ms));
            tokio::pin!(expired);
            loop {
                tokio::select! {
                    outcome = calling.as_mut() => {
                        done = Some(outcome);
                        return;
                    }
                    () = &mut expired => return,
                    signal = fleet.next() => match signal {
                        Some(ServerSignal::AskWithdrawn { ask }) if ask == question.ask => {
                            gone = true;
                            return;
                        }
                        Some(ServerSignal::AskWithdrawn { ask }) => waiting.retain(|other| other.ask != ask),
                        Some(ServerSignal::Asks { ask, server, what, expires_ms, .. }) => {
                            waiting.push_back(Question { ask, server, what, expires_ms });
                        }
                        Some(_) => {}
                        None => return,
                    },
                }
            }
        };
        let end = show(ground, &question, ended).await;
        if let Some(done) = done {
            return Then::Done(done);
        }
        let answer = match end {
            Ok(End::Stopped(number)) => return Then::Stop(number),
            _ if gone => continue,
            Ok(End::Values(values)) => match question.what {
                ServerAsk::Form { .. } => AskAnswer::Accept(values),
                ServerAsk::Link { .. } => AskAnswer::Visited,
            },
            Ok(End::Declined) => AskAnswer::Decline,
            Ok(End::Cancelled | End::Withdrawn) => AskAnswer::Cancel,
            Err(error) => {
                mention(ground, &[Notice::error(Phrase::literal(error.to_string()))]);
                AskAnswer::Cancel
            }
        };
        fleet.mcp.answer(question.ask, answer);
    }
    Then::GoOn
}

/// Nobody is there to answer.
fn cancel(ground: &Ground, fleet: &Fleet, question: &Question) {
    let message = message(&question.what);
    let text = Phrase::new("call.cancelled_ask").with("server", &question.server).with("message", message);
    mention(ground, &[Notice::warning(text)]);
    fleet.mcp.answer(question.ask, AskAnswer::Cancel);
}

fn message(what: &ServerAsk) -> &str {
    match what {
        ServerAsk::Form { message, .. } | ServerAsk::Link { message, .. } => message,
    }
}

async fn show(ground: &Ground, question: &Question, ended: impl Future<Output = ()>) -> std::io::Result<End> {
    let server = question.server.clone();
    match &question.what {
        ServerAsk::Form { message, schema } => {
            let validator = Validator::new(schema);
            let check = |values: &Map<String, Value>| at_fields(&validator.validate(&Value::Object(values.clone())));
            let request = FormRequest { server, message: message.clone(), form: schema::form(schema) };
            solo(ground).ask((PromptKind::Form(request), question.expires_ms), &check, ended).await
        }
        ServerAsk::Link { message, url } => {
            let request = LinkRequest { server, message: message.clone(), url: url.clone() };
            solo(ground).ask((PromptKind::Link(request), question.expires_ms), &|_| Vec::new(), ended).await
        }
    }
}
