#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

/// All events of a stream that comes in pieces.
fn events(pieces: &[&[u8]]) -> Vec<(String, String)> {
    let mut parser = Parser::default();
    let mut out = Vec::new();
    for piece in pieces {
        parser.push(piece);
        while let Some(event) = parser.next().unwrap() {
            out.push((event.name.to_owned(), event.data.to_owned()));
        }
    }
    if let Some(event) = parser.finish().unwrap() {
        out.push((event.name.to_owned(), event.data.to_owned()));
    }
    out
}

fn pair(name: &str, data: &str) -> (String, String) {
    (name.to_owned(), data.to_owned())
}

#[test]
fn lines_of_every_kind() {
    let stream = "\u{feff}: hello\n\nevent: a\r\ndata: 1\r\n\r\n\
                  id: 7\rdata:2\rdata\rdata:  x\r\r\n\nevent: lost\n\nretry: 1\ndata: last";
    let expected = [pair("a", "1"), pair("", "2\n\n x"), pair("", "last")];
    assert_eq!(events(&[stream.as_bytes()]), expected);
    let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
    assert_eq!(events(&bytes), expected);
}

#[test]
fn a_line_end_of_two_bytes_is_one_wherever_it_is_cut() {
    assert_eq!(events(&[b"data: 1\r", b"\n\r", b"\ndata: 2\r\n", b"\r\n"]), [pair("", "1"), pair("", "2")]);
}

#[test]
fn limits_hold() {
    let mut parser = Parser::new(16);
    parser.push(b"data: 0123456789\n\ndata: 01");
    assert_eq!(parser.next().unwrap().unwrap().data, "0123456789");
    assert_eq!(parser.next(), Ok(None));
    parser.push(&[b'x'; 16]);
    assert_eq!(parser.next(), Err(SseError::TooLong { limit_bytes: 16 }));
    let mut parser = Parser::new(16);
    parser.push(b"data: 0123456789abcdefg\n\n");
    assert_eq!(parser.next(), Err(SseError::TooLong { limit_bytes: 16 }));
    let mut parser = Parser::new(64);
    for _ in 0..100 {
        parser.push(b":\n\n");
        assert_eq!(parser.next(), Ok(None));
    }
    assert!(parser.is_between_events());
}

#[test]
fn data_that_is_no_text_is_an_error() {
    let mut parser = Parser::default();
    parser.push(b"data: \xff\n\n");
    assert_eq!(parser.next(), Err(SseError::Utf8));
}

fn data() -> impl Strategy<Value = String> {
    prop::collection::vec("[ -~\u{e9}\u{5317}\u{1f642}:]{0,12}", 0..3).prop_map(|lines| lines.join("\n"))
}

proptest! {
    /// B25: characters of several bytes, cut anywhere.
    #[test]
    fn what_is_written_reads_back(list in prop::collection::vec(("[a-z_]{0,8}", data()), 0..6),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12), end in prop::sample::select(vec!["\n",
        "\r\n", "\r"])) {
        let mut stream = Vec::new();
        for (name, data) in &list {
            comment(&mut stream);
            write(&mut stream, name, data);
        }
        let stream = String::from_utf8(stream).unwrap().replace('\n', end).into_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
        prop_assert_eq!(events(&pieces), list);
    }

    #[test]
    fn any_bytes_come_out_the_same_however_cut(
        bytes in prop::collection::vec(prop::sample::select(b"data: event\r\n:xy\xef\xbb\xbf".to_vec()), 0..80),
        cut in any::<prop::sample::Index>(),
    ) {
        let all = |pieces: &[&[u8]]| {
            let mut parser = Parser::new(40);
            let mut out = Vec::new();
            for piece in pieces {
                parser.push(piece);
                loop {
                    match parser.next() {
                        Ok(Some(event)) => out.push(format!("{event:?}")),
                        Ok(None) => break,
                        Err(SseError::Utf8) => {}
                        Err(_) => return None,
                    }
                }
            }
            Some(out)
        };
        let cut = cut.index(bytes.len() + 1);
        let (whole, parts) = (all(&[&bytes]), all(&[&bytes[..cut], &bytes[cut..]]));
        // a long event may be found too long earlier in one piece than in two
        prop_assert!(whole == parts || whole.is_none() || parts.is_none());
    }
}
