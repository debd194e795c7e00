#!/usr/bin/env python3
"""`tilesweep check` under Oclgrind: the bad kernels, each with the finding that it must get (the key "oclgrind" of
tests/device/expect.json; what that does not name must be clean), some of each built-in benchmark, which must be clean,
and what a check must not be fooled by.

    tests/check/run.py [--program FILE] [--keep FOLDER] [--all] [NAME...]

Prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` a test; status 1 when one failed. Without Oclgrind one test is
skipped, and status 1 with --need."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICE_TESTS = os.path.join(harness.SRC, "tests", "device")
BAD = os.path.join(DEVICE_TESTS, "bad")

BENCH = os.path.join(harness.SRC, "bench")

# Of each built-in benchmark, checks of its quick axes with these: enough to meet the kernel of every variant, every way to
# load, and vectors; small, because an interpreter takes a microsecond for an instruction. Axes, sizes, variants (all, if left
# out).
BUILT_IN = {
    "laplacian": [("POINTS=9 TX=16 TY=4,8 VEC=1,4,16 ROWS=1 PAD=0 LOAD=0,2", "W=52,H=11 W=1,H=17")],
    # The second: tiles that lie inside the matrices, which shift back at the edge.
    "matmul": [("TRANS=0,1,2 TX=8,16 TY=4 TILE=8 BM=64 BN=64", "M=17,N=19,K=9"),
               ("TRANS=0,1,2 BM=64 BN=64 PAD=4", "M=64,N=68,K=20", "blocked")],
    "transpose": [("TILE=16 ROWS=8", "W=37,H=21 W=1,H=5")],
    "convolution": [("RADIUS=1,3 TX=16 TY=8", "W=37,H=11 W=1,H=5")],
    "separable": [("RADIUS=3 TX=16 ROWS=4,16 TILE=0,1", "W=37,H=11")],
    "gray_scott": [("DIM=3 RADIUS=1 BOX=0 LX=4,8 LY=4", "W=12,H=5,D=3 W=1,H=3,D=2", "naive,local"),
                   ("DIM=3 RADIUS=1 BOX=0 LX=8 LY=8 STEPS=2", "W=12,H=5,D=2", "fused3d"),
                   ("DIM=3 RADIUS=1,2 BOX=0 LX=16 LY=8 ROWS=1", "W=21,H=9,D=5 W=64,H=12,D=3", "planes"),
                   ("DIM=2 RADIUS=1,2 BOX=0,1 LX=4,32 LY=4 ROWS=1", "W=21,H=9,D=1 W=1,H=3,D=1", "naive,local"),
                   ("DIM=2 RADIUS=1,2 BOX=0,1 LX=32 STEPS=2 GROUPS=4", "W=21,H=3,D=1", "fused")],
    "laplacian3d": [("POINTS=7 TX=16 TY=8 VEC=1,4 DEPTH=2", "W=21,H=9,D=5")],
    "reduction": [("TX=64 GROUPS=16,128", "N=1000")],
    "scan": [("TX=64", "N=1000")],
}

# --all: of each, the spec's own axes but for these.
ALL = {
    "laplacian": [("", "W=68,H=9 W=1,H=5")],
    "matmul": [("", "M=17,N=19,K=9")],
    "transpose": [("", "W=37,H=21 W=64,H=64")],
    "convolution": [("RADIUS=1,4,8", "W=20,H=9")],
    "separable": [("RADIUS=1,4,8", "W=20,H=9")],
    "gray_scott": [("LX=4,32 LY=4,8 VEC=1,4,16", "W=20,H=5,D=1 W=12,H=3,D=3", "naive,local"),
                   ("LX=16,32 LY=4,8,16 STEPS=2 GROUPS=8", "W=21,H=2,D=1 W=12,H=3,D=2", "fused,fused3d"),
                   ("DIM=3 LX=16,32 LY=4,8,16", "W=21,H=9,D=5 W=64,H=12,D=3", "planes")],
    "laplacian3d": [("TX=16", "W=21,H=9,D=3 W=32,H=3,D=2")],
    "reduction": [("GROUPS=16,128", "N=5000 N=3")],
    "scan": [("", "N=5000 N=3")],
}

# What Oclgrind cannot run, and the code of its rows' reason. Every other row of a built-in benchmark must be clean.
EXEMPT = {("laplacian", "shuffle"): "feature"}

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

    def check(self, *words, timeout_s=300, **env):
        """One check; its Ended and its document, right by its schema, its counts those of its rows."""
        command = [self.program, "check", "-q", "--format", "json", *words]
        ended = harness.run(command, dict(self.env, **env), self.folder, timeout_s)
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

    def kernel(self, name, source, params=None, launches=None):
        """A spec of one kernel k(src, dst, n), or of launches of such kernels, in the working folder."""
        variants = [dict(SPEC["variants"][0], params=list(params or {}))]
        if launches:
            variants[0].pop("kernel")
            variants[0]["launches"] = launches
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


def built_in(checker, name, checks, *words):
    """Every row of the checks is clean, and every variant of the spec is among them, but for those of EXEMPT."""
    expect(checks, f"no entry for bench/{name}.json: say here by which axes and sizes its kernels are checked")
    with open(os.path.join(BENCH, name + ".json"), encoding="utf-8") as file:
        variants = {variant["name"] for variant in json.load(file)["variants"]}
    exempt = {variant: [f"not-checked:{code}"] * 2 for (of, variant), code in EXEMPT.items() if of == name}
    expect(set(exempt) <= variants, f"variants {sorted(variants)}, and exempt are {sorted(exempt)}")
    clean, bad, count = set(), [], 0
    for axes, sizes, *only in checks:
        more = ["--no-baseline", "--variant", *only] if only else []
        for option, values in (("-s", axes), ("--size", sizes)):
            more += [word for value in values.split() for word in (option, value)]
        ended, document = checker.check(name, *words, *more, timeout_s=7200)
        expect(ended.status in (0, 1), f"exit status {ended.status}")
        for row in document["rows"]:
            count += 1
            if row["variant"] in exempt or row["status"] != "clean":
                if outcomes(row) != exempt.get(row["variant"]):
                    bad.append(f"{sorted(row_words(row))}: {outcomes(row)}: {[f['text'] for f in row['findings']]}")
            else:
                clean.add(row["variant"])
        expect(bad or ended.status == 0, f"exit status {ended.status}")
    expect(not bad, f"{len(bad)} of {count} rows: {'; '.join(bad[:3])}")
    expect(clean == variants - set(exempt), f"no clean row of {sorted(variants - set(exempt) - clean)}")
    return f"{count} configurations"


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


# Stands before the real one and dies in its stead, as the races pass is about to tell that a size is done, the times named.
DYING_OCLGRIND = """#!/usr/bin/env python3
import os, signal, subprocess, sys
with subprocess.Popen([{real!r}] + sys.argv[1:], stdout=subprocess.PIPE) as child:
    for line in child.stdout:
        if b'"done":"check"' in line and "--data-races" in sys.argv:
            with open({counter!r}, "a+") as file:
                file.write(".")
                file.flush()
                if file.tell() in {deaths}:
                    child.kill()
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
"""
RACE = """__kernel void k(__global const float *src, __global float *dst, int n)
{
    dst[0] = (float)get_global_id(0);
}
"""


def told_before_death(checker, deaths):
    """What was found before Oclgrind died of a pass: told once where the pass is done again, no finding where that dies too."""
    folder = os.path.join(checker.folder, "dying" + "".join(map(str, deaths)))
    os.mkdir(folder)
    with open(os.path.join(folder, "oclgrind"), "w", encoding="utf-8") as file:
        file.write(DYING_OCLGRIND.format(real=shutil.which("oclgrind"), counter=os.path.join(folder, "counter"), deaths=deaths))
    os.chmod(file.name, 0o755)
    words = [checker.kernel("race", RACE), "-j", "1", "--size", "N=33", "--size", "N=20"]
    _, document = checker.check(*words)
    alive = document["rows"][0]
    expect(outcomes(alive) == ["finding:data-race"], f"{outcomes(alive)}")

    ended, document = checker.check(*words, PATH=folder + os.pathsep + os.environ["PATH"])
    row = document["rows"][0]
    with open(os.path.join(folder, "counter"), encoding="utf-8") as file:
        expect(len(file.read()) == max(deaths) + (2 if deaths == [2] else 0), "other sizes were done than those expected")
    if deaths == [2]:  # the second size of the first attempt
        expect(outcomes(row) == ["finding:data-race"], f"{outcomes(row)}")
        expect(row["findings"] == alive["findings"], f"found {row['findings']}, and {alive['findings']} without a death")
        return
    expect(row["status"] == "not-checked" and outcomes(row) == ["not-checked:crash"], f"{row['status']}, {outcomes(row)}")
    told = row["passes"]["races"]["reason"]["text"]
    expect("not counted, because said before that: data race" in told, told)
    expect(ended.status == 1, "nothing could be checked, and the status is 0")


def told_before_crash(checker):
    """The same of a crash of its own: a launch that writes what nobody has initialised, and one that Oclgrind dies of."""
    path = checker.kernel("crash", """__kernel void fault(__global const float *src, __global float *dst, int n)
{
    if (get_global_id(0) == 0)
        dst[n - 1] += 1.0f;
}
__kernel void k(__global const float *src, __global float *dst, int n)
{
    float4 l = (float4)(src[0]), c = (float4)(src[n - 1]);
    float4 r = (float4)(l.w, c.xyz);
    if (get_global_id(0) == 0)
        dst[0] = r.x + r.y;
}
""", launches=[{"kernel": "fault"}, {"kernel": "k"}])
    _, document = checker.check(path)
    row = document["rows"][0]
    if row["passes"]["uninitialised"]["done"]:
        raise harness.Skipped("this Oclgrind does not die of it")
    expect(outcomes(row) == ["not-checked:crash"] and row["status"] == "not-checked", f"{outcomes(row)}")
    told = row["passes"]["uninitialised"]["reason"]["text"]
    expect("not counted, because said before that: uninitialised" in told, told)


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
    path, fake = os.path.join(checker.folder, "own.json"), os.path.join(harness.SRC, "tests", "fake_worker")
    harness.run([checker.program, "run", "-q", "--quick", "-o", path, "--worker", shlex.join([sys.executable, fake]), "laplacian",
                 "scan"], checker.env, checker.folder).expect_status(0)
    ended, document = checker.check("--rows", path + ":best", "--budget", "1ms")
    expect("no configuration here" not in ended.err, f"rows of its own run are left over: {ended.err}")
    expect(document["rows"], "no rows")
    expect(document["counts"]["not-checked"] == len(document["rows"]), "1 ms was enough")
    codes = {outcome for row in document["rows"] for outcome in outcomes(row)}
    expect(codes == {"not-checked:budget"}, f"{codes}")


SECOND_NEVER_ENDS = """__kernel void k(__global const float *src, __global float *dst, int n)
{
    volatile int go_on = SPIN;
    while (go_on)
        ;
    if ((int)get_global_id(0) < n)
        dst[get_global_id(0)] = src[get_global_id(0)];
}
"""


def interrupted(checker, number, form):
    """The signal: rows so far printed, nobody left, nothing left behind."""
    mark = uuid.uuid4().hex
    path = checker.kernel("spins", SECOND_NEVER_ENDS, params={"SPIN": [0, 1]})

    def folder():
        return [name for name in os.listdir(checker.folder) if name.startswith("tilesweep-check-")]

    def logs():
        return {name for of in folder() for name in os.listdir(os.path.join(checker.folder, of))}

    env = dict(checker.env, TILESWEEP_TEST_MARK=mark)
    with subprocess.Popen([checker.program, "check", "--format", form, "-j", "2", path], env=env, cwd=checker.folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        # Two passes of the first row, then those of the second: logs are numbered, and go with their pass.
        harness.wait_until(lambda: logs() == {"2", "3"}, 60, "the second row is not begun")
        expect(len(harness.marked(mark)) >= 3, f"processes {harness.marked(mark)}: a check and its two workers were expected")
        child.send_signal(number)
        out, err = child.communicate(timeout=60)
    harness.wait_until(lambda: not harness.marked(mark), 10, "a process is left behind")
    expect(child.returncode == 128 + number, f"status {child.returncode}: {err.decode()[-300:]}")
    expect(not folder(), f"left behind: {folder()}")
    told = out.decode("utf-8")
    if form == "text":
        expect(re.match(r"clean +spins k SPIN=0\nnot checked +spins k SPIN=1\n", told), told)
        expect(told.count("interrupted") == 2, told)
        return
    document = harness.parse(told)
    harness.check("check", document, "interrupted")
    expect(document["interrupted"], "not marked interrupted")
    expect([outcomes(row) for row in document["rows"]] == [["clean"], ["not-checked:interrupted"] * 2],
           f"{[outcomes(row) for row in document['rows']]}")


def main():
    options = harness.arguments(
        __doc__, (("--need",), {"action": "store_true", "help": "no Oclgrind is a failure"}),
        (("--all",), {"action": "store_true", "help": "also most configurations of the built-in benchmarks, which takes long"}))
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
        specs = {name[:-5] for name in os.listdir(BENCH) if name.endswith(".json")}
        for name in sorted(specs | set(BUILT_IN)):
            report.run(f"check_built_in_{name}", built_in, checker, name, BUILT_IN.get(name), "--quick")
        for name in sorted(specs | set(ALL)) if options.all else ():
            report.run(f"check_all_{name}", built_in, checker, name, ALL.get(name), "--timeout", "300s")
        for test in (words, oclgrind_dies, build_failure, restrict_in_helper, told_before_crash, printing, missing, rows):
            report.run(f"check_{test.__name__}", test, checker)
        for what, deaths in (("once", [2]), ("by_none", [1, 2])):
            report.run(f"check_told_{what}", told_before_death, checker, deaths)
        for number, form in ((signal.SIGINT, "json"), (signal.SIGTERM, "text")):
            report.run(f"check_interrupted_{number.name}", interrupted, checker, number, form)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
