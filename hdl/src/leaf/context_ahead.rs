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
    /// The beat's connection is that of the next beat, of the one after it, of the third: each told when it is needed.
    pub meets: Signal<Out, Bits<3>>,
    _words: Vec<Bits<S>>,
    _state: Bits<S>,
    _meets: Meets,
}

/// A stage's slice of the connection contexts, as `ContextAhead`, some stages behind one of those in the same pipeline,
/// which compares connections for both.
#[derive(LogicBlock, Default)]
pub struct ContextBehind<const S: usize, const A: usize> {
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
    /// `meets` of the other, as many clocks before as there are stages between them.
    pub meets: Signal<In, Bits<3>>,
    /// State before the beat.
    pub state: Signal<Out, Bits<S>>,
    /// State after the beat.
    pub state_next: Signal<In, Bits<S>>,
    _stage: Stage<S>,
}

/// What a simulation keeps of the connections.
#[derive(Clone, Debug, Default)]
struct Meets {
    next_connection: usize,
    before: Option<usize>,
    second: bool,
    third: bool,
}

/// What a simulation keeps of a stage behind: its registers. Which state a beat finds that a reset has made void goes by
/// them, so they are those of the Verilog.
#[derive(Clone, Debug, Default)]
struct Stage<const S: usize> {
    words: Vec<Bits<S>>,
    read: Bits<S>,
    held: Bits<S>,
    held_before: Bits<S>,
    state: Bits<S>,
    before: Option<usize>,
    valid_earlier: bool,
}

/// Verilog of both: `given` are the comparisons.
fn text<const S: usize, const A: usize>(given: bool) -> String {
    let (s, a, last) = (S - 1, A - 1, (1usize << A) - 1);
    let (declared, clocked, started) = if given {
        // a beat may have been lost to a reset on its way here
        (
            "reg valid_earlier;\nwire again = meets[0] & valid;\nwire second = meets[1] & valid_before;\n\
             wire third = meets[2] & valid_earlier;\n"
                .to_string(),
            "  valid_earlier <= valid_before;\n",
            "  valid_earlier = 0;\n",
        )
    } else {
        (
            format!(
                "reg [{a}:0] next_connection;\nreg second, third;\n\
                 wire again = valid & (connection == next_connection);\nalways @(*) meets = {{third, second, again}};\n"
            ),
            "  second <= valid & (connection == connection_ahead);\n  \
             third <= valid_before & (connection_before == connection_ahead);\n  next_connection <= connection_ahead;\n",
            "  next_connection = 0;\n  second = 0;\n  third = 0;\n",
        )
    };
    format!(
        "(* no_rw_check *) reg [{s}:0] words [0:{last}];\n\
         reg [{s}:0] read, held, held_before;\n\
         // the state, in the one of these that it comes from; the other is zero\n\
         reg [{s}:0] of_last, of_rest;\n\
         reg [{a}:0] connection_before;\nreg valid_before;\n{declared}integer k;\n\
         initial begin\n  read = 0;\n  held = 0;\n  held_before = 0;\n  of_last = 0;\n  of_rest = 0;\n  \
         connection_before = 0;\n  valid_before = 0;\n{started}  \
         for (k = 0; k <= {last}; k = k + 1) words[k] = 0;\nend\n\
         always @(posedge clock) begin\n  if (valid_before) words[connection_before] <= held;\n  \
         read <= words[connection_ahead];\n{clocked}  held <= state_next;\n  held_before <= held;\n  \
         connection_before <= connection;\n  valid_before <= valid;\n  \
         of_last <= (first_ahead | ~again) ? {S}'d0 : state_next;\n  \
         of_rest <= (first_ahead | again) ? {S}'d0 : second ? held : third ? held_before : read;\nend\n\
         always @(*) state = of_last | of_rest;\n"
    )
}

impl<const S: usize, const A: usize> Logic for ContextAhead<S, A> {
    fn update(&mut self) {
        let (connection, ahead) = (self.connection.val().index(), self.connection_ahead.val().index());
        if self.clock.pos_edge() {
            self._words.resize(1 << A, Bits::default());
            if self.valid.val() {
                self._words[connection] = self.state_next.val();
            }
            self._state =
                if self.first_ahead.val() { Bits::default() } else { self._words[self._meets.next_connection] };
            self._meets = Meets {
                next_connection: ahead,
                before: self.valid.val().then_some(connection),
                second: self.valid.val() && connection == ahead,
                third: self._meets.before == Some(ahead),
            };
        }
        let again = self.valid.val() && connection == self._meets.next_connection;
        let meets = u64::from(again) | u64::from(self._meets.second) << 1 | u64::from(self._meets.third) << 2;
        self.meets.next = meets.into();
        self.state.next = self._state;
    }
    fn connect(&mut self) {
        self.state.connect();
        self.meets.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(text::<S, A>(false))
    }
}

impl<const S: usize, const A: usize> Logic for ContextBehind<S, A> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let (stage, meets, valid) = (&mut self._stage, self.meets.val(), self.valid.val());
            stage.words.resize(1 << A, Bits::default());
            let read = stage.words[self.connection_ahead.val().index()];
            if let Some(connection) = stage.before {
                stage.words[connection] = stage.held;
            }
            stage.state = if self.first_ahead.val() {
                Bits::default()
            } else if meets.get_bit(0) && valid {
                self.state_next.val()
            } else if meets.get_bit(1) && stage.before.is_some() {
                stage.held
            } else if meets.get_bit(2) && stage.valid_earlier {
                stage.held_before
            } else {
                stage.read
            };
            (stage.read, stage.held_before, stage.held) = (read, stage.held, self.state_next.val());
            stage.valid_earlier = stage.before.is_some();
            stage.before = valid.then(|| self.connection.val().index());
        }
        self.state.next = self._stage.state;
    }
    fn connect(&mut self) {
        self.state.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(text::<S, A>(true))
    }
}
