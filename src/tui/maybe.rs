//! Waiting for what may not be there: nothing ever comes of that then. For the arms of a `select!`.

use crate::tui::input::{Read, Reader};
use std::time::Instant;
use tokio::sync::mpsc;

pub(super) async fn read(reader: Option<&mut Reader>) -> Option<Read> {
    match reader {
        Some(reader) => reader.next().await,
        None => std::future::pending().await,
    }
}

pub(super) async fn receive<T>(channel: Option<&mut mpsc::Receiver<T>>) -> Option<T> {
    match channel {
        Some(channel) => channel.recv().await,
        None => std::future::pending().await,
    }
}

pub(super) async fn sleep(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until.into()).await,
        None => std::future::pending().await,
    }
}
