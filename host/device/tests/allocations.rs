//! The twin allocates when it is set up, and not while it decides.
use forebay_decide::patterns::Patterns;
use forebay_decide::tag::keyed_tag;
use forebay_decide::Bundle;
use forebay_device::{Device, Output, Segment, TwinDevice};
use forebay_spec::limits::{PATTERN_BYTE_CLASSES_MAX, PATTERN_PAIRS_MAX, PATTERN_QUADS_MAX, PATTERN_STATES_MAX};
use forebay_spec::{Action, Input, Release, ReleaseKind};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u32> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps to the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the contract.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn bundle() -> Bundle {
    let mut bundle = Bundle { models: vec!["claude".into()], ..Bundle::default() };
    bundle.tenant_tags = vec![keyed_tag(&bundle.hash_key, b"key-0")];
    bundle.patterns = Some(Patterns {
        byte: [0; 256],
        pair: vec![0; PATTERN_BYTE_CLASSES_MAX.pow(2)],
        quad: vec![0; PATTERN_PAIRS_MAX.pow(2)],
        next: vec![0; PATTERN_QUADS_MAX * PATTERN_STATES_MAX],
        accept: [0; PATTERN_STATES_MAX],
        long: false,
    });
    bundle
}

/// Gives a stream of requests in pieces of so many bytes and gives back all slots; how many requests were admitted.
fn run(device: &mut TwinDevice, stream: &[u8], piece: usize) -> u32 {
    let mut admitted = 0;
    for (i, payload) in stream.chunks(piece).enumerate() {
        device.segment(Segment { connection: 1, start: i == 0, close: false, payload }).expect("segment");
        while let Some(output) = device.poll().expect("the twin has no errors") {
            let Output::Verdict(verdict) = output else { continue };
            if let Action::Admit { slot, generation } = verdict.action {
                admitted += 1;
                device.submit(Input::Release(Release { slot, generation, kind: ReleaseKind::Done })).expect("release");
            }
        }
        device.submit(Input::Tick { elapsed_ms: 1 }).expect("tick");
    }
    device.segment(Segment { connection: 1, start: false, close: true, payload: b"" }).expect("close");
    admitted
}

#[test]
fn deciding_allocates_nothing() {
    let body = format!(
        r#"{{"messages":[{{"role":"user","content":"{}"}}],"max_tokens":5,"model":"claude","temperature":0.5}}"#,
        "text, \\\"quoted\\\" ".repeat(200)
    );
    let head = "POST /v1/messages HTTP/1.1\r\nhost: h\r\nx-api-key: key-0\r\nx-stainless-retry-count: 1\r\n";
    let odd = "POST /v1/messages HTTP/1.1\r\ncontent-length: 19\r\n\r\n{\"max\\u005ftokens\"}GET / HTTP/1.1\r\n\r\n";
    let stream = format!("{head}content-length: {}\r\n\r\n{body}{odd}", body.len()).repeat(20);
    let mut device = TwinDevice::default();
    device.configure(&bundle()).expect("fits");
    device.load(&bundle()).expect("fits");
    for piece in [stream.len(), 1_460, 64, 7, 1] {
        let before = ALLOCATIONS.get();
        assert_eq!(run(&mut device, stream.as_bytes(), piece), 20, "pieces of {piece}");
        assert_eq!(ALLOCATIONS.get() - before, 0, "pieces of {piece}");
    }
    let before = ALLOCATIONS.get();
    device.switch().expect("loaded");
    device.expire().expect("twin");
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
