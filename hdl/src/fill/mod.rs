//! Fills slots: clears what was there, writes token ids, then the header.
mod leaves;

use crate::burst::Multiply;
use crate::leaf::Ram;
use forebay_spec::device::{FillStatus, SLOT_BITS, SLOT_BYTES_MAX};
pub use leaves::{Amounts, HeaderBeat};
use rust_hdl::prelude::*;

/// Clocks from a grant to its first descriptor.
pub const DESCRIPTOR_CLOCKS: usize = 5;
/// Clocks from a grant with 4 KiB of ids to the last write of its header, at 64 bytes a beat, when the slot had the same tenant, the ids
/// wait, and the link takes a beat a clock. At most this many.
pub const GRANT_CLOCKS_MAX: usize = 96;

const TOO_SMALL: usize = FillStatus::SlotTooSmall.code() as usize;
const NO_SLOT: usize = FillStatus::NoSlot.code() as usize;
const TARGET: usize = FillStatus::Target.code() as usize;

/// The block at 8 bytes a beat, for profile `board`.
pub type BoardFill8 = Fill<8, 64, 8>;
/// The block at 64 bytes a beat, for profile `fleet`.
pub type FleetFill64 = Fill<64, 512, 14>;

/// The block: `W` bytes a beat, `B = 8 * W`, up to `2^S` slots.
#[derive(LogicBlock, Default)]
pub struct Fill<const W: usize, const B: usize, const S: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high. All slots count as another tenant's then.
    pub reset: Signal<In, Bit>,
    /// Where the area of slots begins, a multiple of 64. Changes only in a reset, as the next three.
    pub area: Signal<In, Bits<64>>,
    /// Size of a slot, in units of 64 bytes; fewer than 2: there are no slots.
    pub units: Signal<In, Bits<17>>,
    /// How many slots there are.
    pub slots: Signal<In, Bits<15>>,
    /// A read of the slot goes behind its header.
    pub flush: Signal<In, Bit>,

    /// A slot is granted.
    pub g_valid: Signal<In, Bit>,
    /// The grant is taken.
    pub g_ready: Signal<Out, Bit>,
    /// Number of the request.
    pub g_id: Signal<In, Bits<64>>,
    /// Slot.
    pub g_slot: Signal<In, Bits<16>>,
    /// Generation.
    pub g_generation: Signal<In, Bits<8>>,
    /// Whose it is.
    pub g_tenant: Signal<In, Bits<8>>,
    /// Index of the model.
    pub g_model: Signal<In, Bits<8>>,
    /// Token ids.
    pub g_tokens: Signal<In, Bits<32>>,
    /// They are the prompt's bytes.
    pub g_as_bytes: Signal<In, Bit>,
    /// Most output tokens.
    pub g_max_tokens: Signal<In, Bits<32>>,
    /// There is a beat of its ids.
    pub t_valid: Signal<In, Bit>,
    /// It is taken.
    pub t_ready: Signal<Out, Bit>,
    /// Ids, first one lowest; what is behind the last one does not matter.
    pub t_data: Signal<In, Bits<B>>,

    /// The filling has ended.
    pub f_valid: Signal<Out, Bit>,
    /// That is taken.
    pub f_ready: Signal<In, Bit>,
    /// Its slot.
    pub f_slot: Signal<Out, Bits<16>>,
    /// Its generation.
    pub f_generation: Signal<Out, Bits<8>>,
    /// Number of the request.
    pub f_id: Signal<Out, Bits<64>>,
    /// `FillStatus`.
    pub f_status: Signal<Out, Bits<2>>,
    /// `DmaStatus` that is behind `target`.
    pub f_reason: Signal<Out, Bits<3>>,
    /// The whole slot was cleared.
    pub f_cleared: Signal<Out, Bit>,

    /// See `Dma`, as all below.
    pub wd_valid: Signal<Out, Bit>,
    /// Taken.
    pub wd_ready: Signal<In, Bit>,
    /// Address.
    pub wd_address: Signal<Out, Bits<64>>,
    /// Bytes.
    pub wd_bytes: Signal<Out, Bits<25>>,
    /// Data.
    pub w_valid: Signal<Out, Bit>,
    /// Taken.
    pub w_ready: Signal<In, Bit>,
    /// Bytes.
    pub w_data: Signal<Out, Bits<B>>,
    /// A write has ended.
    pub b_valid: Signal<In, Bit>,
    /// How.
    pub b_status: Signal<In, Bits<3>>,
    /// A read of 8 bytes at `wd_address`.
    pub rd_valid: Signal<Out, Bit>,
    /// Taken.
    pub rd_ready: Signal<In, Bit>,
    /// The end of the read.
    pub r_end: Signal<In, Bit>,
    /// How.
    pub r_status: Signal<In, Bits<3>>,

    tenants: Ram<9, S>,
    place: Multiply<14, 17, 31>,
    amounts: Amounts<W>,
    header: HeaderBeat<W, B>,
    /// 0 clears the tenants, 1 idle, 2, 3 and 13 look, 4 decides, 5 to 7 descriptors of zeros, ids and header, 8 waits for their ends,
    /// 9 reads, 10 waits for the read, 11 tells, 12 drops ids.
    r_state: DFF<Bits<4>>,
    r_sweep: DFF<Bits<S>>,
    r_id: DFF<Bits<64>>,
    r_slot: DFF<Bits<16>>,
    r_generation: DFF<Bits<8>>,
    r_tenant: DFF<Bits<8>>,
    r_model: DFF<Bits<8>>,
    r_tokens: DFF<Bits<32>>,
    r_as_bytes: DFF<Bit>,
    r_max_tokens: DFF<Bits<32>>,
    r_crc: DFF<Bits<32>>,
    r_address: DFF<Bits<64>>,
    r_ids_address: DFF<Bits<64>>,
    r_room: DFF<Bits<32>>,
    r_too_small: DFF<Bit>,
    r_no_slot: DFF<Bit>,
    r_clears: DFF<Bit>,
    r_zero_bytes: DFF<Bits<25>>,
    r_how: DFF<Bits<2>>,
    r_reason: DFF<Bits<3>>,
    r_waits: DFF<Bits<2>>,
    /// What the data are: 0 nothing, 1 zeros, 2 ids, 3 a header.
    r_part: DFF<Bits<2>>,
    r_left: DFF<Bits<32>>,
    r_zero_beats: DFF<Bits<32>>,
    r_id_beats: DFF<Bits<32>>,
    r_beat: DFF<Bits<3>>,
    units_less: Signal<Local, Bits<17>>,
    product: Signal<Local, Bits<64>>,
    given: Signal<Local, Bit>,
    last_beat: Signal<Local, Bit>,
    steps: Signal<Local, Bit>,
    known: Signal<Local, Bit>,
    sweep_next: Signal<Local, Bits<S>>,
    zero_bytes: Signal<Local, Bits<25>>,
    none: Signal<Local, Bit>,
    filled: Signal<Local, Bit>,
    tenant_word: Signal<Local, Bits<9>>,
}

impl<const W: usize, const B: usize, const S: usize> Logic for Fill<W, B, S> {
    // tidy: long because it is one sequence of states
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_state, r_sweep, r_id, r_slot, r_generation, r_tenant, r_model, r_tokens, r_as_bytes);
        dff_setup!(
            self,
            clock,
            r_max_tokens,
            r_crc,
            r_address,
            r_ids_address,
            r_room,
            r_too_small,
            r_no_slot,
            r_clears
        );
        dff_setup!(self, clock, r_zero_bytes, r_how, r_reason, r_waits, r_part, r_left, r_zero_beats, r_id_beats);
        dff_setup!(self, clock, r_beat);
        clock!(self, clock, tenants, place);

        // a grant is looked at: is there such a slot, do the ids fit, where is it and whose was it
        self.g_ready.next = self.r_state.q.val() == 1;
        if self.r_state.q.val() == 1 {
            self.r_id.d.next = self.g_id.val();
            self.r_slot.d.next = self.g_slot.val();
            self.r_generation.d.next = self.g_generation.val();
            self.r_tenant.d.next = self.g_tenant.val();
            self.r_model.d.next = self.g_model.val();
            self.r_tokens.d.next = self.g_tokens.val();
            self.r_as_bytes.d.next = self.g_as_bytes.val();
            self.r_max_tokens.d.next = self.g_max_tokens.val();
            self.r_how.d.next = 0.into();
            self.r_reason.d.next = 0.into();
            if self.g_valid.val() {
                self.r_state.d.next = 2.into();
            }
        }
        self.units_less.next = self.units.val() - 1;
        self.r_room.d.next = bit_cast::<32, 17>(self.units_less.val()) << 4;
        self.none.next = !self.units.val().get_bits::<16>(1).any();
        self.r_too_small.d.next = self.r_tokens.q.val() > self.r_room.q.val();
        self.r_no_slot.d.next = self.none.val() | (self.r_slot.q.val() >= bit_cast::<16, 15>(self.slots.val()));
        self.place.a.next = self.r_slot.q.val().get_bits::<14>(0);
        self.place.b.next = self.units.val();
        self.product.next = bit_cast::<64, 31>(self.place.product.val()) << 6;
        self.r_address.d.next = self.area.val() + self.product.val();
        self.r_ids_address.d.next = self.r_address.q.val() + 64;
        self.tenants.re.next = true;
        self.tenants.raddr.next = self.r_slot.q.val().get_bits::<S>(0);
        self.known.next =
            self.tenants.rdata.val().get_bit(8) & (self.tenants.rdata.val().get_bits::<8>(0) == self.r_tenant.q.val());
        self.amounts.units.next = self.units.val();
        self.amounts.clears.next = self.r_clears.q.val();
        self.amounts.tokens.next = self.r_tokens.q.val();
        self.r_zero_beats.d.next = self.amounts.zero_beats.val();
        self.r_id_beats.d.next = self.amounts.id_beats.val();
        self.zero_bytes.next = 64.into();
        if self.r_clears.q.val() {
            self.zero_bytes.next = bit_cast::<25, 17>(self.units.val()) << 6;
        }
        self.r_zero_bytes.d.next = self.zero_bytes.val();
        self.header.id.next = self.r_id.q.val();
        self.header.slot.next = self.r_slot.q.val();
        self.header.generation.next = self.r_generation.q.val();
        self.header.model.next = self.r_model.q.val();
        self.header.tokens.next = self.r_tokens.q.val();
        self.header.as_bytes.next = self.r_as_bytes.q.val();
        self.header.max_tokens.next = self.r_max_tokens.q.val();
        self.r_crc.d.next = self.header.crc.val();
        self.header.sealed.next = self.r_crc.q.val();
        self.header.at.next = self.r_beat.q.val();

        // data, beat by beat: zeros, ids, header; or ids that are dropped
        self.w_valid.next = self.r_part.q.val().any() & (self.t_valid.val() | (self.r_part.q.val() != 2));
        self.w_data.next = 0.into();
        if self.r_part.q.val() == 2 {
            self.w_data.next = self.t_data.val();
        }
        if self.r_part.q.val() == 3 {
            self.w_data.next = self.header.beat.val();
        }
        self.given.next = self.w_valid.val() & self.w_ready.val();
        self.t_ready.next = (self.r_state.q.val() == 12) | ((self.r_part.q.val() == 2) & self.w_ready.val());
        self.last_beat.next = self.r_left.q.val() == 1;
        self.steps.next = self.given.val() | ((self.r_state.q.val() == 12) & self.t_valid.val());
        if self.steps.val() {
            self.r_left.d.next = self.r_left.q.val() - 1;
        }
        if self.given.val() {
            self.r_beat.d.next = self.r_beat.q.val() + 1;
            if self.last_beat.val() {
                self.r_beat.d.next = 0.into();
                self.r_part.d.next = self.r_part.q.val() + 1;
                self.r_left.d.next = self.amounts.header_beats.val();
                if self.r_part.q.val() == 1 {
                    self.r_left.d.next = self.r_id_beats.q.val();
                    if !self.r_tokens.q.val().any() {
                        self.r_part.d.next = 3.into();
                        self.r_left.d.next = self.amounts.header_beats.val();
                    }
                }
            }
        }

        // descriptors and their ends
        self.wd_valid.next = false;
        self.wd_address.next = self.r_address.q.val();
        self.wd_bytes.next = 64.into();
        self.rd_valid.next = false;
        self.f_valid.next = false;
        self.sweep_next.next = self.r_sweep.q.val() + 1;
        match self.r_state.q.val().index() {
            0 => {
                self.r_sweep.d.next = self.sweep_next.val();
                if self.r_sweep.q.val().all() {
                    self.r_state.d.next = 1.into();
                }
            }
            2 => {
                self.r_state.d.next = 3.into();
            }
            3 => {
                self.r_clears.d.next = !self.known.val();
                self.r_state.d.next = 13.into();
            }
            13 => {
                self.r_state.d.next = 4.into();
            }
            4 => {
                self.r_state.d.next = 5.into();
                self.r_part.d.next = 1.into();
                self.r_left.d.next = self.r_zero_beats.q.val();
                for code in TOO_SMALL..(TOO_SMALL + 1) {
                    if self.r_too_small.q.val() {
                        self.r_how.d.next = code.to_bits::<2>();
                    }
                }
                for code in NO_SLOT..(NO_SLOT + 1) {
                    if self.r_no_slot.q.val() {
                        self.r_how.d.next = code.to_bits::<2>();
                    }
                }
                if self.r_too_small.q.val() | self.r_no_slot.q.val() {
                    self.r_part.d.next = 0.into();
                    self.r_left.d.next = self.r_id_beats.q.val();
                    self.r_state.d.next = 12.into();
                    if !self.r_tokens.q.val().any() {
                        self.r_state.d.next = 11.into();
                    }
                }
            }
            5 => {
                self.wd_valid.next = true;
                self.wd_bytes.next = self.r_zero_bytes.q.val();
                if self.wd_ready.val() {
                    self.r_state.d.next = 6.into();
                    if !self.r_tokens.q.val().any() {
                        self.r_state.d.next = 7.into();
                    }
                }
            }
            6 => {
                self.wd_valid.next = true;
                self.wd_address.next = self.r_ids_address.q.val();
                self.wd_bytes.next = self.r_tokens.q.val().get_bits::<25>(0) << 2;
                if self.wd_ready.val() {
                    self.r_state.d.next = 7.into();
                }
            }
            7 => {
                self.wd_valid.next = true;
                if self.wd_ready.val() {
                    self.r_state.d.next = 8.into();
                }
            }
            8 => {
                if !self.r_waits.q.val().any() {
                    self.r_state.d.next = 11.into();
                    if self.flush.val() & !self.r_reason.q.val().any() {
                        self.r_state.d.next = 9.into();
                    }
                }
            }
            9 => {
                self.rd_valid.next = true;
                if self.rd_ready.val() {
                    self.r_state.d.next = 10.into();
                }
            }
            10 => {
                if self.r_end.val() {
                    self.r_reason.d.next = self.r_status.val();
                    self.r_state.d.next = 11.into();
                }
            }
            11 => {
                self.f_valid.next = true;
                if self.f_ready.val() {
                    self.r_state.d.next = 1.into();
                }
            }
            12 => {
                if self.steps.val() & self.last_beat.val() {
                    self.r_state.d.next = 11.into();
                }
            }
            _ => {}
        }
        if self.wd_valid.val() & self.wd_ready.val() & !self.b_valid.val() {
            self.r_waits.d.next = self.r_waits.q.val() + 1;
        }
        if self.b_valid.val() & !(self.wd_valid.val() & self.wd_ready.val()) {
            self.r_waits.d.next = self.r_waits.q.val() - 1;
        }
        if self.b_valid.val() & !self.r_reason.q.val().any() {
            self.r_reason.d.next = self.b_status.val();
        }

        // whose it is now: of one that could not be filled nobody's
        self.filled.next = !self.r_how.q.val().any() & !self.r_reason.q.val().any();
        self.tenants.we.next = (self.r_state.q.val() == 11) & !self.r_how.q.val().any();
        self.tenants.waddr.next = self.r_slot.q.val().get_bits::<S>(0);
        self.tenant_word.next = bit_cast::<9, 8>(self.r_tenant.q.val());
        if self.filled.val() {
            self.tenant_word.next = bit_cast::<9, 8>(self.r_tenant.q.val()) | 0x100;
        }
        self.tenants.wdata.next = self.tenant_word.val();
        if self.r_state.q.val() == 0 {
            self.tenants.we.next = true;
            self.tenants.waddr.next = self.r_sweep.q.val();
            self.tenants.wdata.next = 0.into();
        }
        self.f_slot.next = self.r_slot.q.val();
        self.f_generation.next = self.r_generation.q.val();
        self.f_id.next = self.r_id.q.val();
        self.f_status.next = self.r_how.q.val();
        for code in TARGET..(TARGET + 1) {
            if self.r_reason.q.val().any() {
                self.f_status.next = code.to_bits::<2>();
            }
        }
        self.f_reason.next = self.r_reason.q.val();
        self.f_cleared.next = self.r_clears.q.val() & !self.r_how.q.val().any();

        if self.reset.val() {
            self.r_state.d.next = 0.into();
            self.r_sweep.d.next = 0.into();
            self.r_waits.d.next = 0.into();
            self.r_part.d.next = 0.into();
        }
    }
}

const _: () = assert!(SLOT_BITS == 14 && SLOT_BYTES_MAX / 64 < 1 << 17);
