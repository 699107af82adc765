"""Counts cells and logic levels in a netlist that Yosys wrote as JSON."""

from collections import Counter

# Cells that signals pass through within one clock; all others start and end a path.
# A LUT is one level. A carry chain is one level however long it is, and the wide multiplexers are none:
# both are dedicated paths, an order faster than a LUT with its routing.
LUT = {f"LUT{n}" for n in range(1, 7)}
CARRY = {"CARRY4"}
FREE = {"MUXF7", "MUXF8", "MUXF9", "INV"}
THROUGH = LUT | CARRY | FREE
# LUTs that a cell of memory takes: a shift register one, a RAM one for each 64 bits, or 32 of two ports.
MEMORY = {"SRL16E": 1, "SRLC32E": 1, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM32M": 4, "RAM64M": 4}


def top_module(netlist):
    """The one module marked as top."""
    for module in netlist["modules"].values():
        if int(module["attributes"].get("top", "0"), 2):
            return module
    raise ValueError("no module is marked as top")


def pins(cell, direction):
    """(port, bit) of a cell, one direction, constants left out."""
    for port, way in cell["port_directions"].items():
        if way == direction:
            for bit in cell["connections"].get(port, ()):
                if isinstance(bit, int):
                    yield port, bit


def levels(module):
    """Longest chain of LUT levels between registers, memories, multipliers and ports."""
    cells = [cell for cell in module["cells"].values() if cell["type"] in THROUGH]
    driver = {bit: index for index, cell in enumerate(cells) for _, bit in pins(cell, "output")}
    readers = [[] for _ in cells]
    waiting = [0] * len(cells)
    for index, cell in enumerate(cells):
        for port, bit in pins(cell, "input"):
            if bit in driver:
                readers[driver[bit]].append((index, port))
                waiting[index] += 1
    arrival = [0] * len(cells)  # at the inputs, and once a cell is done at its output
    ready = [index for index, count in enumerate(waiting) if count == 0]
    done = 0
    while ready:
        index = ready.pop()
        done += 1
        kind = cells[index]["type"]
        arrival[index] = max(arrival[index], 1 if kind in CARRY else arrival[index])
        arrival[index] += 1 if kind in LUT else 0
        for reader, port in readers[index]:
            enters_chain = cells[reader]["type"] in CARRY and not (kind in CARRY and port == "CI")
            arrival[reader] = max(arrival[reader], arrival[index] + (1 if enters_chain else 0))
            waiting[reader] -= 1
            if waiting[reader] == 0:
                ready.append(reader)
    if done != len(cells):
        raise ValueError("the netlist has a combinational loop")
    return max(arrival, default=0)


def kinds(module):
    """How many of each cell type."""
    return Counter(cell["type"] for cell in module["cells"].values())


def xilinx(netlist):
    """Figures of a 7-series netlist."""
    module = top_module(netlist)
    count = kinds(module)
    memory = {kind: n for kind, n in count.items() if kind.startswith("SRL") or (kind.startswith("RAM") and "RAMB" not in kind)}
    if unknown := memory.keys() - MEMORY.keys():
        raise ValueError(f"how many LUTs does {', '.join(sorted(unknown))} take? MEMORY in netlist.py has to say")
    return {
        "lut": sum(count[kind] for kind in LUT),
        "memory": sum(n * MEMORY[kind] for kind, n in memory.items()),
        "ff": sum(n for kind, n in count.items() if kind.startswith("FD")),
        "latch": sum(n for kind, n in count.items() if kind.startswith("LD")),
        "ramb18": count["RAMB18E1"],
        "ramb36": count["RAMB36E1"],
        "dsp": count["DSP48E1"],
        "levels": levels(module),
    }


def ecp5(netlist):
    """Figures of an ECP5 netlist; a carry cell holds two LUT4."""
    count = kinds(top_module(netlist))
    return {
        "lut4": count["LUT4"] + 2 * count["CCU2C"],
        "memory": count["TRELLIS_DPR16X4"],
        "ff": count["TRELLIS_FF"],
        "ebr": count["DP16KD"] + count["PDPW16KD"],
        "mult18": count["MULT18X18D"],
    }
