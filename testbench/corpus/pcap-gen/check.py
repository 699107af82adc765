#!/usr/bin/env python3
"""Reads the captures with an own, plain reassembler (no scapy) and compares the requests it finds
with expected.jsonl.   usage: check.py DIR"""

import collections, hashlib, json, os, struct, sys


def packets(path):
    d = open(path, "rb").read()
    magic = d[:4]
    en = "<" if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    i = 24
    while i + 16 <= len(d):
        n = struct.unpack(en + "I", d[i + 8 : i + 12])[0]
        yield d[i + 16 : i + 16 + n]
        i += 16 + n


def tcp_segments(path):
    """(flow key, flags, seq, payload) in order of arrival; IPv4 fragments are put together."""
    frags = {}
    for p in packets(path):
        et, o, vl = struct.unpack(">H", p[12:14])[0], 14, []
        while et in (0x8100, 0x88A8, 0x9100):
            vl.append(struct.unpack(">H", p[o : o + 2])[0] & 0xFFF)
            et, o = struct.unpack(">H", p[o + 2 : o + 4])[0], o + 4
        if et == 0x0800:
            ihl = (p[o] & 15) * 4
            tot, ident, fo = struct.unpack(">HHH", p[o + 2 : o + 8])
            proto, src, dst = p[o + 9], p[o + 12 : o + 16], p[o + 16 : o + 20]
            data = p[o + ihl : o + tot]
            if fo & 0x3FFF:  # more fragments or an offset
                k = (src, dst, ident, proto)
                f = frags.setdefault(k, {})
                f[(fo & 0x1FFF) * 8] = (data, fo & 0x2000)
                off, buf = 0, b""
                while off in f:
                    buf += f[off][0]
                    if not f[off][1]:
                        break
                    off += len(f[off][0])
                else:
                    continue
                data = buf
                del frags[k]
        elif et == 0x86DD:
            ln, proto = struct.unpack(">HB", p[o + 4 : o + 7])
            src, dst = p[o + 8 : o + 24], p[o + 24 : o + 40]
            data = p[o + 40 : o + 40 + ln]
            while proto in (0, 43, 60):
                proto, data = data[0], data[8 + data[1] * 8 :]
        else:
            continue
        if proto != 6:
            continue
        sp, dp, seq, ack, off, fl = struct.unpack(">HHIIBB", data[:14])
        yield (src, sp, dst, dp, tuple(vl)), fl, seq, data[(off >> 4) * 4 :]


def streams(path):
    """Client byte streams (towards port 80), first arrival of a byte wins."""
    out = collections.OrderedDict()
    for k, fl, seq, pay in tcp_segments(path):
        if k[3] != 80:
            continue
        if fl & 2:
            out.setdefault(k, {"base": (seq + 1) & 0xFFFFFFFF, "b": {}})
            continue
        if k not in out:
            out[k] = {"base": seq, "b": {}}
        s = out[k]
        rel = (seq - s["base"]) & 0xFFFFFFFF
        if rel > 1 << 31:
            rel -= 1 << 32
        for i, x in enumerate(pay):
            if rel + i >= 0:
                s["b"].setdefault(rel + i, x)
    for k, s in out.items():
        n = 0
        while n in s["b"]:
            n += 1
        yield k, bytes(s["b"][i] for i in range(n))


def requests(d):
    i = 0
    while i < len(d):
        e = d.find(b"\r\n\r\n", i)
        if e < 0:
            return
        lines = d[i:e].split(b"\r\n")
        method, path = lines[0].split()[:2]
        h = {l.split(b":", 1)[0].strip().lower(): l.split(b":", 1)[1].strip() for l in lines[1:]}
        i = e + 4
        body, done = b"", True
        if h.get(b"transfer-encoding", b"").lower() == b"chunked":
            while True:
                j = d.index(b"\r\n", i)
                n = int(d[i:j].split(b";")[0], 16)
                i = j + 2
                body += d[i : i + n]
                i += n
                if n == 0:
                    while not d.startswith(b"\r\n", i):
                        i = d.index(b"\r\n", i) + 2
                    i += 2
                    break
                i += 2
        elif b"content-length" in h:
            n = int(h[b"content-length"])
            body = d[i : i + n]
            done = len(body) == n
            i += n
        yield method.decode(), path.decode(), body, done


def main():
    d = sys.argv[1]
    exp = collections.defaultdict(list)
    for l in open(os.path.join(d, "expected.jsonl")):
        e = json.loads(l)
        exp[e["capture"]].append(e)
    bad = total = 0
    for name, es in exp.items():
        want = collections.Counter()
        for e in es:
            f = e["flow"]
            want[
                (
                    f["sport"],
                    e["request_index"],
                    e["method"],
                    e["path"],
                    e.get("body_sha256"),
                    e.get("json_status") != "truncated",
                )
            ] += 1
        got = collections.Counter()
        for k, data in streams(os.path.join(d, name + ".pcap")):
            for i, (m, p, b, ok) in enumerate(requests(data)):
                got[(k[1], i, m, p, hashlib.sha256(b).hexdigest() if m == "POST" else None, ok)] += 1
        total += len(es)
        if want != got:
            bad += 1
            print("DIFFERS", name, list((want - got))[:2], list((got - want))[:2])
    print(total, "requests,", bad, "captures differ")
    sys.exit(bad != 0)


main()
