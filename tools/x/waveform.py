"""A picture of some signals around the first verdict of a waveform: VCD in, SVG out."""

import html
from dataclasses import dataclass, field

import base

# What a view shows: the block, the signal whose first rise ends the window, clocks before it, and the signals.
VIEWS = {
    "core": ("core", "verdict_valid", 44, [
        "s_valid", "s_ready", "s_count", "working", "scan_valid", "scan_last", "record_valid", "event_valid",
        "event_kind", "verdict_valid", "verdict_action", "verdict_level",
    ]),
    "router": ("core.router", "record_valid", 40, [
        "valid", "first", "last", "connection", "scan.out_valid", "fields.text_valid", "fields.text_last",
        "text.out_valid", "models.out_valid", "models.model", "fields.found_valid", "record_valid",
    ]),
    "http": ("core.http", "m_valid", 44, [
        "s_valid", "s_ready", "s_count", "working", "m_valid", "m_first", "m_last", "m_keep", "m_connection",
    ]),
}
CLOCKS_BEHIND = 4
CLOCK_WIDTH, ROW_HEIGHT, NAME_WIDTH = 14, 24, 170


@dataclass
class Signal:
    """A signal: its width in bits, and its value before each rising edge of the clock."""

    width: int = 1
    values: list = field(default_factory=list)


def definitions(lines):
    """Reads the head of a VCD file: {hierarchical name: (code, width)}, the scope above the top left out."""
    scope, found = [], {}
    for line in lines:
        words = line.split()
        if not words:
            continue
        if words[0] == "$scope":
            scope.append(words[2])
        elif words[0] == "$upscope":
            scope.pop()
        elif words[0] == "$var":
            found[".".join([*scope[1:], words[4]])] = (words[3], int(words[2]))
        elif words[0] == "$enddefinitions":
            break
    return found


def sample(vcd, wanted, clock):
    """Values of the wanted signals in each clock: what they are just before it rises."""
    with open(vcd, encoding="ascii") as lines:
        found = definitions(lines)
        missing = [name for name in [*wanted, clock] if name not in found]
        if missing:
            raise base.Failure(f"{base.shown(vcd)} has no signal {missing[0]}; the RTL has changed: name its signals in tools/x/waveform.py")
        codes = {found[name][0] for name in wanted}
        signals = {name: Signal(found[name][1]) for name in wanted}
        clock_code, now, shown, high = found[clock][0], {}, {}, False
        for line in lines:
            if line.startswith("#"):
                shown.update(now)
                now.clear()
                continue
            value, code = line.split() if line[0] in "br" else (line[0], line[1:].strip())
            if code == clock_code:
                if value == "1" and not high:
                    for name, signal in signals.items():
                        signal.values.append(int(shown.get(found[name][0], "0").lstrip("b").replace("x", "0"), 2))
                high = value == "1"
            if code in codes:
                now[code] = value
    return signals


def bit_path(values, top):
    """The line of a one-bit signal."""
    steps = []
    for n, value in enumerate(values):
        y = top + (4 if value else ROW_HEIGHT - 6)
        steps.append(f"{NAME_WIDTH + n * CLOCK_WIDTH},{y} {NAME_WIDTH + (n + 1) * CLOCK_WIDTH},{y}")
    return f'<polyline class="bit" points="{" ".join(steps)}"/>'


def boxes(values, top):
    """The boxes of a wider signal, one for each value that it keeps, with the value in hexadecimal where it fits."""
    parts, start = [], 0
    for n in range(1, len(values) + 1):
        if n < len(values) and values[n] == values[start]:
            continue
        x, width, text = NAME_WIDTH + start * CLOCK_WIDTH, (n - start) * CLOCK_WIDTH, f"{values[start]:x}"
        parts.append(f'<rect class="box" x="{x + 1}" y="{top + 4}" width="{width - 2}" height="{ROW_HEIGHT - 10}"/>')
        if 7 * len(text) + 4 <= width:
            parts.append(f'<text class="value" x="{x + width / 2}" y="{top + 15}">{text}</text>')
        start = n
    return "".join(parts)


STYLE = (
    "text{font:11px sans-serif;fill:#222}.value{text-anchor:middle;font-size:10px}.grid{stroke:#ddd}"
    ".bit{fill:none;stroke:#06c;stroke-width:1.4}.box{fill:#eef4fb;stroke:#06c}.tick{text-anchor:middle;fill:#777;font-size:9px}"
)


def draw(signals, first, last):
    """The SVG of the clocks from `first` to `last`; clock 0 of the ruler is `first`."""
    clocks = last - first
    width, height = NAME_WIDTH + clocks * CLOCK_WIDTH + 10, (len(signals) + 1) * ROW_HEIGHT + 6
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">']
    parts.append(f'<style>{STYLE}</style><rect width="{width}" height="{height}" fill="#fff"/>')
    for n in range(0, clocks + 1, 4):
        x = NAME_WIDTH + n * CLOCK_WIDTH
        parts.append(f'<line class="grid" x1="{x}" y1="18" x2="{x}" y2="{height}"/><text class="tick" x="{x}" y="12">{n}</text>')
    for row, (name, signal) in enumerate(signals.items()):
        top, values = (row + 1) * ROW_HEIGHT, signal.values[first:last]
        parts.append(f'<text x="4" y="{top + 15}">{html.escape(name)}</text>')
        parts.append(bit_path(values, top) if signal.width == 1 else boxes(values, top))
    return "\n".join([*parts, "</svg>", ""])


def picture(vcd, view):
    """The SVG of a view of a waveform."""
    scope, end, before, names = VIEWS[view]
    wanted = [f"{scope}.{name}" for name in names]
    signals = sample(vcd, wanted, f"{scope}.clock")
    rises = signals[f"{scope}.{end}"].values
    if 1 not in rises:
        raise base.Failure(f"{base.shown(vcd)}: {end} never rises; use a capture with a request")
    at = rises.index(1)
    named = {name: signals[path] for name, path in zip(names, wanted)}
    return draw(named, max(0, at - before), min(len(rises), at + CLOCKS_BEHIND))
