#!/usr/bin/python3
"""What scripts/results-page says of made-up runs, in numbers that are known. That the page is what the recorded files
say, `scripts/results-page --check` tells (tests/cli/scripts.txt).

    tests/report/test_results_page.py [NAME...]

One line `ok NAME` or `not ok NAME: why` a test; status 1 when one failed."""

import json
import os
import sys
import tempfile
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402

page = harness.script("results-page")

# ---- made-up results ----


def row(variant, visits_ns, fresh_from=0, flags=(), of_peak=None, requested=None, problem=None, **params):
    """A timed row of two samples a visit; its own median is of all visits, as tilesweep writes it."""
    ordered = sorted(visits_ns)
    return {"benchmark": "convolution", "size": {"W": 64}, "problem": problem or {"RADIUS": 1}, "variant": variant,
            "params": params, "staged": variant != "naive", "status": "ok",
            "time": {"visits": [[ns, ns] for ns in visits_ns], "fresh_from": fresh_from, "flags": list(flags),
                     "median_ns": ordered[len(ordered) // 2]},
            "work": {"bytes": 8000, "requested_bytes": requested}, "rate": {"of_peak": of_peak}}


def verdict(pays="yes", plain=None, staged=None, problem=None, mid=1.5, interval=True):
    """plain, staged: (row, ns of the visits that were compared)."""
    def choice(of):
        return of and {"variant": of[0]["variant"], "params": of[0]["params"], "median_ns": of[1]}

    ends = (mid - 0.1, mid + 0.1) if interval and mid is not None else (None, None)
    return {"benchmark": "convolution", "size": {"W": 64}, "problem": problem or {"RADIUS": 1}, "pays": pays,
            "speedup": {"low": ends[0], "mid": mid, "high": ends[1]},
            "best_plain": choice(plain), "best_staged": choice(staged)}


def run(rows=(), verdicts=(), copy=1e9, flops=2e9, **changed):
    made = {"rows": list(rows), "verdicts": list(verdicts), "counts": {"ok": len(rows), "excluded": 0},
            "device": {"name": "a device", "driver": "1.0", "type": "cpu"},
            "platform": {"name": "a platform", "version": "3.0"}, "host": {"cores": 2}, "clock": {"source": "event"},
            "peaks": {"copy_bytes_per_s": copy, "fma_flops_per_s": flops}, "started": "2026-01-01T00:00:00Z",
            "tool": {"revision": "abc", "version": "0"},
            "options": {"specs": ["x"], "devices": [], "set": {}, "size": [], "variant": [], "quick": True, "digest": False,
                        "no_baseline": False, "visits": 5, "samples": 5, "budget_ns": None}}
    return {**made, **changed}


def section(*runs):
    """The lines of a device's section, each run a file."""
    with tempfile.TemporaryDirectory() as folder:
        for number, of in enumerate(runs):
            with open(os.path.join(folder, f"{number}.json"), "w", encoding="utf-8") as file:
                json.dump({"runs": [of]}, file)
        cases, loaded = page.load(folder)
    return page.device_section("a-device", cases, loaded, [])


def cases_of(verdicts):
    """As load() gives them, without rows."""
    cases = {}
    for of in verdicts:
        cases.setdefault(page.key_of(of), []).append((of, []))
    return cases


def cells(lines, case):
    return next(line.strip("| ").split(" | ") for line in lines if line.startswith(f"| {case} |"))


def expect(got, wanted):
    assert got == wanted, f"{got!r}, not {wanted!r}"


# ---- tests ----


def share_is_of_the_time_beside_it():
    """The row's median is 5 ms, the confirmation's 8: 120 % of the peak by the one is 75 % by the other."""
    plain = row("naive", [4_000_000] * 3 + [5_000_000] + [8_000_000] * 3, 4, of_peak=1.2, TX=1)
    staged = row("local", [6_000_000] * 7, 4, of_peak=0.5, TX=1, PAD=0)
    got = cells(section(run([plain, staged], [verdict(plain=(plain, 8_000_000), staged=(staged, 6_000_000))])),
                "convolution RADIUS=1")
    expect(got[2:4] + got[5:7], ["naive TX=1, 8 ms", "75 %", "local TX=1 PAD=0, 6 ms", "50 %"])


def requested_over_compulsory():
    for asked, wanted in ((8000, "1.00×"), (12000, "1.50×"), (98000, "12.2×"), (1_368_000, "171×"), (9_000_000, "1125×"),
                          (0, "0.00×"), (None, "–")):
        plain, staged = row("naive", [10] * 6, 3, requested=asked), row("local", [20] * 6, 3, requested=8000)
        got = cells(section(run([plain, staged], [verdict(plain=(plain, 10), staged=(staged, 20))])), "convolution RADIUS=1")
        expect((got[4], got[7]), (wanted, "1.00×"))
    got = cells(section(run([staged], [verdict("unknown", staged=(staged, 20), mid=None)])), "convolution RADIUS=1")
    expect(got[2:5], ["–", "–", "–"])


def doubts_stand_behind_the_time():
    def behind(visits, fresh_from, other=6, flags=()):
        plain, staged = row("naive", [10] * visits, fresh_from, flags), row("local", [10] * other, 3)
        made = run([plain, staged], [verdict(plain=(plain, 10), staged=(staged, 10))])
        return cells(section(made), "convolution RADIUS=1")[2].removeprefix("naive , 10 ns").strip()

    expect(behind(6, 3), "")
    expect(behind(5, 3), "(2 visits)")  # of the confirmation
    expect(behind(5, 3, other=4), "")  # too few of the other: both by the sweep
    expect(behind(3, 1, other=4), "(1 visit)")
    expect(behind(1, 1), "(1 visit)")
    expect(behind(2, 0), "(2 visits)")
    expect(behind(6, 3, flags=["host-clock", "batched", "in-cache", "unstable", "drift"]), "(unstable, drift, in-cache)")
    expect(behind(1, 1, flags=["few-samples"]), "(1 visit, few-samples)")


def an_answer_of_few_visits():
    def answer(visits, low=1.4, **changed):
        plain, staged = row("naive", [10] * visits, 0), row("local", [7] * visits, 0)
        of = verdict(plain=(plain, 10), staged=(staged, 7), **changed)
        of["speedup"]["low"] = low
        return page.speedup(of, [plain, staged])

    expect(answer(3), "**yes**, 1.50× (1.40 to 1.60)")
    expect(answer(2), "yes, 1.50× (1.40 to 1.60) (2 visits)")
    expect(answer(3, low=1.004), "**yes**, 1.500× (1.004 to 1.600)")
    expect(answer(3, low=1.00001), "**yes**, 1.5000× (1.0000 to 1.6000)")


def flags_are_told_or_stand_elsewhere():
    """A flag that is added to the program is not passed over here."""
    with open(os.path.join(harness.SRC, "src", "row.c"), encoding="utf-8") as file:
        known = {line.split('"')[1] for line in file if line.startswith("    {TS_FLAG_")}
    expect(set(page.TOLD_FLAGS) | {"host-clock", "batched"}, known)


def radius_from_which_it_pays():
    for answers, wanted in (
            ("yyy", "staging pays from radius 1 on, there 1.50× (1.40 to 1.60)."),
            ("nty", "staging pays from radius 3 on, there 1.50× (1.40 to 1.60)."),
            ("ynyy", "staging pays from radius 3 on, there 1.50× (1.40 to 1.60), and at 1; not at 2."),
            ("nyu", "staging pays from radius 2 on, there 1.50× (1.40 to 1.60); not known at 3."),
            ("yunyu", "staging pays from radius 4 on, there 1.50× (1.40 to 1.60), and at 1; not at 3; not known at 2, 5."),
            ("nyn", "there is no radius up to 3 from which on staging always pays."),
            ("nyt", "there is no radius up to 3 from which on staging always pays."),
            ("nynu", "there is no radius up to 3 from which on staging always pays; not known at 4."),
            ("uu", "at no radius is it known whether staging pays.")):
        words = {"y": "yes", "n": "no", "t": "tie", "u": "unknown"}
        verdicts = [verdict(words[letter], problem={"RADIUS": radius + 1}) for radius, letter in enumerate(answers)]
        expect(page.say_radius(cases_of(verdicts)), f"Convolution: {wanted}")
    expect(page.say_radius({}), None)


def one_radius_at_several_sizes():
    for answers, wanted in ((("yes", "yes"), "from radius 1"), (("yes", "no"), "no radius up to 1"),
                            (("unknown", "no"), "no radius up to 1"), (("yes", "unknown"), "at no radius is it known")):
        assert wanted in page.say_radius(cases_of(verdict(pays) for pays in answers)), (answers, wanted)


def why_there_is_no_answer():
    cases = cases_of([verdict("yes"), verdict("unknown", problem={"RADIUS": 8}, interval=False),
                      verdict("unknown", problem={"RADIUS": 9}, mid=None)])
    expect(page.say_where(cases),
           "Local memory pays in 1 of 3 cases: convolution RADIUS=1 (1.50×). It costs in 0; 0 are a tie; 1 not known, because "
           "a single visit gives no interval: convolution RADIUS=8; 1 have no answer, because only one kind was run or nothing "
           "was timed.")


def padding_of_the_sweep():
    """Confirmed visits, which only finalists have, count nowhere; the variant is told that the number is of."""
    rows = [row("local", [100] * 3 + [900] * 5, 3, PAD=0), row("local", [120] * 3, 3, PAD=1),
            row("tiled", [200] * 3, 3, PAD=0), row("tiled", [80] * 3, 3, PAD=1), row("packed", [10] * 3, 3, TX=1)]
    got = cells(section(run(rows, [verdict(plain=None, staged=(rows[4], 10))])), "convolution RADIUS=1")
    expect(got[8:], ["1.25× tiled", "0 + 5"])
    got = cells(section(run(rows[4:], [verdict(plain=None, staged=(rows[4], 10))])), "convolution RADIUS=1")
    expect(got[8], "–")


def ceilings_of_all_runs():
    def said(*runs):
        return section(*runs)[2]

    one = run(copy=43.94e9, flops=455e9)
    assert "Ceilings: copy 43.9 GB/s, multiply-add 455 GFLOP/s; event clock." in said(one, one), said(one, one)
    assert "(a platform, 3.0; driver 1.0, 2 cores), 2026-01-01, tilesweep abc." in said(one), said(one)
    other = run(copy=33.28e9, flops=219e9, started="2026-01-03T00:00:00Z", clock={"source": "host"},
                device={"name": "a device", "driver": "1.1", "type": "cpu"})
    both = said(one, other)
    assert "copy 33.3 GB/s to 43.9 GB/s, multiply-add 219 GFLOP/s to 455 GFLOP/s; event, host clock." in both, both
    assert "driver 1.0, 1.1, 2 cores), 2026-01-01 to 2026-01-03" in both, both
    assert "copy not measured, multiply-add 2 GFLOP/s;" in said(run(copy=None)), said(run(copy=None))


def beside_other_libraries():
    product = {"size": {"M": 4, "N": 5, "K": 6}, "trans": 2, "variant": "blocked", "params": {"BM": 64, "BN": 32},
               "flops": 240, "wrong": ["CLBlast"],
               "call_ns": {"ours": [20, 24, 30], "CLBlast": [48, 48, 50], "cuBLAS": [24, 24, 24]},
               "ours_over": {"cuBLAS": {"low": 0.98, "mid": 1.0, "high": 1.02}}}
    document = {"products": [product, {**product, "trans": 0, "wrong": [], "ours_over": {}}], "started": "2026-01-01T00:00:00Z",
                "tool": "tilesweep 1", "device": {"name": "a device"}, "versions": {"cuBLAS": "PyTorch 9"},
                "ceilings": [{"unit": "B/s", "ours": 95e9, "clpeak": 100e9}, {"unit": "FLOP/s", "ours": 1.0504e12, "clpeak": 1e12}]}
    lines = page.peers_section([("here", document)])
    for line in ("| here | 4×5×6 NT | blocked BM=64 BN=32 | 10 GFLOP/s | cuBLAS | 10 GFLOP/s | 1.000× (0.980 to 1.020) |",
                 "|  |  |  |  | CLBlast | computes something else | – |",
                 "| here | 4×5×6 NN | blocked BM=64 BN=32 | 10 GFLOP/s | – | – | – |",
                 "| here | copy 95 GB/s | 100 GB/s | 0.950 | yes |",
                 "| here | multiply-add 1.05 TFLOP/s | 1 TFLOP/s | 1.050 | no |",
                 "here: a device, 2026-01-01, tilesweep 1; cuBLAS: PyTorch 9."):
        assert line in lines, (line, lines)
    bare = page.peers_section([("here", {**document, "ceilings": []})])
    assert not any("clpeak" in line for line in bare), bare


TESTS = (share_is_of_the_time_beside_it, requested_over_compulsory, doubts_stand_behind_the_time, an_answer_of_few_visits,
         flags_are_told_or_stand_elsewhere, radius_from_which_it_pays, one_radius_at_several_sizes, why_there_is_no_answer,
         padding_of_the_sweep, ceilings_of_all_runs, beside_other_libraries)


def main():
    failed = 0
    for test in TESTS:
        if sys.argv[1:] and test.__name__ not in sys.argv[1:]:
            continue
        try:
            test()
            print(f"ok results_page/{test.__name__}", flush=True)
        except Exception as fault:  # a test that breaks is a failed test
            failed += 1
            at = traceback.extract_tb(fault.__traceback__)
            line = next(frame.lineno for frame in at if frame.name == test.__name__)
            print(f"not ok results_page/{test.__name__}: {fault!r} (line {line})", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
