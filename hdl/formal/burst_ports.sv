// What holds at the ports of the burst scheduler, whatever its set-up, its state and its events.
//
// `./x prove` proves one property at a time, that whose name is defined. LATENCY, INTERVAL and OF_NODE (log2 of a node's slots)
// are the block's constants. A FAULT_ makes bits of a port wrong, and the property must fail: that shows that it says
// something, and that what it speaks of happens.
`default_nettype none

`ifndef FAULT_READY
`define FAULT_READY 0
`endif
`ifndef FAULT_VALID
`define FAULT_VALID 0
`endif
`ifndef FAULT_SEQ
`define FAULT_SEQ 0
`endif
`ifndef FAULT_INDEX
`define FAULT_INDEX 0
`endif
`ifndef FAULT_ACTION
`define FAULT_ACTION 0
`endif
`ifndef FAULT_NODE
`define FAULT_NODE 0
`endif
`ifndef FAULT_SLOT
`define FAULT_SLOT 0
`endif
`ifndef FAULT_RETRY
`define FAULT_RETRY 0
`endif

module burst_ports(
    input wire clock, input wire reset,
    input wire cfg_valid, input wire [15:0] cfg_address, input wire [31:0] cfg_data,
    input wire event_valid, input wire [2:0] event_kind, input wire [31:0] event_seq, input wire [31:0] event_now_ms,
    input wire [7:0] event_node, input wire [2:0] event_code, input wire [6:0] event_percent, input wire [15:0] event_slot,
    input wire [7:0] event_generation, input wire [15:0] event_output_tokens, input wire [208:0] event_record
);
    localparam RELEASE = 1, VISIT = 3, BIND = 4, PUNT_RESULT = 6, RECORD = 7;
    localparam ADMIT = 0, REFUSE = 1, HOLD = 5, LOST = 6;
    localparam SLOT = 5; // code of a visit

    wire out_ready, out_valid, evicted, has_level, redirected;
    wire [31:0] out_seq, stale_releases, stale_nodes;
    wire [15:0] connection, out_index, out_slot, out_retry, recommended;
    wire [2:0] out_action, level;
    wire [4:0] reason;
    wire [5:0] out_node;
    wire [7:0] generation, due;
    wire [16:0] held_ms;
    wire ready = out_ready ^ `FAULT_READY, valid = out_valid ^ `FAULT_VALID;
    wire [31:0] seq = out_seq ^ `FAULT_SEQ;
    wire [15:0] index = out_index ^ `FAULT_INDEX, slot = out_slot ^ `FAULT_SLOT;
    wire [15:0] retry = out_retry ^ `FAULT_RETRY;
    wire [2:0] action = out_action ^ `FAULT_ACTION;
    wire [5:0] node = out_node ^ `FAULT_NODE;

    burst_proof dut(
        .clock(clock), .reset(reset), .cfg_valid(cfg_valid), .cfg_address(cfg_address), .cfg_data(cfg_data),
        .event_valid(event_valid), .event_ready(out_ready), .event_kind(event_kind), .event_seq(event_seq),
        .event_now_ms(event_now_ms), .event_node(event_node), .event_code(event_code), .event_percent(event_percent),
        .event_slot(event_slot), .event_generation(event_generation), .event_output_tokens(event_output_tokens),
        .event_record(event_record), .verdict_valid(out_valid), .verdict_evicted(evicted), .verdict_seq(out_seq),
        .verdict_connection(connection), .verdict_index(out_index), .verdict_action(out_action), .verdict_reason(reason),
        .verdict_has_level(has_level), .verdict_level(level), .verdict_node(out_node), .verdict_slot(out_slot),
        .verdict_generation(generation), .verdict_redirected(redirected), .verdict_held_ms(held_ms),
        .verdict_retry_after_ms(out_retry), .verdict_recommended(recommended), .binds_due(due),
        .stale_release_count(stale_releases), .stale_node_count(stale_nodes));

    // the events of the last clocks: place k was taken k clocks ago, if nothing was reset since
    wire taken = event_valid & out_ready & !reset;
    reg [`LATENCY + 1:1] was_taken = 0;
    reg [2:0] was_kind [1:`LATENCY + 1];
    reg [2:0] was_code [1:`LATENCY + 1];
    reg [15:0] was_slot [1:`LATENCY + 1];
    reg [31:0] was_seq [1:`LATENCY + 1];
    reg [31:0] was_request [1:`LATENCY + 1];
    integer k;
    always @(posedge clock) begin
        was_taken <= reset ? 0 : {was_taken[`LATENCY:1], taken};
        was_kind[1] <= event_kind;
        was_code[1] <= event_code;
        was_slot[1] <= event_slot;
        was_seq[1] <= event_seq;
        was_request[1] <= event_record[31:0];
        for (k = 1; k <= `LATENCY; k = k + 1) begin
            was_kind[k + 1] <= was_kind[k];
            was_code[k + 1] <= was_code[k];
            was_slot[k + 1] <= was_slot[k];
            was_seq[k + 1] <= was_seq[k];
            was_request[k + 1] <= was_request[k];
        end
    end
    wire own = valid & !evicted;
    wire [2:0] kind = was_kind[`LATENCY];
    wire request = kind == RECORD | kind == PUNT_RESULT;
    reg last_own = 0;
    reg [2:0] last_action;
    reg [31:0] last_seq;
    reg [3:0] since = 15;
    always @(posedge clock) begin
        last_own <= own & !reset;
        last_action <= action;
        last_seq <= seq;
        since <= reset ? 15 : ready ? 1 : since == 15 ? 15 : since + 1;
    end

    // all begins with a reset
    reg began = 0;
    always @(posedge clock) began <= 1;
    always @* if (!began) assume (reset);

    always @(posedge clock) if (began & !reset) begin
`ifdef interval
        // one event in `INTERVAL clocks, neither more nor fewer
        if (ready) assert (since == 15 | since == `INTERVAL);
        if (since == `INTERVAL) assert (ready);
`endif
`ifdef own_verdict
        // no verdict comes but of an event `LATENCY clocks before, of a kind that may give one
        if (own) assert (was_taken[`LATENCY] & (request | kind == BIND | kind == VISIT));
`endif
`ifdef own_seq
        if (own) assert (seq == was_seq[`LATENCY]);
`endif
`ifdef own_request
        if (own & request) assert ({index, connection} == was_request[`LATENCY]);
`endif
`ifdef evicted
        // a request is put out for another only where that is held, in the clock behind, as a refusal of the same event
        if (valid & evicted) assert (last_own & last_action == HOLD & action == REFUSE & seq == last_seq);
`endif
`ifdef retry_after
        if (valid & action == REFUSE) assert (retry >= 20 & retry <= 8000);
`endif
`ifdef admit
        // I13: at most one grant an event, by a request or a bind alone; the slot is one of the node
        if (valid & action == ADMIT) assert (!evicted & (request | kind == BIND) & node == slot >> `OF_NODE);
`endif
`ifdef hold
        if (own & action == HOLD) assert (request | (kind == VISIT & was_code[`LATENCY] == SLOT));
`endif
`ifdef lost
        if (valid & action == LOST)
            assert (!evicted & kind == VISIT & was_code[`LATENCY] == SLOT & slot == was_slot[`LATENCY]);
`endif
    end
endmodule
