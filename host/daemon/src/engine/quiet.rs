//! A waker for what a task drives by itself.
//!
//! The two ends of a connection wake each other with each piece. Both are polled by the same task, one after the other, so that
//! these wakes would only have the task polled once more, and another thread woken for it.
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Nothing is being polled: a wake goes to the task.
const REST: u8 = 0;
/// Something is being polled: a wake has it polled again.
const POLLED: u8 = 1;
/// Something is being polled, and a wake has come.
const AGAIN: u8 = 2;

/// After so many polls in a row others have their turn.
const ROUNDS_MAX: usize = 8;

#[derive(Debug)]
struct Inner {
    state: AtomicU8,
    task: Mutex<Waker>,
}

impl Inner {
    fn wake_task(&self) {
        self.task.lock().unwrap_or_else(PoisonError::into_inner).wake_by_ref();
    }
}

impl Wake for Inner {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.compare_exchange(POLLED, AGAIN, SeqCst, SeqCst) == Err(REST) {
            self.wake_task();
        }
    }
}

/// Stands between a task and what it polls.
#[derive(Debug)]
pub(super) struct Quiet {
    inner: Arc<Inner>,
    waker: Waker,
}

impl Default for Quiet {
    fn default() -> Self {
        let inner = Arc::new(Inner { state: AtomicU8::new(REST), task: Mutex::new(Waker::noop().clone()) });
        Quiet { waker: Waker::from(inner.clone()), inner }
    }
}

impl Quiet {
    /// From here to the next [`Quiet::poll`] wakes are kept; it has to follow before the task waits for anything.
    pub(super) fn hush(&self) {
        self.inner.state.store(POLLED, SeqCst);
    }

    /// Polls, again as long as that wakes itself and comes to nothing. Wakes of others are never lost.
    pub(super) fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        {
            let mut task = self.inner.task.lock().unwrap_or_else(PoisonError::into_inner);
            task.clone_from(cx.waker());
        }
        let mut own = Context::from_waker(&self.waker);
        for _ in 0..ROUNDS_MAX {
            // what has come so far is seen by this poll
            self.hush();
            let polled = poll(&mut own);
            if polled.is_ready() {
                // whoever wants more polls again
                self.inner.state.store(REST, SeqCst);
                return polled;
            }
            if self.inner.state.compare_exchange(POLLED, REST, SeqCst, SeqCst).is_ok() {
                return Poll::Pending;
            }
        }
        self.inner.state.store(REST, SeqCst);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    /// Polls of what wakes itself `wakes` times, how often the task was woken by that, and the waker that was left.
    fn polled(wakes: usize) -> (usize, usize, Waker, Arc<Wakes>, Quiet) {
        let task = Arc::new(Wakes::default());
        let waker = Waker::from(task.clone());
        let (mut quiet, mut polls, mut left) = (Quiet::default(), 0, Waker::noop().clone());
        let polled: Poll<()> = quiet.poll(&mut Context::from_waker(&waker), |cx| {
            polls += 1;
            if polls <= wakes {
                cx.waker().wake_by_ref();
            }
            left = cx.waker().clone();
            Poll::Pending
        });
        assert!(polled.is_pending());
        (polls, task.0.load(SeqCst), left, task, quiet)
    }

    #[test]
    fn what_wakes_itself_is_polled_again_and_the_task_is_not() {
        assert_eq!(polled(0).0, 1);
        let (polls, woken, ..) = polled(3);
        assert_eq!((polls, woken), (4, 0));
        let (polls, woken, ..) = polled(usize::MAX);
        assert_eq!((polls, woken), (ROUNDS_MAX, 1), "others have their turn");
    }

    #[test]
    fn a_wake_between_polls_goes_to_the_task() {
        let (_, _, left, task, mut quiet) = polled(2);
        left.wake_by_ref();
        assert_eq!(task.0.load(SeqCst), 1);
        // to the one that polled last
        let other = Arc::new(Wakes::default());
        let ready = quiet.poll(&mut Context::from_waker(&Waker::from(other.clone())), |cx| {
            cx.waker().wake_by_ref();
            Poll::Ready(7)
        });
        assert_eq!((ready, other.0.load(SeqCst)), (Poll::Ready(7), 0));
        left.wake();
        assert_eq!((task.0.load(SeqCst), other.0.load(SeqCst)), (1, 1));
    }
}
