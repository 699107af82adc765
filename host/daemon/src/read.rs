//! Reading a body: whole, within its limits of bytes and time.
use crate::app::App;
use crate::config::Limits;
use crate::metrics::Entered;
use crate::problem::Problem;
use bytes::Bytes;
use forebay_messages::{ApiError, ErrorKind};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use std::time::Duration;

/// First allocation for a body; a client that announces more has to send it.
const FIRST_BYTES: usize = 1 << 20;
/// A body that came in one piece is kept as it came from so many bytes on, with the buffer that it came in; a smaller one
/// is copied, as the buffer may be many times as large.
const KEPT_BYTES_MIN: usize = 32_768;
/// What a client sends on after it has been refused is read for so long, so that it sees the answer.
const LINGER: Duration = Duration::from_secs(1);

/// A body that has come whole.
pub struct Read {
    /// Its bytes.
    pub bytes: Bytes,
    /// Its part of the memory for bodies.
    pub held: Entered,
}

/// Reads a body.
///
/// # Errors
/// 413, 408, 503 for want of memory, or 400 for one that ends before its time.
pub async fn whole(app: &App, limits: &Limits, mut body: Incoming) -> Result<Read, Problem> {
    let limit = limits.body_bytes_max;
    let announced = body.size_hint().lower();
    if announced > limit {
        return Err(too_large(limits, announced, body).await);
    }
    let held = app.metrics.body_bytes.enter_with(announced);
    if held.value() > limits.body_memory_bytes_max {
        linger(limits, body).await;
        return Err(Problem::busy("body_memory_bytes_max", limits.body_memory_bytes_max).closing());
    }
    let deadline = tokio::time::Instant::now() + Limits::ms(limits.body_timeout_ms);
    let mut bytes = Vec::new();
    let mut kept = None;
    let mut more = Vec::new();
    loop {
        let frame = match tokio::time::timeout_at(deadline, body.frame()).await {
            Err(_) => return Err(too_late(limits, bytes.len())),
            Ok(None) => break,
            Ok(Some(Err(_))) => {
                let what = format!("the connection ended after {} bytes of the body; send it whole", bytes.len());
                return Err(Problem::wrong("body_truncated", ErrorKind::InvalidRequest, what).closing());
            }
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(data) = frame.into_data() else { continue };
        let length = bytes.len() as u64 + data.len() as u64;
        if length > limit {
            return Err(too_large(limits, length, body).await);
        }
        if length > announced {
            // of a body in chunks nobody knew the length
            more.push(app.metrics.body_bytes.enter_with(data.len() as u64));
            if more.last().is_some_and(|m| m.value() > limits.body_memory_bytes_max) {
                linger(limits, body).await;
                return Err(Problem::busy("body_memory_bytes_max", limits.body_memory_bytes_max).closing());
            }
        }
        if data.len() as u64 == announced && data.len() >= KEPT_BYTES_MIN {
            kept = Some(data);
            continue;
        }
        if bytes.is_empty() {
            bytes.reserve_exact((announced as usize).min(FIRST_BYTES));
        }
        bytes.extend_from_slice(&data);
    }
    let bytes = kept.unwrap_or_else(|| Bytes::from(bytes));
    let held = if more.is_empty() { held } else { app.metrics.body_bytes.enter_with(bytes.len() as u64) };
    Ok(Read { bytes, held })
}

async fn too_large(limits: &Limits, bytes: u64, body: Incoming) -> Problem {
    linger(limits, body).await;
    Problem::reject("body_bytes_max", ApiError::too_large(bytes, limits.body_bytes_max)).closing()
}

fn too_late(limits: &Limits, bytes: usize) -> Problem {
    let limit = limits.body_timeout_ms;
    let what = format!("body_timeout_ms: {bytes} bytes of the body came within {limit} ms; send it faster, or less");
    Problem::wrong("body_timeout_ms", ErrorKind::RequestTimeout, what).closing()
}

/// Takes in what a client is still sending, as it would lose the answer with the connection otherwise.
async fn linger(limits: &Limits, mut body: Incoming) {
    let mut left = limits.body_bytes_max;
    let rest = async {
        while let Some(Ok(frame)) = body.frame().await {
            let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
            left = match left.checked_sub(bytes) {
                Some(left) => left,
                None => return,
            };
        }
    };
    // whether it ended or not, the answer goes out now
    let _ = tokio::time::timeout(LINGER, rest).await;
}
