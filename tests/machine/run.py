#!/usr/bin/env python3
"""Faults of the machine, against the fake worker and, where PoCL is, the real one: files that cannot be written at the
n-th call, disks that fill up, files that vanish; signals in every phase, once and twice; stopped processes; clocks that
jump, a machine that sleeps.

    tests/machine/run.py --library FILE [--program FILE] [--keep FOLDER] [--all] [NAME...]

Whatever goes wrong, a run ends by itself with the right exit status, an old results file is whole, and what was measured
is to be found where the message says. --all walks every use of every call. Prints `ok NAME`, `not ok NAME: why` or `skip
NAME: why` a test; status 1 when one failed."""

import errno
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

from machine import SMALL, Machine, real, visits_in
import harness
from harness import Promised, Skipped, expect, load_results, outcome, row_name, wait_until
from sweep import SLOW_S

PACE = ("--delay", "15")

# Of every call that a sweep makes on its files: the errors that it may meet there.
CALLS = {"write": (errno.ENOSPC, errno.EIO), "fsync": (errno.EIO,), "close": (errno.EIO,), "open": (errno.EROFS,),
         "rename": (errno.EACCES,), "ftruncate": (errno.EIO,), "unlink": (errno.EROFS,)}
EVERY = 5  # without --all, every so-manieth write; the rarer calls all


def expect_whole(sweep):
    rows = sweep.rows()
    bad = [f"{row_name(row)}: {outcome(row)}" for row in rows if row["status"] != "ok" or not row["time"]]
    expect(rows and not bad, f"{len(rows)} rows; {bad[:3]}")


def expect_kept(sweep, err):
    """What was measured is where the message says, but for the visit in flight; with a journal, --resume finishes."""
    made = sweep.visits_made()
    told = re.findall(r"what was measured(?: so far| before the failure)?(?: is in|:) (\S+?)[;\n]", err + "\n")
    told += re.findall(r"^results: (\S+)$", err, re.M)
    expect(told or not made, f"{made} visits are lost: {err}")
    kept = max([visits_in(path) for path in told], default=0)
    expect(kept >= made - 1, f"{made} visits, {kept} kept in {told}")
    sweep.mend()
    if sweep.part in told:
        sweep.resume("-q").expect_status(0)
        expect_whole(sweep)
        expect(visits_in(sweep.file) >= sweep.visits_made() - 1, "measured twice")
    for path in told:
        if os.path.dirname(path) == sweep.folder:  # TMPDIR
            os.unlink(path)


def expect_failed_well(sweep, ended, word, old, sure):
    """Exit 4 with the system's word, the old file as it was, and what was measured is kept; or, unless sure, it went well."""
    ended.expect_status(*((4,) if sure else (0, 4)))
    sweep.expect_workers_gone()
    if ended.status == 0:
        expect_whole(sweep)
        return
    expect(word in ended.err and sweep.disk in ended.err, f"not told: {ended.err}")
    if old is not None:
        with open(sweep.file, "rb") as file:
            expect(file.read() == old, "the old file is not as it was")
    left = [name for name in os.listdir(sweep.disk) if name.startswith(".tilesweep-tmp")]
    expect(not left, f"left behind: {left}")
    expect_kept(sweep, ended.err)


# ---- files ----

def failing(sweep, call, every):
    """Each use of the call fails once, with and without an old file there."""
    count = sweep.uses()[call]
    with open(sweep.file, "rb") as file:
        document = file.read()
    expect(count > 0, f"{call} is never used")
    for use in list(range(1, count + 1, every)) + [count]:
        for number, code in enumerate(CALLS[call]):
            old = document if (use + number) % 2 else None
            sweep.empty_disk(old)
            sweep.break_by(f"fail {call} {use} {code}")
            ended = sweep.run(*SMALL)
            if not os.path.exists(sweep.met) and use > count // 2:
                ended.expect_status(0)  # fewer visits than the first time: the last uses are none
                continue
            expect(os.path.exists(sweep.met), f"use {use} never came")
            try:
                # The last fsync is the folder's, best effort; so are unlink and the closing of what was read back.
                sure = use < count if call == "fsync" else call not in ("close", "unlink")
                expect_failed_well(sweep, ended, os.strerror(code), old, sure)
            except harness.Failed as failed:
                raise harness.Failed(f"{call} {use} of {count}, errno {code}: {failed}") from None


def disk_full(sweep, every):
    """From some write on nothing more can be written there."""
    count = sweep.uses()["write"]
    with open(sweep.file, "rb") as file:
        document = file.read()
    for use in range(1, count + 1, every):
        old = document if use % 2 else None
        sweep.empty_disk(old)
        sweep.break_by(f"full {use} {errno.ENOSPC}")
        ended = sweep.run(*SMALL).expect_status(4)
        try:
            expect_failed_well(sweep, ended, os.strerror(errno.ENOSPC), old, True)
        except harness.Failed as failed:
            raise harness.Failed(f"full from write {use} of {count} on: {failed}") from None


def mounted(sweep, options, *words, before=":"):
    """A run in a mount namespace of its own, in which the folder is another file system."""
    script = f"mount {options} {shlex.quote(sweep.disk)} && {before} && exec \"$@\""
    if subprocess.run(["unshare", "-m", "sh", "-c", f"mount {options} {shlex.quote(sweep.disk)}"], capture_output=True,
                      check=False).returncode:
        raise Skipped("may not mount")
    return harness.run(["unshare", "-m", "sh", "-c", script, "sh", *sweep.command(*words)], sweep.env, sweep.folder)


def small_file_system(sweep):
    """A real one, so small that the journal does not fit."""
    ended = mounted(sweep, "-t tmpfs -o size=8k tmpfs", *SMALL).expect_status(4)
    expect(os.strerror(errno.ENOSPC) in ended.err, ended.err)
    (path,) = re.findall(r"what was measured is in (\S+)", ended.err)
    expect(os.path.dirname(path) == sweep.folder, f"{path} is not in TMPDIR")
    expect(visits_in(path) >= sweep.visits_made() - 1 > 0, f"{visits_in(path)} visits kept")


def read_only_folder(sweep):
    ended = mounted(sweep, f"-o bind,ro {shlex.quote(sweep.disk)}", *SMALL).expect_status(4)
    expect(os.strerror(errno.EROFS) in ended.err and not sweep.jobs("prove"), f"not before measuring: {ended.err}")


def file_size_limit(sweep):
    """ulimit -f: an error, not death by SIGXFSZ."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    child = subprocess.run(sweep.command(*SMALL), env=sweep.env, cwd=sweep.folder, preexec_fn=limit, capture_output=True,
                           timeout=SLOW_S, check=False)
    expect(child.returncode == 4, f"exit status {child.returncode}: {child.stderr}")
    expect(os.strerror(errno.EFBIG) in child.stderr.decode(), f"{child.stderr}")
    expect_kept(sweep, child.stderr.decode())


def removed_while_running(sweep, what):
    """The journal is made again, with all that it held; so are the folder and the results."""
    child = sweep.start("--visits", "3", "--samples", "2", "-s", "TY=8", worker=PACE)
    wait_until(lambda: sweep.visits_made() >= 5, SLOW_S, "visits")
    if what == "folder":
        shutil.rmtree(sweep.disk)
    else:
        os.unlink(sweep.part)
    wait_until(lambda: os.path.exists(sweep.part) and child.poll() is None, SLOW_S, "the journal again")
    made = sweep.visits_made()
    child.kill()
    child.wait()
    expect(visits_in(sweep.part) >= made - 1, f"{visits_in(sweep.part)} of {made} visits in the new journal")
    sweep.resume("-q", worker=PACE).expect_status(0)
    expect_whole(sweep)


def two_with_one_output(sweep):
    """The second refuses, and names the first by its process."""
    child = sweep.start("--visits", "3", worker=PACE)
    wait_until(lambda: len(sweep.jobs("prove")) >= 2, SLOW_S, "proofs")
    ended = sweep.run(*SMALL).expect_status(4)
    expect(f"process {child.pid}" in ended.err and sweep.part in ended.err, ended.err)
    child.send_signal(signal.SIGTERM)
    child.wait(SLOW_S)
    load_results(sweep.file)


# ---- signals ----

def in_phase(sweep, phase):
    if phase == "write":
        return os.path.exists(sweep.met)
    return len(sweep.jobs({"open": "open", "build": "prove"}.get(phase, phase), "start" if phase == "build" else "done")
               ) >= {"open": 1, "build": 1, "prove": 5, "time": 9}[phase]


def signalled(sweep, phase, number, times):
    """Ends within 3 s of its own, saved, interrupted, --cleanup done to its end."""
    trace = os.path.join(sweep.folder, "trace")
    words = ["-s", "TY=8"] if phase in ("open", "prove", "time") else list(SMALL)
    if phase == "build":  # an answer that never comes, nor any stage
        words += ["-s", "FAULT=silent"]
    if phase == "write":  # in the middle of the document
        count = sweep.uses()["fsync"]
        sweep.empty_disk()
        sweep.break_by(f"slow fsync {count - 1} 700")
    child = sweep.start("--visits", "3", "--cleanup", f"echo begun > {trace}; sleep 0.3; echo cleaned > {trace}", *words,
                        worker=PACE if phase != "write" else ())
    wait_until(lambda: in_phase(sweep, phase), SLOW_S, f"phase {phase}")
    with Promised(3, sweep.folder) as promise:
        child.send_signal(number)
        if times > 1:  # the second in the middle of the cleanup
            wait_until(lambda: os.path.exists(trace) and os.path.getsize(trace), SLOW_S, "the cleanup")
            child.send_signal(number)
        child.wait(SLOW_S)
    expect(child.returncode == 128 + number, f"exit status {child.returncode}")
    promise.expect_kept("to end")
    sweep.expect_workers_gone()
    with open(trace, encoding="ascii") as file:
        expect(file.read() == "cleaned\n", "--cleanup was cut off")
    if phase == "open" and not os.path.exists(sweep.file):
        return
    (run,) = load_results(sweep.file)["runs"]
    complete = all(row["status"] == "ok" and row["time"] for row in run["rows"])
    expect(run["interrupted"] or (phase == "write" and complete), "not marked interrupted")


def broken_pipe(sweep):
    """Who reads the table goes away: the results are saved all the same."""
    script = f"{shlex.join(sweep.command(*SMALL))} | :"
    ended = harness.run(["bash", "-c", f"{script}; exit ${{PIPESTATUS[0]}}"], sweep.env, sweep.folder).expect_status(0, 4)
    expect(ended.status == 0 or "standard output" in ended.err, ended.err)  # it may have been quicker than `:`
    expect_whole(sweep)
    script = f"{shlex.join(sweep.command(*SMALL, '-o', '-', output=False))} | sleep 0"
    ended = harness.run(["bash", "-c", f"{script}; exit ${{PIPESTATUS[0]}}"], sweep.env, sweep.folder).expect_status(4)
    (path,) = re.findall(r"what was measured is in (\S+)", ended.err)
    expect(visits_in(path) >= sweep.visits_made() // 2 > 0, f"{path} does not hold it")


# ---- stopped processes ----

def stop_for(pid, seconds):
    """False: it ended before the stop did; the parent ends a worker that it needs no more."""
    try:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return False
    return True


def timing_worker(sweep, visits):
    """The worker in the middle of a visit, after so many."""
    def running():
        jobs = [entry for entry in sweep.log() if entry["do"] == "time"]
        return jobs[-1]["pid"] if len(jobs) >= 2 * visits and jobs[-1]["event"] == "start" else None
    wait_until(running, SLOW_S, "a visit under way")
    return running()


def stopped_worker(sweep):
    """Its visit is flagged and made again: the samples, 20 times too long, are nowhere."""
    child = sweep.start(*SMALL, worker=("--delay-time", "80"))
    for visits in (2, 4):
        expect(stop_for(timing_worker(sweep, visits), 0.2), "the worker ended in its visit")
    expect(child.wait(SLOW_S) == 0, f"exit status {child.returncode}")
    expect_whole(sweep)
    for row in sweep.rows():
        samples = [sample for visit in row["time"]["visits"] for sample in visit]
        expect(max(samples) < 2 * min(samples), f"{row_name(row)}: a stop is believed: {samples}")
        expect(row["time"]["disturbed"] == 0, f"{row_name(row)}: disturbed")
    expect(sweep.visits_made() > visits_in(sweep.file), "no visit was made again")
    with open(sweep.err_path, encoding="utf-8") as file:
        expect(file.read().count("was stopped") == 1, "not told once")


def stopped_all_the_time(sweep):
    """As under a CPU limiter: it ends, and the visits that had to be kept say so."""
    child = sweep.start(*SMALL, worker=("--delay-time", "40"))
    while child.poll() is None:
        for pid in {entry["pid"] for entry in sweep.log()}:
            if harness.is_running(pid):
                stop_for(pid, 0.005)
        time.sleep(0.01)
    expect(child.returncode == 0, f"exit status {child.returncode}")
    rows = sweep.rows()
    expect(all(row["status"] == "ok" for row in rows), f"{[outcome(row) for row in rows]}")
    expect(any("drift" in row["time"]["flags"] and row["time"]["disturbed"] for row in rows), "no flag")


def stopped_for_good(sweep):
    """A stopped worker is no row's fault: its visit is another worker's, within the deadline."""
    child = sweep.start(*SMALL, "--timeout", "1s", worker=("--delay-time", "100"))
    pid = timing_worker(sweep, 2)
    os.kill(pid, signal.SIGSTOP)
    expect(child.wait(SLOW_S) == 0, f"exit status {child.returncode}")
    expect_whole(sweep)
    sweep.expect_workers_gone()


def stopped_parent(sweep):
    """Ctrl-Z, longer than the deadline: nobody is late."""
    child = sweep.start("--quick", "-s", "TY=8", "-s", "POINTS=5", "-j", "3", "--timeout", "1s", worker=("--delay", "60"))
    wait_until(lambda: len(sweep.jobs("prove", "start")) >= 3, SLOW_S, "three proofs at a time")
    stop_for(child.pid, 1.5)
    timing_worker(sweep, 2)
    stop_for(child.pid, 1.5)
    expect(child.wait(SLOW_S) == 0, f"exit status {child.returncode}")
    expect_whole(sweep)


# ---- clocks ----

def clock_steps(sweep, seconds):
    """The time of day is set: no deadline passes, no time is wrong."""
    sweep.run(*SMALL).expect_status(0)
    before = {row_name(row): row["time"]["median_ns"] for row in sweep.rows()}
    for reading in (1, 2):
        sweep.empty_disk()
        sweep.break_by(f"jump realtime {reading} {seconds}")
        ended = sweep.run(*SMALL, "--budget", "60s").expect_status(0)
        expect(os.path.exists(sweep.met), f"reading {reading} never came")
        expect_whole(sweep)
        after = {row_name(row): row["time"]["median_ns"] for row in sweep.rows()}
        expect(set(after) == set(before), "other rows")
        bad = [name for name, ns in after.items() if not 0.9 < ns / before[name] < 1.1]
        expect(not bad, f"other times: {bad}")
        expect("-" not in ended.err.split("results")[0], ended.err)


def monotonic_jump(sweep):
    """As after a paused virtual machine: an hour passes at once, with jobs in flight. No deadline is believed."""
    for reading in range(40, 121, 20):
        sweep.empty_disk()
        sweep.break_by(f"jump monotonic {reading} 3600")
        sweep.run("--quick", "-s", "TX=16,32", "-s", "TY=8", "-s", "POINTS=5", "-j", "3", "--visits", "1",
                  worker=("--delay", "5")).expect_status(0)
        expect(os.path.exists(sweep.met), f"reading {reading} never came")
        expect_whole(sweep)


# ---- with a real worker ----

def pocl_stopped(sweep):
    """Stops land inside kernels, whose event times are the host's clock: none of them is believed."""
    command = real(sweep) + ["--visits", "6", "--samples", "20", "--precision", "100%"]
    with open(os.path.join(sweep.folder, "stderr"), "wb") as err:
        child = subprocess.Popen(command, env=sweep.env, cwd=sweep.folder, stdout=subprocess.DEVNULL, stderr=err)
    stops = 0
    while child.poll() is None:
        try:
            with open(f"/proc/{child.pid}/task/{child.pid}/children", encoding="ascii") as file:
                workers = [int(pid) for pid in file.read().split()]
            with open(sweep.part, encoding="utf-8") as file:
                timing = '"visit"' in file.read()
        except OSError:  # not yet begun, or just over
            timing = False
        # A fourth in one visit and its repetitions would be kept, and flagged.
        for pid in workers if timing and stops < 3 else []:
            stops += stop_for(pid, 0.4)
        time.sleep(0.15)
    expect(child.returncode == 0, f"exit status {child.returncode}")
    expect(stops >= 2, "it was over before it was stopped")
    with open(os.path.join(sweep.folder, "stderr"), encoding="utf-8") as file:
        expect("was stopped" in file.read(), "nothing told: no stop fell into a visit")
    samples = [sample for row in sweep.rows() for visit in row["time"]["visits"] for sample in visit]
    expect(max(samples) < 0.4e9, f"a stop is believed: {max(samples)} ns")


def pocl_asleep(sweep):
    """The machine sleeps an hour during a visit, as CLOCK_BOOTTIME tells: the visit is made again."""
    command = real(sweep) + ["--visits", "2", "--samples", "2"]
    # Each visit reads the clock twice, at its begin and at its end.
    sweep.break_by("jump boottime 4 3600", where="worker")
    ended = harness.run(command, sweep.env, sweep.folder).expect_status(0)
    expect(os.path.exists(sweep.met), "never slept")
    expect("the machine slept" in ended.err, ended.err)
    expect_whole(sweep)


def pocl_blind(sweep, why):
    """Where the system does not tell of waiting threads, the run does, once; where it does, there is nothing to say."""
    command, words = real(sweep) + ["--visits", "2", "--samples", "2"], "how long a thread waits for a processor"
    if not os.path.exists("/proc/self/schedstat"):
        raise Skipped("no schedstat here")
    ended = harness.run(command, sweep.env, sweep.folder).expect_status(0)
    expect(words not in ended.err, ended.err)
    sweep.empty_disk()
    sweep.break_by(f"blind schedstat 0 {why}", where="worker")
    ended = harness.run(command, sweep.env, sweep.folder).expect_status(0)
    expect(os.path.exists(sweep.met), "nothing was hidden")
    expect(ended.err.count(words) == 1, ended.err)
    (run,) = load_results(sweep.file)["runs"]
    expect([words in warning for warning in run["clock"]["warnings"]].count(True) == 1, f"{run['clock']}")
    expect_whole(sweep)


def main():
    options = harness.arguments(__doc__, (("--library",), {"required": True}),
                                (("--all",), {"action": "store_true", "help": "every use of every call"}))
    report = harness.Report(options.only)
    with harness.Folder(options.keep) as folder:
        def test(function, *extra, name=None):
            name = "machine_" + (name or "_".join([function.__name__, *(str(getattr(word, "name", word)) for word in extra)]))
            report.run(name, lambda: function(Machine(options, folder, name), *extra))

        for call in CALLS:
            test(failing, call, EVERY if call == "write" and not options.all else 1, name=f"failing_{call}")
        test(disk_full, 1 if options.all else EVERY, name="disk_full")
        for function in (small_file_system, read_only_folder, file_size_limit, two_with_one_output, broken_pipe):
            test(function)
        for what in ("journal", "folder"):
            test(removed_while_running, what)
        for turn, phase in enumerate(("open", "build", "prove", "time", "write")):
            for number in (signal.SIGINT, signal.SIGTERM):
                for times in (1, 2):
                    # Each phase once and twice, each by one signal and the other.
                    if options.all or (number == signal.SIGINT) == ((turn + times) % 2 == 0):
                        test(signalled, phase, number, times)
        for function in (stopped_worker, stopped_all_the_time, stopped_for_good, stopped_parent, monotonic_jump):
            test(function)
        for seconds in (-86400 * 3650, 86400):
            test(clock_steps, seconds, name=f"clock_steps_realtime_{seconds}")
        test(pocl_stopped)
        test(pocl_asleep)
        for why in (errno.ENOENT, 0):
            test(pocl_blind, why)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
