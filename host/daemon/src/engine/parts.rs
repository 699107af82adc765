//! The body of a request to an engine.
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::borrow::Cow;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Up to so many bytes a copy costs less than another part to send.
const COPIED_BYTES_MAX: usize = 16_384;

/// A body in parts, which are sent one after the other: what stays of a long body of a client is not copied.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The last one first.
    parts: Vec<Bytes>,
    bytes: u64,
}

impl Parts {
    /// What these texts are together; those that stand in `own` are shared with it.
    pub fn of(own: &Bytes, texts: Vec<Cow<'_, str>>) -> Self {
        let bytes = texts.iter().map(|text| text.len() as u64).sum();
        if bytes <= COPIED_BYTES_MAX as u64 {
            return Bytes::from(texts.concat()).into();
        }
        let stands_in_own = |text: &str| own.as_ptr_range().contains(&text.as_ptr());
        let part = |text: Cow<'_, str>| match text {
            Cow::Borrowed(text) if stands_in_own(text) => own.slice_ref(text.as_bytes()),
            text => Bytes::from(text.into_owned()),
        };
        Parts { parts: texts.into_iter().rev().map(part).collect(), bytes }
    }

    /// All bytes.
    pub fn whole(&self) -> Vec<u8> {
        self.parts.iter().rev().flatten().copied().collect()
    }
}

impl From<Bytes> for Parts {
    fn from(bytes: Bytes) -> Self {
        Parts { bytes: bytes.len() as u64, parts: vec![bytes] }
    }
}

impl Body for Parts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let part = this.parts.pop();
        this.bytes -= part.as_ref().map_or(0, |part| part.len() as u64);
        Poll::Ready(part.map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.parts.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shared_and_short_ones_are_not() {
        for count in [1_usize, 10_000] {
            let own = Bytes::from("abcdef".repeat(count));
            let text = std::str::from_utf8(&own).unwrap_or_default();
            let parts = Parts::of(&own, vec!["{".into(), text[1..].into(), ",".to_owned().into(), "}".into()]);
            let whole = format!("{{{},}}", &text[1..]);
            assert_eq!(
                (parts.whole(), parts.size_hint().exact()),
                (whole.clone().into_bytes(), Some(whole.len() as u64))
            );
            let shared = parts.parts.iter().any(|part| part.as_ptr() == own[1..].as_ptr());
            assert_eq!(shared, count > 1);
        }
        let empty = Parts::of(&Bytes::new(), Vec::new());
        assert_eq!((empty.whole(), empty.size_hint().exact()), (Vec::new(), Some(0)));
    }
}
