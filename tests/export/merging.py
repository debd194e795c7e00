"""`merge`: several results files as one."""

import glob
import json
import os
import subprocess

import results
from harness import SRC, expect, load_results


def content(path):
    with open(path, "rb") as file:
        return file.read()


def merge(place, *words, status=0):
    return place.run("merge", *words).expect_status(status)


def runs_stay_as_they_are(place):
    """Byte for byte, of files as the program writes them."""
    recorded = glob.glob(os.path.join(SRC, "results", "h200*", "*.json"))
    paths = [results.REAL, *sorted(recorded, key=os.path.getsize)[:4]]
    expect(len(paths) == 5, f"{len(recorded)} recorded runs")
    for path in paths:
        merge(place, path, "-o", "one.json")
        expect(content(place.path("one.json")) == content(path), f"{path} changed")
    merge(place, *paths, "-o", "all.json")
    together = load_results(place.path("all.json"))["runs"]
    expect(together == [run for path in paths for run in load_results(path)["runs"]], "runs changed, or their order")
    expect(merge(place, *paths, "-o", "-").out.encode() == content(place.path("all.json")), "standard output differs")


def what_is_not_known_stays(place):
    path = place.night("a.json")
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    document["later"] = {"x": [1, 2.5, "\u00e9\u0001"]}
    document["runs"][0]["rows"][0]["later"] = 9007199254740992
    place.write("a.json", document)
    place.night("b.json", "--seed", "2")
    merge(place, "a.json", "b.json", "-o", "both.json")
    both = json.loads(content(place.path("both.json")))
    expect(both["later"] == document["later"] and both["runs"][0] == document["runs"][0], "something was lost")


def what_stands_beside_the_runs(place):
    """Keys of every file, each once; where two differ the earlier one's, and it is told. A run's context is its own."""
    for number, beside in ((1, {"same": [1], "mine": "a", "context": {"x": 1}}), (2, {"same": [1], "mine": "b", "late\nr": {}, "ke\ny": 1}),
                           (3, {"last": None, "ke\ny": 2})):
        path = place.night(f"{number}.json", "--seed", str(number), "--set", f'context={{"commit":"{number}"}}')
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        place.write(f"{number}.json", dict(document, **beside))
    ended = merge(place, "1.json", "2.json", "3.json", "-o", "all.json")
    document = json.loads(content(place.path("all.json")))
    beside = {key: value for key, value in document.items() if key not in ("schema", "runs")}
    expect(beside == {"same": [1], "mine": "a", "context": {"x": 1}, "late\nr": {}, "ke\ny": 1, "last": None}, f"{beside}")
    expect([run["context"] for run in document["runs"]] == [{"commit": "1"}, {"commit": "2"}, {"commit": "3"}], "contexts")
    expect(ended.err == "note: \"mine\" of 2.json is not what an earlier file says: left out\n"
                        "note: \"ke?y\" of 3.json is not what an earlier file says: left out\n", ended.err)


def a_run_twice_is_kept_once(place):
    place.night("a.json", "--seed", "1")
    place.night("b.json", "--seed", "2")
    merge(place, "a.json", "b.json", "-o", "ab.json")
    ended = merge(place, "ab.json", "a.json", "b.json", "-o", "again.json")
    expect(content(place.path("again.json")) == content(place.path("ab.json")), "a run is there twice")
    expect(ended.err == "note: run night-1 is in ab.json and in a.json: kept once\n"
                        "note: run night-2 is in ab.json and in b.json: kept once\n", ended.err)


def one_run_with_two_contents(place):
    place.night("a.json", "--seed", "1")
    place.night("b.json", "--seed", "1", "--shift", "1.1")
    ended = merge(place, "a.json", "b.json", "-o", "ab.json", status=2)
    expect(ended.err == "tilesweep: b.json: runs[0].id: run night-1 is in a.json, too, with other contents; merge only one "
                        "of the two\n", ended.err)
    expect(not os.path.exists(place.path("ab.json")), "written all the same")


def inputs_are_not_overwritten(place):
    path, other = place.night("a.json", "--seed", "1"), place.night("b.json", "--seed", "2")
    before = content(path)
    os.link(path, place.path("link.json"))
    os.symlink("a.json", place.path("soft.json"))
    for output in ("a.json", "./a.json", "link.json", "soft.json"):
        ended = merge(place, "a.json", other, "-o", output, status=2)
        expect(f"{output}: is one of the files that are read" in ended.err, ended.err)
        expect(content(path) == before, f"{output}: overwritten")


def pipes_are_read(place):
    """What comes by a pipe can be read once: `merge <(ssh HOST cat a.json) b.json -o both.json`."""
    path, other = place.night("a.json", "--seed", "1"), place.night("b.json", "--seed", "2")
    merge(place, path, other, "-o", "both.json")
    os.mkfifo(place.path("pipe"))
    writer = subprocess.Popen(["/bin/sh", "-c", "cat a.json >pipe"], cwd=place.folder)
    try:
        merge(place, "pipe", other, "-o", "piped.json")
        expect(content(place.path("piped.json")) == content(place.path("both.json")), "something was lost")
    finally:
        writer.kill()
        writer.wait()


def damaged_files(place):
    place.night("a.json", "--seed", "1")
    with open(place.path("a.json"), encoding="utf-8") as file:
        text = file.read()
    for damage, where in ((text[:-20], "d.json:"), (text.replace('"median_ns": ', '"median_ns": "fast", "was": ', 1),
                                                    'd.json: runs[0].rows[0].time.median_ns: expected a whole number, got "fast"')):
        with open(place.path("d.json"), "w", encoding="utf-8") as file:
            file.write(damage)
        ended = merge(place, "a.json", "d.json", "-o", "out.json", status=2)
        expect(where in ended.err and not os.path.exists(place.path("out.json")), ended.err)


TESTS = {test.__name__: test for test in (
    runs_stay_as_they_are, what_is_not_known_stays, what_stands_beside_the_runs, a_run_twice_is_kept_once, one_run_with_two_contents,
    inputs_are_not_overwritten, pipes_are_read, damaged_files)}
