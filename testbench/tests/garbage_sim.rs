//! Garbage on the stream of the simulated core beside the twin: equal outputs, and every request in one of the core's counts.
#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]
use forebay_decide::Bundle;
use forebay_device::{Device, Output};
use forebay_spec::limits::{BOARD, BODY_BYTES_MAX, CREDENTIAL_BYTES_MAX, HEADER_BYTES_MAX};
use forebay_spec::{Disposition, PuntReason};
use forebay_testbench::agree::plain_request;
use forebay_testbench::cases::{for_cases, shown};
use forebay_testbench::generate::{
    absurd_lengths, cut, damage, long_headers, noise, stream, Choices, Piece, Script, Step,
};
use forebay_testbench::run::{records, replay};
use forebay_testbench::simulated::{counts_agree, give_beside_twin, Pair, Width};
use std::cell::{Cell, RefCell};

/// Gives pieces to both, one after another; what came out, once everything agrees.
fn equal(pair: &mut Pair, pieces: Vec<Piece>) -> Result<Vec<Output>, String> {
    let bundle = Bundle::default();
    pair.configure(&bundle)?;
    let script = Script { steps: pieces.into_iter().map(Step::Segment).collect(), ..Script::default() };
    let outputs = pair.run(&script)?;
    counts_agree(&pair.sim, &outputs)?;
    replay(&outputs, &bundle, pair.sim.profile())?;
    Ok(outputs)
}

/// The dispositions that both give a connection with these bytes, which ends behind them.
fn whole(pair: &mut Pair, bytes: &[u8]) -> Vec<Disposition> {
    let piece = Piece { connection: 77, start: true, close: true, payload: bytes.to_vec() };
    let outputs = equal(pair, vec![piece]).unwrap_or_else(|e| panic!("{e}\n  stream: {}", shown(bytes)));
    records(&outputs).iter().map(|r| r.disposition).collect()
}

fn punt(reason: PuntReason) -> Vec<Disposition> {
    vec![Disposition::Punt(reason)]
}

/// A stream that was damaged, left at any byte, or never was one.
fn garbage(c: &mut Choices<'_>) -> Vec<u8> {
    if c.percent(30) {
        return noise(c);
    }
    let (mut bytes, _) = stream(c);
    if c.percent(70) {
        damage(c, &mut bytes);
    }
    if c.percent(50) {
        bytes.truncate(c.below(bytes.len() + 1));
    }
    bytes
}

#[test]
fn garbage_gives_equal_outputs() {
    let pairs = Width::BOTH.map(|w| RefCell::new(Pair::new(w)));
    let ends = Cell::new(0);
    for_cases(1_000, 1500, |c| {
        let pair = &mut *pairs[c.below(2)].borrow_mut();
        pair.sim.set_idle(c.one(&[0, 0, 30]), u64::from(c.wide()));
        let number = c.below(BOARD.connections) as u16;
        let bytes = garbage(c);
        let mut pieces = cut(c, number, &bytes, true);
        if c.percent(20) {
            // closed twice, started twice, bytes behind the close
            let again = c.below(pieces.len());
            let mut piece = pieces[again].clone();
            piece.start |= c.percent(50);
            pieces.push(piece);
        }
        let outputs = equal(pair, pieces)?;
        let punts = records(&outputs).iter().filter(|r| matches!(r.disposition, Disposition::Punt(_))).count();
        ends.set(ends.get() + punts);
        Ok(())
    });
    println!("{} punts", ends.get());
    assert!(ends.get() > 500, "{}", ends.get());
}

/// Many connections at once, nothing between their segments, ticks beside them.
#[test]
fn garbage_on_many_connections_gives_equal_outputs() {
    let sims = Width::BOTH.map(|w| RefCell::new(w.device()));
    sims.iter().for_each(|s| s.borrow_mut().set_pipelined(true));
    let total = Cell::new(0);
    for_cases(200, 4000, |c| {
        let sim = &mut *sims[c.below(2)].borrow_mut();
        let bundle = Bundle::default();
        sim.configure(&bundle).map_err(|e| e.to_string())?;
        sim.set_ticks(c.one(&[0, 30, 90]));
        let mut pieces = Vec::new();
        for number in 0..c.between(2, 12) as u16 {
            let bytes = garbage(c);
            pieces.push(cut(c, number * 21, &bytes, true));
        }
        let mut mixed = Vec::new();
        while !pieces.is_empty() {
            let at = c.below(pieces.len());
            mixed.push(pieces[at].remove(0));
            if pieces[at].is_empty() {
                pieces.swap_remove(at);
            }
        }
        total.set(total.get() + records(&give_beside_twin(sim, &bundle, &mixed)?).len());
        Ok(())
    });
    println!("{} records", total.get());
    assert!(total.get() > 500, "{}", total.get());
}

#[test]
fn every_truncation_gives_equal_outputs() {
    Width::BOTH.into_iter().for_each(|width| every_truncation(&mut Pair::new(width)));
}

fn every_truncation(pair: &mut Pair) {
    let request = plain_request(br#"{"max_tokens": 256, "model": "gpt-4", "messages": [{"content": "a \" b"}]}"#);
    for kept in 1..request.len() {
        assert_eq!(whole(pair, &request[..kept]), punt(PuntReason::Truncated), "{kept} bytes kept");
        let second = whole(pair, &[&request[..], &request[..kept]].concat());
        assert_eq!(second, [vec![Disposition::Decide], punt(PuntReason::Truncated)].concat(), "{kept} bytes kept");
    }
}

#[test]
fn absurd_content_lengths_give_equal_outputs() {
    Width::BOTH.into_iter().for_each(|width| absurd_content_lengths(&mut Pair::new(width)));
}

fn absurd_content_lengths(pair: &mut Pair) {
    for request in absurd_lengths() {
        assert_eq!(whole(pair, &request), punt(PuntReason::ContentLength));
    }
    let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {BODY_BYTES_MAX}\r\n\r\n{{}}");
    assert_eq!(whole(pair, head.as_bytes()), punt(PuntReason::Truncated));
}

#[test]
fn ten_megabyte_headers_give_equal_outputs() {
    Width::BOTH.into_iter().for_each(|width| ten_megabyte_headers(&mut Pair::new(width)));
}

fn ten_megabyte_headers(pair: &mut Pair) {
    use PuntReason::{Credential, HeaderBytes, RequestLine};
    let reasons = [HeaderBytes, HeaderBytes, HeaderBytes, HeaderBytes, RequestLine, RequestLine, Credential];
    // one of ten megabytes, the others of as many bytes as tell them from it
    for (header, reason) in long_headers(1 << 16).iter().zip(reasons) {
        assert_eq!(whole(pair, header), punt(reason), "{}", shown(header));
    }
    assert_eq!(whole(pair, &long_headers(10 << 20)[0]), punt(HeaderBytes));
}

#[test]
fn limits_to_the_byte_give_equal_outputs() {
    Width::BOTH.into_iter().for_each(|width| limits_to_the_byte(&mut Pair::new(width)));
}

fn limits_to_the_byte(pair: &mut Pair) {
    let request = |name: &str, bytes: usize| {
        format!("POST /v1/messages HTTP/1.1\r\n{name}: {}\r\n\r\n", "v".repeat(bytes)).into_bytes()
    };
    let room = HEADER_BYTES_MAX as usize - request("x", 0).len();
    let most = CREDENTIAL_BYTES_MAX as usize;
    for (name, bytes, reason) in [("x", room, PuntReason::HeaderBytes), ("x-api-key", most, PuntReason::Credential)] {
        assert_eq!(whole(pair, &request(name, bytes)), [Disposition::Decide]);
        assert_eq!(whole(pair, &request(name, bytes + 1)), punt(reason));
    }
}
