// What holds of the registers of one node, whatever events it gets: `step` says what each of them does to them.
// Macros as in burst_ports.sv.
`default_nettype none

`ifndef FAULT_MADE
`define FAULT_MADE 0
`endif

module burst_step(
    input wire clock, input wire reset, input wire [16:0] now, input wire [17:0] tokens, input wire [27:0] thousand,
    input wire [21:0] weight, input wire keeps, input wire [29:0] left, input wire over, input wire [18:0] window_sum,
    input wire [17:0] moved, input wire owes, input wire [2:0] what, input wire [2:0] code, input wire full
);
    // what happens, if anything does: one of five
    wire grant = what == 1, frees = what == 2, first = what == 3, change = what == 4, visit = what == 5;
    (* anyconst *) reg [8:0] slots;
    (* anyconst *) reg strict;

    reg [172:0] old;
    wire [172:0] out_made, made = out_made ^ `FAULT_MADE;
    burst_proof_step step(.made(out_made), .*);
    // registers as `NodePack` has them, lowest first
    wire up = old[0], gone = old[1], overdue = old[2], kv_full = old[3], kv_own = old[4];
    wire [8:0] used = old[13:5], granted = old[22:14];
    wire [17:0] debt = old[48:31], rate = old[88:71];
    wire [21:0] load = old[70:49];

    reg began = 0;
    always @(posedge clock) begin
        began <= 1;
        // after a reset all is 0 but for the rate
        if (reset) old <= {84'd0, moved, 71'd0};
        else if (what >= 1 & what <= 5) old <= made;
    end
    always @* if (!began) assume (reset);

    // a node has as many slots as there can be, at most
    always @* assume (slots <= 1 << `OF_NODE);
    // it gets a request only while its view says so, which follows from these registers
    wire [17:0] gate = strict ? rate : (rate >> 2) + (rate >> 3);
    wire open = up & !gone & !overdue & !kv_full & used < slots;
    always @* if (grant) assume (open & (debt == 0 | {1'd0, debt} + tokens <= gate));
    // what is freed was in use, and what is worked off was owed: `slots` keeps who has them, with their tokens
    always @* if (frees) assume (used != 0 & load >= weight);
    always @* if (first | frees & owes) assume (tokens <= debt);

    always @(posedge clock) if (began & !reset) begin
`ifdef used_most
        assert (used <= granted & granted <= slots);
`endif
`ifdef granting
        // a grant takes a slot, adds its tokens without a carry out, and nothing else does either
        if (grant) assert (made[13:5] == used + 9'd1 & made[48:31] >= debt);
        if (!grant & what >= 1 & what <= 5) assert (made[13:5] <= used & made[48:31] <= debt);
`endif
`ifdef gone_free
        // a node is gone only while slots of it are in use
        assert (!gone | used != 0);
`endif
`ifdef overdue_owes
        assert (!overdue | debt != 0);
`endif
    end
endmodule
