//! The twin's counts, from what the circuit shows alone.
use super::UnderWay;
use forebay_decide::burst::Counters;
use forebay_spec::burst::{Action, Input, Verdict, Visit};

/// Counts an event that has been answered.
pub(super) fn count(counters: &mut Counters, event: &UnderWay) {
    counters.events[usize::from(event.input.rank())] += 1;
    match &event.input {
        Input::Release(_) if event.stale_release => counters.stale_release += 1,
        Input::Release(release) => counters.released[usize::from(release.kind.code())] += 1,
        Input::Node { .. } => counters.stale_node += u64::from(event.stale_node),
        _ => {}
    }
    if let Some(own) = event.verdicts.own() {
        own_verdict(counters, &event.input, own);
        verdict(counters, &own.action);
    }
    if let Some(evicted) = event.verdicts.evicted() {
        counters.put_out += 1;
        verdict(counters, &evicted.action);
    }
}

/// What a verdict means follows from the event that it answers.
fn own_verdict(counters: &mut Counters, input: &Input, own: &Verdict) {
    match (input, &own.action) {
        (Input::Record(_) | Input::PuntResult(_), action) => {
            let first = match action {
                Action::Admit { .. } => &mut counters.admitted,
                Action::Hold { .. } => &mut counters.held_in,
                Action::Refuse { .. } => &mut counters.refused,
                _ => return,
            };
            *first += 1;
            counters.requests += 1;
        }
        (Input::Bind { .. }, Action::Admit { .. }) => counters.bound += 1,
        (Input::Bind { .. } | Input::Visit(Visit::Entry(_)), Action::Refuse { .. }) => counters.put_out += 1,
        (Input::Visit(Visit::Slot(_)), Action::Refuse { .. }) => counters.returned += 1,
        (Input::Visit(Visit::Slot(_)), Action::Hold { .. }) => {
            counters.returned += 1;
            counters.held_again += 1;
        }
        _ => {}
    }
}

fn verdict(counters: &mut Counters, action: &Action) {
    let place = usize::from(action.reason_code()).wrapping_sub(1);
    match action {
        Action::Admit { redirected, .. } => counters.redirected += u64::from(*redirected),
        Action::Hold { .. } => {}
        Action::Refuse { .. } => counters.refuse[place] += 1,
        Action::Reject(_) => counters.reject[place] += 1,
        Action::Pass => counters.pass += 1,
        Action::Lost { .. } => counters.lost[place] += 1,
        Action::Punt(_) => counters.punt[place] += 1,
    }
}
