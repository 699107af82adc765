//! A burst scheduler on a thread of its own, so that whoever asks it waits no longer than is said.
use crate::burst::Answer;
use crate::{BurstDevice, DeviceError};
use forebay_decide::burst::Counters;
use forebay_spec::burst::Event;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// What comes back for an event.
type Reply = Result<(Option<Answer>, Counters), DeviceError>;

/// A device behind a thread. The thread ends with this, or with the device's first error; one that hangs inside the device
/// is left to itself.
pub struct Threaded {
    name: &'static str,
    events: Sender<Event>,
    replies: Receiver<Reply>,
    under_way: usize,
    answer_time: Duration,
    counters: Counters,
}

impl Threaded {
    /// Makes a device on a new thread, within `open_time`. From then on an answer that takes longer than `answer_time` is an
    /// error.
    ///
    /// # Errors
    /// Why it could not be made, or `Late`.
    pub fn start(
        make: impl FnOnce() -> Result<Box<dyn BurstDevice>, DeviceError> + Send + 'static,
        open_time: Duration,
        answer_time: Duration,
    ) -> Result<Self, DeviceError> {
        let (events, taken) = channel();
        let (answered, replies) = channel();
        let (made, opened) = channel();
        let run = move || match make() {
            Ok(device) => {
                // whoever has left wants no device
                if made.send(Ok(device.name())).is_ok() {
                    serve(device, &taken, &answered);
                }
            }
            Err(error) => drop(made.send(Err(error))),
        };
        let spawned = std::thread::Builder::new().name("device".to_owned()).spawn(run);
        spawned.map_err(|e| DeviceError::Gone { why: format!("the system gives it no thread: {e}") })?;
        let name = wait(&opened, open_time)??;
        Ok(Threaded { name, events, replies, under_way: 0, answer_time, counters: Counters::default() })
    }
}

fn serve(mut device: Box<dyn BurstDevice>, events: &Receiver<Event>, replies: &Sender<Reply>) {
    for event in events {
        let answer = device.give(&event).and_then(|()| device.answer());
        let reply = answer.map(|answer| (answer, device.counters().clone()));
        let failed = reply.is_err();
        if replies.send(reply).is_err() || failed {
            return;
        }
    }
}

fn wait<T>(receiver: &Receiver<T>, time: Duration) -> Result<T, DeviceError> {
    receiver.recv_timeout(time).map_err(|error| match error {
        RecvTimeoutError::Timeout => DeviceError::Late { ms: time.as_millis() as u64 },
        RecvTimeoutError::Disconnected => gone(),
    })
}

fn gone() -> DeviceError {
    DeviceError::Gone { why: "its thread has ended".to_owned() }
}

impl BurstDevice for Threaded {
    fn name(&self) -> &'static str {
        self.name
    }

    fn give(&mut self, event: &Event) -> Result<(), DeviceError> {
        self.under_way += 1;
        // an error that it has ended with comes as the answer
        let _ = self.events.send(*event);
        Ok(())
    }

    fn answer(&mut self) -> Result<Option<Answer>, DeviceError> {
        if self.under_way == 0 {
            return Ok(None);
        }
        self.under_way -= 1;
        let (answer, counters) = wait(&self.replies, self.answer_time)??;
        self.counters = counters;
        Ok(answer)
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }
}
