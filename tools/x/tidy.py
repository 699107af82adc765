"""Our style rules. Each finding reads `file:line: what: how to fix it`."""

import ast
import os
import re
from pathlib import Path

import source

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 60
# rust-hdl makes one always-block of one function and knows no calls in it, so that it cannot be split at will.
HDL_FUNCTION_LINES_MAX = 150
COLUMNS_MAX = 160

CODE = {".rs", ".py", ".sh", ".v", ".sv"}
TEXT = CODE | {".md", ".toml", ".c", ".h", ".cpp"}
NOT_OURS = {".git", "target", "build", "__pycache__"}
# Folders of hdl/src that are no blocks.
NOT_BLOCKS = {"bin"}

# Words that say nothing. "Magic number" is the name of a thing, and stays.
BANNED = re.compile(r"\b(blazing|simply|magic(?! numbers?\b)|utili[sz]e|leverage|world-class)", re.I)
# Written in pieces, so that this file passes its own check.
MARKERS = re.compile(r"\b(?:" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b")
STUBS = re.compile(r"\b(?:to" + r"do|unimple" + r"mented|db" + r"g)!|#\[ign" + r"ore\b")
MACHINE_PATH = re.compile("(?<![\\w./-])/" + r"(?:wo" + r"rk|ro" + r"ot|ho" + r"me/\w+)(?:/|\b)")
TEMPORARY = re.compile("(?<![\\w./-])/" + r"tm" + r"p/")
HOSTS = [("crates", "io"), ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", r"(?:org|com)"), ("debian", "org"), ("ubuntu", "com")]
REGISTRY = re.compile("|".join(r"\b" + r"\.".join(host) for host in HOSTS))

HEADINGS = ["Function", "Latency", "Rate", "Stalls", "Ordering", "Reset", "Limits", ("Not done", "What it does not do")]
LONG = re.compile(r"// tidy: long because \S")
LINK = re.compile(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")


class File:
    """One text file of the checkout."""

    def __init__(self, root, path):
        self.root = root
        self.path = path
        self.name = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8", errors="replace")
        self.lines = self.text.split("\n")
        self.generated = "@generated" in "\n".join(self.lines[:5])
        self.kind = ".py" if path.name == "x" else ".sh" if self.text.startswith("#!/usr/bin/env bash") else path.suffix
        self.code = self.kind in CODE
        self.test = "tests" in path.parts or path.name.startswith("test")

    def at(self, line, what, fix):
        """One finding."""
        return f"{self.name}:{line}: {what}: {fix}"


def walk(root):
    """Every file of the checkout but what is built or kept by tools."""
    for folder, names, here in os.walk(root):
        names[:] = sorted(set(names) - NOT_OURS)
        yield from (Path(folder) / name for name in sorted(here))


def files(root):
    """Every text file that is ours."""
    for path in walk(root):
        if path.suffix in TEXT or path.relative_to(root).as_posix() in ("x", ".ci/run"):
            yield File(root, path)


def sizes(file):
    """Length of files, lines and functions."""
    if not file.code or file.generated:
        return
    count = len(file.lines) - (file.lines[-1] == "")
    if count > FILE_LINES_MAX:
        yield file.at(count, f"{count} lines, the limit is {FILE_LINES_MAX}", "split the file where it reads well")
    for number, line in enumerate(file.lines, 1):
        if len(line) > COLUMNS_MAX:
            yield file.at(number, f"{len(line)} columns, the limit is {COLUMNS_MAX}", "break the line")
    for name, first, last in functions(file):
        above = list(lines_above(file.lines, first))
        limit = HDL_FUNCTION_LINES_MAX if "#[hdl_gen]" in above else FUNCTION_LINES_MAX
        if last - first + 1 > limit and not any(map(LONG.match, above)):
            what = f"function {name} has {last - first + 1} lines, the limit is {limit}"
            yield file.at(first, what, "split it, or write above it `// tidy: long because <reason>`")


def functions(file):
    """(name, first line, last line) of the functions of a Rust or Python file."""
    if file.kind == ".rs":
        yield from source.rust_functions(file.text)
    elif file.kind == ".py":
        for node in ast.walk(ast.parse(file.text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.name, node.lineno, node.end_lineno


def lines_above(lines, first):
    """The comments and attributes right above a function, stripped."""
    for line in reversed(lines[: first - 1]):
        line = line.strip()
        if not line.startswith(("//", "#[")):
            return
        yield line


def characters(file):
    """Spaces at line ends, tabs in Rust."""
    for number, line in enumerate(file.lines, 1):
        if line != line.rstrip():
            yield file.at(number, "spaces at the end of the line", "remove them")
        if file.kind == ".rs" and "\t" in line:
            yield file.at(number, "a tab", "indent with spaces (cargo fmt), write \\t in a string")


def unfinished(file):
    """Marks of work that is not done, and things left from debugging."""
    stubs = source.code_only(file.text).split("\n") if file.kind == ".rs" else []
    for number, line in enumerate(file.lines, 1):
        if found := MARKERS.search(line):
            yield file.at(number, f"`{found.group()}`", "do it now, or open an issue and remove the mark")
        if number <= len(stubs) and (found := STUBS.search(stubs[number - 1])):
            yield file.at(number, f"`{found.group()}`", "finish it or remove it; a test that must wait skips itself aloud")


def places(file):
    """Paths of one machine, hosts of registries."""
    for number, line in enumerate(file.lines, 1):
        if found := MACHINE_PATH.search(line):
            yield file.at(number, f"path of one machine `{found.group()}`", "take it from the checkout or the environment")
        if file.code and not file.test and (found := TEMPORARY.search(line)) and "#[cfg(test)]" not in file.text:
            yield file.at(number, f"fixed temporary path `{found.group()}`", "ask the system for a temporary folder")
        if found := REGISTRY.search(line):
            yield file.at(number, f"host of a registry `{found.group()}`", "name the package, not where it is kept")


def prose(file):
    """(line number, words) of what is written for people: pages and comments, without what stands in backticks."""
    fenced = False
    for number, line in enumerate(file.lines, 1):
        if file.kind == ".md":
            fenced ^= line.lstrip().startswith("```")
            words = "" if fenced or line.startswith("    ") else line
        else:
            comment = re.search(r"(?:^|\s)//[/!]?\s(.*)" if file.kind not in (".py", ".sh", ".toml") else r"(?:^|\s)#\s(.*)", line)
            words = comment.group(1) if comment else ""
        yield number, re.sub(r"`[^`]*`", "", words)


def words(file):
    """Banned words in prose."""
    if file.path == Path(__file__).resolve():
        return
    for number, text in prose(file):
        if found := BANNED.search(text):
            yield file.at(number, f"the word `{found.group()}`", "say what it does, with a figure if there is one")


def links(file):
    """Links of pages to files of the repository."""
    if file.kind != ".md":
        return
    fenced = False
    for number, line in enumerate(file.lines, 1):
        fenced ^= line.lstrip().startswith("```")
        for target in LINK.findall("" if fenced else re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z][a-z0-9+.-]*:|#", target):
                continue
            goal = (file.path.parent / target.split("#")[0]).resolve()
            if not goal.is_relative_to(file.root) or not goal.exists():
                yield file.at(number, f"link to {target}, which is not there", "correct or remove the link")


def dependencies(file):
    """Each dependency of the workspace says why it is there."""
    if file.name != "Cargo.toml":
        return
    inside = False
    for number, line in enumerate(file.lines, 1):
        if line.startswith("["):
            inside = line.strip() == "[workspace.dependencies]"
        elif inside and re.match(r"[\w-]+\s*=", line) and not re.search(r"\bpath\s*=", line):
            if not file.lines[number - 2].startswith("#"):
                yield file.at(number, f"dependency {line.split('=')[0].strip()} without a reason", "write one line above it: why it is there")


def pages(root):
    """Every crate and every block has a page; a block's page has all of its headings."""
    for manifest in walk(root):
        inside = manifest.relative_to(root)
        if manifest.name == "Cargo.toml" and manifest.parent != root and not (manifest.parent / "README.md").exists():
            yield f"{inside.as_posix()}:1: crate without a page: write {inside.parent.as_posix()}/README.md: what it is, what it is not"
    blocks = root / "hdl" / "src"
    for folder in sorted(blocks.iterdir()) if blocks.is_dir() else []:
        if folder.is_dir() and folder.name not in NOT_BLOCKS and any(folder.glob("*.rs")):
            yield from block_page(root, folder)


def block_page(root, folder):
    """What is missing from one block's page."""
    page = folder / "README.md"
    name = page.relative_to(root).as_posix()
    if not page.exists():
        yield f"{name}:1: block without a page: write it, with the headings {', '.join(map(heading_name, HEADINGS))}"
        return
    text = page.read_text(encoding="utf-8")
    found = {line.lstrip("# ").strip().lower() for line in text.splitlines() if line.startswith("#")}
    for heading in HEADINGS:
        names = (heading,) if isinstance(heading, str) else heading
        if not any(name.lower() in found for name in names):
            yield f"{name}:1: no heading `{heading_name(heading)}`: add it; if there is nothing to say, say so in a line"


def heading_name(heading):
    """A heading as we write it."""
    return heading if isinstance(heading, str) else heading[0]


RULES = [sizes, characters, unfinished, places, words, links, dependencies]


def findings(root):
    """All that is wrong in a checkout."""
    for file in files(root):
        for rule in RULES:
            yield from rule(file)
    yield from pages(root)


def main(root):
    """Prints the findings; the exit code says whether there are any."""
    found = list(findings(root))
    for line in found:
        print(line)
    print(f"tidy: {len(found)} findings" if found else "tidy: clean")
    return 1 if found else 0
