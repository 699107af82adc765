#!/usr/bin/env python3
"""Makes captures of LLM API requests (Anthropic Messages over HTTP/1.1) and their expected fields.

usage: gen.py --seed N --out DIR      needs scapy; same seed, same files.

The expected values come from Python's json module, never from the generator's own intent.
Rules used for expected.jsonl:
  * duplicate keys: the last one wins (json.loads, serde_json::Value);
  * a key is compared after unescaping, so "max\\u005ftokens" is max_tokens;
  * max_tokens counts only as a top-level key of the request object;
  * max_tokens_kind: int | negative | float (a fraction or an exponent) | string | bool | null | object | array | missing;
  * overlapping TCP data: the byte that arrived first wins;
  * a lone surrogate escape makes a body invalid (serde_json);
  * json_status: ok | invalid | not_object | utf8 | truncated (the connection ends before the body does).
"""

import argparse
import json
import os

from scapy.all import Ether, Padding, fragment, wrpcap
from scapy.layers.inet import IPOption_NOP, IPOption_RR, IPOption_Router_Alert
from scapy.layers.inet6 import IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop, PadN

from decoys import decoys
from disorder import ooo, overlap, overlap_conflict, probes, retrans
from traffic import Capture, Conn, Gen


def single(g):
    cap = Capture(g, "01_single_segment")
    for _ in range(40):
        c = Conn(g)
        b = g.body(g.r.randint(20, 700))
        c.send(g.request(b), lambda: 10**6)
        cap.want(c, b)
        c.reply(g.ok() if g.r.random() < 0.8 else g.too_many())
        c.fin()
        cap.add(c)
    return cap


def prompts(g, name, n, size, msss):
    cap = Capture(g, name)
    cs = []
    for i in range(n):
        c = Conn(g, mss=msss[i % len(msss)])
        b = g.body(size, turns=g.r.choice([1, 2, 4]))
        c.send(g.request(b))
        cap.want(c, b, note=f"mss {c.mss}")
        c.reply(g.ok())
        c.fin()
        cs.append(c)
    cap.mix(cs)
    return cap


def keepalive(g):
    cap = Capture(g, "03_keepalive")
    cs = []
    for _ in range(5):
        c = Conn(g)
        for k in range(8):
            if g.r.random() < 0.2:
                c.send(g.head([], path="/v1/models", method="GET"))
                cap.want(c, b"", method="GET", path="/v1/models", framing="none")
            else:
                b = g.body(g.r.randint(30, 4000))
                c.send(g.request(b))
                cap.want(c, b)
            c.reply(g.ok())
        c.fin()
        cs.append(c)
    cap.mix(cs)
    return cap


def pipelined(g):
    cap = Capture(g, "03_pipelined")
    for _ in range(6):
        c = Conn(g)
        data = b""
        for k in range(g.r.randint(3, 9)):
            if g.r.random() < 0.15:
                data += g.head([], path="/v1/models", method="GET")
                cap.want(c, b"", method="GET", path="/v1/models", framing="none")
                continue
            b = g.body(g.r.randint(10, 2500))
            if g.r.random() < 0.3:
                data += g.chunked(b)
                cap.want(c, b, framing="chunked")
            else:
                data += g.request(b)
                cap.want(c, b)
        c.send(data, lambda: g.r.choice([1, 2, 3, 17, 536, 1460, 1460, 1460]))
        c.fin()
        cap.add(c)
    return cap


def disorder(g, name, make, n=8, isn=None, syn=True, note=""):
    cap = Capture(g, name)
    for _ in range(n):
        c = Conn(g, isn=isn(g) if isn else None, syn=syn)
        b = g.body(g.r.randint(3000, 12000))
        data = g.request(b)
        c.send_segments(data, make(g, c, data))
        cap.want(c, b, note=note)
        c.reply(g.ok())
        c.fin()
        cap.add(c)
    return cap


def simple(g, name, n=5, size=(200, 5000), post=None, **kw):
    """A capture of plain requests, each on a connection of its own."""
    cap = Capture(g, name)
    for _ in range(n):
        c = Conn(g, **{k: (v(g) if callable(v) and k in ("tags", "ipopts") else v) for k, v in kw.items()})
        b = g.body(g.r.randint(*size))
        c.send(g.request(b))
        cap.want(c, b)
        c.reply(g.ok())
        c.fin()
        if post:
            c.pk = post(g, c.pk)
        cap.add(c)
    return cap


def frag(g, pk):
    out = []
    for p in pk:
        if len(p) > 500:
            fs = fragment(p, fragsize=g.r.choice([256, 512, 1000]))
            for f in fs:
                f.time = p.time
            if g.r.random() < 0.5:
                fs = list(reversed(fs))
            out += fs
        else:
            out.append(p)
    return out


def pad(g, pk):
    out = []
    for p in pk:
        q = Ether(bytes(p))
        n = max(0, 60 - len(q)) or g.r.choice([0, 0, 4])
        if n:
            q = q / Padding(bytes(g.r.choice(b'"max_tokens":1') for _ in range(n)))
        q.time = p.time
        out.append(q)
    return out


def framings(g):
    caps = []

    def put(name, **kw):
        caps.append(simple(g, name, **kw))

    put("05_ipv6", v6=True)
    put("05_vlan", tags=lambda g: (g.r.randint(1, 4094),))
    put("05_qinq", tags=lambda g: (g.r.randint(1, 4094), g.r.randint(1, 4094)))
    put("05_ipv6_vlan", v6=True, tags=lambda g: (g.r.randint(1, 4094),))
    put(
        "05_ip_options",
        ipopts=lambda g: g.r.choice(
            [[IPOption_NOP()] * 4, [IPOption_RR(routers=["0.0.0.0"] * g.r.randint(1, 9))], [IPOption_Router_Alert()]]
        ),
        mss=1380,
    )
    put(
        "05_tcp_options",
        tcpopts=lambda c: g.r.choice(
            [
                [("Timestamp", (g.r.getrandbits(32), 0))],
                [("NOP", None)] * g.r.randint(0, 40),
                [("NOP", None), ("NOP", None), ("SAck", (c.ss & 0xFFFFFFFF, (c.ss + 1) & 0xFFFFFFFF))],
                [("NOP", None), ("NOP", None), ("Timestamp", (1, 2)), ("EOL", None)],
            ]
        ),
        mss=1400,
    )
    put(
        "05_ipv6_ext_headers",
        v6=True,
        wrap=lambda l3: l3
        / IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 4)])
        / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 12)]),
        mss=1380,
    )
    put("05_ipv4_fragments", post=frag)
    put("05_ethernet_padding", post=pad)
    return caps


def chunked(g):
    cap = Capture(g, "06_chunked")
    for i in range(14):
        c = Conn(g)
        b = g.body(g.r.choice([50, 700, 9000]))
        c.send(g.chunked(b), (lambda: g.r.choice([1, 3, 50, 1460])) if i % 2 else None)
        cap.want(c, b, framing="chunked")
        c.reply(g.ok())
        c.fin()
        cap.add(c)
    return cap


def expect100(g):
    cap = Capture(g, "06_expect_100")
    for i in range(8):
        c = Conn(g)
        b = g.body(g.r.choice([300, 6000]))
        c.send(g.head([("Expect", g.r.choice(["100-continue", "100-Continue"])), ("Content-Length", str(len(b)))]))
        if i % 4 != 3:
            c.reply(b"HTTP/1.1 100 Continue\r\n\r\n")
        c.send(b)
        cap.want(c, b, note="no interim answer" if i % 4 == 3 else "")
        c.reply(g.ok())
        c.fin()
        cap.add(c)
    return cap


def truncated(g):
    cap = Capture(g, "08_truncated")
    for i in range(10):
        c = Conn(g)
        b = g.body(2000)
        data = g.request(b)
        k = len(data) - len(b) + g.r.randint(0, len(b) - 1)
        c.send(data[:k])
        cap.want(c, data[len(data) - len(b) : k], complete=False, note="FIN" if i % 2 else "RST")
        if i % 2:
            c.fin()
        else:
            c.raw(True, "R", c.cs, c.ss, b"")
        cap.add(c)
    return cap


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, required=True)
    ap.add_argument("--out", required=True)
    o = ap.parse_args()
    g = Gen(o.seed)
    big = lambda g: 2**32 - g.r.randint(500, 3000)
    caps = [
        single(g),
        prompts(g, "02_prompt_10k", 8, 10_000, [1460, 536, 8960]),
        prompts(g, "02_prompt_100k", 3, 100_000, [1460, 8960, 1220]),
        keepalive(g),
        pipelined(g),
        disorder(g, "04_out_of_order", ooo),
        disorder(g, "04_retransmit", retrans),
        disorder(g, "04_overlap", overlap),
        disorder(g, "04_overlap_conflict", overlap_conflict, note="first byte wins"),
        disorder(g, "04_keepalive_probes", probes),
        disorder(g, "04_sequence_wrap", ooo, isn=big),
        disorder(g, "04_midstream", lambda g, c, d: c.cut(d), syn=False, note="no handshake seen"),
    ]
    caps += framings(g) + [chunked(g), expect100(g), decoys(g), truncated(g)]
    os.makedirs(o.out, exist_ok=True)
    with open(os.path.join(o.out, "expected.jsonl"), "w") as f:
        for c in caps:
            wrpcap(os.path.join(o.out, c.name + ".pcap"), c.pk)
            for e in c.exp:
                f.write(json.dumps(e) + "\n")
    print(len(caps), "captures,", sum(len(c.exp) for c in caps), "requests,", sum(len(c.pk) for c in caps), "packets")


main()
