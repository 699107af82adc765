"""Ways in which TCP segments arrive: swapped, twice, overlapping, with probes between."""


def ooo(g, c, data):
    s = c.cut(data, lambda: g.r.choice([200, 536, 1460]))
    for _ in range(len(s)):
        i = g.r.randrange(max(1, len(s) - 3))
        j = min(len(s) - 1, i + g.r.randint(1, 3))
        s[i], s[j] = s[j], s[i]
    return s


def retrans(g, c, data):
    out = []
    s = c.cut(data, lambda: g.r.choice([536, 1460]))
    for i, x in enumerate(s):
        out.append(x)
        if g.r.random() < 0.4:
            out.append(g.r.choice(s[: i + 1]))
    return out


def overlap(g, c, data):
    out = []
    for o, d in c.cut(data, lambda: g.r.choice([300, 1000, 1400])):
        a = max(0, o - g.r.randint(0, 250))
        e = min(len(data), o + len(d) + g.r.randint(0, 60))
        out.append((a, data[a:e]))
    return out


def overlap_conflict(g, c, data):
    """Later copies of bytes carry other content; the first copy is the right one."""
    out = []
    for o, d in c.cut(data, lambda: 700):
        out.append((o, d))
        if g.r.random() < 0.5:
            a = max(0, o - 100)
            out.append((a, bytes(g.r.choice(b'"}]0,x ') for _ in range(min(150, o + len(d) - a)))))
    return out


def probes(g, c, data):
    """Keep-alive probes: one garbage byte below the next sequence number."""
    out = []
    for o, d in c.cut(data, lambda: 1000):
        out.append((o - 1, b"\x00"))
        out.append((o, d))
    return out
