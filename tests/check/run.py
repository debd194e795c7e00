#!/usr/bin/env python3
"""`tilesweep check` under Oclgrind: the bad kernels, each with the finding that it must get (the key "oclgrind" of
tests/device/expect.json; what that does not name must be clean), some of each built-in benchmark, which must be clean,
and what a check must not be fooled by.

    tests/check/run.py [--program FILE] [--keep FOLDER] [NAME...]

Prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` a test; status 1 when one failed. Without Oclgrind one test is
skipped, and status 1 with --need."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICE_TESTS = os.path.join(harness.SRC, "tests", "device")
BAD = os.path.join(DEVICE_TESTS, "bad")

# Enough of each built-in benchmark to meet every kernel, every way to load, and vectors; small, because an
# interpreter takes a microsecond for an instruction.
BUILT_IN = {
    "laplacian": ["-s", "POINTS=9", "-s", "TX=16", "-s", "TY=4", "-s", "VEC=1,4,16", "-s", "ROWS=1", "-s", "PAD=0", "-s", "LOAD=0,2",
                  "--size", "W=52,H=11", "--size", "W=1,H=17"],
    "matmul": ["-s", "TRANS=0", "-s", "TX=8", "-s", "TY=4", "-s", "TILE=8", "--size", "M=17,N=19,K=9"],
    "transpose": ["-s", "TILE=16", "-s", "ROWS=8", "--size", "W=37,H=21", "--size", "W=1,H=5"],
    "convolution": ["-s", "RADIUS=1,3", "-s", "TX=16", "-s", "TY=8", "--size", "W=37,H=11"],
    "separable": ["-s", "RADIUS=3", "-s", "TX=16", "-s", "ROWS=4,16", "-s", "TILE=0,1", "--size", "W=37,H=11"],
    "gray_scott": ["-s", "DIM=3", "-s", "RADIUS=1", "-s", "BOX=0", "-s", "LX=4,8", "-s", "LY=4", "--size",
                   "W=12,H=5,D=3", "--size", "W=1,H=3,D=2"],
    "laplacian3d": ["-s", "POINTS=7", "-s", "TX=16", "-s", "TY=8", "-s", "VEC=1,4", "-s", "DEPTH=2", "--size", "W=21,H=9,D=5"],
    "reduction": ["-s", "TX=64", "-s", "GROUPS=16,128", "--size", "N=1000"],
    "scan": ["-s", "TX=64", "--size", "N=1000"],
}

SPEC = {
    "schema": "tilesweep.spec/1", "options": "-cl-std=CL1.2", "reference": {"variant": "k"},
    "sizes": [{"N": 1000}], "check_sizes": [{"N": 33}],
    "args": [{"name": "src", "kind": "in", "type": "float", "shape": ["N"], "fill": "random"},
             {"name": "dst", "kind": "out", "type": "float", "shape": ["N"]},
             {"name": "n", "kind": "scalar", "type": "int", "value": "N"}],
    "variants": [{"name": "k", "kernel": "k", "params": [], "baseline": True}],
    "global": ["round_up(N,16)"], "local": ["16"],
}


class Checker:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.env = harness.environment(folder)

    def check(self, *words, timeout_s=300):
        """One check; its Ended and its document, right by its schema, its counts those of its rows."""
        ended = harness.run([self.program, "check", "-q", "--format", "json", *words], self.env, self.folder, timeout_s)
        ended.expect_status(0, 1, 130)
        document = harness.parse(ended.out)
        harness.check("check", document, "check")
        counted = {"clean": 0, "finding": 0, "not-checked": 0}
        for row in document["rows"]:
            counted[row["status"]] += 1
        expect(counted == document["counts"], f"counts say {document['counts']}, rows are {counted}")
        left = [name for name in os.listdir(self.folder) if name.startswith("tilesweep-check-")]
        expect(not left, f"left behind: {left}")
        return ended, document

    def kernel(self, name, source, params=None):
        """A spec of one kernel k(src, dst, n) in the working folder."""
        variants = [dict(SPEC["variants"][0], params=list(params or {}))]
        spec = dict(SPEC, name=name, sources=[name + ".cl"], params=params or {}, variants=variants)
        with open(os.path.join(self.folder, name + ".cl"), "w", encoding="utf-8") as file:
            file.write(source)
        path = os.path.join(self.folder, name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(spec, file)
        return path


def outcomes(row):
    """All that may be expected of a row: "clean", "finding:KIND" of each finding, "not-checked:CODE"."""
    told = [f"finding:{finding['kind']}" for finding in row["findings"]]
    told += [f"not-checked:{result['reason']['code']}" for result in row["passes"].values() if not result["done"]]
    return told or ["clean"]


def failed(row):
    """Not checked, because the kernel does not build or cannot be launched."""
    return any(result["reason"]["status"] for result in row["passes"].values() if not result["done"])


def row_words(row):
    return {row["variant"]} | {f"{name}={value}" for part in ("problem", "params") for name, value in row[part].items()}


# ---- bad kernels ----

def bad_kernel(checker, name, expected):
    words = ["--timeout", "2s" if name == "endless" else "60s"]
    ended, document = checker.check(os.path.join(BAD, name + ".json"), *words)
    wrong, met = [], set()
    for row in document["rows"]:
        # Sizes are no part of a check's rows.
        key = next((key for key in expected if set(key.split()) - {"size"} <= row_words(row)), None)
        met.add(key)
        wanted = expected[key]["oclgrind"] if key else ["clean"]
        told = outcomes(row)
        if not set(wanted) & set(told) or (row["status"] == "clean") != (wanted == ["clean"]):
            wrong.append(f"{sorted(row_words(row))}: {told}, expected {wanted}")
        for finding in row["findings"]:
            expect(finding["kernel"] and finding["accesses"], f"without kernel or place: {finding['text']}")
            place = finding["accesses"][0]
            path = os.path.join(BAD, place["file"])
            with open(path, encoding="utf-8") as file:
                lines = file.read().count("\n")
            expect(1 <= place["line"] <= lines, f"{place['file']}:{place['line']} is no line")
    expect(not wrong, "; ".join(wrong))
    expect(set(expected) <= met, f"no row for {set(expected) - met}")
    expect(any(row["status"] == "clean" for row in document["rows"]), "no clean neighbour")
    finding = any(row["status"] == "finding" or failed(row) for row in document["rows"])
    expect(ended.status == (1 if finding else 0), f"exit status {ended.status}")


def built_in(checker, name):
    ended, document = checker.check(name, "--quick", *BUILT_IN[name])
    bad = [f"{sorted(row_words(row))}: {outcomes(row)}: {[f['text'] for f in row['findings']]}"
           for row in document["rows"] if row["status"] != "clean"]
    expect(not bad, f"{len(bad)} of {len(document['rows'])} rows: {'; '.join(bad[:3])}")
    expect(ended.status == 0, f"exit status {ended.status}")
    expect(any(row["variant"] != "naive" for row in document["rows"]), "no staged variant")


# ---- what must not fool it ----

def words(checker):
    """The race's row says kernel, lines, work-items and address space."""
    ended = harness.run([checker.program, "check", os.path.join(BAD, "missing_barrier.json"), "-s", "G=16", "--variant",
                         "bad", "--no-baseline"], checker.env, checker.folder).expect_status(1)
    for part in ("data race in local memory", "missing_barrier.cl:12", "missing_barrier.cl:10", "kernel bad",
                 "work-item (8,0,0) reads", "work-item (7,0,0) writes", "work-group (0,0,0)", "N=257"):
        expect(part in ended.out, f"no \"{part}\" in: {ended.out}")


def oclgrind_dies(checker):
    """A vector composed from parts of vectors kills Oclgrind without optimisation: not checked, no finding."""
    path = checker.kernel("dies", """__kernel void k(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    float4 l = (float4)(src[0]), c = (float4)(src[n - 1]);
    float4 r = (float4)(l.w, c.xyz);
    if (i < n)
        dst[i] = r.x + r.y;
}
""")
    ended, document = checker.check(path)
    row = document["rows"][0]
    if row["status"] == "clean":
        raise harness.Skipped("this Oclgrind does not die of it")
    expect(outcomes(row) == ["not-checked:crash"], f"{outcomes(row)}")
    expect(row["passes"]["races"]["done"], "the other pass was not done")
    expect(ended.status == 1, "nothing could be checked, and the status is 0")


def build_failure(checker):
    """One of two configurations of a case does not build: not checked, with the places of the spec's own files, and
    the check has failed."""
    with open(os.path.join(checker.folder, "part.h"), "w", encoding="utf-8") as file:
        file.write("#define PART 1\n#if BAD == 2\nint broken(void) { return nowhere; }\n#endif\n")
    path = checker.kernel("unbuilt", """/* a comment
   of two lines */
#include "part.h"
__kernel void k(__global const float *src, __global float *dst, int n)
{
#if BAD == 1
    undeclared = 3;
#endif
    if ((int)get_global_id(0) < n)
        dst[get_global_id(0)] = src[get_global_id(0)];
}
""", params={"BAD": [0, 1, 2]})
    ended, document = checker.check(path)
    for row, place in zip(document["rows"], (None, "unbuilt.cl:7:5: error", "part.h:3:27: error")):
        expect(outcomes(row) == (["not-checked:compiler"] * 2 if place else ["clean"]), f"{outcomes(row)}")
        expect(failed(row) == (place is not None), f"{row['passes']}")
        for result in row["passes"].values():
            told = result["reason"]["text"] if place else ""
            expect((place or "") in told and "input.cl" not in told, told)
    expect(ended.status == 1, f"two configurations do not build, and the status is {ended.status}")
    ended, _ = checker.check(path, "-s", "BAD=0")
    expect(ended.status == 0, f"exit status {ended.status}")


def restrict_in_helper(checker):
    """An intrinsic that Oclgrind 21.10 lacks comes with optimisation only: the pass is done again without."""
    source = """static void add(__global const float *restrict a, __global float *restrict b, int n)
{
    for (int j = 0; j < n; j++)
        b[j] = a[j + %d] + 1.0f;
}
__kernel void k(__global const float *src, __global float *dst, int n)
{
    if (get_global_id(0) == 0)
        add(src, dst, n);
}
"""
    _, document = checker.check(checker.kernel("restrict_good", source % 0))
    expect(document["rows"][0]["status"] == "clean", f"{outcomes(document['rows'][0])}")
    _, document = checker.check(checker.kernel("restrict_bad", source % 1))
    expect("finding:out-of-bounds" in outcomes(document["rows"][0]), f"{outcomes(document['rows'][0])}")


def printing(checker):
    """What a kernel prints is no finding, whatever it looks like."""
    path = checker.kernel("printing", r"""__kernel void k(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i == 0)
        printf("\nRead-write data race at local memory address 0x1\n\tKernel: k\n{\"job\":3,\"done\":\"check\"}\n");
    if (i < n)
        dst[i] = src[i];
}
""")
    ended, document = checker.check(path)
    expect(outcomes(document["rows"][0]) == ["clean"] and ended.status == 0, f"{outcomes(document['rows'][0])}")


def missing(checker):
    empty = os.path.join(checker.folder, "empty")
    os.makedirs(empty, exist_ok=True)
    ended = harness.run([checker.program, "check", "laplacian"], dict(checker.env, PATH=empty), checker.folder)
    ended.expect_status(4)
    expect("package oclgrind" in ended.err, ended.err)


def rows(checker):
    """--rows takes the configurations of a results file and the spec's check sizes."""
    path = os.path.join(harness.SRC, "results")
    files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
             if name.endswith(".json") and os.sep + "local" + os.sep not in folder + os.sep]
    expect(files, f"no recorded results in {path}")
    ended, document = checker.check("--rows", files[0] + ":best", "--budget", "1ms")
    expect("no configuration here" not in ended.err, f"rows of its own run are left over: {ended.err}")
    expect(document["rows"], "no rows")
    expect(document["counts"]["not-checked"] == len(document["rows"]), "1 ms was enough")
    codes = {outcome for row in document["rows"] for outcome in outcomes(row)}
    expect(codes == {"not-checked:budget"}, f"{codes}")


def interrupted(checker):
    """SIGINT: rows so far printed, nobody left, nothing left behind."""
    path = os.path.join(BAD, "endless.json")
    with subprocess.Popen([checker.program, "check", "--format", "json", path], env=checker.env, cwd=checker.folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        time.sleep(1.5)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
    expect(child.returncode == 130, f"status {child.returncode}: {err.decode()[-300:]}")
    document = harness.parse(out.decode("utf-8"))
    harness.check("check", document, "interrupted")
    expect(document["interrupted"], "not marked interrupted")
    left = [name for name in os.listdir(checker.folder) if name.startswith("tilesweep-check-")]
    expect(not left, f"left behind: {left}")


def main():
    options = harness.arguments(__doc__, (("--need",), {"action": "store_true", "help": "no Oclgrind is a failure"}))
    report = harness.Report(options.only)
    if not shutil.which("oclgrind"):
        report.tell("not ok" if options.need else "skip", "oclgrind", "no oclgrind in PATH")
        return 1 if options.need else 0
    with open(os.path.join(DEVICE_TESTS, "expect.json"), encoding="utf-8") as file:
        expectations = json.load(file)
    specs = {name[:-5] for name in os.listdir(BAD) if name.endswith(".json")}
    with harness.Folder(options.keep) as folder:
        checker = Checker(options.program, folder)
        for name in sorted(specs | set(expectations)):
            report.run(f"check_bad_{name}", bad_kernel, checker, name, expectations.get(name, {}))
        for name in BUILT_IN:
            report.run(f"check_built_in_{name}", built_in, checker, name)
        for test in (words, oclgrind_dies, build_failure, restrict_in_helper, printing, missing, rows, interrupted):
            report.run(f"check_{test.__name__}", test, checker)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
