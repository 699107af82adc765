"""Emits the Verilog, reads the list of what was emitted, and lints it on the pinned Verilator and on the oldest one."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import base
import machine
import step

LIST = base.RTL / "blocks.tsv"
# The one list of justified exceptions for Verilator; the lint inside the Rust tests uses it too.
WAIVERS = base.ROOT / "hdl" / "tools" / "src" / "verilator" / "mod.rs"
# What the floor calls a warning, where that differs; an empty name is one that it does not have.
OLD_NAMES = {"WIDTHEXPAND": "WIDTH", "WIDTHTRUNC": "WIDTH", "PROCASSINIT": ""}
COLUMNS = ("block", "top", "file", "sha256", "profile", "width")


@dataclass(frozen=True)
class Block:
    """One line of build/rtl/blocks.tsv: a block or a top, at one profile and width."""

    block: str
    top: str
    path: Path
    sha256: str
    profile: str = ""
    width: str = ""

    @property
    def name(self):
        """Unique: the same block may be emitted at several profiles and widths."""
        parts = [self.block, self.profile, f"W{self.width}" if self.width else ""]
        return " ".join(part for part in parts if part)


def read_list(path):
    """The blocks of a list; the columns are named in its first line."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    header = lines[0].lstrip("# ").split("\t") if lines else []
    if tuple(header[:4]) != COLUMNS[:4] or not set(header) <= set(COLUMNS):
        raise base.Failure(f"{base.shown(path)}:1: columns are {header}, expected {list(COLUMNS)} (the last two may be missing)")
    blocks = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(header):
            raise base.Failure(f"{base.shown(path)}:{number}: {len(cells)} columns, expected {len(header)}")
        row = dict(zip(header, cells))
        file = path.parent / row.pop("file")
        if hashlib.sha256(file.read_bytes()).hexdigest() != row["sha256"]:
            raise base.Failure(f"{base.shown(path)}:{number}: {base.shown(file)} does not have the hash stated")
        blocks.append(Block(path=file, **row))
    return blocks


def emit():
    """Emits all blocks and tops to build/rtl and returns them."""
    emitter = ["cargo", "run", "--release", "-p", "forebay-hdl", "--bin", "rtl", "--", "--out", base.RTL]
    step.must("emit Verilog", emitter)
    return read_list(LIST)


def waivers(text):
    """warning -> reason, out of the Rust list WAIVERS."""
    found = re.search(r"\bWAIVERS: &\[Waiver\] = &\[(.*?)\n\];", text, re.S)
    if not found:
        raise base.Failure(f"{base.shown(WAIVERS)}: no list WAIVERS; tools/x/rtl.py reads it")
    return dict(re.findall(r'code: "(\w+)",\s*reason: "([^"]*)"', found.group(1)))


def lint_once(tool, binary, env, blocks, waived):
    """Lints every file with one Verilator; a warning is a failure."""
    options = sorted(f"-Wno-{name}" for name in waived if name)
    failed = 0
    for block in blocks:
        argv = [binary, "--lint-only", "-Wall", *options, "--top-module", block.top, block.path]
        failed += step.run(f"lint {block.name}, Verilator {tool}", argv, env=env).code != 0
    return failed


def lint():
    """The exit code says whether all is clean on both."""
    blocks = emit()
    waived = waivers(WAIVERS.read_text(encoding="utf-8"))
    for name, reason in waived.items():
        print(f"  waived: {name}: {reason}")
    pinned = machine.PINS[0].partition("==")[2]
    failed = lint_once(pinned, machine.VERILATOR_ROOT / "bin" / "verilator", {}, blocks, set(waived))
    floor = machine.floor_binary()
    if floor:
        failed += lint_once(machine.FLOOR, floor, machine.floor_env(), blocks, {OLD_NAMES.get(name, name) for name in waived})
    elif machine.has_floor():
        print(f"{base.SKIP} lint on Verilator {machine.FLOOR}: it could not be fetched")
    else:
        print(f"note: no lint on Verilator {machine.FLOOR}: this system does not offer it (Debian 12 does)")
    return 1 if failed else 0
