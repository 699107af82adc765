//! The plan of visits: what is looked at in each millisecond.
use super::Burst;
use forebay_spec::burst::{Input, Visit, CATCH_UP_MS, CLASSES, DECAY_MS, SLOT_TURN_MS, TICKET_TURN_MS};

/// Makes tick and visits. After [`Timer::start`], [`Timer::next`] gives one input at a time, to be applied before the
/// next is asked for, until the millisecond's work is done. Visits that would change nothing are left out.
#[derive(Clone, Debug, Default)]
pub struct Timer {
    tick: Option<u16>,
    /// The millisecond whose rare visits are made, and the last one.
    at: u32,
    until: u32,
    stage: Stage,
    index: u32,
    /// Next slot in turn.
    slot: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Every entry, once.
    Entry,
    /// Every node, once.
    Node,
    /// Every slot of the first node that is gone.
    Gone,
    /// A part of the slots.
    Slot,
    Tenant,
    Promise,
    Ticket,
    #[default]
    Done,
}

/// `cells` are to be visited in each turn of `turn_ms`, no more of them than milliseconds: first and number of those of
/// millisecond `at`.
pub(super) fn share(cells: u32, turn_ms: u32, at: u32) -> (u32, u32) {
    let each_ms = turn_ms / cells;
    match at % each_ms {
        0 => (at / each_ms % cells, 1),
        _ => (0, 0),
    }
}

impl Timer {
    /// So much time has passed.
    pub fn start(&mut self, elapsed_ms: u16) {
        self.tick = Some(elapsed_ms);
        let elapsed = u32::from(elapsed_ms);
        self.until = self.until.wrapping_add(elapsed);
        self.at = self.until.wrapping_sub(elapsed.clamp(1, CATCH_UP_MS) - 1);
        (self.stage, self.index) = (Stage::Entry, 0);
    }

    /// The next input.
    pub fn next(&mut self, burst: &Burst) -> Option<Input> {
        if let Some(elapsed_ms) = self.tick.take() {
            return Some(Input::Tick { elapsed_ms });
        }
        while self.stage != Stage::Done {
            let (first, count, wrap) = self.range(burst);
            while self.index < count {
                let i = (first + self.index) % wrap;
                self.index += 1;
                let visit = self.visit(i);
                if burst.visit_due(visit) {
                    return Some(Input::Visit(visit));
                }
            }
            self.advance(count, wrap);
        }
        None
    }

    /// First, number and modulus of the stage's visits.
    fn range(&self, burst: &Burst) -> (u32, u32, u32) {
        let sizes = burst.sizes();
        let (tenants, pools) = (sizes.tenants as u32, sizes.pools as u32);
        let whole = |cells: u32| (0, cells, cells.max(1));
        let part = |cells: u32, turn_ms: u32| {
            let (first, count) = share(cells, turn_ms, self.at);
            (first, count, cells)
        };
        match self.stage {
            Stage::Entry if burst.held() == 0 => whole(0),
            Stage::Entry => whole(sizes.hold as u32),
            Stage::Node => whole(sizes.nodes as u32),
            Stage::Gone => match burst.gone() {
                Some(n) => ((n * sizes.slots_per_node()) as u32, sizes.slots_per_node() as u32, sizes.slots as u32),
                None => whole(0),
            },
            Stage::Slot => (self.slot, (sizes.slots / SLOT_TURN_MS).max(1) as u32, sizes.slots as u32),
            Stage::Tenant => (self.at % tenants, 1, tenants),
            Stage::Promise => part(pools * CLASSES as u32, DECAY_MS),
            Stage::Ticket => part(sizes.tickets as u32, TICKET_TURN_MS),
            Stage::Done => whole(0),
        }
    }

    fn visit(&self, i: u32) -> Visit {
        match self.stage {
            Stage::Entry | Stage::Done => Visit::Entry(i as u16),
            Stage::Node => Visit::Node(i as u8),
            Stage::Gone | Stage::Slot => Visit::Slot(i as u16),
            Stage::Tenant => Visit::Tenant(i as u8),
            Stage::Promise => Visit::Promise { pool: (i >> 3) as u8, class: (i & 7) as u8 },
            Stage::Ticket => Visit::Ticket(i as u16),
        }
    }

    fn advance(&mut self, count: u32, wrap: u32) {
        self.index = 0;
        self.stage = match self.stage {
            Stage::Entry => Stage::Node,
            Stage::Node => Stage::Gone,
            Stage::Gone => Stage::Slot,
            Stage::Slot => {
                self.slot = (self.slot + count) % wrap;
                Stage::Tenant
            }
            Stage::Tenant => Stage::Promise,
            Stage::Promise => Stage::Ticket,
            Stage::Ticket if self.at != self.until => {
                self.at = self.at.wrapping_add(1);
                Stage::Tenant
            }
            Stage::Ticket | Stage::Done => Stage::Done,
        };
    }
}
