"""`export --format google-benchmark`, read as its tools/compare.py does, and `action`, read as
github-action-benchmark does. Written from what those programs publish, not copied from them."""

import json
import math

import jsonschema

import results
from harness import expect, load_results, parse

NUMBER = {"type": "number"}
COUNT = {"type": "integer", "minimum": 0}
TEXT = {"type": "string"}

# What its reporter writes; user counters are further numbers.
GOOGLE_BENCHMARK = {
    "type": "object",
    "required": ["context", "benchmarks"],
    "properties": {
        "context": {
            "type": "object",
            "required": ["date", "host_name", "executable", "num_cpus", "mhz_per_cpu", "caches", "load_avg",
                         "library_build_type", "json_schema_version"],
            "properties": {
                "date": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$"},
                "num_cpus": COUNT, "mhz_per_cpu": COUNT, "caches": {"type": "array"},
                "load_avg": {"type": "array", "items": NUMBER}, "json_schema_version": {"const": 1},
                "library_build_type": {"enum": ["release", "debug"]}},
        },
        "benchmarks": {"type": "array", "items": {
            "type": "object",
            "required": ["name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
                         "threads", "iterations", "real_time", "cpu_time", "time_unit"],
            "properties": {
                "name": TEXT, "run_name": TEXT, "run_type": {"enum": ["iteration", "aggregate"]},
                "family_index": COUNT, "per_family_instance_index": COUNT, "repetitions": COUNT,
                "repetition_index": COUNT, "threads": COUNT, "iterations": COUNT, "real_time": NUMBER,
                "cpu_time": NUMBER, "time_unit": {"enum": ["ns", "us", "ms", "s"]},
                "aggregate_name": TEXT, "aggregate_unit": {"enum": ["time", "percentage"]},
                "error_occurred": {"const": True}, "error_message": TEXT, "skipped": {"const": True},
                "skip_message": TEXT},
            "if": {"properties": {"run_type": {"const": "iteration"}}},
            "then": {"required": ["repetition_index"]},
            "else": {"required": ["aggregate_name", "aggregate_unit"]},
        }},
    },
}


def export(place, path, form, *words):
    return parse(place.run("export", path, "--format", form, *words).expect_status(0).out)


def load(place, path, *words):
    """As compare.py loads and sorts."""
    document = export(place, path, "google-benchmark", *words)
    jsonschema.validate(document, GOOGLE_BENCHMARK)
    ordered = sorted(document["benchmarks"], key=lambda b: (b["family_index"], b["per_family_instance_index"],
                                                            b["run_type"] == "aggregate", b.get("repetition_index", -1)))
    expect(ordered == document["benchmarks"], "not in the order that its readers sort into")
    return document["benchmarks"]


def name_of(row):
    arguments = [f"{name}:{value}" for part in ("problem", "size", "params") for name, value in row[part].items()]
    return "/".join([row["benchmark"], row["variant"], *arguments])


def partition(old, new):
    """name -> (old, new): rows of one name in the unit of the first old one."""
    unit = {}
    for entry in old:
        unit.setdefault(entry["name"], entry["time_unit"])
    pairs = {name: ([], []) for name in unit}
    for side, entries in enumerate((old, new)):
        for entry in entries:
            if unit.get(entry["name"]) == entry["time_unit"]:
                pairs[entry["name"]][side].append(entry)
    return {name: pair for name, pair in pairs.items() if pair[0] and pair[1]}


def mann_whitney(x, y):
    """Two-sided p by the normal approximation, ties and continuity corrected."""
    both = sorted(x + y)
    rank, ties = {}, 0
    for value in set(both):
        count = both.count(value)
        rank[value] = both.index(value) + (count + 1) / 2
        ties += count ** 3 - count
    n = len(both)
    u = sum(rank[value] for value in x) - len(x) * (len(x) + 1) / 2
    sd = math.sqrt(len(x) * len(y) / 12 * (n + 1 - ties / (n * (n - 1))))
    z = max(0, abs(u - len(x) * len(y) / 2) - 0.5) / sd
    return math.erfc(z / math.sqrt(2))


def compare_py_finds_the_slow_one(place):
    old = place.night("old.json", "--seed", "1")
    new = place.night("new.json", "--seed", "2", "--slow", "POINTS=5 W=4096 H=4096 naive TX=64 TY=8=1.2")
    pairs = partition(load(place, old), load(place, new))
    p, change = {}, {}
    for name, (before, after) in pairs.items():
        if before[0]["run_type"] == "aggregate" or not before[0]["iterations"]:
            continue
        times = [[entry["real_time"] for entry in side] for side in (before, after)]
        expect(min(map(len, times)) >= 9, f"{name}: too few repetitions for its U test: {len(times[0])}")
        p[name], change[name] = mann_whitney(*times), sum(times[1]) / sum(times[0]) - 1
    slow = "laplacian/naive/POINTS:5/W:4096/H:4096/TX:64/TY:8"
    expect(len(p) == 78, f"{len(p)} names paired")
    expect(p[slow] < 1e-4 and 0.15 < change[slow] < 0.25, f"p {p[slow]}, change {change[slow]}")
    expect(max(change, key=change.get) == slow, "another changed more")
    expect(sorted(p.values())[len(p) // 2] > 0.05, "half of what did not change is significant")
    cpu = {entry["name"] for side in pairs.values() for entries in side for entry in entries
           if entry["cpu_time"] != entry["real_time"]}
    expect(not cpu, f"another CPU time: {cpu}")


def entries_hold_the_samples(place):
    path, rows = results.night(place)
    entries = load(place, path)
    for row in rows:
        mine = [entry for entry in entries if entry["run_name"] == name_of(row)]
        iterations = [entry for entry in mine if entry["run_type"] == "iteration"]
        expect([entry["repetition_index"] for entry in iterations] == list(range(len(iterations))), name_of(row))
        if not row["time"]:
            error = row["status"] != "skipped"
            expect(len(mine) == 1 and mine[0]["iterations"] == 0, mine)
            expect(row["status"] in mine[0]["error_message" if error else "skip_message"], mine)
            continue
        expect([entry["real_time"] for entry in iterations] == results.samples(row), name_of(row))
        expect({entry["repetitions"] for entry in mine} == {15}, "repetitions")
        bytes_per_s = row["work"]["bytes"] * 1e9 / iterations[0]["real_time"]
        expect(abs(iterations[0]["bytes_per_second"] / bytes_per_s - 1) < 1e-9, "bytes_per_second")
        told = {entry["aggregate_name"]: entry for entry in mine if entry["run_type"] == "aggregate"}
        expect(list(told) == ["mean", "median", "stddev", "cv"], list(told))
        expect(all(entry["name"] == f"{name_of(row)}_{name}" for name, entry in told.items()), "names of aggregates")
        expect(abs(told["mean"]["real_time"] - sum(results.samples(row)) / 15) < 1e-6, "mean")
        expect(abs(told["cv"]["real_time"] * told["mean"]["real_time"] / told["stddev"]["real_time"] - 1) < 1e-9, "cv")


def a_failure_is_no_speed_up(place):
    """compare.py does not look at errors: what has no time must not meet what has one, on either side."""
    good, failed = place.night("good.json", "--seed", "1"), results.night(place, "failed.json")[0]
    for old, new in ((good, failed), (failed, good), (failed, failed)):
        for name, (before, after) in partition(load(place, old), load(place, new)).items():
            no_time = [not entry["iterations"] for entry in before + after]
            expect(all(no_time) or not any(no_time), f"{name}: compared with a row without a time")


def runs_of_a_device_are_repetitions(place):
    place.night("a.json", "--seed", "1")
    path = place.night("b.json", "--seed", "2")
    together = place.path("both.json")
    place.run("merge", "a.json", "b.json", "-o", together).expect_status(0)
    entries = [entry for entry in load(place, together, *results.SPACE) if entry["run_type"] == "iteration"]
    first = [entry["real_time"] for entry in entries if entry["name"] == entries[0]["name"]]
    expect(len(first) == 30, f"{len(first)} repetitions of two runs")
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    document["runs"][0]["device"]["name"] = "Another GPU"
    place.write("c.json", document)
    ended = place.run("export", "a.json", "c.json", "--format", "google-benchmark").expect_status(0)
    names = {entry["run_name"] for entry in parse(ended.out)["benchmarks"]}
    expect(all("/device:" in name for name in names) and len(names) == 2 * 90, f"{len(names)} names")


def few_samples_are_told(place):
    path, _ = results.night(place)
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    for row in document["runs"][0]["rows"]:
        if row["time"]:
            row["time"].update(visits=row["time"]["visits"][:2], workers=[0, 1], fresh_from=2)
    ended = place.run("export", place.write("few.json", document), "--format", "google-benchmark").expect_status(0)
    expect("have fewer than 9 samples" in ended.err, ended.err)


# ---- github-action-benchmark ----

ACTION = {"type": "array", "minItems": 1, "items": {
    "type": "object", "required": ["name", "value", "unit"], "additionalProperties": False,
    "properties": {"name": TEXT, "value": {"type": "number", "exclusiveMinimum": 0}, "unit": TEXT,
                   "range": {"type": "string", "pattern": r"^± [0-9.]+$"}, "extra": TEXT}}}


def action_has_one_value_a_good_configuration(place):
    for path in (results.night(place)[0], results.REAL):
        entries = export(place, path, "action")
        jsonschema.validate(entries, ACTION)
        good = {name_of(row): row for row in load_results(path)["runs"][0]["rows"] if row["time"]}
        expect([entry["name"] for entry in entries] == list(good), "other names, or another order")
        for entry in entries:
            time = good[entry["name"]]["time"]
            expect(entry["value"] == time["median_ns"] and entry["unit"] == "ns", entry)
            if time["low_ns"]:
                half = max(time["high_ns"] - time["median_ns"], time["median_ns"] - time["low_ns"])
                expect(abs(float(entry["range"][2:]) - half) <= 1, f"{entry['range']}, expected {half}")


def action_takes_the_newest_run(place):
    place.night("old.json", "--seed", "1", "--started", "2026-11-01T00:00:00Z", "--shift", "2")
    new = place.night("new.json", "--seed", "2", "--started", "2026-11-02T00:00:00Z")
    entries = parse(place.run("export", "new.json", "old.json", "--format", "action").expect_status(0).out)
    expect(entries == export(place, new, "action"), "another than the newest run, or both")


def action_needs_a_time(place):
    path, _ = results.night(place)
    ended = place.run("export", path, "--format", "action", *results.SPACE, "-s", "TX=8").expect_status(2)
    expect(not ended.out and "none of the 4 configurations was timed" in ended.err, ended.err)


TESTS = {test.__name__: test for test in (
    compare_py_finds_the_slow_one, entries_hold_the_samples, a_failure_is_no_speed_up,
    runs_of_a_device_are_repetitions, few_samples_are_told, action_has_one_value_a_good_configuration,
    action_takes_the_newest_run, action_needs_a_time)}
