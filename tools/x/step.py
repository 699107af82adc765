"""Runs one long command with its output in a log file, and shows how it goes on."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import base

TAIL_LINES = 40
FAILURE_LINES = 60
# A line this often where there is no terminal, so that a log shows that something still runs.
HEARTBEAT_S = 60
# Above what any part takes cold on two busy cores. A hang must not eat the whole of a CI run.
LIMIT_S = 60 * 60


@dataclass
class Done:
    """How a step ended."""

    name: str
    code: int
    seconds: float
    log: Path

    def text(self):
        """All that the step printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")


def duration(seconds):
    """Seconds as a person reads them."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"


def last_line(log):
    """The newest non-empty line of a growing log."""
    with open(log, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 2000))
        lines = file.read().decode("utf-8", "replace").splitlines()
    lines = [re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line).strip() for line in lines]
    return next((line for line in reversed(lines) if line), "")


def show_progress(name, log, started, ended, live):
    """A live line on a terminal, a line a minute elsewhere, until `ended` is set."""
    while not ended.wait(0.5 if live else HEARTBEAT_S):
        elapsed = duration(time.monotonic() - started)
        if live:
            columns = shutil.get_terminal_size().columns
            line = f"  {name}  {elapsed}  {last_line(log)}"
            print("\r\x1b[K" + line[: columns - 1], end="", flush=True)
        else:
            print(f"  {name}: still running, {elapsed}", flush=True)
    if live:
        print("\r\x1b[K", end="", flush=True)


def stop_group(process):
    """Ends a command and all that it started."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(timeout=10)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


def wait(process, limit_s, log):
    """Waits for a command; past the limit it is stopped and counts as failed."""
    try:
        return process.wait(timeout=limit_s)
    except subprocess.TimeoutExpired:
        stop_group(process)
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"\nforebay: stopped after {duration(limit_s)}, the limit for one step\n")
        return 124
    except BaseException:
        stop_group(process)
        raise


def run(name, argv, env=None, limit_s=LIMIT_S, quiet=False, cwd=None, alone=True):
    """Runs `argv`, logs to build/log/<name>.log, prints one line (and the log's tail on failure).

    `alone` is False for steps that run side by side: they would write over each other's live line.
    """
    base.LOGS.mkdir(parents=True, exist_ok=True)
    log = base.LOGS / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".log")
    started = time.monotonic()
    ended = threading.Event()
    live = alone and sys.stdout.isatty()
    with open(log, "w", encoding="utf-8") as file:
        file.write("$ " + " ".join(map(str, argv)) + "\n")
        file.flush()
        process = subprocess.Popen(
            list(map(str, argv)),
            cwd=cwd or base.ROOT,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        show = threading.Thread(target=show_progress, args=(name, log, started, ended, live), daemon=True)
        show.start()
        try:
            code = wait(process, limit_s, log)
        finally:
            ended.set()
            show.join()
    done = Done(name, code, time.monotonic() - started, log)
    if not quiet or code:
        print(f"  {name}: {'ok' if code == 0 else 'FAILED'}, {duration(done.seconds)}", flush=True)
    if code:
        print_tail(done)
    return done


def print_tail(done):
    """What a failed step said of its failures, the end of its log, and where the rest is."""
    lines = done.text().splitlines()
    print(f"  --- the last lines of {base.shown(done.log)} (exit code {done.code})")
    for line in failures(lines[:-TAIL_LINES]) + lines[-TAIL_LINES:]:
        print("  | " + line)
    print("  ---", flush=True)


def failures(lines):
    """Of a log of `cargo test`: the output of the tests that failed, which may stand far above the log's end."""
    said, inside = [], False
    for line in lines:
        begins = line.startswith("---- ") and line.endswith(" stdout ----")
        inside = begins or (inside and line.strip() != "failures:" and not line.startswith("stack backtrace:"))
        if inside:
            said.append(line)
    return said[:FAILURE_LINES]


def must(name, argv, **options):
    """`run`, where going on makes no sense after a failure."""
    done = run(name, argv, **options)
    if done.code:
        raise base.Failure(f"{name} failed; the whole log is {base.shown(done.log)}")
    return done
