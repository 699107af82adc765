//! Keyed tags of credentials, and the tenants they belong to.
use super::function::parts;
use crate::leaf::{Fifo, Ram};
use crate::tag::{Tag, STATE_BITS};
use crate::tenants::Tenants;
use forebay_spec::config::ADDRESS_BITS;
use rust_hdl::prelude::*;

/// Pieces of credentials that may wait for their tag; from `PIECES_HELD` on lanes of headers are held back.
pub(crate) const PIECES: usize = 64;
pub(crate) const PIECES_HELD: usize = 44;

parts! {
    /// A piece of a credential.
    PackPiece, UnpackPiece, 71;
    /// Bytes, first one lowest, zeros above.
    bytes: [Bits<64>],
    /// How many.
    count: [Bits<4>],
    /// They are the first of their credential.
    leading: [Bit],
    /// They are the last.
    ends: [Bit],
    /// Bank of the request.
    bank: [Bit],
}

/// Takes pieces of credentials as they come, and answers each credential that ends.
///
/// One tag is in the making at a time; that of another connection is put away and fetched again.
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
    /// There is a piece.
    pub valid: Signal<In, Bit>,
    /// Connection.
    pub connection: Signal<In, Bits<A>>,
    /// Bank of the request.
    pub bank: Signal<In, Bit>,
    /// Bytes, first one lowest, zeros above.
    pub word: Signal<In, Bits<64>>,
    /// How many, up to 8.
    pub count: Signal<In, Bits<4>>,
    /// They are the first of their credential.
    pub leading: Signal<In, Bit>,
    /// They are the last.
    pub ends: Signal<In, Bit>,
    /// There is little room for more.
    pub hold: Signal<Out, Bit>,
    /// Not all pieces have been dealt with.
    pub looking: Signal<Out, Bit>,
    /// A credential is answered: connection,
    pub answer_valid: Signal<Out, Bit>,
    /// see above,
    pub answer_connection: Signal<Out, Bits<A>>,
    /// tenant's index + 1 or 0 (8 bits), and whether the host may know the credential.
    pub answer: Signal<Out, Bits<9>>,
    keys: [DFF<Bits<32>>; 8],
    key: [Signal<Local, Bits<32>>; 4],
    pieces: Fifo<71, 6, 7, PIECES_HELD>,
    owners: Fifo<A, 6, 7, PIECES_HELD>,
    pack: PackPiece,
    piece: UnpackPiece,
    tag: Tag,
    tenants: Tenants,
    store: Ram<STATE_BITS, A>,
    /// 0 a piece is looked at, 1 it is dealt with, 2 a state is fetched, 3 the last bytes are in, 4 a tag is made, 5 it is
    /// looked up.
    phase: DFF<Bits<3>>,
    /// The message in the making is that of the piece.
    mine: DFF<Bit>,
    /// The piece has been dealt with.
    pop: DFF<Bit>,
    /// Some message is in the making, and of which connection.
    owned: DFF<Bit>,
    owner: DFF<Bits<A>>,
    /// The message of this piece has been started.
    begun: DFF<Bit>,
    ready: Signal<Local, Bit>,
}

impl<const A: usize> Logic for Credential<A> {
    // tidy: long because one state machine reads best in one place
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, owned, owner, begun, mine, pop);
        clock!(self, clock, pieces, owners, tag, tenants, store);
        // keys of both banks: words 0x0010 to 0x0013 and 0x8010 to 0x8013
        for i in 0..8 {
            self.keys[i].clock.next = self.clock.val();
            self.keys[i].d.next = self.keys[i].q.val();
        }
        for i in 0..4 {
            if self.cfg_valid.val()
                && (self.cfg_address.val().get_bits::<13>(2) == 4)
                && (self.cfg_address.val().get_bits::<2>(0) == i.to_bits::<2>())
            {
                if self.cfg_address.val().get_bit(15) {
                    self.keys[i + 4].d.next = self.cfg_data.val();
                } else {
                    self.keys[i].d.next = self.cfg_data.val();
                }
            }
        }
        self.tenants.reset.next = self.reset.val();
        self.tenants.cfg_valid.next = self.cfg_valid.val();
        self.tenants.cfg_address.next = self.cfg_address.val();
        self.tenants.cfg_data.next = self.cfg_data.val();

        // pieces wait their turn
        self.pack.bytes.next = self.word.val();
        self.pack.count.next = self.count.val();
        self.pack.leading.next = self.leading.val();
        self.pack.ends.next = self.ends.val();
        self.pack.bank.next = self.bank.val();
        self.pieces.reset.next = self.reset.val();
        self.pieces.write.next = self.valid.val();
        self.pieces.data_in.next = self.pack.word.val();
        self.owners.reset.next = self.reset.val();
        self.owners.write.next = self.valid.val();
        self.owners.data_in.next = self.connection.val();
        self.hold.next = self.pieces.almost_full.val();
        self.looking.next = self.valid.val() | self.pieces.count.val().any();

        // the piece at work
        self.piece.word.next = self.pieces.data_out.val();
        for i in 0..4 {
            self.key[i].next = self.keys[i].q.val();
            if self.piece.bank.val() {
                self.key[i].next = self.keys[i + 4].q.val();
            }
        }
        self.tag.reset.next = self.reset.val();
        self.tag.k0.next = bit_cast::<64, 32>(self.key[0].val()) | (bit_cast::<64, 32>(self.key[1].val()) << 32);
        self.tag.k1.next = bit_cast::<64, 32>(self.key[2].val()) | (bit_cast::<64, 32>(self.key[3].val()) << 32);
        self.tag.data.next = self.piece.bytes.val();
        self.tag.count.next = self.piece.count.val();
        self.tag.start.next = false;
        self.tag.data_valid.next = false;
        self.tag.finish.next = false;
        self.tag.load.next = false;
        self.tag.state_in.next = self.store.rdata.val();
        self.store.re.next = false;
        self.store.raddr.next = self.owners.data_out.val();
        self.store.we.next = false;
        self.store.waddr.next = self.owner.q.val();
        self.store.wdata.next = self.tag.state_out.val();
        self.tenants.valid.next = false;
        self.tenants.bank.next = self.piece.bank.val();
        self.tenants.tag0.next = self.tag.tag0.val();
        self.tenants.tag1.next = self.tag.tag1.val();
        self.ready.next = !self.tag.busy.val();
        self.pop.d.next = false;
        match self.phase.q.val().index() {
            0 => {
                self.mine.d.next = self.owned.q.val() & (self.owner.q.val() == self.owners.data_out.val());
                if self.pieces.valid.val() & !self.pop.q.val() {
                    self.phase.d.next = 1.into();
                }
            }
            1 => {
                if self.ready.val() & self.piece.leading.val() & !self.begun.q.val() {
                    // a new message; that of another connection is put away
                    self.store.we.next = self.owned.q.val();
                    self.tag.start.next = true;
                    self.owner.d.next = self.owners.data_out.val();
                    self.owned.d.next = true;
                    self.mine.d.next = true;
                    self.begun.d.next = true;
                } else if self.ready.val() & !self.mine.q.val() {
                    self.store.we.next = self.owned.q.val();
                    self.store.re.next = true;
                    self.phase.d.next = 2.into();
                } else if self.ready.val() {
                    self.tag.data_valid.next = true;
                    if self.piece.ends.val() {
                        self.phase.d.next = 3.into();
                    } else {
                        self.pop.d.next = true;
                        self.phase.d.next = 0.into();
                    }
                }
            }
            2 => {
                self.tag.load.next = true;
                self.owner.d.next = self.owners.data_out.val();
                self.owned.d.next = true;
                self.mine.d.next = true;
                self.phase.d.next = 1.into();
            }
            3 => {
                if self.ready.val() {
                    self.tag.finish.next = true;
                    self.phase.d.next = 4.into();
                }
            }
            4 => {
                if self.tag.done.val() {
                    self.tenants.valid.next = true;
                    self.phase.d.next = 5.into();
                }
            }
            _ => {
                if self.tenants.out_valid.val() {
                    self.pop.d.next = true;
                    self.owned.d.next = false;
                    self.phase.d.next = 0.into();
                }
            }
        }
        if self.pop.q.val() {
            self.begun.d.next = false;
        }
        self.pieces.read.next = self.pop.q.val();
        self.owners.read.next = self.pop.q.val();
        self.answer_valid.next = (self.phase.q.val() == 5) & self.tenants.out_valid.val();
        self.answer_connection.next = self.owners.data_out.val();
        self.answer.next = bit_cast::<9, 8>(self.tenants.tenant.val());
        if self.tenants.key_known.val() {
            self.answer.next = bit_cast::<9, 8>(self.tenants.tenant.val()) | 0x100;
        }
        if self.reset.val() {
            self.phase.d.next = 0.into();
            self.owned.d.next = false;
            self.begun.d.next = false;
            self.pop.d.next = false;
        }
    }
}
