"""Enough of Rust's surface to measure it: strings and comments blanked out, functions with their first and last line."""

import re

# Longest alternatives first. A lifetime ('a) is no character: that needs a closing quote.
TOKEN = re.compile(
    r"""(?P<line>//[^\n]*)
      | (?P<block>/\*)
      | (?P<raw>\b(?:br|cr|r)(?P<hashes>\#*)")
      | (?P<string>"(?:\\.|[^"\\])*")
      | (?P<char>'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^'\\\n])')
    """,
    re.X | re.S,
)
FUNCTION = re.compile(r"\bfn\s+([A-Za-z_]\w*)")


def blank(text):
    """The text as spaces, with its line ends kept."""
    return re.sub(r"[^\n]", " ", text)


def block_end(text, start):
    """Just past a block comment; they nest."""
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def code_only(text, keep_comments=False):
    """The text with strings and characters blanked, and comments too unless they are kept; same lines and columns."""
    out, at = [], 0
    while found := TOKEN.search(text, at):
        end = found.end()
        if found["block"]:
            end = block_end(text, found.start())
        elif found["raw"] is not None:
            close = text.find('"' + found["hashes"], end)
            end = len(text) if close < 0 else close + 1 + len(found["hashes"])
        comment = found["line"] or found["block"]
        piece = text[found.start() : end]
        out += [text[at : found.start()], piece if comment and keep_comments else blank(piece)]
        at = end
    return "".join(out) + text[at:]


def body_end(code, start):
    """Offset of the brace that closes the body opened after `start`, or None for a declaration without a body."""
    depth = 0
    for mark in re.compile(r"[{}()\[\];]").finditer(code, start):
        char = mark.group()
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == ";" and depth == 0:
            return None
        elif char == "{" and depth == 0:
            return closing_brace(code, mark.start())
    return None


def closing_brace(code, start):
    """Offset of the brace that matches the one at `start`."""
    depth = 0
    for mark in re.compile(r"[{}]").finditer(code, start):
        depth += 1 if mark.group() == "{" else -1
        if depth == 0:
            return mark.start()
    return None


def rust_functions(text):
    """(name, first line, last line) of every function with a body; lines count from 1."""
    code = code_only(text)
    for found in FUNCTION.finditer(code):
        end = body_end(code, found.end())
        if end is not None:
            yield found.group(1), code.count("\n", 0, found.start()) + 1, code.count("\n", 0, end) + 1
