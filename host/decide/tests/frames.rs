//! The rules of `spec/frames.md`, row by row.
use forebay_decide::frame::{parse, Inline, InlineConfig, InlineError, Step};
use forebay_spec::frame::{groups, CloseCause, FrameEnd, Tuple, FRAME_BYTES_MAX, RECORDS};
use forebay_spec::limits::{BOARD, PROOF};
use forebay_spec::{Profile, PuntReason};
use FrameEnd as E;

const KEY: [u32; 4] = [0x0123_4567, 0x89ab_cdef, 0x0f1e_2d3c, 0x4b5a_6978];
const SYN: u8 = 2;
const FIN: u8 = 0x11;
const RST: u8 = 4;
const ACK: u8 = 0x10;

fn sum(start: u32, bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|w| u32::from(w[0]) << 8 | w.get(1).map_or(0, |&b| u32::from(b)));
    let sum = words.fold(start, |sum, w| sum + w);
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

/// A frame of IPv4 from 10.0.0.1 and `port` to 192.0.2.80:80.
fn frame(port: u16, flags: u8, seq: u32, payload: &[u8]) -> Vec<u8> {
    let mut tcp = [port.to_be_bytes(), 80_u16.to_be_bytes()].concat();
    tcp.extend(seq.to_be_bytes());
    tcp.extend([0, 0, 0, 1, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    tcp.extend(payload);
    let mut ip = vec![0x45, 0];
    ip.extend((20 + tcp.len() as u16).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 192, 0, 2, 80]);
    let mut frame = [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0][..], &ip, &tcp].concat();
    repair(&mut frame);
    frame
}

/// Makes the checksums of an untagged IPv4 frame without options right again.
fn repair(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let check = !sum(0, &frame[14..34]);
    frame[24..26].copy_from_slice(&check.to_be_bytes());
    frame[50..52].fill(0);
    let pseudo = u32::from(sum(6 + frame.len() as u32 - 34, &frame[26..34]));
    let check = !sum(pseudo, &frame[34..]);
    frame[50..52].copy_from_slice(&check.to_be_bytes());
}

/// What came out: `(connection, what)`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Out {
    Open(u16, u8),
    Bytes(u16, bool, bool, Vec<u8>),
    Abort(u16, u8, PuntReason, u32),
    Closed(u16, u8, CloseCause),
}

fn own(step: Step<'_>) -> Out {
    match step {
        Step::Open { connection, generation, .. } => Out::Open(connection, generation),
        Step::Segment { connection, start, close, payload } => Out::Bytes(connection, start, close, payload.to_vec()),
        Step::Abort { connection, generation, reason, seq } => Out::Abort(connection, generation, reason, seq),
        Step::Closed { connection, generation, cause } => Out::Closed(connection, generation, cause),
    }
}

struct Bench {
    inline: Inline,
    frames: u64,
}

impl Bench {
    fn new(profile: Profile) -> Self {
        Bench::with(profile, &InlineConfig::new(80, KEY))
    }

    fn with(profile: Profile, config: &InlineConfig) -> Self {
        Bench { inline: Inline::new(config, profile).expect("sound"), frames: 0 }
    }

    fn put(&mut self, frame: &[u8]) -> (E, Vec<Out>) {
        let mut outs = Vec::new();
        let end = self.inline.frame(frame, &mut |s| outs.push(own(s)));
        self.frames += 1;
        assert_eq!(self.inline.counters().frames_all(), self.frames);
        (end, outs)
    }

    /// A segment of the connection from `port`, which begins behind sequence number 999.
    fn seg(&mut self, port: u16, flags: u8, seq: u32, payload: &[u8]) -> (E, Vec<Out>) {
        self.put(&frame(port, flags, seq, payload))
    }

    fn then_open(mut self, port: u16, payload: &[u8]) -> Self {
        self.open(port, payload);
        self
    }

    fn tick(&mut self, ms: u32) -> Vec<Out> {
        let mut outs = Vec::new();
        let mut left = ms;
        while left > 0 {
            let step = left.min(u32::from(u16::MAX));
            self.inline.tick(step as u16, &mut |s| outs.push(own(s)));
            left -= step;
        }
        outs
    }

    /// A connection on which `payload` was passed; its number.
    fn open(&mut self, port: u16, payload: &[u8]) -> u16 {
        assert_eq!(self.seg(port, SYN, 999, b""), (E::Syn, vec![]));
        match self.seg(port, ACK, 1000, payload) {
            (E::Segment, outs) => match outs[..] {
                [Out::Open(connection, _), Out::Bytes(_, true, false, _)] => connection,
                _ => panic!("{outs:?}"),
            },
            other => panic!("{other:?}"),
        }
    }
}

fn bytes(c: u16, payload: &[u8]) -> Out {
    Out::Bytes(c, false, false, payload.to_vec())
}

#[test]
fn a_connection_is_read_from_syn_to_fin() {
    let mut b = Bench::new(BOARD);
    assert_eq!(b.seg(1, SYN, u32::MAX - 1, b"early"), (E::Syn, vec![]));
    assert_eq!(b.seg(1, ACK, u32::MAX, b""), (E::Empty, vec![]));
    let (end, outs) = b.seg(1, ACK, u32::MAX, b"abc");
    let Out::Open(c, 1) = outs[0] else { panic!("{outs:?}") };
    assert_eq!((end, &outs[1..]), (E::Segment, &[Out::Bytes(c, true, false, b"abc".to_vec())][..]));
    assert_eq!(b.seg(1, ACK, 2, b"defg"), (E::Segment, vec![bytes(c, b"defg")]));
    let last = Out::Bytes(c, false, true, b"h".to_vec());
    assert_eq!(b.seg(1, FIN, 6, b"h"), (E::Segment, vec![last, Out::Closed(c, 1, CloseCause::Fin)]));
    assert_eq!(b.seg(1, FIN, 6, b"h"), (E::NoContext, vec![]));
    assert_eq!(b.seg(1, ACK, 8, b""), (E::Stray, vec![]));
    assert_eq!(b.seg(1, SYN, 70, b""), (E::Syn, vec![]));
    assert_eq!(b.seg(1, ACK, 71, b"x").1[0], Out::Open(c, 2));
    let close = vec![Out::Bytes(c, false, true, vec![]), Out::Closed(c, 2, CloseCause::Fin)];
    assert_eq!(b.seg(1, FIN, 72, b""), (E::Fin, close));
}

#[test]
fn flags_that_no_client_sends_are_ignored() {
    let mut b = Bench::new(BOARD);
    b.open(1, b"ab");
    for flags in [0, 1, SYN | ACK, 8] {
        assert_eq!(b.seg(1, flags, 1002, b"xx"), (E::Ignored, vec![]), "{flags}");
    }
    for flags in [SYN | RST, SYN | FIN] {
        assert_eq!(b.seg(1, flags, 1002, b"xx").0, E::MalformedTcp);
    }
    assert_eq!(b.seg(1, ACK | 0x20, 1002, b"xx").0, E::Unsupported);
}

#[test]
fn resets_must_be_exact() {
    let mut b = Bench::new(BOARD);
    let c = b.open(1, b"ab");
    for seq in [1000, 1001, 1003, 5000, 1002 + (1 << 30)] {
        assert_eq!(b.seg(1, RST, seq, b""), (E::ResetIgnored, vec![]), "{seq}");
    }
    let close = vec![Out::Bytes(c, false, true, vec![]), Out::Closed(c, 1, CloseCause::Reset)];
    assert_eq!(b.seg(1, RST | ACK, 1002, b"why"), (E::Reset, close));
    assert_eq!(b.seg(1, RST, 1002, b"why"), (E::Stray, vec![]));
    assert_eq!(b.seg(2, SYN, 999, b""), (E::Syn, vec![]));
    assert_eq!(b.seg(2, RST, 1000, b""), (E::Reset, vec![]));
    assert_eq!(b.seg(2, ACK, 1000, b"a"), (E::NoContext, vec![]));
}

#[test]
fn a_gap_gives_the_connection_up_and_the_host_gives_it_back() {
    let mut b = Bench::new(BOARD);
    let c = b.open(1, b"ab");
    assert_eq!(b.seg(1, ACK, 1002 + (1 << 20), b"x"), (E::OutOfWindow, vec![]));
    assert_eq!(b.seg(1, ACK, 1002_u32.wrapping_sub((1 << 20) + 1), b"x"), (E::OutOfWindow, vec![]));
    let far = 1002_u32.wrapping_sub(1 << 20);
    assert_eq!(Bench::new(BOARD).then_open(1, b"ab").seg(1, ACK, far, b"x").0, E::Overlap);
    let abort = Out::Abort(c, 1, PuntReason::OutOfOrder, 1002);
    assert_eq!(b.seg(1, ACK, 1001 + (1 << 20), b"x"), (E::OutOfOrder, vec![abort]));
    assert_eq!(b.seg(1, ACK, 1002, b"x"), (E::HostPath, vec![]));
    assert_eq!(b.seg(1, SYN, 1002, b""), (E::SynIgnored, vec![]));
    for (connection, generation) in [(c, 0), (c, 2), (c ^ 1, 1), (9999, 1)] {
        assert!(!b.inline.resume(connection, generation, 3000));
    }
    assert!(b.inline.resume(c, 1, 3000) && !b.inline.resume(c, 1, 3000));
    assert_eq!((b.inline.counters().resumed, b.inline.counters().stale_resume), (1, 5));
    assert_eq!(b.seg(1, ACK, 3000, b"yz"), (E::Segment, vec![Out::Bytes(c, true, false, b"yz".to_vec())]));
    assert_eq!(b.seg(1, ACK, 1000, b"ab"), (E::Overlap, vec![Out::Abort(c, 2, PuntReason::Overlap, 3002)]));
    assert!(b.inline.resume(c, 2, 4000));
    let start = Out::Bytes(c, true, false, vec![]);
    let abort = Out::Abort(c, 3, PuntReason::OutOfOrder, 4000);
    assert_eq!(b.seg(1, ACK, 4001, b"a"), (E::OutOfOrder, vec![start, abort]));
    assert_eq!(b.seg(1, FIN, 77, b""), (E::HostPath, vec![Out::Closed(c, 3, CloseCause::Fin)]));
    assert!(!b.inline.resume(c, 3, 4000));
}

#[test]
fn a_resumed_connection_may_end_before_its_first_byte() {
    let mut b = Bench::new(BOARD);
    let c = b.open(1, b"ab");
    b.seg(1, ACK, 1003, b"x");
    assert!(b.inline.resume(c, 1, 1004));
    assert_eq!(b.seg(1, FIN, 1004, b""), (E::Fin, vec![Out::Closed(c, 2, CloseCause::Fin)]));
}

#[test]
fn nothing_is_remembered_of_what_went_before() {
    let mut b = Bench::new(BOARD).then_open(1, b"ab");
    b.seg(1, FIN, 1002, b"");
    b.seg(1, SYN, 1001, b"");
    assert_eq!(b.seg(1, ACK, 1002, b"c").0, E::Segment);
    assert_eq!(b.seg(1, ACK, 1000, b"abc").0, E::Overlap);
    let mut b = Bench::new(BOARD);
    let c = b.open(1, b"ab");
    b.seg(1, ACK, 1003, b"x");
    assert!(b.inline.resume(c, 1, 1002));
    assert_eq!(b.seg(1, ACK, 1000, b"ab").0, E::Overlap);
}

#[test]
fn a_gap_before_the_first_byte_opens_and_gives_up() {
    let mut b = Bench::new(BOARD);
    b.seg(1, SYN, 999, b"");
    let (end, outs) = b.seg(1, ACK, 1001, b"x");
    let Out::Open(c, 1) = outs[0] else { panic!("{outs:?}") };
    let rest = [Out::Bytes(c, true, false, vec![]), Out::Abort(c, 1, PuntReason::OutOfOrder, 1000)];
    assert_eq!((end, &outs[1..]), (E::OutOfOrder, &rest[..]));
    assert_eq!(b.seg(1, RST, 0, b""), (E::HostPath, vec![Out::Closed(c, 1, CloseCause::Reset)]));
}

#[test]
fn repeats_of_whole_ranges_are_trimmed() {
    let mut b = Bench::new(BOARD);
    let c = b.open(1, b"aaa");
    for (seq, payload) in [(1003, &b"bbbb"[..]), (1007, b"cc")] {
        assert_eq!(b.seg(1, ACK, seq, payload).0, E::Segment);
    }
    for (seq, payload) in [
        (1000, &b"aaa"[..]),
        (1003, b"bbbb"),
        (1007, b"cc"),
        (1000, b"aaabbbb"),
        (1003, b"bbbbcc"),
        (1000, b"aaabbbbcc"),
    ] {
        assert_eq!(b.seg(1, ACK, seq, payload), (E::Repeat, vec![]), "{seq}");
    }
    assert_eq!(b.seg(1, ACK, 1003, b"bbbbccdd"), (E::Trimmed, vec![bytes(c, b"dd")]));
    assert_eq!(b.seg(1, ACK, 1007, b"ccdd"), (E::Repeat, vec![]));
    assert_eq!(b.seg(1, ACK, 1010, b"?"), (E::Probe, vec![]));
    assert_eq!(b.seg(1, ACK, 1010, b""), (E::Empty, vec![]));
    assert_eq!(
        b.seg(1, FIN, 1009, b"dd"),
        (E::Repeat, vec![Out::Bytes(c, false, true, vec![]), Out::Closed(c, 1, CloseCause::Fin)])
    );
}

#[test]
fn a_last_byte_that_comes_again_with_a_fin_is_no_probe() {
    let mut b = Bench::new(BOARD).then_open(1, b"ab");
    b.seg(1, ACK, 1002, b"c");
    assert_eq!(b.seg(1, FIN, 1002, b"c").0, E::Repeat);
    let mut b = Bench::new(BOARD).then_open(1, b"ab");
    b.seg(1, ACK, 1002, b"c");
    assert_eq!(b.seg(1, FIN, 1002, b"?").0, E::Overlap);
}

#[test]
fn overlaps_that_are_not_shown_equal_give_up() {
    let cases: [(u32, u8, &[u8]); 11] = [
        (1000, ACK, b"aax"),      // other bytes
        (1003, ACK, b"bbbbcx"),   // in the second range
        (1001, ACK, b"aa"),       // begins inside a range
        (1000, ACK, b"aa"),       // ends inside one
        (1000, ACK, b"aaab"),     // the same, one range on
        (1003, ACK, b"bxbbccdd"), // new bytes behind wrong ones
        (999, ACK, b"?aaa"),      // before the first range
        (1008, ACK, b"cdd"),      // begins inside, brings new bytes
        (1007, FIN, b"c"),        // a FIN where bytes were
        (1000, FIN, b"aaa"),      // the same behind a whole range
        (1008, FIN, b""),         // the same alone
    ];
    for (seq, flags, payload) in cases {
        let mut b = Bench::new(BOARD);
        let c = b.open(1, b"aaa");
        b.seg(1, ACK, 1003, b"bbbb");
        b.seg(1, ACK, 1007, b"cc");
        let abort = Out::Abort(c, 1, PuntReason::Overlap, 1009);
        assert_eq!(b.seg(1, flags, seq, payload), (E::Overlap, vec![abort]), "{seq} {payload:?}");
    }
}

#[test]
fn the_last_ranges_are_remembered() {
    for back in 1..=RECORDS + 1 {
        let mut b = Bench::new(BOARD);
        b.open(1, b"0123");
        let count = 12;
        for i in 1..count {
            assert_eq!(b.seg(1, ACK, 1000 + 4 * i, b"0123").0, E::Segment);
        }
        let seq = 1000 + 4 * (count - back as u32);
        assert_eq!(b.seg(1, ACK, seq, b"0123").0, if back <= RECORDS { E::Repeat } else { E::Overlap });
    }
}

#[test]
fn syns_on_a_connection_in_use() {
    let mut b = Bench::new(BOARD);
    assert_eq!(b.seg(1, SYN, 999, b"").0, E::Syn);
    assert_eq!(b.seg(1, SYN, 999, b"").0, E::SynRepeat);
    assert_eq!(b.seg(1, SYN, 499, b"").0, E::Syn);
    assert_eq!(b.seg(1, ACK, 1000, b"x").0, E::OutOfOrder);
    let c = b.open(2, b"ab");
    b.tick(9_999);
    assert_eq!(b.seg(2, SYN, 7, b""), (E::SynIgnored, vec![]));
    b.tick(1);
    let reused = vec![Out::Bytes(c, false, true, vec![]), Out::Closed(c, 1, CloseCause::Reused)];
    assert_eq!(b.seg(2, SYN, 7, b""), (E::Syn, reused));
    assert_eq!(b.seg(2, ACK, 8, b"x").1[0], Out::Open(c, 2));
}

#[test]
fn time_frees_what_is_not_used() {
    let mut b = Bench::new(PROOF);
    let c = b.open(1, b"ab");
    b.seg(2, SYN, 999, b"");
    // the sweep comes to each of the 4 contexts every 4 steps of 32 ms
    assert_eq!(b.tick(299_900), vec![]);
    assert_eq!(b.seg(1, ACK, 1002, b"").0, E::Empty);
    assert_eq!((b.tick(300), b.inline.counters().expired_half_open), (vec![], 1));
    let closed = vec![Out::Bytes(c, false, true, vec![]), Out::Closed(c, 1, CloseCause::Idle)];
    assert_eq!(b.tick(300_000), closed);
    assert_eq!(b.tick(5_000_000), vec![]);
}

/// A context is freed `idle_ms` after its last use, and not by each segment is it used.
#[test]
fn what_counts_as_use() {
    // flags, sequence number, payload, end, used
    let live: [(u8, u32, &[u8], E, bool); 10] = [
        (ACK, 1002, b"x", E::Segment, true),
        (ACK, 1000, b"ab", E::Repeat, true),
        (ACK, 1000, b"abc", E::Trimmed, true),
        (ACK, 1002, b"", E::Empty, true),
        (ACK, 1003, b"x", E::OutOfOrder, true),
        (ACK, 1003, b"", E::Empty, false),
        (ACK, 1001, b"?", E::Probe, false),
        (ACK, 1 << 31, b"x", E::OutOfWindow, false),
        (RST, 1003, b"", E::ResetIgnored, false),
        (SYN, 5000, b"", E::SynIgnored, false),
    ];
    let half_open: [(u8, u32, &[u8], E, bool); 3] =
        [(ACK, 1000, b"", E::Empty, false), (SYN, 999, b"", E::SynRepeat, false), (SYN, 77, b"", E::Syn, true)];
    let host = [(ACK, 3, &b"x"[..], E::HostPath, true)];
    let cases = [("live", &live[..]), ("half_open", &half_open), ("host", &host)];
    let config = InlineConfig { idle_ms: 101, ..InlineConfig::new(80, KEY) };
    for (state, cases) in cases {
        for &(flags, seq, payload, end, used) in cases {
            let mut b = Bench::with(PROOF, &config);
            b.seg(1, SYN, 999, b"");
            if state != "half_open" {
                b.seg(1, ACK, 1000, b"ab");
            }
            if state == "host" {
                b.seg(1, ACK, 1003, b"ab");
            }
            (0..60).for_each(|_| assert_eq!(b.tick(1), vec![]));
            assert_eq!(b.seg(1, flags, seq, payload).0, end);
            // in every fourth step of 1 ms context 0 is looked at
            let freed: usize = (0..41).map(|_| b.tick(1).len()).sum();
            let freed = freed as u64 + b.inline.counters().expired_half_open;
            assert_eq!(freed == 0, used, "{state} {end}");
            (0..60).for_each(|_| drop(b.tick(1)));
            assert_eq!(b.seg(1, RST, 1 << 31, b"").0, E::Stray);
        }
    }
    let mut b = Bench::with(PROOF, &config).then_open(1, b"ab");
    b.seg(1, ACK, 1003, b"x");
    (0..60).for_each(|_| drop(b.tick(1)));
    assert!(b.inline.resume(0, 1, 2000));
    (0..60).for_each(|_| drop(b.tick(1)));
    assert_eq!(b.seg(1, ACK, 2000, b"x").0, E::Segment);
}

#[test]
fn a_full_table_makes_room_in_the_order_of_the_page() {
    let mut b = Bench::new(PROOF);
    let numbers: Vec<u16> = (1..=4).map(|port| b.open(port, b"ab")).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(b.seg(5, SYN, 0, b""), (E::TableFull, vec![]));
    assert_eq!(b.seg(5, ACK, 1, b"x"), (E::NoContext, vec![]));
    b.tick(5_000);
    b.seg(1, ACK, 1002, b"");
    b.tick(5_000);
    let evicted = vec![Out::Bytes(1, false, true, vec![]), Out::Closed(1, 1, CloseCause::Evicted)];
    assert_eq!(b.seg(5, SYN, 0, b""), (E::Syn, evicted));
    // from here on only the half-open one is evicted
    for port in 6..300 {
        assert_eq!(b.seg(port, SYN, 0, b""), (E::Syn, vec![]));
    }
    assert_eq!(b.inline.counters().evicted_half_open, 294);
    assert_eq!(b.seg(299, ACK, 1, b"x").1[0], Out::Open(1, 2));
    assert_eq!(b.seg(3, ACK, 1002, b"still").0, E::Segment);
}

#[test]
fn other_ports_and_limits() {
    let mut b = Bench::new(BOARD);
    let mut other = frame(1, ACK, 0, b"x");
    other[37] = 81;
    repair(&mut other);
    assert_eq!(b.put(&other).0, E::OtherPort);
    other[37] = 0;
    repair(&mut other);
    assert_eq!(b.put(&other).0, E::OtherPort, "port 0 stands for none");
    let largest = frame(1, ACK, 0, &vec![b'x'; FRAME_BYTES_MAX - 54]);
    assert_eq!((largest.len(), b.put(&largest).0), (FRAME_BYTES_MAX, E::NoContext));
    let mut padded = frame(1, ACK, 0, b"x");
    padded.resize(FRAME_BYTES_MAX, 7);
    assert_eq!(parse(&padded).map(|s| s.payload), Ok(&b"x"[..]));
    padded.push(7);
    assert_eq!(b.put(&padded).0, E::TooLong);
    assert_eq!(b.put(&[]).0, E::MalformedEthernet);
    let bad = InlineConfig { idle_ms: 900_001, ..InlineConfig::new(80, KEY) };
    let error = Inline::new(&bad, BOARD).err();
    assert_eq!(error, Some(InlineError::Milliseconds { name: "idle_ms", value: 900_001 }));
    let odd = Profile { connections: 12, ..BOARD };
    assert_eq!(Inline::new(&InlineConfig::new(80, KEY), odd).err(), Some(InlineError::Connections(12)));
}

#[test]
fn connections_spread_over_the_table() {
    for (connections, eighths, lost_max_percent) in
        [(256, 4, 0), (1_024, 4, 0), (256, 6, 2), (1_024, 6, 2), (1_024, 7, 8)]
    {
        let mut b = Bench::new(Profile { connections, ..BOARD });
        let count = connections as u16 / 8 * eighths;
        for port in 1..=count {
            b.seg(port, SYN, 999, b"");
            b.seg(port, ACK, 1000, b"x");
        }
        let lost = u64::from(count) - b.inline.counters().opened;
        println!("{count} of {connections} contexts in use: {lost} connections found no place");
        assert_eq!(lost, b.inline.counters().frames(E::TableFull));
        assert!(lost * 100 <= u64::from(count) * lost_max_percent, "{lost} of {count}");
    }
    let mut loads = [0_usize; 64];
    for port in 0..64_000 {
        let tuple = Tuple { source_port: port, destination_port: 80, ..Tuple::default() };
        groups(&KEY, &tuple, 256).into_iter().for_each(|g| loads[g] += 1);
    }
    assert!(loads.iter().all(|n| (1_800..2_200).contains(n)), "{loads:?}");
}
