#!/usr/bin/env python3
"""The program on a real OpenCL device: every built-in benchmark on its awkward sizes, and the bad kernels, each with
the status that it must get on that device (expect.json; what expect.json does not name must be ok and timed); on rusticl
some of each, and all the bad kernels with --all or by their names.

    tests/device/run.py [--device pocl|rusticl|nvidia] [--program FILE] [--keep FOLDER] [--need] [--all] [NAME...]

Prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` a test; status 1 when one failed. A device that is not here is
one skipped test, and status 1 with --need."""

import itertools
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import devices  # noqa: E402
import harness  # noqa: E402
from harness import Failed, Skipped, expect, load_results, outcome, row_name  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BAD = os.path.join(HERE, "bad")
BENCH = os.path.join(harness.SRC, "bench")

# Where a random part of the quick axes would leave a variant out, or a tile that no device of 32 KiB can hold.
AXES = {"convolution": ["TX=16", "TY=8", "VEC=4", "ROWS=4", "WALK=0", "PAD=0", "TAPS=0", "BALLAST=0"],
        "separable": ["TX=16", "TY=2,8", "VEC=4,16", "ROWS=4,16", "TILE=1", "PAD=0"],
        "matmul": ["ORDER=1", "TX=16", "TY=4", "TILE=16", "BM=64", "BN=64", "BK=16,128", "WM=4,8", "WN=8,16,32", "VEC=4,16", "WIDTH=4",
                   "PIPELINE=1", "PAD=0,4"],
        "laplacian": ["TX=16", "TY=4,8", "VEC=4,16", "ROWS=4", "PAD=0", "LOAD=2", "LAYOUT=0"],
        "laplacian3d": ["TX=16", "TY=8", "VEC=4,16", "ROWS=1", "DEPTH=16", "PAD=0"],
        "gray_scott": ["LX=4,16,64", "LY=8", "LZ=1,4", "VEC=4,16", "ROWS=2", "PAD=0", "STEPS=2", "GROUPS=8"]}

# Of the bad kernels those for which it is another driver, not only another compiler: limits, local memory, arguments.
OF_RUSTICL = ("before_start", "group_too_large", "local_both", "local_dynamic", "local_static", "past_end", "required_size")

# A deadline that a loaded machine keeps, but for kernels that never end, which are waited for.
TIMEOUT, HANG_TIMEOUT = "30s", "8s"


class Device:
    def __init__(self, options, folder):
        self.name, self.program, self.folder = options.device, options.program, folder
        self.env = devices.environment(self.name, folder)

    def run(self, spec, *words, timeout_s=300):
        """One sweep; its Ended and its only run."""
        path = os.path.join(self.folder, os.path.basename(spec).removesuffix(".json") + ".json")
        if os.path.exists(path):
            os.unlink(path)
        # Precise times are no concern here, and take most of the visits.
        ended = harness.run([self.program, "run", spec, "-q", "-o", path, "--precision", "100%", *words], self.env, self.folder, timeout_s)
        ended.expect_status(0, 1)
        runs = load_results(path)["runs"]
        expect(len(runs) == 1, f"{len(runs)} runs")
        expect(not os.path.exists(path + ".part"), "the journal is still there")
        return ended, runs[0]


def listed(device):
    """`devices` finds it, and its event clock is judged."""
    ended = harness.run([device.program, "devices", "--json"], device.env, device.folder).expect_status(0)
    document = harness.parse(ended.out)
    harness.check("devices", document, "devices --json")


# ---- built-in benchmarks ----

def awkward(device, name):
    """A few configurations of each variant, proven on every check size and timed on two of them; on rusticl, which is
    slow, of the smallest problem."""
    with open(os.path.join(BENCH, name + ".json"), encoding="utf-8") as file:
        spec = json.load(file)
    checks = spec["check_sizes"]
    sizes = [",".join(f"{key}={value}" for key, value in checks[i].items()) for i in (0, 4)]  # of 3-D families 4 has depth
    words = list(itertools.chain.from_iterable(("--size", size) for size in sizes))
    choose = random.Random(name)
    for axis in AXES.get(name, []):
        words += ["-s", axis]
    for axis, values in ({} if name in AXES else spec.get("quick_params", spec["params"])).items():
        some = values if len(values) < 2 else choose.sample(values, 1 + (choose.random() < 0.4))
        words += ["-s", f"{axis}=" + ",".join(map(str, sorted(some, key=values.index)))]
    for axis, values in spec.get("problem", {}).items():
        some = values[:1] if device.name == "rusticl" and axis != "DIM" else sorted({values[0], values[-1]})
        words += ["-s", f"{axis}=" + ",".join(map(str, some))]
    _, run = device.run(name, *words, "--visits", "1", "--samples", "1", "--timeout", "60s")
    extensions = run["device"]["extensions"].split()
    lacking = {variant["name"] for variant in spec["variants"] if not set(variant.get("needs", [])) <= set(extensions)}
    bad = [f"{row_name(row)}: {outcome(row)} {row['reason']['text']}" for row in run["rows"]
           if outcome(row) not in (("skipped:feature",) if row["variant"] in lacking else
                                   ("ok", "skipped:local-memory"))]  # a large halo does not fit every device
    expect(not bad, f"{len(bad)} of {len(run['rows'])} rows ({' '.join(words)}): {'; '.join(bad[:3])}")
    variants = {row["variant"] for row in run["rows"] if row["status"] == "ok"}
    expect(variants == {variant["name"] for variant in spec["variants"]} - lacking, f"variants {sorted(variants)} only")


# Shapes that a spec offers to devices of another kind alone: another vector width, local memory that is a memory of its own.
# Variants, axes, sizes, rows.
SHAPES = {
    "convolution": [("naive", "RADIUS=1,4 TX=128 TY=4 VEC=4 ROWS=64,128 WALK=2", "W=1040,H=517", 4)],
    "matmul": [("blocked", "BM=128 BN=128 BK=8 WM=8 WN=16 PAD=4 WIDTH=4 LANES=8 TRANS=0,2", "M=132,N=260,K=68", 2),  # 2: both tiles turned
               ("registers,packed", "TRANS=0 TX=16 TY=4 BM=64 BN=64 BK=128 WM=4,8 WN=16,32 VEC=16", "M=101,N=83,K=77", 6)],
    "laplacian": [("local", "POINTS=9 TX=32 TY=8 VEC=4 ROWS=2 PAD=1 LOAD=2 LAYOUT=0", "W=528,H=131", 1)],
    "gray_scott": [("naive,local", "RADIUS=1 LX=32 LY=8 LZ=1 VEC=2 ROWS=2 PAD=0", "W=528,H=40,D=1 W=52,H=13,D=11", 5),
                   ("local", "RADIUS=2 LX=16 LY=8 LZ=1 VEC=4 ROWS=2 PAD=1", "W=528,H=40,D=1", 1),
                   ("local", "DIM=3 RADIUS=1 LX=16 LY=4 LZ=4 VEC=4 ROWS=1 PAD=0", "W=52,H=13,D=11", 1),
                   ("planes", "DIM=3 RADIUS=1,4 LX=16 LY=8 VEC=4 ROWS=1", "W=144,H=20,D=13", 2)],
    "laplacian3d": [("naive,local", "POINTS=27 TX=32 TY=8 VEC=2 ROWS=2 DEPTH=16 PAD=0", "W=144,H=35,D=16", 2)],
}
FACTS_OF_KINDS = ("DEVICE_LOCAL_MEM_TYPE", "DEVICE_NATIVE_VECTOR_WIDTH_FLOAT")


def shapes_of_other_devices(device, name):
    """Proven here all the same."""
    with open(os.path.join(BENCH, name + ".json"), encoding="utf-8") as file:
        spec = json.load(file)
    spec["sources"] = [os.path.join(BENCH, source) for source in spec["sources"]]
    for rules in [spec, *spec["variants"]]:
        rules["where"] = [rule for rule in rules.get("where", []) if not any(fact in rule for fact in FACTS_OF_KINDS)]
    path = os.path.join(device.folder, "shapes", name + ".json")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(spec, file)
    for variants, axes, sizes, count in SHAPES[name]:
        words = [word for axis in axes.split() for word in ("-s", axis)]
        words += [word for size in sizes.split() for word in ("--size", size)]
        _, run = device.run(path, *words, "--variant", variants, "--no-baseline", "--visits", "1", "--samples", "1", "--timeout", "60s")
        outcomes = [f"{row_name(row)}: {outcome(row)}" for row in run["rows"]]
        expect([outcome(row) for row in run["rows"]] == ["ok"] * count, f"{len(run['rows'])} rows, expected {count}: {outcomes}")


# ---- two versions ----

KERNELS = """#ifndef TURNS
#define TURNS 5
#endif
__kernel void still(__global const float *in, __global float *out, int n)
{
    int i = get_global_id(0);
    if (i < n) out[i] = 0.5f * in[i];
}
__kernel void moved(__global float *state, int n)
{
    int i = get_global_id(0);
    float x = i < n ? state[i] : 0.0f, v = x;
    for (int k = 0; k < TURNS; k++) x = fma(x, 0.5f, 0.25f * v);
    if (i < n) state[i] = x;
}
"""


def side_by_side(device):
    """`ab` with cold caches: the same code, also with state, is right on every set of the arguments and equal; what
    repeats its work often enough to be seen beside a launch is slower."""
    scalar = {"name": "n", "kind": "scalar", "type": "int", "value": "N"}
    spec = {"schema": "tilesweep.spec/1", "name": "ab", "sources": ["ab.cl"], "reference": {"variant": "still"},
            "sizes": [{"N": 500000}], "check_sizes": [{"N": 100}, {"N": 7}], "params": {"TX": [64]},
            "args": [{"name": "in", "kind": "in", "type": "float", "shape": ["N"], "fill": "random"},
                     {"name": "out", "kind": "out", "type": "float", "shape": ["N"]}, scalar],
            "variants": [{"name": "still", "kernel": "still", "params": ["TX"], "baseline": True}],
            "global": ["round_up(N,TX)"], "local": ["TX"]}
    state = dict(spec, name="state", reference={"variant": "moved"},
                 args=[{"name": "state", "kind": "inout", "type": "float", "shape": ["N"], "fill": "random"}, scalar],
                 variants=[{"name": "moved", "kernel": "moved", "params": ["TX"], "baseline": True}])
    with open(os.path.join(device.folder, "ab.cl"), "w", encoding="utf-8") as file:
        file.write(KERNELS)
    path, out = (os.path.join(device.folder, end) for end in ("ab.json", "ab.out.json"))
    more = "-DTURNS=5000" if device.name == "nvidia" else "-DTURNS=200"
    for name, told, words in ((spec, "same", (path,)), (state, "slower", ("--options-b", more))):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(name, file)
        ended = harness.run([device.program, "ab", path, *words, "-q", "-o", out, "--digest", "--visits", "3", "--samples", "3", "--cache",
                             "cold", "--gate", "all", "--format", "json"], device.env, device.folder, 300)
        ended.expect_status(0, 1)
        found = harness.parse(ended.out)
        harness.check("compare", found, "the comparison")
        rows = load_results(out)["runs"][0]["rows"]
        expect(len(rows) == 2 and {outcome(row) for row in rows} == {"ok"}, f"{[outcome(row) for row in rows]}")
        expect({row["time"]["cache"] for row in rows} <= {"cold", "part"}, f"{[row['time']['cache'] for row in rows]}")
        for row in found["rows"]:
            if told == "slower":
                expect(row["verdict"] == "slower" and ended.status == 1, f"{row['verdict']} {row['ratio']}")
            else:
                expect(row["same_code"] == "binary", f"same_code {row['same_code']}")


# ---- bad kernels ----

def wanted_of(row, expected, device):
    """The outcomes that expect.json admits for a row, and what it says where they are failures: those of the first key
    all of whose words the row has."""
    words = set(row_name(row).split())
    for key, entry in expected.items():
        if set(key.split()) <= words:
            return key, entry[device.name], entry.get("says", "")
    return None, ["ok"], ""


def run_bad(device, names):
    """{name: rows} of one sweep over all of them, since each sweep audits clock and ceilings anew."""
    specs = {name: os.path.join(BAD, name + ".json") for name in names}
    ended, run = device.run(specs[names[0]], *list(specs.values())[1:], "--visits", "2", "--samples", "2", "--timeout", TIMEOUT,
                            timeout_s=600)
    finding = any(row["status"] not in ("ok", "skipped") for row in run["rows"])
    expect(ended.status == (1 if finding else 0), f"exit status {ended.status}")
    rows = {}
    for name, path in specs.items():
        with open(path, encoding="utf-8") as file:
            benchmark = json.load(file)["name"]
        rows[name] = [row for row in run["rows"] if row["benchmark"] == benchmark]
    return rows


def bad_kernel(device, rows, expected):
    bad, met = [], set()
    for row in rows:
        key, wanted, says = wanted_of(row, expected, device)
        met.add(key)
        if outcome(row) not in wanted:
            why = "" if row["status"] == "ok" else f" ({row['reason']['text']})"
            bad.append(f"{row_name(row)}: {outcome(row)}{why}, expected {' or '.join(wanted)}")
        elif row["status"] == "ok" and len(row["time"]["visits"]) < 2:
            bad.append(f"{row_name(row)}: ok with {len(row['time']['visits'])} visits")
        elif device.name in expected.get(key, {}).get("talks", []) and '"done":"prove"' not in (row["talk"] or ""):
            bad.append(f"{row_name(row)}: what it printed is not kept: {row['talk']!r}")
        elif row["status"] != "ok" and (row["time"] is not None or not row["reason"]["text"]):
            bad.append(f"{row_name(row)}: a time, or no text")
        elif row["status"] != "ok" and says not in row["reason"]["text"]:
            bad.append(f"{row_name(row)}: {row['reason']['text']}, expected to say {says}")
    expect(not bad, "; ".join(bad))
    expect(set(expected) <= met, f"no row for {set(expected) - met}")
    expect(any(row["status"] == "ok" for row in rows), "no good neighbour")
    return ", ".join(sorted({outcome(row) for row in rows if wanted_of(row, expected, device)[0]}))


# ---- good and bad in turn ----

def mixed(device, jobs, expectations):
    """ok, crash, ok, hang, ok, wrong, ok with so many provers: each gets its own, and what is right is timed."""
    wanted = {1: expectations["wild_write"]["bad"][device.name], 3: expectations["endless"]["bad"][device.name],
              5: ["wrong:mismatch"]}
    _, run = device.run(os.path.join(HERE, "mixed.json"), "--visits", "2", "--samples", "2", "--timeout", HANG_TIMEOUT, "-j",
                        str(jobs))
    found = {row["params"].get("FAULT", "good"): row for row in run["rows"]}
    expect(len(found) == 8, f"rows {sorted(map(str, found))}")
    bad = [f"FAULT={fault}: {outcome(row)}" for fault, row in found.items()
           if outcome(row) not in wanted.get(fault, ["ok"])]
    expect(not bad, "; ".join(bad))
    bad = [fault for fault, row in found.items() if row["status"] == "ok" and len(row["time"]["visits"]) < 2]
    expect(not bad, f"not timed: {bad}")
    return f"{jobs} provers: " + ", ".join(outcome(found[fault]) for fault in range(7))


def main():
    options = harness.arguments(__doc__, (("--device",), {"choices": list(devices.DEVICES), "default": "pocl"}),
                                (("--need",), {"action": "store_true", "help": "a missing device is a failure"}),
                                (("--all",), {"action": "store_true", "help": "mixed sweeps with 1, 2 and 8 provers each; on rusticl "
                                              "all bad kernels"}))
    report = harness.Report(options.only)
    with open(os.path.join(HERE, "expect.json"), encoding="utf-8") as file:
        expectations = json.load(file)
    specs = {name[:-5] for name in os.listdir(BAD) if name.endswith(".json")}
    missing = devices.missing(options.device)
    if missing:
        report.tell("not ok" if options.need else "skip", options.device, missing)
        return 1 if options.need else 0
    with harness.Folder(options.keep) as folder:
        device = Device(options, folder)
        report.run(f"{options.device}_devices", listed, device)
        if options.device != "rusticl":  # a minute there, for nothing that PoCL does not show
            report.run(f"{options.device}_side_by_side", side_by_side, device)
            for name in SHAPES:
                report.run(f"{options.device}_shapes_of_other_devices_{name}", shapes_of_other_devices, device, name)
        # One hang each, that is 8 s of waiting; PoCL's show what the others do.
        for jobs in (1, 2, 8) if options.all else (1, 8) if options.device == "pocl" else (2,):
            report.run(f"{options.device}_mixed_{jobs}", mixed, device, jobs, expectations)
        # What never ends is in the mixed sweeps. On rusticl all the others take minutes: unless they are asked for, those
        # that must come to something else there than on PoCL, or may.
        names = sorted((specs | set(expectations)) - {"endless"})
        if options.only:
            names = [name for name in names if any(part in f"{options.device}_bad_{name}" for part in options.only)]
        elif options.device == "rusticl" and not options.all:
            names = [name for name in names if name in OF_RUSTICL or
                     any(entry["rusticl"] != entry["pocl"] for entry in expectations.get(name, {}).values())]
        rows = {}
        if names:
            try:
                rows = run_bad(device, names)
            except Failed as failed:
                report.tell("not ok", f"{options.device}_bad_kernels", str(failed))
        for name in names:
            report.run(f"{options.device}_bad_{name}", bad_kernel, device, rows.get(name, []), expectations.get(name, {}))
        for name in sorted(name[:-5] for name in os.listdir(BENCH) if name.endswith(".json")):
            report.run(f"{options.device}_{name}", awkward, device, name)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
