//! How often something is tried again, and after what pause. Pure but for chance.
//!
//! Owns: the count of tries. **Invariant:** it is bounded: after the last pause comes `None`, until something succeeded.

use std::time::Duration;

/// The first pause, about.
const FIRST: Duration = Duration::from_millis(400);
/// The longest pause that is our own choice.
const LONGEST: Duration = Duration::from_secs(15);
/// The shortest one, whatever a server asks for: a server that cuts every stream must not keep us busy.
const SHORTEST: Duration = Duration::from_millis(100);

/// Tries that are left.
#[derive(Debug, Clone)]
pub(super) struct Tries {
    most: u32,
    made: u32,
}

impl Tries {
    /// So many more than the first.
    pub(super) const fn new(most: u32) -> Self {
        Self { most, made: 0 }
    }

    /// The pause before the next one: doubled each time, up to a limit, with half of it left to chance, so that many clients do not come back at once.
    /// `asked` is what the server wants: it is never undercut. `None` when none is left.
    pub(super) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.made == self.most {
            return None;
        }
        let grown = FIRST.saturating_mul(1 << self.made.min(16)).min(LONGEST);
        self.made += 1;
        let own = grown.mul_f64(0.5 + fastrand::f64() / 2.0);
        Some(match asked {
            // The first return after an orderly end comes exactly when it was asked for.
            Some(asked) if self.made == 1 => asked.max(SHORTEST),
            Some(asked) => asked.max(own),
            None => own,
        })
    }

    /// Whether something went wrong since the last success.
    pub(super) fn begun(&self) -> bool {
        self.made > 0
    }

    /// It succeeded.
    pub(super) fn reset(&mut self) {
        self.made = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_are_left_to_chance_and_come_to_an_end() {
        let mut tries = Tries::new(8);
        let pauses: Vec<Duration> = std::iter::from_fn(|| tries.next(None)).collect();
        assert_eq!(pauses.len(), 8);
        for (at, pause) in pauses.iter().enumerate() {
            let most = FIRST.saturating_mul(1 << at).min(LONGEST);
            assert!(*pause <= most && *pause >= most / 2, "{at}: {pause:?} of {most:?}");
        }
        tries.reset();
        assert!(tries.next(None).is_some() && tries.begun());
        let others: Vec<_> = (0..8).map(|_| Tries::new(1).next(None)).collect();
        assert!(others.iter().any(|other| *other != others[0]), "no chance in it: {others:?}");
    }

    #[test]
    fn what_the_server_asks_for_is_never_undercut() {
        let mut tries = Tries::new(5);
        let asked = Duration::from_millis(700);
        assert_eq!(tries.next(Some(asked)), Some(asked));
        for _ in 0..4 {
            assert!(tries.next(Some(asked)).unwrap() >= asked);
        }
        assert_eq!(Tries::new(1).next(Some(Duration::ZERO)), Some(SHORTEST));
        let long = Duration::from_secs(600);
        let mut tries = Tries::new(2);
        tries.next(None);
        assert_eq!(tries.next(Some(long)), Some(long));
    }
}
