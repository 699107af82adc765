//! Between `inline` and `http`: two beats deep, and the place where the host's commands come in.
use rust_hdl::prelude::*;

/// Clocks from a beat that is taken to that beat at the output, while nothing waits.
pub const HANDOVER_CLOCKS: usize = 1;
/// Clocks from a command that is taken to its beat at the output, while nothing waits.
pub const COMMAND_CLOCKS: usize = 2;

/// Takes a beat a clock from `inline` and hands it to `http`; a command of the host becomes a beat without bytes between
/// two of those. `B` is 8 times the bytes of a beat, `A` the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct Handover<const B: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high. What is held is lost.
    pub reset: Signal<In, Bit>,
    /// There is a beat at the input.
    pub s_valid: Signal<In, Bit>,
    /// It is taken; registers alone decide that.
    pub s_ready: Signal<Out, Bit>,
    /// Bytes of the connection's stream, first one lowest.
    pub s_data: Signal<In, Bits<B>>,
    /// How many there are.
    pub s_count: Signal<In, Bits<7>>,
    /// Connection.
    pub s_connection: Signal<In, Bits<A>>,
    /// A stream begins.
    pub s_start: Signal<In, Bit>,
    /// It ends.
    pub s_close: Signal<In, Bit>,
    /// 0, or 3: the connection is given up.
    pub s_command: Signal<In, Bits<2>>,
    /// Why.
    pub s_reason: Signal<In, Bits<5>>,
    /// The host gives a command.
    pub command_valid: Signal<In, Bit>,
    /// It is taken; registers alone decide that.
    pub command_ready: Signal<Out, Bit>,
    /// 1 switches to the bank, 2 ends its requests.
    pub command: Signal<In, Bits<2>>,
    /// The bank.
    pub command_bank: Signal<In, Bit>,
    /// There is a beat for `http`.
    pub m_valid: Signal<Out, Bit>,
    /// It is taken.
    pub m_ready: Signal<In, Bit>,
    /// Its bytes; without meaning in a command.
    pub m_data: Signal<Out, Bits<B>>,
    /// How many there are; 0 in a command.
    pub m_count: Signal<Out, Bits<7>>,
    /// Its connection; without meaning in a command.
    pub m_connection: Signal<Out, Bits<A>>,
    /// A stream begins.
    pub m_start: Signal<Out, Bit>,
    /// It ends.
    pub m_close: Signal<Out, Bit>,
    /// 0, the host's command, or 3: the connection is given up.
    pub m_command: Signal<Out, Bits<2>>,
    /// Bank of the host's command.
    pub m_bank: Signal<Out, Bit>,
    /// Why the connection is given up.
    pub m_reason: Signal<Out, Bits<5>>,
    /// A beat or a command waits here.
    pub working: Signal<Out, Bit>,
    /// A command of the host waits here.
    pub commands: Signal<Out, Bit>,
    // the command that was taken
    r_valid: DFF<Bit>,
    r_command: DFF<Bits<2>>,
    r_bank: DFF<Bit>,
    // the place that is filled next, and the one that is emptied next
    put: DFF<Bit>,
    get: DFF<Bit>,
    a_valid: DFF<Bit>,
    a_host: DFF<Bit>,
    a_data: DFF<Bits<B>>,
    a_count: DFF<Bits<7>>,
    a_connection: DFF<Bits<A>>,
    a_start: DFF<Bit>,
    a_close: DFF<Bit>,
    a_command: DFF<Bits<2>>,
    a_bank: DFF<Bit>,
    a_reason: DFF<Bits<5>>,
    b_valid: DFF<Bit>,
    b_host: DFF<Bit>,
    b_data: DFF<Bits<B>>,
    b_count: DFF<Bits<7>>,
    b_connection: DFF<Bits<A>>,
    b_start: DFF<Bit>,
    b_close: DFF<Bit>,
    b_command: DFF<Bits<2>>,
    b_bank: DFF<Bit>,
    b_reason: DFF<Bits<5>>,
    room: Signal<Local, Bit>,
    fills: Signal<Local, Bit>,
    n_count: Signal<Local, Bits<7>>,
    n_start: Signal<Local, Bit>,
    n_close: Signal<Local, Bit>,
    n_command: Signal<Local, Bits<2>>,
}

impl<const B: usize, const A: usize> Logic for Handover<B, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_valid, r_command, r_bank, put, get);
        dff_setup!(self, clock, a_valid, a_host, a_data, a_count, a_connection);
        dff_setup!(self, clock, a_start, a_close, a_command, a_bank, a_reason);
        dff_setup!(self, clock, b_valid, b_host, b_data, b_count, b_connection);
        dff_setup!(self, clock, b_start, b_close, b_command, b_bank, b_reason);

        // is the place that is filled next empty?
        self.room.next = !self.a_valid.q.val();
        if self.put.q.val() {
            self.room.next = !self.b_valid.q.val();
        }
        self.s_ready.next = self.room.val() & !self.r_valid.q.val();
        self.command_ready.next = !self.r_valid.q.val();
        self.fills.next = self.room.val() & (self.s_valid.val() | self.r_valid.q.val());

        // a command that was taken goes before the next beat
        if self.r_valid.q.val() {
            if self.room.val() {
                self.r_valid.d.next = false;
            }
        } else {
            self.r_valid.d.next = self.command_valid.val();
            self.r_command.d.next = self.command.val();
            self.r_bank.d.next = self.command_bank.val();
        }
        self.n_count.next = self.s_count.val();
        self.n_start.next = self.s_start.val();
        self.n_close.next = self.s_close.val();
        self.n_command.next = self.s_command.val();
        if self.r_valid.q.val() {
            self.n_count.next = 0.into();
            self.n_start.next = false;
            self.n_close.next = false;
            self.n_command.next = self.r_command.q.val();
        }

        // an empty place keeps what is offered, valid or not
        if !self.a_valid.q.val() {
            self.a_host.d.next = self.r_valid.q.val();
            self.a_data.d.next = self.s_data.val();
            self.a_count.d.next = self.n_count.val();
            self.a_connection.d.next = self.s_connection.val();
            self.a_start.d.next = self.n_start.val();
            self.a_close.d.next = self.n_close.val();
            self.a_command.d.next = self.n_command.val();
            self.a_bank.d.next = self.r_bank.q.val();
            self.a_reason.d.next = self.s_reason.val();
        }
        if !self.b_valid.q.val() {
            self.b_host.d.next = self.r_valid.q.val();
            self.b_data.d.next = self.s_data.val();
            self.b_count.d.next = self.n_count.val();
            self.b_connection.d.next = self.s_connection.val();
            self.b_start.d.next = self.n_start.val();
            self.b_close.d.next = self.n_close.val();
            self.b_command.d.next = self.n_command.val();
            self.b_bank.d.next = self.r_bank.q.val();
            self.b_reason.d.next = self.s_reason.val();
        }
        if self.fills.val() {
            self.put.d.next = !self.put.q.val();
            if self.put.q.val() {
                self.b_valid.d.next = true;
            } else {
                self.a_valid.d.next = true;
            }
        }

        // the older one goes on
        self.m_valid.next = self.a_valid.q.val();
        self.m_data.next = self.a_data.q.val();
        self.m_count.next = self.a_count.q.val();
        self.m_connection.next = self.a_connection.q.val();
        self.m_start.next = self.a_start.q.val();
        self.m_close.next = self.a_close.q.val();
        self.m_command.next = self.a_command.q.val();
        self.m_bank.next = self.a_bank.q.val();
        self.m_reason.next = self.a_reason.q.val();
        if self.get.q.val() {
            self.m_valid.next = self.b_valid.q.val();
            self.m_data.next = self.b_data.q.val();
            self.m_count.next = self.b_count.q.val();
            self.m_connection.next = self.b_connection.q.val();
            self.m_start.next = self.b_start.q.val();
            self.m_close.next = self.b_close.q.val();
            self.m_command.next = self.b_command.q.val();
            self.m_bank.next = self.b_bank.q.val();
            self.m_reason.next = self.b_reason.q.val();
        }
        if self.m_valid.val() & self.m_ready.val() {
            self.get.d.next = !self.get.q.val();
            if self.get.q.val() {
                self.b_valid.d.next = false;
            } else {
                self.a_valid.d.next = false;
            }
        }
        self.working.next = self.a_valid.q.val() | self.b_valid.q.val() | self.r_valid.q.val();
        self.commands.next = (self.a_valid.q.val() & self.a_host.q.val())
            | (self.b_valid.q.val() & self.b_host.q.val())
            | self.r_valid.q.val();

        if self.reset.val() {
            self.r_valid.d.next = false;
            self.a_valid.d.next = false;
            self.b_valid.d.next = false;
            self.put.d.next = false;
            self.get.d.next = false;
        }
    }
}
