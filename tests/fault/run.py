#!/usr/bin/env python3
"""Faults of OpenCL drivers, made on demand by a preloaded library (faults.c): every call failing at some use,
event times of every bad kind, calls that never return, a device lost half way, device names that are no names.

    tests/fault/run.py --library FILE [--device pocl|rusticl|nvidia] [--program FILE] [--table FILE] [--keep FOLDER] [--all]
                       [NAME...]

Whatever goes wrong, a run ends by itself with a row or a clear error, the right exit status, strict JSON, and no process
left behind. --all walks every code of every call, at up to four uses. Prints `ok NAME`, `not ok NAME: why` or
`skip NAME: why` a test; status 1 when one failed."""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import devices  # noqa: E402
import harness  # noqa: E402
from harness import Skipped, expect  # noqa: E402

EXPECT = os.path.join(harness.HERE, "device", "expect.json")
OUT_OF_RESOURCES, OUT_OF_HOST_MEMORY, DEVICE_NOT_AVAILABLE = -5, -6, -2

# call, a use that every device comes to, in which scene (SCENES), the codes that it may return (OpenCL 1.2) beside
# CL_OUT_OF_RESOURCES and CL_OUT_OF_HOST_MEMORY. A worker that audits the clock and measures the ceilings builds so many
# programs, and makes so many kernels, before the first of a configuration; but for the first program they are of widths, which are
# passed over where they fail, and released.
PROBES, PROBE_KERNELS = 4, 11
CALLS = (
    ("clGetPlatformIDs", 1, "", [-30, -1001]),
    ("clGetPlatformInfo", 3, "", [-32, -30]),
    ("clGetDeviceIDs", 3, "", [-32, -31, -30, -1]),  # in a worker that opens
    ("clGetDeviceInfo", 20, "", [-33, -30]),
    ("clCreateContext", 1, "", [-32, -64, -30, -33, DEVICE_NOT_AVAILABLE]),
    ("clCreateCommandQueue", 1, "", [-34, -33, -30, -35]),
    ("clCreateCommandQueue", 2, "plain", [-34, -33, -30, -35]),
    ("clCreateBuffer", 1, "", [-34, -30, -61, -37, -4]),
    ("clCreateBuffer", 8, "state", [-34, -30, -61, -37, -4]),
    ("clCreateSubBuffer", 3, "", [-38, -30, -13, -4]),
    ("clCreateProgramWithSource", PROBES + 1, "", [-34, -30]),
    ("clBuildProgram", PROBES + 1, "", [-44, -30, -33, -42, -43, -3, -11, -59]),
    ("clGetProgramBuildInfo", 2 * PROBES + 1, "", [-33, -30, -44]),
    ("clGetProgramInfo", 1, "cold", [-30, -44]),
    ("clCreateKernel", PROBE_KERNELS + 3, "", [-44, -45, -46, -47, -30]),
    ("clSetKernelArg", 40, "", [-48, -49, -50, -38, -51]),
    ("clGetKernelInfo", 3, "", [-30, -48]),
    ("clGetKernelArgInfo", 3, "", [-49, -30, -19, -48]),
    ("clGetKernelWorkGroupInfo", 20, "", [-33, -30, -48]),
    ("clEnqueueNDRangeKernel", 20, "", [-45, -36, -48, -34, -52, -53, -63, -54, -55, -56, -13, -4]),
    ("clEnqueueReadBuffer", 1, "", [-36, -34, -38, -30, -13, -14, -4]),
    ("clEnqueueWriteBuffer", 3, "", [-36, -34, -38, -30, -13, -14, -4]),
    ("clEnqueueCopyBuffer", 20, "state", [-36, -34, -38, -30, -48, -13, -4]),
    ("clEnqueueCopyBuffer", 20, "cold", [-36, -34, -38, -30, -48, -13, -4]),
    ("clEnqueueFillBuffer", 1, "", [-36, -34, -38, -30, -13, -4]),
    ("clEnqueueMapBuffer", 1, "gpu", [-36, -34, -38, -30, -13, -12, -4]),
    ("clEnqueueUnmapMemObject", 1, "gpu", [-36, -38, -30, -34]),
    ("clFinish", 3, "", [-36, -14]),
    ("clGetEventInfo", 20, "", [-30, -58]),
    ("clGetEventProfilingInfo", 1, "", [-7, -30, -58]),
    ("clReleaseEvent", 3, "", [-58]),
    ("clReleaseKernel", 3, "", [-48]),
    ("clReleaseMemObject", 1, "", [-38]),
    ("clReleaseProgram", PROBES - 1, "", [-44]),
    ("clReleaseCommandQueue", 1, "gone", [-36]),
    ("clReleaseContext", 1, "gone", [-34]),
)
# With --all.
USES = (1, 3, 20)
# What goes on without these: facts of devices and kernels, releases, pinned memory. All else must be told of.
DISPENSABLE = ("clGetPlatformInfo", "clGetDeviceInfo", "clGetProgramBuild", "clGetKernel", "clGetEvent", "clRelease",
               "clEnqueueMap", "clEnqueueUnmap")
# What lets a worker come to a call: the benchmark, options, and what faults.c makes of the device.
SCENES = {
    "": ("good", (), ""),
    "state": ("state", (), ""),  # a kernel with state: its start is copied back before each pass
    "cold": ("state", ("--cache", "cold", "--digest"), ""),
    "gpu": ("state", (), "gpu"),
    "plain": ("good", (), "plain"),
    "gone": ("good", (), "gone"),
}
# Long enough for what does not hang, on a busy machine; what hangs waits so long each time.
HANG_TIMEOUT = "8s"

EVENTS = ("unavailable", "constant", "coarse", "bimodal")
MORE_EVENTS = ("untouched", "zero", "reversed", "off_by_20")  # tests/unit/test_measure.c shows that the audit refuses them
# What the stop at the host's clock and the floor must see, from a reading after the audit on.
LIES, LATER = ("unavailable", "untouched", "zero", "reversed", "constant_1", "forever"), 401
# From which launch on: in the proof, and in a visit after it.
DEAD = (1, 12)
# call, use, in one process only, exit status where it is known: before the rows all is over. Each takes its deadline.
HANGS = (("clReleaseMemObject", 1, 0, 3),)
MORE_HANGS = (("clGetDeviceIDs", 1, 0, 3), ("clReleaseProgram", 1, 0, None), ("clReleaseKernel", 1, 0, 3),
              ("clReleaseEvent", 1, 0, 3), ("clFinish", 1, 0, 3), ("clFinish", 500, 0, None), ("clFinish", 500, 1, None),
              ("clBuildProgram", 1, 0, 3), ("clEnqueueReadBuffer", 9, 0, None), ("clCreateContext", 1, 0, 3),
              ("clReleaseContext", 1, 0, 3))
# Within a visit of a kernel with state, which launches it more often than STALL_LAUNCHES; all proofs of a worker do not.
STALLS, MORE_STALLS = ("clFinish", "clReleaseMemObject"), ("clReleaseKernel", "clReleaseEvent")
STALL_LAUNCHES, STALL_SAMPLES = 50, "60"

# What becomes of the rows of `staged` by a driver's doing; `plain` beside them stays ok and is timed.
OUTCOMES = {
    "launch staged -5": "skipped:resources", "launch staged -4": "skipped:allocation",
    "launch staged -52": "launch-failed:CL_INVALID_KERNEL_ARGS", "exit staged 3": "crashed:exit",
    "noise staged 0": "crashed:protocol",
}
# Not to be had from this driver; the fake worker shows all of them (tests/run/run.py).
NOT_HERE = {
    "crashed:connection": (devices.DEVICES, "a worker that dies three times before it begins one and the same job"),
    "skipped:feature": (devices.DEVICES, "these devices have doubles"),
    "skipped:work-item-size": (devices.DEVICES, "PoCL and llvmpipe limit no dimension more than the product"),
    "timeout:prove": (("rusticl",), "llvmpipe ends every loop; PoCL and NVIDIA show it (tests/device)"),
    "build-failed:options": (("nvidia",), "its compiler takes options that it does not know"),
    "crashed:signal": (("nvidia",), "no kernel of a GPU ends the process"),
}

NAMES = {
    "quotes": b"say \"hi\" it's",
    "backslashes": b"C:\\new\\table\\",
    "control": b"a\x01b\x1b[31mred\x07\r\n\tc\x7f",
    "invalid_utf8": b"caf\xe9 \xff\xfe\xc0\xaf \xed\xa0\x80",
    "long": b"x" * 300,
    "path": b"../../../tmp/../escape",
    "command": b"`touch pwned` $(touch pwned) ;touch pwned",
    "markup": b"<script>alert(1)</script>&amp;_{x}^{y}@~",
    "empty": b"",
    "blank": b"   ",
}
# Without --all: all of these in one, the long one, none at all.
NAMES["together"] = NAMES["path"] + b"".join(NAMES[word] for word in ("quotes", "backslashes", "control", "invalid_utf8", "command",
                                                                      "markup"))
FEW_NAMES = ("together", "long", "empty")

GOOD = """__kernel void plain(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = 2.0f * src[i] + 1.0f;
}
__kernel void staged(__global const float *src, __global float *dst, int n)
{
    __local float line[G];
    const int i = (int)get_global_id(0);
    line[get_local_id(0)] = i < n ? src[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        dst[i] = 2.0f * line[get_local_id(0)] + 1.0f;
}
"""
SPEC = {
    "schema": "tilesweep.spec/1", "name": "good", "sources": ["good.cl"], "options": "-cl-std=CL1.2",
    "reference": {"variant": "plain"}, "sizes": [{"N": 4099}], "check_sizes": [{"N": 33}],
    "params": {"G": [16, 32]},
    "args": [{"name": "src", "kind": "in", "type": "float", "shape": ["N"], "fill": "random"},
             {"name": "dst", "kind": "out", "type": "float", "shape": ["N"]},
             {"name": "n", "kind": "scalar", "type": "int", "value": "N"}],
    "variants": [{"name": "plain", "kernel": "plain", "params": ["G"], "baseline": True},
                 {"name": "staged", "kernel": "staged", "params": ["G"], "local_bytes": "4*G"}],
    "global": ["round_up(N,G)"], "local": ["G"],
}
STATE = """__kernel void plain(__global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        dst[i] = 2.0f * dst[i] + 1.0f;
}
__kernel void staged(__global float *dst, int n)
{
    __local float line[G];
    const int i = (int)get_global_id(0);
    line[get_local_id(0)] = i < n ? dst[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        dst[i] = 2.0f * line[get_local_id(0)] + 1.0f;
}
"""
# The second check size is larger than the first arrays that are read back: what they were read into is made anew.
STATE_SPEC = dict(SPEC, name="state", sources=["state.cl"], check_sizes=[{"N": 33}, {"N": 5003}],
                  args=[{"name": "dst", "kind": "inout", "type": "float", "shape": ["N"], "fill": "random"}, SPEC["args"][-1]])


class Faults:
    def __init__(self, options, folder):
        self.program, self.folder, self.device = options.program, folder, options.device
        self.env = devices.environment(options.device, folder, LD_PRELOAD=os.path.abspath(options.library))
        self.specs, self.shown = {}, set()  # shown: outcomes of all rows so far
        for spec, source in ((SPEC, GOOD), (STATE_SPEC, STATE)):
            path = self.specs[spec["name"]] = os.path.join(folder, spec["name"] + ".json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(spec, file)
            with open(os.path.join(folder, spec["sources"][0]), "w", encoding="utf-8") as file:
                file.write(source)
        self.spec = self.specs["good"]

    def run(self, fault, *words, command="run", timeout_s=240, scene=""):
        """One command under a fault: it ends, and nobody is left."""
        mark = uuid.uuid4().hex
        met = os.path.join(self.folder, "met")
        env = dict(self.env, TILESWEEP_FAULT=fault, TILESWEEP_FAULT_MET=met, TILESWEEP_FAULT_SCENE=scene,
                   TILESWEEP_TEST_MARK=mark)
        if os.path.exists(met):
            os.unlink(met)
        ended = harness.run([self.program, command, *words], env, self.folder, timeout_s)
        harness.wait_until(lambda: not harness.marked(mark), 10, "a process is left behind")
        self.met = os.path.exists(met)
        for name in ("AddressSanitizer", "runtime error", "Assertion"):
            expect(name not in ended.err, f"{name}: {ended.err[-300:]}")
        return ended

    def sweep(self, fault, *words, timeout="60s", scene="", precision="100%"):
        """A sweep under a fault: its Ended and its run, None where it could not begin."""
        spec, more, scene = SCENES[scene]
        path = os.path.join(self.folder, "r.json")
        for old in glob.glob(path + "*"):
            os.unlink(old)
        ended = self.run(fault, self.specs[spec], "-q", "-o", path, "--visits", "2", "--samples", "2", "--precision", precision,
                         "--timeout", timeout, "-j", "2", *more, *words, scene=scene)
        ended.expect_status(0, 1, 3)
        run = judge(path) if os.path.exists(path) else None
        self.shown |= {harness.outcome(row) for row in run["rows"]} if run else set()
        if ended.status == 3:
            expect(ended.err.strip().startswith("tilesweep:") or "\ntilesweep:" in ended.err, f"no clear error: {ended.err!r}")
            expect(len(ended.err) > 30, f"no clear error: {ended.err!r}")
            return ended, run
        expect(run, "no results")
        expect(len(run["rows"]) == 4, f"{len(run['rows'])} rows")
        finding = any(row["status"] not in ("ok", "skipped") for row in run["rows"])
        finding |= not any(row["status"] == "ok" for row in run["rows"])
        expect(ended.status == int(finding), f"exit status {ended.status}, rows {[harness.outcome(r) for r in run['rows']]}")
        return ended, run


def seen(ended, run):
    """In a few words: what became of the rows, or of the run."""
    outcomes = [harness.outcome(row) for row in run["rows"]] if run else []
    words = [f"{outcomes.count(outcome)} {outcome}" for outcome in sorted(set(outcomes))]
    return f"exit {ended.status}" + (": " + ", ".join(words) if words else "")


def judge(path):
    """The only run of a results file."""
    runs = harness.load_results(path)["runs"]
    expect(len(runs) == 1, f"{len(runs)} runs")
    for row in runs[0]["rows"]:
        if row["status"] != "ok":
            expect(row["reason"]["text"] and row["time"] is None, f"{harness.outcome(row)}: a time, or no text")
        else:
            samples = [sample for visit in row["time"]["visits"] for sample in visit]
            expect(samples and all(0 < sample < 60e9 for sample in samples), f"times {samples}")
    return runs[0]


# ---- tests ----

def none(faults):
    """Without a fault all is well."""
    ended, run = faults.sweep("")
    expect(run["counts"].get("ok") == 4, f"{run['counts']}")
    # rusticl tells 1 ns of every kernel.
    wanted = "host" if faults.device == "rusticl" else "event"
    expect(run["clock"]["source"] == wanted, f"clock source {run['clock']['source']}")
    return seen(ended, run)


def outcomes(faults, fault, wanted):
    """The rows of one kernel get their status and reason; their neighbours are timed."""
    ended, run = faults.sweep(fault)
    bad = [f"{harness.row_name(row)}: {harness.outcome(row)}" for row in run["rows"]
           if harness.outcome(row) != (wanted if row["variant"] == "staged" else "ok")
           or (row["status"] == "ok") != bool(row["time"])]
    expect(not bad, f"expected {wanted}: {'; '.join(bad)}")
    return seen(ended, run)


def build_that_never_ends(faults):
    """After those of the probes it is a configuration's; then the same with a signal instead of a deadline."""
    ended, run = faults.sweep(f"hang clBuildProgram {PROBES + 1} 1", timeout=HANG_TIMEOUT)
    expect("timeout:build" in {harness.outcome(row) for row in run["rows"]}, seen(ended, run))
    path = os.path.join(faults.folder, "r.json")
    for old in glob.glob(path + "*"):
        os.unlink(old)
    met, mark = os.path.join(faults.folder, "met"), uuid.uuid4().hex
    if os.path.exists(met):
        os.unlink(met)
    env = dict(faults.env, TILESWEEP_FAULT=f"hang clBuildProgram {PROBES + 1} 0", TILESWEEP_FAULT_MET=met, TILESWEEP_TEST_MARK=mark)
    child = subprocess.Popen([faults.program, "run", faults.spec, "-q", "-o", path, "--cleanup", f"touch {path}.cleaned"],
                             env=env, cwd=faults.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    harness.wait_until(lambda: os.path.exists(met) or child.poll() is not None, 120, "the build")
    child.send_signal(signal.SIGINT)
    expect(child.wait(20) == 130, f"exit status {child.returncode}")
    harness.wait_until(lambda: not harness.marked(mark), 10, "a process is left behind")
    expect(judge(path)["interrupted"] and os.path.exists(path + ".cleaned"), "not saved, or not cleaned up")
    return seen(ended, run)


def budget(faults):
    ended, run = faults.sweep("", "--budget", "1ms")
    expect({harness.outcome(row) for row in run["rows"]} == {"skipped:budget"}, seen(ended, run))
    return seen(ended, run)


def every_code_is_shown(faults, partial):
    """Every reason code of docs/results.schema.json by a bad kernel (tests/device), by a row that a fault of this run has
    made, or with a reason why not."""
    if partial:
        raise Skipped("only a run of all tests shows all")
    with open(EXPECT, encoding="utf-8") as file:
        expected = json.load(file)
    shown = {outcome for rows in expected.values() for row in rows.values() for outcome in row[faults.device]}
    shown |= faults.shown | {code for code, (where, _) in NOT_HERE.items() if faults.device in where}
    missing = harness.reason_codes() - shown
    expect(not missing, f"nothing shows {sorted(missing)}")


def failing(faults, call, use, scene, code, wanted):
    """wanted: must it come to that use? Whatever a call says, no result is wrong and no worker is lost of it."""
    ended, run = faults.sweep(f"fail {call} {use} {code}", scene=scene)
    if not faults.met and not wanted:
        faults.unmet.add((call, use, scene))
        raise Skipped("no worker makes so many of these calls")
    expect(faults.met, "the call was never made to fail: test another use")
    if call == "clCreateCommandQueue" and use == 1:
        expect(run and run["clock"]["source"] == "host", "a queue without profiling, and event times are believed")
    elif call == "clGetProgramInfo":
        expect("without a digest" in ended.err, "no digest, and no word of it")
    elif wanted and not call.startswith(DISPENSABLE):
        expect(ended.status == 3 or run["counts"].get("ok", 0) < 4, f"failed, and nobody was told: {seen(ended, run)}")
    for row in run["rows"] if run else []:
        expect(row["status"] in ("ok", "skipped", "build-failed", "launch-failed"), f"{harness.outcome(row)}: {row['reason']}")
    if call.startswith("clRelease") and scene != "gone":
        expect(run and run["counts"].get("ok") == 4, f"a release that fails is of no consequence: {seen(ended, run)}")
    if ended.status == 3:
        expect(any(word in ended.err for word in ("CL_", call, "kernel ", "is another one here")),
               f"no clear error: {ended.err[-300:]}")
    return seen(ended, run)


def events(faults, mode):
    """Times that cannot be believed are not: the host's clock, and every row says so. Coarse and bimodal times may pass
    the audit where the host's own are disturbed; a bimodal sample that is longer than the host saw then fails its row."""
    ended, run = faults.sweep(f"events {mode}")
    believed = run["clock"]["source"] == "event"
    expect(not believed or mode in ("coarse", "bimodal"), f"{mode}: source {run['clock']['source']}")
    if not believed:
        expect(run["clock"]["warnings"], "no warning")
    for row in run["rows"]:
        if believed and mode == "bimodal" and harness.outcome(row) == "launch-failed:CL_PROFILING_INFO_NOT_AVAILABLE":
            expect("no usable event times" in row["reason"]["text"], row["reason"]["text"])
            continue
        expect(row["status"] == "ok", f"{run['counts']}: {harness.outcome(row)}: {row['reason']}")
        expect(("host-clock" in row["time"]["flags"]) == (not believed), f"flags {row['time']['flags']}")
    return f"{seen(ended, run)}; {run['clock']['source']} clock"


def events_lie_later(faults, mode):
    """The clock was believed, and lies from some reading on: no row is `ok` by such a time."""
    for _ in range(3):  # a disturbed audit believes none
        ended, run = faults.sweep(f"events {mode} {LATER}", precision="1%")  # so many visits that it comes to lie
        if run["clock"]["source"] == "event":
            break
        if faults.device == "rusticl":
            raise Skipped("this device's event times are not believed at all")
    expect(run["clock"]["source"] == "event", f"no event times at all: {run['clock']['warnings']}")
    expect(faults.met, "never lied")
    outcomes = {harness.outcome(row) for row in run["rows"]}
    expect("launch-failed:CL_PROFILING_INFO_NOT_AVAILABLE" in outcomes, f"{outcomes}")
    floor_ns = run["clock"]["floor_ns"]
    samples = [sample for row in run["rows"] if row["time"] for visit in row["time"]["visits"] for sample in visit]
    expect(all(sample > floor_ns / 50 for sample in samples), f"believed: {min(samples, default=0)} ns")
    return seen(ended, run)


def dead(faults, first):
    """The device drops the launches of `staged`, and only their events tell."""
    ended, run = faults.sweep(f"dead staged {first} -5")
    expect(faults.met, "nothing was dropped")
    for row in run["rows"]:
        wanted = "ok" if row["variant"] == "plain" else "launch-failed:CL_OUT_OF_RESOURCES"
        expect(harness.outcome(row) == wanted, f"{row['variant']}: {harness.outcome(row)}")
    return seen(ended, run)


def no_profiling(faults):
    ended, run = faults.sweep("queue")
    expect(run["counts"].get("ok", 0) == 4, f"{run['counts']}")
    expect(run["clock"]["source"] == "host", "no profiling, and event times are believed")
    return f"{seen(ended, run)}; host clock"


def huge_log(faults):
    """A compiler's log of megabytes, no text, with lines as of the protocol: kept with the row, cut at 64 KiB."""
    ended, run = faults.sweep(f"log {5 << 20}")
    expect(faults.met, "nobody asked for the log")
    for row in run["rows"]:
        log = row["build"]["log"]
        expect(harness.outcome(row) == "ok" and row["time"], harness.outcome(row))
        kept, _, rest = log.rpartition("\n[cut: ")
        expect(60 << 10 < len(kept.encode()) <= 64 << 10 and rest.endswith(" bytes]"), f"{len(log.encode())} B of log")
        expect(log.startswith("warning: ") and '{"job":1,"done":"prove"}' in log, f"another log: {log[:60]!r}")
    return seen(ended, run)


def hanging(faults, call, use, once, status):
    samples = ("--samples", "150") if use > 100 else ()  # enough for the 500th use
    scene = next(scene for name, _, scene, _ in CALLS if name == call)
    ended, run = faults.sweep(f"hang {call} {use} {once}", *samples, timeout=HANG_TIMEOUT, scene=scene)
    expect(faults.met, "never came to hang: test another use")
    expect(status in (None, ended.status), f"exit status {ended.status}, expected {status}: {ended.err[-300:]}")
    for row in run["rows"] if run else []:
        expect(row["status"] in ("ok", "timeout"), harness.outcome(row))
    if "the sentinel cannot be timed" in ended.err:  # it was one of the sentinel's: no row is blamed
        expect(not once or {harness.outcome(row) for row in run["rows"]} == {"ok"}, seen(ended, run))
        return f"{seen(ended, run)}; no sentinel"
    if "the ceilings could not be measured" in ended.err and call == "clReleaseProgram":  # of their widths alone
        expect({harness.outcome(row) for row in run["rows"]} == {"ok"}, seen(ended, run))
        return f"{seen(ended, run)}; no ceilings"
    expect(status or "timeout" in run["counts"], seen(ended, run))
    return seen(ended, run)


def stalling(faults, call):
    """A call that never returns in a configuration's visit: it is late, and its neighbours get a fresh worker."""
    if call == "clReleaseEvent" and faults.device == "rusticl":
        raise Skipped("the host's clock: no events in a visit")
    ended, run = faults.sweep(f"stall staged {STALL_LAUNCHES} {call}", "--samples", STALL_SAMPLES, timeout=HANG_TIMEOUT,
                              scene="state")
    expect(faults.met, "never came to hang: test fewer launches")
    late = [row for row in run["rows"] if harness.outcome(row) == "timeout:time"]
    expect(len(late) == 1 and late[0]["variant"] == "staged" and run["counts"].get("ok") == 3, seen(ended, run))
    return seen(ended, run)


def lost(faults, launches, code):
    """A device lost half way: what is left is no time, and the run ends."""
    ended, run = faults.sweep(f"lost {launches} {code}")
    expect(faults.met, "never lost: test fewer launches")
    return seen(ended, run)


def name(faults, text):
    """A name is data: in JSON, in file names, in the report."""
    fault = "name " + (text.hex() or "00")
    ended = faults.run(fault, "--json", command="devices").expect_status(0)
    document = harness.parse(ended.out)
    harness.check("devices", document, "devices --json")
    ended = faults.run(fault, command="devices").expect_status(0)
    expect(not set(ended.out) & set("\x01\x1b\x07\x7f\r"), "control bytes on the terminal")
    shutil.rmtree(os.path.join(faults.folder, "results"), ignore_errors=True)
    faults.run(fault, faults.spec, "-q", "--visits", "2", "--samples", "2", "-s", "G=16").expect_status(0)
    files = glob.glob(os.path.join(faults.folder, "results", "local", "*"))
    expect(len(files) == 1 and files[0].endswith(".json"), f"results are {files}")
    run = judge(files[0])
    expect(len(os.path.basename(files[0])) < 200, "a file name without end")
    if shutil.which("gnuplot"):
        page = os.path.join(faults.folder, "page")
        shutil.rmtree(page, ignore_errors=True)
        faults.run("", files[0], "-o", page, command="report").expect_status(0)
        with open(os.path.join(page, "index.html"), encoding="utf-8") as file:
            html = file.read()
        expect("<script>alert" not in html, "a device's name is markup")
    expect(not glob.glob(os.path.join(faults.folder, "**", "pwned"), recursive=True), "a device's name was run")
    expect(run["device"]["name"], "no name")
    return f"called {run['device']['name'][:40]!r}"


def main():
    options = harness.arguments(__doc__, (("--library",), {"required": True}),
                                (("--device",), {"choices": list(devices.DEVICES), "default": "pocl"}),
                                (("--all",), {"action": "store_true", "help": "every code at every use"}))
    report = harness.Report(options.only)
    if devices.missing(options.device):
        report.tell("skip", "fault", devices.missing(options.device))
        return 0
    with harness.Folder(options.keep) as folder:
        faults = Faults(options, folder)
        report.run("fault_none", none, faults)
        faults.unmet = set()  # with --all: what no code needs to try again
        for call, once, scene, codes in CALLS:
            codes = codes + [OUT_OF_RESOURCES, OUT_OF_HOST_MEMORY]
            for use in sorted({once, *USES}) if options.all else (once,):
                for code in codes if options.all else codes[:1]:
                    if (call, use, scene) not in faults.unmet:
                        report.run(f"fault_fail_{call}_{use}_{-code}" + (f"_{scene}" if scene else ""), failing, faults, call,
                                   use, scene, code, use == once)
        for fault, outcome in OUTCOMES.items():
            report.run("fault_" + fault.replace(" ", "_"), outcomes, faults, fault, outcome)
        report.run("fault_build_that_never_ends", build_that_never_ends, faults)
        report.run("fault_budget", budget, faults)
        report.run("fault_huge_log", huge_log, faults)
        for mode in EVENTS + (MORE_EVENTS if options.all else ()):
            report.run(f"fault_events_{mode}", events, faults, mode)
        for mode in LIES:
            report.run(f"fault_events_later_{mode}", events_lie_later, faults, mode)
        for first in DEAD:
            report.run(f"fault_dead_{first}", dead, faults, first)
        report.run("fault_no_profiling", no_profiling, faults)
        for call, use, once, status in HANGS + (MORE_HANGS if options.all else ()):
            report.run(f"fault_hang_{call}_{use}" + ("_once" if once else ""), hanging, faults, call, use, once, status)
        for call in STALLS + (MORE_STALLS if options.all else ()):
            report.run(f"fault_hang_{call}_in_a_visit", stalling, faults, call)
        for launches in (5, 400):  # in the clock audit, and later
            report.run(f"fault_lost_{launches}", lost, faults, launches, DEVICE_NOT_AVAILABLE)
        for what in NAMES if options.all else FEW_NAMES:
            report.run(f"fault_name_{what}", name, faults, NAMES[what])
        report.run("fault_every_code_is_shown", every_code_is_shown, faults, bool(options.only))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
