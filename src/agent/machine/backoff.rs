//! How long to wait before the next try: exponential from one second to thirty, with jitter, never below `Retry-After`.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LAST: Duration = Duration::from_secs(30);

/// A small generator of numbers (splitmix64), so that the machine needs no clock and no system for its jitter.
#[derive(Debug)]
pub(super) struct Jitter(pub u64);

impl Jitter {
    /// The next number in `0.0..1.0`.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The wait before try `attempt` (from 1). Up to a quarter more than the exponential value, so that many clients do not come back at once.
pub(super) fn delay(attempt: u32, retry_after_ms: Option<u64>, jitter: &mut Jitter) -> Duration {
    let exponential = FIRST.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(LAST);
    let spread = exponential.mul_f64(1.0 + jitter.next() / 4.0).min(LAST);
    spread.max(Duration::from_millis(retry_after_ms.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_from_one_to_thirty_seconds_and_honours_retry_after() {
        let mut jitter = Jitter(7);
        let waits: Vec<f64> = (1..=7).map(|n| delay(n, None, &mut jitter).as_secs_f64()).collect();
        for (wait, base) in waits.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]) {
            assert!((base..=base * 1.25).contains(wait) && *wait <= 30.0, "{waits:?}");
        }
        assert_eq!(delay(1, Some(90_000), &mut jitter), Duration::from_secs(90));
    }
}
