//! The real program in a real (pseudo) terminal of 120×40, against a model server on loopback.
//!
//! `cargo bench --bench screen [-- start idle stream burst keys resize memory]` prints rows of the README's table on standard output.

// A benchmark that cannot be set up should end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../meter.rs"]
mod meter;
#[path = "../../support/sse_model.rs"]
mod sse_model;

mod past;
mod process;
mod program;
mod text;
mod watch;

use meter::{Limit, is_wanted, median, ms, note, p95, row};
use program::{Place, Program, Terminal};
use sse_model::{ModelServer, Reply, Times};
use std::time::{Duration, Instant};
use text::{Stretch, reply};
use watch::{Cost, Watch};

/// Each figure of a stream is measured so often; the median counts.
const ROUNDS: usize = 3;

fn main() {
    if !meter::is_bench() {
        return;
    }
    let parts: [(&str, fn()); 7] = [
        ("start", start),
        ("idle", idle),
        ("stream", stream),
        ("burst", burst),
        ("keys", keys),
        ("resize", resize),
        ("memory", memory),
    ];
    for (name, part) in parts {
        if is_wanted(name) {
            note(&format!("{name} (load {:.1})", meter::load()));
            part();
        }
    }
}

/// A server that gives this reply to every request.
fn server(reply: Reply) -> ModelServer {
    ModelServer::start_with(move |_| reply.clone())
}

fn launch(place: &Place, server: &ModelServer, more: &[&str]) -> Program {
    let url = server.base_url();
    let mut arguments = vec!["-m", "openai:test-model", "--base-url", &url];
    arguments.extend(more);
    let mut program = Program::start(place, &arguments);
    program.until("F1 help");
    program.settle(Duration::from_millis(300));
    program
}

fn start() {
    let server = server(Reply::hang());
    let url = server.base_url();
    let (mut frames, mut keys) = (Vec::new(), Vec::new());
    let place = Place::new();
    for _ in 0..20 {
        let arguments = ["-m", "openai:test-model", "--base-url", &url];
        let mut program = Program::start_in(Terminal::Answers, &place, &arguments, b"x");
        let frame = program.until("F1 help");
        let key = program.until("› x");
        frames.push(ms(frame - program.started));
        keys.push(ms(key - program.started));
        program.settle(Duration::from_millis(100));
    }
    row("First frame after exec, median of 20", median(&frames), "ms", Limit::Most(15.0), "13");
    row("First key echoed after exec, median of 20", median(&keys), "ms", Limit::Most(30.0), "128");
}

fn idle() {
    let server = server(Reply::hang());
    let place = Place::new();
    let mut program = launch(&place, &server, &[]);
    // Threads of the start that are not needed any more end after ten seconds.
    program.pump(Duration::from_secs(13));
    let pids: Vec<u32> = [program.pid()].into_iter().chain(process::children(program.pid())).collect();
    let sleeps = || pids.iter().flat_map(|pid| process::sleeps(*pid)).collect();
    let (before, bytes) = (sleeps(), program.bytes);
    program.pump(Duration::from_secs(10));
    let (woke, wrote) = (process::woken(&before, &sleeps()), program.bytes - bytes);
    let mib = |pid| process::memory(pid).0 as f64 / 1024.0;
    row("Resident when idle", mib(pids[0]), "MiB", Limit::Most(25.0), "122");
    for guard in &pids[1..] {
        note(&format!("its guard process: {:.1} MiB", mib(*guard)));
    }
    row("Written in 10 s of idling", wrote as f64, "bytes", Limit::Most(0.0), "0");
    row("Wake-ups in 10 s of idling, all threads and the guard", woke as f64, "", Limit::Most(0.0), "");
}

/// Submits a task, and watches the reply up to its first pieces.
fn ask(program: &mut Program, times: &Times) -> Watch {
    let mut watch = Watch::new(times);
    times.lock().expect("not poisoned").clear();
    program.send(b"go\r");
    watch.until(program, 0);
    watch
}

fn stream() {
    // What lies between the two paced stretches comes at once: where in the message a piece stands is what counts, not how it got there.
    const PACED: usize = 2_000;
    const WHOLE: usize = 20_000;
    let stretches = [
        Stretch::paced(PACED, 200),
        Stretch::burst(WHOLE - 2 * PACED),
        Stretch { pause: Duration::from_secs(2), ..Stretch::paced(PACED, 200) },
    ];
    let times = Times::default();
    let whole = server(reply(&stretches, &times));
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let place = Place::new();
        let mut program = launch(&place, &whole, &[]);
        let mut watch = ask(&mut program, &times);
        watch.until(&mut program, 100);
        watch.until(&mut program, PACED - 1);
        first.push(watch.cost());
        watch.until(&mut program, WHOLE - PACED + 100);
        watch.until(&mut program, WHOLE - 1);
        last.push(watch.cost());
    }
    let short = server(reply(&[Stretch::paced(PACED, 200)], &times));
    // Each has a past of its own: what one round adds would be seen by the next.
    let behind: Vec<Cost> = (0..ROUNDS).map(|_| paced(&past::place(40_000), &short, &times, PACED)).collect();
    let both = |of: fn(&Cost) -> f64| median(&first.iter().chain(&last).map(of).collect::<Vec<_>>());
    row("Streaming 200 chunks/s: CPU seconds a 1,000 chunks", both(|c| c.cpu), "", Limit::Most(0.15), "2.39");
    let silent = silent(&short, &times, PACED);
    row("… bytes to the terminal a chunk", both(|c| c.bytes), "", Limit::Most(500.0), "78 inline, 287 full-screen");
    row("… the same in a terminal without synchronized output", silent.bytes, "", Limit::Most(500.0), "");
    let late = |costs: &[Cost]| median(&costs.iter().map(|cost| p95(&cost.late)).collect::<Vec<_>>());
    let (first, last, behind) = (late(&first), late(&last), late(&behind));
    row("… chunk on screen, p95", first, "ms", Limit::Most(45.0), "69");
    row("… at the end of a 20,000-chunk message, times that", last / first, "×", Limit::Most(1.2), "1.1–1.4");
    row("… behind 40,000 lines of transcript, times that", behind / first, "×", Limit::Most(1.2), "1.1–1.4");
}

fn paced(place: &Place, server: &ModelServer, times: &Times, pieces: usize) -> Cost {
    let mut program = launch(place, server, &["--continue"]);
    let mut watch = ask(&mut program, times);
    watch.until(&mut program, 100);
    watch.until(&mut program, pieces - 1);
    watch.cost()
}

fn silent(server: &ModelServer, times: &Times, pieces: usize) -> Cost {
    let url = server.base_url();
    let place = Place::new();
    let arguments = ["-m", "openai:test-model", "--base-url", &url];
    let mut program = Program::start_in(Terminal::Silent, &place, &arguments, b"");
    program.until("F1 help");
    let mut watch = ask(&mut program, times);
    watch.until(&mut program, 100);
    watch.until(&mut program, pieces - 1);
    watch.cost()
}

fn burst() {
    const WHOLE: usize = 20_000;
    let times = Times::default();
    let server = server(reply(&[Stretch::burst(WHOLE)], &times));
    let (mut cpu, mut late) = (Vec::new(), Vec::new());
    for _ in 0..2 * ROUNDS - 1 {
        let place = Place::new();
        let mut program = launch(&place, &server, &[]);
        let before = program.cpu();
        let mut watch = ask(&mut program, &times);
        watch.until(&mut program, WHOLE - 1);
        late.push(watch.late(WHOLE - 1) / 1000.0);
        program.settle(Duration::from_millis(300));
        cpu.push((program.cpu() - before) * 1000.0 / WHOLE as f64);
    }
    row("A burst of 20,000 chunks: CPU seconds a 1,000 chunks", median(&cpu), "", Limit::Most(0.05), "0.15");
    row("… its end on screen after the last chunk", median(&late), "s", Limit::Most(0.5), "2.1");
}

/// Types letters and takes each back; how long each took to be seen.
fn type_some(program: &mut Program, count: usize) -> Vec<f64> {
    let mut late = Vec::new();
    for letter in ('a'..='z').cycle().take(count) {
        let shown = format!("› {letter}");
        let start = Instant::now();
        program.send(&[letter as u8]);
        late.push(ms(program.until(&shown) - start));
        program.pump(Duration::from_millis(23));
        program.send(b"\x7f");
        program.pump(Duration::from_millis(31));
    }
    late
}

fn keys() {
    const LINES: usize = 100_000;
    let times = Times::default();
    let server = server(reply(&[Stretch::paced(4_000, 200)], &times));
    let place = Place::new();
    let mut program = launch(&place, &server, &[]);
    let idle = type_some(&mut program, 200);
    drop(program);
    row("Key echoed, idle, p95", p95(&idle), "ms", Limit::Most(16.0), "41");
    let place = past::place(LINES);
    let mut program = launch(&place, &server, &["--continue"]);
    let _watch = ask(&mut program, &times);
    let busy = type_some(&mut program, 200);
    assert!(program.text().contains("k00"), "it streams:\n{}", program.text());
    row("Key echoed while streaming behind 100,000 lines, p95", p95(&busy), "ms", Limit::Most(16.0), "41");
    // To the top and to the bottom of it.
    program.send(b"\x1b");
    program.pump(Duration::from_millis(300));
    program.send(b"\t1");
    let top = jump(&mut program, b"g", "L000000 Answer 0");
    let bottom = jump(&mut program, b"G", "k00");
    row("… and then to the first line", top, "ms", Limit::None, "");
    row("… and to the last", bottom, "ms", Limit::None, "");
    assert!(past::last_line(LINES) > 65_536);
}

/// A key that moves far; how long it took.
fn jump(program: &mut Program, key: &[u8], what: &str) -> f64 {
    assert!(!program.text().contains(what), "{what} is in sight already:\n{}", program.text());
    let start = Instant::now();
    program.send(key);
    ms(program.until(what) - start)
}

fn resize() {
    let server = server(Reply::hang());
    let place = past::place(40_000);
    let mut program = launch(&place, &server, &["--continue"]);
    let mut times = Vec::new();
    for i in 0..20 {
        let (cols, rows) = if i % 2 == 0 { (97, 31) } else { program::SIZE };
        program.settle(Duration::from_millis(150));
        let start = program.resize(cols, rows);
        let last = program.pump(Duration::from_millis(250)).expect("a new frame");
        times.push(ms(last - start));
        let text = program.text();
        let rule =
            text.lines().find(|line| line.contains("─ Answer") || line.contains("─ Timeline")).unwrap_or_default();
        assert!(unicode_width::UnicodeWidthStr::width(rule) >= usize::from(cols) - 2, "not the new width:\n{text}");
    }
    row("Resize settles behind 40,000 lines, p95 of 20", p95(&times), "ms", Limit::Most(30.0), "39");
}

fn memory() {
    // 8 MiB of text.
    const PIECES: usize = 512 * 1024;
    let times = Times::default();
    let place = Place::new();
    let server = server(reply(&[Stretch::burst(PIECES)], &times));
    let mut program = launch(&place, &server, &[]);
    program.pump(Duration::from_secs(1));
    let before = process::memory(program.pid()).0;
    let mut watch = ask(&mut program, &times);
    watch.until(&mut program, PIECES - 1);
    program.settle(Duration::from_secs(1));
    let (after, most) = process::memory(program.pid());
    let text = (PIECES * 16 / 1024) as f64;
    let grown = |to: u64| to.saturating_sub(before) as f64 / text;
    row("8 MiB streamed: growth of resident memory, times the text", grown(after), "×", Limit::Most(4.0), "");
    row("… at its highest", grown(most), "×", Limit::Most(4.0), "");
    // One message of more than 65,536 rows.
    program.send(b"\t1");
    program.pump(Duration::from_millis(300));
    let top = jump(&mut program, b"g", "k000000 ");
    let bottom = jump(&mut program, b"G", &format!("k{:06}", PIECES - 1));
    row("… to its first row", top, "ms", Limit::None, "");
    row("… to its last row", bottom, "ms", Limit::None, "");
}
