"""The tables of device_race.py, and what its figures say of the goals."""

COPY = "elementwise/copy"
BANDWIDTH = ("elementwise/", "cast/", "reduce/", "rows/")
LIBRARIES = ("matmul/", "seed/", "conv/", "attention/")
SMALL_MODELS = ("train/mlp_b64", "train/cnn_b64")
ON_CPU = ("seed/", "train/cnn_")  # the tutorials' comparison of CPU and GPU
HEADINGS = ("case", "Taeda us", "PyTorch us", "ratio", "GB/s", "of copy", "TFLOP/s", "of limit", "MB", "PyTorch MB", "CPU us")


def copy_bandwidth(rows):
    """GB/s of the measured device copy, or 0."""
    copy = rows.get(COPY, {}).get("taeda", {})
    return copy.get("bytes", 0) / copy["median_us"] / 1e3 if copy.get("median_us") else 0


def least_us(name, row, limits):
    """The time that the machine's limits leave to a case, or 0: that of its operations or of its bytes, whichever is longer.
    What fits in a core's cache has the cache's bandwidth."""
    if not limits:
        return 0
    dtype = "bfloat16" if ("bfloat16" in name or "amp" in name) and "flops_bfloat16" in limits else "float"
    where = "cache" if row.get("bytes", 0) <= 512 << 10 else "memory"
    return 1e6 * max(row.get("flops", 0) / limits["flops_" + dtype], row.get("bytes", 0) / limits["copy_" + where])


def figures(sides, bandwidth, name="", limits=None):
    """Numbers of a case by column; ratio: PyTorch's median over Taeda's, above 1 where Taeda is faster."""
    ours, theirs, cpu = (sides.get(s, {}) for s in ("taeda", "torch", "cpu"))
    found = {"Taeda us": ours.get("median_us"), "PyTorch us": theirs.get("median_us"), "CPU us": cpu.get("median_us"),
             "MB": ours.get("peak_mb"), "PyTorch MB": theirs.get("peak_mb")}
    if "median_us" in ours:
        us = ours["median_us"]
        found["ratio"] = theirs["median_us"] / us if "median_us" in theirs else None
        found["GB/s"], found["TFLOP/s"] = ours.get("bytes", 0) / us / 1e3, ours.get("flops", 0) / us / 1e6
        found["of limit"] = 100 * least_us(name, ours, limits) / us
        found["of copy"] = 100 * found["GB/s"] / bandwidth if bandwidth else None
    return {k: v for k, v in found.items() if v}


def cells(name, sides, bandwidth, differs, limits):
    """A row of text by heading."""
    formats = {"Taeda us": ".2f", "PyTorch us": ".2f", "ratio": ".2f", "GB/s": ".1f", "of copy": ".0f",
               "TFLOP/s": ".3f", "of limit": ".0f", "MB": ".1f", "PyTorch MB": ".1f", "CPU us": ".1f"}
    row = {k: format(v, formats[k]) for k, v in figures(sides, bandwidth, name, limits).items()}
    for share in ("of copy", "of limit"):
        if share in row:
            row[share] += "%"
    if differs:
        row["ratio"] = "differs"
    for side, heading in (("taeda", "Taeda us"), ("torch", "PyTorch us")):
        if "error" in sides.get(side, {}):
            row[heading] = "error"
    return [name] + [row.get(h, "") for h in HEADINGS[1:]]


def goals_missed(rows):
    """What the race was run for, as sentences."""
    bandwidth, missed = copy_bandwidth(rows), []
    for name, sides in rows.items():
        f = figures(sides, bandwidth)
        ratio = f.get("ratio")
        if name.startswith(BANDWIDTH) and f.get("of copy", 100) < 90:
            missed.append(f"{name}: {f['of copy']:.0f}% of the copy's bandwidth, not 90%")
        if name in SMALL_MODELS and ratio and ratio < 3:
            missed.append(f"{name}: {ratio:.2f} times as fast as PyTorch, not 3")
        elif name.startswith(LIBRARIES + ("train/", "graph/")) and ratio and ratio < 0.97:
            missed.append(f"{name}: {ratio:.2f} times as fast as PyTorch, not 1")
        if f.get("MB", 0) > 1.02 * f.get("PyTorch MB", float("inf")):
            missed.append(f"{name}: {f['MB']:.1f} MB at the peak, PyTorch {f['PyTorch MB']:.1f}")
    return missed


def slower(rows):
    ratios = {name: figures(sides, 0).get("ratio", 1) for name, sides in rows.items()}
    return [f"{n} {r:.2f}" for n, r in sorted(ratios.items(), key=lambda item: item[1]) if r < 0.97]


def lines_after(facts, rows):
    """The errors, and what is to be learned, after the table."""
    people = {"taeda": "Taeda", "torch": "PyTorch", "cpu": "Taeda on the CPU"}
    lines = [f"{n}, {people[which]}: {row['error']}" for n, sides in rows.items() for which, row in sides.items()
             if "error" in row]
    if facts["sizes"] == "tiny":
        return lines + ["Times of tiny cases say nothing."]
    if slower(rows):
        lines.append("Slower than PyTorch: " + ", ".join(slower(rows)) + ".")
    against = [f"{n} {r['cpu']['median_us'] / r['taeda']['median_us']:.1f}" for n, r in rows.items()
               if "median_us" in r.get("cpu", {}) and "median_us" in r.get("taeda", {})]
    if against:
        lines.append("The CPU's time over the device's: " + ", ".join(against) + ".")
    if facts["device"] == "cuda":
        lines += ["Goals missed:"] + goals_missed(rows) if goals_missed(rows) else ["No goal is missed."]
    return lines


def limits_in_words(limits):
    """{"limits": "flops_float 263, ..."} in units of 1e9 a second; {} without."""
    if not limits:
        return {}
    return {"limits": "per second, in 1e9: " + ", ".join(f"{k} {v / 1e9:.0f}" for k, v in limits.items())}


def table_of(rows, differing, limits):
    bandwidth = copy_bandwidth(rows)
    table = [cells(n, sides, bandwidth, n in differing, limits) for n, sides in rows.items()]
    used = [i for i in range(len(HEADINGS)) if i < 4 or any(row[i] for row in table)]
    return [[row[i] for i in used] for row in [list(HEADINGS)] + table]


def for_people(facts, rows, differing, limits=None):
    table = table_of(rows, differing, limits)
    width = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = [f"{k + ':':8} {v}" for k, v in {**facts, **limits_in_words(limits)}.items()] + [""]
    for row in table:
        lines.append("  ".join([row[0].ljust(width[0])] + [c.rjust(w) for c, w in zip(row[1:], width[1:])]).rstrip())
    return "\n".join(lines + [""] + lines_after(facts, rows)) + "\n"


def markdown(facts, rows, differing, limits=None):
    table = table_of(rows, differing, limits)
    lines = ["; ".join(f"{k}: {v}" for k, v in {**facts, **limits_in_words(limits)}.items()), "", "| " + " | ".join(table[0]) + " |",
             "|---|" + "---:|" * (len(table[0]) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in table[1:]]
    return "\n".join(lines + [""] + ["- " + line for line in lines_after(facts, rows)]) + "\n"
