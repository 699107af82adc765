//! The contract of the device: page and tables agree, entries come back as they went, others are refused clearly.
use forebay_spec::device::register::{self, DOORBELLS, QUEUE_REGISTERS, REGISTERS};
use forebay_spec::device::*;
use forebay_spec::slot::DOORBELL_BYTES;
use std::collections::HashSet;

#[test]
fn the_page_is_what_the_tables_say() {
    let now = Page.to_string();
    let kept = include_str!("../device.md");
    let differs = now.lines().zip(kept.lines()).find(|(a, b)| a != b);
    assert!(
        now == kept,
        "spec/device.md is not what spec/src/device says, first {differs:?}: run \
         `cargo run --release -p forebay-spec --example device > spec/device.md`"
    );
}

#[test]
fn no_two_words_of_the_bar_are_one() {
    let mut taken = HashSet::new();
    let mut take = |at: u32| assert!(at < BAR_BYTES && at.is_multiple_of(4) && taken.insert(at), "{at:#x}");
    REGISTERS.iter().for_each(|r| take(r.at));
    for q in 0..QUEUES as u32 {
        QUEUE_REGISTERS.iter().for_each(|r| take(r.at + q * QUEUE_STRIDE));
        DOORBELLS.iter().for_each(|r| take(r.at + q * DOORBELL_STRIDE));
    }
    (0..4 * VECTORS as u32).for_each(|n| take(MSIX_TABLE + 4 * n));
    (0..2).for_each(|n| take(MSIX_PENDING + 4 * n));
    for reader in 0..READERS as u32 {
        (0..2).for_each(|n| take(READER_PAGES + reader * DOORBELL_BYTES as u32 + 4 * n));
    }
}

#[test]
fn parts_of_a_register_and_its_reserved_bits() {
    assert_eq!(register::capabilities::QUEUE_PAIRS.of(register::capabilities::REGISTER.reset), QUEUES as u32);
    assert_eq!(register::capabilities::READER_PAGES.of(register::capabilities::REGISTER.reset), READERS as u32);
    assert_eq!(register::version::MAJOR.of(VERSION.word()), 1);
    let queue = register::queue::REGISTER;
    let word = register::queue::ENABLE.at(1) | register::queue::ENTRIES_LOG2.at(12);
    assert_eq!((word, queue.reserved(word)), (0x8000_000c, 0));
    assert_eq!(queue.reserved(word | 0x30), 0x30);
    assert_eq!(register::slot_low::VALUE.at(u32::MAX), 0xffff_ffc0);
    assert_eq!(register::slot_low::REGISTER.reserved(0x1000_0041), 1);
    assert_eq!(register::identity::VALUE.mask(), u32::MAX);
}

#[test]
fn entries_come_back_as_they_went() {
    let submission = Submission {
        id: 0x0102_0304_0506_0708,
        body_address: u64::MAX << 6,
        body_bytes: 77,
        connection: 0xa1a2,
        index: 3,
        opcode: Opcode::Decide.code(),
        tenant: 255,
        retry: 9,
        flags: 1,
    };
    assert_eq!(Submission::parse(&submission.encode()), Ok(submission));
    assert_eq!(submission.encode()[0..2], [8, 7]);
    assert_eq!(submission.encode()[16..22], [77, 0, 0, 0, 0xa2, 0xa1]);
    let completion = Completion {
        id: 5,
        kind: CompletionKind::Final.code(),
        slot: 0x1234,
        record: std::array::from_fn(|n| n as u8),
        sq_head: 0xffe,
        phase: 1,
        ..Completion::default()
    };
    let bytes = completion.encode();
    assert_eq!(Completion::parse(&bytes), Ok(completion));
    assert_eq!((bytes[28], bytes[55], bytes[60], bytes[61], bytes[63]), (0, 27, 0xfe, 0x0f, 1));
}

#[test]
fn each_reserved_byte_is_looked_at() {
    for at in 0..ENTRY_BYTES {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[at] = 0x80;
        let reserved = |table: &[EntryPart]| !table.iter().any(|p| (p.at..p.at + p.bytes).contains(&at));
        let error = EntryError { at, value: 0x80 };
        assert_eq!(Submission::parse(&bytes).err(), reserved(SUBMISSION).then_some(error));
        assert_eq!(Completion::parse(&bytes).err(), reserved(COMPLETION).then_some(error));
    }
}

#[test]
fn another_device_is_refused_and_said_why() {
    assert_eq!(accept(IDENTITY, VERSION.word()), Ok(VERSION));
    assert_eq!(accept(IDENTITY, 0x0001_0007), Ok(Version { major: 1, minor: 7 }));
    assert_eq!(accept(GONE, GONE), Err(Refusal::Gone));
    assert_eq!(accept(7, VERSION.word()), Err(Refusal::Identity(7)));
    let said = |version| accept(IDENTITY, version).map_err(|refusal| refusal.to_string());
    let newer = "the device speaks contract 2.0, this software 1.0: update this software";
    assert_eq!(said(0x0002_0000), Err(newer.into()));
    let older = "the device speaks contract 0.9, this software 1.0: update the device's image";
    assert_eq!(said(0x0000_0009), Err(older.into()));
}
