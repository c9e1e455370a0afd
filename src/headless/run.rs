//! The loop that stands where a screen would stand: events in, answers out, until the task has its end.
//!
//! Owns the two streams and the order of the end: the turn ends, what is to be printed is printed, the agent is told to shut down, its last events are read.
//! **Invariants:** a signal interrupts the turn, a second one leaves at once (the guard ends what is left); a reader that goes away ends the run without a
//! word.

use super::course::{Course, End};
use super::output::{self, Output};
use super::progress;
use super::sink::Sink;
use super::stand_in::{Reply, StandIn};
use super::stop::Stop;
use crate::contract::{Event, Op, PromptEvent, SessionEvent, TurnEvent};
use crate::domain::form::FieldError;
use crate::domain::prompt::Prompt;
use crate::domain::{CallId, Level, Notice, Phrase, PromptId, UserInput};
use crate::redact::Redactor;
use crate::sanitize;
use crate::strings::Strings;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How long the turn may take to end after it was interrupted.
const GRACE: Duration = Duration::from_secs(7);
/// How long the agent may take to end everything.
const ENDING: Duration = Duration::from_secs(12);
/// Nobody reads standard output any more: what a shell reports of a program that SIGPIPE ended.
const BROKEN_PIPE: u8 = 141;
/// Standard output could not be written.
const FAILED: u8 = 1;

/// A task, and whom it is given to.
pub struct Job {
    /// To the agent.
    pub ops: mpsc::Sender<Op>,
    /// From the agent.
    pub events: mpsc::Receiver<Event>,
    /// The task.
    pub task: UserInput,
    /// What is printed.
    pub output: Output,
    /// What is answered.
    pub stand_in: StandIn,
    /// What is to be said first.
    pub notices: Vec<Notice>,
    /// Texts.
    pub strings: Strings,
    /// Masks what is written.
    pub redactor: Redactor,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// The exit status.
    pub status: u8,
    /// The user asked twice to leave: nothing is waited for.
    pub abandoned: bool,
}

/// Does the job.
pub async fn run(job: Job) -> Finished {
    let stop = match Stop::listen() {
        Ok(stop) => stop,
        Err(error) => {
            tracing::error!(%error, "signals cannot be received");
            return Finished { status: FAILED, abandoned: false };
        }
    };
    let Job { ops, events, task, output, stand_in, notices, strings, redactor } = job;
    let desk = Desk {
        ops,
        stop,
        output,
        stand_in,
        strings,
        redactor,
        course: Course::default(),
        asked: BTreeMap::new(),
        out: Sink::new(io::stdout()),
        err: Sink::new(io::stderr()),
    };
    desk.run(events, task, notices).await
}

/// Why the loop was left before the agent's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gone {
    /// Standard output takes nothing any more.
    Output,
    /// The user asked twice.
    Abandoned,
}

struct Desk {
    ops: mpsc::Sender<Op>,
    stop: Stop,
    output: Output,
    stand_in: StandIn,
    strings: Strings,
    redactor: Redactor,
    course: Course,
    /// Forms that were answered from the file, with the calls that they belong to.
    asked: BTreeMap<PromptId, Option<CallId>>,
    out: Sink,
    err: Sink,
}

impl Desk {
    async fn run(mut self, mut events: mpsc::Receiver<Event>, task: UserInput, notices: Vec<Notice>) -> Finished {
        let left = match self.begin(task, notices).await {
            Ok(()) => self.work(&mut events).await,
            Err(gone) => Err(gone),
        };
        if left == Err(Gone::Output) {
            self.wind_up(&mut events).await;
        }
        drop(events);
        let end = self.course.end();
        let status = match (left, &end) {
            (Err(Gone::Abandoned), End::Failed(_)) => End::Interrupted.status(),
            _ => end.status(),
        };
        if left.is_ok() {
            self.last_words(&end).await;
        }
        let abandoned = left == Err(Gone::Abandoned);
        Finished { status: self.close(status, left).await, abandoned }
    }

    async fn begin(&mut self, input: UserInput, notices: Vec<Notice>) -> Result<(), Gone> {
        for notice in notices {
            if notice.level > Level::Info || self.output == Output::Text {
                let text = self.strings.render(&notice.text);
                self.say(&text).await?;
            }
        }
        self.tell(Op::Submit { input }).await;
        Ok(())
    }

    /// Until the agent has ended.
    async fn work(&mut self, events: &mut mpsc::Receiver<Event>) -> Result<(), Gone> {
        let mut patience: Option<Instant> = None;
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    Some(Event::Session(SessionEvent::Closed)) | None => return self.closed().await,
                    Some(event) => self.take(event).await?,
                },
                times = self.stop.next() => {
                    if times > 1 {
                        return Err(Gone::Abandoned);
                    }
                    self.tell(Op::Interrupt).await;
                    patience = Some(Instant::now() + GRACE);
                }
                () = sleep_until(patience) => {
                    patience = None;
                    self.tell(Op::Shutdown).await;
                }
            }
        }
    }

    async fn closed(&mut self) -> Result<(), Gone> {
        if self.output == Output::Stream {
            self.print(output::event_line(&SessionEvent::Closed.into(), &self.redactor)).await?;
        }
        Ok(())
    }

    async fn take(&mut self, event: Event) -> Result<(), Gone> {
        self.course.event(&event);
        if self.output == Output::Stream {
            self.print(output::event_line(&event, &self.redactor)).await?;
        }
        if let Some(line) = progress::line(&event, &self.course, &self.strings, self.output) {
            self.say(&line).await?;
        }
        match event {
            Event::Prompt(PromptEvent::Opened { prompt }) => self.opened(prompt).await?,
            Event::Prompt(PromptEvent::Refused { prompt, problems }) => self.refused(prompt, problems).await?,
            Event::Turn(TurnEvent::Ended { .. }) => {
                self.report().await?;
                self.tell(Op::Shutdown).await;
            }
            _ => {}
        }
        Ok(())
    }

    async fn opened(&mut self, prompt: Prompt) -> Result<(), Gone> {
        let tool = prompt.call.and_then(|call| self.course.tool_of(call)).cloned();
        let Some(Reply { answer, said, stops }) = self.stand_in.answer(&prompt, tool.as_ref()) else { return Ok(()) };
        if let Some(said) = said.filter(|_| self.output == Output::Text) {
            self.say_phrase(&said).await?;
        }
        if let Some(why) = stops {
            self.course.stopped(why);
        }
        self.asked.insert(prompt.id, prompt.call);
        self.tell(Op::Answer { prompt: prompt.id, answer }).await;
        Ok(())
    }

    /// The answer from the file does not satisfy the server.
    async fn refused(&mut self, prompt: PromptId, problems: Vec<(String, FieldError)>) -> Result<(), Gone> {
        let Some(call) = self.asked.remove(&prompt) else { return Ok(()) };
        for (field, error) in problems {
            let problem = self.strings.render(&error.phrase());
            let said = Phrase::new("run.answer_refused").with("field", field).with("problem", problem);
            self.say_phrase(&said).await?;
        }
        self.course.badly_answered(call);
        self.tell(Op::Answer { prompt, answer: self.stand_in.instead() }).await;
        Ok(())
    }

    /// The turn has ended: prints what is printed of it.
    async fn report(&mut self) -> Result<(), Gone> {
        let piece = match (self.output, self.course.end()) {
            (Output::Text, End::Done | End::Refused) => {
                self.course.answer().map(|answer| output::answer_text(answer, &self.redactor))
            }
            (Output::Json, _) => output::result_line(&self.course, &self.strings, &self.redactor),
            _ => None,
        };
        self.print(piece).await
    }

    /// Says why it did not end well.
    async fn last_words(&mut self, end: &End) {
        let why = match end {
            End::Done => return,
            End::Refused => Phrase::new("run.end_refused"),
            End::Failed(problem) => Phrase::new("run.end_failed").with("problem", self.strings.render(problem)),
            End::StepLimit => Phrase::new("run.end_steps").with("steps", self.course.steps),
            End::Interrupted => Phrase::new("run.end_interrupted"),
        };
        let _ = self.say_phrase(&why).await;
        if !self.course.is_over() && self.output == Output::Json {
            let _ = self.report().await;
        }
    }

    /// Nobody reads any more: everything ends, without a word.
    async fn wind_up(&mut self, events: &mut mpsc::Receiver<Event>) {
        self.tell(Op::Interrupt).await;
        self.tell(Op::Shutdown).await;
        let over = async { while events.recv().await.is_some() {} };
        tokio::select! {
            () = over => {}
            () = self.stop.twice() => {}
            () = tokio::time::sleep(ENDING) => {}
        }
    }

    async fn close(self, status: u8, left: Result<(), Gone>) -> u8 {
        if left == Err(Gone::Abandoned) {
            return status;
        }
        let Self { out, err, stop, strings, .. } = self;
        let written = tokio::select! {
            written = out.close() => written,
            () = stop.twice() => return status,
        };
        let status = match written {
            Ok(()) => status,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => BROKEN_PIPE,
            Err(error) => {
                let text = strings.fill("run.unwritten", &[("error", &error.to_string())]);
                err.put(format!("mcpane: {text}\n").into_bytes()).await;
                FAILED
            }
        };
        tokio::select! {
            _ = err.close() => {}
            () = stop.twice() => {}
        }
        status
    }

    // --- what goes out

    async fn tell(&self, op: Op) {
        // An agent that has ended says so by the end of its events.
        let _ = self.ops.send(op).await;
    }

    async fn print(&self, piece: Option<Vec<u8>>) -> Result<(), Gone> {
        let Some(piece) = piece else { return Ok(()) };
        tokio::select! {
            taken = self.out.put(piece) => if taken { Ok(()) } else { Err(Gone::Output) },
            () = self.stop.twice() => Err(Gone::Abandoned),
        }
    }

    async fn say_phrase(&self, phrase: &Phrase) -> Result<(), Gone> {
        self.say(&self.strings.render(phrase)).await
    }

    /// A line on standard error. Where nobody reads it, nothing is lost but the line.
    async fn say(&self, text: &str) -> Result<(), Gone> {
        let masked = self.redactor.mask_text(text);
        let line = masked.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = format!("mcpane: {}\n", sanitize::line(&line)).into_bytes();
        tokio::select! {
            _ = self.err.put(line) => Ok(()),
            () = self.stop.twice() => Err(Gone::Abandoned),
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
