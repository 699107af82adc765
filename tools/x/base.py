"""What every part of ./x shares: where things are, the one error type, and the environment of child processes."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LOGS = BUILD / "log"
RTL = BUILD / "rtl"
CACHE = Path(os.environ.get("FOREBAY_CACHE") or Path.home() / ".cache" / "forebay").expanduser().resolve()

# Tests and checks that cannot run here print this and pass; `./x test` counts the lines.
SKIP = "forebay-skip:"


class Failure(Exception):
    """A stop with one clear line for the user; never shown with a traceback."""

    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code


def shown(path):
    """A path as a person in the checkout would type it."""
    path = Path(path)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def replace_file(path, text):
    """Writes a file whole or not at all, because checkouts share the cache."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
