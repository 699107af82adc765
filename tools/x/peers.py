"""`./x bench peers`: what the daemon adds to a request, beside nginx, HAProxy, Envoy and sglang-router, in one run.

All of them are up at once, before one engine with a fixed answer, and take turns inside each cell, so that noise of the machine
falls on all. What counts are ratios inside a run. Everything stays on the loopback.
"""

import argparse
import contextlib
import json
import os
import shlex
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import base
import clients
import machine
import step

HOME = base.ROOT / "testbench" / "peers"
START_S = 120
FORBID = {"sglang": ["messages"]}  # it has no such endpoint
DAEMON = """
[access]
anonymous = "loopback"
[log]
requests = false
[limits]
requests_max = 65536
[scheduler]
mode = "{mode}"
[[listen]]
address = "127.0.0.1:{port}"
"""
ENGINE = """
[[engine]]
name = "{name}"
kind = "{name}"
url = "http://127.0.0.1:{engine}"
models = ["{name}"]
requests_max = {limit}
# the mock takes prompts in no time: what the scheduler would hold for their sake is not what is measured here
prefill_tokens_s = 262143
output_token_ms = 1
"""


@dataclass
class Peer:
    """A gateway under test."""

    port: int
    pid: int


def free_port():
    """A port that nobody has now."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


def commands(place, port, engine, venv, binaries):
    """How each peer is started, by name."""
    def config(name):
        text = (HOME / "conf" / name).read_text(encoding="utf-8")
        for key, value in {"@TMP@": place, "@UP@": engine, "@PORT@": port}.items():
            text = text.replace(key, str(value))
        path = Path(place) / name
        path.write_text(text, encoding="utf-8")
        return path

    return {
        "nginx": lambda: f"nginx -c {config('nginx.conf')} -p {place}",
        "haproxy": lambda: f"haproxy -f {config('haproxy.cfg')} -db",
        "envoy": lambda: f"{venv}/bin/envoy -c {config('envoy.yaml')} --concurrency 2 -l error --disable-hot-restart",
        "sglang": lambda: f"{venv}/bin/sglang-router launch --host 127.0.0.1 --port {port} --worker-urls http://127.0.0.1:{engine}"
        f" --policy cache_aware --prometheus-port {free_port()} --log-level error --disable-health-check --max-concurrent-requests 100000",
        "forebay": lambda: f"{binaries}/forebayd {daemon_config(place, port, engine, 64, 'hold')}",
    }


def daemon_config(place, port, engine, limit, mode):
    """The file of a daemon that runs `limit` requests at once on an engine."""
    folder = Path(place) / f"forebay-{port}"
    folder.mkdir(exist_ok=True)
    text = "threads = 2\n" + DAEMON.format(port=port, mode=mode)
    text += "".join(ENGINE.format(name=name, engine=engine, limit=limit) for name in ("chat", "messages"))
    path = folder / "forebayd.toml"
    path.write_text(text, encoding="utf-8")
    return path


class Running:
    """Processes that are stopped together."""

    def __init__(self):
        self.processes = []

    def start(self, command, log):
        with open(log, "wb") as out:
            process = subprocess.Popen(shlex.split(command), stdout=out, stderr=out, start_new_session=True)
        self.processes.append(process)
        return process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for sent in (signal.SIGTERM, signal.SIGKILL):
            for process in self.processes:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, sent)
            until = time.monotonic() + 3
            while time.monotonic() < until and any(p.poll() is None for p in self.processes):
                time.sleep(0.05)


def load(binaries, peer, **cell):
    """One measurement; a dict as `peers load` prints it."""
    argv = [f"{binaries}/peers", "load", "--port", str(peer.port), "--pid", str(peer.pid)]
    for name, value in cell.items():
        argv += [f"--{name.replace('_', '-')}"] if value is True else [] if value is False else [f"--{name.replace('_', '-')}", str(value)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise base.Failure(f"peers load: {done.stderr.strip()}")
    return json.loads(done.stdout)


def model_of(name, api):
    """forebay knows an engine by the model; the others pass any name on."""
    return api if name.startswith("forebay") else "mock"


def wait_until_up(binaries, peer, name, log):
    """Waits for the first answer; False if none comes."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        seen = load(binaries, peer, api="chat", connections=1, seconds=1, warm_s=0, rate=1, model=model_of(name, "chat"))
        if seen["statuses"].get("200"):
            return True
        time.sleep(0.3)
    print(f"  {name} does not answer and is left out; its log is {log}")
    return False


def cells(sizes):
    """What is measured: (api, bytes, stream)."""
    for api in ("chat", "messages"):
        for size in sizes:
            yield api, size, False
        yield api, sizes[0], True


def measure(options, binaries, peers, out):
    """All cells; rows by cell and peer."""
    rows = {}
    for turn in range(options.rounds):
        for api, size, stream in cells(options.sizes):
            for rate in (0, options.rate):
                for name, peer in peers.items():
                    if api in FORBID.get(name, []):
                        continue
                    seen = load(binaries, peer, api=api, bytes=size, stream=stream, rate=rate, seconds=options.seconds, model=model_of(name, api))
                    rows.setdefault((api, size, stream, rate), {}).setdefault(name, []).append(seen)
                    out.write(json.dumps({"peer": name, "round": turn, **seen}) + "\n")
                    out.flush()
            print(f"  round {turn + 1} of {options.rounds}: {api}, {size} B, {'streamed' if stream else 'whole'}", flush=True)
    return rows


def table(rows):
    """CPU and latency beside nginx, a line for each cell and peer."""
    head = ("api", "bytes", "reply", "peer", "CPU us", "/ nginx", "added p50 us", "memory MiB", "not 200")
    lines = [head]
    for (api, size, stream, rate), peers in rows.items():
        if rate:
            continue
        paced = next(p for (a, s, t, r), p in rows.items() if (a, s, t) == (api, size, stream) and r)

        def median(name, key, of):
            return statistics.median(seen[key] for seen in of[name])

        first = "nginx" if "nginx" in peers else next(iter(peers))
        for name in peers:
            cpu = median(name, "cpu_us", peers)
            added = median(name, "p50_us", paced) - median("direct", "p50_us", paced)
            bad = sum(n for seen in peers[name] + paced[name] for status, n in seen["statuses"].items() if status != "200")
            bad += sum(seen["failures"] for seen in peers[name] + paced[name])
            ratio = cpu / max(median(first, "cpu_us", peers), 0.1)
            memory = median(name, "resident_mib", peers)
            lines.append((api, size, "streamed" if stream else "whole", name, f"{cpu:.0f}", f"{ratio:.1f}", f"{added:.0f}", f"{memory:.0f}", bad))
    widths = [max(len(str(line[c])) for line in lines) for c in range(len(head))]
    for line in lines:
        print("  ".join(str(cell).rjust(width) for cell, width in zip(line, widths)))


def overload(options, binaries, running, place):
    """Five times as many clients as the daemon admits, on an engine that takes its time: what a refusal costs."""
    engine, port = free_port(), free_port()
    running.start(f"{binaries}/peers mock --port {engine} --first-us 20000 --token-us 1000", Path(place) / "slow.log")
    pid = running.start(f"{binaries}/forebayd {daemon_config(place, port, engine, 8, 'strict')}", Path(place) / "overload.log")
    peer = Peer(port, pid)
    if not wait_until_up(binaries, peer, "forebay", Path(place) / "overload.log"):
        return
    cell = {"api": "messages", "bytes": 10_000, "model": "messages", "seconds": options.seconds}
    calm = load(binaries, peer, connections=8, **cell)
    loaded = load(binaries, peer, connections=40, **cell)
    admitted, refused = (loaded["statuses"].get(status, 0) for status in ("200", "429"))
    # the CPU time of both kinds together, less that of the admitted ones at the cost that they have alone
    refusal = (loaded["cpu_us"] * (admitted + refused) - calm["cpu_us"] * admitted) / max(refused, 1)
    print(f"\noverload     8 run at once, 40 ask: {admitted} admitted, {refused} refused, all others {sum(loaded['statuses'].values()) - admitted - refused}")
    print(f"CPU          {calm['cpu_us']:.0f} us for an admitted request alone, {refusal:.0f} us for a refusal ({refusal / max(calm['cpu_us'], 0.1):.2f})")
    slower = loaded["p50_us"] / max(calm["p50_us"], 1)
    print(f"latency      of admitted ones, median: {calm['p50_us']:.0f} us alone, {loaded['p50_us']:.0f} us under overload ({slower:.2f})")


def main(args):
    """Builds, starts, measures, prints."""
    parser = argparse.ArgumentParser(prog="./x bench peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="nginx,haproxy,envoy,sglang,forebay", help="which, separated by commas")
    sizes = {"type": lambda text: [int(n) for n in text.split(",")], "help": "bytes of prompts; the first also streamed"}
    parser.add_argument("--sizes", default="300,10000,100000", **sizes)
    parser.add_argument("--rounds", type=int, default=3, help="turns through all cells (default 3)")
    parser.add_argument("--seconds", type=int, default=3, help="time of a measurement (default 3)")
    parser.add_argument("--rate", type=int, default=50, help="requests a second of the paced measurements, for latency (default 50)")
    parser.add_argument("--out", default=str(base.BUILD / "peers.jsonl"), help="every measurement as a line (default build/peers.jsonl)")
    options = parser.parse_args(args)
    machine.ensure()
    names = options.peers.split(",")
    missing = [name for name in ("nginx", "haproxy") if name in names and not shutil.which(name)]
    if missing:
        machine.install_packages(missing)
    venv = clients.environment("peers", [HOME / "requirements.txt"])
    step.must("daemon, engine and load", ["cargo", "build", "--release", "-p", "forebay-daemon", "-p", "forebay-peers"])
    binaries = Path(os.environ.get("CARGO_TARGET_DIR") or base.ROOT / "target") / "release"
    base.BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, Running() as running:
        engine = free_port()
        pid = running.start(f"{binaries}/peers mock --port {engine}", Path(place) / "engine.log")
        peers = {"direct": Peer(engine, pid)}
        for name in names:
            port = free_port()
            known = commands(place, port, engine, venv, binaries)
            if name not in known:
                raise base.Failure(f"no peer {name}; there are {', '.join(known)}")
            log = base.BUILD / f"peer-{name}.log"
            peer = Peer(port, running.start(known[name](), log))
            if wait_until_up(binaries, peer, name, log):
                peers[name] = peer
        with open(options.out, "w", encoding="utf-8") as out:
            rows = measure(options, binaries, peers, out)
        print()
        table(rows)
        if "forebay" in peers:
            overload(options, binaries, running, place)
    return 0

