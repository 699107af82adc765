//! Feeds a device with captures, keeps time, gives slots back, and settles requests.
use super::devices::{Answer, Devices, Stop};
use super::judge::{self, Reading, Way};
use super::output::{Final, Outcome};
use super::{Difference, Totals};
use crate::capture::{Capture, Piece};
use crate::error::Error;
use forebay_bundle::Policy;
use forebay_decide::exact::http::{Reader, Request};
use forebay_device::{Device, Segment};
use forebay_spec::limits::BOARD;
use forebay_spec::{Action, Event, Input, PuntReason, Record, Release, ReleaseKind, Verdict};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// Longest silence of a capture that is waited out, ms; a longer one is cut to this and counted.
pub(crate) const SILENCE_MS_MAX: u64 = 3_600_000;
/// Bytes of a body that an error shows.
const BODY_SHOWN_BYTES: usize = 80;
/// Connection of a request that has no context, in the records of the software path.
const NO_CONTEXT: u16 = u16::MAX;

/// Takes the event log.
pub type EventSink<'a> = dyn FnMut(&Event, Option<&Verdict>) -> Result<(), Error> + 'a;

/// A request at its final verdict.
pub struct Seen<'a> {
    /// As the software path read it.
    pub request: &'a Request,
    /// What became of it.
    pub outcome: &'a Outcome,
    /// Did the device answer it? Else it had no context, or had given the connection up before.
    pub answered: bool,
}

/// Sees every request at its final verdict.
pub type Watch<'a> = dyn FnMut(&Seen<'_>) + 'a;

/// A connection while it lives.
struct Live {
    /// Number that the device knows it by.
    context: Option<u16>,
    /// Set once the device has given the connection up.
    given_up: Option<PuntReason>,
    reader: Reader,
    /// Requests that wait for the device.
    exact: VecDeque<Request>,
    /// Answers that wait for the end of their request.
    answers: VecDeque<Answer>,
    /// Requests settled.
    settled: u64,
}

/// A replay.
pub struct Engine<'a> {
    policy: &'a Policy,
    devices: Devices,
    events: Option<Box<EventSink<'a>>>,
    watch: Option<Box<Watch<'a>>>,
    now_ms: u64,
    /// Due time, then order of admission, slot and generation.
    running: BinaryHeap<Reverse<(u64, u64, u16, u8)>>,
    /// Contexts that are free.
    free: BinaryHeap<Reverse<u16>>,
    /// Connection of the capture that has each context.
    owners: Vec<usize>,
    live: Vec<Option<Live>>,
    totals: Totals,
    outcomes: Vec<Outcome>,
}

impl<'a> Engine<'a> {
    /// Starts on loaded devices.
    pub fn new(policy: &'a Policy, devices: Vec<Box<dyn Device>>, events: Option<Box<EventSink<'a>>>) -> Self {
        Engine {
            policy,
            devices: Devices::new(devices),
            events,
            watch: None,
            now_ms: 0,
            running: BinaryHeap::new(),
            free: (0..BOARD.connections as u16).map(Reverse).collect(),
            owners: vec![0; BOARD.connections],
            live: Vec::new(),
            totals: Totals::default(),
            outcomes: Vec::new(),
        }
    }

    /// Lets `watch` see what is settled from now on.
    pub fn watch(&mut self, watch: Box<Watch<'a>>) {
        self.watch = Some(watch);
    }

    /// Names of the devices.
    pub fn device_names(&self) -> Vec<&'static str> {
        self.devices.names()
    }

    /// The sums so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Replays a capture; what it admitted is released before this returns.
    pub fn capture(&mut self, capture: &Capture) -> Result<Vec<Outcome>, Error> {
        self.live = capture.flows.iter().map(|_| None).collect();
        let mut last_us = capture.pieces.first().map_or(0, |p| p.time_us);
        let mut part_us = 0;
        for piece in &capture.pieces {
            // whole milliseconds pass, the rest is kept for the next piece
            part_us += piece.time_us.saturating_sub(last_us);
            last_us = last_us.max(piece.time_us);
            let silence_ms = part_us / 1_000;
            part_us %= 1_000;
            self.totals.time_jumps += u64::from(silence_ms > SILENCE_MS_MAX);
            self.advance(capture, self.now_ms + silence_ms.min(SILENCE_MS_MAX))?;
            self.piece(capture, piece)?;
        }
        if let Some(&Reverse((last_due, ..))) = self.running.iter().min() {
            self.advance(capture, last_due)?;
        }
        Ok(std::mem::take(&mut self.outcomes))
    }

    /// Lets time pass, and gives back on the way what has run its time.
    fn advance(&mut self, capture: &Capture, until_ms: u64) -> Result<(), Error> {
        while let Some(&Reverse((due_ms, _, slot, generation))) = self.running.peek() {
            if due_ms > until_ms {
                break;
            }
            self.running.pop();
            self.tick(capture, due_ms)?;
            self.release(capture, slot, generation, ReleaseKind::Done)?;
        }
        self.tick(capture, until_ms)
    }

    fn tick(&mut self, capture: &Capture, until_ms: u64) -> Result<(), Error> {
        while self.now_ms < until_ms {
            let elapsed_ms = (until_ms - self.now_ms).min(u64::from(u16::MAX)) as u16;
            self.submit(capture, Input::Tick { elapsed_ms })?;
            self.now_ms += u64::from(elapsed_ms);
        }
        Ok(())
    }

    fn release(&mut self, capture: &Capture, slot: u16, generation: u8, kind: ReleaseKind) -> Result<(), Error> {
        match kind {
            ReleaseKind::Invalid => self.totals.released_invalid += 1,
            ReleaseKind::Done | ReleaseKind::Cancel => self.totals.released_done += 1,
        }
        self.submit(capture, Input::Release(Release { slot, generation, kind })).map(|_| ())
    }

    fn submit(&mut self, capture: &Capture, input: Input) -> Result<Vec<Answer>, Error> {
        let answers = self.devices.submit(input).map_err(|stop| self.stopped(capture, stop))?;
        self.log(&answers)?;
        Ok(answers)
    }

    fn log(&mut self, answers: &[Answer]) -> Result<(), Error> {
        if let Some(sink) = &mut self.events {
            for answer in answers {
                sink(&answer.event, answer.verdict.as_ref())?;
            }
        }
        Ok(())
    }

    fn piece(&mut self, capture: &Capture, piece: &Piece) -> Result<(), Error> {
        let bytes = capture.bytes(piece);
        if piece.start {
            let context = self.free.pop().map(|Reverse(context)| context);
            if let Some(owner) = context.and_then(|c| self.owners.get_mut(usize::from(c))) {
                *owner = piece.flow;
            }
            if let Some(place) = self.live.get_mut(piece.flow) {
                *place = Some(Live::new(context));
            }
        }
        let Some(live) = self.live.get_mut(piece.flow).and_then(Option::as_mut) else {
            return Ok(());
        };
        let read = live.read(bytes, piece.close);
        self.totals.requests += read;
        self.totals.in_progress += read;
        if let Some(connection) = live.context {
            let segment = Segment { connection, start: piece.start, close: piece.close, payload: bytes };
            let answers = self.devices.segment(segment).map_err(|stop| self.stopped(capture, stop))?;
            self.log(&answers)?;
            self.hand_out(capture, answers)?;
        }
        self.settle(capture, piece.flow)?;
        if piece.close {
            self.close(capture, piece.flow)?;
        }
        Ok(())
    }

    /// Brings answers to their connections.
    fn hand_out(&mut self, capture: &Capture, answers: Vec<Answer>) -> Result<(), Error> {
        for answer in answers {
            let Some((record, verdict)) = judge::record_and_verdict(&answer) else {
                let what = format!("a segment caused {:?}, which is no request", answer.event);
                return Err(self.difference(capture, None, what));
            };
            if let Action::Admit { slot, generation } = verdict.action {
                self.admitted(slot, generation, record.max_tokens);
            }
            let owner = self.owners.get(usize::from(record.connection)).copied();
            match owner.and_then(|flow| self.live.get_mut(flow)).and_then(Option::as_mut) {
                Some(live) if live.context == Some(record.connection) => live.answers.push_back(answer),
                _ => {
                    let what = format!("{record:?} is of a connection that is not open");
                    return Err(self.difference(capture, None, what));
                }
            }
        }
        Ok(())
    }

    fn admitted(&mut self, slot: u16, generation: u8, max_tokens: u32) {
        let due_ms = self.now_ms + self.policy.service().duration_ms(max_tokens);
        self.totals.granted += 1;
        self.running.push(Reverse((due_ms, self.totals.granted, slot, generation)));
    }

    /// Makes the final verdict of every request of which all is known.
    fn settle(&mut self, capture: &Capture, flow: usize) -> Result<(), Error> {
        while let Some((request, answer, index)) = self.live.get_mut(flow).and_then(Option::as_mut).and_then(Live::next)
        {
            let shown = Shown { flow, index, body: &request.body };
            let live = self.live.get(flow).and_then(Option::as_ref);
            let (context, given_up) = live.map_or((None, None), |l| (l.context, l.given_up));
            let reading = Reading::new(&request, self.policy, context.unwrap_or(NO_CONTEXT), index as u16);
            let way = judge::way(answer.as_ref(), &reading, &request)
                .map_err(|what| self.difference(capture, Some(&shown), what))?;
            let (verdict, latency) = self.follow(capture, way, answer.as_ref(), &reading, &request, &shown)?;
            let punt = match &answer {
                Some(answer) => judge::punt_of(answer),
                None => given_up,
            };
            let outcome = Outcome {
                capture: Arc::from(capture.name.as_str()),
                flow: capture.flows[flow],
                request_index: index,
                method: request.method.clone(),
                path: request.path().to_owned(),
                framing: request.framing.name(),
                body_bytes: request.body.len(),
                body_status: request.inference.then_some(reading.body.status.name()),
                path_taken: judge::path_taken(answer.as_ref(), punt),
                punt,
                record: judge::fields(&reading, self.policy),
                decided: judge::is_decided(&verdict).then_some((self.now_ms, reading.record)),
                verdict,
                latency,
                scheduled: None,
            };
            self.totals.in_progress -= 1;
            self.totals.add(&outcome);
            if let Some(watch) = &mut self.watch {
                watch(&Seen { request: &request, outcome: &outcome, answered: answer.is_some() });
            }
            self.outcomes.push(outcome);
        }
        Ok(())
    }

    fn follow(
        &mut self,
        capture: &Capture,
        way: Way,
        answer: Option<&Answer>,
        reading: &Reading<'_>,
        request: &Request,
        shown: &Shown<'_>,
    ) -> Result<(Final, Option<forebay_device::Latency>), Error> {
        let latency = answer.and_then(|a| a.latency);
        let verdict = match way {
            Way::Fabric(verdict) => verdict,
            Way::Pass => Verdict {
                seq: 0,
                connection: reading.record.connection,
                index: reading.record.index,
                action: Action::Pass,
                level: None,
            },
            Way::Reject(reason) => {
                self.take_back(capture, answer)?;
                return Ok((judge::reject(reason, reading, request), latency));
            }
            Way::Submit => self.decide_on_host(capture, reading.record, shown)?,
        };
        match judge::final_of(&verdict, reading, request) {
            Some(verdict) => Ok((verdict, latency)),
            None => Err(self.difference(capture, Some(shown), format!("{verdict:?} is no final verdict"))),
        }
    }

    /// Lets the device decide what the software path has read.
    fn decide_on_host(&mut self, capture: &Capture, record: Record, shown: &Shown<'_>) -> Result<Verdict, Error> {
        let answers = self.submit(capture, Input::PuntResult(record))?;
        let verdict = match answers.as_slice() {
            [Answer { event, verdict: Some(verdict), .. }] if event.input == Input::PuntResult(record) => *verdict,
            other => {
                return Err(self.difference(capture, Some(shown), format!("{record:?} was answered by {other:?}")))
            }
        };
        if let Action::Admit { slot, generation } = verdict.action {
            self.admitted(slot, generation, record.max_tokens);
        }
        Ok(verdict)
    }

    /// Gives back the slot of a request that the device admitted and that is none.
    fn take_back(&mut self, capture: &Capture, answer: Option<&Answer>) -> Result<(), Error> {
        let verdict = answer.and_then(|a| a.verdict);
        if let Some(Verdict { action: Action::Admit { slot, generation }, .. }) = verdict {
            self.running.retain(|Reverse((_, _, s, g))| (*s, *g) != (slot, generation));
            self.release(capture, slot, generation, ReleaseKind::Invalid)?;
        }
        Ok(())
    }

    /// The connection has ended: nothing of it may be left.
    fn close(&mut self, capture: &Capture, flow: usize) -> Result<(), Error> {
        let Some(live) = self.live.get_mut(flow).and_then(Option::take) else {
            return Ok(());
        };
        let shown = |body| Shown { flow, index: live.settled, body };
        if let Some(request) = live.exact.front() {
            let what = format!("the device has no answer to {} {}", request.method, request.target);
            return Err(self.difference(capture, Some(&shown(&request.body)), what));
        }
        let mut answers = live.answers.iter();
        let first = answers.next();
        // software knows that nothing followed the line, the fabric could not
        let empty_line = first.and_then(judge::punt_of) == Some(PuntReason::RequestLine);
        self.totals.empty_lines += u64::from(empty_line);
        if let Some(answer) = if empty_line { answers.next() } else { first } {
            let what = format!("the device answered a request that is not there: {:?}", answer.event);
            return Err(self.difference(capture, Some(&shown(&[])), what));
        }
        self.free.extend(live.context.map(Reverse));
        Ok(())
    }

    fn stopped(&self, capture: &Capture, stop: Stop) -> Error {
        match stop {
            Stop::Failed(error) => error,
            Stop::Differ(None, what) => self.difference(capture, None, what),
            Stop::Differ(Some((connection, index)), what) => {
                let flow = self.owners.get(usize::from(connection)).copied().unwrap_or(usize::MAX);
                let live = self.live.get(flow).and_then(Option::as_ref);
                let ahead = live.map_or(0, |l| u64::from(index).saturating_sub(l.settled) as usize);
                let body = live.and_then(|l| l.exact.get(ahead)).map_or(&[][..], |r| &r.body);
                self.difference(capture, Some(&Shown { flow, index: u64::from(index), body }), what)
            }
        }
    }

    fn difference(&self, capture: &Capture, shown: Option<&Shown<'_>>, what: String) -> Error {
        let mut request = capture.name.clone();
        let mut head = String::new();
        if let Some(shown) = shown {
            let flow = capture.flows.get(shown.flow).map_or_else(String::new, ToString::to_string);
            request = format!("{request}, {flow}, request {}", shown.index);
            head = String::from_utf8_lossy(&shown.body[..shown.body.len().min(BODY_SHOWN_BYTES)]).into_owned();
        }
        Error::Difference(Box::new(Difference { request, body_head: head, what }))
    }
}

/// What an error shows of a request.
struct Shown<'a> {
    flow: usize,
    index: u64,
    body: &'a [u8],
}

impl Live {
    fn new(context: Option<u16>) -> Self {
        Live {
            context,
            given_up: None,
            reader: Reader::new(),
            exact: VecDeque::new(),
            answers: VecDeque::new(),
            settled: 0,
        }
    }

    /// Reads bytes by the software path; how many requests came of it.
    fn read(&mut self, bytes: &[u8], close: bool) -> u64 {
        let before = self.exact.len();
        self.reader.push(bytes);
        while let Some(request) = self.reader.next() {
            self.exact.push_back(request);
        }
        if close {
            self.exact.extend(self.reader.close());
        }
        (self.exact.len() - before) as u64
    }

    /// The next request to settle, with the device's answer if it is to have one, and its position.
    fn next(&mut self) -> Option<(Request, Option<Answer>, u64)> {
        let on_host = self.context.is_none() || self.given_up.is_some();
        if self.exact.is_empty() || !on_host && self.answers.is_empty() {
            return None;
        }
        let answer = if on_host { None } else { self.answers.pop_front() };
        let reason = answer.as_ref().and_then(judge::punt_of);
        self.given_up = self.given_up.or(reason.filter(|r| r.ends_connection()));
        self.settled += 1;
        self.exact.pop_front().map(|request| (request, answer, self.settled - 1))
    }
}
