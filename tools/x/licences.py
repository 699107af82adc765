"""Licences and sources of all Rust dependencies against deny.toml.

`cargo deny` does the same and more and is used when it is installed. Building it takes many minutes on two cores, so that
the check that always runs is this one, over `cargo metadata` and the same list.
"""

import json
import re
import shutil
import subprocess

import base
import step

POLICY = base.ROOT / "deny.toml"


def allowed(text):
    """The list `allow = [...]` of [licenses]; by hand, because Python 3.10 has no TOML reader."""
    section = re.search(r"^\[licenses\]$(.*?)(?=^\[|\Z)", text, flags=re.M | re.S)
    found = section and re.search(r"^allow\s*=\s*\[(.*?)\]", section.group(1), flags=re.M | re.S)
    if not found:
        raise base.Failure("deny.toml: no `allow` list in [licenses]")
    return set(re.findall(r'"([^"]+)"', re.sub(r"#.*", "", found.group(1))))


def satisfied(expression, allow):
    """Whether an SPDX expression can be met with the allowed licences. `A/B` is the old way to write `A OR B`."""
    tokens = re.findall(r"\(|\)|[^\s()/]+|/", expression)
    tokens = ["OR" if token == "/" else token for token in tokens]
    try:
        return any_of(tokens, allow) and not tokens
    except IndexError:
        return False  # not an expression


def any_of(tokens, allow):
    """A OR B; consumes its tokens."""
    result = all_of(tokens, allow)
    while tokens and tokens[0] == "OR":
        tokens.pop(0)
        result = all_of(tokens, allow) or result
    return result


def all_of(tokens, allow):
    """A AND B, which binds tighter; consumes its tokens."""
    result = one(tokens, allow)
    while tokens and tokens[0] == "AND":
        tokens.pop(0)
        result = one(tokens, allow) and result
    return result


def one(tokens, allow):
    """A name, a name WITH an exception, or a group; consumes its tokens."""
    token = tokens.pop(0)
    if token == "(":
        result = any_of(tokens, allow)
        return tokens.pop(0) == ")" and result
    if tokens and tokens[0] == "WITH":
        token = f"{token} WITH {tokens[1]}"
        del tokens[:2]
    return token in allow


def problems(packages, allow):
    """One line for each package that the policy does not take."""
    for package in packages:
        name = f"{package['name']} {package['version']}"
        licence = package.get("license")
        source = package.get("source")
        if source and not source.startswith("registry+"):
            yield f"{name}: comes from {source}; only the registry is allowed. Find a published release"
        if not licence:
            yield f"{name}: names no licence. Replace it, or have its author name one"
        elif not satisfied(licence, allow):
            yield f"{name}: licence `{licence}` is not allowed. Replace it, or add the licence to deny.toml with a reason"


def host():
    """The target that we build for; crates for other systems are never fetched."""
    version = subprocess.run(["rustc", "-vV"], cwd=base.ROOT, capture_output=True, text=True, check=True).stdout
    return re.search(r"^host: (.+)$", version, flags=re.M).group(1)


def packages():
    """What is in the resolved graph for this host; fails when Cargo.lock is not up to date."""
    argv = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host()]
    done = subprocess.run(argv, cwd=base.ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise base.Failure("cargo metadata failed: " + done.stderr.strip())
    data = json.loads(done.stdout)
    used = {node["id"] for node in data["resolve"]["nodes"]}
    return [package for package in data["packages"] if package["id"] in used]


def main():
    """The exit code says whether all is allowed."""
    graph = packages()
    wrong = list(problems(graph, allowed(POLICY.read_text(encoding="utf-8"))))
    for line in wrong:
        print(line)
    print(f"{len(graph)} packages, {len(wrong)} not allowed by deny.toml")
    code = 1 if wrong else 0
    if shutil.which("cargo-deny"):
        code = step.run("cargo deny", ["cargo", "deny", "check", "licenses", "bans", "sources"]).code or code
    return code
