//! The project's own captures, and one that is made on the spot.
use crate::capture::Capture;
use crate::error::Error;
use crate::replay::Fleet;
use etherparse::{PacketBuilder, PacketBuilderStep, TcpHeader};
use forebay_bundle::Policy;
use std::path::{Path, PathBuf};

/// Where the captures lie from the root of the project.
const CORPUS: &str = "testbench/corpus/captures";

/// Folder of the captures: below the working folder, or in the tree that this program was built from.
pub fn corpus() -> Result<PathBuf, Error> {
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(CORPUS);
    [PathBuf::from(CORPUS), built_in].into_iter().find(|folder| folder.is_dir()).ok_or_else(|| {
        Error::Usage(format!("{CORPUS} is not below this folder; call from the project's root or give --corpus"))
    })
}

/// The policy beside a folder of captures, the default one without.
pub fn policy(corpus: &Path) -> Result<Policy, Error> {
    let path = corpus.join("../policy.toml");
    Ok(if path.is_file() { Policy::load(&path)? } else { Policy::default() })
}

/// A fleet that is small enough for the captures' bursts to be held, and some refused.
pub fn fleet() -> Fleet {
    Fleet { nodes: 2, slots: 4, ..Fleet::default() }
}

/// Body sizes of the sweep: around the beat, then up to 1 MiB.
const SWEEP_BYTES: [usize; 19] =
    [2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 256, 1_000, 4_096, 16_384, 65_536, 262_144, 1_000_000, 1_048_576];
/// Payload of one segment of the sweep.
const SEGMENT_BYTES: usize = 1_460;

/// A capture made here, one request of each size, so that the latency plot spans all sizes whatever the corpus holds.
pub fn sweep() -> Result<Capture, Error> {
    let mut pcap = Vec::new();
    // magic number, version 2.4, zone, accuracy, snap length, Ethernet
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 0x0004_0000, 1_u32] {
        pcap.extend_from_slice(&word.to_le_bytes());
    }
    let mut packets = 0;
    for (i, bytes) in (0..).zip(SWEEP_BYTES) {
        let request = sweep_request(bytes);
        let builder = |sequence| {
            PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
                .ipv4([192, 0, 2, 1], [192, 0, 2, 80], 64)
                .tcp(20_000 + i, 80, sequence, 65_535)
        };
        let mut put = |frame: PacketBuilderStep<TcpHeader>, payload: &[u8]| {
            // a millisecond apart, so that each finds the device idle
            let header = [packets / 1_000, packets % 1_000 * 1_000, frame.size(payload.len()) as u32];
            header.iter().chain(&header[2..]).for_each(|word| pcap.extend_from_slice(&word.to_le_bytes()));
            packets += 1;
            frame.write(&mut pcap, payload).map_err(|e| Error::Usage(format!("the sweep's frames: {e}")))
        };
        put(builder(0).syn(), &[])?;
        for (n, payload) in (0..).zip(request.chunks(SEGMENT_BYTES)) {
            put(builder(1 + n * SEGMENT_BYTES as u32), payload)?;
        }
        put(builder(1 + request.len() as u32).fin(), &[])?;
    }
    Capture::parse("body_sizes", "body_sizes (made here)", &pcap)
}

/// A request with a body of so many bytes: the smallest object, or one that ends with `max_tokens`.
fn sweep_request(bytes: usize) -> Vec<u8> {
    let (start, end) = ("{\"system\":\"", "\",\"max_tokens\":256}");
    let body = match bytes.checked_sub(start.len() + end.len()) {
        Some(fill) => format!("{start}{}{end}", "x".repeat(fill)),
        None => format!("{{{}}}", " ".repeat(bytes.saturating_sub(2))),
    };
    format!("POST /v1/messages HTTP/1.1\r\nhost: sweep\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
