//! `front` against its own Verilog: the handover beside a model of it, and all of it with frames of clients.
mod common;
#[path = "common/frames.rs"]
mod frames;
mod random;

use common::tables::Tables;
use common::{lockstep, noise, on_a_large_stack, requests};
use forebay_hdl::front::{Front, Handover, COMMAND_CLOCKS, HANDOVER_CLOCKS};
use forebay_hdl::router::{class_waits, model_waits};
use forebay_spec::frame::word;
use frames::{hostile, pick, sound, tuple, Tcp, ACK, FIN, RST, SYN};
use random::Rng;
use rust_hdl::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;

/// A beat for `http`, and the first clock in which it may stand at the output.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Beat {
    data: u64,
    count: u64,
    connection: u64,
    start: bool,
    close: bool,
    command: u64,
    bank: bool,
    reason: u64,
    /// Of the host.
    host: bool,
    from: usize,
}

/// What the handover has to do.
struct HandoverBench {
    rng: Rng,
    /// Beats that have been put in, at most two.
    held: VecDeque<Beat>,
    /// A command that was taken, and waits.
    command: Option<Beat>,
    ready: u64,
    busy: u64,
    commands: u64,
    passed: u64,
    n: usize,
}

impl HandoverBench {
    fn new(seed: u64) -> Self {
        HandoverBench {
            rng: Rng::new(seed),
            held: VecDeque::new(),
            command: None,
            ready: 1,
            busy: 1,
            commands: 1,
            passed: 0,
            n: 0,
        }
    }

    fn drive<const B: usize, const A: usize>(&mut self, b: &mut Handover<B, A>, n: usize) {
        self.n = n;
        let r = &mut self.rng;
        if n.is_multiple_of(200) {
            (self.ready, self.busy) = (pick(r, &[1, 1, 2, 10]), pick(r, &[1, 1, 2, 10]));
            self.commands = pick(r, &[1, 3, 40, 1_000]);
        }
        b.reset.next = r.one_in(2_000);
        b.m_ready.next = r.one_in(self.ready);
        b.s_valid.next = r.one_in(self.busy);
        b.s_data.next = noise(r);
        b.s_count.next = r.below(65).into();
        b.s_connection.next = noise(r);
        b.s_start.next = r.one_in(2);
        b.s_close.next = r.one_in(2);
        b.s_command.next = pick(r, &[0_u64, 3]).into();
        b.s_reason.next = noise(r);
        b.command_valid.next = r.one_in(self.commands);
        b.command.next = pick(r, &[1_u64, 2]).into();
        b.command_bank.next = r.one_in(2);
    }

    /// Reads what the clock brings, just before its edge.
    fn look<const B: usize, const A: usize>(&mut self, b: &Handover<B, A>) {
        let n = self.n;
        // none of this depends on `m_ready` of this clock
        let room = self.held.len() < 2;
        assert_eq!(b.s_ready.val(), room && self.command.is_none(), "clock {n}");
        assert_eq!(b.command_ready.val(), self.command.is_none(), "clock {n}");
        let due = self.held.front().filter(|beat| beat.from <= n);
        assert_eq!(b.m_valid.val(), due.is_some(), "clock {n}");
        if let Some(due) = due {
            let seen = seen(b, due);
            assert_eq!(seen, *due, "clock {n}");
        }
        assert_eq!(b.working.val(), !self.held.is_empty() || self.command.is_some(), "clock {n}");
        let waits = self.held.iter().any(|beat| beat.host) || self.command.is_some();
        assert_eq!(b.commands.val(), waits, "clock {n}");
        if b.reset.val() {
            self.held.clear();
            self.command = None;
            return;
        }
        let goes = due.is_some() && b.m_ready.val();
        self.passed += u64::from(goes);
        let taken = self.command.clone();
        if let Some(command) = taken.filter(|_| room) {
            self.held.push_back(command);
            self.command = None;
        } else if b.s_valid.val() && b.s_ready.val() {
            self.held.push_back(offered(b, n));
        }
        if b.command_valid.val() && b.command_ready.val() {
            let (command, bank) = (b.command.val().into(), b.command_bank.val());
            let from = n + COMMAND_CLOCKS;
            let none = Beat { host: true, command, bank, from, ..offered(b, n) };
            self.command = Some(Beat { count: 0, start: false, close: false, ..none });
        }
        if goes {
            self.held.pop_front();
        }
    }
}

fn low<const N: usize>(bits: &Bits<N>) -> u64 {
    common::part(bits, 0, N.min(64))
}

/// The beat at the input.
fn offered<const B: usize, const A: usize>(b: &Handover<B, A>, n: usize) -> Beat {
    Beat {
        data: low(&b.s_data.val()),
        count: b.s_count.val().into(),
        connection: low(&b.s_connection.val()),
        start: b.s_start.val(),
        close: b.s_close.val(),
        command: b.s_command.val().into(),
        bank: false,
        reason: b.s_reason.val().into(),
        host: false,
        from: n + HANDOVER_CLOCKS,
    }
}

/// The beat at the output; what is without meaning in a beat like `due` is taken from that.
fn seen<const B: usize, const A: usize>(b: &Handover<B, A>, due: &Beat) -> Beat {
    let beat = Beat {
        count: b.m_count.val().into(),
        start: b.m_start.val(),
        close: b.m_close.val(),
        command: b.m_command.val().into(),
        ..due.clone()
    };
    if due.host {
        return Beat { bank: b.m_bank.val(), ..beat };
    }
    Beat { data: low(&b.m_data.val()), connection: low(&b.m_connection.val()), reason: b.m_reason.val().into(), ..beat }
}

fn handover_equals_its_model<const B: usize, const A: usize>(name: &str, cycles: usize) {
    let bench = RefCell::new(HandoverBench::new(B as u64));
    let clock = |b: &mut Handover<B, A>, level: bool| {
        if level {
            bench.borrow_mut().look(b);
        }
        b.clock.next = level.into();
    };
    lockstep(name, cycles, Handover::<B, A>::default(), |b, n| bench.borrow_mut().drive(b, n), clock);
    let passed = bench.into_inner().passed;
    assert!(passed as usize > cycles / 4, "{passed}");
}

#[test]
fn the_handover_equals_its_model_and_its_verilog() {
    handover_equals_its_model::<64, 8>("handover8", 60_000);
    handover_equals_its_model::<512, 10>("handover64", 20_000);
}

/// Four connections, eight slots.
type ProofFront8 = Front<8, 64, 2, 6, 6, { model_waits(8) }, { class_waits(8) }, 6, 7, 24, 3, 4, 11, 11, 12, 5>;

/// Clocks that are run; one takes about a millisecond in the Rust model.
const CYCLES: usize = 16_000;
const SERVER_PORT: u16 = 8_000;

/// A client, and what it has still to send.
#[derive(Default)]
struct Client {
    number: u8,
    seq: u32,
    left: Vec<u8>,
    open: bool,
}

impl Client {
    /// Its next segment: most often the next bytes of its requests.
    fn segment(&mut self, rng: &mut Rng, tables: &Tables) -> Tcp {
        let tcp =
            |seq: u32, flags: u8, payload: Vec<u8>| Tcp { tuple: tuple(self.number, SERVER_PORT), seq, flags, payload };
        if !self.open {
            let seq = rng.next() as u32;
            let out = tcp(seq, SYN, Vec::new());
            self.left = if rng.one_in(3) { requests::life(rng, tables) } else { requests::sound(rng, tables) };
            (self.open, self.seq) = (true, seq.wrapping_add(1));
            return out;
        }
        if self.left.is_empty() {
            self.open = false;
            return tcp(self.seq, pick(rng, &[FIN | ACK, RST]), Vec::new());
        }
        let at = 1 + rng.below(self.left.len().min(600) as u64) as usize;
        let bytes: Vec<u8> = self.left.drain(..at).collect();
        let seq = self.seq;
        self.seq = seq.wrapping_add(at as u32);
        // ahead of what was sent, now and then
        tcp(if rng.one_in(15) { seq.wrapping_add(1) } else { seq }, ACK, bytes)
    }
}

struct Bench {
    rng: Rng,
    tables: Tables,
    words: Vec<(u16, u32)>,
    clients: Vec<Client>,
    frame: Vec<u8>,
    /// A command was taken in the clock before.
    taken: bool,
    told: [u64; 4],
    commands: u64,
    records: u64,
    verdicts: u64,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let tables = Tables::new(&mut rng);
        let mut words = tables.words();
        words.push((word::SERVER_PORT, u32::from(SERVER_PORT)));
        words.extend((0..4).map(|k| (word::FLOW_KEY + k, 0x0fed_cba9 * u32::from(k + 1))));
        let clients = (0..6).map(|number| Client { number, ..Client::default() }).collect();
        Bench {
            rng,
            tables,
            words,
            clients,
            frame: Vec::new(),
            taken: false,
            told: [0; 4],
            commands: 0,
            records: 0,
            verdicts: 0,
        }
    }

    fn drive(&mut self, b: &mut ProofFront8, clock: usize) {
        let word = self.words.pop();
        b.cfg_valid.next = word.is_some();
        let (address, data) = word.unwrap_or_default();
        b.cfg_address.next = u64::from(address).into();
        b.cfg_data.next = u64::from(data).into();
        let rng = &mut self.rng;
        b.reset.next = word.is_some() || rng.one_in(6_000);
        b.h_ready.next = !rng.one_in(4);
        b.command_valid.next = rng.one_in(60);
        b.command.next = pick(rng, &[1_u64, 1, 1, 1, 2]).into();
        // the other bank holds nothing
        b.command_bank.next = b.command.next.index() == 2;
        b.t_valid.next = rng.one_in(80);
        b.t_elapsed.next = rng.below(5).into();
        b.u_valid.next = rng.one_in(50);
        b.u_connection.next = rng.below(4).into();
        b.u_generation.next = rng.below(4).into();
        b.u_seq.next = u64::from(self.clients[0].seq).into();
        b.release_valid.next = rng.one_in(30);
        b.release_slot.next = rng.below(9).into();
        b.release_generation.next = rng.below(3).into();
        b.release_kind.next = rng.below(3).into();
        b.tick_valid.next = rng.one_in(60);
        b.tick_elapsed_ms.next = rng.below(9).into();
        b.switch_valid.next = rng.one_in(100);
        b.punt_valid.next = rng.one_in(200);
        b.punt_record.next = noise(rng);
        // bursts, and times in which all of them come through
        let quiet = clock / 500 % 3 == 2 && self.frame.is_empty();
        b.f_valid.next = !b.reset.next && !quiet && !self.rng.one_in(5);
        if b.f_valid.next {
            self.beat(b);
        }
    }

    fn beat(&mut self, b: &mut ProofFront8) {
        let rng = &mut self.rng;
        if self.frame.is_empty() {
            let at = rng.below(self.clients.len() as u64) as usize;
            let tcp = self.clients[at].segment(rng, &self.tables);
            self.frame = if rng.one_in(20) { hostile(rng, &tcp) } else { sound(rng, &tcp) };
        }
        let count = self.frame.len().min(8);
        let bytes: Vec<u8> = self.frame.drain(..count).collect();
        b.f_data.next = common::word(&bytes);
        b.f_count.next = (count as u64).into();
        b.f_last.next = self.frame.is_empty();
    }

    fn look(&mut self, b: &ProofFront8) {
        if b.h_valid.val() && b.h_ready.val() {
            self.told[b.h_kind.val().index()] += 1;
        }
        self.commands += u64::from(b.command_valid.val() && b.command_ready.val());
        self.records += u64::from(b.record_valid.val());
        self.verdicts += u64::from(b.verdict_valid.val());
        // from the clock after it was taken on
        assert!(!self.taken || b.bank_busy.val().index() == 3);
        self.taken = b.command_valid.val() && b.command_ready.val() && !b.reset.val();
    }
}

#[test]
fn all_of_it_equals_its_verilog() {
    on_a_large_stack(in_lock_step);
}

fn in_lock_step() {
    let bench = RefCell::new(Bench::new(90));
    let clock = |b: &mut ProofFront8, level: bool| {
        if level {
            bench.borrow_mut().look(b);
        }
        b.clock.next = level.into();
    };
    lockstep("front", CYCLES, ProofFront8::default(), |b, n| bench.borrow_mut().drive(b, n), clock);
    let Bench { told, commands, records, verdicts, .. } = bench.into_inner();
    println!("told {told:?}, commands {commands}, records {records}, verdicts {verdicts}");
    assert!(told[..3].iter().all(|n| *n > 3) && commands > 50 && records > 10 && verdicts > 10);
}
