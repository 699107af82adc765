//! The state of a pipeline stage, for every connection, with a register behind the block RAM.
use rust_hdl::prelude::*;

/// A stage's slice of the connection contexts, as `Context`, for stages with much logic: words are read two clocks
/// ahead and written a clock later, so that neither the RAM's access time nor its set-up time is part of the stage.
/// States after the last three beats, which the word that is read does not know of, come from registers.
///
/// `connection_ahead` has to be the `connection` of the clock after next, and `first_ahead` belongs to the next clock.
#[derive(LogicBlock, Default)]
pub struct ContextAhead<const S: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Connection at the stage two clocks later.
    pub connection_ahead: Signal<In, Bits<A>>,
    /// Connection at the stage.
    pub connection: Signal<In, Bits<A>>,
    /// There is a beat at the stage, and `state_next` is to be kept.
    pub valid: Signal<In, Bit>,
    /// Begin with a state of zero in the next clock.
    pub first_ahead: Signal<In, Bit>,
    /// State before the beat.
    pub state: Signal<Out, Bits<S>>,
    /// State after the beat.
    pub state_next: Signal<In, Bits<S>>,
    _words: Vec<Bits<S>>,
    _next_connection: usize,
    _state: Bits<S>,
}

impl<const S: usize, const A: usize> Logic for ContextAhead<S, A> {
    fn update(&mut self) {
        if self._words.is_empty() {
            self._words = vec![Bits::default(); 1 << A];
        }
        if self.clock.pos_edge() {
            if self.valid.val() {
                self._words[self.connection.val().index()] = self.state_next.val();
            }
            self._state = Bits::default();
            if !self.first_ahead.val() {
                self._state = self._words[self._next_connection];
            }
            self._next_connection = self.connection_ahead.val().index();
        }
        self.state.next = self._state;
    }
    fn connect(&mut self) {
        self.state.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "(* no_rw_check *) reg [{s}:0] words [0:{last}];\n\
             reg [{s}:0] read, held, held_before;\n\
             // the state, in the one of these that it comes from; the other is zero\n\
             reg [{s}:0] of_last, of_rest;\n\
             reg [{a}:0] next_connection, connection_before;\n\
             reg valid_before, second, third;\n\
             wire again = valid & (connection == next_connection);\n\
             integer k;\n\
             initial begin\n  read = 0;\n  held = 0;\n  held_before = 0;\n  of_last = 0;\n  of_rest = 0;\n  \
             next_connection = 0;\n  connection_before = 0;\n  valid_before = 0;\n  second = 0;\n  third = 0;\n  \
             for (k = 0; k <= {last}; k = k + 1) words[k] = 0;\nend\n\
             always @(posedge clock) begin\n  if (valid_before) words[connection_before] <= held;\n  \
             read <= words[connection_ahead];\n  second <= valid & (connection == connection_ahead);\n  \
             third <= valid_before & (connection_before == connection_ahead);\n  \
             held <= state_next;\n  held_before <= held;\n  next_connection <= connection_ahead;\n  \
             connection_before <= connection;\n  valid_before <= valid;\n  \
             of_last <= (first_ahead | ~again) ? {width}'d0 : state_next;\n  \
             of_rest <= (first_ahead | again) ? {width}'d0 : second ? held : third ? held_before : read;\nend\n\
             always @(*) state = of_last | of_rest;\n",
            s = S - 1,
            a = A - 1,
            width = S,
            last = (1usize << A) - 1
        ))
    }
}
