"""Results to export: a real run, and a made-up night in which every status occurs."""

import collections
import json
import os
import statistics

from harness import SRC, load_results

REAL = os.path.join(SRC, "tests", "data", "results", "h200-quick.json")

# Rows of laplacian POINTS=5, naive, and what becomes of them.
FATES = {
    "TX=8 TY=4": "build-failed:compiler",
    "TX=8 TY=8": "launch-failed:CL_OUT_OF_RESOURCES",
    "TX=8 TY=16": "wrong:mismatch",
    "TX=8 TY=32": "timeout:prove",
    "TX=16 TY=4": "crashed:signal",
    "TX=16 TY=8": "skipped:local-memory",
    "TX=16 TY=16": "skipped:budget",
}


def night(place, name="night.json", *words):
    """Its path, and its rows."""
    statuses = [word for key, fate in FATES.items()
                for word in ("--status", f"POINTS=5 W=4096 H=4096 naive {key}={fate}")]
    path = place.night(name, *statuses, *words)
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    run = document["runs"][0]
    run["counts"] = dict(collections.Counter(row["status"] for row in run["rows"]), excluded=0)
    for row in timed(run["rows"]):  # what is derived is that of the night
        medians = [statistics.median(visit) for visit in row["time"]["visits"]]
        row["time"].update(median_ns=round(statistics.median(medians)), low_ns=None, high_ns=None)
    place.write(name, document)
    return path, load_results(path)["runs"][0]["rows"]


def space(rows, variant="naive", points=5):
    return [row for row in rows if (row["variant"], row["problem"].get("POINTS")) == (variant, points)]


SPACE = ("--benchmark", "laplacian", "-s", "POINTS=5", "--variant", "naive")


def timed(rows):
    return [row for row in rows if row["time"]]


def samples(row):
    return [ns for visit in row["time"]["visits"] for ns in visit]
