//! What can be said of a request without looking at slots: rules of the fields, level, action.
use rust_hdl::prelude::*;

/// Judges a record; two clocks, any rate. It has no reset: what travels beside it says whether it counts.
#[derive(LogicBlock, Default)]
pub struct Rules {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Writes a configuration word.
    pub cfg_valid: Signal<In, Bit>,
    /// Its address.
    pub cfg_address: Signal<In, Bits<16>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Bank of the record's bundle.
    pub bank: Signal<In, Bit>,
    /// Code of the record's disposition.
    pub disposition: Signal<In, Bits<5>>,
    /// Kinds of its fields.
    pub kinds: Signal<In, Bits<20>>,
    /// Its output limit.
    pub max_tokens: Signal<In, Bits<32>>,
    /// To be decided, and sound: level and slots have the last word.
    pub decide: Signal<Out, Bit>,
    /// Action, unless `decide`: reject, pass or punt.
    pub action: Signal<Out, Bits<3>>,
    /// Reason of that action.
    pub reason: Signal<Out, Bits<5>>,
    /// Level of the output limit.
    pub level: Signal<Out, Bits<3>>,

    thresholds: [DFF<Bits<32>>; 14],
    in_force: [Signal<Local, Bits<32>>; 7],
    s1_disposition: DFF<Bits<5>>,
    s1_broken: DFF<Bits<5>>,
    s1_reached: DFF<Bits<7>>,
    s2_decide: DFF<Bit>,
    s2_action: DFF<Bits<3>>,
    s2_reason: DFF<Bits<5>>,
    s2_level: DFF<Bits<3>>,

    kind_max_tokens: Signal<Local, Bits<4>>,
    kind_model: Signal<Local, Bits<4>>,
    kind_stream: Signal<Local, Bits<4>>,
    kind_temperature: Signal<Local, Bits<4>>,
    kind_top_k: Signal<Local, Bits<4>>,
    broken: Signal<Local, Bits<5>>,
    reached: Signal<Local, Bits<7>>,
    ones: [Signal<Local, Bit>; 3],
    twos: [Signal<Local, Bit>; 3],
    level_sum: Signal<Local, Bits<3>>,
    punt_reason: Signal<Local, Bits<5>>,
}

impl Logic for Rules {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s1_disposition, s1_broken, s1_reached, s2_decide, s2_action, s2_reason, s2_level);
        self.decide.next = self.s2_decide.q.val();
        self.action.next = self.s2_action.q.val();
        self.reason.next = self.s2_reason.q.val();
        self.level.next = self.s2_level.q.val();

        // stage 1, levels: which thresholds are reached
        self.reached.next = 0.into();
        for i in 0..7 {
            for bank in 0..2 {
                self.thresholds[7 * bank + i].clock.next = self.clock.val();
                self.thresholds[7 * bank + i].d.next = self.thresholds[7 * bank + i].q.val();
                if self.cfg_valid.val()
                    & (self.cfg_address.val().get_bits::<1>(15).index() == bank)
                    & (self.cfg_address.val().get_bits::<12>(3) == 0)
                    & (self.cfg_address.val().get_bits::<3>(0).index() == i)
                {
                    self.thresholds[7 * bank + i].d.next = self.cfg_data.val();
                }
            }
            self.in_force[i].next = self.thresholds[i].q.val();
            if self.bank.val() {
                self.in_force[i].next = self.thresholds[7 + i].q.val();
            }
            if self.max_tokens.val() >= self.in_force[i].val() {
                self.reached.next = self.reached.val().replace_bit(i, true);
            }
        }

        // stage 1, rules: missing is 0, null 1, false 2, true 3, string 4, number 7
        self.kind_max_tokens.next = self.kinds.val().get_bits::<4>(0);
        self.kind_model.next = self.kinds.val().get_bits::<4>(4);
        self.kind_stream.next = self.kinds.val().get_bits::<4>(8);
        self.kind_temperature.next = self.kinds.val().get_bits::<4>(12);
        self.kind_top_k.next = self.kinds.val().get_bits::<4>(16);
        self.broken.next = 0.into();
        if self.kind_max_tokens.val() != 7 {
            self.broken.next = self.broken.val() | 1;
        }
        if (self.kind_model.val() > 1) & (self.kind_model.val() != 4) {
            self.broken.next = self.broken.val() | 2;
        }
        if self.kind_stream.val() > 3 {
            self.broken.next = self.broken.val() | 4;
        }
        if (self.kind_temperature.val() > 1) & (self.kind_temperature.val() != 7) {
            self.broken.next = self.broken.val() | 8;
        }
        if (self.kind_top_k.val() > 1) & (self.kind_top_k.val() != 7) {
            self.broken.next = self.broken.val() | 16;
        }
        self.s1_disposition.d.next = self.disposition.val();
        self.s1_broken.d.next = self.broken.val();
        self.s1_reached.d.next = self.reached.val();

        // stage 2, level: the number of thresholds reached, by four full adders
        for k in 0..2 {
            self.ones[k].next = self.s1_reached.q.val().get_bit(3 * k)
                ^ self.s1_reached.q.val().get_bit(3 * k + 1)
                ^ self.s1_reached.q.val().get_bit(3 * k + 2);
            self.twos[k].next = (self.s1_reached.q.val().get_bit(3 * k) & self.s1_reached.q.val().get_bit(3 * k + 1))
                | (self.s1_reached.q.val().get_bit(3 * k) & self.s1_reached.q.val().get_bit(3 * k + 2))
                | (self.s1_reached.q.val().get_bit(3 * k + 1) & self.s1_reached.q.val().get_bit(3 * k + 2));
        }
        self.ones[2].next = self.ones[0].val() ^ self.ones[1].val() ^ self.s1_reached.q.val().get_bit(6);
        self.twos[2].next = (self.ones[0].val() & self.ones[1].val())
            | (self.ones[0].val() & self.s1_reached.q.val().get_bit(6))
            | (self.ones[1].val() & self.s1_reached.q.val().get_bit(6));
        self.level_sum.next = 0.into();
        if self.ones[2].val() {
            self.level_sum.next = self.level_sum.val() | 1;
        }
        if self.twos[0].val() ^ self.twos[1].val() ^ self.twos[2].val() {
            self.level_sum.next = self.level_sum.val() | 2;
        }
        if (self.twos[0].val() & self.twos[1].val())
            | (self.twos[0].val() & self.twos[2].val())
            | (self.twos[1].val() & self.twos[2].val())
        {
            self.level_sum.next = self.level_sum.val() | 4;
        }
        self.s2_level.d.next = self.level_sum.val();

        // stage 2, action: a reject has the first rule broken as its reason
        self.punt_reason.next = self.s1_disposition.q.val() - 2;
        self.s2_decide.d.next = false;
        self.s2_action.d.next = 4.into();
        self.s2_reason.d.next = self.punt_reason.val();
        if self.s1_disposition.q.val() == 1 {
            self.s2_action.d.next = 3.into();
            self.s2_reason.d.next = 0.into();
        }
        if self.s1_disposition.q.val() == 0 {
            self.s2_decide.d.next = !self.s1_broken.q.val().any();
            self.s2_action.d.next = 2.into();
            self.s2_reason.d.next = 5.into();
            if self.s1_broken.q.val().get_bit(0) {
                self.s2_reason.d.next = 1.into();
            } else if self.s1_broken.q.val().get_bit(1) {
                self.s2_reason.d.next = 2.into();
            } else if self.s1_broken.q.val().get_bit(2) {
                self.s2_reason.d.next = 3.into();
            } else if self.s1_broken.q.val().get_bit(3) {
                self.s2_reason.d.next = 4.into();
            }
        }
    }
}
