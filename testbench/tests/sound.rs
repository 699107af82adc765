//! Sound or punted: for every valid body, each field that the datapath takes equals the reference's, or the request
//! goes to the software path; and the software path equals the reference.
#![allow(clippy::unwrap_used)]
use forebay_decide::datapath::Datapath;
use forebay_decide::tag::keyed_tag;
use forebay_decide::Bundle;
use forebay_spec::limits::{LEVELS, PROOF};
use forebay_spec::{Disposition, PuntReason, Record};
use forebay_testbench::agree::{exact_and_reference, record_and_reference, records_and_exact_path, Twin};
use forebay_testbench::cases::{data, for_cases, shown};
use forebay_testbench::generate::{
    any_body, bundle, cut, ordinary_body, ordinary_request, stream, Outcome, CREDENTIALS, MODELS,
};
use forebay_testbench::{corpus, reference};
use std::cell::Cell;
use std::collections::BTreeMap;

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

/// The body through twin, validator and reference.
fn body_agrees(body: &[u8], twin: &Twin) -> Result<Record, String> {
    let tell = |e| format!("{e}\n  body: {}", shown(body));
    exact_and_reference(body).map_err(tell)?;
    let record = twin.record(body).map_err(tell)?;
    record_and_reference(&record, body, twin.bundle()).map_err(tell)?;
    Ok(record)
}

/// Requests by what the datapath made of them.
#[derive(Default)]
struct Table(BTreeMap<String, u32>);

impl Table {
    fn count(&mut self, record: &Record) {
        let name = match record.disposition {
            Disposition::Decide => "decide".to_string(),
            Disposition::Pass => "pass".to_string(),
            Disposition::Punt(reason) => format!("punt {reason}"),
        };
        *self.0.entry(name).or_default() += 1;
    }

    fn print(&self, title: &str) {
        println!("{title}");
        for (name, count) in &self.0 {
            println!("  {count:>8}  {name}");
        }
    }

    fn assert_few_punts(&self, title: &str) {
        self.print(title);
        let all: u32 = self.0.values().sum();
        let punts: u32 = self.0.iter().filter(|(n, _)| n.starts_with("punt")).map(|(_, c)| c).sum();
        assert!(all > 0 && punts * 100 < all, "{title}: {punts} of {all} punted");
    }
}

#[test]
fn generated_bodies_are_read_right_or_punted() {
    let twin = Twin::new(whole_bundle());
    let table = Cell::new(Table::default());
    for_cases(100_000, 400, |c| {
        let record = body_agrees(&any_body(c), &twin)?;
        let mut counts = table.take();
        counts.count(&record);
        table.set(counts);
        Ok(())
    });
    let table = table.take();
    table.print("generated bodies");
    // the generator is no test if it never gets past the fabric, or never makes it punt
    let all: u32 = table.0.values().sum();
    assert!(table.0["decide"] * 2 > all);
    for reason in [PuntReason::NameEscape, PuntReason::ValueEscape, PuntReason::Number] {
        assert!(table.0[&format!("punt {reason}")] > all / 1000, "{reason}");
    }
}

/// All objects of up to three members out of these: what a random generator passes by.
#[test]
fn every_small_object_is_read_right_or_punted() {
    const NAMES: [&str; 4] = ["\"top_k\"", "\"model\"", "\"a\"", "\"top_k \""];
    const VALUES: [&str; 15] = [
        "5",
        "-1",
        "1.5e3",
        "null",
        "true",
        "\"m\"",
        "\"top_k\"",
        "\"\\\"\"",
        "{}",
        "[]",
        "{\"top_k\":6}",
        "[\"top_k\",6]",
        "[[],{\"model\":\"m\"}]",
        "{\"a\":{\"top_k\":6},\"b\":7}",
        "\"\\\\\"",
    ];
    const SPACES: [&str; 3] = ["", " ", "\n\t\r          "];
    let twin = Twin::new(whole_bundle());
    let members: Vec<String> =
        SPACES.iter().flat_map(|s| NAMES.map(|n| VALUES.map(|v| format!("{s}{n}{s}:{s}{v}{s}"))).concat()).collect();
    let mut bodies = 0;
    let mut check = |text: &str| {
        let record = body_agrees(format!("{{{text}}}").as_bytes(), &twin).unwrap();
        assert_eq!(record.body_bytes as usize == text.len() + 2, record.disposition == Disposition::Decide);
        bodies += 1;
    };
    for (i, a) in members.iter().enumerate() {
        check(a);
        for (j, b) in members.iter().enumerate() {
            check(&format!("{a},{b}"));
            // white space is mixed with none in two of three
            for c in members[..members.len() / 3].iter().filter(|_| i < members.len() / 3 || j < members.len() / 3) {
                check(&format!("{a},{b},{c}"));
            }
        }
    }
    println!("{bodies} objects");
    assert!(bodies > 1_000_000);
}

#[test]
fn corpus_bodies_are_read_right_or_punted() {
    let twin = Twin::new(whole_bundle());
    let bodies = corpus::files(&corpus::folder().join("bodies")).unwrap();
    assert!(bodies.len() >= 60, "{} files in corpus/bodies", bodies.len());
    let mut table = Table::default();
    for body in bodies {
        table.count(&body_agrees(&body.bytes, &twin).unwrap_or_else(|e| panic!("{}: {e}", body.name)));
    }
    table.print("corpus/bodies");
}

/// Also inside a request body, where the value of a field is whatever the suite has.
#[test]
fn json_test_suite_is_read_right_or_punted() {
    let Some(data) = data("json_test_suite_is_read_right_or_punted") else { return };
    let twin = Twin::new(whole_bundle());
    for body in corpus::json_test_suite(&data).unwrap() {
        let inside = |before: &str, after: &str| [before.as_bytes(), &body.bytes, after.as_bytes()].concat();
        let variants = [
            body.bytes.clone(),
            inside("{\"max_tokens\":", "}"),
            inside("{\"temperature\": ", " ,\"top_k\":7}"),
            inside("{\"top_k\":7,\"model\":", ",\"max_tokens\":5}"),
            inside("{\"messages\":[", "],\"max_tokens\":5}"),
        ];
        for variant in variants {
            body_agrees(&variant, &twin).unwrap_or_else(|e| panic!("{}: {e}", body.name));
        }
    }
}

#[test]
fn json_test_suite_verdicts_are_kept() {
    let Some(data) = data("json_test_suite_verdicts_are_kept") else { return };
    let mut counts = [0; 3];
    for body in corpus::json_test_suite(&data).unwrap() {
        let status = reference::read(&body.bytes).status;
        let valid = matches!(status, reference::Status::Ok | reference::Status::NotObject);
        let (class, expected) = match body.name.as_bytes()[0..2] {
            [b'y', b'_'] => (0, Some(true)),
            [b'n', b'_'] => (1, Some(false)),
            _ => (2, None),
        };
        counts[class] += 1;
        assert!(expected.is_none_or(|e| e == valid), "{}: {status:?}", body.name);
    }
    println!("JSONTestSuite: {} must parse, {} must not, {} may", counts[0], counts[1], counts[2]);
    assert!(counts.iter().all(|&n| n > 15), "{counts:?}");
}

#[test]
fn naughty_strings_are_read_right_or_punted() {
    let Some(data) = data("naughty_strings_are_read_right_or_punted") else { return };
    let twin = Twin::new(whole_bundle());
    for text in corpus::naughty_strings(&data).unwrap() {
        let quoted = serde_json::to_string(&text).unwrap();
        for body in [
            format!("{{\"messages\":[{{\"role\":\"user\",\"content\":{quoted}}}],\"max_tokens\":5}}"),
            format!("{{{quoted}:1,\"max_tokens\":5,{quoted}:{quoted}}}"),
            format!("{{\"model\":{quoted},\"max_tokens\":5}}"),
            // not quoted: most are not JSON
            format!("{{\"max_tokens\":{text}}}"),
        ] {
            body_agrees(body.as_bytes(), &twin).unwrap();
        }
    }
    for (valid, text) in corpus::utf8_cases(&data).unwrap() {
        let body = [b"{\"messages\":\"", &text[..], b"\",\"max_tokens\":5}"].concat();
        body_agrees(&body, &twin).unwrap();
        assert_eq!(reference::read(&body).status != reference::Status::Utf8, valid, "{}", shown(&text));
    }
}

#[test]
fn sdk_bodies_are_read_right_and_rarely_punted() {
    let Some(data) = data("sdk_bodies_are_read_right_and_rarely_punted") else { return };
    let twin = Twin::new(whole_bundle());
    let mut table = Table::default();
    for body in corpus::sdk_bodies(&data).unwrap() {
        table.count(&body_agrees(&body.bytes, &twin).unwrap_or_else(|e| panic!("{}: {e}", body.name)));
    }
    table.assert_few_punts("bodies of the SDKs");
}

#[test]
fn ordinary_requests_are_read_right_and_rarely_punted() {
    let bundle = whole_bundle();
    let table = Cell::new(Table::default());
    for_cases(20_000, 300, |c| {
        let request = {
            let body = ordinary_body(c);
            ordinary_request(c, body)
        };
        let mut records = Vec::new();
        Datapath::new(&bundle, PROOF).segment(0, true, false, &request.bytes, &mut |r| records.push(r));
        let [record] = records[..] else { return Err(format!("{records:?}: {}", shown(&request.bytes))) };
        record_and_reference(&record, &request.intent.body, &bundle)?;
        let mut counts = table.take();
        counts.count(&record);
        table.set(counts);
        Ok(())
    });
    table.take().assert_few_punts("ordinary requests");
}

#[test]
fn exact_json_equals_the_reference_on_random_bytes() {
    // bytes that JSON is made of, so that some of it is JSON
    const ALPHABET: &[u8] = b"{}[]\",:\\u0d8e19.+-aE tfn\n\xc3\xa9\xff";
    for_cases(100_000, 40, |c| {
        let bytes: Vec<u8> = if c.percent(10) {
            c.rest().to_vec()
        } else {
            c.rest().iter().map(|b| ALPHABET[usize::from(*b) % ALPHABET.len()]).collect()
        };
        let in_object = [b"{\"a\":", &bytes[..], b"}"].concat();
        for body in [&bytes, &in_object] {
            exact_and_reference(body).map_err(|e| format!("{e}\n  body: {}", shown(body)))?;
        }
        Ok(())
    });
}

fn records_of(bundle: &Bundle, pieces: &[forebay_testbench::generate::Piece]) -> Vec<Record> {
    let mut datapath = Datapath::new(bundle, PROOF);
    let mut records = Vec::new();
    for p in pieces {
        datapath.segment(p.connection, p.start, p.close, &p.payload, &mut |r| records.push(r));
    }
    records
}

fn record_as_intended(
    record: &Record,
    intent: &forebay_testbench::generate::Intent,
    bundle: &Bundle,
) -> Result<(), String> {
    let disposition = match intent.outcome {
        Outcome::Read => {
            let key = intent.credential.as_deref();
            let tag = key.map(|k| keyed_tag(&bundle.hash_key, k.as_bytes()));
            let tenant = tag.and_then(|t| bundle.tenant_tags.iter().position(|x| *x == t)).map(|i| i as u8);
            if record.disposition == Disposition::Decide && (record.tenant, record.retry) != (tenant, intent.retry) {
                return Err(format!("{record:?} is not of tenant {tenant:?}, retry {}", intent.retry));
            }
            return record_and_reference(record, &intent.body, bundle);
        }
        Outcome::Pass => Disposition::Pass,
        Outcome::Punt(reason) => Disposition::Punt(reason),
    };
    let expected = Record::empty(record.connection, record.index, disposition);
    if *record == expected {
        return Ok(());
    }
    Err(format!("{record:?}\n instead of {expected:?}"))
}

#[test]
fn requests_come_out_as_they_were_made() {
    for_cases(20_000, 1500, |c| {
        let bundle = bundle(c);
        let (bytes, intents) = stream(c);
        let pieces = cut(c, 3, &bytes, true);
        let records = records_of(&bundle, &pieces);
        let tell = |e: String| format!("{e}\n  stream: {}", shown(&bytes));
        if records.len() != intents.len() {
            return Err(tell(format!("{} requests gave {records:?}", intents.len())));
        }
        for (i, (record, intent)) in records.iter().zip(&intents).enumerate() {
            if (record.connection, usize::from(record.index)) != (3, i) {
                return Err(tell(format!("{record:?} is not request {i}")));
            }
            record_as_intended(record, intent, &bundle).map_err(tell)?;
        }
        records_and_exact_path(&records, &bytes, &bundle).map_err(tell)
    });
}

#[test]
fn any_segmentation_gives_the_same_records() {
    for_cases(5_000, 1500, |c| {
        let bundle = bundle(c);
        let (bytes, _) = stream(c);
        let whole = records_of(&bundle, &cut(&mut forebay_testbench::generate::Choices::new(&[]), 3, &bytes, true));
        let pieces = cut(c, 3, &bytes, true);
        let records = records_of(&bundle, &pieces);
        if records == whole {
            return Ok(());
        }
        let lengths: Vec<usize> = pieces.iter().map(|p| p.payload.len()).collect();
        Err(format!("{records:?}\n whole: {whole:?}\n cut: {lengths:?}\n  stream: {}", shown(&bytes)))
    });
}
