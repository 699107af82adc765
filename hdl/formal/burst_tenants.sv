// What holds of `tenants`, the part of the burst scheduler that counts what tenants have in flight.
// Macros as in burst_ports.sv.
`default_nettype none

`ifndef FAULT_OVER
`define FAULT_OVER 0
`endif
`ifndef FAULT_COUNT
`define FAULT_COUNT 0
`endif

module burst_tenants(
    input wire clock, input wire reset, input wire cfg_valid, input wire [15:0] cfg_address, input wire [31:0] cfg_data,
    input wire [7:0] tenant, input wire [18:0] declared, input wire [7:0] leaver, input wire [18:0] leaver_declared,
    input wire leaves, input wire leaver_refused, input wire enters, input wire refused, input wire visit
);
    reg [2:0] phase = 0;
    reg [12:0] sweep_at = 0;
    reg began = 0;
    // all words are cleared behind the reset
    wire sweeps = began & sweep_at < 1 << `TENANT_BITS;
    always @(posedge clock) begin
        began <= 1;
        phase <= !began | phase == `INTERVAL - 1 ? 0 : phase + 1;
        if (began & sweeps) sweep_at <= sweep_at + 1;
    end

    wire out_over_requests, out_over_tokens;
    wire [14:0] out_in_flight, in_flight = out_in_flight ^ `FAULT_COUNT, leaver_in_flight;
    wire [8:0] active, active_after;
    wire over_requests = out_over_requests & ~`FAULT_OVER, over_tokens = out_over_tokens & ~`FAULT_OVER;
    burst_proof_tenants tenants(.over_requests(out_over_requests), .over_tokens(out_over_tokens), .in_flight(out_in_flight), .*);

    // a tenant, whichever, its limits, and what it has in flight
    (* anyconst *) reg [`TENANT_BITS - 1:0] some;
    reg [15:0] limit_requests = 0;
    reg [31:0] limit_tokens = 0;
    reg [15:0] requests = 0;
    reg [32:0] tokens = 0;
    reg [`TENANT_BITS - 1:0] leaver_3;
    wire mine = tenant == some, leaves_mine = leaves & leaver_3 == some;
    wire sets = cfg_valid & cfg_address[14:9] == 7 & cfg_address[`TENANT_BITS:1] == some;
    always @(posedge clock) begin
        if (sets & !cfg_address[0]) limit_requests <= cfg_data;
        if (sets & cfg_address[0]) limit_tokens <= cfg_data;
        if (phase == 3) leaver_3 <= leaver;
        if (phase == 4 & leaves_mine) begin
            requests <= requests - 1;
            tokens <= tokens - leaver_declared;
        end
        if (phase == 5 & enters & mine) begin
            requests <= requests + 1;
            tokens <= tokens + declared;
        end
    end

    // one reset; a set-up that stands before the first event; what is given stands for the whole event
    always @* if (!began) assume (reset & !cfg_valid);
    always @* if (began) assume (!reset);
    always @* if (began & !sweeps) assume (!cfg_valid);
    always @* if (sweeps) assume (!leaves & !enters & !refused & !visit);
    reg [7:0] last_tenant, last_leaver;
    reg [18:0] last_declared;
    always @(posedge clock) {last_tenant, last_declared, last_leaver} <= {tenant, declared, leaver};
    always @* if (phase != 0) assume (tenant == last_tenant & declared == last_declared);
    always @* if (phase == 4) assume (leaver == last_leaver);
    // tenants are those that there are, as their number in an event has been checked
    always @* assume (tenant < 1 << `TENANT_BITS & leaver < 1 << `TENANT_BITS);
    // nobody enters over a limit, which is known in phase 2; only who is in flight leaves, with what he came with
    reg over = 0;
    always @(posedge clock) if (phase == 2) over <= over_requests | over_tokens;
    always @* if (over) assume (!enters);
    always @* if (phase == 4 & leaves_mine) assume (requests != 0 & tokens >= leaver_declared);

    always @(posedge clock) if (began & !reset) begin
`ifdef tenant_limits
        assert (requests <= limit_requests | requests == 0);
        assert (tokens <= limit_tokens | tokens == 0);
`endif
`ifdef tenant_count
        // the count is that of who has entered and not left
        if (phase == 5 & mine & !sweeps) assert (in_flight == requests);
`endif
    end
endmodule
