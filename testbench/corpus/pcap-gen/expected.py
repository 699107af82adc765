"""What a reader should find in a body, by Python's own json module."""

import hashlib
import json
import re
from json.decoder import scanstring

WS = " \t\r\n"


def spans(text):
    """Top-level members of a JSON object: [(key, value, start, end)], by the stdlib scanner."""
    dec, i, out = json.JSONDecoder(), 0, []

    def skip(i):
        while i < len(text) and text[i] in WS:
            i += 1
        return i

    i = skip(0)
    if i >= len(text) or text[i] != "{":
        return None
    i = skip(i + 1)
    while text[i] != "}":
        key, i = scanstring(text, i + 1, True)
        i = skip(i)
        i = skip(i + 1)  # the colon: json.loads has accepted the text already
        s = i
        val, i = dec.raw_decode(text, i)
        out.append((key, val, s, i))
        i = skip(i)
        if text[i] == ",":
            i = skip(i + 1)
    return out


def refuse(c):
    raise ValueError("not JSON: " + c)


def lone_surrogate(doc):
    """True where an escape such as \\ud800 stands without its partner anywhere in the document (json.loads lets it through)."""
    todo = [doc]  # no recursion: bodies are nested deeper than Python likes
    while todo:
        v = todo.pop()
        if isinstance(v, str):
            if re.search("[\ud800-\udfff]", v):
                return True
        elif isinstance(v, dict):
            todo += [*v.keys(), *v.values()]
        elif isinstance(v, list):
            todo += v
    return False


def expect(body):
    e = {
        "json_status": "ok",
        "max_tokens": None,
        "max_tokens_kind": "missing",
        "max_tokens_raw": None,
        "model": None,
        "stream": None,
        "messages_count": None,
        "messages_span": None,
        "messages_sha256": None,
        "duplicate_keys": False,
    }
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        e["json_status"] = "utf8"
        return e
    try:
        doc = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        e["json_status"] = "invalid"
        return e
    if lone_surrogate(doc):
        e["json_status"] = "invalid"
        return e
    if not isinstance(doc, dict):
        e["json_status"] = "not_object"
        return e
    sp = spans(text)
    e["duplicate_keys"] = len({k for k, *_ in sp}) != len(sp)
    for k, v, s, t in sp:
        b = (len(text[:s].encode()), len(text[:t].encode()))
        if k == "max_tokens":
            raw = text[s:t]
            e["max_tokens_raw"] = raw if len(raw) <= 64 else raw[:64] + "..."
            kind = {str: "string", bool: "bool", type(None): "null", dict: "object", list: "array", float: "float"}.get(
                type(v)
            )
            if kind is None:
                kind = "negative" if raw.startswith("-") else "int"
            e["max_tokens_kind"] = kind
            e["max_tokens"] = str(v) if kind == "int" else None  # decimal text: it may not fit in 64 bits
        elif k == "model":
            e["model"] = v if isinstance(v, str) else None
        elif k == "stream":
            e["stream"] = v if isinstance(v, bool) else None
        elif k == "messages":
            e["messages_count"] = len(v) if isinstance(v, list) else None
            e["messages_span"] = list(b)
            e["messages_sha256"] = hashlib.sha256(body[b[0] : b[1]]).hexdigest()
    return e
