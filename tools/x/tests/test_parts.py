"""The rest of ./x: licences, counting of results, the synthesis table, logic levels."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import base  # noqa: E402
import clients  # noqa: E402
import deb  # noqa: E402
import licences  # noqa: E402
import mutate  # noqa: E402
import netlist  # noqa: E402
import rtl  # noqa: E402
import step  # noqa: E402
import suite  # noqa: E402
import synth  # noqa: E402


class Package(unittest.TestCase):
    def lines(self, content):
        head = "drwxr-xr-x 0/0               0 2026-11-30 09:00 ./usr/bin/\n"
        return head + "".join(f"-{mode} root/root  12 2026-11-30 09:00 ./{path}\n" for path, mode in content.items())

    def test_what_is_in_it(self):
        self.assertEqual(list(deb.faults(self.lines(deb.CONTENT))), [])
        without = {path: mode for path, mode in deb.CONTENT.items() if path != deb.CONFIG}
        self.assertEqual(list(deb.faults(self.lines(without))), [f"{deb.CONFIG} is missing"])
        loose = {**deb.CONTENT, deb.CONFIG: "rw-rw-rw-"}
        self.assertEqual(list(deb.faults(self.lines(loose))), [f"{deb.CONFIG} has mode rw-rw-rw-, not rw-r--r--"])
        foreign = self.lines(deb.CONTENT) + "-rw-r--r-- me/me 1 2026-11-30 09:00 ./usr/share/a b\n"
        self.assertEqual(list(deb.faults(foreign)), ["usr/share/a b belongs to me/me, not to root"])


class Licences(unittest.TestCase):
    allow = {"MIT", "Apache-2.0", "Unicode-3.0"}

    def test_expressions(self):
        for good in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR GPL-3.0) AND Unicode-3.0", "Apache-2.0 WITH X OR MIT"]:
            self.assertTrue(licences.satisfied(good, self.allow), good)
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "MIT OR", "(MIT", "Apache-2.0 WITH X", "MIT MIT", "OR MIT", "MIT)"]:
            self.assertFalse(licences.satisfied(bad, self.allow), bad)

    def test_policy_and_packages(self):
        policy = '[bans]\nallow = ["x"]\n[licenses]\n# "no"\nallow = [\n  "MIT", # "no"\n]\n[sources]\n'
        self.assertEqual(licences.allowed(policy), {"MIT"})
        package = {"name": "a", "version": "1", "license": "MIT", "source": "registry+x"}
        self.assertEqual(list(licences.problems([package], {"MIT"})), [])
        for change in [{"license": None}, {"license": "GPL-3.0"}, {"source": "git+x"}]:
            self.assertEqual(len(list(licences.problems([{**package, **change}], {"MIT"}))), 1, change)


class Clients(unittest.TestCase):
    def outcome(self, *scripts):
        with tempfile.TemporaryDirectory() as place:
            place = Path(place)
            (place / "bin").mkdir()
            (place / "bin" / "python").symlink_to(sys.executable)
            paths = [place / f"{number}.py" for number in range(len(scripts))]
            for path, script in zip(paths, scripts):
                path.write_text(script, encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = clients.run_scripts(place, paths, ["a", "b"])
            return code, out.getvalue().splitlines()[-1]

    def test_a_script_that_fails_or_checks_nothing_is_a_failure(self):
        good = "import sys\nassert sys.argv[1:] == ['a', 'b']\nprint('test x ... ok')\n"
        self.assertEqual(self.outcome(good, good), (0, "test result: ok. 2 passed; 0 failed; 0 ignored; ok"))
        for bad in ["", "print('ok')", good + "assert False", "raise SystemExit(3)"]:
            code, line = self.outcome(good, bad)
            self.assertEqual((code, "1 failed; 0 ignored; FAILED (1.py)" in line), (1, True), line)


class Failures(unittest.TestCase):
    def test_what_a_failed_test_printed_is_shown(self):
        log = ["test a ... FAILED", "failures:", "", "---- a stdout ----", "thread 'a' panicked at x.rs:1:", "Seen { 3 }"]
        log += ["stack backtrace:", "   0: panic", "failures:", "    a", "", "   Doc-tests b"]
        self.assertEqual(step.failures(log), log[3:6])
        self.assertEqual(step.failures(["test result: ok. 3 passed"]), [])


class Counting(unittest.TestCase):
    def outcome(self, text, code=0):
        with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
            log.write(text)
            log.flush()
            return suite.outcome(step.Done("part", code, 1.0, Path(log.name)))

    def counts(self, text, code=0):
        result = self.outcome(text, code)
        return result.passed, result.failed, result.skipped

    def test_cargo_results_add_up(self):
        line = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
        bad = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
        self.assertEqual(self.counts(line + line), (6, 0, 2))
        self.assertEqual(self.counts(line + bad, 101), (4, 2, 1))
        self.assertEqual(self.counts(line, 101), (3, 1, 1), "the next one did not build")

    def test_a_skipped_test_is_not_a_passed_one(self):
        line = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
        skip = f"{base.SKIP} captures: FOREBAY_DATA is not set\n"
        self.assertEqual(self.counts(skip + line + skip), (2, 0, 1))

    def test_other_parts_count_as_one(self):
        self.assertEqual(self.counts("fine\n"), (1, 0, 0))
        self.assertEqual(self.counts("not fine\n", 1), (0, 1, 0))


def cell(kind, output, **inputs):
    """A cell with one output bit."""
    ports = {"O": [output], **{name: [bit] for name, bit in inputs.items()}}
    ways = {name: "output" if name == "O" else "input" for name in ports}
    return {"type": kind, "port_directions": ways, "connections": ports}


class Waivers(unittest.TestCase):
    def test_the_list_is_read(self):
        found = rtl.waivers(rtl.WAIVERS.read_text(encoding="utf-8"))
        self.assertTrue(found and all(found.values()), found)
        with self.assertRaises(base.Failure):
            rtl.waivers("const OTHER: u8 = 1;")


class Levels(unittest.TestCase):
    def levels(self, *cells):
        return netlist.levels({"cells": {str(n): c for n, c in enumerate(cells)}})

    def test_luts_between_registers(self):
        first, second = cell("LUT2", 3, A=2, B=5), cell("LUT3", 4, A=3, B="1")
        self.assertEqual(self.levels(first, second), 2)
        self.assertEqual(self.levels(first, cell("FDRE", 9, D=3), cell("LUT1", 4, A=9)), 1)
        self.assertEqual(self.levels(first, cell("MUXF7", 6, A=3), cell("LUT3", 4, A=6)), 2)
        self.assertEqual(self.levels(), 0)

    def test_a_carry_chain_is_one_level(self):
        chain = [cell("CARRY4", 10, CI="0", S=3), cell("CARRY4", 11, CI=10, S=2), cell("CARRY4", 12, CI=11, S=2)]
        self.assertEqual(self.levels(*chain), 1)
        self.assertEqual(self.levels(cell("LUT2", 3, A=2), *chain, cell("LUT2", 13, A=12)), 3)
        self.assertEqual(self.levels(chain[0], cell("CARRY4", 11, CI="0", S=10)), 2)

    def test_a_loop_is_an_error(self):
        with self.assertRaises(ValueError):
            self.levels(cell("LUT2", 3, A=4), cell("LUT2", 4, A=3))


class Sizes(unittest.TestCase):
    def size(self, *kinds):
        cells = {str(n): {"type": kind, "port_directions": {}, "connections": {}} for n, kind in enumerate(kinds)}
        return netlist.xilinx({"modules": {"t": {"attributes": {"top": "1"}, "cells": cells}}})

    def test_memory_is_counted_in_luts(self):
        found = self.size("LUT2", "LUT6", "SRL16E", "SRLC32E", "RAM64M", "RAM32X1D", "RAMB18E1", "FDRE")
        self.assertEqual([found[key] for key in ("lut", "memory", "ramb18", "ff")], [2, 1 + 1 + 4 + 2, 1, 1])
        with self.assertRaisesRegex(ValueError, "RAM512X1S"):
            self.size("RAM512X1S")


class Mutants(unittest.TestCase):
    SOURCE = ["module burst_hold(clock);", "    if (a | b) begin", "endmodule"]

    def test_a_fault_is_told_without_numbers_that_change(self):
        line = "mutate -mode cnot0 -module burst -cell $flatten\\hold.\\ends.$procmux$12[3:1] -port Y -portbit 2 -ctrlbit 1 -src block.v:2.9-2.13"
        found = mutate.parse(line, self.SOURCE)
        self.assertEqual(found.key, "hold: `if (a \\| b) begin` choice Y[3]: inverted where bit 2 is 0")
        register = "mutate -mode inv -module burst -cell $auto$ff.cc:337:slice$9 -port Q -portbit 0 -src block.v:2.1-2.2"
        self.assertEqual(mutate.parse(register, self.SOURCE).key, "hold: `if (a \\| b) begin` register Q[0]: inverted")

    def test_what_is_tied_is_no_fault(self):
        netlist = "  cell $mux $a\n    connect \\A \\x [1:0]\n    connect \\B 2'10\n    connect \\Y \\y\n"
        tied = mutate.constants(netlist)
        self.assertEqual(tied, {("$a", "B"): "10"})
        for mode, bit, by, same in (("const0", 0, 1, True), ("const1", 0, 1, False), ("const1", 1, 0, True), ("inv", 0, 1, False)):
            line = f"mutate -mode {mode} -module burst -cell $a -port B -portbit {bit} -ctrlbit {by} -src block.v:2.1-2.2"
            self.assertEqual(mutate.nothing(line, tied), same)
        self.assertTrue(mutate.nothing("mutate -mode cnot0 -cell $a -port B -portbit 0 -ctrlbit 1", tied))
        self.assertFalse(mutate.nothing("mutate -mode const0 -cell $a -port A -portbit 0", tied))

    def test_a_reason_may_be_a_gap(self):
        self.assertEqual(mutate.unseen({"a": "bits 4 and up are always 0", "b": mutate.GAP + "it takes long"}), ["a"])

    def test_survivors_need_reasons_and_reasons_survivors(self):
        mutants = [mutate.Mutant("", "hold", f"fault {n}") for n in range(mutate.COUNT)]
        outcome = [(n != 7, "0", "event 1: verdict None") for n in range(mutate.COUNT)]
        self.assertEqual(mutate.faults(mutants, outcome, {"hold: fault 7": "why"}), [])
        self.assertIn("no reason", mutate.faults(mutants, outcome, {})[0])
        self.assertIn("does not survive", mutate.faults(mutants, outcome, {"hold: fault 7": "", "hold: fault 8": ""})[0])
        many = [(False, "", "")] * mutate.COUNT
        self.assertIn("have a gap", mutate.faults(mutants, many, {mutant.key: mutate.GAP for mutant in mutants})[0])
        self.assertIn("is that so", mutate.faults(mutants, many, {mutant.key: "" for mutant in mutants})[0])
        self.assertEqual(mutate.by_what("event 3: binds due 1"), "binds that are due")
        self.assertEqual(mutate.by_what("the program stopped: 5"), "no answer at all")


class Table(unittest.TestCase):
    def test_stale_rows_are_named(self):
        row = synth.markdown(["scan W8", *["1"] * 10, "`0123456789abcdef`"])
        text = synth.HEAD + row + "\n"
        self.assertEqual(synth.stale(text, {"scan W8": "0123456789abcdef"}), [])
        self.assertIn("made from", synth.stale(text, {"scan W8": "f" * 16})[0])
        self.assertEqual(len(synth.stale(text, {"http W8": "f" * 16})), 2)
        self.assertIn("another Yosys", synth.stale(row, {"scan W8": "0123456789abcdef"})[0])

    def test_list_of_blocks_is_checked(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "blocks.tsv"
            (Path(folder) / "a.v").write_text("")
            empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
            path.write_text(f"block\ttop\tfile\tsha256\tprofile\twidth\nscan\ttop\ta.v\t{empty}\tfleet\t8\n")
            self.assertEqual([block.name for block in rtl.read_list(path)], ["scan fleet W8"])
            for wrong in ["", "block\ttop\n", f"block\ttop\tfile\tsha256\nscan\ttop\ta.v\t{empty[1:]}0\n", "block\ttop\tfile\tsha256\na\n"]:
                path.write_text(wrong)
                with self.assertRaises(base.Failure):
                    rtl.read_list(path)
