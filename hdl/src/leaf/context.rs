//! The state of one pipeline stage, for every connection.
use rust_hdl::prelude::*;

/// A stage's slice of the connection contexts: `S` bits for each of `2^A` connections.
///
/// `state` is what the stage left behind for `connection` when it last had a beat
/// of it, or zero when `first` is set. On a clock with `valid` the stage stores
/// `state_next`. Beats of different connections may follow each other back to
/// back: the word is read one clock ahead, by `next_connection`, which has to be
/// the `connection` of the next clock; for two beats of one connection in a row the
/// state comes from a register, as the RAM would still give the old word. That
/// choice is made a clock ahead too, so that only two selects stand before the state.
#[derive(LogicBlock, Default)]
pub struct Context<const S: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Connection at the stage in the next clock.
    pub next_connection: Signal<In, Bits<A>>,
    /// Connection at the stage.
    pub connection: Signal<In, Bits<A>>,
    /// There is a beat at the stage, and `state_next` is to be kept.
    pub valid: Signal<In, Bit>,
    /// Begin with a state of zero.
    pub first: Signal<In, Bit>,
    /// State before the beat.
    pub state: Signal<Out, Bits<S>>,
    /// State after the beat.
    pub state_next: Signal<In, Bits<S>>,
    _words: Vec<Bits<S>>,
    _read: Bits<S>,
    _held: Bits<S>,
    _held_connection: usize,
    _again: bool,
}

impl<const S: usize, const A: usize> Logic for Context<S, A> {
    fn update(&mut self) {
        if self._words.is_empty() {
            self._words = vec![Bits::default(); 1 << A];
        }
        if self.clock.pos_edge() {
            self._read = self._words[self.next_connection.val().index()];
            if self.valid.val() {
                self._words[self.connection.val().index()] = self.state_next.val();
                self._held = self.state_next.val();
                self._held_connection = self.connection.val().index();
            }
            self._again = self._held_connection == self.next_connection.val().index();
        }
        self.state.next = if self.first.val() {
            Bits::default()
        } else if self._again {
            self._held
        } else {
            self._read
        };
    }
    fn connect(&mut self) {
        self.state.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "(* no_rw_check *) reg [{s}:0] words [0:{last}];\n\
             reg [{s}:0] read, held;\n\
             reg [{a}:0] held_connection;\n\
             reg again;\n\
             wire [{a}:0] last_connection = valid ? connection : held_connection;\n\
             integer k;\n\
             initial begin\n  read = 0;\n  held = 0;\n  held_connection = 0;\n  again = 0;\n  \
             for (k = 0; k <= {last}; k = k + 1) words[k] = 0;\nend\n\
             always @(posedge clock) begin\n  read <= words[next_connection];\n  \
             again <= last_connection == next_connection;\n  if (valid) begin\n    \
             words[connection] <= state_next;\n    held <= state_next;\n    held_connection <= connection;\n  end\nend\n\
             always @(*) state = first ? {width}'d0 : again ? held : read;\n",
            s = S - 1,
            a = A - 1,
            width = S,
            last = (1usize << A) - 1
        ))
    }
}
