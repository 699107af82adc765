//! Two bundles, exchanged while requests are under way: against a model that knows of nothing but lengths.
#![allow(clippy::unwrap_used)]
use forebay_decide::datapath::{Busy, Datapath};
use forebay_decide::Bundle;
use forebay_spec::limits::PROOF;
use forebay_spec::{Disposition, PuntReason, Record};
use proptest::prelude::*;

/// What each connection sends, over and over.
const REQUEST: &[u8] = b"POST /v1/messages HTTP/1.1\r\ncontent-length: 29\r\n\r\n{\"max_tokens\":7,\"model\":\"it\"}";

/// A bundle in which the model has this index.
fn bundle(index: u8) -> Bundle {
    let models = (0..index).map(|i| format!("another-{i}")).chain(["it".to_owned()]);
    Bundle { models: models.collect(), ..Bundle::default() }
}

#[derive(Clone, Debug)]
enum Op {
    /// So many bytes more of a connection.
    Give(u16, usize),
    Start(u16),
    Close(u16),
    Abort(u16),
    Load(u8),
    Switch,
    Expire(bool),
}

fn op() -> impl Strategy<Value = Op> {
    let connection = 0..PROOF.connections as u16;
    prop_oneof![
        12 => (connection.clone(), 0..150usize).prop_map(|(c, n)| Op::Give(c, n)),
        2 => connection.clone().prop_map(Op::Start),
        1 => connection.clone().prop_map(Op::Close),
        1 => connection.prop_map(Op::Abort),
        2 => (0..200u8).prop_map(Op::Load),
        2 => Just(Op::Switch),
        1 => any::<bool>().prop_map(Op::Expire),
    ]
}

#[derive(Clone, Copy, Default)]
struct Connection {
    /// Bytes of the request under way; 0 between requests.
    given: usize,
    index: u16,
    bank: bool,
    expired: bool,
    dead: bool,
}

/// What should happen.
struct Model {
    connections: Vec<Connection>,
    /// Index of the model in each bank.
    banks: [u8; 2],
    current: bool,
}

impl Model {
    fn under_way(&self, bank: bool) -> u32 {
        self.connections.iter().filter(|c| c.given > 0 && !c.expired && c.bank == bank).count() as u32
    }

    fn punt(&mut self, connection: u16, reason: PuntReason) -> Record {
        let c = &mut self.connections[usize::from(connection)];
        let bank = if c.given > 0 { c.bank } else { self.current };
        let record = Record { bank, ..Record::empty(connection, c.index, Disposition::Punt(reason)) };
        *c = Connection { dead: true, ..Connection::default() };
        record
    }

    fn give(&mut self, connection: u16, mut bytes: usize) -> Vec<Record> {
        let mut records = Vec::new();
        if bytes > 0 && self.connections[usize::from(connection)].expired {
            return vec![self.punt(connection, PuntReason::Bundle)];
        }
        let c = &mut self.connections[usize::from(connection)];
        while bytes > 0 && !c.dead {
            if c.given == 0 {
                c.bank = self.current;
            }
            let taken = bytes.min(REQUEST.len() - c.given);
            c.given += taken;
            bytes -= taken;
            if c.given == REQUEST.len() {
                let mut record = Record::empty(connection, c.index, Disposition::Decide);
                record.model = Some(self.banks[usize::from(c.bank)]);
                record.bank = c.bank;
                records.push(record);
                *c = Connection { index: c.index.wrapping_add(1), ..Connection::default() };
            }
        }
        records
    }

    fn close(&mut self, connection: u16) -> Vec<Record> {
        let c = &mut self.connections[usize::from(connection)];
        let reason = if c.expired { PuntReason::Bundle } else { PuntReason::Truncated };
        match c.given {
            0 => {
                c.dead = true;
                Vec::new()
            }
            _ => vec![self.punt(connection, reason)],
        }
    }
}

/// What the model knows of a record.
fn known(record: &Record) -> Record {
    let head = Record::empty(record.connection, record.index, record.disposition);
    Record { bank: record.bank, model: record.model, ..head }
}

fn run(ops: &[Op]) -> Result<usize, TestCaseError> {
    let mut datapath = Datapath::new(&bundle(0), PROOF);
    let mut model =
        Model { connections: vec![Connection::default(); PROOF.connections], banks: [0; 2], current: false };
    // where each connection stands in its stream
    let mut at = [0; PROOF.connections];
    let mut count = 0;
    for op in ops {
        let mut records = Vec::new();
        let mut out = |record: Record| records.push(known(&record));
        let expected = match *op {
            Op::Give(c, bytes) => {
                let place = &mut at[usize::from(c)];
                let payload: Vec<u8> = REQUEST.iter().cycle().skip(*place).take(bytes).copied().collect();
                *place = (*place + bytes) % REQUEST.len();
                datapath.segment(c, false, false, &payload, &mut out);
                model.give(c, bytes)
            }
            Op::Start(c) => {
                at[usize::from(c)] = 0;
                datapath.segment(c, true, false, &[], &mut out);
                model.connections[usize::from(c)] = Connection::default();
                Vec::new()
            }
            Op::Close(c) => {
                datapath.segment(c, false, true, &[], &mut out);
                model.close(c)
            }
            Op::Abort(c) => {
                datapath.abort(c, PuntReason::OutOfOrder, &mut out);
                let alive = !model.connections[usize::from(c)].dead;
                alive.then(|| model.punt(c, PuntReason::OutOfOrder)).into_iter().collect()
            }
            Op::Load(index) => {
                let in_flight = model.under_way(!model.current);
                let expected = if in_flight == 0 { Ok(()) } else { Err(Busy { in_flight }) };
                prop_assert_eq!(datapath.load(&bundle(index)), expected);
                if in_flight == 0 {
                    model.banks[usize::from(!model.current)] = index;
                }
                Vec::new()
            }
            Op::Switch => {
                model.current = !model.current;
                datapath.switch(model.current);
                Vec::new()
            }
            Op::Expire(bank) => {
                datapath.expire(bank);
                let ends = model.connections.iter_mut().filter(|c| c.given > 0 && c.bank == bank);
                ends.for_each(|c| c.expired = true);
                Vec::new()
            }
        };
        prop_assert_eq!(&records, &expected, "{:?}", op);
        prop_assert_eq!(datapath.in_flight(), [model.under_way(false), model.under_way(true)], "{:?}", op);
        count += records.len();
    }
    Ok(count)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests_keep_the_bundle_that_they_began_under(ops in prop::collection::vec(op(), 0..120)) {
        run(&ops)?;
    }
}

#[test]
fn the_request_is_one() {
    assert_eq!(run(&[Op::Give(0, REQUEST.len() * 3), Op::Switch, Op::Load(9), Op::Give(0, REQUEST.len())]).unwrap(), 4);
}
