//! Ids of requests.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Letters of an id, and of a key.
pub(crate) const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Makes ids that no two requests of any start share, and that tell nothing of how many there were.
#[derive(Debug)]
pub struct Ids {
    key: [u8; 16],
    next: AtomicU64,
}

impl Ids {
    /// A source with a key of its own.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new() -> Result<Self, String> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|e| format!("the system gives no random numbers: {e}"))?;
        Ok(Ids { key, next: AtomicU64::new(0) })
    }

    /// `req_` and 24 letters.
    pub fn next(&self) -> String {
        let count = self.next.fetch_add(1, Relaxed);
        let mut bits = u128::from_le_bytes(forebay_decide::tag::keyed_tag(&self.key, &count.to_le_bytes()));
        let mut id = String::with_capacity(28);
        id.push_str("req_");
        for _ in 0..24 {
            id.push(char::from(LETTERS[(bits & 31) as usize]));
            bits >>= 5;
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_ids_are_alike() {
        let ids = Ids { key: [7; 16], next: AtomicU64::new(0) };
        let all: std::collections::HashSet<String> = (0..10_000).map(|_| ids.next()).collect();
        assert_eq!(all.len(), 10_000);
        assert!(all.iter().all(|id| id.len() == 28 && id.starts_with("req_")));
    }
}
