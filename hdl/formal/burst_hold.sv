// What holds of `hold`, the hold buffer of the burst scheduler, and of its FIFOs. It gets what `decide` makes of a request, a bind,
// a visit of an entry and a withdrawal.
// Macros as in burst_ports.sv.
`default_nettype none

`ifndef FAULT_JOB
`define FAULT_JOB 0
`endif
`ifndef FAULT_BEST
`define FAULT_BEST 0
`endif

module burst_hold(
    input wire clock, input wire reset, input wire [11:0] hold_ms, input wire [16:0] now, input wire [1:0] what,
    input wire [15:0] entry, input wire [2:0] pool, input wire [11:0] late_in, input wire [3:0] fifo, input wire [1:0] tag,
    input wire goes, input wire gives_up
);
    localparam REQUEST = 1, BIND = 2, VISIT = 3;
    // part of each pool; so few come that there are entries enough
    (* anyconst *) reg [10:0] part;

    reg [2:0] phase = 0;
    always @(posedge clock) phase <= reset | phase == `INTERVAL - 1 ? 0 : phase + 1;
    wire by_number = what == VISIT, is_bind = what == BIND, is_slot = 0;

    wire some, full, valid, withdrawn, expired, turns_late, was_head;
    wire [3:0] out_best, worst, best = out_best ^ `FAULT_BEST;
    wire [10:0] left;
    wire [7:0] holds, generation, new_generation;
    wire [113:0] out_job, job = out_job ^ `FAULT_JOB;
    wire [16:0] held_ms;
    wire [15:0] new_entry;

    // in phase 3 it is decided, as `decide` does: the head of the best FIFO is bound, the tail of the worst makes room
    reg binds = 0, evicts = 0, enters = 0, ends = 0, moves = 0, withdraws = 0;
    wire evictable = some & worst > fifo;
    always @(posedge clock) if (phase == 3) begin
        binds <= what == BIND & some & goes;
        evicts <= what == REQUEST & goes & full & evictable;
        enters <= what == REQUEST & goes & (!full | evictable);
        ends <= what == VISIT & valid & goes;
        moves <= what == VISIT & valid & !goes & turns_late;
        withdraws <= what == VISIT & valid & !goes & !turns_late & !withdrawn & gives_up;
    end
    wire leaves = binds | evicts | ends, unlinks = leaves | moves;
    wire [3:0] new_fifo = moves ? 8 : fifo;
    // a job is told by its two lowest bits
    wire [113:0] new_job = moves ? job : {112'd0, tag};
    burst_proof_hold hold(.best(out_best), .job(out_job), .*);

    // two requests of one FIFO, whichever: the first came before the second. Who turns late is behind all that are.
    reg first = 0, second = 0, first_came = 0, second_came = 0;
    reg [2:0] of_pool = 0;
    reg [3:0] of_fifo = 0;
    wire comes = phase == 5 & enters;
    always @(posedge clock) begin
        if (comes & tag == 1) {first, first_came, of_pool, of_fifo} <= {2'd3, pool, fifo};
        if (comes & tag == 2) {second, second_came} <= 3;
        if (phase == 4 & unlinks & job[1:0] == 1) first <= 0;
        if (phase == 4 & unlinks & job[1:0] == 2) second <= 0;
    end

    reg began = 0;
    always @(posedge clock) began <= 1;
    always @* assume (reset == !began);
    always @* assume (part <= 1 << `HOLD_BITS & fifo <= 8);
    // each comes once, the second after the first and while that is there
    always @* if (comes) assume (tag != 1 | !first_came);
    always @* if (comes & tag == 2) assume (!second_came & first & pool == of_pool & fifo == of_fifo);
    // what is given stands for the whole event
    reg [40:0] given;
    wire [40:0] gives = {what, entry, pool, fifo, tag, goes, gives_up, late_in};
    reg [16:0] at;
    always @(posedge clock) {given, at} <= {gives, now};
    always @* if (phase != 0 & began) assume (given == gives & at == now);

    always @(posedge clock) if (began) begin
`ifdef fifo_order
        // I6, I8: who came first is bound first, who came last makes room first
        if (phase == 4 & binds & job[1:0] == 2 & second) assert (!first);
        if (phase == 4 & evicts & job[1:0] == 1 & first) assert (!second);
`endif
`ifdef best_first
        // the FIFO that is bound from is none behind that of somebody who waits; that which makes room, none before it
        if (phase == 3 & first & pool == of_pool) assert (some & best <= of_fifo & worst >= of_fifo);
`endif
    end
endmodule
