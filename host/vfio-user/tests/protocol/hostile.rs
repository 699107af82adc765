//! What strangers send: every message has an answer or ends its connection, and the next driver is served.
use crate::engine::Served;
use forebay_vfio_user::wire::{Command, Header, Request, WireError, HEADER_BYTES, MESSAGE_BYTES_MAX, NO_REPLY, REPLY};
use forebay_vfio_user::{Client, NoMemory, Options};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

fn message(command: u16, flags: u32, body: &[u8]) -> Vec<u8> {
    let bytes = (HEADER_BYTES + body.len()) as u32;
    [&Header { id: 7, command, bytes, flags, errno: 0 }.encode(), body].concat()
}

fn version() -> Vec<u8> {
    message(1, 0, &Request::Version { major: 0, minor: 1, capabilities: b"{}" }.encode())
}

/// Sends bytes, and reads all that comes back until the end.
fn exchange(served: &Served, bytes: &[u8]) -> Vec<u8> {
    let mut stream = UnixStream::connect(served.path()).unwrap();
    let mut reads = stream.try_clone().unwrap();
    let reader = std::thread::spawn(move || {
        let mut back = Vec::new();
        // it may be reset instead of closed
        let _ = reads.read_to_end(&mut back);
        back
    });
    // the server may have closed before the last byte
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    reader.join().unwrap()
}

/// Headers of all answers.
fn answers(mut back: &[u8]) -> Vec<Header> {
    let mut found = Vec::new();
    while let Some(head) = back.first_chunk() {
        let header = Header::parse(head).unwrap();
        assert_eq!(header.flags & 0xf, REPLY);
        back = &back[header.bytes as usize..];
        found.push(header);
    }
    assert!(back.is_empty());
    found
}

#[test]
fn each_request_has_one_answer_whatever_its_body() {
    let served = Served::new(2, Options::default());
    let mut sent = version();
    let mut expected = vec![(1, 0)];
    for code in 0..20_u16 {
        // empty bodies, and bodies of zeros
        for body in [&[][..], &[0; 64]] {
            sent.extend(message(code, 0, body));
            sent.extend(message(code, NO_REPLY, body));
            // an answer to nothing is dropped
            sent.extend(message(code, REPLY, body));
            let zeros_do = |command| matches!(command, Command::DmaUnmap | Command::RegionInfo | Command::IrqInfo);
            let errno = match Command::from_code(code) {
                None => 95,
                Some(Command::DeviceInfo | Command::Reset) => 0,
                Some(_) if body.is_empty() => 22,
                Some(Command::RegionRead) => 0,
                // no bytes are none of the four words of a copy
                Some(Command::SetIrqs) => 0,
                Some(Command::DmaRead | Command::DmaWrite) => 95,
                Some(command) if zeros_do(command) => 0,
                Some(_) => 22,
            };
            expected.push((code, errno));
        }
    }
    let found: Vec<(u16, u32)> = answers(&exchange(&served, &sent)).iter().map(|h| (h.command, h.errno)).collect();
    assert_eq!(found, expected);
    assert!(Client::connect(served.path(), Arc::new(NoMemory)).is_ok());
    assert!(served.ends().1.iter().all(Result::is_ok));
}

#[test]
fn nothing_comes_before_versions_nor_another_version() {
    let served = Served::new(2, Options::default());
    let mut sent = message(4, 0, &[0; 16]);
    sent.extend(message(1, 0, &Request::Version { major: 9, minor: 0, capabilities: b"" }.encode()));
    sent.extend(version());
    sent.extend(version());
    let found: Vec<u32> = answers(&exchange(&served, &sent)).iter().map(|h| h.errno).collect();
    assert_eq!(found, [22, 95, 0, 22]);
    drop(Client::connect(served.path(), Arc::new(NoMemory)).unwrap());
    served.ends();
}

#[test]
fn the_older_of_two_minor_versions_is_spoken() {
    for (theirs, spoken) in [(0, 0), (1, 1), (9, 1)] {
        let served = Served::new(1, Options::default());
        let request = Request::Version { major: 0, minor: theirs, capabilities: b"{}" };
        let back = exchange(&served, &message(1, 0, &request.encode()));
        let Ok(Request::Version { major: 0, minor, .. }) = Request::parse(Command::Version, &back[HEADER_BYTES..])
        else {
            panic!("{back:?}")
        };
        assert_eq!(minor, spoken);
    }
}

#[test]
fn a_length_that_no_message_has_ends_the_connection() {
    for bytes in [0, HEADER_BYTES as u32 - 1, MESSAGE_BYTES_MAX as u32 + 1, u32::MAX] {
        let served = Served::new(2, Options::default());
        let header = Header { id: 1, command: 4, bytes, flags: 0, errno: 0 };
        assert_eq!(answers(&exchange(&served, &[version(), header.encode().to_vec()].concat())).len(), 1);
        drop(Client::connect(served.path(), Arc::new(NoMemory)).unwrap());
        let (_, ends) = served.ends();
        let error = ends[0].as_ref().unwrap_err().to_string();
        assert!(error.contains(&format!("a message of {bytes} bytes")), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_messages_leave_a_server_that_serves(
        messages in prop::collection::vec(
            (0..20_u16, 0..64_u32, prop::collection::vec(any::<u8>(), 0..80), 0..30_u8), 0..40),
    ) {
        let served = Served::new(2, Options::default());
        let mut sent = version();
        for (command, flags, body, cut) in messages {
            let mut message = message(command, flags, &body);
            if cut == 0 {
                message.pop();
            }
            sent.extend(message);
        }
        exchange(&served, &sent);
        prop_assert!(Client::connect(served.path(), Arc::new(NoMemory)).is_ok());
        prop_assert!(served.ends().1[1].is_ok());
    }

    #[test]
    fn requests_are_read_as_they_were_written(
        words in any::<[u32; 5]>(), longs in any::<[u64; 3]>(), data in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let [flags, index, start, count, region] = words;
        let [iova, offset, bytes] = longs;
        let text: Vec<u8> = data.iter().copied().filter(|b| *b != 0).collect();
        let requests = [
            Request::Version { major: flags as u16, minor: index as u16, capabilities: &text },
            Request::DmaMap { flags, offset, iova, bytes },
            Request::DmaUnmap { flags, iova, bytes },
            Request::DeviceInfo,
            Request::RegionInfo { index },
            Request::IrqInfo { index },
            Request::SetIrqs { flags, index, start, count },
            Request::RegionRead { offset, region, count: count >> 12 },
            Request::RegionWrite { offset, region, data: &data },
            Request::DmaRead { iova, count: u64::from(count >> 12) },
            Request::DmaWrite { iova, data: &data },
            Request::Reset,
        ];
        for request in requests {
            let body = request.encode();
            prop_assert_eq!(Request::parse(request.command(), &body), Ok(request.clone()));
            // no body that is cut is taken for a whole one
            if let Some(cut) = body.len().checked_sub(1) {
                let short = Request::parse(request.command(), &body[..cut]);
                let whole = matches!(request, Request::Version { .. } | Request::DeviceInfo | Request::RegionInfo { .. }
                    | Request::IrqInfo { .. });
                prop_assert!(whole || matches!(short, Err(WireError::Short { .. })), "{:?}", short);
            }
        }
    }
}
