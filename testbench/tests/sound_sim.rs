//! Sound or punted, by the simulated RTL itself at both widths: for every valid body each field equals the reference's, or
//! the request goes to the software path with the reason that the body gives. The twin has to have the same record.
#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]
use forebay_decide::tag::keyed_tag;
use forebay_decide::Bundle;
use forebay_device::{Device, Segment};
use forebay_sim::SimDevice;
use forebay_spec::limits::LEVELS;
use forebay_spec::{Disposition, Record};
use forebay_testbench::agree::{plain_request, record_and_reference, Twin};
use forebay_testbench::cases::{data, for_cases_or, shown};
use forebay_testbench::corpus::{self, folder};
use forebay_testbench::generate::{any_body, Choices, CREDENTIALS, MODELS};
use forebay_testbench::run::records;
use forebay_testbench::simulated::Width;
use std::cell::{Cell, RefCell};

/// All models and credentials of the generators.
fn whole_bundle() -> Bundle {
    let hash_key = *b"testbench key 16";
    Bundle {
        hash_key,
        level_limits: [1; LEVELS],
        models: MODELS.iter().map(ToString::to_string).collect(),
        tenant_tags: CREDENTIALS.iter().map(|k| keyed_tag(&hash_key, k.as_bytes())).collect(),
        ..Bundle::default()
    }
}

/// The cores of both widths, and the twin.
struct Cores {
    sims: [RefCell<SimDevice>; 2],
    twin: Twin,
    /// Connections are used in turn.
    next: Cell<u16>,
    /// Bodies that were read whole, and that were punted.
    seen: Cell<[u32; 2]>,
}

impl Cores {
    fn new() -> Self {
        let twin = Twin::new(whole_bundle());
        let sims = Width::BOTH.map(|width| {
            let mut sim = width.device();
            sim.configure(twin.bundle()).unwrap();
            RefCell::new(sim)
        });
        Cores { sims, twin, next: Cell::new(0), seen: Cell::new([0; 2]) }
    }

    /// A body in a request that is cut at these places.
    fn check(&self, body: &[u8], cuts: [usize; 2]) -> Result<(), String> {
        let tell = |e| format!("{e}\n  body: {}", shown(body));
        let request = plain_request(body);
        let connection = self.next.replace((self.next.get() + 1) % 256);
        let twins = self.twin.record(body).map_err(tell)?;
        for sim in &self.sims {
            let record = record(&mut sim.borrow_mut(), connection, &request, cuts).map_err(tell)?;
            record_and_reference(&record, body, self.twin.bundle()).map_err(tell)?;
            if record != (Record { connection, ..twins }) {
                return Err(tell(format!("the core has {record:?}, the twin {twins:?}")));
            }
        }
        let mut seen = self.seen.get();
        seen[usize::from(twins.disposition != Disposition::Decide)] += 1;
        self.seen.set(seen);
        Ok(())
    }

    /// The same at places that the body gives.
    fn check_some(&self, body: &[u8]) {
        let sum = body.iter().fold(body.len(), |sum, b| sum * 31 % 65_521 + usize::from(*b));
        self.check(body, [sum, sum / 7]).unwrap();
    }
}

/// The one record that a core makes of a request on a new connection.
fn record(sim: &mut SimDevice, connection: u16, request: &[u8], cuts: [usize; 2]) -> Result<Record, String> {
    let mut cuts = cuts.map(|cut| cut % (request.len() + 1));
    cuts.sort_unstable();
    let pieces = [&request[..cuts[0]], &request[cuts[0]..cuts[1]], &request[cuts[1]..]];
    let mut outputs = Vec::new();
    for (number, payload) in pieces.into_iter().enumerate() {
        let segment = Segment { connection, start: number == 0, close: number == 2, payload };
        sim.segment(segment).map_err(|e| e.to_string())?;
        while let Some(output) = sim.poll().map_err(|e| e.to_string())? {
            outputs.push(output);
        }
    }
    match records(&outputs)[..] {
        [record] => Ok(record),
        ref others => Err(format!("one request gave {others:?}")),
    }
}

#[test]
fn generated_bodies_are_read_right_or_punted() {
    let cores = Cores::new();
    let cut = |c: &mut Choices<'_>| c.wide() as usize;
    for_cases_or(3_000, 100_000, 400, |c| {
        let body = any_body(c);
        let cuts = [cut(c), cut(c)];
        cores.check(&body, cuts)
    });
    let [read, punted] = cores.seen.get();
    println!("{read} bodies read, {punted} punted");
    assert!(read * 2 > read + punted && punted * 100 > read);
}

#[test]
fn corpus_bodies_are_read_right_or_punted() {
    let cores = Cores::new();
    corpus::files(&folder().join("bodies")).unwrap().iter().for_each(|body| cores.check_some(&body.bytes));
    assert!(cores.seen.get().iter().sum::<u32>() >= 60);
}

#[test]
fn bodies_of_others_are_read_right_or_punted() {
    let Some(data) = data("bodies_of_others_are_read_right_or_punted") else { return };
    let cores = Cores::new();
    for body in corpus::json_test_suite(&data).unwrap() {
        let inside = |before: &str, after: &str| [before.as_bytes(), &body.bytes, after.as_bytes()].concat();
        cores.check_some(&body.bytes);
        cores.check_some(&inside("{\"temperature\": ", " ,\"top_k\":7}"));
        cores.check_some(&inside("{\"messages\":[", "],\"max_tokens\":5}"));
    }
    for (_, text) in corpus::utf8_cases(&data).unwrap() {
        cores.check_some(&[b"{\"messages\":\"", &text[..], b"\",\"max_tokens\":5}"].concat());
    }
    corpus::sdk_bodies(&data).unwrap().iter().for_each(|body| cores.check_some(&body.bytes));
    println!("read and punted: {:?}", cores.seen.get());
    assert!(cores.seen.get().iter().sum::<u32>() > 1_000);
}
