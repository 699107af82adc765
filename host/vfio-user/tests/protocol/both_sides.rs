//! A driver and a function, in one process: registers, windows, transfers of both ways, interrupts, and who leaves first.
use crate::engine::{Pages, Served, BAR0_BYTES, COPY, DONE, MEMORY_BYTES, STATUS, VECTORS};
use forebay_vfio_user::wire::CONFIG_REGION;
use forebay_vfio_user::{Client, Errno, Error, Memory, NoMemory, Options, Server};
use rustix::event::{eventfd, poll, EventfdFlags, PollFd, PollFlags, Timespec};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Mutex};

const IOVA: u64 = 0x1000_0000;
const BYTES: usize = 1 << 20;

fn connect(served: &Served) -> Client {
    Client::connect(served.path(), Arc::new(NoMemory)).unwrap()
}

fn number(client: &Client, at: u64) -> u64 {
    let mut bytes = [0; 8];
    client.read(0, at, &mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

fn bus_master(client: &Client) {
    client.write(CONFIG_REGION, 4, &6_u16.to_le_bytes()).unwrap();
}

/// Asks for a copy.
fn copy(client: &Client, source: u64, destination: u64, bytes: u64, vector: u64) {
    let words = [source, destination, bytes, vector].map(u64::to_le_bytes).concat();
    client.write(0, COPY, &words).unwrap();
}

/// Asks for a copy and waits for its vector; what became of it.
fn copied(client: &Client, event: &OwnedFd, source: u64, destination: u64, bytes: u64) -> u64 {
    copy(client, source, destination, bytes, 3);
    assert!(raised(event), "no interrupt");
    number(client, STATUS)
}

/// Waits for an event, which has to come, and takes it.
fn raised(event: &OwnedFd) -> bool {
    let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
    let came = poll(&mut [PollFd::new(event, PollFlags::IN)], Some(&limit)).unwrap() == 1;
    came && rustix::io::read(event, &mut [0; 8]).is_ok()
}

fn vectors(client: &Client) -> Vec<OwnedFd> {
    let events: Vec<OwnedFd> = (0..VECTORS).map(|_| eventfd(0, EventfdFlags::CLOEXEC).unwrap()).collect();
    client.set_vectors(0, &events.iter().map(AsFd::as_fd).collect::<Vec<_>>()).unwrap();
    events
}

fn file(bytes: usize) -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(bytes as u64).unwrap();
    file
}

fn put(file: &mut File, at: u64, bytes: &[u8]) {
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

fn get(file: &mut File, at: u64, bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut out).unwrap();
    out
}

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|n| (n * 7 + n / 251) as u8).collect()
}

#[test]
fn a_driver_sees_what_the_function_has() {
    let served = Served::new(1, Options::default());
    let client = connect(&served);
    let lengths: Vec<u64> = (0..9).map(|index| client.region(index).unwrap().bytes).collect();
    assert_eq!(lengths, [BAR0_BYTES, 0x2000, MEMORY_BYTES, 0, 0, 0, 0, 4_096, 0]);
    assert!(client.region(9).is_none() && client.region(0).unwrap().memory.is_none());
    assert_eq!(client.vectors(), VECTORS);
    let mut ids = [0; 4];
    client.read(CONFIG_REGION, 0, &mut ids).unwrap();
    assert_eq!(u32::from_le_bytes(ids), 0x0001_1234);
    // outside of a region, and in none
    for (region, offset) in [(0, BAR0_BYTES - 3), (0, u64::MAX), (3, 0), (9, 0), (u32::MAX, 0)] {
        let error = client.read(region, offset, &mut ids).unwrap_err();
        assert!(matches!(error, Error::Refused { errno: Errno::INVALID, .. }), "{error}");
        let error = client.write(region, offset, &ids).unwrap_err();
        assert!(matches!(error, Error::Refused { errno: Errno::INVALID, .. }), "{error}");
    }
    drop(client);
    assert!(served.ends().1[0].is_ok());
}

#[test]
fn memory_of_the_function_is_mapped_by_its_driver() {
    let served = Served::new(1, Options::default());
    let client = connect(&served);
    let mut shared = client.region(2).unwrap().memory.as_ref().unwrap().try_clone().unwrap();
    put(&mut shared, 5_000, b"ids");
    let mut by_message = [0; 3];
    client.read(2, 5_000, &mut by_message).unwrap();
    assert_eq!(&by_message, b"ids");
}

#[test]
fn transfers_go_by_mapped_memory() {
    let served = Served::new(1, Options::default());
    let client = connect(&served);
    let mut memory = file(BYTES);
    // two windows side by side, the second half of the file first
    let half = BYTES as u64 / 2;
    client.map(IOVA, half, true, Some((memory.as_fd(), half))).unwrap();
    client.map(IOVA + half, half, true, Some((memory.as_fd(), 0))).unwrap();
    let events = vectors(&client);
    bus_master(&client);
    let sent = pattern(10_000);
    put(&mut memory, half + 100, &sent);
    // the destination lies across both windows
    assert_eq!(copied(&client, &events[3], IOVA + 100, IOVA + half - 5_000, 10_000), 1);
    assert_eq!(get(&mut memory, BYTES as u64 - 5_000, 5_000), sent[..5_000]);
    assert_eq!(get(&mut memory, 0, 5_000), sent[5_000..]);
    drop(client);
    let counts = served.ends().0.counts();
    assert_eq!((counts.mapped, counts.messages, counts.failed), (2, 0, 0));
}

#[test]
fn transfers_go_by_messages() {
    let bytes = 64 << 10;
    for by_message in [true, false] {
        let served = Served::new(1, Options { by_message });
        let pages = Pages { begin: IOVA, writable: bytes / 2, bytes: Mutex::new(vec![0; bytes]) };
        let memory = Arc::new(pages);
        let client = Client::connect(served.path(), memory.clone() as Arc<dyn Memory>).unwrap();
        // without a file, or with one that may not be used
        client.map(IOVA, bytes as u64, true, None).unwrap();
        let events = vectors(&client);
        bus_master(&client);
        let sent = pattern(9_000);
        memory.bytes.lock().unwrap()[40_001..49_001].copy_from_slice(&sent);
        assert_eq!(copied(&client, &events[3], IOVA + 40_001, IOVA + 4_095, 9_000), 1);
        assert_eq!(memory.bytes.lock().unwrap()[4_095..13_095], sent);
        // the driver's side refuses
        assert_eq!(copied(&client, &events[3], IOVA, IOVA + bytes as u64 / 2, 8), 3);
        assert_eq!(copied(&client, &events[3], IOVA - 8, IOVA, 16), 2);
        drop(client);
        let counts = served.ends().0.counts();
        // 40,001 to 49,001 lie on three pages, 4,095 to 13,095 on four
        assert!(counts.mapped == 0 && counts.messages >= 3 + 4 && counts.failed == 2, "{counts:?}");
    }
}

#[test]
fn what_is_not_mapped_is_a_fault_and_nothing_else_stops() {
    let served = Served::new(1, Options::default());
    let client = connect(&served);
    let mut memory = file(BYTES);
    client.map(IOVA, 4_096, true, Some((memory.as_fd(), 0))).unwrap();
    client.map(IOVA + 4_096, 4_096, false, Some((memory.as_fd(), 4_096))).unwrap();
    let events = vectors(&client);
    // no bus master: nothing moves
    copy(&client, IOVA, IOVA, 8, 3);
    assert_eq!((number(&client, STATUS), number(&client, DONE)), (4, 1));
    bus_master(&client);
    let to = |at, bytes| copied(&client, &events[3], IOVA, at, bytes);
    assert_eq!(to(IOVA + 64, 64), 1);
    // behind the end, before the begin, past the last address, into what may only be read, half into it
    assert_eq!([to(IOVA + 8_192, 1), to(IOVA - 1, 1), to(u64::MAX - 3, 8)], [3; 3]);
    put(&mut memory, 4_000, &[7; 4_000]);
    assert_eq!([to(IOVA + 4_096, 8), to(IOVA + 4_090, 8)], [3; 2]);
    assert_eq!(get(&mut memory, 4_090, 8), [7; 8], "nothing by halves");
    assert_eq!(copied(&client, &events[3], IOVA + 4_090, IOVA + 8, 100), 1);
    client.unmap(IOVA, 4_096).unwrap();
    assert_eq!([copied(&client, &events[3], IOVA + 4_096, IOVA, 8), to(IOVA, 8)], [3, 2]);
    // a reset takes bus mastering away, and windows stay
    client.reset().unwrap();
    assert_eq!(number(&client, DONE), 0);
    copy(&client, IOVA + 4_096, IOVA, 8, 3);
    assert_eq!(number(&client, STATUS), 4);
}

#[test]
fn windows_overlap_nothing_and_lie_in_their_files() {
    let served = Served::new(1, Options::default());
    let client = connect(&served);
    let memory = file(8_192);
    let map = |iova, bytes, offset| client.map(iova, bytes, true, Some((memory.as_fd(), offset)));
    let refused = |result: Result<(), Error>| match result {
        Err(Error::Refused { errno, .. }) => errno,
        other => panic!("{other:?}"),
    };
    map(IOVA, 4_096, 0).unwrap();
    map(IOVA + 8_192, 4_096, 0).unwrap();
    for (iova, bytes, offset) in [
        (IOVA, 4_096, 0),
        (IOVA + 4_095, 2, 0),
        (IOVA - 1, 2, 0),
        (IOVA - 4_096, 8_192, 0),
        (IOVA + 4_096, 4_097, 0),
        (0, 0, 0),
        (u64::MAX, 2, 0),
        (0, 4_096, 8_192),
        (0, 8_193, 0),
        (0, 4_096, u64::MAX - 4_095),
    ] {
        assert_eq!(refused(map(iova, bytes, offset)), Errno::INVALID, "{iova:#x} {bytes} {offset}");
    }
    map(IOVA + 4_096, 4_096, 4_096).unwrap();
    // an unmap cuts nothing, and takes several at once
    assert_eq!(refused(client.unmap(IOVA, 4_095)), Errno::INVALID);
    assert_eq!(refused(client.unmap(IOVA + 1, 4_095)), Errno::INVALID);
    assert_eq!(refused(client.unmap(u64::MAX, 2)), Errno::INVALID);
    client.unmap(IOVA - 0x1000, 0x10_0000).unwrap();
    map(IOVA, 8_192, 0).unwrap();
    client.unmap_all().unwrap();
    map(IOVA + 100, 4_096, 4_096).unwrap();
}

#[test]
fn there_is_a_limit_of_windows() {
    let served = Served::new(1, Options::default());
    let client = connect(&served);
    let limit = forebay_vfio_user::WINDOWS_MAX as u64;
    (0..limit).for_each(|n| client.map(n << 12, 4_096, true, None).unwrap());
    let error = client.map(limit << 12, 4_096, true, None).unwrap_err();
    assert!(matches!(error, Error::Refused { errno: Errno::NO_SPACE, .. }), "{error}");
    client.unmap(0, 4_096).unwrap();
    client.map(limit << 12, 4_096, true, None).unwrap();
}

#[test]
fn each_vector_tells_its_own_event() {
    let served = Served::new(1, Options::default());
    let client = connect(&served);
    let memory = file(4_096);
    client.map(IOVA, 4_096, true, Some((memory.as_fd(), 0))).unwrap();
    bus_master(&client);
    let events = vectors(&client);
    for (vector, event) in events.iter().enumerate() {
        copy(&client, IOVA, IOVA + 8, 8, vector as u64);
        assert!(raised(event));
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut all: Vec<_> = events.iter().map(|e| PollFd::new(e, PollFlags::IN)).collect();
        assert_eq!(poll(&mut all, Some(&none)).unwrap(), 0, "another event than {vector}");
    }
    let more = vec![events[0].as_fd(); VECTORS as usize + 1];
    assert!(matches!(client.set_vectors(0, &more), Err(Error::Refused { errno: Errno::INVALID, .. })));
    assert!(matches!(client.set_vectors(u32::MAX, &more[..1]), Err(Error::Refused { errno: Errno::INVALID, .. })));
    // none is told, and none hangs
    client.clear_vectors().unwrap();
    copy(&client, IOVA, IOVA + 8, 8, 0);
    copy(&client, IOVA, IOVA + 8, 8, 1_000);
    while number(&client, DONE) < u64::from(VECTORS) + 2 {}
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    assert_eq!(poll(&mut [PollFd::new(&events[0], PollFlags::IN)], Some(&none)).unwrap(), 0);
}

#[test]
fn drivers_come_one_after_the_other_and_leave_nothing() {
    let served = Served::new(3, Options::default());
    let memory = file(4_096);
    for _ in 0..3 {
        let client = connect(&served);
        // the windows of the one before are gone
        client.map(IOVA, 4_096, true, Some((memory.as_fd(), 0))).unwrap();
        client.reset().unwrap();
    }
    assert!(served.ends().1.iter().all(Result::is_ok));
}

#[test]
fn a_server_that_goes_is_told_to_who_waits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("function");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let error = Client::connect(&path, Arc::new(NoMemory)).err().unwrap();
    assert!(matches!(error, Error::Gone | Error::Connection(_)), "{error}");
    server.join().unwrap();
}

#[test]
fn paths_that_cannot_be_have_clear_errors() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("p".repeat(120));
    let error = Server::bind(&long).unwrap_err().to_string();
    assert!(error.contains("at most 107: use a shorter folder"), "{error}");
    let missing = folder.path().join("missing");
    let error = Client::connect(&missing, Arc::new(NoMemory)).err().unwrap().to_string();
    assert!(error.contains("missing: No such file"), "{error}");
    let ordinary = folder.path().join("file");
    std::fs::write(&ordinary, "mine").unwrap();
    assert!(matches!(Server::bind(&ordinary), Err(Error::Socket { .. })));
    assert_eq!(std::fs::read(&ordinary).unwrap(), b"mine");
    let taken = folder.path().join("taken");
    let server = Server::bind(&taken).unwrap();
    let error = Server::bind(&taken).unwrap_err().to_string();
    assert!(error.contains("a server answers there already"), "{error}");
    drop(server);
    assert!(!Path::new(&taken).exists());
    // a socket that nobody answers at is taken over
    drop(std::os::unix::net::UnixListener::bind(&taken).unwrap());
    Server::bind(&taken).unwrap();
}
