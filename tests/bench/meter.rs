//! What every benchmark needs: medians, the load of the machine, and rows of the table that stands in the README.

// Each benchmark uses its own part of this.
#![allow(dead_code)]

use std::io::Write;
use std::time::{Duration, Instant};

/// Whether `cargo bench` runs us: tests build benchmarks too (`--all-targets`), but must not run them.
pub fn is_bench() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Whether a part of the benchmark was asked for: all are, unless some are named.
pub fn is_wanted(name: &str) -> bool {
    let mut named = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).peekable();
    named.peek().is_none() || named.any(|argument| argument == name)
}

/// The value in the middle.
pub fn median(values: &[f64]) -> f64 {
    share(values, 0.5)
}

/// The value that 95 of 100 do not exceed.
pub fn p95(values: &[f64]) -> f64 {
    share(values, 0.95)
}

fn share(values: &[f64], share: f64) -> f64 {
    assert!(!values.is_empty(), "nothing was measured");
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// Milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The median of how long something takes, run again and again for a while, in seconds. `make` prepares each run and is not counted.
pub fn time<T>(for_: Duration, mut make: impl FnMut() -> T, mut run: impl FnMut(&mut T)) -> f64 {
    let end = Instant::now() + for_;
    let mut times = Vec::new();
    while times.len() < 5 || Instant::now() < end {
        let mut subject = make();
        let start = Instant::now();
        run(std::hint::black_box(&mut subject));
        times.push(start.elapsed().as_secs_f64());
        std::hint::black_box(&subject);
    }
    median(&times)
}

/// The load average of the last minute.
pub fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

/// What a figure must be.
#[derive(Debug, Clone, Copy)]
pub enum Limit {
    /// At most this.
    Most(f64),
    /// Nothing is promised.
    None,
}

/// Writes a row of the table: what, measured, limit, best of today's terminal agents.
pub fn row(what: &str, value: f64, unit: &str, limit: Limit, best: &str) {
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let (limit, mark) = match limit {
        Limit::Most(most) if value <= most => (format!("{}{unit}", number(most)), ""),
        Limit::Most(most) => (format!("{}{unit}", number(most)), " (missed)"),
        Limit::None => (String::new(), ""),
    };
    let line = format!("| {what} | {}{unit}{mark} | {limit} | {best} |\n", number(value));
    let mut out = std::io::stdout();
    // Whoever closed the output reads nothing.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

/// Three figures are enough.
fn number(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { (2 - value.abs().log10().floor() as i32).clamp(0, 4) };
    let text = format!("{value:.*}", digits as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Says what is going on, beside the table.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "  {text}");
}
