//! What is real: the memory and the hosts file of this machine.

use super::{failure, text};
use serde_json::{Value, json};
use std::io::Read;

/// Most of the hosts file that is read.
const HOSTS: u64 = 64 * 1024;

/// How much memory there is, and how much of it is used.
pub(super) fn memory() -> Value {
    let Ok(info) = std::fs::read_to_string("/proc/meminfo") else {
        return failure("This system has no /proc/meminfo, which is where this demonstration looks.");
    };
    let (Some(total), Some(available)) = (kib(&info, "MemTotal:"), kib(&info, "MemAvailable:")) else {
        return failure("/proc/meminfo does not say how much memory there is.");
    };
    let used = total.saturating_sub(available);
    let gib = |kib: u64| kib as f64 / f64::from(1024 * 1024);
    let mut result =
        text(format!("{:.1} GiB of {:.1} GiB are used ({} %).", gib(used), gib(total), used * 100 / total.max(1)));
    result["structuredContent"] = json!({ "total_kib": total, "available_kib": available, "used_kib": used });
    result
}

fn kib(info: &str, name: &str) -> Option<u64> {
    let line = info.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// `/etc/hosts`.
pub(super) fn hosts() -> Value {
    let mut content = Vec::new();
    match std::fs::File::open("/etc/hosts").and_then(|file| file.take(HOSTS).read_to_end(&mut content)) {
        Ok(_) => text(String::from_utf8_lossy(&content)),
        Err(error) => failure(format!("/etc/hosts cannot be read: {error}")),
    }
}
