#!/usr/bin/env python3
"""Drives the whole of `tilesweep run` against the fake worker: no OpenCL, every fault, kills and signals in every
phase, resume, locks, budgets, progress.

    tests/run/run.py [--program FILE] [--keep FOLDER] [NAME...]

Prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` a test; status 1 when one failed."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import Failed, Promised, expect, load_journal, load_results, outcome, row_name, wait_until  # noqa: E402
from sweep import HERE, SLOW_S, SPEC, Sweep  # noqa: E402

# What becomes of a configuration whose FAULT is the word; where the protocol leaves a choice, all of it.
FAULTS = {
    "none": ["ok"], "slow": ["ok"], "talk": ["ok"], "time_slow": ["ok"], "time_talk": ["ok"],
    "crash": ["crashed:signal"], "abort": ["crashed:signal"], "exit": ["crashed:exit"],
    "half": ["crashed:exit"], "garbage": ["crashed:protocol"], "stray": ["crashed:protocol"],
    "error": ["crashed:protocol"],
    "hang": ["timeout:prove"], "silent": ["timeout:build"], "flood": ["timeout:prove"],
    "wrong": ["wrong:mismatch"], "not_finite": ["wrong:not-finite"], "unwritten": ["wrong:unwritten"],
    "out_of_bounds": ["wrong:out-of-bounds"], "input_changed": ["wrong:input-changed"],
    "skipped": ["skipped:feature"], "work_group_size": ["skipped:work-group-size"],
    "work_item_size": ["skipped:work-item-size"], "kernel_work_group_size": ["skipped:kernel-work-group-size"],
    "local_memory": ["skipped:local-memory"], "allocation": ["skipped:allocation"],
    "build_failed": ["build-failed:compiler"], "no_kernel": ["build-failed:no-kernel"], "options": ["build-failed:options"],
    "vanish": ["crashed:connection"],
    "launch_failed": ["launch-failed:CL_INVALID_KERNEL_ARGS"], "resources": ["skipped:resources"],
    "time_crash": ["crashed:signal"], "time_exit": ["crashed:exit"], "time_half": ["crashed:exit"],
    "time_garbage": ["crashed:protocol"], "time_hang": ["timeout:time"], "time_flood": ["timeout:time"],
    "stuck_reference": ["timeout:prove"],
    "no_status": ["crashed:protocol"], "no_reason": ["crashed:protocol"], "odd_code": ["crashed:protocol"],
    "huge_text": ["crashed:protocol"], "negative_at": ["crashed:protocol"], "other_verb": ["crashed:protocol"],
    "time_batch_0": ["crashed:protocol"], "time_odd_paused": ["crashed:protocol"], "time_no_samples": ["crashed:protocol"],
    "time_sample_0": ["crashed:protocol"],
    "time_unstable_result": ["wrong:unstable-result"], "time_resources": ["skipped:resources"],
    "time_out_of_bounds": ["wrong:out-of-bounds"], "time_launch_failed": ["launch-failed:CL_INVALID_KERNEL_ARGS"],
}


def visits_of(rows):
    return sum(len(row["time"]["visits"]) for row in rows if row["time"])


# ---- what a sweep finds ----

# A test of this folder's own shows these.
ELSEWHERE = {"skipped:budget"}


def every_code_is_shown(_):
    """Every reason code of docs/results.schema.json comes from some fault, so that a new one asks for its test."""
    codes = harness.reason_codes()
    shown = {outcome for outcomes in FAULTS.values() for outcome in outcomes} | ELSEWHERE
    missing = {code for code in codes if code not in shown}
    expect(not missing, f"no fault shows {sorted(missing)}")
    expect({code.split(":")[0] for code in shown} == set(harness.STATUSES), "a status that no fault shows")


def faults(sweep, jobs):
    # A reference that never ends takes ten deadlines: once is enough, and the other prover goes on meanwhile.
    words = ",".join(word for word in FAULTS if jobs == 2 or word != "stuck_reference")
    ended = sweep.run("-j", str(jobs), "-s", f"FAULT={words}", "-s", "TX=32", "-s", "TY=8", "-s", "POINTS=5",
                      "--size", "N=4096", "--visits", "2", "--samples", "2", "--timeout", "2s" if jobs > 2 else "1s", "-v",
                      timeout_s=170)
    ended.expect_status(1)
    rows = sweep.rows()
    expect(len(rows) == 2 + words.count(","), f"{len(rows)} rows")
    bad = []
    for row in rows:
        wanted = FAULTS[row["params"].get("FAULT", "none")]
        if outcome(row) not in wanted:
            bad.append(f"{row_name(row)}: {outcome(row)}, expected {' or '.join(wanted)}")
        elif row["status"] == "ok" and not (row["time"] and len(row["time"]["visits"]) >= 2):
            bad.append(f"{row_name(row)}: ok, but not timed")
        elif row["params"].get("FAULT") in ("talk", "time_talk") and "a word from the kernel" not in (row["talk"] or ""):
            bad.append(f"{row_name(row)}: talk is {row['talk']!r}")
        elif row["params"].get("FAULT") == "none" and row["talk"]:
            bad.append(f"{row_name(row)}: talk of another: {row['talk'][:40]!r}")
    expect(not bad, "; ".join(bad))
    expect(not os.path.exists(sweep.part), "the journal is still there")
    sweep.expect_workers_gone()


def retired_workers_serve_no_more(sweep):
    sweep.run("-j", "1", "-s", "FAULT=none,out_of_bounds,input_changed", "-s", "TX=8,16,32", "-s", "TY=8",
              "--size", "N=4096", "--visits", "2", "--samples", "2").expect_status(1)
    last = {}
    for entry in sweep.log():
        pid = entry["pid"]
        if pid in last and entry["event"] == "start":
            raise Failed(f"worker {pid} got {entry['options']} after {last[pid]}")
        if entry["event"] == "done" and re.search("FAULT=(out_of_bounds|input_changed)", entry["options"] or ""):
            last[pid] = entry["options"]
    expect(len(last) == 12, f"{len(last)} workers were asked for a bad configuration")


def best_tile_and_verdicts(sweep):
    ended = sweep.run().expect_status(0)
    (run,) = load_results(sweep.file)["runs"]
    expect(len(run["verdicts"]) == 4, f"{len(run['verdicts'])} verdicts")
    for verdict in run["verdicts"]:
        points, size = verdict["problem"]["POINTS"], verdict["size"]["N"]
        for side in ("best", "best_plain", "best_staged"):
            params = verdict[side]["params"]
            expect((params["TX"], params["TY"]) == (32, 8), f"{side} of POINTS={points} N={size} is {params}")
        wanted, speedup = ("yes", 1 / 0.6) if points == 9 else ("no", 1 / 1.5)
        expect(verdict["pays"] == wanted, f"POINTS={points} N={size}: pays {verdict['pays']}")
        told = verdict["speedup"]
        expect(told["low"] <= told["mid"] <= told["high"] and abs(told["mid"] / speedup - 1) < 0.02,
               f"POINTS={points} N={size}: speed-up {told}, expected {speedup:.3f}")
    for row in run["rows"]:
        workers = row["time"]["workers"]
        expect(len(workers) >= 5 and len(set(workers)) >= 2, f"{row_name(row)}: visits by workers {workers}")
    expect("TX=32" in ended.out and "results" not in ended.out.splitlines()[-1], "standard output is the verdict")
    expect({"laplacian", "fake"} & {run["specs"][0]["name"]}, "specs")


def same_seed_same_order(sweep):
    orders = []
    for seed in ("7", "7", "8"):
        sweep.forget()
        sweep.run("--seed", seed, "-j", "1", "--quick").expect_status(0)
        orders.append([(entry["options"], str(entry["size"])) for entry in sweep.jobs("time", "start")])
        expect(load_results(sweep.file)["runs"][0]["seed"] == int(seed), "the seed is not stored")
    expect(orders[0] == orders[1], "the same seed gave another order")
    expect(orders[0] != orders[2] and sorted(orders[0][:40]) != orders[0][:40], "the order does not depend on the seed")


def limits_refuse_before_building(sweep):
    sweep.run("-s", "TX=32,2048", "-s", "TY=8", "-s", "PAD=0,9000", "--quick", "--visits", "2").expect_status(0)
    skipped = {outcome(row) for row in sweep.rows() if row["status"] != "ok"}
    expect(skipped == {"skipped:local-memory"}, f"{skipped}")
    texts = {row["reason"]["text"] for row in sweep.rows() if row["status"] == "skipped"}
    expect(texts == {"needs 361360 B of local memory, device has 32768 B"}, f"{texts}")
    expect(not [job for job in sweep.jobs("prove", "start") if "PAD=9000" in job["options"]], "it was sent to a worker")
    (run,) = load_results(sweep.file)["runs"]
    expect(run["counts"]["excluded"] > 0, "TX=2048 is excluded by `where`")


def no_ok_row_is_a_finding(sweep):
    sweep.run("--quick", "-s", "FAULT=skipped", "--variant", "local", "--no-baseline").expect_status(1)


def output_to_stdout(sweep):
    ended = sweep.run("-o", "-", "--quick", output=False).expect_status(0)
    document = harness.parse(ended.out)
    harness.check("results", document, "standard output")
    expect("TX=32" in ended.err, "no verdict on standard error")


def cannot_write(sweep):
    ended = sweep.run("--quick", "-o", "/dev/full", output=False).expect_status(4)
    expect("/dev/full" in ended.err and "No space left" in ended.err, ended.err)
    ended = sweep.run("--quick", "-o", sweep.folder, output=False).expect_status(4)
    missing = os.path.join(sweep.folder, "none", "results.json")
    for verb, words in (("run", []), ("ab", ["--options-b", "-DB=1"])):
        sweep.forget()
        ended = sweep.run("--quick", "-o", missing, *words, output=False, verb=verb).expect_status(4)
        expect(f"{missing}: cannot be written: there is no folder {os.path.dirname(missing)}" in ended.err, ended.err)
        expect(not sweep.jobs("prove") and not os.path.exists(os.path.dirname(missing)), "not before measuring")
    with open("/dev/full", "wb") as full:  # the table
        child = subprocess.run(sweep.command("--quick"), env=sweep.env, cwd=sweep.folder, stdout=full,
                               stderr=subprocess.PIPE, timeout=SLOW_S, check=False)
    expect(child.returncode == 4, f"exit status {child.returncode} with a full standard output")


def context_and_options_are_stored(sweep):
    sweep.run("--quick", "--context", "commit=abc", "--context", "role=x=y").expect_status(0)
    (run,) = load_results(sweep.file)["runs"]
    expect(run["context"] == {"commit": "abc", "role": "x=y"}, f"{run['context']}")
    sweep.run("--quick", "--anonymous").expect_status(0)
    with open(sweep.file, encoding="utf-8") as file:
        text = file.read()
    for secret in ("fakehost", sweep.folder, os.path.expanduser("~") + "/"):
        expect(secret not in text, f"--anonymous leaves {secret}")
    with open(SPEC, encoding="utf-8") as file:
        spec = json.load(file)
    spec["options"] = "-I/home/somebody/inc -DWHERE=fakehost"
    spec["sources"] = [os.path.join(os.path.dirname(SPEC), name) for name in spec["sources"]]
    path = os.path.join(sweep.folder, "private.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(spec, file)
    sweep.run("--quick", "--anonymous", spec=path, worker=("--fault", "private")).expect_status(1)
    with open(sweep.file, encoding="utf-8") as file:
        text = file.read()
    for secret in ("somebody", "fakehost"):
        expect(secret not in text, f"--anonymous leaves {secret}")
    (run,) = load_results(sweep.file)["runs"]
    row = run["rows"][0]
    told = (row["build"]["options"], row["build"]["log"], row["reason"]["text"], row["talk"])
    expect(all("<path-" in text for text in told), f"{told}")


def setup_and_cleanup(sweep):
    def traces():
        with open(os.path.join(sweep.folder, "trace"), encoding="utf-8") as file:
            return file.read().split()
    hooks = ("--setup", "echo setup >> trace; echo noise", "--cleanup", "echo cleanup >> trace")
    ended = sweep.run("--quick", *hooks).expect_status(0)
    expect(traces() == ["setup", "cleanup"] and "noise" not in ended.out, f"{traces()}")
    sweep.forget()
    child = sweep.start("--quick", *hooks, worker=("--delay", "100"))
    wait_until(lambda: len(sweep.jobs("prove")) > 10, SLOW_S, "proofs")
    child.send_signal(signal.SIGINT)
    child.wait(SLOW_S)
    expect(traces()[2:] == ["setup", "cleanup"], f"after SIGINT: {traces()[2:]}")
    sweep.run("--quick", "--setup", "echo setup >> trace; exit 3", "--cleanup", "echo cleanup >> trace"
              ).expect_status(4)
    expect(traces()[4:] == ["setup", "cleanup"], f"after a failed setup: {traces()[4:]}")


# ---- devices and workers ----

def two_devices(sweep):
    sweep.run("--quick", "-d", "all", worker=("--devices", "2")).expect_status(0)
    names = [run["device"]["name"] for run in load_results(sweep.file)["runs"]]
    expect(names == ["Fake Device 0", "Fake Device 1"], f"{names}")
    sweep.run("--quick", "-d", "device 1", worker=("--devices", "2")).expect_status(0)
    names = [run["device"]["name"] for run in load_results(sweep.file)["runs"]]
    expect(names == ["Fake Device 1"], f"{names}")
    for wanted in ("fake", "nosuch", "0:7"):
        ended = sweep.run("--quick", "-d", wanted, worker=("--devices", "2")).expect_status(2)
        expect("Fake Device 0" in ended.err and "Fake Device 1" in ended.err, f"-d {wanted}: no list: {ended.err}")


def no_device(sweep):
    sweep.run("--quick", worker=("--no-platform",)).expect_status(3)
    ended = sweep.run("--quick", worker=("--devices", "0", "--dead-platform")).expect_status(3)
    expect("Dead" in ended.err and "CL_DEVICE_NOT_FOUND" in ended.err, ended.err)


def odd_workers(sweep):
    sweep.run("--quick", worker=("--banner",)).expect_status(0)
    ended = sweep.run("--quick", worker=("--hello", "tilesweep.worker/2")).expect_status(3, 4)
    expect("tilesweep.worker/2" in ended.err, ended.err)
    for command in ("/nonexistent/worker", "true", "false", "echo hello"):
        ended = harness.run([sweep.program, "run", SPEC, "--quick", "--timeout", "2s", "--worker", command, "-o",
                             sweep.file], sweep.env, sweep.folder, SLOW_S + 60).expect_status(3, 4)
        expect(ended.err, f"--worker {command}: no word of it")


def a_worker_without_hello(sweep):
    ended = sweep.run("--quick", worker=("--no-hello",), timeout_s=90).expect_status(3, 4)
    expect(ended.took_s < 75, f"took {ended.took_s:.0f} s")


def a_worker_that_cannot_open(sweep):
    for fault in ("hang", "crash", "error", "half"):
        ended = sweep.run("--quick", "--timeout", "2s", worker=("--open-fault", fault)).expect_status(3, 4)
        expect(ended.took_s < 20, f"--open-fault {fault}: took {ended.took_s:.0f} s")


def workers_that_die_often(sweep):
    """Each dies when its fifth job arrives, before it begins it: no row is blamed."""
    sweep.run("--quick", "-j", "2", "--visits", "2", worker=("--die-after", "5")).expect_status(0)
    found = {outcome(row) for row in sweep.rows()}
    expect(found == {"ok"}, f"{found}")
    sweep.expect_workers_gone()


# ---- kills, signals, resume ----

PHASES = ("open", "prove", "time", "confirm")
PACE = ("--delay", "15")  # of start_to's workers


def in_phase(sweep, phase):
    """Is the sweep well within the phase?"""
    if phase == "open":
        return len(sweep.jobs("open")) > 0
    if phase == "prove":
        return len(sweep.jobs("prove")) >= 5
    if phase == "time":
        return len(sweep.jobs("time")) >= 9
    try:
        with open(sweep.part, encoding="utf-8") as file:
            return '"fresh":true' in file.read()
    except OSError:
        return False


def start_to(sweep, phase, *words):
    child = sweep.start("--visits", "3", "--samples", "2", "--precision", "100%", "-s", "TY=8", *words, worker=PACE)
    wait_until(lambda: in_phase(sweep, phase) or child.poll() is not None, SLOW_S, f"phase {phase}")
    if child.poll() is not None:
        with open(sweep.err_path, encoding="utf-8") as err:
            raise Failed(f"ended before phase {phase}: {err.read()}")
    return child


def expect_nothing_twice(sweep):
    """After a resumed run: what was measured stands in the file once, and nothing was measured again but what was
    in flight."""
    rows = sweep.rows()
    bad = [f"{row_name(row)}: {outcome(row)}" for row in rows if row["status"] != "ok" or not row["time"]]
    expect(len(rows) == 32 and not bad, f"{len(rows)} rows; {'; '.join(bad[:3])}")
    proofs = [job["options"] for job in sweep.jobs("prove")]
    again = {options for options in proofs if proofs.count(options) > 1}
    expect(len(proofs) - len(set(proofs)) <= 2, f"proven again: {sorted(again)[:3]}")
    timed, kept = sweep.visits_made(), visits_of(rows)
    expect(kept <= timed <= kept + 1, f"{timed} visits were made, {kept} are kept")
    confirmed = {len(row["time"]["visits"]) for row in rows} - {3}
    expect(len(confirmed) == 1, f"{confirmed} visits at the confirmed rows")
    for row in rows:
        expect(row["time"]["fresh_from"] == 3, f"{row_name(row)}: fresh from {row['time']['fresh_from']}")


def killed_and_resumed(sweep, phase):
    child = start_to(sweep, phase)
    child.kill()
    child.wait()
    sweep.expect_workers_gone()
    expect(not os.path.exists(sweep.file), "a document of a killed run")
    lines = load_journal(sweep.part)
    expect("journal" in lines[0], "the journal's first line")
    if phase != "open":
        expect(len(lines) > 5, f"{len(lines)} lines in the journal")
    before = sum("visit" in line for line in lines)
    sweep.resume().expect_status(*((0,) if phase != "open" else (0, 2)))
    if phase == "open" and not os.path.exists(sweep.file):
        return  # nothing was known yet: "no run to go on with"
    expect(visits_of(sweep.rows()) >= before, "visits of the journal are lost")
    expect_nothing_twice(sweep)
    expect(not os.path.exists(sweep.part), "the journal is still there")


def killed_often_and_resumed(sweep):
    """Killed at odd moments until it is through."""
    child = sweep.start("--visits", "3", "--samples", "2", "-s", "TY=8", "-j", "2", worker=("--delay", "10"))
    for i in range(60):
        try:
            child.wait(0.9 + 0.1 * (i % 5) + 0.1 * i)
            break
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        load_journal(sweep.part) if os.path.exists(sweep.part) else None
        resumable = os.path.exists(sweep.part) and any("run" in line for line in load_journal(sweep.part))
        words = ("--resume", sweep.file) if resumable else ("--visits", "3", "--samples", "2", "-s", "TY=8", "-j", "2")
        child = sweep.start(*words, worker=("--delay", "10"), output=not resumable, spec=None if resumable else SPEC)
    expect(child.returncode == 0, f"exit status {child.returncode}")
    rows = sweep.rows()
    expect(len(rows) == 32 and all(row["time"] for row in rows), "not all rows are timed")
    sweep.expect_workers_gone()


def signalled(sweep, phase, number):
    child = start_to(sweep, phase)
    with Promised(3, sweep.folder) as promise:
        child.send_signal(number)
        try:
            status = child.wait(SLOW_S)
        except subprocess.TimeoutExpired:
            child.kill()
            raise Failed(f"not ended {SLOW_S} s after the signal") from None
    expect(status == 128 + number, f"exit status {status}")
    promise.expect_kept("to end")
    sweep.expect_workers_gone()
    if phase == "open" and not os.path.exists(sweep.file):
        return
    (run,) = load_results(sweep.file)["runs"]
    expect(run["interrupted"] is True and run["finished"], "not marked interrupted")
    if phase in ("time", "confirm"):
        expect(visits_of(run["rows"]) >= 8, f"{visits_of(run['rows'])} visits are saved")
    sweep.resume().expect_status(0)
    (run,) = load_results(sweep.file)["runs"]
    expect(run["interrupted"] is False, "still marked interrupted")
    expect_nothing_twice(sweep)


def signalled_while_hung(sweep, fault):
    child = sweep.start("-s", f"FAULT={fault}", "-s", "TX=32", "-s", "TY=8", "--quick")
    verb = "time" if fault.startswith("time_") else "prove"
    wait_until(lambda: any("FAULT=" in job["options"] for job in sweep.jobs(verb, "start")), SLOW_S, "the fault")
    with Promised(3, sweep.folder) as promise:
        child.send_signal(signal.SIGTERM)
        child.wait(SLOW_S)
    expect(child.returncode == 143, f"exit status {child.returncode}")
    promise.expect_kept("to end")
    load_results(sweep.file)
    sweep.expect_workers_gone()


def resumed_from_the_document(sweep):
    """The journal of an interrupted run may have been thrown away."""
    child = start_to(sweep, "time")
    child.send_signal(signal.SIGINT)
    child.wait(10)
    if os.path.exists(sweep.part):
        os.unlink(sweep.part)
    sweep.resume().expect_status(0)
    expect_nothing_twice(sweep)


def resume_of_nothing(sweep):
    missing = os.path.join(sweep.folder, "none.json")
    ended = harness.run([sweep.program, "run", "--resume", missing], sweep.env, sweep.folder).expect_status(2)
    expect(missing in ended.err, ended.err)
    sweep.run("--quick").expect_status(0)
    sweep.forget()
    sweep.resume().expect_status(0)
    expect(not [job for job in sweep.log() if job["do"] in ("prove", "time")], "a complete run was measured again")


def resumed_as_it_was_asked_for(sweep):
    """What would drop rows, or be passed over in silence, is refused; the order of JSON keys is no matter."""
    child = start_to(sweep, "time")
    child.send_signal(signal.SIGINT)
    child.wait(10)
    with open(sweep.part, encoding="utf-8") as file:
        journal = file.read()
    with open(os.path.join(HERE, "fake.json"), encoding="utf-8") as file:
        other = json.load(file)
    other["name"] = "other"
    other["sources"] = [os.path.join(HERE, source) for source in other["sources"]]
    path = os.path.join(sweep.folder, "other.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(other, file)
    for words in ([path], [SPEC, path], ["--no-baseline"], ["--seed", "77"], ["--context", "a=b"], ["-s", "TX=8"]):
        ended = sweep.resume(*words)
        ended.expect_status(2)
        with open(sweep.part, encoding="utf-8") as file:
            expect(file.read() == journal, f"the journal changed by {words}")
    before = load_results(sweep.file)
    os.unlink(sweep.part)
    with open(sweep.file, "w", encoding="utf-8") as file:
        json.dump(before, file, sort_keys=True)
    sweep.resume().expect_status(0)
    kept = {row_name(row): row["time"]["visits"] for row in load_results(sweep.file)["runs"][0]["rows"]}
    for row in before["runs"][0]["rows"]:
        if row["time"]:
            visits = [v for name, v in kept.items() if sorted(name.split()) == sorted(row_name(row).split())]
            count = len(row["time"]["visits"])
            expect(visits and visits[0][:count] == row["time"]["visits"], f"{row_name(row)} was measured anew")


# ---- locks, budgets, rows ----

def one_at_a_time(sweep):
    words = ("--quick", "-s", "TX=32,64")
    children = [subprocess.Popen(sweep.command(*words, "-o", os.path.join(sweep.folder, f"{i}.json"), output=False,
                                               worker=("--delay-time", "20")), env=sweep.env, cwd=sweep.folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for i in range(2)]
    wait_until(lambda: len(sweep.jobs("time")) > 2, SLOW_S, "a visit")
    refused = sweep.run(*words, "--no-wait", worker=("--delay-time", "20")).expect_status(4)
    expect(re.search(rf"process ({children[0].pid}|{children[1].pid})\b", refused.err), refused.err)
    errs = [child.communicate(timeout=SLOW_S)[1].decode() for child in children]
    expect([child.returncode for child in children] == [0, 0], f"{errs}")
    expect(sum("waiting for process" in err for err in errs) == 1, f"{errs}")
    spans, begun = [], {}
    for entry in sweep.log():
        if entry["do"] == "time" and entry["event"] == "start":
            begun[entry["pid"]] = entry["at_ns"]
        elif entry["do"] == "time":
            spans.append((begun[entry["pid"]], entry["at_ns"]))
    spans.sort()
    overlaps = sum(b[0] < a[1] for a, b in zip(spans, spans[1:]))
    expect(len(spans) > 20 and overlaps == 0, f"{overlaps} visits at the same time")


def same_output_twice(sweep):
    child = start_to(sweep, "time")
    ended = sweep.run("--quick", "--no-wait", worker=("--devices", "1")).expect_status(4)
    expect(f"process {child.pid}" in ended.err, ended.err)
    child.send_signal(signal.SIGINT)
    child.wait(10)


def journals_are_not_overwritten(sweep):
    """Neither an unfinished one, nor one that cannot be read."""
    for damage in ("", "xx\n", '{"journal":"tilesweep.journal/2"}\n'):
        child = start_to(sweep, "time")
        child.kill()
        child.wait(10)
        with open(sweep.part, encoding="utf-8") as file:
            text = file.read()
        kept = damage + text if "journal" in damage else text + damage
        with open(sweep.part, "w", encoding="utf-8") as file:
            file.write(kept)
        ended = sweep.run("--quick").expect_status(4)
        expect(sweep.part in ended.err, ended.err)
        with open(sweep.part, encoding="utf-8") as file:
            expect(file.read().startswith(kept.rstrip("\n")[:200]), f"the journal changed ({damage!r})")
        os.unlink(sweep.part)
        sweep.forget()


def a_worker_dies_idle(sweep):
    """One of several provers is killed when it has nothing in hand: the others go on and the run ends."""
    child = sweep.start("--quick", "-s", "TX=8", "-s", "TY=4", "-j", "3", worker=("--delay-prove", "1500"))
    # Four configurations: who is done with one of the first three first gets the last, the others nothing.
    wait_until(lambda: len(sweep.jobs("prove")) >= 3, SLOW_S, "three proofs")
    time.sleep(0.3)
    workers, busy = {job["pid"] for job in sweep.jobs("prove")}, sweep.jobs("prove")[0]["pid"]
    expect(child.poll() is None and len(workers) == 3, f"{workers}, status {child.returncode}")
    for pid in workers - {busy}:
        os.kill(pid, signal.SIGKILL)
    expect(child.wait(SLOW_S) in (0, 1), f"exit status {child.returncode}")
    sweep.expect_workers_gone()


def lock_wait_is_interrupted(sweep):
    first = start_to(sweep, "time")
    second = sweep.start("--visits", "3", "-o", os.path.join(sweep.folder, "2.json"), output=False, worker=PACE)
    wait_until(lambda: "waiting for process" in open(sweep.err_path, encoding="utf-8").read(), SLOW_S, "the wait")
    with Promised(3, sweep.folder) as promise:
        second.send_signal(signal.SIGINT)
        second.wait(SLOW_S)
    expect(second.returncode == 130, f"exit status {second.returncode}")
    promise.expect_kept("to end")
    first.send_signal(signal.SIGINT)
    first.wait(SLOW_S)


def budget(sweep):
    ended = sweep.run("--budget", "6s", "--visits", "3", "--samples", "2", worker=("--delay", "60"))
    ended.expect_status(0, 1)
    expect(ended.took_s < 10, f"took {ended.took_s:.1f} s")
    rows = sweep.rows()
    expect(len(rows) == 64, f"{len(rows)} rows")
    found = {outcome(row) for row in rows}
    expect(found == {"ok", "skipped:budget"}, f"{found}")
    for row in rows:
        expect(row["status"] != "ok" or row["time"], f"{row_name(row)}: ok without a time")
    cases = {(row["size"]["N"], row["problem"]["POINTS"]) for row in rows if row["status"] == "ok"}
    expect(len(cases) == 4, f"only {sorted(cases)} have a time: the budget is shared evenly")
    (run,) = load_results(sweep.file)["runs"]
    expect(run["interrupted"] is False, "a budget is no interrupt")
    last = {(job["options"], str(job["size"])): job["prove_last"] for job in sweep.jobs("time")}
    expect(all(last.values()), f"{sum(not proven for proven in last.values())} rows are not proven after their last visit")
    expect(sum(job["prove_last"] for job in sweep.jobs("time")) < 2 * len(last), "a proof after every visit")


FEW_TILES = ("--quick", "-s", "TX=8,32")


def ceilings_again(sweep, times):
    """Before the proofs and now and then between visits: the best look counts; one that fails, or that the budget leaves out, costs
    nothing."""
    best, words = {"1,0.5": (1, ()), "0.5,1,0.3": (1, ()), "0.5,die,0.4": (0.5, ()), "0.4,0.7,0.1": (0.7, ("--budget", "10m")),
                   "0.5,1": (0.5, ("--budget", "1ms"))}[times]
    ended = sweep.run(*FEW_TILES, *words, worker=("--ceilings", times))
    looks = len(sweep.jobs("peaks", "start"))
    expect(looks == 1 if "1ms" in words else looks >= 2, f"{looks} looks")
    (run,) = load_results(sweep.file)["runs"]
    copy = run["peaks"]["copy_bytes_per_s"]
    expect(abs(copy / (best * 2e10) - 1) < 1e-6, f"copy ceiling {copy}")
    rates = [row["rate"] for row in run["rows"] if row["time"]]
    expect(len(rates) == (0 if "1ms" in words else len(run["rows"])), f"{len(rates)} rates")
    for rate in rates:
        expect(rate["bound"] == "memory" and abs(rate["of_peak"] * copy / rate["bytes_per_s"] - 1) < 1e-3, f"{rate}, copy {copy}")
    expect(f"ceilings: copy {best * 20:.3g} GB/s" in re.sub(r"\.0+ ", " ", ended.out), ended.out[:300])
    expect(("could not be measured again" in ended.err) == ("die" in times), ended.err)
    if "1ms" not in words:
        ended.expect_status(0)


def ceilings_are_a_small_part(sweep):
    """No second look before ten times as long as the first took has passed, and no third before ten times that."""
    sweep.run(*FEW_TILES, worker=("--delay-peaks", "3000")).expect_status(0)
    expect(len(sweep.jobs("peaks")) == 1, f"{len(sweep.jobs('peaks'))} looks")
    sweep.forget()
    sweep.run("--visits", "4", worker=("--delay", "10", "--delay-peaks", "50")).expect_status(0)
    at_s = [job["at_ns"] / 1e9 for job in sweep.jobs("peaks", "start")]
    after_s = [at - at_s[0] for at in at_s[1:]]
    # The parent counts from before the worker's start, which is a part of what the first look took: 9 times 50 ms, 109 times.
    expect(after_s and all(after >= least for after, least in zip(after_s, (0.45, 5.45, 50))), f"looks after {after_s} s")


def ceilings_interrupted(sweep):
    """In a later look: what was measured is saved; the resumed run looks again."""
    child = sweep.start(*FEW_TILES, worker=("--ceilings", "0.5,hang,1"))
    wait_until(lambda: len(sweep.jobs("peaks", "start")) == 2, SLOW_S, "the second look")
    child.send_signal(signal.SIGINT)
    expect(child.wait(SLOW_S) == 130, f"exit status {child.returncode}")
    sweep.resume("--budget", "10m", worker=("--ceilings", "0.5,hang,1")).expect_status(0)
    (run,) = load_results(sweep.file)["runs"]
    expect(run["peaks"]["copy_bytes_per_s"] == 2e10, f"{run['peaks']}")
    expect({outcome(row) for row in run["rows"]} == {"ok"}, "a row is lost")


def rows_option(sweep):
    sweep.run("-s", "FAULT=none,wrong,crash", "-s", "TX=16,32", "-s", "TY=8", "--visits", "2").expect_status(1)
    first = sweep.file
    failed = {row_name(row) for row in sweep.rows() if row["status"] != "ok"}
    # The recommended one and both sides, so that the verdict can be made anew.
    best = {(v[which]["variant"], tuple(v[which]["params"].values()), v["problem"]["POINTS"], v["size"]["N"])
            for v in load_results(first)["runs"][0]["verdicts"] for which in ("best", "best_plain", "best_staged")}
    sweep.file = os.path.join(sweep.folder, "2.json")
    sweep.run("--rows", f"{first}:failed", "--no-baseline", "--visits", "2").expect_status(1)
    again = {row_name(row) for row in sweep.rows()}
    expect(again == failed and failed, f"{len(again)} rows, {len(failed)} had failed")
    sweep.run("--rows", f"{first}:best", "--no-baseline", "--visits", "2").expect_status(0)
    again = {(row["variant"], tuple(row["params"].values()), row["problem"]["POINTS"], row["size"]["N"])
             for row in sweep.rows()}
    expect(again == best and len(best) >= 8, f"{sorted(again)}, expected {sorted(best)}")
    verdicts = load_results(sweep.file)["runs"][0]["verdicts"]
    expect(all(v["pays"] != "unknown" for v in verdicts), "no verdict from the best of each side")
    sweep.run("--rows", first, "--visits", "2").expect_status(1)
    expect(len(sweep.rows()) == len(load_results(first)["runs"][0]["rows"]), "not all rows of the file")


# ---- progress ----

def screen_of(text):
    """What is left on a terminal's lines: carriage return, erase in line, cursor up are enough here."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|.", text, re.S):
        if part == "\n":
            row, column = row + 1, 0
            lines.extend([""] * (row + 1 - len(lines)))
        elif part == "\r":
            column = 0
        elif re.fullmatch(r"\x1b\[[02]?K", part):
            keep = 0 if part == "\x1b[2K" else column
            lines[row] = lines[row][:keep]
        elif part.startswith("\x1b["):
            expect(part[-1] in "mhlA", f"escape sequence {part!r}")
            row -= int(part[2:-1] or 1) if part[-1] == "A" else 0
        else:
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + 1:]
            column += 1
    return [line.rstrip() for line in lines]


def run_on_terminal(sweep, *words, number=None, phase="time", **keywords):
    """Standard error on a pseudo terminal; returns exit status and what came."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(sweep.command(*words, **keywords), env=dict(sweep.env, TERM="xterm"), cwd=sweep.folder,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    came, sent = b"", False
    while True:
        ready, _, _ = select.select([ours], [], [], 0.05)
        if ready:
            try:
                chunk = os.read(ours, 65536)
            except OSError:
                break
            if not chunk:
                break
            came += chunk
        if number and not sent and in_phase(sweep, phase):
            child.send_signal(number)
            sent = True
    os.close(ours)
    return child.wait(SLOW_S), came.decode("utf-8")


def progress_on_a_terminal(sweep):
    status, text = run_on_terminal(sweep, "--visits", "3", "-s", "TY=8", "--precision", "0.001%", worker=("--delay", "10"))
    expect(status == 0, f"exit status {status}: {text[-300:]}")
    expect("prove" in text and "time" in text and "%" in text, f"no phase or percentage: {text[:300]!r}")
    expect("\rconfirm " in text, f"the confirmation is not named: {text[-600:]!r}")
    shares = [int(share) for share in re.findall(r"(\d+) ?%", text)]
    expect(all(share <= 100 for share in shares), f"{max(shares)} %")
    redraws = text.count("\r")
    expect(5 < redraws < 400, f"{redraws} redraws")
    left = [line for line in screen_of(text.replace("\r\n", "\n")) if line]
    expect(all(re.match(r"results: |warning: ", line) for line in left), f"left behind: {left}")
    expect(max(map(len, re.split(r"[\r\n]", re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", text)))) <= 80,
           "a line wider than the terminal")


def progress_after_an_interrupt(sweep):
    status, text = run_on_terminal(sweep, "--visits", "3", "-s", "TY=8", worker=("--delay", "30"),
                                   number=signal.SIGINT)
    expect(status == 130, f"exit status {status}")
    left = [line for line in screen_of(text.replace("\r\n", "\n")) if line]
    expect(all(re.match(r"results: |interrupted", line) for line in left), f"left behind: {left}")


def progress_in_a_file(sweep):
    ended = sweep.run("--visits", "3", "-s", "TY=8").expect_status(0)
    expect("\r" not in ended.err and "\x1b" not in ended.err, f"control characters: {ended.err[:200]!r}")
    expect(len(ended.err.splitlines()) <= 3, f"lines for a short run: {ended.err}")
    ended = sweep.run("--visits", "3", worker=("--delay", "25")).expect_status(0)
    lines = ended.err.splitlines()
    expect("\r" not in ended.err and "\x1b" not in ended.err, f"control characters: {ended.err[:200]!r}")
    expect(2 <= len(lines) <= 4 + ended.took_s / 4, f"{len(lines)} lines in {ended.took_s:.0f} s: {lines[:4]}")


def quiet_drops_progress_only(sweep):
    """Verdicts, failures and where the results are come with -q, too, on whichever stream is free."""
    words = ("--quick", "-s", "TX=32", "-s", "FAULT=none,wrong", "-q")
    ended = sweep.run(*words).expect_status(1)
    expect(ended.err == f"results: {sweep.file}\n", f"-q: {ended.err!r}")
    shown = ended.out
    expect("staging pays: " in shown and "  wrong mismatch: " in shown, f"-q: {shown!r}")
    ended = sweep.run(*words, "-o", "-", output=False).expect_status(1)
    json.loads(ended.out)
    expect("staging pays: " in ended.err and "  wrong mismatch: " in ended.err, f"-q -o -: {ended.err!r}")
    ended = sweep.run(*words, output=False).expect_status(1)
    expect(re.fullmatch(r"results: results/local/\S+\.json\n", ended.err), f"-q without -o: {ended.err!r}")


# ---- the parent's own cost ----

def the_parent_does_not_spin(sweep):
    child = sweep.start("-s", "FAULT=time_hang", "-s", "TX=32", "-s", "TY=8", "--quick", "--timeout", "60s")
    wait_until(lambda: any("FAULT=" in job["options"] for job in sweep.jobs("time", "start")), SLOW_S, "the hang")
    time.sleep(0.3)

    def cpu_ticks():
        with open(f"/proc/{child.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])
    before = cpu_ticks()
    time.sleep(2)
    used = cpu_ticks() - before
    child.kill()
    child.wait()
    expect(used <= 5, f"{used} ticks of CPU in 2 s of waiting")


def many_configurations(sweep):
    """A thousand rows: nothing grows faster than it should."""
    values = ",".join(str(i) for i in range(1, 126))
    ended = sweep.run("-s", f"TX={values}", "-s", "TY=1,2", "--size", "N=4096", "--visits", "1", "--samples", "1",
                      "-j", "2", timeout_s=150)
    ended.expect_status(0)
    expect(len(sweep.rows()) == 1000, f"{len(sweep.rows())} rows")


def suspects_option(sweep):
    """What a comparison suspects is measured again, with rows of unchanged code beside it; the fresh rows decide."""
    sweep.run("--quick").expect_status(0)
    base, slower, comparison = (os.path.join(sweep.folder, name) for name in ("base.json", "slower.json", "c.json"))
    os.rename(sweep.file, base)
    with open(base, encoding="utf-8") as file:
        document = json.load(file)
    slow = document["runs"][0]["rows"][0]
    slow["time"]["visits"] = [[2 * ns for ns in visit] for visit in slow["time"]["visits"]]
    with open(slower, "w", encoding="utf-8") as file:
        json.dump(document, file)
    ended = harness.run([sweep.program, "compare", "--format", "json", "--gate", "all", base, slower], sweep.env,
                        sweep.folder).expect_status(1)
    found = harness.parse(ended.out)
    harness.check("compare", found, "the comparison")
    suspects = [row_name(row) for row in found["rows"] if row["suspect"]]
    expect(suspects == [row_name(slow)], f"suspects: {suspects}")
    with open(comparison, "w", encoding="utf-8") as file:
        file.write(ended.out)
    sweep.run("--visits", "3", "--samples", "3", "--rows", comparison + ":suspects").expect_status(0)
    again = [row_name(row) for row in sweep.rows()]
    expect(row_name(slow) in again and len(again) == 11, f"measured again: {again}")
    # The fresh rows are as fast as before, and rows that were not asked for have not vanished.
    ended = harness.run([sweep.program, "compare", base, sweep.file], sweep.env, sweep.folder).expect_status(0)
    expect("vanished" not in ended.out, ended.out)
    ended = sweep.run("--rows", base + ":suspects").expect_status(2)
    expect("names no suspects" in ended.err, ended.err)


def regression_script(sweep):
    """scripts/regression: fills the baseline, passes, confirms a slow-down by a second measurement, accepts."""
    script, folder = os.path.join(harness.SRC, "scripts", "regression"), os.path.join(sweep.folder, "nights")
    env = dict(sweep.env, TILESWEEP=sweep.program, NIGHTS="3")

    def night():
        time.sleep(1)  # nights are named by the second
        return harness.run(["sh", script, folder, "--quick", "--worker", sweep.worker(), SPEC], env, sweep.folder)

    for _ in range(3):
        night().expect_status(0)
    ended = night().expect_status(0)
    expect("PASS" in ended.out and "again" not in ended.out, ended.out)
    base = os.path.join(folder, "base")
    expect(len(os.listdir(base)) == 3, f"{os.listdir(base)} in the baseline")
    for name in os.listdir(base):  # as if the first configuration had been eight times as fast then
        path = os.path.join(base, name)
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        fast = document["runs"][0]["rows"][0]
        fast["time"]["visits"] = [[max(1, ns // 8) for ns in visit] for visit in fast["time"]["visits"]]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
    ended = night()
    expect(ended.status == 1, f"status {ended.status}: {ended.out}")
    first, again = ended.out.split("measured again")
    for part in (first, again):
        expect("slower  fake POINTS=5 N=65536 plain TX=8 TY=4: " in part, part)
    expect(any(name.startswith("confirm-") for name in os.listdir(folder)), "no second measurement")
    ended = harness.run(["sh", script, "--accept", folder], env, sweep.folder).expect_status(0)
    expect("3 of 3 runs" in ended.out, ended.out)


def main():
    options = harness.arguments(__doc__, (("--slow",), {"action": "store_true", "help": "also what takes a minute"}))
    report = harness.Report(options.only)
    with harness.Folder(options.keep) as folder:
        def test(function, *extra):
            name = function.__name__ + "".join(f"_{getattr(word, 'name', word)}" for word in extra)
            report.run(name, lambda: function(Sweep(options, folder, name), *extra))
        test(every_code_is_shown)
        for jobs in (1, 2, 8):
            test(faults, jobs)
        for function in (retired_workers_serve_no_more, best_tile_and_verdicts, same_seed_same_order,
                         limits_refuse_before_building, no_ok_row_is_a_finding, output_to_stdout, cannot_write,
                         context_and_options_are_stored, setup_and_cleanup, two_devices, no_device, odd_workers,
                         a_worker_that_cannot_open, workers_that_die_often):
            test(function)
        if options.slow:
            test(a_worker_without_hello)
        for times in ("1,0.5", "0.5,1,0.3", "0.5,die,0.4", "0.4,0.7,0.1", "0.5,1"):
            test(ceilings_again, times)
        test(ceilings_are_a_small_part)
        test(ceilings_interrupted)
        for phase in PHASES:
            test(killed_and_resumed, phase)
            test(signalled, phase, signal.SIGINT)
        test(signalled, "time", signal.SIGTERM)
        for fault in ("hang", "silent", "flood", "time_hang"):
            test(signalled_while_hung, fault)
        for function in (killed_often_and_resumed, resumed_from_the_document, resume_of_nothing, resumed_as_it_was_asked_for, one_at_a_time,
                         same_output_twice, journals_are_not_overwritten, a_worker_dies_idle, lock_wait_is_interrupted, budget, rows_option, suspects_option, regression_script, progress_on_a_terminal,
                         progress_after_an_interrupt, progress_in_a_file, quiet_drops_progress_only, the_parent_does_not_spin,
                         many_configurations):
            test(function)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
