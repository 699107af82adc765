//! The twin of `http`, `scan` and `fields`: bytes of connections in, records out.
use crate::body::BodyReader;
use crate::http::{HeaderReader, Step};
use crate::Bundle;
use forebay_spec::limits::Profile;
use forebay_spec::{Disposition, PuntReason, Record};

#[derive(Clone, Debug)]
enum Phase {
    Header,
    /// Bytes left of a body that is read.
    Body(u32),
    /// Bytes left of a body that nobody asks for.
    Skip(u32),
    /// The software path reads this connection.
    Dead,
}

#[derive(Clone, Debug)]
struct Context {
    phase: Phase,
    index: u16,
    header: HeaderReader,
    body: BodyReader,
}

/// All connections of a device.
pub struct Datapath {
    bundle: Bundle,
    contexts: Vec<Context>,
}

impl Datapath {
    /// Contexts for the profile's connections.
    pub fn new(bundle: &Bundle, profile: Profile) -> Self {
        let bundle = bundle.clone();
        let contexts = vec![Context::new(&bundle); profile.connections];
        Datapath { bundle, contexts }
    }

    /// Takes a segment of a connection; `out` gets the records that end in it.
    ///
    /// `start` makes the context afresh before the payload, `close` ends it behind.
    /// `connection` must be below the profile's `connections`; another one is ignored.
    pub fn segment(&mut self, connection: u16, start: bool, close: bool, payload: &[u8], out: &mut impl FnMut(Record)) {
        let Some(context) = self.contexts.get_mut(usize::from(connection)) else {
            return;
        };
        if start {
            *context = Context::new(&self.bundle);
        }
        let mut rest = payload;
        while let Some((first, _)) = rest.split_first() {
            let taken = match context.phase {
                Phase::Header => {
                    context.header_byte(*first, connection, &self.bundle, out);
                    1
                }
                Phase::Body(left) | Phase::Skip(left) => context.body_bytes(rest, left, connection, &self.bundle, out),
                Phase::Dead => rest.len(),
            };
            rest = &rest[taken..];
        }
        if close {
            context.close(connection, out);
        }
    }

    /// The stage before gives a connection up: what is under way on it, or else what would come next, is punted for
    /// `reason`, and nothing more is read. A connection that is given up already stays so.
    pub fn abort(&mut self, connection: u16, reason: PuntReason, out: &mut impl FnMut(Record)) {
        if let Some(context) = self.contexts.get_mut(usize::from(connection)) {
            if !matches!(context.phase, Phase::Dead) {
                context.punt(connection, reason, out);
            }
        }
    }
}

impl Context {
    fn new(bundle: &Bundle) -> Self {
        Context { phase: Phase::Header, index: 0, header: HeaderReader::new(bundle), body: BodyReader::new() }
    }

    fn header_byte(&mut self, byte: u8, connection: u16, bundle: &Bundle, out: &mut impl FnMut(Record)) {
        match self.header.push(byte, bundle) {
            Step::More => {}
            Step::Punt(reason) => self.punt(connection, reason, out),
            Step::Complete => {
                let body_bytes = self.header.body_bytes();
                self.phase = if self.header.inference() { Phase::Body(body_bytes) } else { Phase::Skip(body_bytes) };
                self.body = BodyReader::new();
                if body_bytes == 0 {
                    self.end_of_request(connection, bundle, out);
                }
            }
        }
    }

    /// Reads bytes of the body; returns how many.
    fn body_bytes(
        &mut self,
        bytes: &[u8],
        left: u32,
        connection: u16,
        bundle: &Bundle,
        out: &mut impl FnMut(Record),
    ) -> usize {
        let taken = bytes.len().min(left as usize);
        let left = left - taken as u32;
        if matches!(self.phase, Phase::Body(_)) {
            self.body.read(&bytes[..taken], bundle);
            self.phase = Phase::Body(left);
        } else {
            self.phase = Phase::Skip(left);
        }
        if left == 0 {
            self.end_of_request(connection, bundle, out);
        }
        taken
    }

    fn end_of_request(&mut self, connection: u16, bundle: &Bundle, out: &mut impl FnMut(Record)) {
        let inference = matches!(self.phase, Phase::Body(_));
        out(if inference {
            let mut head = Record::empty(connection, self.index, Disposition::Decide);
            head.tenant = self.header.tenant();
            head.retry = self.header.retry();
            head.body_bytes = self.header.body_bytes();
            self.body.record(head)
        } else {
            Record::empty(connection, self.index, Disposition::Pass)
        });
        self.index = self.index.wrapping_add(1);
        self.phase = Phase::Header;
        self.header = HeaderReader::new(bundle);
    }

    fn punt(&mut self, connection: u16, reason: PuntReason, out: &mut impl FnMut(Record)) {
        out(Record::empty(connection, self.index, Disposition::Punt(reason)));
        self.phase = Phase::Dead;
    }

    fn close(&mut self, connection: u16, out: &mut impl FnMut(Record)) {
        let idle = matches!(self.phase, Phase::Dead) || matches!(self.phase, Phase::Header) && !self.header.started();
        if !idle {
            self.punt(connection, PuntReason::Truncated, out);
        }
        self.phase = Phase::Dead;
    }
}
