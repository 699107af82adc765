//! IP packets put together from fragments, in any order.
use super::link::Ip;
use super::{Counts, Vlans, FRAGMENT_BUFFERS_MAX, FRAGMENT_WAIT_US};
use etherparse::{defrag::IpDefragBuf, IpNumber};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

type Key = (IpAddr, IpAddr, Vlans, IpNumber, u32);

struct Waiting {
    buffer: IpDefragBuf,
    /// Distinguishes it from an earlier packet with the same key.
    serial: u64,
}

/// Packets of which fragments are missing.
#[derive(Default)]
pub(super) struct Fragments {
    waiting: HashMap<Key, Waiting>,
    /// Oldest first; entries of packets that are done stay until they get old.
    ages: VecDeque<(u64, u64, Key)>,
    serial: u64,
}

impl Fragments {
    /// Passes a whole packet on to `each`, and the packet that a fragment completes.
    pub(super) fn take(
        &mut self,
        time_us: u64,
        ip: Ip<'_>,
        counts: &mut Counts,
        each: &mut dyn FnMut(&mut Counts, Ip<'_>),
    ) {
        let Some(fragment) = ip.fragment else {
            return each(counts, ip);
        };
        counts.fragments += 1;
        self.drop_old(time_us, counts);
        let key = (ip.src, ip.dst, ip.vlan, ip.protocol, fragment.id);
        let (serial, ages) = (&mut self.serial, &mut self.ages);
        let waiting = self.waiting.entry(key).or_insert_with(|| {
            *serial += 1;
            ages.push_back((time_us, *serial, key));
            Waiting { buffer: IpDefragBuf::new(ip.protocol, Vec::new(), Vec::new()), serial: *serial }
        });
        // a fragment that the capture cut must not pass for the shorter one that it looks like
        if ip.cut || waiting.buffer.add(fragment.offset, fragment.more, ip.payload).is_err() {
            self.waiting.remove(&key);
            counts.fragments_dropped += 1;
        } else if waiting.buffer.is_complete() {
            if let Some(done) = self.waiting.remove(&key) {
                let (payload, _) = done.buffer.take_bufs();
                each(counts, Ip { payload: &payload, fragment: None, ..ip });
            }
        }
    }

    fn drop_old(&mut self, time_us: u64, counts: &mut Counts) {
        while let Some(&(since, serial, key)) = self.ages.front() {
            let done = self.waiting.get(&key).is_none_or(|w| w.serial != serial);
            let old = time_us.saturating_sub(since) > FRAGMENT_WAIT_US || self.waiting.len() >= FRAGMENT_BUFFERS_MAX;
            if !done && !old {
                break;
            }
            self.ages.pop_front();
            if !done {
                self.waiting.remove(&key);
                counts.fragments_dropped += 1;
            }
        }
    }

    /// The end of the capture: what still waits is lost.
    pub(super) fn finish(self, counts: &mut Counts) {
        counts.fragments_dropped += self.waiting.len() as u64;
    }
}
