"""Bodies, HTTP requests, and the TCP connections that carry them."""

import hashlib
import json
import random
import string

from scapy.all import Dot1Q, Ether, IP, IPv6, Raw, TCP

from expected import WS, expect

CONS, VOW = "bcdfghklmnprstvz", "aeiou"


class Gen:
    def __init__(self, seed):
        self.r = random.Random(seed)
        r = self.r
        # an own vocabulary per seed: captures of two seeds share no prompt
        self.words = ["".join(r.choice(CONS) + r.choice(VOW) for _ in range(r.randint(1, 4))) for _ in range(400)]
        self.models = ["claude-" + r.choice(self.words) + "-" + str(r.randint(3, 9)) for _ in range(4)]
        self.host = r.choice(self.words) + ".example"
        self.t = 1_700_000_000 + r.randint(0, 10**7)
        self.clock = float(self.t)
        self.port = r.randint(20000, 40000)
        self.caps = [
            1,
            5,
            9,
            10,
            16,
            31,
            32,
            63,
            64,
            100,
            127,
            128,
            200,
            256,
            300,
            511,
            512,
            1000,
            1024,
            2047,
            2048,
            4096,
            8192,
            64000,
        ]

    def prose(self, n):
        r, out, size = self.r, [], 0
        while size < n:
            w = r.choice(self.words)
            if r.random() < 0.03:
                w = r.choice(
                    [
                        "caf\u00e9",
                        "\u65e5\u672c\u8a9e",
                        "\U0001f680",
                        "na\u00efve",
                        "\u0434\u0430",
                        "\u200bzw",
                        "a\u0301",
                        "\u05e9\u05dc",
                        "\ufffd",
                    ]
                )
            if r.random() < 0.02:
                w = r.choice(
                    [
                        '"quoted"',
                        "back\\slash",
                        "tab\there",
                        "new\nline",
                        '{"k": [1, 2]}',
                        "\\u0041",
                        "/path/x",
                        "]}",
                        "\x01",
                        "\x7f",
                    ]
                )
            if r.random() < 0.08:
                w += r.choice([".", ",", ";", "?", ":\n"])
            out.append(w)
            size += len(w.encode()) + 1
        return " ".join(out)

    def body(self, size, turns=1, extra=True):
        r = self.r
        msgs = []
        for i in range(2 * turns - 1):
            t = self.prose(max(8, size // (2 * turns - 1)))
            c = t if r.random() < 0.6 else [{"type": "text", "text": t}]
            if isinstance(c, list) and r.random() < 0.3:
                c[0]["cache_control"] = {"type": "ephemeral"}
            msgs.append({"role": "user" if i % 2 == 0 else "assistant", "content": c})
        d = [("model", r.choice(self.models)), ("max_tokens", r.choice(self.caps)), ("messages", msgs)]
        if extra:
            for k, v in (
                ("stream", r.random() < 0.5),
                ("temperature", round(r.random(), 2)),
                ("system", self.prose(60)),
                ("stop_sequences", ["\n\nHuman:", r.choice(self.words)]),
                ("metadata", {"user_id": hashlib.sha1(str(r.random()).encode()).hexdigest()}),
                ("tools", [self.tool()]),
                ("tool_choice", {"type": "auto"}),
                ("thinking", {"type": "enabled", "budget_tokens": 1024}),
            ):
                if r.random() < 0.35:
                    d.append((k, v))
        r.shuffle(d)
        return self.dump(dict(d))

    def tool(self):
        r = self.r
        return {
            "name": r.choice(self.words),
            "description": self.prose(40),
            "input_schema": {
                "type": "object",
                "properties": {
                    "max_tokens": {"type": "integer", "maximum": r.randint(1, 9000)},
                    r.choice(self.words): {"type": "string"},
                },
                "required": ["max_tokens"],
            },
        }

    def dump(self, d):
        r = self.r
        a = r.random() < 0.5
        style = r.choice(["compact", "default", "indent", "tabs", "wild"])
        if style == "compact":
            s = json.dumps(d, ensure_ascii=a, separators=(",", ":"))
        elif style == "indent":
            s = json.dumps(d, ensure_ascii=a, indent=r.choice([1, 2, 4]))
        elif style == "tabs":
            s = json.dumps(d, ensure_ascii=a, indent="\t").replace("\n", "\r\n")
        elif style == "wild":
            w = lambda: "".join(r.choice(WS) for _ in range(r.randint(0, 5)))
            s = (
                "{"
                + ",".join(
                    w() + json.dumps(k) + w() + ":" + w() + json.dumps(v, ensure_ascii=a) + w() for k, v in d.items()
                )
                + "}"
                + w()
            )
        else:
            s = json.dumps(d, ensure_ascii=a)
        return s.encode("utf-8")

    # ------------------------------------------------------------ HTTP
    def head(self, extra, path="/v1/messages", method="POST", retry=None):
        r = self.r
        h = [
            ("Host", self.host),
            ("User-Agent", f"Anthropic/Python 0.{r.randint(20, 80)}.{r.randint(0, 9)}"),
            ("Accept", "application/json"),
            ("Accept-Encoding", "gzip, deflate"),
            ("Connection", "keep-alive"),
            ("anthropic-version", "2023-06-01"),
            ("x-api-key", "test-" + "".join(r.choice(string.ascii_lowercase) for _ in range(24))),
            ("content-type", "application/json"),
            ("x-stainless-lang", "python"),
            ("x-stainless-retry-count", str(retry if retry is not None else 0)),
        ]
        h += extra
        if r.random() < 0.3:
            h.insert(r.randint(1, len(h)), ("X-Note", 'max_tokens: 7; "max_tokens":7'))
        if r.random() < 0.5:
            r.shuffle(h)
        case = r.choice([str, str.lower, str.upper, str.title])
        sep = r.choice([": ", ":", ":  ", ":\t"])
        return (f"{method} {path} HTTP/1.1\r\n" + "".join(f"{case(k)}{sep}{v}\r\n" for k, v in h) + "\r\n").encode()

    def request(self, body, **kw):
        return self.head([("Content-Length", str(len(body)))], **kw) + body

    def chunked(self, body):
        r, out, i = self.r, b"", 0
        while i < len(body):
            n = r.choice([1, 2, 7, 16, 100, 255, 256, 1000, 4096, 20000])
            c = body[i : i + n]
            size = f"{len(c):x}"
            size = r.choice([size, size.upper(), "0" * r.randint(1, 4) + size])
            ext = r.choice(["", "", "", ";a=b", ";x", '; q="max_tokens"'])
            out += size.encode() + ext.encode() + b"\r\n" + c + b"\r\n"
            i += n
        out += b"0" * r.randint(1, 3) + b"\r\n" + (b"X-Trailer: max_tokens\r\n" if r.random() < 0.4 else b"") + b"\r\n"
        return self.head([("Transfer-Encoding", r.choice(["chunked", "Chunked"]))]) + out

    def ok(self):
        b = b'event: message_start\ndata: {"type":"message_start"}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n'
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(b) + b

    def too_many(self):
        b = b'{"type":"error","error":{"type":"rate_limit_error","message":"busy"}}'
        return (
            b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\nretry-after-ms: %d\r\nContent-Length: %d\r\n\r\n"
            % (self.r.randint(5, 900), len(b))
            + b
        )


class Conn:
    """One TCP connection; packets go to .pk in the order of arrival."""

    def __init__(self, g, v6=False, tags=(), ipopts=None, tcpopts=None, isn=None, mss=1460, syn=True, wrap=None):
        self.g, r = g, g.r
        g.port = g.port + 1 if g.port < 60000 else 20000
        self.v6, self.tags, self.ipopts, self.tcpopts, self.mss, self.wrap = v6, tags, ipopts, tcpopts, mss, wrap
        self.c = (
            (
                f"2001:db8::{r.randint(1, 65535):x}"
                if v6
                else f"10.{r.randint(0, 255)}.{r.randint(0, 255)}.{r.randint(1, 254)}"
            ),
            g.port,
        )
        self.s = ("2001:db8:1::80" if v6 else "192.0.2.80", 80)
        self.cs = r.getrandbits(32) if isn is None else isn
        self.ss = r.getrandbits(32)
        self.pk, self.ipid, self.requests = [], r.randint(0, 60000), 0
        if syn:
            self.raw(True, "S", self.cs, 0, b"", [("MSS", self.mss), ("SAckOK", b""), ("WScale", 7)])
            self.raw(False, "SA", self.ss, self.cs + 1, b"", [("MSS", 1460), ("SAckOK", b"")])
        self.cs, self.ss = self.cs + 1, self.ss + 1
        if syn:
            self.ack(True)

    def flow(self):
        return {
            "ip_version": 6 if self.v6 else 4,
            "src": self.c[0],
            "sport": self.c[1],
            "dst": self.s[0],
            "dport": self.s[1],
            "vlan": list(self.tags),
        }

    def raw(self, up, flags, seq, ack, data, opts=None):
        g = self.g
        g.clock += g.r.choice([0.00001, 0.0001, 0.001])
        a, b = (self.c, self.s) if up else (self.s, self.c)
        self.ipid = (self.ipid + 1) & 0xFFFF
        l3 = IPv6(src=a[0], dst=b[0]) if self.v6 else IP(src=a[0], dst=b[0], id=self.ipid, options=self.ipopts or [])
        if self.wrap:
            l3 = self.wrap(l3)
        if opts is None:
            opts = self.tcpopts(self) if self.tcpopts else []
        p = Ether(
            src="02:00:00:00:00:01" if up else "02:00:00:00:00:02",
            dst="02:00:00:00:00:02" if up else "02:00:00:00:00:01",
        )
        for i, v in enumerate(self.tags):
            p = p / Dot1Q(vlan=v)
        if len(self.tags) == 2:
            p[Ether].type = 0x88A8
        p = (
            p
            / l3
            / TCP(
                sport=a[1],
                dport=b[1],
                flags=flags,
                seq=seq & 0xFFFFFFFF,
                ack=ack & 0xFFFFFFFF,
                window=65535,
                options=opts,
            )
        )
        if data:
            p = p / Raw(data)
        p.time = g.clock
        self.pk.append(p)
        return p

    def ack(self, up):
        self.raw(up, "A", self.cs if up else self.ss, self.ss if up else self.cs, b"")

    def cut(self, data, sizes=None):
        out, i = [], 0
        while i < len(data):
            n = sizes() if sizes else self.mss
            out.append((i, data[i : i + n]))
            i += n
        return out

    def send(self, data, sizes=None):
        for o, d in self.cut(data, sizes):
            self.raw(True, "PA" if o + len(d) == len(data) else "A", self.cs + o, self.ss, d)
        self.cs += len(data)

    def send_segments(self, data, segs):
        for o, d in segs:
            self.raw(True, "A", self.cs + o, self.ss, d)
        self.cs += len(data)

    def reply(self, data):
        self.ack(False)
        self.raw(False, "PA", self.ss, self.cs, data)
        self.ss += len(data)
        self.ack(True)

    def fin(self):
        self.raw(True, "FA", self.cs, self.ss, b"")
        self.raw(False, "FA", self.ss, self.cs + 1, b"")
        self.cs, self.ss = self.cs + 1, self.ss + 1
        self.ack(True)


class Capture:
    def __init__(self, g, name):
        self.g, self.name, self.pk, self.exp = g, name, [], []

    def want(
        self, c, body, note="", framing="content-length", method="POST", path="/v1/messages", complete=True, retry=None
    ):
        i, c.requests = c.requests, c.requests + 1
        e = {
            "capture": self.name,
            "flow": c.flow(),
            "request_index": i,
            "method": method,
            "path": path,
            "framing": framing,
            "note": note,
        }
        if method == "POST":
            e["body_bytes"] = len(body)
            e["body_sha256"] = hashlib.sha256(body).hexdigest()
            x = expect(body)
            if not complete:
                x = {k: None for k in x}
                x["json_status"] = "truncated"
            e.update(x)
        self.exp.append(e)

    def add(self, c):
        self.pk += c.pk

    def mix(self, conns):
        """Interleaves several connections, each in its own order."""
        qs = [list(c.pk) for c in conns]
        while any(qs):
            q = self.g.r.choice([q for q in qs if q])
            self.pk.append(q.pop(0))
