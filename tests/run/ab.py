#!/usr/bin/env python3
"""Drives `tilesweep ab` against the fake worker: what it tells of two sides that are alike, that differ in one
configuration, that fail; pairs of visits, drift, workers of its own, interruptions, wrong use.

    tests/run/ab.py [--program FILE] [--keep FOLDER] [NAME...]

Prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` a test; status 1 when one failed."""

import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
from harness import expect, load_results, row_name, wait_until  # noqa: E402
from sweep import SLOW_S, SPEC, run_tests  # noqa: E402

# One case of eight configurations of "plain" and as many of "local".
ONE_CASE = ("-s", "POINTS=5", "--size", "N=65536", "--samples", "3")
SLOW = "-DSLOWER=plain/32/8/1.1"


def ab(sweep, *words, **keywords):
    return sweep.run(*words, verb="ab", **keywords)


def compare(sweep, *words):
    ended = harness.run([sweep.program, "compare", "--format", "json", "--gate", "all", *words], sweep.env, sweep.folder)
    expect(ended.status in (0, 1), f"exit status {ended.status}: {ended.err}")
    document = harness.parse(ended.out)
    harness.check("compare", document, "the comparison")
    return document


def by_configuration(rows):
    """name without the side -> {side: row}"""
    found = {}
    for row in rows:
        found.setdefault((row["variant"], str(row["params"]), str(row["problem"]), str(row["size"])), {})[row["side"]] = row
    return found


def both_sides_in_pairs(sweep):
    """One run with rows of either side, in pairs: the same numbers, each in one process, a fresh one a round."""
    ended = ab(sweep, *ONE_CASE, "-j", "1", SPEC).expect_status(0)
    (run,) = load_results(sweep.file)["runs"]
    expect("PASS" in ended.out and "16 same" in ended.out, ended.out)
    for name, sides in by_configuration(run["rows"]).items():
        expect(set(sides) == {"a", "b"}, f"{name}: sides {set(sides)}")
        a, b = (dict(zip(sides[side]["time"]["pairs"], sides[side]["time"]["workers"])) for side in "ab")
        expect(a == b and None not in a, f"{name}: pairs and their workers differ: {a}, {b}")
        expect(len(set(a.values())) >= 5, f"{name}: {len(set(a.values()))} processes")
    expect({verdict["side"] for verdict in run["verdicts"]} == {"a", "b"} and len(run["verdicts"]) == 2, "verdicts")
    # The file says the same again, and is none to be compared with another.
    again = harness.run([sweep.program, "compare", sweep.file], sweep.env, sweep.folder).expect_status(0)
    expect(again.out == ended.out, again.out)
    for words in ((sweep.file, sweep.file), ("--history", *[sweep.file] * 6)):
        ended = harness.run([sweep.program, "compare", *words], sweep.env, sweep.folder).expect_status(2)
        expect(f"{sweep.file}: holds both sides of `tilesweep ab`" in ended.err, ended.err)


def visits_stand_side_by_side(sweep):
    ab(sweep, *ONE_CASE, "-j", "1", "--options-b", "-DB").expect_status(0)
    timed = [job["options"] for job in sweep.jobs("time")]
    order = "".join("b" if "-DB " in options else "a" for options in timed)
    same = [one.replace("-DB ", "") == other.replace("-DB ", "") for one, other in zip(timed[::2], timed[1::2])]
    expect(same.count(False) == 0, f"{same.count(False)} of {len(same)} visits have another's beside them")
    pairs = {order[i:i + 2] for i in range(0, len(order), 2)}
    expect(pairs == {"ab", "ba"}, f"orders within a pair: {pairs}")
    expect(sweep.rows()[-1]["build"]["options"].startswith("-cl-std=CL1.2 -DB "), sweep.rows()[-1]["build"]["options"])


def one_slower_under_drift(sweep):
    """The day becomes a third slower meanwhile: one run after the other would tell that, pairs do not."""
    ended = ab(sweep, *ONE_CASE, "--visits", "6", "--options-b", SLOW, worker=("--drift", "0.0003")).expect_status(1)
    rows = sweep.rows()
    medians = [min(visit) for visit in rows[0]["time"]["visits"]]
    expect(medians[-1] > 1.2 * medians[0], f"no drift: {medians}")
    found = compare(sweep, sweep.file)
    slower = [row for row in found["rows"] if row["verdict"] == "slower"]
    expect([(row["variant"], row["params"]) for row in slower] == [("plain", {"TX": 32, "TY": 8})],
           f"slower: {[row_name(row) for row in slower]}")
    expect(abs(slower[0]["ratio"]["mid"] - 1.1) < 0.01, f"ratio {slower[0]['ratio']}")  # the formula's jitter is 1 %
    expect(found["counts"]["same"] == 15, f"{found['counts']}")
    expect("counts: best of its case in A" in ended.out and "FAIL: 1 finding" in ended.out, ended.out)
    # The gate is that of compare.
    ab(sweep, *ONE_CASE, "--options-b", SLOW, "--threshold", "20%").expect_status(0)
    ended = ab(sweep, *ONE_CASE, "--options-b", SLOW, "--format", "json").expect_status(1)
    document = harness.parse(ended.out)
    harness.check("compare", document, "standard output")
    expect(document["counts"]["slower"] == 1, f"{document['counts']}")


def two_specs(sweep):
    """Paired by case, variant and parameters, whatever the benchmarks' names; the rest is told."""
    with open(SPEC, encoding="utf-8") as file:
        spec = json.load(file)
    spec.update(name="other", sources=[os.path.join(os.path.dirname(SPEC), "fake.cl")])
    spec["params"]["TX"] = [16, 32, 128]
    other = os.path.join(sweep.folder, "other.json")
    with open(other, "w", encoding="utf-8") as file:
        json.dump(spec, file)
    ended = ab(sweep, *ONE_CASE, other, "-v").expect_status(0)
    counts = compare(sweep, sweep.file)["counts"]
    expect((counts["same"], counts["vanished"], counts["appeared"]) == (8, 8, 4), f"{counts}")
    expect("appeared  fake POINTS=5 N=65536 plain TX=128 TY=4: A not there; B ok" in ended.out, ended.out)
    spec["sizes"] = spec["quick_sizes"] = [{"N": 512}]
    with open(other, "w", encoding="utf-8") as file:
        json.dump(spec, file)
    ended = ab(sweep, other).expect_status(2)
    expect("no configuration in common" in ended.err and other in ended.err, ended.err)
    # A plan is no result: neither a file, nor a journal that would be in the next one's way.
    expect("resume" not in ended.err and not os.path.exists(sweep.part), ended.err)
    expect(compare(sweep, sweep.file)["counts"] == counts, "results were written over")
    os.unlink(sweep.file)
    ab(sweep, other).expect_status(2)
    expect(not os.path.exists(sweep.file) and not os.path.exists(sweep.part), "a file without a result")


def failing_on_one_side(sweep):
    broken = sweep.worker("--fault", "time_unstable_result")
    ended = ab(sweep, *ONE_CASE, "--worker-b", broken).expect_status(1)
    expect("failed  fake POINTS=5 N=65536 plain TX=32 TY=8: A ok" in ended.out and "unstable-result" in ended.out, ended.out)
    counts = compare(sweep, sweep.file)["counts"]
    expect((counts["failed"], counts["same"]) == (8, 8), f"{counts}")
    # One that is neither among the best nor the baseline: no gate lets it pass, but for who asks for that.
    slow = {"benchmark": "fake", "problem": {"POINTS": 5}, "variant": "plain", "params": {"TX": 16, "TY": 4}}
    ended = ab(sweep, *ONE_CASE, "--options-b", "-DBREAKS=plain/16/4").expect_status(1)
    expect("failed  fake POINTS=5 N=65536 plain TX=16 TY=4" in ended.out and "counts: fails on B alone" in ended.out, ended.out)
    (row,) = (row for row in compare(sweep, sweep.file)["rows"] if row["verdict"] == "failed")
    expect(row["params"] == slow["params"] and "fails in NEW alone" in row["gated"], f"{row['gated']}")
    deployed = os.path.join(sweep.folder, "tuned.json")
    with open(deployed, "w", encoding="utf-8") as file:
        json.dump({"schema": "tilesweep.tuned/1", "best": [dict(slow, params={"TX": 32, "TY": 8})]}, file)
    for words, status in (((), 1), (("--gate", "all"), 1), (("--gate", "deployed", "--deployed", deployed), 1),
                          (("--fail-on", "slower"), 0)):
        harness.run([sweep.program, "compare", *words, sweep.file], sweep.env, sweep.folder).expect_status(status)
    ended = ab(sweep, *ONE_CASE, "--worker-b", sweep.worker(), worker=("--fault", "wrong")).expect_status(0)
    counts = compare(sweep, sweep.file)["counts"]
    expect((counts["fixed"], counts["same"]) == (8, 8), f"{counts}")


def workers_of_its_own(sweep):
    """Another environment: other processes, one at a time on the device, and no control."""
    ended = ab(sweep, *ONE_CASE, "--env-b", "FAKE=2", "--env-b", "OTHER=x=y").expect_status(0)
    (run,) = load_results(sweep.file)["runs"]
    for name, sides in by_configuration(run["rows"]).items():
        a, b = (set(sides[side]["time"]["workers"]) for side in "ab")
        expect(not a & b, f"{name}: processes that serve both sides: {a & b}")
    expect(run["environment"] == {"FAKE": "1"} and run["sides"]["b"]["measured"]["environment"] == {"FAKE": "2"}, "environment")
    expect('differs   environment FAKE: "1" -> "2"' in ended.out and "control   none" in ended.out, ended.out)
    jobs = [job for job in sweep.log() if job["do"] == "time"]
    for one, other in zip(jobs[::2], jobs[1::2]):
        expect((one["event"], other["event"], one["job"]) == ("start", "done", other["job"]), "two jobs at a time")
    ended = ab(sweep, *ONE_CASE, "-d", "all", "--env-b", "FAKE=2", worker=("--devices", "2")).expect_status(2)
    expect("work with one device" in ended.err, ended.err)
    text = json.dumps(run)
    expect("OTHER=x=y" in text, "the variable is not stored")
    ab(sweep, *ONE_CASE, "--anonymous", "--env-b", "OTHER=secret").expect_status(0)
    with open(sweep.file, encoding="utf-8") as file:
        expect("secret" not in file.read(), "--anonymous leaves a variable's value")


def host_clock_on_one_side(sweep):
    ab(sweep, *ONE_CASE, "--worker-b", sweep.worker("--clock", "host")).expect_status(0)
    clocks = {row["time"]["clock"] for row in sweep.rows()}
    expect(clocks == {"host"}, f"clocks {clocks}: like goes with like")


def interrupted_and_resumed(sweep):
    words = (*ONE_CASE, "-j", "1", "--visits", "4")
    child = sweep.start(*words, "--options-b", SLOW, verb="ab", worker=("--delay-time", "5"))
    wait_until(lambda: len(sweep.jobs("time")) > 60, SLOW_S, "visits")
    child.send_signal(signal.SIGINT)
    expect(child.wait(SLOW_S) == 130, f"exit status {child.returncode}")
    with open(sweep.err_path, encoding="utf-8") as file:
        expect(f"tilesweep ab --resume {sweep.file}" in file.read(), "what to do next")
    before = {row_name(row) + row["side"]: row["time"]["visits"] for row in sweep.rows() if row["time"]}
    expect(before, "no visit was saved")
    ended = sweep.run("--resume", sweep.file, output=False, spec=None).expect_status(2)
    expect("tilesweep ab --resume" in ended.err, ended.err)
    sweep.run("--resume", sweep.file, output=False, spec=None, verb="ab").expect_status(1)
    for row in sweep.rows():
        visits = before.get(row_name(row) + row["side"], [])
        expect(row["time"]["visits"][:len(visits)] == visits, f"{row_name(row)} {row['side']}: visits were lost")
        pairs = row["time"]["pairs"]
        expect(len(set(pairs)) == len(pairs), f"{row_name(row)} {row['side']}: pairs {pairs}")
    found = compare(sweep, sweep.file)
    expect((found["counts"]["slower"], found["counts"]["same"]) == (1, 15), f"{found['counts']}")
    expect(all(row["base"]["visits"] >= 4 for row in found["rows"]), "visits")


def resumed_with_what_it_needs(sweep):
    """A file's environment and command are never run; they are given again."""
    child = sweep.start(*ONE_CASE, "--env-b", "FAKE=2", verb="ab", worker=("--delay-time", "5"))
    wait_until(lambda: len(sweep.jobs("time")) > 10, SLOW_S, "visits")
    child.send_signal(signal.SIGINT)
    child.wait(SLOW_S)
    resume = ("--resume", sweep.file)
    ended = sweep.run(*resume, output=False, spec=None, verb="ab").expect_status(2)
    expect("give --worker-b or --env-b again" in ended.err, ended.err)
    ended = sweep.run(*resume, "--env-b", "FAKE=3", output=False, spec=None, verb="ab").expect_status(2)
    expect("FAKE=2" in ended.err and "FAKE=3" in ended.err, ended.err)
    sweep.run(*resume, "--env-b", "FAKE=2", output=False, spec=None, verb="ab").expect_status(0)
    # A file without values knows the names all the same.
    ab(sweep, *ONE_CASE, "--visits", "2", "--samples", "1", "--anonymous", "--env-b", "FAKE=2").expect_status(0)
    for variable, status in (("FAKES=2", 2), ("FAK=2", 2), ("FAKE=2", 0)):
        sweep.run(*resume, "--env-b", variable, output=False, verb="ab").expect_status(status)


def private_options(sweep):
    """With --anonymous paths in B's options stay at home; --resume must be given the same ones again."""
    words = ("--visits", "2", "--samples", "1", "--options-b")
    ab(sweep, *ONE_CASE, *words, "-DB=1").expect_status(0)
    ended = sweep.run("--resume", sweep.file, "--options-b", "-DB=1", output=False, verb="ab").expect_status(2)
    expect("leave out --options-b" in ended.err, ended.err)
    mine = "-DB=1 -I/home/somebody/inc"
    ab(sweep, *ONE_CASE, "--anonymous", *words, mine).expect_status(0)
    with open(sweep.file, encoding="utf-8") as file:
        text = file.read()
    expect("somebody" not in text, "--anonymous leaves a path of --options-b")
    (run,) = load_results(sweep.file)["runs"]
    expect(run["sides"]["b"]["options"].startswith("-DB=1 -I<path-"), run["sides"]["b"]["options"])
    expect(run["options"]["options_b"] == run["sides"]["b"]["options"], run["options"]["options_b"])
    for options, status in ((None, 2), ("-DB=1 -I/home/somebody/other", 2), (mine, 0)):
        given = ("--options-b", options) if options else ()
        ended = sweep.run("--resume", sweep.file, *given, output=False, verb="ab").expect_status(status)
        expect(status == 0 or "must be given again" in ended.err, ended.err)


def resumed_from_damaged_options(sweep):
    ab(sweep, *ONE_CASE, "--visits", "2", "--samples", "1", "--options-b", "-DB").expect_status(0)
    with open(sweep.file, encoding="utf-8") as file:
        document = json.load(file)
    for specs in ([], [7]):
        document["runs"][0]["options"]["specs"] = specs
        with open(sweep.file, "w", encoding="utf-8") as file:
            json.dump(document, file)
        ended = sweep.run("--resume", sweep.file, output=False, spec=None, verb="ab").expect_status(2)
        expect(f"{sweep.file}: options.specs: expected one SPEC or two, got none" in ended.err, ended.err)


def the_longest_batches(sweep):
    """A pair that takes for ever is the only one of its process, also where its time passes 64 bits."""
    ab(sweep, *ONE_CASE, "--visits", "2", SPEC).expect_status(0)
    with open(sweep.file, encoding="utf-8") as file:
        document = json.load(file)
    (run,) = document["runs"]
    run["interrupted"] = True
    before = {row_name(row) + row["side"]: len(row["time"]["visits"]) for row in run["rows"]}
    for row in run["rows"]:
        row["time"]["batch"] = 1 << 53
    with open(sweep.file, "w", encoding="utf-8") as file:
        json.dump(document, file)
    sweep.run("--resume", sweep.file, "--visits", "5", output=False, spec=None, verb="ab").expect_status(0)
    for row in sweep.rows():
        workers = row["time"]["workers"][before[row_name(row) + row["side"]]:]
        expect(workers and len(set(workers)) == len(workers), f"{row_name(row)}: pairs share a process: {workers}")


def taken_back_in_pairs(sweep):
    """What the sentinel does not believe is made again, whole pairs of it."""
    ab(sweep, *ONE_CASE, SPEC, worker=("--disturbed", "--delay-time", "2")).expect_status(0)
    for name, sides in by_configuration(sweep.rows()).items():
        both = set(sides["a"]["time"]["pairs"]) & set(sides["b"]["time"]["pairs"])
        expect(len(both) >= 5, f"{name}: pairs {sides['a']['time']['pairs']}, {sides['b']['time']['pairs']}")


def starved_all_the_time(sweep):
    """On a machine that is always busy it ends, with what it has."""
    ended = ab(sweep, *ONE_CASE, SPEC, worker=("--starved", "always")).expect_status(0)
    expect(ended.took_s < 60, f"took {ended.took_s:.0f} s")
    for name, sides in by_configuration(sweep.rows()).items():
        expect(all(side["time"]["disturbed"] for side in sides.values()), f"{name}: not said to be disturbed")
    sweep.forget()
    ab(sweep, *ONE_CASE, SPEC, worker=("--starved", "often")).expect_status(0)
    for name, sides in by_configuration(sweep.rows()).items():
        both = set(sides["a"]["time"]["pairs"]) & set(sides["b"]["time"]["pairs"])
        expect(len(both) >= 5, f"{name}: pairs {sides['a']['time']['pairs']}, {sides['b']['time']['pairs']}")


def rows_and_digests(sweep):
    ab(sweep, *ONE_CASE, "--digest", SPEC).expect_status(0)
    rows = sweep.rows()
    expect(all(row["build"]["binary"] for row in rows), "digests")
    found = compare(sweep, sweep.file)
    expect({row["same_code"] for row in found["rows"]} == {"binary"}, "equal binaries are the same code")
    best = sweep.file + ".best"
    os.rename(sweep.file, best)
    ab(sweep, "--rows", best + ":best", SPEC, "--visits", "2", "--samples", "2").expect_status(0)
    expect(0 < len(by_configuration(sweep.rows())) < 5, f"{len(sweep.rows())} rows")


def cold_on_both_sides(sweep):
    ab(sweep, *ONE_CASE, "--cache", "cold", SPEC).expect_status(0)
    expect({row["time"]["cache"] for row in sweep.rows()} == {"cold"}, "a visit with warm caches")


def to_stdout(sweep):
    ended = ab(sweep, "--quick", "-o", "-", SPEC, output=False).expect_status(0)
    harness.check("results", harness.parse(ended.out), "standard output")
    expect("PASS" in ended.err, "no comparison on standard error")


def wrong_usage(sweep):
    for words, told in (((), "expected SPEC_A SPEC_B, or with one SPEC what B does otherwise"),
                        (("--env-b", "FAKE"), "--env-b: expected VAR=VALUE"),
                        (("--options-b", "-DTX=8"), "--options-b: defines TX, which is an axis"),
                        ((SPEC, SPEC), "unexpected argument"),
                        (("--gate", "deployed", SPEC), "--gate deployed needs --deployed")):
        ended = ab(sweep, *words).expect_status(2)
        expect(told in ended.err, f"{words}: {ended.err}")
    sweep.run("--quick").expect_status(0)
    ended = harness.run([sweep.program, "compare", sweep.file], sweep.env, sweep.folder).expect_status(2)
    expect("expected the two sides of `tilesweep ab`, or a second results file" in ended.err, ended.err)


TESTS = (both_sides_in_pairs, visits_stand_side_by_side, one_slower_under_drift, two_specs, failing_on_one_side,
         workers_of_its_own, host_clock_on_one_side, interrupted_and_resumed, resumed_with_what_it_needs, private_options,
         resumed_from_damaged_options, the_longest_batches, taken_back_in_pairs, starved_all_the_time, rows_and_digests, cold_on_both_sides, to_stdout,
         wrong_usage)


if __name__ == "__main__":
    sys.exit(run_tests(__doc__, TESTS))
