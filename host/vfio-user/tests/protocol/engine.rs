//! A function that copies memory, and a server of it on a thread.
use forebay_vfio_user::pci::{Bar, Config, Identity, Msix};
use forebay_vfio_user::wire::CONFIG_REGION;
use forebay_vfio_user::{Bus, DmaCounts, Errno, Error, Function, Memory, Options, Region, Server};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Writes here copy: source, destination, bytes, vector, 8 bytes each.
pub(crate) const COPY: u64 = 0;
/// Copies that are done.
pub(crate) const DONE: u64 = 32;
/// What became of the last one: 1 well, 2 the read failed, 3 the write failed, 4 not a bus master.
pub(crate) const STATUS: u64 = 40;
pub(crate) const BAR0_BYTES: u64 = 4_096;
pub(crate) const VECTORS: u32 = 12;
pub(crate) const MEMORY_BYTES: u64 = 8_192;

type Job = ([u64; 4], Arc<Bus>);

#[derive(Default)]
struct State {
    done: u64,
    status: u64,
    bus: Option<Arc<Bus>>,
    jobs: Option<Sender<Job>>,
    counts: Option<DmaCounts>,
}

/// The function.
pub(crate) struct Engine {
    config: Mutex<Config>,
    /// BAR 2, which can be mapped.
    memory: File,
    state: Arc<Mutex<State>>,
}

impl Engine {
    fn new() -> Engine {
        let identity = Identity {
            vendor: 0x1234,
            device: 0x0001,
            class: 0x12_0000,
            revision: 1,
            subsystem_vendor: 0x1234,
            subsystem: 1,
        };
        let bars = [Bar { index: 0, bytes: BAR0_BYTES, memory: false }];
        let msix = Msix { vectors: VECTORS as u16, bar: 1, table: 0, pending: 0x1000 };
        let memory = tempfile::tempfile().unwrap();
        memory.set_len(MEMORY_BYTES).unwrap();
        Engine { memory, config: Mutex::new(Config::new(&identity, &bars, &msix)), state: Arc::default() }
    }

    /// Transfers of the driver that has left.
    pub(crate) fn counts(&self) -> DmaCounts {
        self.state.lock().unwrap().counts.unwrap()
    }
}

fn copies(jobs: &Receiver<Job>, state: &Mutex<State>) {
    while let Ok(([source, destination, bytes, vector], bus)) = jobs.recv() {
        let mut data = vec![0; bytes as usize];
        let status = match bus.read(source, &mut data) {
            Err(_) => 2,
            Ok(()) if bus.write(destination, &data).is_err() => 3,
            Ok(()) => 1,
        };
        let mut state = state.lock().unwrap();
        (state.status, state.done) = (status, state.done + 1);
        drop(state);
        bus.raise(vector as usize);
    }
}

impl Function for Engine {
    fn region(&self, index: u32) -> Region {
        let bytes = match index {
            0 => BAR0_BYTES,
            1 => 0x2000,
            2 => MEMORY_BYTES,
            CONFIG_REGION => 4_096,
            _ => 0,
        };
        Region { bytes, memory: (index == 2).then(|| self.memory.try_clone().unwrap()) }
    }

    fn vectors(&self) -> u32 {
        VECTORS
    }

    fn read(&self, region: u32, offset: u64, data: &mut [u8]) -> Result<(), Errno> {
        if region == CONFIG_REGION {
            self.config.lock().unwrap().read(offset, data);
            return Ok(());
        }
        if region == 2 {
            let mut file = &self.memory;
            file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(data)).unwrap();
            return Ok(());
        }
        let state = self.state.lock().unwrap();
        for (at, byte) in (offset..).zip(data) {
            let value = match at & !7 {
                DONE => state.done,
                STATUS => state.status,
                _ => 0,
            };
            *byte = value.to_le_bytes()[at as usize % 8];
        }
        Ok(())
    }

    fn write(&self, region: u32, offset: u64, data: &[u8]) -> Result<(), Errno> {
        match (region, offset) {
            (CONFIG_REGION, _) => self.config.lock().unwrap().write(offset, data),
            (0, COPY) => {
                let word = |n: usize| data.get(8 * n..8 * n + 8).map(|b| u64::from_le_bytes(b.try_into().unwrap()));
                let (Some(a), Some(b), Some(c), Some(d)) = (word(0), word(1), word(2), word(3)) else {
                    return Err(Errno::INVALID);
                };
                let mut state = self.state.lock().unwrap();
                if !self.config.lock().unwrap().bus_master() {
                    (state.status, state.done) = (4, state.done + 1);
                    return Ok(());
                }
                let bus = state.bus.clone().unwrap();
                state.jobs.as_ref().unwrap().send(([a, b, c.min(1 << 20), d], bus)).unwrap();
            }
            _ => return Err(Errno::INVALID),
        }
        Ok(())
    }

    fn reset(&self) {
        self.config.lock().unwrap().reset();
        let mut state = self.state.lock().unwrap();
        (state.done, state.status) = (0, 0);
    }

    fn attach(&self, bus: Arc<Bus>) {
        let (jobs, waiting) = channel();
        let mut state = self.state.lock().unwrap();
        (state.bus, state.jobs) = (Some(bus), Some(jobs));
        let state = self.state.clone();
        std::thread::spawn(move || copies(&waiting, &state));
    }

    fn detach(&self) {
        let mut state = self.state.lock().unwrap();
        state.counts = state.bus.take().map(|bus| bus.counts());
        state.jobs = None;
    }
}

/// A server that serves so many drivers; how each of them ended.
pub(crate) struct Served {
    pub(crate) path: PathBuf,
    pub(crate) engine: Arc<Engine>,
    thread: JoinHandle<Vec<Result<(), Error>>>,
    _folder: tempfile::TempDir,
}

impl Served {
    pub(crate) fn new(drivers: usize, options: Options) -> Served {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("function");
        let server = Server::bind(&path).unwrap();
        let engine = Arc::new(Engine::new());
        let thread = std::thread::spawn({
            let engine = engine.clone();
            move || (0..drivers).map(|_| server.serve_one(&*engine, options)).collect()
        });
        Served { path, engine, thread, _folder: folder }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Once all drivers have left.
    pub(crate) fn ends(self) -> (Arc<Engine>, Vec<Result<(), Error>>) {
        (self.engine, self.thread.join().unwrap())
    }
}

/// A driver's memory at some address, that can be written below a limit.
pub(crate) struct Pages {
    pub(crate) begin: u64,
    pub(crate) writable: usize,
    pub(crate) bytes: Mutex<Vec<u8>>,
}

impl Pages {
    fn range(&self, iova: u64, count: usize, limit: usize) -> Option<std::ops::Range<usize>> {
        let at = usize::try_from(iova.checked_sub(self.begin)?).ok()?;
        let end = at.checked_add(count).filter(|end| *end <= limit)?;
        Some(at..end)
    }
}

impl Memory for Pages {
    fn read(&self, iova: u64, data: &mut [u8]) -> bool {
        let bytes = self.bytes.lock().unwrap();
        self.range(iova, data.len(), bytes.len()).map(|range| data.copy_from_slice(&bytes[range])).is_some()
    }

    fn write(&self, iova: u64, data: &[u8]) -> bool {
        let range = self.range(iova, data.len(), self.writable);
        range.map(|range| self.bytes.lock().unwrap()[range].copy_from_slice(data)).is_some()
    }
}
