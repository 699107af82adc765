//! Does what one implementation says agree with what another says?
use crate::reference::{self, Reading, Status};
use forebay_decide::datapath::Datapath;
use forebay_decide::exact::http::{Reader, Request};
use forebay_decide::exact::json::{self, BodyStatus};
use forebay_decide::exact::request;
use forebay_decide::Bundle;
use forebay_spec::hash::text_hash;
use forebay_spec::limits::{MODEL_NAME_BYTES_MAX, PATTERN_TEXT_BYTES_MAX, PROOF};
use forebay_spec::{Disposition, Field, Kind, PuntReason, Record};
use std::cell::RefCell;

/// A request that has nothing but `body`.
pub fn plain_request(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend(body);
    bytes
}

/// The twin of the datapath, set up once for many bodies.
pub struct Twin {
    bundle: Bundle,
    datapath: RefCell<Datapath>,
}

impl Twin {
    /// A twin that reads by this bundle.
    pub fn new(bundle: Bundle) -> Self {
        Twin { datapath: RefCell::new(Datapath::new(&bundle, PROOF)), bundle }
    }

    /// Its bundle.
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// What it makes of one body.
    ///
    /// # Errors
    /// When not exactly one record comes out, or one that is not of this request.
    pub fn record(&self, body: &[u8]) -> Result<Record, String> {
        let mut records = Vec::new();
        self.datapath.borrow_mut().segment(0, true, false, &plain_request(body), &mut |r| records.push(r));
        match records[..] {
            [record] if (record.connection, record.index) == (0, 0) => Ok(record),
            _ => Err(format!("one request gave {records:?}")),
        }
    }
}

/// Is the record of a body what the reference reads, or the punt that the body gives cause for?
///
/// # Errors
/// With the difference.
pub fn record_and_reference(record: &Record, body: &[u8], bundle: &Bundle) -> Result<(), String> {
    let reading = reference::read_names(body, &bundle.names);
    match (record.disposition, reading.status) {
        (Disposition::Pass, _) => return Err("an inference request passed".to_string()),
        (Disposition::Punt(reason), _) if reason.ends_connection() => {
            return Err(format!("a body was punted for {reason}"));
        }
        (Disposition::Punt(reason), Status::Ok) if punt(&reading, bundle) == Some(reason) => return Ok(()),
        (Disposition::Punt(reason), Status::Ok) => {
            return Err(format!("punted for {reason}, the body gives {:?}", punt(&reading, bundle)));
        }
        (Disposition::Punt(_), _) => return Ok(()),
        (Disposition::Decide, _) if record.body_bytes as usize != body.len() => {
            return Err(format!("body_bytes {} of {}", record.body_bytes, body.len()));
        }
        (Disposition::Decide, _) => {}
    }
    match reading.status {
        Status::Ok => fields(record, &reading, bundle),
        // no field, or one whose value never comes: the software path rejects the body as a whole
        Status::NotObject if record.kinds.iter().all(|k| matches!(k, Kind::Missing | Kind::Other)) => Ok(()),
        Status::NotObject => Err(format!("fields in a body that is no object: {record:?}")),
        // the fabric does not validate
        Status::Invalid | Status::Utf8 => Ok(()),
    }
}

/// What the fabric has to punt an object for, by the last section of `spec/json.md`.
pub fn punt(reading: &Reading, bundle: &Bundle) -> Option<PuntReason> {
    let name = reading.values[Field::Model as usize].string.as_deref().unwrap_or("");
    let long = bundle.patterns.as_ref().is_some_and(|p| p.long) && name.len() > PATTERN_TEXT_BYTES_MAX;
    let number = [Field::MaxTokens, Field::Temperature, Field::TopK].iter().any(|field| {
        let raw = reading.values[*field as usize].raw.as_deref().unwrap_or("");
        let is_number = matches!(reading.kinds[*field as usize], Kind::Number | Kind::OddNumber);
        is_number && !converts(*field, raw)
    });
    if reading.name_escape {
        Some(PuntReason::NameEscape)
    } else if reading.model_escape {
        Some(PuntReason::ValueEscape)
    } else if long {
        Some(PuntReason::ValueBytes)
    } else if number {
        Some(PuntReason::Number)
    } else {
        None
    }
}

fn converts(field: Field, raw: &str) -> bool {
    let digits = |text: &str, most: usize| text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    if field != Field::Temperature {
        return digits(raw, 10) && raw.parse::<u32>().is_ok();
    }
    let (whole, fraction) = raw.split_once('.').unwrap_or((raw, ""));
    let thousandths = format!("{whole}{fraction:0<3}");
    digits(whole, 7) && digits(fraction, 3) && thousandths.parse::<u32>().is_ok()
}

fn fields(record: &Record, reading: &Reading, bundle: &Bundle) -> Result<(), String> {
    for field in Field::ALL {
        let (ours, theirs) = (record.kind(*field), reading.kinds[*field as usize]);
        if ours != theirs {
            return Err(format!("{field}: the record says {ours}, the reference {theirs}"));
        }
    }
    let name = reading.values[Field::Model as usize].string.as_deref();
    let model = name.and_then(|n| bundle.models.iter().position(|m| m == n)).map(|i| i as u8);
    if record.model != model {
        return Err(format!("model: the record says {:?}, the reference {model:?}", record.model));
    }
    let class = name.zip(bundle.patterns.as_ref()).map_or(0, |(name, patterns)| patterns.class(name.as_bytes()));
    let in_filter = |name: &str| bundle.hot.may_contain(text_hash(&bundle.hash_key, name.as_bytes()));
    let hot = name.is_some_and(|n| (1..=MODEL_NAME_BYTES_MAX).contains(&n.len()) && in_filter(n));
    if (record.class, record.hot) != (class, hot) {
        let ours = (record.class, record.hot);
        return Err(format!("class and heat of the model: the record says {ours:?}, the tables {:?}", (class, hot)));
    }
    let numbers = [
        (Field::MaxTokens, record.max_tokens),
        (Field::Temperature, record.temperature_milli),
        (Field::TopK, record.top_k),
    ];
    for (field, ours) in numbers {
        let theirs = reading.number(field);
        if ours != theirs {
            return Err(format!("{field}: the record says {ours}, the reference {theirs}"));
        }
    }
    Ok(())
}

/// Does the exact validator say of a body what the reference says?
///
/// # Errors
/// With the difference.
pub fn exact_and_reference(body: &[u8]) -> Result<(), String> {
    let reading = reference::read(body);
    let ours = json::read(body, &Bundle::default().names);
    let status = match ours.status {
        BodyStatus::Ok => Status::Ok,
        BodyStatus::Invalid => Status::Invalid,
        BodyStatus::NotObject => Status::NotObject,
        BodyStatus::Utf8 => Status::Utf8,
        BodyStatus::Truncated => return Err("a whole body came out as truncated".to_string()),
    };
    if status != reading.status {
        return Err(format!("the validator says {status:?}, the reference {:?}", reading.status));
    }
    if ours.at > body.len() {
        return Err(format!("the fault is at {} of {} bytes", ours.at, body.len()));
    }
    for field in Field::ALL {
        let theirs = &reading.values[*field as usize];
        let raw = ours.values[*field as usize];
        if raw != theirs.raw.as_deref().map(str::as_bytes) {
            return Err(format!("{field}: the validator found {raw:?}, the reference {:?}", theirs.raw));
        }
        let kind = reading.kinds[*field as usize];
        if ours.field(*field) != (kind, reading.number(*field)) {
            let value = (kind, reading.number(*field));
            return Err(format!("{field}: the validator says {:?}, the reference {value:?}", ours.field(*field)));
        }
    }
    let name = reading.values[Field::Model as usize].string.as_deref();
    if request::model(&ours).as_deref() != name.map(str::as_bytes) {
        return Err(format!("model: the validator says {:?}, the reference {name:?}", request::model(&ours)));
    }
    Ok(())
}

/// Does every record of a stream that the datapath did not punt say what the exact software path says of the same
/// request? Both read the stream for themselves.
///
/// # Errors
/// With the difference.
pub fn records_and_exact_path(records: &[Record], stream: &[u8], bundle: &Bundle) -> Result<(), String> {
    let requests = exact_requests(stream);
    for record in records {
        if matches!(record.disposition, Disposition::Punt(_)) {
            continue;
        }
        let Some(request) = requests.get(usize::from(record.index)) else {
            return Err(format!("request {}: the software path does not see it", record.index));
        };
        if request.error.is_some() || !request.complete {
            return Err(format!("request {}: the software path says {:?}", record.index, request.error));
        }
        let body = request::body(request, bundle);
        let exact = request::record(request, &body, bundle, record.bank, record.connection, record.index);
        let same = match record.disposition {
            Disposition::Pass => exact.disposition == Disposition::Pass,
            _ if matches!(body.status, BodyStatus::Ok) => exact == *record,
            // no fields to compare
            _ => {
                let head = |r: &Record| (r.disposition, r.tenant, r.key_known, r.bank, r.retry, r.body_bytes);
                head(&exact) == head(record)
            }
        };
        if !same {
            return Err(format!("the datapath says {record:?}\n the software path {exact:?}"));
        }
    }
    Ok(())
}

/// The requests of a connection that ends behind `stream`, as the exact software path reads them.
pub fn exact_requests(stream: &[u8]) -> Vec<Request> {
    let mut reader = Reader::new();
    reader.push(stream);
    let mut requests: Vec<Request> = std::iter::from_fn(|| reader.next()).collect();
    requests.extend(reader.close());
    requests
}
