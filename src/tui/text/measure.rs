//! Sizes and durations for people.

use crate::strings::Strings;
use std::time::Duration;

/// A size: `812 B`, `1.2 kB`, `34 MB`.
pub fn size(bytes: usize) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 1000.0 || unit == "GB" {
            return if unit == "B" || value >= 9.95 {
                format!("{value:.0} {unit}")
            } else {
                format!("{value:.1} {unit}")
            };
        }
        value /= 1000.0;
    }
    String::new()
}

/// A duration: `3 ms`, `0.4 s`, `12 s`, `2 min 5 s`, `1 h 3 min`.
pub fn elapsed(time: Duration, strings: &Strings) -> String {
    let seconds = time.as_secs();
    if time.as_millis() < 50 {
        return strings.fill("cell.millis", &[("n", &time.as_millis().to_string())]);
    }
    if time.as_millis() < 9950 {
        return strings.fill("cell.seconds", &[("n", &format!("{:.1}", time.as_secs_f64()))]);
    }
    if seconds < 60 {
        return strings.fill("cell.seconds", &[("n", &seconds.to_string())]);
    }
    let (key, large, small) = if seconds < 3600 {
        ("cell.minutes", seconds / 60, seconds % 60)
    } else {
        ("cell.hours", seconds / 3600, seconds / 60 % 60)
    };
    strings.fill(key, &[("n", &large.to_string()), ("m", &small.to_string())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        assert_eq!([size(0), size(812), size(1234), size(34_000_000)], ["0 B", "812 B", "1.2 kB", "34 MB"]);
        let time = |millis| elapsed(Duration::from_millis(millis), &Strings::default());
        assert_eq!(
            [time(420), time(12_300), time(125_000), time(3_800_000)],
            ["0.4 s", "12 s", "2 min 5 s", "1 h 3 min"]
        );
    }
}
