//! A recording as a source of events, in place of an agent: step by step, or in its own time.
//!
//! Owns the place in the recording and the clock. It answers only what concerns playing; whatever else the front wants of an agent is passed over.
//! **Invariants:** every event comes out once and in order; while it is paused nothing is armed.

use super::{record, story};
use crate::contract::op::PlaybackOp;
use crate::contract::{ClockOp, Event, ItemEvent, Op, PromptEvent, SessionEvent, ToolEvent, TurnEvent};
use crate::domain::conversation::StepEnd;
use crate::domain::{Conversation, Level, SessionId};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Fastest and slowest.
const FASTEST: f64 = 64.0;
const SLOWEST: f64 = 1.0 / 16.0;

/// An event and its time, from the beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct Beat {
    /// When.
    pub at: Duration,
    /// What.
    pub event: Event,
}

/// The beats of a recording. What the user wanted is seen in what followed.
pub fn of_recording(lines: Vec<record::Line>) -> Vec<Beat> {
    let beat = |line: record::Line| {
        let event = match line.event? {
            // The end and the pauses are the player's own.
            Event::Session(SessionEvent::Closed | SessionEvent::Held | SessionEvent::Playback { .. }) => return None,
            Event::Session(SessionEvent::Opened { id, cwd, conversation, .. }) => {
                SessionEvent::Opened { id, cwd, conversation, draft: String::new() }.into()
            }
            event => event,
        };
        Some(Beat { at: Duration::from_millis(line.at), event })
    };
    lines.into_iter().filter_map(beat).collect()
}

/// The beats of a journal.
pub fn of_conversation(id: &SessionId, cwd: &str, conversation: &Conversation) -> Vec<Beat> {
    story::beats(id, cwd, conversation)
}

/// Whether something is there to be looked at: a step ends behind it.
fn is_stop(event: &Event) -> bool {
    match event {
        Event::Turn(TurnEvent::StepEnded { end, .. }) => *end != StepEnd::Complete,
        Event::Turn(TurnEvent::Started { .. } | TurnEvent::Ended { .. })
        | Event::Item(ItemEvent::Finished { .. })
        | Event::Tool(ToolEvent::Started { .. } | ToolEvent::Finished { .. })
        | Event::Prompt(PromptEvent::Opened { .. }) => true,
        Event::Notice(notice) => notice.level == Level::Error,
        _ => false,
    }
}

/// Plays; without a speed, step by step. The task ends when it is told to, or nobody listens.
pub fn play(beats: Vec<Beat>, speed: Option<f64>) -> (mpsc::Sender<Op>, mpsc::Receiver<Event>) {
    let (ops, wanted) = mpsc::channel(64);
    let (told, events) = mpsc::channel(1024);
    let player = Player {
        beats,
        next: 0,
        speed: speed.unwrap_or(1.0).clamp(SLOWEST, FASTEST),
        running: speed.map(|_| Anchor { real: Instant::now(), told: Duration::ZERO }),
        held: false,
        events: told,
    };
    tokio::spawn(player.run(wanted, speed));
    (ops, events)
}

/// A moment in both times.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    real: Instant,
    told: Duration,
}

struct Player {
    beats: Vec<Beat>,
    next: usize,
    speed: f64,
    /// `None`: paused, or step by step.
    running: Option<Anchor>,
    /// It ran when the program was suspended.
    held: bool,
    events: mpsc::Sender<Event>,
}

impl Player {
    async fn run(mut self, mut wanted: mpsc::Receiver<Op>, speed: Option<f64>) {
        if speed.is_none() {
            self.step().await;
        } else {
            self.tell().await;
        }
        loop {
            let due = self.due();
            tokio::select! {
                op = wanted.recv() => match op {
                    Some(Op::Shutdown) | None => return,
                    Some(op) => self.op(op).await,
                },
                () = sleep_until(due) => self.go_on().await,
            }
        }
    }

    async fn op(&mut self, op: Op) {
        match op {
            Op::Playback(PlaybackOp::Step) => self.step().await,
            Op::Playback(PlaybackOp::Pause) => {
                self.running = if self.running.is_some() { None } else { Some(self.here()) };
                self.tell().await;
            }
            Op::Playback(PlaybackOp::Faster) => self.hurry(2.0).await,
            Op::Playback(PlaybackOp::Slower) => self.hurry(0.5).await,
            Op::Clock(ClockOp::Hold) => {
                self.held = self.running.take().is_some();
                let _ = self.events.send(SessionEvent::Held.into()).await;
            }
            Op::Clock(ClockOp::Go) if std::mem::take(&mut self.held) => self.running = Some(self.here()),
            _ => {}
        }
    }

    /// The moment of what was told last.
    fn here(&self) -> Anchor {
        let told =
            self.next.checked_sub(1).and_then(|last| self.beats.get(last)).map_or(Duration::ZERO, |beat| beat.at);
        Anchor { real: Instant::now(), told }
    }

    /// When the next beat is due.
    fn due(&self) -> Option<Instant> {
        let (anchor, beat) = (self.running?, self.beats.get(self.next)?);
        Some(anchor.real + beat.at.saturating_sub(anchor.told).div_f64(self.speed))
    }

    async fn hurry(&mut self, factor: f64) {
        let now = Instant::now();
        if let Some(anchor) = &mut self.running {
            let passed = now.saturating_duration_since(anchor.real).mul_f64(self.speed);
            *anchor = Anchor { real: now, told: anchor.told + passed };
        }
        self.speed = (self.speed * factor).clamp(SLOWEST, FASTEST);
        self.tell().await;
    }

    /// Tells everything that is due.
    async fn go_on(&mut self) {
        let now = Instant::now();
        while self.due().is_some_and(|due| due <= now) {
            self.emit().await;
        }
        self.tell().await;
    }

    /// Tells everything up to the next stop, now.
    async fn step(&mut self) {
        while let Some(beat) = self.beats.get(self.next) {
            let stop = is_stop(&beat.event);
            self.emit().await;
            if stop {
                break;
            }
        }
        if self.running.is_some() {
            self.running = Some(self.here());
        }
        self.tell().await;
    }

    async fn emit(&mut self) {
        if let Some(beat) = self.beats.get(self.next) {
            self.next += 1;
            let _ = self.events.send(beat.event.clone()).await;
        }
    }

    /// How far it has come.
    async fn tell(&self) {
        let ended = self.next == self.beats.len();
        let speed = self.running.filter(|_| !ended).map(|_| self.speed);
        let told = SessionEvent::Playback { at: self.next, of: self.beats.len(), speed };
        let _ = self.events.send(told.into()).await;
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::conversation::TurnKind;
    use crate::domain::{ItemId, Notice, Phrase, TurnEnd, TurnId, UserInput};

    fn beats() -> Vec<Beat> {
        let started = TurnEvent::Started { turn: TurnId(1), kind: TurnKind::Task, input: UserInput::text("go") };
        let delta = |text: &str| ItemEvent::Delta { item: ItemId(1), text: text.into() };
        let events: Vec<(u64, Event)> = vec![
            (0, Notice::info(Phrase::new("app.name")).into()),
            (1_000, started.into()),
            (2_000, delta("a").into()),
            (3_000, delta("b").into()),
            (3_000, ItemEvent::Finished { item: ItemId(1) }.into()),
            (9_000, TurnEvent::Ended { turn: TurnId(1), end: TurnEnd::Done }.into()),
        ];
        events.into_iter().map(|(at, event)| Beat { at: Duration::from_millis(at), event }).collect()
    }

    /// What comes now: how many beats, and what is told of the place.
    fn come(events: &mut mpsc::Receiver<Event>) -> (usize, Option<(usize, Option<f64>)>) {
        let (mut beats, mut place) = (0, None);
        while let Ok(event) = events.try_recv() {
            match event {
                Event::Session(SessionEvent::Playback { at, speed, .. }) => place = Some((at, speed)),
                _ => beats += 1,
            }
        }
        (beats, place)
    }

    async fn settle() {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_advances_to_the_next_thing_to_see() {
        let (ops, mut events) = play(beats(), None);
        settle().await;
        assert_eq!(come(&mut events), (2, Some((2, None))), "the task stands there at once");
        tokio::time::advance(Duration::from_secs(60)).await;
        settle().await;
        assert_eq!(come(&mut events), (0, None), "nothing moves by itself");
        for (beats, at) in [(3, 5), (1, 6), (0, 6)] {
            ops.send(Op::Playback(PlaybackOp::Step)).await.unwrap();
            settle().await;
            assert_eq!(come(&mut events), (beats, Some((at, None))));
        }
        ops.send(Op::Shutdown).await.unwrap();
        assert_eq!(events.recv().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn it_keeps_its_own_time_at_any_speed() {
        let (ops, mut events) = play(beats(), Some(2.0));
        settle().await;
        assert_eq!(come(&mut events).0, 1);
        tokio::time::advance(Duration::from_secs(1)).await;
        settle().await;
        assert_eq!(come(&mut events), (2, Some((3, Some(2.0)))), "two seconds of it");
        ops.send(Op::Playback(PlaybackOp::Pause)).await.unwrap();
        settle().await;
        tokio::time::advance(Duration::from_secs(60)).await;
        settle().await;
        assert_eq!(come(&mut events), (0, Some((3, None))));
        ops.send(Op::Playback(PlaybackOp::Pause)).await.unwrap();
        ops.send(Op::Playback(PlaybackOp::Slower)).await.unwrap();
        settle().await;
        tokio::time::advance(Duration::from_millis(1_100)).await;
        settle().await;
        assert_eq!(come(&mut events), (2, Some((5, Some(1.0)))));
        ops.send(Op::Playback(PlaybackOp::Step)).await.unwrap();
        settle().await;
        assert_eq!(come(&mut events), (1, Some((6, None))), "a key goes on at once; the end is told");
    }
}
