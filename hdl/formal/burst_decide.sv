// What holds of `decide`, which says what an event does, whatever the parts beside it give.
// Macros as in burst_ports.sv.
`default_nettype none

`ifndef FAULT_HOLDS
`define FAULT_HOLDS 0
`endif
`ifndef FAULT_FREES
`define FAULT_FREES 0
`endif

module burst_decide(
    input wire clock, input wire reset, input wire is_request, input wire is_release, input wire is_withdraw,
    input wire is_bind, input wire visits_entry, input wire visits_slot, input wire [2:0] code, input wire teaches,
    input wire over_requests, input wire over_tokens, input wire own_ticket, input wire used, input wire same,
    input wire overdue, input wire filling, input wire owes, input wire gone, input wire slot_returned,
    input wire entry_valid, input wire entry_same, input wire withdrawn, input wire expired, input wire turns_late,
    input wire own_late, input wire [2:0] own_class, input wire some, input wire [3:0] best, input wire [3:0] worst,
    input wire full, input wire dirty, input wire found, input wire stands_back
);
    reg [2:0] phase = 0;
    always @(posedge clock) phase <= phase >= `INTERVAL - 1 | reset ? 0 : phase + 1;

    wire redeems_now, teaches_now, slot_evicts_now, over_requests_too, over, redeems, fills, first, out_frees, back, lost;
    wire of_gone, withdraws, stale, admits, out_holds, evicts, refuses, expires, bind_puts_out, moves, calms, unlinks;
    wire leaves, tenant_leaves, leaver_refused, newcomer_refused, promises, has_left;
    wire [3:0] fifo;
    wire holds = out_holds ^ `FAULT_HOLDS, frees = out_frees ^ `FAULT_FREES;
    burst_proof_decide decide(.holds(out_holds), .frees(out_frees), .*);

    reg began = 0;
    always @(posedge clock) began <= 1;
    always @* if (!began) assume (reset);
    // an event is one of these, or none, and stands for its six clocks
    wire [5:0] kinds = {is_request, is_release, is_withdraw, is_bind, visits_entry, visits_slot};
    always @* assume ((kinds & kinds - 6'd1) == 0);
    reg [5:0] last_kinds;
    always @(posedge clock) last_kinds <= kinds;
    always @* if (phase != 0) assume (kinds == last_kinds);
    // six clocks without a reset
    reg [5:0] whole = 0;
    always @(posedge clock) whole <= {whole[4:0], !reset};

    wire [2:0] answers = over + admits + holds + refuses;
    always @(posedge clock) if (&whole & !reset & phase == 5) begin
`ifdef one_answer
        // a request gets a node, is held, is refused for want of room, or for a limit of its tenant: one of them
        if (is_request) assert (answers == 1);
`endif
`ifdef one_end
        // a slot that is freed was in use; by a visit its request goes back or is lost, and who goes back is held or refused
        if (frees) assert (used_2 & (is_release | visits_slot));
        if (visits_slot) assert (frees == (back | lost) & !(back & lost) & back == (holds | refuses));
`endif
    end
    reg used_2 = 0;
    always @(posedge clock) if (phase == 2) used_2 <= used;
endmodule
