//! The task that owns the scheduler: it takes what is asked, and what time brings.
use super::device::Opened;
use super::scheduler::Scheduler;
use super::{Decision, Fleet, Status, Want};
use crate::engine::Engine;
use forebay_spec::burst::ReleaseKind;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Asks that are taken together.
const BATCH_MAX: usize = 64;

/// What the task is asked for.
#[derive(Debug)]
pub(super) enum Ask {
    /// Decide a request.
    Decide { id: u32, want: Box<Want>, answer: oneshot::Sender<Decision> },
    /// The client has left while its request was in the line.
    Leave { id: u32 },
    /// A slot comes back.
    Release { id: u32, kind: ReleaseKind, output_tokens: u16 },
    /// The engine failed; another one is wanted.
    Again { id: u32, answer: oneshot::Sender<Decision> },
    /// Another set-up.
    Exchange { fleet: Arc<Fleet>, answer: oneshot::Sender<Result<(), String>> },
    /// An engine's own figures are other ones.
    Loaded { engine: Arc<Engine> },
    /// It is time to make a device.
    Open,
    /// One has been made, or could not be.
    Opened(Box<Opened>),
    /// How it stands.
    Status { answer: oneshot::Sender<Status> },
}

impl Ask {
    /// Asks that stand there at the same moment are taken in this order, which is that of `INPUT_ORDER`.
    fn rank(&self) -> u8 {
        match self {
            Ask::Leave { .. } | Ask::Release { .. } | Ask::Loaded { .. } => 0,
            Ask::Exchange { .. } | Ask::Open | Ask::Opened(_) => 1,
            Ask::Decide { .. } | Ask::Again { .. } => 2,
            Ask::Status { .. } => 3,
        }
    }
}

/// Answers until nobody is left to ask.
pub(super) async fn run(mut scheduler: Scheduler, mut asks: mpsc::UnboundedReceiver<Ask>) {
    scheduler.want_device();
    let mut batch = Vec::with_capacity(BATCH_MAX);
    let mut alarm = pin!(tokio::time::sleep_until(scheduler.next_tick().into()));
    loop {
        let due = scheduler.next_tick().into();
        // one that is too early does no harm
        if alarm.is_elapsed() || due < alarm.deadline() {
            alarm.as_mut().reset(due);
        }
        tokio::select! {
            taken = asks.recv_many(&mut batch, BATCH_MAX) => if taken == 0 { return },
            () = alarm.as_mut() => {}
        }
        batch.sort_by_key(Ask::rank);
        scheduler.pass_time();
        scheduler.look();
        scheduler.first_tokens();
        for ask in batch.drain(..) {
            // whoever waits comes before who comes now
            if ask.rank() > 0 {
                scheduler.bind();
            }
            answer(&mut scheduler, ask);
        }
        scheduler.bind();
        scheduler.publish();
    }
}

fn answer(scheduler: &mut Scheduler, ask: Ask) {
    match ask {
        Ask::Decide { id, want, answer } => scheduler.decide(id, want, answer),
        Ask::Leave { id } => scheduler.leave(id),
        Ask::Release { id, kind, output_tokens } => scheduler.release(id, kind, output_tokens),
        Ask::Again { id, answer } => scheduler.again(id, answer),
        Ask::Loaded { engine } => scheduler.loaded(&engine),
        Ask::Open => scheduler.open_device(),
        Ask::Opened(opened) => scheduler.opened(*opened),
        Ask::Exchange { fleet, answer } => {
            let _ = answer.send(scheduler.exchange(fleet));
        }
        Ask::Status { answer } => {
            scheduler.publish();
            let _ = answer.send(scheduler.status());
        }
    }
}
