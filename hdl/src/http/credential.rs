//! Keyed tags of credentials, and the tenants they belong to.
use super::tenants::Tenants;
use crate::leaf::Ram;
use crate::tag::{Tag, STATE_BITS};
use forebay_spec::config::ADDRESS_BITS;
use rust_hdl::prelude::*;

/// One tag in the making at a time; that of another connection is put away and fetched again.
///
/// While `hold` is high the byte that is offered must stay.
#[derive(LogicBlock, Default)]
pub struct Credential<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Connection at work.
    pub connection: Signal<In, Bits<A>>,
    /// A byte of its credential is offered.
    pub offered: Signal<In, Bit>,
    /// It is the first.
    pub leading: Signal<In, Bit>,
    /// The byte.
    pub code: Signal<In, Bits<8>>,
    /// The credential has ended.
    pub finished: Signal<In, Bit>,
    /// Not yet done with what is offered.
    pub hold: Signal<Out, Bit>,
    /// With `finished` and without `hold`: the tenant's index + 1, or 0.
    pub tenant: Signal<Out, Bits<5>>,
    key: [DFF<Bits<32>>; 4],
    key0: Signal<Local, Bits<64>>,
    key1: Signal<Local, Bits<64>>,
    tag: Tag,
    tenants: Tenants,
    store: Ram<STATE_BITS, A>,
    /// 0 at rest, 1 fetching, 2 finishing, 3 looking up, 4 done.
    phase: DFF<Bits<3>>,
    owned: DFF<Bit>,
    owner: DFF<Bits<A>>,
    fresh: DFF<Bit>,
    row: DFF<Bits<4>>,
    found: DFF<Bits<5>>,
    mine: Signal<Local, Bit>,
    wanted: Signal<Local, Bit>,
}

impl<const A: usize> Logic for Credential<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, owned, owner, fresh, row, found);
        clock!(self, clock, tag, tenants, store);
        // key: words 0x010 to 0x013
        for i in 0..4 {
            self.key[i].clock.next = self.clock.val();
            self.key[i].d.next = self.key[i].q.val();
            if self.cfg_valid.val()
                && (self.cfg_address.val().get_bits::<8>(2) == 4)
                && (self.cfg_address.val().get_bits::<2>(0) == i.to_bits::<2>())
            {
                self.key[i].d.next = self.cfg_data.val();
            }
        }
        self.key0.next = bit_cast::<64, 32>(self.key[0].q.val()) | (bit_cast::<64, 32>(self.key[1].q.val()) << 32);
        self.key1.next = bit_cast::<64, 32>(self.key[2].q.val()) | (bit_cast::<64, 32>(self.key[3].q.val()) << 32);
        self.tenants.cfg_valid.next = self.cfg_valid.val();
        self.tenants.cfg_address.next = self.cfg_address.val();
        self.tenants.cfg_data.next = self.cfg_data.val();
        self.tenants.index.next = self.row.q.val();
        self.tenants.tag0.next = self.tag.tag0.val();
        self.tenants.tag1.next = self.tag.tag1.val();
        self.tag.reset.next = self.reset.val();
        self.tag.k0.next = self.key0.val();
        self.tag.k1.next = self.key1.val();
        self.tag.data.next = self.code.val();
        self.tag.start.next = false;
        self.tag.data_valid.next = false;
        self.tag.finish.next = false;
        self.tag.load.next = false;
        self.tag.state_in.next = self.store.rdata.val();
        self.store.re.next = false;
        self.store.raddr.next = self.connection.val();
        self.store.we.next = false;
        self.store.waddr.next = self.owner.q.val();
        self.store.wdata.next = self.tag.state_out.val();
        self.mine.next = self.owned.q.val() & (self.owner.q.val() == self.connection.val());
        self.wanted.next = self.offered.val() | self.finished.val();
        self.hold.next = self.wanted.val();
        self.tenant.next = self.found.q.val();

        match self.phase.q.val().index() {
            0 => {
                if self.wanted.val() && !self.tag.busy.val() {
                    if self.offered.val() && self.leading.val() && !(self.fresh.q.val() & self.mine.val()) {
                        // a new message; that of another connection is put away
                        self.store.we.next = self.owned.q.val();
                        self.tag.start.next = true;
                        self.owner.d.next = self.connection.val();
                        self.owned.d.next = true;
                        self.fresh.d.next = true;
                    } else if !self.mine.val() {
                        self.store.we.next = self.owned.q.val();
                        self.store.re.next = true;
                        self.phase.d.next = 1.into();
                    } else if self.offered.val() {
                        self.tag.data_valid.next = true;
                        self.fresh.d.next = false;
                        self.hold.next = false;
                    } else {
                        self.tag.finish.next = true;
                        self.phase.d.next = 2.into();
                    }
                }
            }
            1 => {
                self.tag.load.next = true;
                self.owner.d.next = self.connection.val();
                self.owned.d.next = true;
                self.fresh.d.next = false;
                self.phase.d.next = 0.into();
            }
            2 => {
                self.row.d.next = 0.into();
                self.found.d.next = 0.into();
                if self.tag.done.val() {
                    self.phase.d.next = 3.into();
                }
            }
            3 => {
                self.row.d.next = self.row.q.val() + 1;
                if self.tenants.hit.val() {
                    self.found.d.next = bit_cast::<5, 4>(self.row.q.val()) + 1;
                }
                if self.row.q.val() == 15 {
                    self.phase.d.next = 4.into();
                }
            }
            _ => {
                self.hold.next = false;
                // during a pause nobody takes it
                if self.wanted.val() {
                    self.owned.d.next = false;
                    self.phase.d.next = 0.into();
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = 0.into();
            self.owned.d.next = false;
            self.fresh.d.next = false;
        }
    }
}
