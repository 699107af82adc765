//! Frames in, bytes of connections in order out: `frame` and `connection`, joined; see the page beside this file.
use crate::connection::Connection;
use crate::frame::{Frame, TUPLE_BITS};
use forebay_spec::config::ADDRESS_BITS;
use rust_hdl::prelude::*;

/// Clocks from the last beat of a frame with IPv4 without tags and options to the first beat of its payload, while nothing else
/// is under way.
pub const FIRST_BEAT_CLOCKS: usize = 68;

/// For the board: 8 bytes a beat, 256 connections, 16 KiB of frames.
pub type BoardInline8 = Inline<8, 64, 11, 12, 8, 11>;
/// For the fleet: 64 bytes a beat, 1,024 connections, 32 KiB of frames.
pub type FleetInline64 = Inline<64, 512, 9, 10, 10, 13>;

/// The block: `B` is `8 * W`; the store of frames has `2^D` words of `W` bytes, and `P` is `D + 1`; there are `2^A`
/// connections, and `R` is `A + 3`.
#[derive(LogicBlock, Default)]
pub struct Inline<const W: usize, const B: usize, const D: usize, const P: usize, const A: usize, const R: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high. No connection survives it; `2^A` clocks later the next segment is read.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// There is a beat of a frame.
    pub f_valid: Signal<In, Bit>,
    /// It is taken; always set.
    pub f_ready: Signal<Out, Bit>,
    /// Bytes of the frame, first one lowest.
    pub f_data: Signal<In, Bits<B>>,
    /// How many there are: `W`, or 1 to `W` in the last beat.
    pub f_count: Signal<In, Bits<7>>,
    /// Last beat of the frame.
    pub f_last: Signal<In, Bit>,
    /// Time has passed. What follows from it is done when it is taken.
    pub t_valid: Signal<In, Bit>,
    /// It is taken.
    pub t_ready: Signal<Out, Bit>,
    /// Milliseconds.
    pub t_elapsed: Signal<In, Bits<16>>,
    /// The host gives a connection back.
    pub u_valid: Signal<In, Bit>,
    /// It is taken; `counts` says later whether it was in time.
    pub u_ready: Signal<Out, Bit>,
    /// The connection.
    pub u_connection: Signal<In, Bits<A>>,
    /// Its generation.
    pub u_generation: Signal<In, Bits<8>>,
    /// Where its next request begins.
    pub u_seq: Signal<In, Bits<32>>,
    /// There is a beat for `http`.
    pub s_valid: Signal<Out, Bit>,
    /// It is taken.
    pub s_ready: Signal<In, Bit>,
    /// Bytes of the connection's stream, first one lowest.
    pub s_data: Signal<Out, Bits<B>>,
    /// How many there are, 0 to `W`.
    pub s_count: Signal<Out, Bits<7>>,
    /// Connection.
    pub s_connection: Signal<Out, Bits<A>>,
    /// A stream begins, with these bytes or with later ones.
    pub s_start: Signal<Out, Bit>,
    /// It ends; only on a beat without bytes.
    pub s_close: Signal<Out, Bit>,
    /// 0, or 3 on a beat without bytes: the connection is given up.
    pub s_command: Signal<Out, Bits<2>>,
    /// Why: code of the `PuntReason`.
    pub s_reason: Signal<Out, Bits<5>>,
    /// There is something to tell the host.
    pub h_valid: Signal<Out, Bit>,
    /// It is taken.
    pub h_ready: Signal<In, Bit>,
    /// 0 opened, 1 given up, 2 closed.
    pub h_kind: Signal<Out, Bits<2>>,
    /// The connection.
    pub h_connection: Signal<Out, Bits<A>>,
    /// Its generation.
    pub h_generation: Signal<Out, Bits<8>>,
    /// Opened: whose it is, see `forebay_spec::frame::Tuple::bytes`, first byte lowest.
    pub h_tuple: Signal<Out, Bits<TUPLE_BITS>>,
    /// Given up: code of the `PuntReason`; closed: code of the `CloseCause`.
    pub h_why: Signal<Out, Bits<5>>,
    /// Given up: sequence number of the first byte that was not passed on.
    pub h_seq: Signal<Out, Bits<32>>,
    /// A segment is decided; one clock, in the order of segments.
    pub e_valid: Signal<Out, Bit>,
    /// Code of the `FrameEnd`.
    pub e_end: Signal<Out, Bits<5>>,
    /// One clock each, lowest first: opened, evicted half open, expired half open, resumed, stale resume.
    pub counts: Signal<Out, Bits<5>>,
    /// A frame ends here and is no segment; one clock, in the order of the frames.
    pub x_valid: Signal<Out, Bit>,
    /// Code of the `FrameEnd`.
    pub x_end: Signal<Out, Bits<5>>,
    /// A frame has ended for which there was no room; one clock.
    pub overrun: Signal<Out, Bit>,
    frame: Frame<W, B, D, P>,
    connection: Connection<W, B, A, R>,
}

impl<const W: usize, const B: usize, const D: usize, const P: usize, const A: usize, const R: usize> Logic
    for Inline<W, B, D, P, A, R>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, frame, connection);
        self.frame.reset.next = self.reset.val();
        self.connection.reset.next = self.reset.val();
        self.frame.cfg_valid.next = self.cfg_valid.val();
        self.connection.cfg_valid.next = self.cfg_valid.val();
        self.frame.cfg_address.next = self.cfg_address.val();
        self.connection.cfg_address.next = self.cfg_address.val();
        self.frame.cfg_data.next = self.cfg_data.val();
        self.connection.cfg_data.next = self.cfg_data.val();

        // frames
        self.frame.f_valid.next = self.f_valid.val();
        self.f_ready.next = self.frame.f_ready.val();
        self.frame.f_data.next = self.f_data.val();
        self.frame.f_count.next = self.f_count.val();
        self.frame.f_last.next = self.f_last.val();
        self.x_valid.next = self.frame.x_valid.val();
        self.x_end.next = self.frame.x_end.val();
        self.overrun.next = self.frame.overrun.val();

        // segments and their payload
        self.connection.d_valid.next = self.frame.d_valid.val();
        self.frame.d_ready.next = self.connection.d_ready.val();
        self.connection.d_tuple.next = self.frame.d_tuple.val();
        self.connection.d_seq.next = self.frame.d_seq.val();
        self.connection.d_flags.next = self.frame.d_flags.val();
        self.connection.d_bytes.next = self.frame.d_bytes.val();
        self.frame.r_valid.next = self.connection.r_valid.val();
        self.connection.r_ready.next = self.frame.r_ready.val();
        self.frame.r_skip.next = self.connection.r_skip.val();
        self.frame.r_bytes.next = self.connection.r_bytes.val();
        self.frame.r_last.next = self.connection.r_last.val();
        self.connection.p_valid.next = self.frame.p_valid.val();
        self.frame.p_ready.next = self.connection.p_ready.val();
        self.connection.p_data.next = self.frame.p_data.val();
        self.connection.p_count.next = self.frame.p_count.val();
        self.connection.p_last.next = self.frame.p_last.val();

        // time, the host, `http`
        self.connection.t_valid.next = self.t_valid.val();
        self.t_ready.next = self.connection.t_ready.val();
        self.connection.t_elapsed.next = self.t_elapsed.val();
        self.connection.u_valid.next = self.u_valid.val();
        self.u_ready.next = self.connection.u_ready.val();
        self.connection.u_connection.next = self.u_connection.val();
        self.connection.u_generation.next = self.u_generation.val();
        self.connection.u_seq.next = self.u_seq.val();
        self.s_valid.next = self.connection.s_valid.val();
        self.connection.s_ready.next = self.s_ready.val();
        self.s_data.next = self.connection.s_data.val();
        self.s_count.next = self.connection.s_count.val();
        self.s_connection.next = self.connection.s_connection.val();
        self.s_start.next = self.connection.s_start.val();
        self.s_close.next = self.connection.s_close.val();
        self.s_command.next = self.connection.s_command.val();
        self.s_reason.next = self.connection.s_reason.val();
        self.h_valid.next = self.connection.h_valid.val();
        self.connection.h_ready.next = self.h_ready.val();
        self.h_kind.next = self.connection.h_kind.val();
        self.h_connection.next = self.connection.h_connection.val();
        self.h_generation.next = self.connection.h_generation.val();
        self.h_tuple.next = self.connection.h_tuple.val();
        self.h_why.next = self.connection.h_why.val();
        self.h_seq.next = self.connection.h_seq.val();
        self.e_valid.next = self.connection.e_valid.val();
        self.e_end.next = self.connection.e_end.val();
        self.counts.next = self.connection.counts.val();
    }
}
