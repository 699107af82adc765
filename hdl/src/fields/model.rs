//! Compares a model's name, as it streams by, with all names of the bundle at once.
use super::text::byte_at;
use forebay_spec::config::{ADDRESS_BITS, MODEL_BYTES, MODEL_NAME, MODEL_STRIDE};
use forebay_spec::limits::{MODELS_MAX, MODEL_NAME_BYTES_MAX};
use rust_hdl::prelude::*;

/// Width of a position in a name: counts past the longest and stays there.
pub const POSITION_BITS: usize = 7;
const POSITION_MAX: u64 = (1 << POSITION_BITS) - 1;

/// Turns the marked bytes of a beat, which stand without a gap, so that byte `n` of the name comes to lane `n` modulo `W`.
#[derive(LogicBlock, Default)]
pub struct ModelAlign<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// Bytes of the name.
    pub bytes: Signal<In, Bits<W>>,
    /// Bytes of the name before the beat.
    pub position: Signal<In, Bits<POSITION_BITS>>,
    /// The beat, turned.
    pub turned: Signal<Out, Bits<B>>,
    /// Bytes of the name in it.
    pub turned_bytes: Signal<Out, Bits<W>>,
    /// Bytes of the name after the beat.
    pub position_next: Signal<Out, Bits<POSITION_BITS>>,
}

impl<const W: usize, const B: usize> Logic for ModelAlign<W, B> {
    fn update(&mut self) {
        let bytes = self.bytes.val();
        let marked: Vec<usize> = (0..W).filter(|i| bytes.get_bit(*i)).collect();
        let position = self.position.val().index();
        let amount = (position + W - marked.first().copied().unwrap_or(0)) % W;
        let mut turned = Bits::<B>::default();
        let mut turned_bytes = Bits::<W>::default();
        for i in 0..W {
            let lane = (i + amount) % W;
            turned.set_bits::<8>(8 * lane, self.data.val().get_bits::<8>(8 * i));
            turned_bytes = turned_bytes.replace_bit(lane, bytes.get_bit(i));
        }
        self.turned.next = turned;
        self.turned_bytes.next = turned_bytes;
        self.position_next.next = ((position + marked.len()) as u64).min(POSITION_MAX).into();
    }
    fn connect(&mut self) {
        self.turned.connect();
        self.turned_bytes.connect();
        self.position_next.connect();
    }
    fn hdl(&self) -> Verilog {
        let lane_bits = W.trailing_zeros() as usize;
        Verilog::Custom(format!(
            "reg [{w}:0] lowest;\nreg [{l}:0] start, amount;\nreg [{p}:0] sum;\ninteger i;\nalways @(*) begin\n  \
             lowest = bytes & ~(bytes << 1);\n  start = 0;\n  sum = {{1'b0, position}};\n  \
             for (i = 0; i < {W}; i = i + 1) begin\n    \
             if (lowest[i]) start = start | i[{l}:0];\n    sum = sum + {{{p}'d0, bytes[i]}};\n  end\n  \
             amount = position[{l}:0] - start;\n  \
             turned = ({{data, data}} << {{amount, 3'd0}}) >> {B};\n  \
             turned_bytes = ({{bytes, bytes}} << amount) >> {W};\n  \
             position_next = sum[{p}] ? {POSITION_BITS}'d{POSITION_MAX} : sum[{q}:0];\nend\n",
            w = W - 1,
            l = lane_bits - 1,
            p = POSITION_BITS,
            q = POSITION_BITS - 1
        ))
    }
}

/// The names of the bundle's models, in distributed memory; written through the configuration port.
///
/// `alike` says for each model whether the bytes of this beat are those of its name
/// at their position; `ends` whether its name ends at `position_next`.
#[derive(LogicBlock, Default)]
pub struct ModelNames<const W: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Bytes of the name, each in its lane.
    pub turned: Signal<In, Bits<B>>,
    /// Which they are.
    pub turned_bytes: Signal<In, Bits<W>>,
    /// Bytes of the name before the beat.
    pub position: Signal<In, Bits<POSITION_BITS>>,
    /// Bytes of the name after the beat.
    pub position_next: Signal<In, Bits<POSITION_BITS>>,
    /// By model: the bytes fit.
    pub alike: Signal<Out, Bits<MODELS_MAX>>,
    /// By model: the name is this long.
    pub ends: Signal<Out, Bits<MODELS_MAX>>,
    _names: Vec<[u8; MODEL_NAME_BYTES_MAX]>,
    _lengths: Vec<usize>,
}

impl<const W: usize, const B: usize> Logic for ModelNames<W, B> {
    fn update(&mut self) {
        if self._names.is_empty() {
            self._names = vec![[0; MODEL_NAME_BYTES_MAX]; MODELS_MAX];
            self._lengths = vec![0; MODELS_MAX];
        }
        if self.clock.pos_edge() && self.cfg_valid.val() {
            self.write(self.cfg_address.val().index(), self.cfg_data.val().index() as u32);
        }
        let position = self.position.val().index();
        let after = self.position_next.val().index();
        let mut alike = Bits::<MODELS_MAX>::default();
        let mut ends = Bits::<MODELS_MAX>::default();
        for (m, name) in self._names.iter().enumerate() {
            let fits = (0..W).filter(|j| self.turned_bytes.val().get_bit(*j)).all(|j| {
                let n = position + (W + j - position % W) % W;
                name.get(n) == Some(&byte_at(&self.turned.val(), j))
            });
            alike = alike.replace_bit(m, fits);
            ends = ends.replace_bit(m, self._lengths[m] != 0 && self._lengths[m] == after);
        }
        self.alike.next = alike;
        self.ends.next = ends;
    }
    fn connect(&mut self) {
        self.alike.connect();
        self.ends.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(names_verilog(W))
    }
}

impl<const W: usize, const B: usize> ModelNames<W, B> {
    fn write(&mut self, address: usize, data: u32) {
        let stride = usize::from(MODEL_STRIDE);
        if let Some(at) = address.checked_sub(usize::from(MODEL_NAME)).filter(|at| *at < stride * MODELS_MAX) {
            let word = 4 * (at % stride);
            self._names[at / stride][word..word + 4].copy_from_slice(&data.to_le_bytes());
        } else if let Some(m) = address.checked_sub(usize::from(MODEL_BYTES)).filter(|m| *m < MODELS_MAX) {
            self._lengths[m] = data as usize & POSITION_MAX as usize;
        }
    }
}

fn names_verilog(w: usize) -> String {
    let rows = MODEL_NAME_BYTES_MAX / w;
    let row_bits = rows.trailing_zeros() as usize;
    let (m, p) = (MODELS_MAX, POSITION_BITS);
    let mut code = format!("reg [{}:0] lengths [0:{}];\ninteger i, k;\n", p - 1, m - 1);
    code += &format!(
        "wire name_write = cfg_valid & (cfg_address[{}:8] == {}'d{});\n",
        ADDRESS_BITS - 1,
        ADDRESS_BITS - 8,
        MODEL_NAME >> 8
    );
    code += &format!(
        "wire [3:0] name_model = cfg_address[7:4];\nwire [{}:0] name_row = cfg_address[3 -: {row_bits}];\n",
        row_bits - 1
    );
    code += &format!(
        "wire length_write = cfg_valid & (cfg_address[{}:4] == {}'d{});\n",
        ADDRESS_BITS - 1,
        ADDRESS_BITS - 4,
        MODEL_BYTES >> 4
    );
    code += &format!("reg [{}:0] fits [0:{}];\n", m - 1, w - 1);
    for j in 0..w {
        code += &lane_verilog(w, j);
    }
    code += "initial begin\n";
    code += &format!("  for (k = 0; k < {m}; k = k + 1) lengths[k] = 0;\n");
    for j in 0..w {
        code += &format!("  for (k = 0; k < {rows}; k = k + 1) names{j}[k] = 0;\n");
    }
    code += "end\n";
    code += &format!("always @(posedge clock) if (length_write) lengths[cfg_address[3:0]] <= cfg_data[{}:0];\n", p - 1);
    let all: Vec<String> = (0..w).map(|j| format!("fits[{j}]")).collect();
    code += &format!("always @(*) begin\n  alike = {};\n", all.join(" & "));
    code +=
        &format!("  for (k = 0; k < {m}; k = k + 1) ends[k] = (|lengths[k]) & (lengths[k] == position_next);\nend\n");
    code
}

/// The memory of one lane, and which models have this beat's byte there.
fn lane_verilog(w: usize, j: usize) -> String {
    let rows = MODEL_NAME_BYTES_MAX / w;
    let row_bits = rows.trailing_zeros() as usize;
    let lane_bits = w.trailing_zeros() as usize;
    let quarter = lane_bits - 2;
    let (m, p) = (MODELS_MAX, POSITION_BITS);
    let mut code = String::new();
    // lanes below the position's belong to the next row of the name
    code += &format!("// lane {j}\nreg [{}:0] names{j} [0:{}];\n", 8 * m - 1, rows - 1);
    code += &format!(
        "wire [{b}:0] row{j} = {{1'b0, position[{pt}:{lane_bits}]}} + {{{z}'d0, {next_row}}};\n",
        b = p - lane_bits,
        next_row = if j + 1 == w { "1'b0".into() } else { format!("position[{}:0] > {lane_bits}'d{j}", lane_bits - 1) },
        pt = p - 1,
        z = p - lane_bits
    );
    code += &format!("wire [{}:0] read{j} = names{j}[row{j}[{}:0]];\n", 8 * m - 1, row_bits - 1);
    let lane_select =
        if quarter == 0 { "1'b1".into() } else { format!("(cfg_address[{}:0] == {quarter}'d{})", quarter - 1, j / 4) };
    code += &format!(
        "always @(posedge clock) if (name_write & {lane_select}) names{j}[name_row][8*name_model +: 8] <= cfg_data[{} +: 8];\n",
        8 * (j % 4)
    );
    code += &format!(
        "always @(*) for (i = 0; i < {m}; i = i + 1) fits[{j}][i] = ~turned_bytes[{j}] \
         | (~(|row{j}[{top}:{row_bits}]) & (read{j}[8*i +: 8] == turned[{at} +: 8]));\n",
        top = p - lane_bits,
        at = 8 * j
    );
    code
}

/// Index + 1 of the one model that fits, 0 if none does.
#[derive(LogicBlock, Default)]
pub struct ModelIndex {
    /// By model; at most one, as names are unique.
    pub hits: Signal<In, Bits<MODELS_MAX>>,
    /// Index + 1, or 0.
    pub index: Signal<Out, Bits<5>>,
}

impl Logic for ModelIndex {
    fn update(&mut self) {
        let hits = self.hits.val();
        let index = (0..MODELS_MAX).filter(|m| hits.get_bit(*m)).fold(0, |n, m| n | (m as u64 + 1));
        self.index.next = index.into();
    }
    fn connect(&mut self) {
        self.index.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from("always @(*) begin\n  index = 5'd0;\n");
        for m in 0..MODELS_MAX {
            code += &format!("  if (hits[{m}]) index = index | 5'd{};\n", m + 1);
        }
        Verilog::Custom(code + "end\n")
    }
}
