//! The twin of `http`, `scan` and `fields`: bytes of connections in, records out.
use crate::bank::Bank;
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
    connection: u16,
    phase: Phase,
    index: u16,
    /// Bank of the request under way.
    bank: bool,
    /// The request under way has to end: its bank is wanted for another bundle.
    expired: bool,
    header: HeaderReader,
    body: BodyReader,
}

/// What all connections share.
struct Shared {
    banks: [Bank; 2],
    current: bool,
    /// Requests under way in each bank: their first byte has come, their record not.
    in_flight: [u32; 2],
}

/// A bundle is not taken while requests of the one before it are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// Requests under way.
    pub in_flight: u32,
}

/// All connections of a device.
pub struct Datapath {
    shared: Shared,
    contexts: Vec<Context>,
}

impl Datapath {
    /// Contexts for the profile's connections. Bank 0 is current; both hold this bundle.
    pub fn new(bundle: &Bundle, profile: Profile) -> Self {
        let bank = Bank::new(bundle);
        let shared = Shared { banks: [bank.clone(), bank], current: false, in_flight: [0; 2] };
        Datapath { shared, contexts: (0..profile.connections).map(|n| Context::new(n as u16)).collect() }
    }

    /// Loads a bundle into the bank that is not current.
    ///
    /// # Errors
    /// [`Busy`] while requests of that bank are under way; it stays as it was.
    pub fn load(&mut self, bundle: &Bundle) -> Result<(), Busy> {
        let bank = usize::from(!self.shared.current);
        match self.shared.in_flight[bank] {
            0 => self.shared.banks[bank] = Bank::new(bundle),
            in_flight => return Err(Busy { in_flight }),
        }
        Ok(())
    }

    /// Requests whose first byte comes from here on are read by the bundle of this bank.
    pub fn switch(&mut self, bank: bool) {
        self.shared.current = bank;
    }

    /// The bank of requests that begin now.
    pub fn current(&self) -> bool {
        self.shared.current
    }

    /// Requests under way in this bank end, each when its connection's next bytes or its end come: punt `bundle`, and
    /// the connection is the software path's. They read nothing of the bank any more, which is free from here on.
    pub fn expire(&mut self, bank: bool) {
        let ends = self.contexts.iter_mut().filter(|c| c.under_way() && c.bank == bank);
        ends.for_each(|c| c.expired = true);
        self.shared.in_flight[usize::from(bank)] = 0;
    }

    /// Requests under way by bank: from their first byte to their record, or until they expire.
    pub fn in_flight(&self) -> [u32; 2] {
        self.shared.in_flight
    }

    /// Gives a connection up, where it stands: a punt for `reason`, and it is the software path's. Nothing comes of a
    /// connection that already is.
    pub fn abort(&mut self, connection: u16, reason: PuntReason, out: &mut impl FnMut(Record)) {
        let Some(context) = self.contexts.get_mut(usize::from(connection)) else {
            return;
        };
        if !matches!(context.phase, Phase::Dead) {
            context.begin(&mut self.shared);
            context.punt(reason, &mut self.shared, out);
        }
    }

    /// Takes a segment of a connection; `out` gets the records that end in it.
    ///
    /// `start` makes the context afresh before the payload, `close` ends it behind.
    /// `connection` must be below the profile's `connections`; another one is ignored.
    pub fn segment(&mut self, connection: u16, start: bool, close: bool, payload: &[u8], out: &mut impl FnMut(Record)) {
        let Some(context) = self.contexts.get_mut(usize::from(connection)) else {
            return;
        };
        let shared = &mut self.shared;
        if start {
            context.restart(shared);
        }
        if context.expired && (close || !payload.is_empty()) {
            context.punt(PuntReason::Bundle, shared, out);
        }
        let mut rest = payload;
        while !rest.is_empty() {
            let taken = match context.phase {
                Phase::Header => context.header_bytes(rest, shared, out),
                Phase::Body(left) | Phase::Skip(left) => context.body_bytes(rest, left, shared, out),
                Phase::Dead => rest.len(),
            };
            rest = &rest[taken..];
        }
        if close {
            context.close(shared, out);
        }
    }
}

impl Context {
    fn new(connection: u16) -> Self {
        Context {
            connection,
            phase: Phase::Header,
            index: 0,
            bank: false,
            expired: false,
            header: HeaderReader::new(&[0; 16]),
            body: BodyReader::new(),
        }
    }

    /// Has the first byte of a request come, and its record not?
    fn under_way(&self) -> bool {
        match self.phase {
            Phase::Header => self.header.started(),
            Phase::Body(_) | Phase::Skip(_) => true,
            Phase::Dead => false,
        }
    }

    /// A new connection; what the one before it has left unfinished is gone.
    fn restart(&mut self, shared: &mut Shared) {
        if self.under_way() {
            self.leave(shared);
        }
        *self = Context::new(self.connection);
    }

    /// The request under way holds its bank no longer.
    fn leave(&self, shared: &mut Shared) {
        if !self.expired {
            shared.in_flight[usize::from(self.bank)] -= 1;
        }
    }

    /// If no request is under way, one begins, in the bank that is current.
    fn begin(&mut self, shared: &mut Shared) {
        if !self.under_way() {
            self.bank = shared.current;
            self.header = HeaderReader::new(&shared.bank(self.bank).bundle.hash_key);
            shared.in_flight[usize::from(self.bank)] += 1;
        }
    }

    /// Reads bytes of a header, of which there is at least one; returns how many.
    fn header_bytes(&mut self, bytes: &[u8], shared: &mut Shared, out: &mut impl FnMut(Record)) -> usize {
        self.begin(shared);
        let (taken, step) = self.header.read(bytes, shared.bank(self.bank));
        match step {
            Step::More => {}
            Step::Punt(reason) => self.punt(reason, shared, out),
            Step::Complete => {
                let body_bytes = self.header.body_bytes();
                self.phase = if self.header.inference() { Phase::Body(body_bytes) } else { Phase::Skip(body_bytes) };
                self.body = BodyReader::new();
                if body_bytes == 0 {
                    self.end_of_request(shared, out);
                }
            }
        }
        taken
    }

    /// Reads bytes of the body, of which `left` are to come; returns how many.
    fn body_bytes(&mut self, bytes: &[u8], left: u32, shared: &mut Shared, out: &mut impl FnMut(Record)) -> usize {
        let taken = bytes.len().min(left as usize);
        let left = left - taken as u32;
        if matches!(self.phase, Phase::Body(_)) {
            self.body.read(&bytes[..taken], shared.bank(self.bank));
            self.phase = Phase::Body(left);
        } else {
            self.phase = Phase::Skip(left);
        }
        if left == 0 {
            self.end_of_request(shared, out);
        }
        taken
    }

    fn record(&self, disposition: Disposition) -> Record {
        Record { bank: self.bank, ..Record::empty(self.connection, self.index, disposition) }
    }

    fn end_of_request(&mut self, shared: &mut Shared, out: &mut impl FnMut(Record)) {
        let inference = matches!(self.phase, Phase::Body(_));
        out(if inference {
            let (tenant, key_known) = self.header.credential();
            let head = Record {
                tenant,
                key_known,
                retry: self.header.retry(),
                body_bytes: self.header.body_bytes(),
                ..self.record(Disposition::Decide)
            };
            self.body.record(head, shared.bank(self.bank))
        } else {
            self.record(Disposition::Pass)
        });
        self.leave(shared);
        self.index = self.index.wrapping_add(1);
        self.phase = Phase::Header;
        self.header.end();
    }

    /// The request under way ends here, and with it the connection.
    fn punt(&mut self, reason: PuntReason, shared: &mut Shared, out: &mut impl FnMut(Record)) {
        out(self.record(Disposition::Punt(reason)));
        self.leave(shared);
        self.expired = false;
        self.phase = Phase::Dead;
    }

    fn close(&mut self, shared: &mut Shared, out: &mut impl FnMut(Record)) {
        if self.under_way() {
            self.punt(PuntReason::Truncated, shared, out);
        }
        self.phase = Phase::Dead;
    }
}

impl Shared {
    fn bank(&self, bank: bool) -> &Bank {
        &self.banks[usize::from(bank)]
    }
}
