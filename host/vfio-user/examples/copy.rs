//! A function that copies memory, served at a socket: `copy SOCKET [--by-message] [--memory MIB] [--device ID]`.
//! `--memory` gives it a BAR 2 of memory, which others may map.
//!
//! BAR 0, words of 32 bits: 0x00 id, 0x04 what became of the last copy (1 well, 2 the read failed, 3 the write failed, 4 not a
//! bus master), 0x08 copies done, 0x10 and 0x14 address of a descriptor, 0x18 doorbell, 0x20 scratch. A descriptor is
//! {source, destination: u64, bytes, vector: u32}.
use forebay_vfio_user::pci::{Bar, Config, Identity, Msix};
use forebay_vfio_user::wire::CONFIG_REGION;
use forebay_vfio_user::{Bus, Errno, Function, Options, Region, Server};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::ExitCode;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const ID: u32 = u32::from_le_bytes(*b"VLAB");
const DEVICE: u16 = 0xf39a;
const BAR0_BYTES: u64 = 0x1000;
const MSIX_BYTES: u64 = 0x2000;
const VECTORS: u16 = 4;
/// A descriptor that asks for more is cut.
const COPY_BYTES_MAX: u32 = 1 << 20;

/// Registers, and the driver that is there.
#[derive(Default)]
struct State {
    status: u32,
    done: u32,
    descriptor: [u32; 2],
    scratch: u32,
    jobs: Option<Sender<u64>>,
}

struct Copy {
    config: Mutex<Config>,
    state: Arc<Mutex<State>>,
    /// BAR 2 and its length.
    memory: Option<(File, u64)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does what a descriptor says; its vector, and what became of it.
fn copy(bus: &Bus, descriptor: u64) -> (usize, u32) {
    let mut words = [[0; 8]; 3];
    if bus.read(descriptor, words.as_flattened_mut()).is_err() {
        return (0, 2);
    }
    let [source, destination, last] = words.map(u64::from_le_bytes);
    let (bytes, vector) = ((last as u32).min(COPY_BYTES_MAX) as usize, (last >> 32) as usize);
    let mut data = vec![0; bytes];
    let status = match bus.read(source, &mut data) {
        Err(_) => 2,
        Ok(()) if bus.write(destination, &data).is_err() => 3,
        Ok(()) => 1,
    };
    (vector, status)
}

/// Transfers have a thread of their own, as [`Bus`] asks.
fn copies(jobs: &Receiver<u64>, bus: &Bus, state: &Mutex<State>) {
    while let Ok(descriptor) = jobs.recv() {
        let (vector, status) = copy(bus, descriptor);
        let mut state = lock(state);
        (state.status, state.done) = (status, state.done.wrapping_add(1));
        drop(state);
        bus.raise(vector);
    }
}

impl Copy {
    fn new(device: u16, memory_mib: u64) -> io::Result<Copy> {
        let (vendor, class, subsystem) = (0x1234, 0x12_0000, 1);
        let identity = Identity { vendor, device, class, revision: 1, subsystem_vendor: vendor, subsystem };
        let mut bars: Vec<Bar> =
            [(0, BAR0_BYTES), (1, MSIX_BYTES)].map(|(index, bytes)| Bar { index, bytes, memory: false }).into();
        let memory = match memory_mib << 20 {
            0 => None,
            bytes => {
                bars.push(Bar { index: 2, bytes, memory: true });
                let file = File::from(rustix::fs::memfd_create("memory", rustix::fs::MemfdFlags::CLOEXEC)?);
                file.set_len(bytes)?;
                Some((file, bytes))
            }
        };
        let msix = Msix { vectors: VECTORS, bar: 1, table: 0, pending: 0x1000 };
        Ok(Copy { config: Mutex::new(Config::new(&identity, &bars, &msix)), state: Arc::default(), memory })
    }

    fn memory(&self, access: impl FnOnce(&File) -> io::Result<()>) -> Result<(), Errno> {
        let (file, _) = self.memory.as_ref().ok_or(Errno::INVALID)?;
        access(file).map_err(|e| Errno::of(&e))
    }

    fn doorbell(&self) {
        let mut state = lock(&self.state);
        let descriptor = u64::from(state.descriptor[1]) << 32 | u64::from(state.descriptor[0]);
        if !lock(&self.config).bus_master() {
            (state.status, state.done) = (4, state.done.wrapping_add(1));
        } else if let Some(jobs) = &state.jobs {
            // the thread that takes them ends with this sender
            let _ = jobs.send(descriptor);
        }
    }
}

impl Function for Copy {
    fn region(&self, index: u32) -> Region {
        match index {
            0 => Region { bytes: BAR0_BYTES, memory: None },
            1 => Region { bytes: MSIX_BYTES, memory: None },
            2 => self.memory.as_ref().map_or_else(Region::default, |(file, bytes)| {
                // asked for by messages alone when the descriptor cannot be doubled
                Region { bytes: *bytes, memory: file.try_clone().ok() }
            }),
            CONFIG_REGION => Region { bytes: 4_096, memory: None },
            _ => Region::default(),
        }
    }

    fn vectors(&self) -> u32 {
        VECTORS.into()
    }

    fn read(&self, region: u32, offset: u64, data: &mut [u8]) -> Result<(), Errno> {
        match region {
            CONFIG_REGION => lock(&self.config).read(offset, data),
            2 => self.memory(|file| file.read_exact_at(data, offset))?,
            0 => {
                let state = lock(&self.state);
                for (at, byte) in (offset..).zip(data) {
                    let word = match at & !3 {
                        0x00 => ID,
                        0x04 => state.status,
                        0x08 => state.done,
                        0x10 => state.descriptor[0],
                        0x14 => state.descriptor[1],
                        0x20 => state.scratch,
                        _ => 0,
                    };
                    *byte = word.to_le_bytes()[(at & 3) as usize];
                }
            }
            // the table of MSI-X is the other side's, and nothing is ever pending
            _ => data.fill(0),
        }
        Ok(())
    }

    fn write(&self, region: u32, offset: u64, data: &[u8]) -> Result<(), Errno> {
        match region {
            CONFIG_REGION => lock(&self.config).write(offset, data),
            2 => self.memory(|file| file.write_all_at(data, offset))?,
            0 if offset.is_multiple_of(4) => {
                let (words, []) = data.as_chunks::<4>() else { return Err(Errno::INVALID) };
                for (at, word) in (offset..).step_by(4).zip(words) {
                    let word = u32::from_le_bytes(*word);
                    match at {
                        0x10 => lock(&self.state).descriptor[0] = word,
                        0x14 => lock(&self.state).descriptor[1] = word,
                        0x18 => self.doorbell(),
                        0x20 => lock(&self.state).scratch = word,
                        _ => {}
                    }
                }
            }
            0 => return Err(Errno::INVALID),
            _ => {}
        }
        Ok(())
    }

    fn reset(&self) {
        lock(&self.config).reset();
        let mut state = lock(&self.state);
        *state = State { jobs: state.jobs.take(), ..State::default() };
    }

    fn attach(&self, bus: Arc<Bus>) {
        let (jobs, taken) = channel();
        lock(&self.state).jobs = Some(jobs);
        let state = self.state.clone();
        std::thread::spawn(move || {
            copies(&taken, &bus, &state);
            println!("driver gone: {:?}", bus.counts());
        });
    }

    fn detach(&self) {
        lock(&self.state).jobs = None;
    }
}

/// What the command line asks for.
struct Wish {
    socket: String,
    options: Options,
    memory_mib: u64,
    device: u16,
}

fn wish(mut arguments: impl Iterator<Item = String>) -> Option<Wish> {
    let mut wish = Wish { socket: arguments.next()?, options: Options::default(), memory_mib: 0, device: DEVICE };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--by-message" => wish.options.by_message = true,
            "--memory" => {
                let mib: u64 = arguments.next()?.parse().ok()?;
                wish.memory_mib = Some(mib).filter(|n| n.is_power_of_two() && *n <= 1 << 20)?;
            }
            "--device" => wish.device = u16::from_str_radix(&arguments.next()?, 16).ok()?,
            _ => return None,
        }
    }
    Some(wish)
}

fn serve(wish: &Wish) -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::bind(wish.socket.as_ref())?;
    let function = Copy::new(wish.device, wish.memory_mib)?;
    loop {
        if let Err(e) = server.serve_one(&function, wish.options) {
            eprintln!("copy: the driver is cut off: {e}");
        }
    }
}

fn main() -> ExitCode {
    let Some(wish) = wish(std::env::args().skip(1)) else {
        eprintln!("usage: copy SOCKET [--by-message] [--memory MIB, a power of two] [--device ID, hexadecimal]");
        return ExitCode::from(2);
    };
    let Err(e) = serve(&wish) else { return ExitCode::SUCCESS };
    eprintln!("copy: {e}");
    ExitCode::FAILURE
}
