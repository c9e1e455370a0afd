//! The tasks beside a connection that tell it what happens by itself: to its session, to its tools, and in its log.
//!
//! Owns nothing.

use super::World;
use super::connection::Msg;
use super::log::Log;
use super::session::Session;
use crate::domain::ServerName;
use crate::domain::server::ServerSignal;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Tells when a session's connection is being made again, and when it is over.
pub(super) async fn session(session: Arc<Session>, run: u64, me: mpsc::UnboundedSender<Msg>) {
    let mut wavering = session.link.wavering();
    loop {
        tokio::select! {
            biased;
            trouble = session.end() => return drop(me.send(Msg::Ended(run, trouble))),
            Ok(()) = wavering.changed() => {
                let why = wavering.borrow_and_update().clone();
                let _ = me.send(Msg::Wavers(run, why));
            }
        }
    }
}

/// Reads the list of tools, not before `at`.
pub(super) async fn list(
    session: Arc<Session>,
    at: Instant,
    limit: Duration,
    run: u64,
    me: mpsc::UnboundedSender<Msg>,
) {
    tokio::select! {
        biased;
        () = session.stop.cancelled() => return,
        _ = session.end() => return,
        () = tokio::time::sleep_until(at) => {}
    }
    let listed = session.list_tools(limit).await;
    drop(session);
    let _ = me.send(Msg::Listed(run, listed));
}

/// Announces what the server writes beside the protocol.
pub(super) async fn log(world: Arc<World>, log: Arc<Log>, me: mpsc::UnboundedSender<Msg>, server: ServerName) {
    let mut told = 0;
    log.publish(|lines| {
        world.emit(ServerSignal::Stderr { server: server.clone(), lines });
        let noise = log.noise_count();
        if std::mem::replace(&mut told, noise) != noise {
            let _ = me.send(Msg::Noise);
        }
    })
    .await;
}
