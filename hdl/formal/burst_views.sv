// What holds of `views`, the part of the burst scheduler that keeps what nodes show and chooses one of them.
// Macros as in burst_ports.sv.
`default_nettype none

`ifndef FAULT_CHOSEN
`define FAULT_CHOSEN 0
`endif
`ifndef FAULT_FOUND
`define FAULT_FOUND 0
`endif

module burst_views(
    input wire clock, input wire reset, input wire set, input wire [1:0] set_node, input wire [7:0] set_serves,
    input wire write, input wire [1:0] node, input wire open, input wire open_long, input wire standing, input wire empty,
    input wire [17:0] room, input wire state_write, input wire [1:0] state_node, input wire [3:0] state,
    input wire [17:0] tokens, input wire [7:0] pool_bit, input wire long_class, input wire [1:0] turn
);
    wire out_found, redirected;
    wire found = out_found ^ `FAULT_FOUND;
    wire [1:0] out_chosen, chosen = out_chosen ^ `FAULT_CHOSEN;
    burst_proof_views views(.found(out_found), .chosen(out_chosen), .*);

    // of one node, whichever: the pools that it serves, what it may take, its state
    (* anyconst *) reg [1:0] some;
    reg [7:0] serves = 0;
    reg [3:0] load = 0;
    reg is_open = 0, is_open_long = 0, is_empty = 0;
    reg [17:0] has_room = 0;
    always @(posedge clock) begin
        if (set & set_node == some) serves <= set_serves;
        if (state_write & state_node == some) load <= state;
        if (write & node == some) {is_open, is_open_long, is_empty, has_room} <= {open, open_long, empty, room};
        if (reset) {is_open, is_open_long} <= 0;
    end
    wire takes = |(serves & pool_bit) & (is_empty | tokens <= has_room) & (long_class ? is_open_long : is_open);

    // did it take the request of so many clocks ago, and was it found in the third of them that a node does
    reg took_1 = 0, took_2 = 0, took_3 = 0, found_3 = 0;
    reg [1:0] steady = 0;
    always @(posedge clock) begin
        {took_3, took_2, took_1} <= {took_2, took_1, takes};
        found_3 <= found;
        // no state changes in the second clock of a choice; all else may, in any of them
        steady <= {steady[0], !state_write};
    end

    always @(posedge clock) begin
`ifdef mask
        if (found_3 & steady[1] & chosen == some) assert (took_3);
`endif
`ifdef taker
        if (took_2) assert (found);
`endif
    end
endmodule
