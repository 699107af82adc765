//! Captures, frame by frame: every frame is counted, and what is passed on is what software puts in order.
mod wire;

use forebay_decide::datapath::Datapath;
use forebay_decide::frame::{Inline, InlineConfig, Step};
use forebay_spec::frame::{FrameEnd, Tuple};
use forebay_spec::{Profile, PuntReason, Record};
use forebay_testbench::cases::data;
use forebay_testbench::corpus::folder;
use forebay_testbench::generate::{bundle, Choices};
use forebay_tools::capture::Capture;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::net::IpAddr;
use std::path::Path;
use wire::{captures, frames, name};

const FLEET: Profile = Profile { name: "fleet", connections: 1_024, slots: 256 };

/// Captures in which connections are given up, and only there; the others come in order.
const GIVEN_UP: [(&str, PuntReason); 6] = [
    ("04_out_of_order", PuntReason::OutOfOrder),
    ("04_overlap", PuntReason::Overlap),
    ("04_overlap_conflict", PuntReason::Overlap),
    ("04_retransmit", PuntReason::Overlap),
    ("04_sequence_wrap", PuntReason::OutOfOrder),
    ("05_ipv4_fragments", PuntReason::OutOfOrder),
];

/// One use of a context.
#[derive(Clone, Debug)]
struct Use {
    tuple: Tuple,
    bytes: Vec<u8>,
    records: Vec<Record>,
    given_up: Option<PuntReason>,
}

/// Reads frames at the pace of the capture.
struct Reader {
    datapath: Datapath,
    open: HashMap<u16, usize>,
    uses: Vec<Use>,
}

impl Reader {
    fn step(&mut self, step: Step<'_>) {
        let mut ended = Vec::new();
        let connection = match step {
            Step::Open { connection, tuple, .. } => {
                self.open.insert(connection, self.uses.len());
                self.uses.push(Use { tuple, bytes: Vec::new(), records: Vec::new(), given_up: None });
                return;
            }
            Step::Closed { .. } => return,
            Step::Segment { connection, start, close, payload } => {
                self.datapath.segment(connection, start, close, payload, &mut |r| ended.push(r));
                self.uses[self.open[&connection]].bytes.extend(payload);
                connection
            }
            Step::Abort { connection, reason, .. } => {
                self.datapath.abort(connection, reason, &mut |r| ended.push(r));
                self.uses[self.open[&connection]].given_up = Some(reason);
                connection
            }
        };
        let records = ended.into_iter().map(|r| Record { connection: 0, ..r });
        self.uses[self.open[&connection]].records.extend(records);
    }
}

fn read(path: &Path, ports: &BTreeSet<u16>) -> (Inline, Vec<Use>) {
    let mut config = InlineConfig::new(0, [1, 2, 3, 4]);
    config.server_ports.iter_mut().zip(ports).for_each(|(place, port)| *place = *port);
    let mut inline = Inline::new(&config, FLEET).expect("a sound configuration");
    let datapath = Datapath::new(&bundle(&mut Choices::new(&[])), FLEET);
    let mut reader = Reader { datapath, open: HashMap::new(), uses: Vec::new() };
    let (mut now, mut count) = (None, 0);
    for (ms, frame) in frames(&fs::read(path).expect("the file")) {
        let elapsed = ms.saturating_sub(now.unwrap_or(ms)).min(60_000);
        now = Some(ms.max(now.unwrap_or(0)));
        inline.tick(elapsed as u16, &mut |s| reader.step(s));
        inline.frame(&frame, &mut |s| reader.step(s));
        count += 1;
    }
    assert_eq!(inline.counters().frames_all(), count, "{path:?}");
    // what is still open ends with the capture, as it does for software
    for connection in 0..FLEET.connections as u16 {
        if reader.open.contains_key(&connection) {
            reader.step(Step::Segment { connection, start: false, close: true, payload: &[] });
        }
    }
    (inline, reader.uses)
}

/// A connection as software puts it in order.
struct Flow {
    tuple: Tuple,
    bytes: Vec<u8>,
    records: Vec<Record>,
}

fn flows(capture: &Capture) -> Vec<Flow> {
    let address = |a: IpAddr| match a {
        IpAddr::V4(a) => [[0; 12].as_slice(), &a.octets()].concat(),
        IpAddr::V6(a) => a.octets().to_vec(),
    };
    let tuple = |f: &forebay_tools::capture::Flow| {
        let mut tuple = Tuple { version6: f.src.is_ipv6(), ..Tuple::default() };
        (tuple.source_port, tuple.destination_port) = (f.sport, f.dport);
        tuple.source.copy_from_slice(&address(f.src));
        tuple.destination.copy_from_slice(&address(f.dst));
        tuple.vlan.iter_mut().zip(f.vlan.ids()).for_each(|(place, id)| *place = *id);
        tuple
    };
    let mut flows: Vec<Flow> =
        capture.flows.iter().map(|f| Flow { tuple: tuple(f), bytes: Vec::new(), records: Vec::new() }).collect();
    for (number, flow) in flows.iter_mut().enumerate() {
        // each alone, so that there are contexts for all
        let mut datapath = Datapath::new(&bundle(&mut Choices::new(&[])), FLEET);
        for piece in capture.pieces.iter().filter(|p| p.flow == number) {
            let bytes = capture.bytes(piece);
            flow.bytes.extend(bytes);
            datapath.segment(0, piece.start, piece.close, bytes, &mut |r| flow.records.push(r));
        }
    }
    flows
}

/// Is a use what software makes of the same connection, as far as it went?
fn agrees(u: &Use, flow: &Flow) -> bool {
    let records = match u.given_up {
        // its last record is the punt, if it was in a request
        Some(_) => &u.records[..u.records.len().saturating_sub(1)],
        None => &u.records[..],
    };
    let whole = u.given_up.is_some() || (u.bytes == flow.bytes && records == flow.records);
    u.tuple == flow.tuple && flow.bytes.starts_with(&u.bytes) && flow.records.starts_with(records) && whole
}

fn shown(inline: &Inline) -> String {
    let counts = FrameEnd::ALL.iter().map(|e| (e, inline.counters().frames(*e))).filter(|c| c.1 > 0);
    counts.map(|(end, n)| format!("{end} {n}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn our_captures_are_read_as_software_reads_them() {
    let mut totals = [0; 3];
    for path in captures(&folder().join("captures")) {
        let capture = Capture::load(&path).expect("a sound capture");
        let flows = flows(&capture);
        let ports = flows.iter().map(|f| f.tuple.destination_port).collect();
        let (inline, uses) = read(&path, &ports);
        let name = name(&path);
        println!("{name}: {} flows, {} opened; {}", flows.len(), uses.len(), shown(&inline));
        for u in &uses {
            assert!(flows.iter().any(|f| agrees(u, f)), "{name}: {:?} {:?}", u.tuple, u.given_up);
            let allowed = GIVEN_UP.iter().any(|g| g.0 == name && Some(g.1) == u.given_up);
            assert!(u.given_up.is_none() || allowed, "{name}: {:?} {:?}", u.tuple, u.given_up);
        }
        if name != "04_midstream" && name != "05_ipv4_fragments" {
            assert_eq!(uses.len(), flows.len(), "{name}");
        }
        let given_up = uses.iter().filter(|u| u.given_up.is_some()).count();
        totals = [totals[0] + flows.len(), totals[1] + uses.len(), totals[2] + given_up];
    }
    println!("flows {}, opened {}, given up {}", totals[0], totals[1], totals[2]);
}

#[test]
fn third_party_captures_come_to_an_end() {
    let Some(data) = data("third_party_captures_come_to_an_end") else { return };
    let mut totals = [0; 4];
    for folder in fs::read_dir(data.join("pcap")).expect("the folder") {
        for path in captures(&folder.expect("an entry").path()) {
            // what is damaged has no flows, and its frames are read all the same
            let capture = Capture::load(&path).unwrap_or_default();
            let flows = flows(&capture);
            let ports: BTreeSet<u16> = flows.iter().map(|f| f.tuple.destination_port).take(4).collect();
            let (inline, uses) = read(&path, &ports);
            let http: Vec<&Use> = uses.iter().filter(|u| flows.iter().any(|f| f.tuple == u.tuple)).collect();
            let alike = http.iter().filter(|u| flows.iter().any(|f| agrees(u, f))).count();
            let given_up = http.iter().filter(|u| u.given_up.is_some()).count();
            totals = [totals[0] + flows.len(), totals[1] + http.len(), totals[2] + given_up, totals[3] + alike];
            println!(
                "{}: {} flows, {} opened, {given_up} given up, {alike} alike; {}",
                name(&path),
                flows.len(),
                http.len(),
                shown(&inline)
            );
        }
    }
    println!("flows {}, opened {}, given up {}, as software reads them {}", totals[0], totals[1], totals[2], totals[3]);
    assert_eq!(totals[1], totals[3]);
}
