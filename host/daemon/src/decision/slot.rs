//! What a request holds of the scheduler: a place in the line, then a slot. Both come back when they are dropped.
use super::task::Ask;
use super::Decision;
use forebay_spec::burst::{LostReason, ReleaseKind};
use std::future::{poll_fn, Future};
use std::pin::{pin, Pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use tokio::sync::{mpsc, oneshot};

/// A request whose decision is still to come. Dropped before it has come, it leaves the line.
#[derive(Debug)]
pub struct Waiting {
    id: u32,
    queue: mpsc::UnboundedSender<Ask>,
    answer: oneshot::Receiver<Decision>,
    open: bool,
}

impl Waiting {
    pub(super) fn new(id: u32, queue: mpsc::UnboundedSender<Ask>, answer: oneshot::Receiver<Decision>) -> Self {
        Waiting { id, queue, answer, open: true }
    }

    /// It is no business of this guard any more.
    pub(super) fn disown(&mut self) {
        self.open = false;
    }

    /// Waits for the decision.
    pub async fn decision(mut self) -> Decision {
        let decision = (&mut self.answer).await;
        self.open = false;
        decision.unwrap_or(Decision::Lost)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.open {
            // closed first, so that the task sees it whatever it looks at
            self.answer.close();
            let _ = self.queue.send(Ask::Leave { id: self.id });
        }
    }
}

/// The slot was taken back from its request: the engine is gone.
#[derive(Debug)]
pub enum Taken {
    /// There was no output yet: it is decided again.
    Back(Waiting),
    /// There was, or it is not the first time.
    Lost(LostReason),
}

/// How an admitted request stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Who decided: `twin`, or the name of the device.
    pub layer: &'static str,
    /// Level of the declared `max_tokens`.
    pub level: u8,
    /// Time that it was held, ms.
    pub queue_ms: u32,
    /// The decision in JSON, for those who may see it.
    pub explained: Option<Box<str>>,
}

/// Requests whose first token has come. It wakes nobody: while prompts are worked off, or somebody is held, the task looks
/// often enough by itself.
#[derive(Debug, Default)]
pub(super) struct Firsts(Mutex<Vec<u32>>);

impl Firsts {
    fn put(&self, id: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    }

    /// Those that have come since.
    pub(super) fn take(&self) -> Vec<u32> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The slot of an admitted request; given back when this is dropped, as `Cancel` unless told otherwise.
#[derive(Debug)]
pub struct Slot {
    id: u32,
    /// What the client is told of it.
    pub told: Told,
    queue: mpsc::UnboundedSender<Ask>,
    firsts: Arc<Firsts>,
    taken: Option<oneshot::Receiver<Taken>>,
    /// How it ends; `None` if it is not this guard's any more.
    end: Option<(ReleaseKind, u16)>,
    first_token: bool,
}

impl Slot {
    pub(super) fn new(
        id: u32,
        told: Told,
        queue: mpsc::UnboundedSender<Ask>,
        firsts: Arc<Firsts>,
        taken: oneshot::Receiver<Taken>,
    ) -> Self {
        let (taken, end) = (Some(taken), Some((ReleaseKind::Cancel, 0)));
        Slot { id, told, queue, firsts, taken, end, first_token: false }
    }

    /// It is no business of this guard any more.
    pub(super) fn disown(&mut self) {
        self.end = None;
    }

    /// The first output token has come: the prompt burdens the engine no more.
    pub fn first_token(&mut self) {
        if !self.first_token && self.end.is_some() {
            self.first_token = true;
            self.firsts.put(self.id);
        }
    }

    /// The engine has finished, after so many output tokens.
    pub fn done(mut self, output_tokens: u64) {
        self.finish(ReleaseKind::Done, u16::try_from(output_tokens).unwrap_or(u16::MAX));
    }

    /// The request is none after all.
    pub fn invalid(mut self) {
        self.finish(ReleaseKind::Invalid, 0);
    }

    fn finish(&mut self, kind: ReleaseKind, output_tokens: u16) {
        if let Some(end) = &mut self.end {
            *end = (kind, output_tokens);
        }
    }

    /// The engine failed before the first byte of a reply: the slot goes back, and the request is decided again, for
    /// another engine.
    pub fn again(mut self) -> Waiting {
        let (sender, answer) = oneshot::channel();
        self.end = None;
        if let Some(mut taken) = self.taken.take() {
            // closed first: what has not come by now will not come
            taken.close();
            match taken.try_recv() {
                Ok(Taken::Back(waiting)) => return waiting,
                Ok(Taken::Lost(_)) => {
                    let _ = sender.send(Decision::Lost);
                    let mut waiting = Waiting::new(self.id, self.queue.clone(), answer);
                    waiting.disown();
                    return waiting;
                }
                Err(_) => {}
            }
        }
        let _ = self.queue.send(Ask::Again { id: self.id, answer: sender });
        Waiting::new(self.id, self.queue.clone(), answer)
    }

    /// Waits for something, or until the slot is taken back.
    ///
    /// # Errors
    /// What becomes of the request, whose slot this is no more.
    pub async fn unless_taken<F: Future>(&mut self, future: F) -> Result<F::Output, Taken> {
        let mut future = pin!(future);
        let taken = &mut self.taken;
        let output = poll_fn(|cx| {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Ok(output));
            }
            match taken.as_mut().map(|receiver| Pin::new(receiver).poll(cx)) {
                Some(Poll::Ready(Ok(taken))) => Poll::Ready(Err(taken)),
                Some(Poll::Ready(Err(_))) => {
                    // the task has ended: nobody takes anything back
                    *taken = None;
                    Poll::Pending
                }
                _ => Poll::Pending,
            }
        })
        .await;
        if output.is_err() {
            (self.taken, self.end) = (None, None);
        }
        output
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some((kind, output_tokens)) = self.end.take() {
            // with the task gone no slot is left to give back
            let _ = self.queue.send(Ask::Release { id: self.id, kind, output_tokens });
        }
    }
}
