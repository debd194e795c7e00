"""`export --format kernel-tuner`, read as Kernel Tuner's cache reader and its simulation mode do, and `t4`, by the
schema and as autotuning_methodology reads it. Written from what those programs publish, not copied from them."""

import datetime
import json
import os
import shlex

import jsonschema

import results
from harness import expect, load_results, parse

ERRORS = ("InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig")
ERROR_OF = {"build-failed": "CompilationFailedConfig", "skipped": "InvalidConfig"}  # all others: RuntimeFailedConfig
NUMBER = {"type": "number"}

CACHE = {
    "type": "object",
    "required": ["schema_version", "device_name", "kernel_name", "problem_size", "tune_params_keys", "tune_params",
                 "objective", "cache"],
    "properties": {
        "schema_version": {"const": "1.1.0"}, "device_name": {"type": "string"}, "kernel_name": {"type": "string"},
        "problem_size": {"type": "array", "items": {"type": "integer"}},
        "tune_params_keys": {"type": "array", "items": {"type": "string"}},
        "tune_params": {"type": "object", "additionalProperties": {"type": "array"}}, "objective": {"const": "time"},
        "cache": {"type": "object", "additionalProperties": {
            "type": "object",
            "required": ["time", "compile_time", "verification_time", "benchmark_time", "strategy_time",
                         "framework_time", "timestamp"],
            "properties": {
                "time": {"anyOf": [{"enum": list(ERRORS)}, NUMBER]}, "times": {"type": "array", "items": NUMBER},
                "compile_time": NUMBER, "verification_time": NUMBER, "benchmark_time": NUMBER,
                "strategy_time": NUMBER, "framework_time": NUMBER, "timestamp": {"type": "string"}}}},
    },
}

T4 = {
    "type": "object",
    "required": ["schema_version", "results"],
    "properties": {
        "schema_version": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
        "results": {"type": "array", "items": {
            "type": "object",
            "required": ["configuration", "times", "invalidity", "correctness"],
            "properties": {
                "timestamp": {"type": "string"}, "configuration": {"type": "object"}, "objectives": {"type": "array"},
                "times": {"type": "object", "properties": {
                    "compilation_time": NUMBER, "runtimes": {"type": "array"}, "framework": NUMBER,
                    "search_algorithm": NUMBER, "validation": NUMBER}},
                "invalidity": {"enum": ["timeout", "compile", "runtime", "correctness", "constraints", "correct"]},
                "correctness": NUMBER,
                "measurements": {"type": "array", "items": {"type": "object", "properties": {
                    "name": {"type": "string"}, "value": {"type": ["number", "string", "array"]},
                    "unit": {"type": "string"}}}}}}},
    },
}


def export(place, path, form, *words):
    return place.run("export", path, "--format", form, *words).expect_status(0).out


# ---- Kernel Tuner ----

def read_cache(text):
    """The document, and the text as it is opened for further entries."""
    text = text.strip()
    expect(text[-3:] in ("}\n}", "}}}"), f"ends in {text[-8:]!r}: would be taken for one that was not closed")
    document = parse(text)
    jsonschema.validate(document, CACHE)
    return document, text[:-3] + ","


def tried(rows):
    return [row for row in rows if (row["reason"] or {}).get("code") != "budget"]


def check_cache(document, rows, name):
    keys = document["tune_params_keys"]
    expect(list(document["tune_params"]) == keys == list(rows[0]["params"]), keys)
    expect(document["kernel_name"] == name and document["problem_size"] == list(rows[0]["size"].values()), name)
    expect(len(document["cache"]) == len(rows), f"{len(document['cache'])} entries, {len(rows)} rows were tried")
    for key, entry in document["cache"].items():
        expect(key == ",".join(str(entry[name]) for name in keys), f"{key}: not its parameters in their order")
        row = next(row for row in rows if all(row["params"][name] == entry[name] for name in keys))
        expect(all(entry[name] in document["tune_params"][name] for name in keys), f"{key}: a value that is in no list")
        datetime.datetime.fromisoformat(entry["timestamp"])
        for time in ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"):
            expect(isinstance(entry[time], float), f"{key}: {time} is no float")
        if row["status"] == "ok":
            expect(isinstance(entry["time"], float), f"{key}: passed over, for {entry['time']!r} is no float")
            expect(round(entry["time"] * 1e6) == row["time"]["median_ns"], f"{key}: {entry['time']} ms")
            expect([round(ms * 1e6) for ms in entry["times"]] == results.samples(row), f"{key}: samples")
            expect("__error__" not in entry, f"{key}: an error")
        else:
            wanted = ERROR_OF.get(row["status"], "RuntimeFailedConfig")
            expect((entry["time"], entry["__error__"]) == (wanted, wanted), f"{row['status']}: {entry['time']}")


def cache_of_every_status(place):
    path, rows = results.night(place)
    rows = results.space(rows)
    ended = place.run("export", path, "--format", "kernel-tuner", *results.SPACE).expect_status(0)
    expect("note: 1 of 15 configurations are left out: they were not measured" in ended.err, ended.err)
    document, opened = read_cache(ended.out)
    check_cache(document, tried(rows), "laplacian_naive")
    best = min((entry for entry in document["cache"].values() if isinstance(entry["time"], float)),
               key=lambda entry: entry["time"])
    fastest = min(results.timed(rows), key=lambda row: row["time"]["median_ns"])
    expect(all(best[name] == value for name, value in fastest["params"].items()), "another best configuration")
    further = parse(opened + '\n"1,1": {"TX": 1, "TY": 1, "time": 1.0}}\n}')  # as it appends and closes
    expect(len(further["cache"]) == len(document["cache"]) + 1, "cannot be added to")


def caches_of_a_real_run(place):
    """A file for each search space; all rows are in one of them."""
    folder = place.path("caches")
    place.run("export", results.REAL, "--format", "kernel-tuner", "-o", folder + "/").expect_status(0)
    rows, seen = load_results(results.REAL)["runs"][0]["rows"], 0
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            document, _ = read_cache(file.read())
        origin = document["tilesweep"]
        mine = [row for row in rows if all(row[key] == origin[key] for key in ("benchmark", "variant", "size", "problem"))]
        check_cache(document, tried(mine), f"{origin['benchmark']}_{origin['variant']}")
        seen += len(mine)
    expect(seen == len(rows), f"{seen} of {len(rows)} rows")


def a_space_that_was_not_reached(place):
    """A budget that ended before a variant's turn: the others are written, and it is told."""
    place.night("night.json", "--status", "POINTS=5 W=4096 H=4096 naive=skipped:budget")
    ended = place.run("export", "night.json", "--format", "kernel-tuner", "-o", "caches/").expect_status(0)
    expect(ended.err == "note: 15 of 90 configurations are left out: they were not measured\n", ended.err)
    names = sorted(os.listdir(place.path("caches")))
    expect(names == [f"laplacian-{name}-W-4096-H-4096.json" for name in ("local-POINTS-5", "local-POINTS-9", "naive-POINTS-9")],
           names)
    for form in ("kernel-tuner", "t4"):
        ended = place.run("export", "night.json", "--format", form, *results.SPACE).expect_status(2)
        expect("none of the 15 configurations was" in ended.err and not ended.out, ended.err)


def names_that_are_taken(place):
    path, _ = results.night(place)
    with open(path, encoding="utf-8") as file:
        text = file.read().replace('"TX"', '"time"')
    place.write("taken.json", json.loads(text))
    ended = place.run("export", "taken.json", "--format", "kernel-tuner", *results.SPACE).expect_status(2)
    expect("a use of its own for the name of the parameter time" in ended.err and not ended.out, ended.err)


def a_configuration_twice(place):
    path, _ = results.night(place)
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    rows = document["runs"][0]["rows"]
    rows.append(results.space(rows)[0])
    ended = place.run("export", place.write("twice.json", document), "--format", "kernel-tuner", *results.SPACE)
    expect("twice in one run" in ended.expect_status(2).err, ended.err)


def times_beyond_64_bits(place):
    """The longest that a file can tell: its sum over a batch is still a number."""
    path, _ = results.night(place)
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    for row in results.timed(document["runs"][0]["rows"]):
        row["time"]["batch"] = 1 << 53
    path = place.write("long.json", document)
    row = next(row for row in results.timed(results.space(document["runs"][0]["rows"])))
    want = sum(results.samples(row)) * 2.0**53 / 1e6
    entries = [entry for entry in parse(export(place, path, "kernel-tuner", *results.SPACE))["cache"].values() if entry["times"]]
    expect(abs(entries[0]["benchmark_time"] / want - 1) < 1e-12, entries[0])
    read_t4(export(place, path, "t4", *results.SPACE))


def several_spaces_need_a_choice(place):
    path, _ = results.night(place)
    for form in ("kernel-tuner", "t4"):
        ended = place.run("export", path, "--format", form).expect_status(2)
        options = ended.err.strip().splitlines()[1:]
        expect(len(options) == 4 and not ended.out, ended.err)
        for words in options:  # what it proposes is a choice
            place.run("export", path, "--format", form, *words.split()).expect_status(0)
    place.night("other.json", "--seed", "2")
    ended = place.run("export", path, "other.json", "--format", "t4", *results.SPACE).expect_status(2)
    expect("--run night-1" in ended.err and "--run night-2" in ended.err, ended.err)


def spaces_of_one_name(place):
    """None is written over another, neither by the number that tells two runs apart."""
    path, _ = results.night(place)
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    (run,) = document["runs"]
    like = results.timed(run["rows"])[0]
    plain = dict(like, problem={}, size={"N": 1})
    document["runs"] = [dict(run, rows=[plain]),
                        dict(run, id="other", rows=[plain, dict(like, problem={"N": "1-2"}, size={})])]
    place.run("export", place.write("same.json", document), "--format", "t4", "-o", "spaces/").expect_status(0)
    found = []
    for name in os.listdir(place.path("spaces")):
        with open(place.path(f"spaces/{name}"), encoding="utf-8") as file:
            origin = parse(file.read())["metadata"]["tilesweep"]
        found.append((origin["run"], str(origin["size"])))
    expect(len(found) == len(set(found)) == 3, f"{found}")


def sides_need_a_choice(place):
    """Both sides of `ab` are of one run: the options that are proposed tell them apart."""
    path, _ = results.night(place)
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    (run,) = document["runs"]
    run["rows"] = [dict(row, side=side) for side in "ab" for row in results.space(run["rows"])]
    path = place.write("ab.json", document)
    ended = place.run("export", path, "--format", "t4", *results.SPACE).expect_status(2)
    options = [shlex.split(words) for words in ended.err.strip().splitlines()[1:]]
    expect(len(options) == 2, ended.err)
    for words, side in zip(options, "ab"):
        document = parse(place.run("export", path, "--format", "t4", *words).expect_status(0).out)
        expect(document["metadata"]["tilesweep"]["device"].endswith(f", side {side}"), document["metadata"])


# ---- T4 ----

INVALIDITY = {"ok": "correct", "skipped": "constraints", "build-failed": "compile", "launch-failed": "runtime",
              "wrong": "correctness", "timeout": "timeout", "crashed": "runtime"}


def read_t4(text):
    document = parse(text)
    jsonschema.validate(document, T4)
    expect(document["metadata"]["timeunit"] == "milliseconds", document["metadata"])
    for result in document["results"]:
        if result["invalidity"] == "constraints":
            continue
        for key in ("compilation", "benchmark", "framework", "search_algorithm", "validation"):
            expect(isinstance(result["times"][key], float), f"times.{key}")
        values = [item["value"] for item in result["measurements"] if item["name"] == result["objectives"][0]]
        expect(len(values) == 1 and (values[0] in ("", *ERRORS) or isinstance(values[0], float)), values)
    return document["results"]


def t4_of_every_status(place):
    path, rows = results.night(place)
    rows = tried(results.space(rows))
    read = read_t4(export(place, path, "t4", *results.SPACE))
    expect(len(read) == len(rows), f"{len(read)} results, {len(rows)} rows were tried")
    for result, row in zip(read, rows):
        ok = row["status"] == "ok"
        expect(result["configuration"] == row["params"], result["configuration"])
        expect((result["invalidity"], result["correctness"]) == (INVALIDITY[row["status"]], int(ok)), result["invalidity"])
        value = result["measurements"][0]["value"]
        expect(round(value * 1e6) == row["time"]["median_ns"] if ok else value == "", value)
        named = [item["name"] for item in result["measurements"]]
        expect("median_ns" not in named and ("bytes_per_s" in named) == ok, named)
        expect([round(ms * 1e6) for ms in result["times"]["runtimes"]] == (results.samples(row) if ok else []), "runtimes")
    expect({row["status"] for row in rows} == set(INVALIDITY), "a status is missing")


def t4_of_a_real_run(place):
    place.run("export", results.REAL, "--format", "t4", "-o", place.path("t4/")).expect_status(0)
    rows, seen = tried(load_results(results.REAL)["runs"][0]["rows"]), 0
    for name in os.listdir(place.path("t4")):
        with open(place.path(f"t4/{name}"), encoding="utf-8") as file:
            seen += len(read_t4(file.read()))
    expect(seen == len(rows), f"{seen} of {len(rows)} rows")


TESTS = {test.__name__: test for test in (
    cache_of_every_status, caches_of_a_real_run, a_space_that_was_not_reached, names_that_are_taken, a_configuration_twice,
    times_beyond_64_bits,
    several_spaces_need_a_choice, spaces_of_one_name, sides_need_a_choice, t4_of_every_status, t4_of_a_real_run)}
