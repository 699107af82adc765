"""Bodies that look like something else."""

import json

from traffic import Capture, Conn


class Bodies:
    """A list of bodies with a note each, and the parts that they are made of."""

    def __init__(self, g):
        self.g, self.r, self.list = g, g.r, []
        self.long = g.prose(300)

    def add(self, note, s):
        self.list.append((note, s if isinstance(s, bytes) else s.encode("utf-8", "surrogatepass")))

    def number(self):
        return self.r.choice(self.g.caps)

    def messages(self, t="hi"):
        return json.dumps([{"role": "user", "content": t}])

    def model(self):
        return json.dumps(self.r.choice(self.g.models))


def places(d):
    """The name of a field where it is none."""
    g, r, a, n, m, model, long, J = d.g, d.r, d.add, d.number, d.messages, d.model, d.long, json.dumps
    a(
        "key text inside the prompt",
        f'{{"model":{model()},"messages":{m(chr(34) + "max_tokens" + chr(34) + ":5, " + long)},"max_tokens":{n()}}}',
    )
    a(
        "whole fake request inside the prompt",
        f'{{"messages":{m(J({"max_tokens": n(), "messages": [], "model": "x"}))},"max_tokens":{n()},"model":{model()}}}',
    )
    a("prompt ends in backslash-quote", f'{{"messages":{m("end " + chr(92) + chr(34))},"max_tokens":{n()}}}')
    a("prompt ends in many backslashes", f'{{"messages":{m("x" + chr(92) * r.randint(1, 9))},"max_tokens":{n()}}}')
    a("only in metadata", f'{{"messages":{m()},"metadata":{{"max_tokens":{n()}}}}}')
    a(
        "in metadata and at the top",
        f'{{"metadata":{{"max_tokens":{n()},"messages":[]}},"messages":{m()},"max_tokens":{n()}}}',
    )
    a("in a tool schema", f'{{"tools":[{J(g.tool())}],"messages":{m()},"max_tokens":{n()}}}')
    a(
        "in a tool_use input in messages",
        '{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"max_tokens":%d,"messages":[1]}}]}],"max_tokens":%d}'
        % (n(), n()),
    )


def names(d):
    """Names that come twice, are escaped, or are nearly right."""
    g, r, a, n, m, long = d.g, d.r, d.add, d.number, d.messages, d.long
    a("duplicate key", f'{{"max_tokens":{n()},"messages":{m()},"max_tokens":{n()}}}')
    a("duplicate key, other type last", f'{{"max_tokens":{n()},"messages":{m()},"max_tokens":"{n()}"}}')
    a(
        "duplicate messages",
        f'{{"messages":{m("first")},"max_tokens":{n()},"messages":{m("second " + g.prose(20))}}}',
    )
    a("escaped key", f'{{"max\\u005ftokens":{n()},"messages":{m()}}}')
    a(
        "wholly escaped key",
        '{"' + "".join(f"\\u{ord(x):04{r.choice('xX')}}" for x in "max_tokens") + f'":{n()},"messages":{m()}}}',
    )
    a("escaped and plain duplicate", f'{{"max_tokens":{n()},"max\\u005Ftokens":{n()},"messages":{m()}}}')
    a("escaped messages key", f'{{"\\u006dessages":{m()},"max_tokens":{n()}}}')
    a(
        "near names",
        f'{{"max_token":{n()},"Max_Tokens":{n()},"max_tokens ":{n()},"xmax_tokens":{n()},"max_tokens_to_sample":{n()},"messages":{m()}}}',
    )
    a("value equals the key name", f'{{"model":"max_tokens","messages":{m("max_tokens")},"max_tokens":{n()}}}')
    a("key name as array item", f'{{"stop_sequences":["max_tokens",":{n()}"],"messages":{m()},"max_tokens":{n()}}}')
    a("whitespace everywhere", f' \r\n\t{{ \n"max_tokens"\t:\r\n  {n()}\n ,  "messages" : {m()}\t}} \r\n')
    a("number at the very end", f'{{"messages":{m()},"max_tokens":{n()}}}')
    a("number first", f'{{"max_tokens":{n()},"messages":{m(long)}}}')


def values(d):
    """Values of max_tokens that are not what they should be."""
    r, a, n, m = d.r, d.add, d.number, d.messages
    for num in (
        "0",
        "-0",
        "-1",
        "-4096",
        "1.0",
        "256.5",
        "1e3",
        "1E+3",
        "5e-1",
        "2048e0",
        "4294967295",
        "4294967296",
        "18446744073709551616",
        "9" * r.randint(30, 300),
        "0.1e1",
    ):
        a("number " + num[:24], f'{{"max_tokens":{num},"messages":{m()}}}')
    for num in ("01", "+5", "0x10", "1_000", ".5", "5.", "1e", "NaN", "Infinity", "-", "1 2", "--1", "\uff11\uff12"):
        a("not a JSON number: " + num, f'{{"max_tokens":{num},"messages":{m()}}}')
    for v in ('"256"', "null", "true", "[256]", '{"n":256}', '""'):
        a("max_tokens is " + v, f'{{"max_tokens":{v},"messages":{m()}}}')
    a("missing", f'{{"messages":{m()}}}')
    a("messages is a string", f'{{"messages":"max_tokens","max_tokens":{n()}}}')


def shapes(d):
    """Nesting, and documents that are no object or no JSON."""
    a, n, m = d.add, d.number, d.messages
    for d in (10, 64, 127, 128, 129, 500, 900):
        a(f"nesting {d}", f'{{"metadata":{"[" * d}{"]" * d},"messages":{m()},"max_tokens":{n()}}}')
    a(
        "nested objects",
        '{"metadata":' + '{"max_tokens":' * 60 + "1" + "}" * 60 + f',"messages":{m()},"max_tokens":{n()}}}',
    )
    a("top level array", f'[{{"max_tokens":{n()}}}]')
    a("top level string", '"max_tokens"')
    a("empty object", "{}")
    a("empty body", "")
    a("only whitespace", " \n")
    for note, s in (
        ("trailing comma", '{"max_tokens":5,}'),
        ("two values", '{"max_tokens":5}{"max_tokens":6}'),
        ("comment", '{"max_tokens":5/*6*/}'),
        ("single quotes", "{'max_tokens':5}"),
        ("unquoted key", "{max_tokens:5}"),
        ("unclosed", f'{{"max_tokens":{n()},"messages":{m()}'),
        ("missing colon", '{"max_tokens" 5}'),
        ("raw newline in a string", '{"messages":"a\nb","max_tokens":5}'),
        ("bad escape", '{"messages":"\\x41","max_tokens":5}'),
        ("short unicode escape", '{"messages":"\\u12","max_tokens":5}'),
        ("trailing garbage", '{"max_tokens":5} x'),
        ("NUL byte after", '{"max_tokens":5}\0'),
    ):
        a("invalid: " + note, s)


def text(d):
    """Surrogates and UTF-8."""
    a, n, m = d.add, d.number, d.messages
    a("lone surrogate escape", f'{{"messages":{{"a":"\\ud800"}},"max_tokens":{n()}}}')
    a("surrogate pair escape", f'{{"messages":[{{"role":"user","content":"\\ud83d\\ude80"}}],"max_tokens":{n()}}}')
    for note, x in (
        ("lone continuation", b"\x80"),
        ("overlong slash", b"\xc0\xaf"),
        ("overlong 3", b"\xe0\x80\xaf"),
        ("surrogate", b"\xed\xa0\x80"),
        ("above U+10FFFF", b"\xf4\x90\x80\x80"),
        ("cut sequence", b"\xe2\x82"),
        ("0xff", b"\xff"),
        ("5-byte form", b"\xf8\x88\x80\x80\x80"),
    ):
        a("invalid UTF-8: " + note, b'{"messages":"' + x + b'","max_tokens":%d}' % n())
    a("UTF-8 in key", f'{{"max_tok\u0435ns":{n()},"messages":{m()},"max_tokens":{n()}}}')
    a("byte order mark", b"\xef\xbb\xbf" + b'{"max_tokens":%d}' % n())
    a("DEL and U+2028 in a string", f'{{"messages":{m()},"system":"\x7f\u2028","max_tokens":{n()}}}')


def decoys(g):
    d = Bodies(g)
    for _ in range(2):
        places(d)
        names(d)
    for part in (values, shapes, text):
        part(d)
    cap = Capture(g, "07_decoys")
    for note, b in d.list:
        c = Conn(g)
        data = g.request(b)
        c.send(data, g.r.choice([None, lambda: g.r.randint(1, 40)]))
        cap.want(c, b, note=note)
        c.fin()
        cap.add(c)
    return cap
