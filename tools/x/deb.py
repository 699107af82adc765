"""`./x deb`: the Debian package of forebayd, by a pinned cargo-deb, and a look at what is in it."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import base
import machine
import step

CARGO_DEB = "3.8.0"
TOOL = base.CACHE / "tools" / f"cargo-deb-{CARGO_DEB}"
FOLDER = base.BUILD / "deb"
CONFIG = "etc/forebay/forebayd.toml"
# What has to be in it, with its mode.
CONTENT = {
    "usr/bin/forebayd": "rwxr-xr-x",
    CONFIG: "rw-r--r--",
    "usr/lib/systemd/system/forebayd.service": "rw-r--r--",
    "usr/lib/systemd/system/forebayd.socket": "rw-r--r--",
    "usr/share/man/man1/forebayd.1.gz": "rw-r--r--",
    "usr/share/man/man1/forebayd-key-new.1.gz": "rw-r--r--",
    "usr/share/bash-completion/completions/forebayd": "rw-r--r--",
    "usr/share/zsh/vendor-completions/_forebayd": "rw-r--r--",
    "usr/share/fish/vendor_completions.d/forebayd.fish": "rw-r--r--",
    "usr/share/forebay/forebayd.schema.json": "rw-r--r--",
    "usr/share/forebay/dashboard.json": "rw-r--r--",
    "usr/share/doc/forebayd/README.md": "rw-r--r--",
    "usr/share/doc/forebayd/docs/engines.md": "rw-r--r--",
    "usr/share/doc/forebayd/docs/metrics.md": "rw-r--r--",
    "usr/share/doc/forebayd/copyright": "rw-r--r--",
    "usr/share/doc/forebayd/LICENSE-APACHE": "rw-r--r--",
}


def cargo_deb():
    """The tool, built once into the cache."""
    binary = TOOL / "bin" / "cargo-deb"
    with machine.locked_cache():
        if not binary.exists():
            install = ["cargo", "install", "cargo-deb", "--version", CARGO_DEB, "--locked", "--root", TOOL]
            step.must(f"cargo-deb {CARGO_DEB} (once)", install)
    return binary


def output(*argv):
    """What a command prints; a failure shows what it said."""
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise base.Failure(f"{Path(str(argv[0])).name} failed with exit code {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def generate(daemon):
    """Manual pages and completions, as the program prints them."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "man").mkdir(parents=True)
    output(daemon, "man", FOLDER / "man")
    for shell in ("bash", "zsh", "fish"):
        (FOLDER / f"forebayd.{shell}").write_text(output(daemon, "completions", shell), encoding="utf-8")


def listed(text):
    """Mode and owner by path, of the files in what `dpkg-deb --contents` prints."""
    rows = [line.split(None, 5) for line in text.splitlines()]
    return {row[5].removeprefix("./"): (row[0][1:], row[1]) for row in rows if row[0].startswith("-")}


def faults(text):
    """What is wrong with a list of contents."""
    files = listed(text)
    for path, mode in CONTENT.items():
        if path not in files:
            yield f"{path} is missing"
        elif files[path][0] != mode:
            yield f"{path} has mode {files[path][0]}, not {mode}"
    for path, (_, owner) in files.items():
        if owner not in ("root/root", "0/0"):
            yield f"{path} belongs to {owner}, not to root"


def check(package):
    """Looks into the package, and runs what is in it."""
    found = list(faults(output("dpkg-deb", "--contents", package)))
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        output("dpkg-deb", "--raw-extract", package, place)
        if (place / "DEBIAN" / "conffiles").read_text(encoding="utf-8").split() != [f"/{CONFIG}"]:
            found.append(f"/{CONFIG} is not the one conffile")
        for script in ("postinst", "prerm", "postrm"):
            if not (place / "DEBIAN" / script).exists():
                found.append(f"no {script}: systemd is not told of the unit")
        if found:
            raise base.Failure(f"{base.shown(package)}: " + "; ".join(found))
        # the program of the package takes the configuration of the package
        output(place / "usr/bin/forebayd", "--check", place / CONFIG)
        if shutil.which("systemd-analyze"):
            unit = place / "usr/lib/systemd/system/forebayd.service"
            output("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=25", unit)


def main():
    if not shutil.which("dpkg-deb"):
        raise base.Failure("no dpkg-deb on the path; a Debian package is made and checked on Debian or its kin")
    machine.check_rust()
    tool = cargo_deb()
    step.must("forebayd", ["cargo", "build", "--release", "-p", "forebay-daemon"])
    target = Path(os.environ.get("CARGO_TARGET_DIR") or base.ROOT / "target")
    generate(target / "release" / "forebayd")
    package = FOLDER / "forebayd.deb"
    step.must("package", [tool, "-p", "forebay-daemon", "--no-build", "--output", package])
    check(package)
    print(output("dpkg-deb", "--field", package, "Package", "Version", "Architecture", "Installed-Size", "Depends"), end="")
    print(f"the package is {base.shown(package)}; install it with: sudo apt install {base.shown(package)}")
    return 0
