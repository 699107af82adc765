//! Slots that a writer fills by the rules, and against them, read by Rust and by C.
#![allow(clippy::unwrap_used)]
use forebay_slots::{sealed, Area, Doorbells, Header, Layout, Release, ReleaseKind, SlotError, Slots, DAMAGED_LOOKS};
use forebay_spec::slot::{CRC_AT, FLAG_BYTES, HEADER_BYTES};
use memmap2::MmapRaw;
use proptest::prelude::*;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

const LAYOUT: Layout = Layout { slots: 4, slot_bytes: 1_024 };

/// A file of slots, all empty.
struct Device {
    file: File,
    layout: Layout,
}

impl Device {
    fn new(layout: Layout) -> Device {
        let file = tempfile::tempfile().unwrap();
        file.set_len((usize::from(layout.slots) * layout.slot_bytes) as u64).unwrap();
        Device { file, layout }
    }

    fn reader(&self) -> Slots {
        let bytes = usize::from(self.layout.slots) * self.layout.slot_bytes;
        Slots::new(Area::map(&self.file, 0, bytes).unwrap(), self.layout).unwrap()
    }

    fn put(&self, slot: u16, at: usize, bytes: &[u8]) {
        self.file.write_all_at(bytes, (usize::from(slot) * self.layout.slot_bytes + at) as u64).unwrap();
    }

    /// By the rules: ids first.
    fn fill(&self, header: &Header, ids: &[u32]) {
        let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        self.put(header.slot, HEADER_BYTES, &bytes);
        self.put(header.slot, 0, &sealed(header));
    }
}

fn header(slot: u16, generation: u8, tokens: usize) -> Header {
    let id = u64::from(slot) << 40 | u64::from(generation);
    Header { id, slot, generation, tokens: tokens as u32, flags: FLAG_BYTES, model: 3, max_tokens: 77 }
}

fn ids(slots: &Slots, header: &Header) -> Vec<u32> {
    let mut ids = vec![1, 2, 3];
    slots.ids(header, &mut ids).unwrap();
    ids
}

#[test]
fn each_filling_is_found_once() {
    let device = Device::new(LAYOUT);
    let mut slots = device.reader();
    assert_eq!(slots.poll().unwrap(), None);
    for generation in [0, 1, 255] {
        for slot in [2, 0, 3] {
            let sent: Vec<u32> = (0..LAYOUT.ids_max() as u32).map(|n| n * 77 + u32::from(slot)).collect();
            device.fill(&header(slot, generation, sent.len()), &sent);
        }
        let mut found = Vec::new();
        while let Some(header) = slots.poll().unwrap() {
            assert_eq!(ids(&slots, &header).len(), LAYOUT.ids_max());
            assert_eq!(ids(&slots, &header)[9], 9 * 77 + u32::from(header.slot));
            found.push(header.slot);
        }
        found.sort_unstable();
        assert_eq!(found, [0, 2, 3]);
    }
    // a prompt of no ids, and one in a slot that was cleared
    device.fill(&header(1, 0, 0), &[]);
    assert_eq!(slots.poll().unwrap(), Some(header(1, 0, 0)));
    assert!(ids(&slots, &header(1, 0, 0)).is_empty());
    device.put(1, 0, &[0; HEADER_BYTES]);
    assert_eq!(slots.poll().unwrap(), None);
    device.fill(&header(1, 1, 1), &[5]);
    assert_eq!(slots.poll().unwrap(), Some(header(1, 1, 1)));
}

#[test]
fn slots_are_served_in_turn() {
    let device = Device::new(LAYOUT);
    let mut slots = device.reader();
    (0..4).for_each(|slot| device.fill(&header(slot, 1, 0), &[]));
    assert_eq!(slots.poll().unwrap().unwrap().slot, 0);
    // refilled at once, it does not go before the others
    device.fill(&header(0, 2, 0), &[]);
    let rest: Vec<u16> = (0..4).map(|_| slots.poll().unwrap().unwrap().slot).collect();
    assert_eq!(rest, [1, 2, 3, 0]);
}

#[test]
fn a_header_in_parts_is_waited_for() {
    let device = Device::new(LAYOUT);
    let mut slots = device.reader();
    let whole = sealed(&header(1, 9, 0));
    // in any two parts, over an older one
    for cut in 1..HEADER_BYTES {
        device.fill(&header(1, 8, 0), &[]);
        assert!(slots.poll_slot(1).unwrap().is_some(), "{cut}");
        device.put(1, 0, &whole[..cut]);
        let early = slots.poll_slot(1).unwrap();
        device.put(1, cut, &whole[cut..]);
        // it is whole when the parts that differ are there
        assert_eq!(early.or_else(|| slots.poll_slot(1).unwrap()), Some(header(1, 9, 0)), "{cut}");
        assert_eq!(slots.poll_slot(1).unwrap(), None);
    }
}

#[test]
fn what_is_wrong_with_a_slot_is_said_and_the_others_go_on() {
    let device = Device::new(LAYOUT);
    let mut slots = device.reader();
    device.fill(&header(2, 1, 0), &[]);
    type Change = fn(&mut [u8; HEADER_BYTES]);
    let broken = |change: Change| {
        let mut bytes = header(1, 1, 0).encode();
        change(&mut bytes);
        let crc = crc32fast::hash(&bytes[..CRC_AT]);
        bytes[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
        bytes
    };
    let cases: [(Change, &str); 6] = [
        (|b| b[4] = 2, "slot 1: version 2 of the layout, this reader knows 1"),
        (|b| b[18] = 1, "slot 1: the header has bits that are not in use"),
        (|b| b[59] = 1, "slot 1: the header has bits that are not in use"),
        (|b| b[27] = 0x80, "slot 1: the header has bits that are not in use"),
        (|b| b[6] = 3, "slot 1: the header is that of slot 3: is the layout the device's?"),
        (|b| b[20] = 241, "slot 1: 241 ids, there is room for 240: is the layout the device's?"),
    ];
    for (change, expected) in cases {
        device.put(1, 0, &broken(change));
        assert_eq!(slots.poll_slot(1).unwrap_err().to_string(), expected);
    }
    let mut torn = sealed(&header(1, 1, 0));
    torn[30] ^= 1;
    device.put(1, 0, &torn);
    let results: Vec<_> = (0..DAMAGED_LOOKS).map(|_| slots.poll_slot(1)).collect();
    assert!(results[..DAMAGED_LOOKS as usize - 1].iter().all(|r| matches!(r, Ok(None))));
    assert!(matches!(results.last(), Some(Err(SlotError::Damaged { slot: 1, .. }))));
    assert_eq!(slots.poll().unwrap(), Some(header(2, 1, 0)));
    assert!(matches!(slots.poll_slot(4), Err(SlotError::Number { slot: 4, slots: 4 })));
    device.fill(&header(1, 1, 0), &[]);
    assert_eq!(slots.poll().unwrap(), Some(header(1, 1, 0)));
}

#[test]
fn a_slot_that_was_taken_back_gives_no_ids() {
    let device = Device::new(LAYOUT);
    let mut slots = device.reader();
    device.fill(&header(1, 1, 2), &[5, 6]);
    let first = slots.poll().unwrap().unwrap();
    device.fill(&header(1, 2, 2), &[7, 8]);
    let mut ids = vec![1];
    let error = slots.ids(&first, &mut ids).unwrap_err().to_string();
    assert_eq!(error, "slot 1: taken back from this reader while it read generation 1");
    assert!(ids.is_empty());
    device.put(1, 0, &[0; HEADER_BYTES]);
    assert!(slots.ids(&header(1, 2, 2), &mut ids).is_err());
}

#[test]
fn layouts_and_areas_that_cannot_be_are_refused() {
    let device = Device::new(LAYOUT);
    let area = |bytes| Area::map(&device.file, 0, bytes).unwrap();
    let refused = |area, slots, slot_bytes| Slots::new(area, Layout { slots, slot_bytes }).err().unwrap().to_string();
    for bytes in [0, 64, 100, 1_000] {
        let error = refused(area(4_096), 4, bytes);
        assert_eq!(error, format!("slots of {bytes} bytes: they need a multiple of 64, at least 128"));
    }
    assert_eq!(refused(area(4_095), 4, 1_024), "an area of 4095 bytes, its slots need 4096");
    assert_eq!(refused(area(4_096), 5, 1_024), "an area of 4096 bytes, its slots need 5120");
    let short = |offset, bytes| Area::map(&device.file, offset, bytes).err().unwrap().to_string();
    assert_eq!(short(0, 4_097), "a file of 4096 bytes, 4097 are needed");
    assert_eq!(short(4_096, 1), "a file of 4096 bytes, 4097 are needed");
    assert_eq!(short(u64::MAX, 1), format!("a file of 4096 bytes, {} are needed", u64::MAX));
    assert!(matches!(Doorbells::map(&device.file, 4_096), Err(SlotError::FileBytes { .. })));
    let memory = [0_u64; 32];
    let odd = memory.as_ptr().cast::<u8>().map_addr(|a| (a | 63) - 31);
    // SAFETY: nothing is read of an area that is refused
    let error = unsafe { Area::from_raw(odd, 128) }.err().unwrap().to_string();
    assert!(error.ends_with("which is no multiple of 64"), "{error}");
}

#[test]
fn a_reader_beside_its_writer_never_sees_ids_that_are_not_the_headers() {
    let device = Device::new(Layout { slots: 2, slot_bytes: 4_096 });
    let mut slots = device.reader();
    let doorbells = tempfile::tempfile().unwrap();
    doorbells.set_len(4_096).unwrap();
    let mut bell = Doorbells::map(&doorbells, 0).unwrap();
    let (memory, page) = (MmapRaw::map_raw(&device.file).unwrap(), MmapRaw::map_raw(&doorbells).unwrap());
    // SAFETY: words at multiples of 4 within the mappings, which outlive the threads
    let word = |map: &MmapRaw, at: usize| unsafe { &*map.as_mut_ptr().cast::<AtomicU32>().add(at) };
    let total = 20_000_u32;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..total {
                let (slot, generation) = ((n % 2) as u16, (n / 2) as u8);
                let base = usize::from(slot) * 1_024;
                (0..1_000).for_each(|at| word(&memory, base + 16 + at).store(n, Ordering::Relaxed));
                let sealed = sealed(&header(slot, generation, 1_000));
                for (at, part) in sealed.chunks_exact(4).enumerate() {
                    let value = u32::from_le_bytes(part.try_into().unwrap());
                    word(&memory, base + at).store(value, Ordering::Release);
                }
                // its release gives the slot back
                let key = u32::from(slot) | u32::from(generation) << 16;
                while word(&page, 1).load(Ordering::Acquire) != key || word(&page, 0).load(Ordering::Relaxed) != n + 1 {
                    std::thread::yield_now();
                }
            }
        });
        let mut ids = Vec::new();
        for n in 0..total {
            let header = loop {
                match slots.poll().unwrap() {
                    Some(header) => break header,
                    None => std::thread::yield_now(),
                }
            };
            slots.ids(&header, &mut ids).unwrap();
            assert!(ids.len() == 1_000 && ids.iter().all(|id| *id == n), "{n}: {header:?}, {:?}", &ids[..4]);
            let (slot, generation) = (header.slot, header.generation);
            // tokens are 16 bits wide, and fewer than that were filled
            bell.ring(&Release { slot, generation, kind: ReleaseKind::Done, output_tokens: (n + 1) as u16 });
        }
    });
}

/// The example in C, compiled; the folder holds it.
fn example() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("read_slots");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let compiler = cc::Build::new().target(TARGET).host(TARGET).opt_level(2).cargo_metadata(false).get_compiler();
    let built = Command::new(compiler.path())
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .args([root.join("include"), root.join("examples/read_slots.c"), "-o".into(), program.clone()])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    (folder, program)
}

const TARGET: &str =
    if cfg!(target_arch = "aarch64") { "aarch64-unknown-linux-gnu" } else { "x86_64-unknown-linux-gnu" };

#[test]
fn c_reads_what_rust_reads() {
    let (folder, program) = example();
    let layout = Layout { slots: 8, slot_bytes: 256 };
    let device = Device::new(layout);
    device.fill(&header(1, 5, 3), &[70_000, 0, u32::MAX]);
    device.fill(&header(4, 255, 48), &[9; 48]);
    let mut torn = sealed(&header(5, 1, 0));
    torn[40] = 1;
    device.put(5, 0, &torn);
    let mut other = header(6, 1, 49).encode();
    let crc = crc32fast::hash(&other[..CRC_AT]);
    other[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
    device.put(6, 0, &other);
    let (area, bells) = (folder.path().join("area"), folder.path().join("bells"));
    let mut bytes = vec![0; 8 * 256];
    device.file.read_exact_at(&mut bytes, 0).unwrap();
    std::fs::write(&area, bytes).unwrap();
    std::fs::write(&bells, [0; 4_096]).unwrap();
    let output = Command::new(&program).arg(&area).args(["8", "256"]).arg(&bells).output().unwrap();
    assert!(output.status.success());
    let nines = " 9".repeat(48);
    let expected = format!(
        "slot 1 generation 5 request {} model 3 max_tokens 77 flags 1: 70000 0 4294967295\n\
         slot 4 generation 255 request {} model 3 max_tokens 77 flags 1:{nines}\nslot 6: error -2\n",
        header(1, 5, 3).id,
        header(4, 255, 48).id,
    );
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    // the last release stands in the page
    let page = std::fs::read(&bells).unwrap();
    assert_eq!(page[..8], [1, 0, 0, 0, 4, 0, 255, 0]);
    let short = Command::new(&program).arg(&area).args(["9", "256"]).output().unwrap();
    let said = String::from_utf8(short.stderr).unwrap();
    assert!(short.status.code() == Some(1) && said.ends_with("has 2048 bytes, 2304 are needed\n"), "{said}");
    let usage = Command::new(&program).output().unwrap();
    assert_eq!(usage.status.code(), Some(2));
}

proptest! {
    #[test]
    fn any_header_is_read_as_it_was_written(
        id: u64, slot: u16, generation: u8, tokens: u32, flag in 0..2_u32, model: u8, max_tokens: u32,
    ) {
        let header = Header { id, slot, generation, tokens, flags: flag * FLAG_BYTES, model, max_tokens };
        prop_assert_eq!(Header::parse(&sealed(&header)), Ok(header));
    }

    #[test]
    fn any_bytes_are_no_new_slot_unless_they_are_sealed(bytes in prop::collection::vec(any::<u8>(), HEADER_BYTES)) {
        let device = Device::new(LAYOUT);
        device.put(0, 0, &bytes);
        device.put(0, 0, b"FBTK");
        prop_assert!(matches!(device.reader().poll_slot(0), Ok(None)));
    }
}
