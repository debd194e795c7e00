#!/usr/bin/env python3
"""Makes a night's results out of tests/data/results/complete.json: fresh visits around the same times, with what
is wanted changed. Seeded; for the tests of `compare`.

    night.py OUT [--seed N] [--noise 0.005] [--shift 1.0] [--started 2026-11-30T01:00:00Z] [--set PATH=JSON]...
             [--slow KEY=FACTOR]... [--drop KEY]... [--status KEY=STATUS:CODE]... [--binary] [--source KEY]...

KEY is a row as `compare` prints it, or a part of it that begins at a word: "local TX=16 TY=8 PAD=0". PATH is a
place in the run: device.driver="2.0"."""

import argparse
import json
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = (("laplacian", 5), ("laplacian", 9))


def key_of(row):
    words = [row["benchmark"]]
    for part in ("problem", "size"):
        words += [f"{name}={value}" for name, value in row[part].items()]
    words.append(row["variant"])
    words += [f"{name}={value}" for name, value in row["params"].items()]
    return " ".join(words)


def matches(row, key):
    return f" {key} " in f" {key_of(row)} "


def set_path(run, path, text):
    *above, last = path.split(".")
    for name in above:
        run = run.setdefault(name, {})
    run[last] = json.loads(text)


def time_again(row, factor, noise, rng):
    if not row["time"]:
        return
    typical = row["time"]["median_ns"]
    process = [rng.gauss(0, noise / 2) for _ in range(2)]
    visits = []
    for v in range(5):
        middle = typical * factor * (1 + process[v >= 3] + rng.gauss(0, noise))
        visits.append([max(1, round(middle * (1 + rng.gauss(0, noise / 2)))) for _ in range(3)])
    row["time"].update(visits=visits, workers=[0, 0, 0, 1, 1], fresh_from=5)


def fail(row, status):
    status, code = status.split(":")
    row.update(status=status, time=None, reason={"code": code, "text": "as the test wants it"})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--noise", type=float, default=0.005)
    parser.add_argument("--shift", type=float, default=1.0)
    parser.add_argument("--started", default="2026-11-30T01:00:00Z")
    parser.add_argument("--binary", action="store_true", help="every row with a digest of its binary")
    for name in ("slow", "drop", "status", "set", "source"):
        parser.add_argument("--" + name, action="append", default=[])
    o = parser.parse_args()
    rng = random.Random(o.seed)
    with open(os.path.join(HERE, "..", "results", "complete.json"), encoding="utf-8") as file:
        document = json.load(file)
    run = document["runs"][0]
    run.update(id=f"night-{o.seed}", started=o.started, finished=o.started, verdicts=[])
    run["rows"] = [row for row in run["rows"] if (row["benchmark"], row["problem"].get("POINTS")) in CASES]
    for row in run["rows"]:
        factor = o.shift
        for slow in o.slow:
            key, _, by = slow.rpartition("=")
            factor *= float(by) if matches(row, key) else 1
        time_again(row, factor, o.noise, rng)
        if o.binary:
            row["build"]["binary"] = "xxh3:" + key_of(row).encode().hex()[-16:]
        for key in o.source:
            if matches(row, key):
                row["source"] = "xxh3:00000000000000ff"
                if o.binary:
                    row["build"]["binary"] = "xxh3:00000000000000fe"
        for status in o.status:
            key, _, what = status.rpartition("=")
            if matches(row, key):
                fail(row, what)
    run["rows"] = [row for row in run["rows"] if not any(matches(row, key) for key in o.drop)]
    for item in o.set:
        path, _, text = item.partition("=")
        set_path(run, path, text)
    with open(o.out, "w", encoding="utf-8") as file:
        json.dump(document, file)


if __name__ == "__main__":
    main()
