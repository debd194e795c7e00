"""`export --format csv`, read as Python's csv and a spreadsheet do."""

import collections
import csv
import io
import json
import os

import results
from harness import expect, load_results


def read(text):
    """Rows as dicts, by RFC 4180 and no more leniently."""
    expect(text.endswith("\r\n"), "the last line has no CRLF")
    lines = text[:-2].split("\r\n")
    expect("\n" not in "".join(lines) and "\r" not in "".join(lines), "a line end within a record")
    table = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    expect(len(table) == len(lines), f"{len(table)} records on {len(lines)} lines")
    expect(len({len(record) for record in table}) == 1, "records of several lengths")
    expect(len(set(table[0])) == len(table[0]), "a column twice")
    return [dict(zip(table[0], record)) for record in table[1:]]


def number(cell):
    return float(cell) if cell else None


def every_fact(place):
    path, rows = results.night(place)
    table = read(place.run("export", path, "--format", "csv").expect_status(0).out)
    expect(len(table) == len(rows), f"{len(table)} lines, {len(rows)} rows")
    for line, row in zip(table, rows):
        got = {key: line[key] for key in ("benchmark", "variant", "status")}
        expect(got == {key: row[key] for key in got}, got)
        expect(line["reason_code"] == (row["reason"] or {"code": ""})["code"], line["reason_code"])
        for part, prefix in (("size", "size_"), ("problem", "problem_"), ("params", "param_")):
            cells = {key[len(prefix):]: line[key] for key in line if key.startswith(prefix)}
            wanted = {name: str(row[part].get(name, "")) for name in cells}
            expect(cells == wanted and set(row[part]) <= set(cells), (part, cells))
        expect(line["staged"] == str(row["staged"]).lower(), line["staged"])
        for key in ("local_bytes", "work_group_limit", "private_bytes"):
            expect(number(line[key]) == row["geometry"][key], key)
        expect([number(line[f"local_{d}"]) for d in range(2)] == row["geometry"]["local"], "local")
        for key in ("elements", "flops", "bytes"):
            expect(number(line[key]) == row["work"][key], key)
        time = row["time"]
        for key in ("median_ns", "low_ns", "high_ns", "q1_ns", "min_ns", "max_ns", "samples", "bytes_per_s", "cache"):
            expect(bool(line[key]) == bool(time), f"{key} of a row that is {row['status']}: {line[key]!r}")
        if time:
            all_ns = results.samples(row)
            expect((number(line["min_ns"]), number(line["max_ns"])) == (min(all_ns), max(all_ns)), "min and max")
            expect((number(line["visits"]), number(line["samples"])) == (5, 15), "visits")
            expect(abs(number(line["bytes_per_s"]) * number(line["median_ns"]) / 1e9 / row["work"]["bytes"] - 1) < 1e-3,
                   "bytes_per_s")


def real_run(place):
    rows = load_results(results.REAL)["runs"][0]["rows"]
    table = read(place.run("export", results.REAL, "--format", "csv").expect_status(0).out)
    expect(len(table) == len(rows), f"{len(table)} lines")
    for line, row in zip(table, rows):
        expect(number(line["median_ns"]) == (row["time"] or {"median_ns": None})["median_ns"], line)
        expect(line["device"] == "NVIDIA H200", line["device"])
        work = row["work"]  # also of what failed, and of results that were written before there was this metric
        expect(abs(number(line["requested_over_compulsory"]) * work["bytes"] / work["requested_bytes"] - 1) < 1e-9, line)


def texts_are_data(place):
    """Nothing that a spreadsheet would run, and nothing that ends a cell or a line."""
    for text, shown in (("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(1)", "'@SUM(1)"),
                        ("\t=1", "' =1"), ("\n=1", "' =1"), ('a,"b"\r\nc', 'a,"b"? c'), ("\u00e9 \x1b[31m", "\u00e9 ?[31m"),
                        ("plain = text", "plain = text")):
        path, _ = results.night(place, "text.json", "--set", "device.name=" + json.dumps(text), "--set",
                                f"context={json.dumps({'=note': text})}")
        for line in read(place.run("export", path, "--format", "csv").expect_status(0).out):
            expect(line["device"] == shown, f"{line['device']!r}, expected {shown!r}")
            expect(line["context_=note"] == shown, line["context_=note"])


def options_choose(place):
    path, rows = results.night(place)
    for words, wanted in (
            (results.SPACE, results.space(rows)),
            (("-s", "TX=8,16", "-s", "POINTS=9"),
             [row for row in rows if row["problem"]["POINTS"] == 9 and row["params"]["TX"] in (8, 16)]),
            (("--size", "W=4096,H=4096"), rows),
            (("-d", "example"), rows),
            (("--run", "night-1"), rows)):
        table = read(place.run("export", path, "--format", "csv", *words).expect_status(0).out)
        got = [(line["variant"], line["problem_POINTS"], line["param_TX"], line["param_TY"]) for line in table]
        expect(got == [(row["variant"], str(row["problem"]["POINTS"]), str(row["params"]["TX"]), str(row["params"]["TY"]))
                       for row in wanted], words)


def sides_are_two_devices(place):
    """Both sides of `ab` have the same configurations: their rows are told apart."""
    path = place.night("ab.json")
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    (run,) = document["runs"]
    run["rows"] = [dict(row, side=side) for row in run["rows"] for side in "ab"]
    place.write("ab.json", document)
    rows = read(place.run("export", "ab.json", "--format", "csv").expect_status(0).out)
    names = collections.Counter(row["device"] for row in rows)
    half = len(run["rows"]) // 2
    expect(names == {f"{run['device']['name']}, side {side}": half for side in "ab"}, f"{names}")


def results_are_not_overwritten(place):
    """A slip of -o costs no results, neither in a folder."""
    path = place.night("night.json")
    with open(path, "rb") as file:
        before = file.read()
    os.symlink("night.json", place.path("soft.csv"))
    os.mkdir(place.path("spaces"))
    form = ("--format", "t4", "--benchmark", "laplacian")
    place.run("export", path, *form, "-o", "spaces/").expect_status(0)
    for name in os.listdir(place.path("spaces")):
        os.unlink(place.path(f"spaces/{name}"))
        os.link(path, place.path(f"spaces/{name}"))
    for words in (("--format", "csv", "-o", "night.json"), ("--format", "csv", "-o", "./soft.csv"), (*form, "-o", "spaces")):
        ended = place.run("export", path, *words).expect_status(2)
        expect("is one of the files that are read" in ended.err, ended.err)
        with open(path, "rb") as file:
            expect(file.read() == before, f"{words}: overwritten")
    ended = place.run("export", path, "--format", "csv", "-o", "").expect_status(2)
    expect("-o: expected the name of a file" in ended.err, ended.err)


TESTS = {test.__name__: test for test in (every_fact, real_run, texts_are_data, options_choose, sides_are_two_devices,
                                             results_are_not_overwritten)}
