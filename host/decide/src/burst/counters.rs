//! What has happened since reset.
use forebay_spec::burst::{Action, LostReason, RefuseReason, ReleaseKind, INPUT_ORDER};
use forebay_spec::{PuntReason, RejectReason};

/// Counts since reset. Arrays by reason are indexed by the reason's code less 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events by their place in `INPUT_ORDER`.
    pub events: [u64; INPUT_ORDER.len()],
    /// Sound inference requests.
    pub requests: u64,
    /// Of these, admitted at once.
    pub admitted: u64,
    /// Of these, held.
    pub held_in: u64,
    /// Of these, refused at once.
    pub refused: u64,
    /// Held requests that got a node.
    pub bound: u64,
    /// Held requests that left without one.
    pub put_out: u64,
    /// Grants that ended because the node went away before the first token; the request was decided again.
    pub returned: u64,
    /// Of these, held again.
    pub held_again: u64,
    /// Admit verdicts for a node that was not the one whose turn it was.
    pub redirected: u64,
    /// Refuse verdicts, by reason.
    pub refuse: [u64; RefuseReason::ALL.len()],
    /// Lost verdicts, by reason.
    pub lost: [u64; LostReason::ALL.len()],
    /// Reject verdicts, by reason.
    pub reject: [u64; RejectReason::ALL.len()],
    /// Punt verdicts, by reason.
    pub punt: [u64; PuntReason::ALL.len()],
    /// Pass verdicts.
    pub pass: u64,
    /// Releases that were applied, by kind.
    pub released: [u64; ReleaseKind::ALL.len()],
    /// Releases that changed nothing.
    pub stale_release: u64,
    /// Changes of nodes that are not there.
    pub stale_node: u64,
}

impl Counters {
    /// Grants of a slot.
    pub fn grants(&self) -> u64 {
        self.admitted + self.bound
    }

    /// Releases that freed a slot.
    pub fn freed(&self) -> u64 {
        let kinds = [ReleaseKind::Done, ReleaseKind::Cancel, ReleaseKind::Invalid];
        kinds.iter().map(|k| self.released[usize::from(k.code())]).sum()
    }

    pub(super) fn count(&mut self, action: &Action) {
        let place = |code: u8| usize::from(code) - 1;
        match action {
            Action::Admit { redirected, .. } => self.redirected += u64::from(*redirected),
            Action::Hold { .. } => {}
            Action::Refuse { reason, .. } => self.refuse[place(reason.code())] += 1,
            Action::Reject(reason) => self.reject[place(reason.code())] += 1,
            Action::Pass => self.pass += 1,
            Action::Lost { reason, .. } => self.lost[place(reason.code())] += 1,
            Action::Punt(reason) => self.punt[place(reason.code())] += 1,
        }
    }
}
