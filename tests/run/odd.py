#!/usr/bin/env python3
"""`tilesweep run` among odd devices, odd options and odd surroundings, against the fake worker: nothing is passed over
in silence, nothing of somebody else's is overwritten, nothing printed steers a terminal.

    tests/run/odd.py [--program FILE] [--keep FOLDER] [NAME...]

Prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` a test; status 1 when one failed."""

import json
import os
import resource
import shlex
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import Promised, expect, load_results, outcome, row_name, wait_until  # noqa: E402
from sweep import SLOW_S, SPEC, run_tests  # noqa: E402

SMALL = ("--quick", "-s", "TX=32", "-s", "TY=8", "-s", "POINTS=5")


# ---- devices ----

def one_device_listed_twice(sweep):
    """Two ICD files may name one driver: the device is measured once, and somebody is told."""
    for chosen in (("-d", "all"), ("-d", "fake"), ("-d", "0:0", "-d", "0:1")):
        ended = sweep.run(*SMALL, *chosen, worker=("--devices", "2", "--same-id")).expect_status(0)
        runs = load_results(sweep.file)["runs"]
        expect(len(runs) == 1, f"{chosen}: {len(runs)} runs")
        expect("0:1 is 0:0 again" in ended.err, f"{chosen}: no warning: {ended.err}")
    sweep.run(*SMALL, "-d", "0:1", worker=("--devices", "2", "--same-id")).expect_status(0)


def damaged_devices_are_listed(sweep):
    """The others can be used."""
    worker = ("--devices", "2", "--bad-device")
    ended = harness.run([sweep.program, "devices", "--worker", sweep.worker(*worker)], sweep.env, sweep.folder)
    ended.expect_status(0)
    expect("MAX_WORK_GROUP_SIZE" in ended.out and "worker told" in ended.out, ended.out)
    sweep.run(*SMALL, worker=worker).expect_status(0)
    ended = sweep.run(*SMALL, worker=("--bad-device",)).expect_status(3)
    expect("MAX_WORK_GROUP_SIZE" in ended.err, ended.err)


def a_busy_device_is_listed_without_a_clock(sweep):
    child = sweep.start("--visits", "3", worker=("--delay", "50"))
    wait_until(lambda: sweep.jobs("prove"), SLOW_S, "proofs")
    ended = harness.run([sweep.program, "devices", "--json", "--worker", sweep.worker()], sweep.env, sweep.folder)
    child.kill()
    child.wait()
    document = harness.parse(ended.expect_status(0).out)
    harness.check("devices", document, "devices --json")
    expect(document["devices"][0]["clock"] is None and "held" in document["faults"][0]["text"], f"{document['faults']}")


def devices_that_do_not_exist(sweep):
    for wanted in ("", "4294967296:0", "0:4294967296", "00:0", "0:", "-0:0"):
        sweep.run(*SMALL, "-d", wanted).expect_status(2)


def names_do_not_steer_the_terminal(sweep):
    name = "Evil\x1b]0;owned\x07\x1b[2J\r\n'\"`$(touch owned)`\\"
    for words, worker in ((SMALL, ()), ((*SMALL, "-v"), ("--clock", "host")), ((*SMALL, "-d", "nosuch"), ()),
                          (SMALL, ("--open-fault", "error"))):
        ended = sweep.run(*words, worker=("--device-name", name, *worker))
        for stream in (ended.out, ended.err):
            bad = [c for c in stream if ord(c) < 32 and c not in "\n\t" or 127 <= ord(c) < 160]
            expect(not bad, f"{words}: control characters {bad}: {stream[-300:]!r}")
    expect(not os.path.exists(os.path.join(sweep.folder, "owned")), "a name was run as a command")


def a_worker_without_host(sweep):
    ended = sweep.run(*SMALL, worker=("--no-host",)).expect_status(3)
    expect("host" in ended.err, ended.err)


def a_device_without_doubles(sweep):
    """What needs them is skipped before anything is built; the rest is measured."""
    with open(SPEC, encoding="utf-8") as file:
        spec = json.load(file)
    spec["problem"]["REAL"] = ["float", "double"]
    for arg in spec["args"][:2]:
        arg["type"] = "REAL"
    spec["sources"] = [os.path.join(os.path.dirname(SPEC), source) for source in spec["sources"]]
    path = os.path.join(sweep.folder, "real.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(spec, file)
    sweep.run(*SMALL, spec=path, worker=("--no-doubles",)).expect_status(1)  # a case without a usable row
    found = {(row["problem"]["REAL"], outcome(row)) for row in sweep.rows()}
    expect(found == {("float", "ok"), ("double", "skipped:feature")}, f"{found}")
    expect(not [job for job in sweep.jobs("prove") if "REAL=double" in job["options"]], "built all the same")
    sweep.run(*SMALL, spec=path).expect_status(0)


# ---- options ----

def slips_of_the_pen(sweep):
    """Refused at once, before any worker."""
    for words in (("-o", ""), ("--resume", "")):
        sweep.run(*SMALL, *words, output=False).expect_status(2)
    expect(not sweep.log(), "a worker was started")
    ended = sweep.run("--size", "N=4096", "--size", "N=4096").expect_status(2)
    expect("given twice" in ended.err, ended.err)


def other_files_are_not_overwritten(sweep):
    path = os.path.join(sweep.folder, "mine.json")
    with open(SPEC, encoding="utf-8") as file:
        spec = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(spec)
    ended = sweep.run(*SMALL, "-o", path, output=False).expect_status(2)
    expect("mine.json" in ended.err and "not overwritten" in ended.err, ended.err)
    with open(path, encoding="utf-8") as file:
        expect(file.read() == spec, "the file changed")
    expect(not os.path.exists(path + ".part"), "a journal was left")
    os.rename(path, os.path.join(sweep.folder, "-"))  # standard output has this name, too
    ended = sweep.run(*SMALL, "-o", "-", output=False).expect_status(0)
    expect(json.loads(ended.out)["runs"], ended.out[:200])
    open(path, "w", encoding="utf-8").close()  # an empty file is nobody's
    sweep.run(*SMALL, "-o", path, output=False).expect_status(0)
    sweep.run(*SMALL, "-o", path, output=False).expect_status(0)
    ended = sweep.run("--visits", "1", "--rows", path, "-o", path, output=False).expect_status(2)
    expect("files that are read" in ended.err, ended.err)


def rows_that_are_no_configuration(sweep):
    sweep.run("--quick", "-s", "TX=16,32", "-s", "TY=8").expect_status(0)
    with open(sweep.file, encoding="utf-8") as file:
        document = json.load(file)
    for row in document["runs"][0]["rows"]:
        if row["params"]["TX"] == 16:
            row["params"]["GONE"] = 1
    other = os.path.join(sweep.folder, "other.json")
    with open(other, "w", encoding="utf-8") as file:
        json.dump(document, file)
    left = sum(1 for row in document["runs"][0]["rows"] if "GONE" in row["params"])
    sweep.file = os.path.join(sweep.folder, "2.json")
    ended = sweep.run("--rows", other, "--visits", "1").expect_status(0)
    expect(f"{left} of its rows" in ended.err and "GONE=1" in ended.err and left > 3 and "more" in ended.err,
           f"{left}: {ended.err}")
    expect(len(sweep.rows()) == len(document["runs"][0]["rows"]) - left, f"{len(sweep.rows())} rows")


def keys_that_are_no_utf8(sweep):
    """They may become one when they are mended; the document stays strict."""
    command = [os.fsencode(word) for word in sweep.command(*SMALL)] + [b"--context", b"k\xff=1", b"--context", b"k\xfe=2"]
    child = subprocess.run(command, env=sweep.env, cwd=sweep.folder, capture_output=True, timeout=SLOW_S, check=False)
    expect(child.returncode == 0, child.stderr)
    (run,) = load_results(sweep.file)["runs"]
    expect(list(run["context"].values()) == ["2"], f"{run['context']}")


# ---- where the results go ----

def long_names(sweep):
    """As long as the journal's name allows; one more is told at once."""
    for length, wanted in ((250, 0), (251, 4)):
        sweep.forget()
        path = os.path.join(sweep.folder, "n" * (length - 5) + ".json")
        ended = sweep.run(*SMALL, "-o", path, output=False).expect_status(wanted)
        expect(wanted == 0 or (not sweep.jobs("prove") and "too long" in ended.err), ended.err)


def standard_output_closed(sweep):
    command = shlex.join(sweep.command(*SMALL, "-o", "-", output=False))
    ended = harness.run(["sh", "-c", f"exec {command} >&-"], sweep.env, sweep.folder).expect_status(4)
    expect("closed" in ended.err and not sweep.jobs("prove"), ended.err)


def another_device_resumed(sweep):
    """What was not gone on with stays unfinished."""
    child = sweep.start("-d", "0:0", "--visits", "3", worker=("--devices", "2", "--delay", "15"))
    wait_until(lambda: len(sweep.jobs("time")) >= 9, SLOW_S, "visits")
    child.kill()
    child.wait()
    worker = ("--devices", "2", "--delay", "15")
    sweep.resume("-q", "-d", "0:1", worker=worker).expect_status(0)
    first, second = load_results(sweep.file)["runs"]
    expect(first["interrupted"] and not second["interrupted"], f"{first['interrupted']} {second['interrupted']}")
    expect(os.path.exists(sweep.part), "the journal of the unfinished run is gone")
    sweep.resume("-q", "-d", "0:0", worker=worker).expect_status(0)
    first, second = load_results(sweep.file)["runs"]
    bad = [row_name(row) for row in first["rows"] if outcome(row) != "ok"]
    expect(not first["interrupted"] and not bad and not os.path.exists(sweep.part), f"{bad}")


def few_descriptors(sweep):
    """Fewer workers than asked for, and all rows all the same."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
    child = subprocess.run(sweep.command("--quick", "-j", "16"), env=sweep.env, cwd=sweep.folder, preexec_fn=limit,
                           capture_output=True, timeout=SLOW_S, check=False)
    expect(child.returncode == 0, child.stderr)
    expect(b"workers instead of" in child.stderr, child.stderr)
    bad = [row_name(row) for row in sweep.rows() if outcome(row) != "ok"]
    expect(not bad, f"{bad}")


# ---- setup and cleanup ----

def failed_cleanup_is_told(sweep):
    for command in ("exit 3", "kill -KILL $$"):
        ended = sweep.run(*SMALL, "--cleanup", command).expect_status(4)
        expect("--cleanup" in ended.err, ended.err)
        expect(all(outcome(row) == "ok" for row in sweep.rows()), "the results were lost")


def hooks_end_with_the_run(sweep):
    """A signal to the process alone reaches all of the command; one that heeds none is killed."""
    mark = os.path.join(sweep.folder, "pid")
    for command in (f"sleep 60 & echo $! > {mark}; wait", f"trap '' INT TERM; sleep 60 & echo $! > {mark}; wait; sleep 60",
                    f"sh -c 'trap \"\" INT TERM; echo $$ > {mark}; sleep 60; sleep 60'; sleep 60"):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            if os.path.exists(mark):
                os.unlink(mark)
            child = sweep.start(*SMALL, "--setup", command)
            wait_until(lambda: os.path.exists(mark) and os.path.getsize(mark), SLOW_S, "the setup")
            with Promised(3, sweep.folder) as promise:
                child.send_signal(number)
                child.wait(SLOW_S)
            expect(child.returncode == status, f"{command}: exit status {child.returncode}")
            promise.expect_kept(f"to end {command}")
            with open(mark, encoding="ascii") as file:
                pid = int(file.read())
            wait_until(lambda pid=pid: not harness.is_running(pid), 3, f"{command}: its process gone")


def terminated_while_waiting(sweep):
    first = sweep.start("--visits", "3", worker=("--delay", "50"))
    wait_until(lambda: sweep.jobs("prove"), SLOW_S, "proofs")
    second = sweep.start("--visits", "3", "-o", os.path.join(sweep.folder, "2.json"), output=False)
    wait_until(lambda: "waiting for process" in open(sweep.err_path, encoding="utf-8").read(), SLOW_S, "the wait")
    second.send_signal(signal.SIGTERM)
    expect(second.wait(10) == 143, f"exit status {second.returncode}")
    with open(sweep.err_path, encoding="utf-8") as file:
        expect("Fake Device 0" in file.read(), "the message does not name the device")
    first.kill()
    first.wait()


# ---- numbers that can be trusted ----

def starved_visits_are_made_again(sweep):
    """A visit whose threads had to wait for a processor is nowhere, as long as there are others; where there never are,
    the run ends all the same and says so."""
    words = ("-s", "TX=16,32", "-s", "TY=8")
    sweep.run(*words, worker=("--starved", "often")).expect_status(0)
    for row in sweep.rows():
        samples = [sample for visit in row["time"]["visits"][:row["time"].get("fresh_from")] for sample in visit]
        expect(max(samples) < 2 * min(samples), f"{row['variant']}: a starved visit is believed: {samples}")
        expect(len(row["time"]["visits"]) >= 5, f"{row['variant']}: {len(row['time']['visits'])} visits")
    made, kept = sweep.visits_made(), sum(len(row["time"]["visits"]) for row in sweep.rows())
    expect(made > 1.3 * kept, f"{made} jobs for {kept} visits")
    sweep.forget()
    sweep.run(*words, worker=("--starved", "always")).expect_status(0)
    for row in sweep.rows():
        expect(row["time"]["disturbed"] == len(row["time"]["visits"]) >= 5, f"{row['variant']}: {row['time']['disturbed']}")
        expect("drift" in row["time"]["flags"], f"{row['variant']}: {row['time']['flags']}")


def disturbed_visits_are_made_again(sweep):
    """What was measured between two looks that differ does not stay, within bounds, and resume knows."""
    words = ("-s", "TX=16,32", "-s", "TY=8", "--size", "N=4096", "--visits", "5", "--samples", "3")
    sweep.run(*words, worker=("--disturbed", "--delay-time", "5")).expect_status(0)
    (run,) = load_results(sweep.file)["runs"]
    excursions = sum(look["excursion"] for look in run["sentinel"])
    expect(len(run["sentinel"]) > 8 and excursions > 0, f"{len(run['sentinel'])} looks, {excursions} excursions")
    made = sweep.visits_made()
    kept = sum(len(row["time"]["visits"]) for row in run["rows"])
    expect(made > kept, f"{made} visits made, {kept} kept")
    for row in run["rows"]:
        expect(len(row["time"]["visits"]) >= 5 or row["time"]["disturbed"] or row["time"]["stop"] == "time",
               f"{row_name(row)}: {row['time']['stop']}")
        expect(("drift" in row["time"]["flags"]) == (row["time"]["disturbed"] > 0), f"{row['time']['flags']}")
    sweep.forget()
    worker = ("--disturbed", "--delay-time", "5")
    sweep.file = os.path.join(sweep.folder, "2.json")
    part = sweep.file + ".part"
    child = sweep.start(*words, worker=worker)
    wait_until(lambda: os.path.exists(part) and '{"drop"' in open(part, encoding="utf-8").read(), SLOW_S, "a drop")
    child.kill()
    child.wait()
    dropped = sum(line["drop"]["visits"] for line in harness.load_journal(part) if "drop" in line)
    told = sum(1 for line in harness.load_journal(part) if "visit" in line)
    sweep.resume("-q", worker=worker).expect_status(0)
    (run,) = load_results(sweep.file)["runs"]
    expect(dropped > 0 and told > dropped and run["sentinel"], f"{told} visits, {dropped} dropped")


def what_was_not_believed_is_not_believed_after_a_kill(sweep):
    """The journal tells which visits were kept although they were disturbed: by themselves, or by the look after them."""
    words = ("-s", "TX=16,32", "-s", "TY=8", "--size", "N=4096", "--samples", "3")
    part = sweep.part

    def count(mark):
        return open(part, encoding="utf-8").read().count(mark) if os.path.exists(part) else 0
    for mark, visits, worker in (('"disturbed":true', "5", ("--starved", "always")),
                                 ('{"disturb":', "1", ("--disturbed", "--delay-time", "5"))):
        sweep.forget()
        child = sweep.start(*words, "--visits", visits, worker=worker)
        wait_until(lambda mark=mark: count(mark) >= 2, SLOW_S, mark)
        child.kill()
        child.wait()
        told = {}
        for line in harness.load_journal(part):
            for kind, value in line.items():
                if kind == "disturb" or kind == "visit" and value.get("disturbed"):
                    told[row_name(value)] = told.get(row_name(value), 0) + value.get("visits", 1)
        sweep.resume("-q", worker=("--delay-time", "1")).expect_status(0)
        found = {row_name(row): row["time"]["disturbed"] for row in sweep.rows()}
        expect(sum(told.values()) >= 2 and all(found[name] >= n for name, n in told.items()), f"{mark}: {told}, then {found}")
        for row in sweep.rows():
            expect(("drift" in row["time"]["flags"]) == (found[row_name(row)] > 0), f"{row_name(row)}: {row['time']['flags']}")
        expect(sum(found.values()) < sum(len(row["time"]["visits"]) for row in sweep.rows()), f"{mark}: all are: {found}")


def no_row_loses_its_only_visit(sweep):
    """Nor does one of a case that is over, whose last look could not tell."""
    sizes = [word for n in range(4096, 8192, 256) for word in ("--size", f"N={n}")]
    for worker, words in (((), ()), (("--starved", "looks"), sizes)):
        sweep.run("-s", "TY=8", "--visits", "1", "--samples", "1", *words,
                  worker=("--disturbed", "--delay-time", "5", *worker)).expect_status(0)
        (run,) = load_results(sweep.file)["runs"]
        expect(any(look["excursion"] for look in run["sentinel"]), "no excursion: this test shows nothing")
        bad = [f"{row_name(row)}: {outcome(row)}" for row in run["rows"] if row["status"] != "ok" or not row["time"]]
        expect(not bad, f"{bad}")
        sweep.forget()


def every_row_says_what_ended_it(sweep):
    sweep.run("-s", "TX=16,32", "-s", "TY=8", "--size", "N=4096", "--samples", "3").expect_status(0)
    stops = {row["time"]["stop"] for row in sweep.rows()}
    expect(stops == {"precision"}, f"{stops}")  # its jitter is below 1 %
    sweep.run("-s", "TX=16,32", "-s", "TY=8", "--size", "N=4096", "--samples", "1", "--precision", "0.01%").expect_status(0)
    found = [(row["time"]["stop"], len(row["time"]["visits"])) for row in sweep.rows()]
    expect(all(stop in ("plateau", "time", "visits") and 5 <= n <= 60 for stop, n in found), f"{found}")
    expect(any(n > 8 + 5 for _, n in found) or any(stop == "time" for stop, _ in found), f"{found}")
    sweep.run("--quick", "--precision", "0.01%").expect_status(0)
    stops = {row["time"]["stop"] for row in sweep.rows()}
    expect(stops == {"visits"}, f"{stops}")
    for wrong in ("0", "-1%", "1 percent", "", "nan", "2000%"):
        sweep.run("--quick", "--precision", wrong).expect_status(2)


def a_sentinel_that_cannot_be_timed(sweep):
    ended = sweep.run(*SMALL, worker=("--no-sentinel",)).expect_status(0)
    expect("sentinel" in ended.err and ended.err.count("no sentinel") == 1, ended.err)


def digests_and_dead_axes(sweep):
    """The fake worker's code does not depend on FAULT."""
    ended = sweep.run("--quick", "-s", "TX=16,32", "-s", "TY=8", "-s", "FAULT=none,talk", "--digest").expect_status(0)
    digests = {}
    for row in sweep.rows():
        expect((row["build"]["binary"] or "").startswith("xxh3:"), f"{row_name(row)}: {row['build']['binary']}")
        digests.setdefault((row["variant"], row["problem"]["POINTS"], row["params"]["TX"]), set()).add(row["build"]["binary"])
    expect(all(len(group) == 1 for group in digests.values()), f"{digests}")
    jobs = [job["options"] for job in sweep.jobs("digest")]
    expect(len(jobs) == len(set(jobs)), "a configuration was asked for twice")
    times = [entry["at_ns"] for entry in sweep.log() if entry["do"] == "time"]
    expect(max(times) < min(entry["at_ns"] for entry in sweep.log() if entry["do"] == "digest"), "not after the timing")
    expect(ended.err.count("FAULT changes nothing") == 1 and "TX changes" not in ended.err, ended.err)
    sweep.run(*SMALL).expect_status(0)
    expect(all(row["build"]["binary"] is None for row in sweep.rows()), "a digest without --digest")


def stopped_before_the_device_answers(sweep):
    """Nothing is known of the host then, and the document says so."""
    child = sweep.start(*SMALL, worker=("--open-fault", "hang"))
    wait_until(lambda: os.path.exists(sweep.log_path) and any(job["do"] == "open" for job in sweep.log()), SLOW_S, "open")
    child.send_signal(signal.SIGINT)
    expect(child.wait(10) == 130, f"exit status {child.returncode}")
    (run,) = load_results(sweep.file)["runs"]
    expect(run["interrupted"] and run["host"]["name"] is None and not run["rows"], f"{run['host']}")


def cold_caches(sweep):
    """Every visit is asked for so, also of a resumed run; the row says what it got, and compare when the sides differ."""
    def caches():
        return {(row["time"]["cache"], "part-cold" in row["time"]["flags"]) for row in sweep.rows()}
    sweep.run(*SMALL).expect_status(0)
    expect(caches() == {("warm", False)}, f"{caches()}")
    warm = sweep.file + ".warm"
    os.rename(sweep.file, warm)
    sweep.forget()
    child = sweep.start(*SMALL, "--cache", "cold", worker=("--delay-time", "5"))
    wait_until(lambda: len(sweep.jobs("time")) > 3, SLOW_S, "visits")
    child.send_signal(signal.SIGINT)
    child.wait(SLOW_S)
    sweep.resume().expect_status(0)
    expect(caches() == {("cold", False)}, f"{caches()}")
    (run,) = load_results(sweep.file)["runs"]
    expect(run["options"]["cache"] == "cold", f"{run['options']}")
    ended = harness.run([sweep.program, "compare", "-v", warm, sweep.file], sweep.env, sweep.folder).expect_status(0)
    expect('differs   option cache: not set -> "cold"' in ended.out and "a warm cache against a cold one" in ended.out, ended.out)
    for worker in ("--small-memory", "--old"):
        sweep.run(*SMALL, "--cache", "cold", worker=(worker,)).expect_status(0)
        expect(caches() == {("part", True)}, f"{worker}: {caches()}")
    ended = sweep.run("--cache", "tepid").expect_status(2)
    expect("--cache: expected warm or cold, got \"tepid\"" in ended.err, ended.err)
    for state in ("cold", "warm"):
        ended = sweep.run("--resume", sweep.file, "--cache", state, output=False, spec=None).expect_status(2)
        expect("leave out --cache" in ended.err, ended.err)


def stopped_before_anything_is_known(sweep):
    """A plan alone is not written over results; without a file it is what --resume goes on with."""
    sweep.run("--quick").expect_status(0)
    with open(sweep.file, "rb") as file:
        before = file.read()
    for there in (True, False):
        sweep.forget()
        if not there:
            os.unlink(sweep.file)
        child = sweep.start("--quick", worker=("--delay-prove", "20000"))
        wait_until(lambda: sweep.jobs("prove", "start"), SLOW_S, "a proof")
        child.send_signal(signal.SIGINT)
        expect(child.wait(SLOW_S) == 130, f"exit status {child.returncode}")
        if there:
            with open(sweep.file, "rb") as file:
                expect(file.read() == before, "the results were written over")
            expect(not os.path.exists(sweep.part), "a journal is in the next run's way")
    sweep.resume().expect_status(0)
    expect(all(row["status"] == "ok" for row in sweep.rows()), "rows")


TESTS = (stopped_before_the_device_answers, stopped_before_anything_is_known, one_device_listed_twice, damaged_devices_are_listed, a_busy_device_is_listed_without_a_clock, devices_that_do_not_exist,
         names_do_not_steer_the_terminal, a_worker_without_host, a_device_without_doubles, slips_of_the_pen, other_files_are_not_overwritten,
         rows_that_are_no_configuration, keys_that_are_no_utf8, long_names, standard_output_closed,
         another_device_resumed, few_descriptors, failed_cleanup_is_told, hooks_end_with_the_run,
         terminated_while_waiting, starved_visits_are_made_again, disturbed_visits_are_made_again,
         what_was_not_believed_is_not_believed_after_a_kill, no_row_loses_its_only_visit, every_row_says_what_ended_it,
         a_sentinel_that_cannot_be_timed, digests_and_dead_axes, cold_caches)


if __name__ == "__main__":
    sys.exit(run_tests(__doc__, TESTS))
