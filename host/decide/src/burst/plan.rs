//! The plan of visits of the timer in fabric: every one of them, due or not.
use super::timer::share;
use forebay_spec::burst::{
    Event, Input, NodeChange, Sizes, Visit, CATCH_UP_MS, CLASSES, DECAY_MS, SLOT_TURN_MS, TICKET_TURN_MS,
};

/// Follows the log and says which visit comes next, by section 12 of `spec/burst.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    sizes: Sizes,
    now: u32,
    /// Time of the round that is under way, or of the last one.
    until: u32,
    /// The millisecond whose rare visits are made.
    at: u32,
    stage: Stage,
    index: u32,
    /// Next slot in turn.
    slot: u32,
    /// Nodes that went away since their slots were visited last, a bit each.
    gone: u64,
    /// The one whose slots are visited.
    gone_node: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Idle,
    Entry,
    Node,
    Gone,
    Slot,
    Tenant,
    Promise,
    Ticket,
}

impl Plan {
    /// As after a reset.
    pub fn new(sizes: Sizes) -> Self {
        let stage = Stage::Idle;
        Plan { sizes, now: 0, until: 0, at: 0, stage, index: 0, slot: 0, gone: 0, gone_node: 0 }
    }

    /// The visit that is made next; `None` until time passes.
    pub fn next(&self) -> Option<Visit> {
        let (first, _) = self.cells();
        let i = first + self.index;
        match self.stage {
            Stage::Idle => None,
            Stage::Entry => Some(Visit::Entry(i as u16)),
            Stage::Node => Some(Visit::Node(i as u8)),
            Stage::Gone | Stage::Slot => Some(Visit::Slot((i % self.sizes.slots as u32) as u16)),
            Stage::Tenant => Some(Visit::Tenant(i as u8)),
            Stage::Promise => Some(Visit::Promise { pool: (i >> 3) as u8, class: (i & 7) as u8 }),
            Stage::Ticket => Some(Visit::Ticket(i as u16)),
        }
    }

    /// An event was taken. A visit has to be the [`Plan::next`] one.
    pub fn apply(&mut self, event: &Event) {
        match event.input {
            Input::Node { node, change: NodeChange::Gone } if usize::from(node) < self.sizes.nodes => {
                self.gone |= 1 << node;
            }
            Input::Tick { .. } => {
                self.now = event.now_ms;
                if self.stage == Stage::Idle {
                    self.begin();
                }
            }
            Input::Visit(_) => self.advance(),
            _ => {}
        }
    }

    fn begin(&mut self) {
        let elapsed = self.now.wrapping_sub(self.until);
        if elapsed != 0 {
            self.until = self.now;
            self.at = self.until.wrapping_sub(elapsed.min(CATCH_UP_MS) - 1);
            (self.stage, self.index) = (Stage::Entry, 0);
        }
    }

    /// First and number of the stage's visits.
    fn cells(&self) -> (u32, u32) {
        let Sizes { nodes, slots, hold, tenants, pools, tickets, .. } = self.sizes;
        let of_node = self.sizes.slots_per_node() as u32;
        match self.stage {
            Stage::Idle => (0, 0),
            Stage::Entry => (0, hold as u32),
            Stage::Node => (0, nodes as u32),
            Stage::Gone => (self.gone_node * of_node, of_node),
            Stage::Slot => (self.slot, (slots / SLOT_TURN_MS).max(1) as u32),
            Stage::Tenant => (self.at % tenants as u32, 1),
            Stage::Promise => share((pools * CLASSES) as u32, DECAY_MS, self.at),
            Stage::Ticket => share(tickets as u32, TICKET_TURN_MS, self.at),
        }
    }

    /// One visit of the stage has been made.
    fn advance(&mut self) {
        self.index += 1;
        while self.stage != Stage::Idle && self.index >= self.cells().1 {
            self.index = 0;
            self.leave();
        }
    }

    fn leave(&mut self) {
        self.stage = match self.stage {
            Stage::Entry => Stage::Node,
            Stage::Node if self.gone != 0 => {
                self.gone_node = self.gone.trailing_zeros();
                self.gone &= self.gone - 1;
                Stage::Gone
            }
            Stage::Node | Stage::Gone => Stage::Slot,
            Stage::Slot => {
                let (first, count) = self.cells();
                self.slot = (first + count) % self.sizes.slots as u32;
                Stage::Tenant
            }
            Stage::Tenant => Stage::Promise,
            Stage::Promise => Stage::Ticket,
            Stage::Ticket if self.at != self.until => {
                self.at = self.at.wrapping_add(1);
                Stage::Tenant
            }
            Stage::Ticket | Stage::Idle => Stage::Idle,
        };
        if self.stage == Stage::Idle {
            self.begin();
        }
    }
}
