// What holds of `answers`, the part of the burst scheduler that makes verdicts, whatever the parts beside it give.
// Macros as in burst_ports.sv.
`default_nettype none

`ifndef FAULT_RECOMMENDED
`define FAULT_RECOMMENDED 0
`endif

module burst_answers(
    input wire clock, input wire reset, input wire own, input wire is_answer, input wire is_bind, input wire [31:0] seq,
    input wire [2:0] action, input wire [4:0] reason, input wire [15:0] connection, input wire [15:0] position,
    input wire [2:0] level, input wire admits, input wire [5:0] node, input wire redirected, input wire [15:0] granted_slot,
    input wire [7:0] granted_generation, input wire [16:0] held_ms, input wire holds, input wire [15:0] entry,
    input wire [7:0] entry_generation, input wire lost, input wire [15:0] slot, input wire [7:0] slot_generation,
    input wire of_gone, input wire over, input wire over_requests, input wire back, input wire expires, input wire no_hold,
    input wire nobody, input wire withdrawn, input wire evicts, input wire [15:0] evicted_connection,
    input wire [15:0] evicted_position, input wire [2:0] evicted_level, input wire leaver_refused,
    input wire [14:0] leaver_in_flight, input wire [14:0] in_flight, input wire [8:0] active, input wire [8:0] active_after,
    input wire [23:0] slot_work, input wire [2:0] pool, input wire [10:0] left, input wire [14:0] free,
    input wire [12:0] retry_now
);
    localparam REFUSE = 1, TENANT_REQUESTS = 1, TENANT_TOKENS = 2;

    reg [2:0] phase = 0;
    always @(posedge clock) phase <= phase >= `INTERVAL - 1 | reset ? 0 : phase + 1;

    wire verdict_valid, verdict_evicted, verdict_has_level, verdict_redirected;
    wire [31:0] verdict_seq;
    wire [15:0] verdict_connection, verdict_index, verdict_slot, verdict_retry_after_ms, verdict_recommended;
    wire [2:0] verdict_action, verdict_level, asked;
    wire [4:0] verdict_reason;
    wire [5:0] verdict_node;
    wire [7:0] verdict_generation;
    wire [16:0] verdict_held_ms;
    wire [15:0] recommended = verdict_recommended & ~`FAULT_RECOMMENDED;

    burst_proof_answers answers(.*);

    // requests in flight of whom a refusal is for: taken in the last phase, given an interval and a clock or two later
    reg [14:0] taken = 0, given = 0, made_room = 0;
    always @(posedge clock) begin
        if (phase == `INTERVAL - 1) begin
            taken <= leaver_refused ? leaver_in_flight : in_flight;
            given <= taken;
        end
        made_room <= given;
    end
    wire [14:0] of = verdict_evicted ? made_room : given;
    wire limit = verdict_reason == TENANT_REQUESTS | verdict_reason == TENANT_TOKENS;

    reg began = 0;
    always @(posedge clock) began <= 1;
    always @* if (!began) assume (reset);

    // a record that is not to be decided gets no refusal
    always @* assume (!is_answer | action != REFUSE);
    // nobody makes room for a request that a limit of its tenant refuses
    always @* assume (!over | !evicts);

    always @(posedge clock) if (began & !reset & verdict_valid & verdict_action == REFUSE) begin
`ifdef in_flight_limit
        // at a limit of the tenant: what is in flight, at least one
        if (limit & !verdict_evicted) assert (recommended >= of & recommended >= 1);
`endif
`ifdef in_flight
        // else more than that
        if (!limit) assert (recommended > of);
`endif
    end
endmodule
