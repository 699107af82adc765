"""`./x test`: every part on its own, so that one failure hides no other, then a table of results and times."""

import os
import re
import sys
import time
from dataclasses import dataclass, field

import base
import step

RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.M)
SKIPPED = re.compile(rf"^\s*{re.escape(base.SKIP)} (.+)$", re.M)


@dataclass
class Part:
    """One row of the table."""

    name: str
    argv: list
    heavy: bool = False
    env: dict = field(default_factory=dict)


@dataclass
class Outcome:
    """What one part came to."""

    name: str
    passed: int
    failed: int
    skips: list
    seconds: float
    ignored: int = 0

    @property
    def skipped(self):
        return len(self.skips) + self.ignored

    @property
    def unforeseen(self):
        """Skips that --all takes for a failure: all but those of a machine without the third-party data (CI has it)."""
        data = "FOREBAY_DATA" not in os.environ
        return self.ignored + sum(not (data and "FOREBAY_DATA" in skip) for skip in self.skips)


def cargo_test(*args):
    """Tests of some crates. A skipped test says so in its output, which is shown for passed ones too."""
    return ["cargo", "test", "--release", "--no-fail-fast", *args, "--", "--show-output"]


def parts():
    """All parts, cheap and telling ones first."""
    x = [sys.executable, base.ROOT / "x"]
    clippy = ["cargo", "clippy", "--release", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]
    return [
        Part("format", ["cargo", "fmt", "--all", "--check"]),
        Part("tidy", [*x, "tidy"]),
        Part("tests of ./x", [sys.executable, "-B", "-m", "unittest", "discover", "-s", "tools/x/tests"]),
        Part("licences", [*x, "licences"]),
        Part("clippy", clippy),
        Part("tests without RTL", cargo_test()),
        Part("RTL lint", [*x, "lint"]),
        Part("synthesis table", [*x, "synth", "--check"]),
        Part("tests of the simulation", cargo_test("-p", "forebay-sim", "-p", "forebay-testbench")),
        Part("tests of the tools on the simulation", cargo_test("-p", "forebay-tools", "--features", "sim")),
        Part("demo", [*x, "demo"]),
        Part("official clients", [*x, "clients"]),
        Part("official clients and llama.cpp", [*x, "clients", "--engines"], heavy=True),
        Part("Debian package", [*x, "deb"], heavy=True),
        Part("fuzz, short", [*x, "fuzz", "--seconds", "20", "--seed", "1"], heavy=True),
        Part("synthesis", [*x, "synth", "--compare"], heavy=True),
    ]


def outcome(done):
    """Counts a part: by cargo's own lines, or as one test where there are none."""
    text = done.text()
    skips = sorted(set(SKIPPED.findall(text)))
    passed = failed = ignored = 0
    found = RESULT.findall(text)
    for counts in found:
        passed, failed, ignored = (a + int(b) for a, b in zip((passed, failed, ignored), counts))
    if found:
        # A test that skipped itself passed for cargo. It may have done so in each of two runs; then it is still one.
        passed = max(0, passed - len(skips))
    if done.code and not failed:
        failed = 1  # did not build, or is no cargo test
    if not done.code and not found:
        passed = 1
    return Outcome(done.name, passed, failed, skips, done.seconds, ignored)


def verdict(result, strict):
    """How a part reads in the table."""
    if result.failed or (strict and result.unforeseen):
        return "FAILED"
    return "ok"


def print_table(results, total_s, strict):
    """Each part's result, counts, time and share."""
    wide = max(len(result.name) for result in results)
    print(f"\n{'part':<{wide}}  result  passed  failed  skipped          time  share")
    for result in results:
        counts = f"{result.passed:>6}  {result.failed:>6}  {result.skipped:>7}"
        share = f"{100 * result.seconds / max(total_s, 0.001):>4.0f} %"
        print(f"{result.name:<{wide}}  {verdict(result, strict):<6}  {counts}  {step.duration(result.seconds):>12}  {share}")
    print(f"{'total':<{wide}}  {'':<31}  {step.duration(total_s):>12}\n")


def print_skips(results):
    """Why tests were skipped, and how to run them."""
    skips = sorted({skip for result in results for skip in result.skips})
    for skip in skips:
        print(f"skipped: {skip}")
    if skips and "FOREBAY_DATA" not in os.environ:
        print("FOREBAY_DATA is not set: name the folder of third-party data to run the tests that need it")


def main(everything):
    """Runs the parts and closes with `N passed, N failed, N skipped`."""
    started = time.monotonic()
    chosen = [part for part in parts() if everything or not part.heavy]
    results = []
    for number, part in enumerate(chosen, 1):
        print(f"[{number}/{len(chosen)}] {part.name}", flush=True)
        results.append(outcome(step.run(part.name, part.argv, env=part.env)))
    print_table(results, time.monotonic() - started, strict=everything)
    print_skips(results)
    passed = sum(result.passed for result in results)
    failed = sum(result.failed for result in results)
    skipped = sum(result.skipped for result in results)
    unforeseen = everything and sum(result.unforeseen for result in results)
    if unforeseen:
        print(f"{unforeseen} unforeseen skips: with --all that is a failure")
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or unforeseen else 0
