//! The burst scheduler: admits, holds or refuses requests, with exact numbers.
//!
//! Its page is `README.md` in this folder.
mod ahead;
mod answer;
mod decide;
mod hold;
mod join;
mod leaves;
mod nodes;
mod pools;
mod prepare;
mod promise_leaves;
mod promises;
mod share;
mod slots;
mod step;
mod tenants;
mod tickets;
mod views;
mod words;

pub use ahead::Ahead;
pub use answer::Answer;
pub use decide::Decide;
pub use hold::Hold;
pub use leaves::{Below, DecodeWork, Ends, Join, LutRam, Multiply, OfPool, Place, Scale, Shifts, WorkClass};
pub use nodes::Nodes;
pub use pools::Pools;
pub use prepare::Prepare;
pub use promise_leaves::{PromiseGive, PromisePick, PromiseRows, PromiseSum, PromiseTake, PROMISE_BITS, ROW_BITS};
pub use promises::Promises;
pub use share::{Divide, Share};
pub use slots::Slots;
pub use step::Step;
pub use tenants::Tenants;
pub use tickets::Tickets;
pub use views::Views;
pub use words::{
    AnswerPack, AnswerUnpack, JobPack, JobUnpack, NodePack, NodeUnpack, TenantPack, TenantUnpack, ENTRY_BITS, JOB_BITS,
    NODE_BITS, SLOT_BITS, TENANT_BITS,
};

use forebay_spec::burst::{word, Sizes, BOARD, FLEET, PROOF};
use forebay_spec::limits::{EVENT_INTERVAL_CLOCKS_MAX, VERDICT_CLOCKS_MAX};
use rust_hdl::prelude::*;

/// Clocks from one event to the next.
pub const INTERVAL_CLOCKS: u32 = 6;
/// Clocks from an event that is taken to its verdict; the verdict on a request that made room comes one later.
pub const LATENCY_CLOCKS: u32 = 24;
/// Clocks from an event that is taken to where `binds_due` says what is due after it.
pub const DUE_CLOCKS: u32 = 15;

const _: () = assert!(INTERVAL_CLOCKS <= EVENT_INTERVAL_CLOCKS_MAX && LATENCY_CLOCKS <= VERDICT_CLOCKS_MAX);
// The addresses stand in `update` of the parts as literals.
const _: () = assert!(word::POOL_OF_MODEL == 0x700 && word::NODE == 0xc00 && word::NODE_STRIDE == 4);
const _: () = assert!(word::POOL == 0xd00 && word::POOL_STRIDE == 8 && word::FLEET == 0xd40);
const _: () = assert!(word::TENANT_LIMIT == 0xe00 && word::TENANT_STRIDE == 2);

/// Do the parameters of a build follow from its sizes?
const fn fits(s: &Sizes, bits: [usize; 6]) -> bool {
    let [nodes, slots, of_node, hold, tenants, tickets] = bits;
    s.nodes == 1 << nodes
        && s.slots == 1 << slots
        && s.slots_per_node() == 1 << of_node
        && s.hold == 1 << hold
        && s.tenants == 1 << tenants
        && s.tickets == 1 << tickets
}

/// The scheduler of profile `proof`.
pub type ProofBurst = Burst<4, 2, 3, 1, 3, 2, 3>;
/// The scheduler of profile `board`.
pub type BoardBurst = Burst<8, 3, 8, 5, 6, 8, 10>;
/// The scheduler of profile `fleet`.
pub type FleetBurst = Burst<64, 6, 14, 8, 10, 8, 12>;

const _: () = assert!(fits(&PROOF, [2, 3, 1, 3, 2, 3]));
const _: () = assert!(fits(&BOARD, [3, 8, 5, 6, 8, 10]));
const _: () = assert!(fits(&FLEET, [6, 14, 8, 10, 8, 12]));

/// The block: `N = 1 << B` nodes, `1 << S` slots of which a node has `1 << C`, `1 << H` entries, `1 << T` tenant words,
/// `1 << K` tickets. It has eight pools, whatever the profile.
#[derive(LogicBlock, Default)]
pub struct Burst<
    const N: usize,
    const B: usize,
    const S: usize,
    const C: usize,
    const H: usize,
    const T: usize,
    const K: usize,
> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Back to the state after reset; what was configured stays. No event is taken for `2^(K + 1)` clocks.
    pub reset: Signal<In, Bit>,
    /// Writes a configuration word.
    pub cfg_valid: Signal<In, Bit>,
    /// Its address, by `forebay_spec::burst::word` and `forebay_spec::config::THRESHOLD`.
    pub cfg_address: Signal<In, Bits<16>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,

    /// There is an event.
    pub event_valid: Signal<In, Bit>,
    /// It is taken; one clock in six.
    pub event_ready: Signal<Out, Bit>,
    /// Its input, as the place in `INPUT_ORDER`.
    pub event_kind: Signal<In, Bits<3>>,
    /// Its `seq`.
    pub event_seq: Signal<In, Bits<32>>,
    /// Its `now_ms`.
    pub event_now_ms: Signal<In, Bits<32>>,
    /// Of a node event: the node.
    pub event_node: Signal<In, Bits<8>>,
    /// Code of the change, of the release, of the visit; of a bind the pool.
    pub event_code: Signal<In, Bits<3>>,
    /// Of a node event: percent.
    pub event_percent: Signal<In, Bits<7>>,
    /// Of a release: slot or entry; of a visit: its index.
    pub event_slot: Signal<In, Bits<16>>,
    /// Of a release: the generation.
    pub event_generation: Signal<In, Bits<8>>,
    /// Of a release: output tokens.
    pub event_output_tokens: Signal<In, Bits<16>>,
    /// Of a punt result or a record: the record.
    pub event_record: Signal<In, Bits<209>>,

    /// There is a verdict, for this one clock.
    pub verdict_valid: Signal<Out, Bit>,
    /// It is of a held request that made room for the one of the clock before.
    pub verdict_evicted: Signal<Out, Bit>,
    /// `seq` of the event that it answers.
    pub verdict_seq: Signal<Out, Bits<32>>,
    /// Connection of the request.
    pub verdict_connection: Signal<Out, Bits<16>>,
    /// Position of the request in its connection.
    pub verdict_index: Signal<Out, Bits<16>>,
    /// Code of the action.
    pub verdict_action: Signal<Out, Bits<3>>,
    /// Code of the reason; 0 where there is none.
    pub verdict_reason: Signal<Out, Bits<5>>,
    /// The verdict has a level.
    pub verdict_has_level: Signal<Out, Bit>,
    /// Level.
    pub verdict_level: Signal<Out, Bits<3>>,
    /// Of an admit: the node.
    pub verdict_node: Signal<Out, Bits<6>>,
    /// Of an admit or a lost one: the slot; of a hold: the entry.
    pub verdict_slot: Signal<Out, Bits<16>>,
    /// Generation of slot or entry.
    pub verdict_generation: Signal<Out, Bits<8>>,
    /// Of an admit: not the node whose turn it was.
    pub verdict_redirected: Signal<Out, Bit>,
    /// Of an admit: time in the hold buffer.
    pub verdict_held_ms: Signal<Out, Bits<17>>,
    /// Of a refusal: when to come back.
    pub verdict_retry_after_ms: Signal<Out, Bits<16>>,
    /// Of a refusal: requests that the tenant may have in flight.
    pub verdict_recommended: Signal<Out, Bits<16>>,

    /// Pools whose bind is due: dirty, and something held; `DUE_CLOCKS` after an event, and two clocks more.
    pub binds_due: Signal<Out, Bits<8>>,
    /// Releases that changed nothing.
    pub stale_release_count: Signal<Out, Bits<32>>,
    /// Changes of nodes that are not there.
    pub stale_node_count: Signal<Out, Bits<32>>,

    ahead: Ahead<T>,
    nodes: Nodes<N, B>,
    slots: Slots<S, C, B>,
    hold: Hold<H>,
    tenants: Tenants<T>,
    tickets: Tickets<K>,
    pools: Pools,
    decide: Decide,
    answers: Answer,
    promises: Promises,
    scale: Scale<14, 21>,
    decode_work: DecodeWork,
    work_class: WorkClass,
    asks: JobPack,
    of_slot: JobUnpack,
    of_entry: JobUnpack,
    own: JobUnpack,
    put: JobPack,
    refused: JobUnpack,
    ticket_of: Place,

    strict: DFF<Bit>,
    hold_ms: DFF<Bits<12>>,
    kv_limit: DFF<Bits<8>>,
    fill_limit: DFF<Bits<16>>,
    run_limit: DFF<Bits<16>>,
    phase: DFF<Bits<3>>,
    sweep: DFF<Bits<14>>,
    sweeping: DFF<Bit>,
    r_early_expected: DFF<Bits<14>>,
    r_expected: DFF<Bits<14>>,
    r_decode: DFF<Bits<23>>,
    r_node_decode: DFF<Bits<23>>,
    r_slot_work: DFF<Bits<24>>,
    r_node_work: DFF<Bits<24>>,
    r_long_from: DFF<Bits<23>>,
    /// The pool: of a bind and a request from phase 0 on, of all from phase 2 on.
    r_pool: DFF<Bits<3>>,
    r_own_sum: DFF<Bits<19>>,
    r_entry_sum: DFF<Bits<19>>,
    k_own: DFF<Bits<114>>,
    k_refused: DFF<Bits<114>>,
    stale_releases: DFF<Bits<32>>,
    stale_nodes: DFF<Bits<32>>,

    cfg_mine: Signal<Local, Bit>,
    by_slot: Signal<Local, Bit>,
    by_entry: Signal<Local, Bit>,
    pool: Signal<Local, Bits<3>>,
    release_high: Signal<Local, Bits<6>>,
    tokens_now: Signal<Local, Bits<18>>,
    late_now: Signal<Local, Bit>,
    own_now: Signal<Local, Bits<114>>,
    next_turn: Signal<Local, Bits<B>>,
    refused_job: Signal<Local, Bits<114>>,
    long_from: Signal<Local, Bits<23>>,
    long_now: Signal<Local, Bit>,
}
