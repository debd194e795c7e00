#!/usr/bin/env python3
"""Drives `tilesweep report` on recorded results (tests/data/results) and looks at what it drew.

    tests/report/test_report.py --program FILE [NAME...]

Prints `ok report/NAME` or `not ok report/NAME: why` a test; status 1 when one failed. Needs gnuplot; no device
and no OpenCL platform is visible."""

import argparse
import html.parser
import json
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import xml.etree.ElementTree
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.dirname(os.path.dirname(HERE))
RESULTS = os.path.join(SRC, "tests", "data", "results")
HOSTILE = '"`touch PWNED`$(touch PWNED)\'<script>alert(1)</script>&amp;@_^{x}\\n%d%s'

program = None  # set by main


def results(name):
    return os.path.join(RESULTS, name + ".json")


def environment(**changes):
    values = dict(os.environ, LC_ALL="C", OCL_ICD_VENDORS="/nonexistent", TILESWEEP_DATA=SRC)
    values.update(changes)
    return values


def report(files, out, status=0, cwd=None, **changes):
    """Runs it; the text of standard error."""
    done = subprocess.run([program, "report", *files, "-o", out], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment(**changes), cwd=cwd)
    said = done.stderr.decode("utf-8", "replace")
    assert done.returncode == status, f"status {done.returncode}, not {status}: {said}"
    return said


def names_in(out, ending):
    folder = os.path.join(out, "figures")
    return sorted(name[:-len(ending)] for name in os.listdir(folder) if name.endswith(ending))


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def png(path):
    """Width, bytes a pixel and the packed rows of a PNG. Fails on a damaged one."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path}: no PNG"
    at, packed, ended, width, kind_of_pixel = 8, b"", False, 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        stored = struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
        assert zlib.crc32(kind + body) == stored, f"{path}: damaged"
        if kind == b"IHDR":
            width, kind_of_pixel = struct.unpack(">I", body[:4])[0], body[9]
        packed += body if kind == b"IDAT" else b""
        ended = ended or kind == b"IEND"
        at += 12 + length
    assert ended, f"{path}: cut"
    return width, {2: 3, 6: 4}.get(kind_of_pixel), zlib.decompress(packed)


def variety(path):
    """How many distinct byte values the rows of a PNG have: few in an empty picture."""
    return len(set(png(path)[2]))


def edge_colours(path):
    """The colours in the first and the last column of a PNG: one where nothing runs out of the picture."""
    width, size, packed = png(path)
    assert size, f"{path}: not of 8-bit colours"
    stride, before, colours = width * size, bytes(width * size), set()
    for start in range(0, len(packed), stride + 1):
        how, row = packed[start], bytearray(packed[start + 1:start + 1 + stride])
        for i in range(stride if how else 0):
            left, up = row[i - size] if i >= size else 0, before[i]
            corner = before[i - size] if i >= size else 0
            nearest = min((abs(up - corner), 0, left), (abs(left - corner), 1, up),
                          (abs(left + up - 2 * corner), 2, corner))[2] if how == 4 else 0
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[how]) & 255
        colours |= {bytes(row[:size]), bytes(row[-size:])}
        before = row
    return colours


def svg_texts(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert not list(root.iter(space + "script")), f"{path}: holds a script"
    return ["".join(element.itertext()) for element in root.iter(space + "text")]


class Page(html.parser.HTMLParser):
    """Collects what the page refers to and its tags; complains of tags that do not match."""

    void = {"meta", "br", "img", "link"}

    def __init__(self, path):
        super().__init__()
        self.tags, self.links, self.alts, self.open, self.text = [], [], [], [], ""
        self.feed(read(path))
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        if tag not in self.void:
            self.open.append(tag)
        self.links += [attributes[key] for key in ("src", "href") if key in attributes]
        if tag == "img":
            self.alts.append(attributes.get("alt", ""))
        assert not [key for key in attributes if key.startswith("on")], attributes

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}"
        self.open.pop()

    def handle_data(self, data):
        self.text += data


def check(out, kinds):
    """Everything that holds for every report: kinds is {name: pictures}. Returns the page."""
    page = Page(os.path.join(out, "index.html"))
    assert "script" not in page.tags and "iframe" not in page.tags
    for link in page.links:
        assert link.startswith("#") or os.path.getsize(os.path.join(out, link)) > 0, link
        assert "://" not in link, link
    pngs, svgs = names_in(out, ".png"), names_in(out, ".svg")
    assert pngs == svgs, (pngs, svgs)
    counts = {}
    for name in svgs:
        kind = name.split("-")[1]
        counts[kind] = counts.get(kind, 0) + 1
        assert variety(os.path.join(out, "figures", name + ".png")) > 40, f"{name}.png is empty"
        assert svg_texts(os.path.join(out, "figures", name + ".svg")), f"{name}.svg has no text"
        assert f"figures/{name}.svg" in page.links, f"{name} is not on the page"
    assert counts == kinds, f"pictures {counts}, not {kinds}"
    assert len(page.alts) == len(svgs) and all(len(alt) > 20 for alt in page.alts)
    for folder, _, files in os.walk(out):
        for name in files:
            path = os.path.join(folder, name)
            assert os.path.getsize(path) > 0, f"{path} has no bytes"
            assert ".new." not in name and ".tmp" not in name, path
    return page


def picture(out, part):
    found = [name for name in names_in(out, ".svg") if part in name]
    assert len(found) == 1, (part, found)
    return found[0]


def data_of(out, name):
    lines = read(out, "figures", "data", name + ".tsv").splitlines()
    return [line.split("\t") for line in lines]


# ---- tests: each gets a fresh folder ----


def complete(tmp):
    out = os.path.join(tmp, "made", "here")
    report([results("complete")], out)
    page = check(out, {"bars": 2, "speedup": 2, "heatmap": 12, "padding": 6})
    for word in ("Example GPU", "dedicated", "48 KiB", "1.27 times faster", "-DPOINTS=9 -DTX=64 -DTY=8 -DPAD=1 -DVARIANT_local"):
        assert word in page.text, f"{word} is not on the page"
    name = picture(out, "heatmap-laplacian-local-POINTS-5")
    texts = svg_texts(os.path.join(out, "figures", name + ".svg"))
    for word in ("TX", "TY", "8", "16", "32", "64", "time per launch [µs]", "mismatch", "kernel-work-", "group-size",
                 "fastest", "skipped", "failed", "excluded (no such configuration)", "Example GPU"):
        assert word in texts, f"{word} is not in the heat map: {texts}"
    cells = data_of(out, name)
    assert len(cells) == 16 and [cell[7] for cell in cells].count("1") == 1
    kinds = [cell[5] for cell in cells]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == \
        {"ok": 12, "skipped": 1, "failed": 2, "excluded": 1}, kinds
    best = min((float(cell[4]) for cell in cells if cell[4] != "-"))
    assert [float(cell[4]) for cell in cells if cell[7] == "1"] == [best]
    speedup = data_of(out, picture(out, "speedup-convolution-RADIUS"))
    assert [point[2] for point in speedup] == ["1", "2", "3", "4"]
    assert all(float(point[5]) < float(point[4]) < float(point[6]) for point in speedup)
    padding = data_of(out, picture(out, "padding-convolution-local-RADIUS-1"))
    assert sorted({point[3] for point in padding}) == ["PAD=1", "PAD=2"] and len(padding) == 4
    report([results("complete")], out)  # again, over what is there
    check(out, {"bars": 2, "speedup": 2, "heatmap": 12, "padding": 6})


def single(tmp):
    report([results("single")], tmp)
    page = check(tmp, {"bars": 1})
    assert re.search(r"No picture: one tile only: TX=\d+ TY=\d+, [\d.]+ µs\.", page.text), page.text
    assert "unknown" in page.text or "not known" in page.text


def one_by_n(tmp):
    report([results("one-by-n")], tmp)
    check(tmp, {"bars": 1, "heatmap": 2})
    cells = data_of(tmp, picture(tmp, "heatmap-transpose-local"))
    assert [cell[2] for cell in cells] == ["4", "8", "16", "32"]


def all_skipped(tmp):
    report([results("all-skipped")], tmp)
    page = check(tmp, {})
    assert "no configuration is ok: 2 skipped (local-memory)" in page.text
    assert "unknown: no configuration is ok" in page.text


def names(tmp):
    out = os.path.join(tmp, "out")
    report([results("names")], out, cwd=tmp)
    page = check(out, {"bars": 1, "speedup": 1, "heatmap": 4, "padding": 4})
    assert HOSTILE in page.text, "the text is not shown as it is"
    assert sorted(os.listdir(tmp)) == ["out"], "something was executed"
    assert "PWNED" not in [name for _, _, files in os.walk(out) for name in files]
    assert not os.path.exists("PWNED")
    texts = svg_texts(os.path.join(out, "figures", picture(out, "bars") + ".svg"))
    assert any("`touch PWNED`$(touch PWNED)'<script>" in text for text in texts), texts


def hostile_benchmark(tmp):
    """Names that no spec allows may be refused, or must be as harmless as any other text."""
    with open(results("names"), encoding="utf-8") as file:
        document = json.load(file)
    for row in document["runs"][0]["rows"]:
        row["benchmark"] = HOSTILE
        row["variant"] = row["variant"] + HOSTILE
    path = os.path.join(tmp, "hostile.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    out = os.path.join(tmp, "out")
    done = subprocess.run([program, "report", path, "-o", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp,
                          env=environment())
    assert done.returncode in (0, 2), done
    if done.returncode == 0:
        check(out, {"bars": 1, "speedup": 1, "heatmap": 4, "padding": 4})
    assert not os.path.exists(os.path.join(tmp, "PWNED"))


def changed(tmp, name, change):
    """A copy of recorded results, its first run changed; the file's path."""
    with open(results(name), encoding="utf-8") as file:
        document = json.load(file)
    change(document["runs"][0])
    path = os.path.join(tmp, "changed.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path


def rows_of(run, variant, **problem):
    return [row for row in run["rows"] if row["variant"] == variant and row["problem"] == problem and
            row["status"] == "ok"]


def confirmed(tmp):
    """The confirmation's visits, here twice as long, count in bars and verdicts and not in maps."""
    fastest = {}

    def confirm(run):
        for variant in ("naive", "local"):
            rows = rows_of(run, variant, POINTS=9)
            best = min(rows, key=lambda row: row["time"]["median_ns"])
            fastest[variant] = best["time"]["median_ns"]
            time = best["time"]
            time["visits"] += [[2 * sample for sample in visit] for visit in time["visits"]]
            time["workers"] += time["workers"]

    out = os.path.join(tmp, "out")
    report([changed(tmp, "complete", confirm)], out)
    check(out, {"bars": 2, "speedup": 2, "heatmap": 12, "padding": 6})
    bars = [bar for bar in data_of(out, picture(out, "bars-laplacian")) if "POINTS=9" in bar[2]]
    for bar, variant in zip(bars, ("naive", "local")):
        assert abs(float(bar[3]) * 1e3 - 2 * fastest[variant]) < 2, (bar, fastest)
        assert float(bar[4]) <= float(bar[3]) <= float(bar[5])
        cells = data_of(out, picture(out, f"heatmap-laplacian-{variant}-POINTS-9"))
        framed = [cell for cell in cells if cell[7] == "1"]
        assert len(framed) == 1 and framed[0][8].split(":")[0] == bar[7], (framed, bar)
        assert abs(float(framed[0][4]) * 1e3 - fastest[variant]) < 2, (framed, fastest)
    page = read(out, "index.html")
    for variant in fastest:
        assert f"<b>{2 * fastest[variant] / 1e3:.3g} µs" in page, variant
    assert "fastest in the sweep" in " ".join(
        svg_texts(os.path.join(out, "figures", picture(out, "heatmap-laplacian-local-POINTS-9") + ".svg")))


def requested(tmp):
    """How often the best of each side asks for the bytes that must move, by what the rows say: nothing else stores it."""

    def state(run):
        for row in run["rows"]:
            side = 9 if row["staged"] else 22
            row["work"]["requested_bytes"] = row["work"]["bytes"] * side // 8
            if row["benchmark"] == "convolution":
                row["work"]["requested_bytes"] = None
            if row["problem"] == {"POINTS": 9} and row["variant"] == "local":
                row["status"], row["reason"], row["time"] = "wrong", {"code": "mismatch", "text": "by hand"}, None

    out = os.path.join(tmp, "out")
    report([changed(tmp, "complete", state)], out)
    page = read(out, "index.html")
    cells = re.findall(r"<th>(\w+)<br>([^<,]*).*?<td>plain ([\d.-]+)<br>staged ([\d.-]+)</td>", page)
    assert cells == [("laplacian", "POINTS=5", "2.75", "1.12"), ("laplacian", "POINTS=9", "2.75", "-")] + \
        [("convolution", f"RADIUS={radius}", "-", "-") for radius in (1, 2, 3, 4)], cells
    heads = page.index("<th>Case</th>"), page.index("<th>In words</th>")
    assert page[heads[0]:heads[1]].count("<th>") == 7 and "Requested over<br>compulsory bytes" in page[heads[0]:heads[1]]
    assert "caches may serve it" in page[:heads[0]]


def lone_points(tmp):
    """A series of one point is not drawn, and an axis without a series has no figure."""

    def part(run):
        for row in run["rows"]:
            if row["benchmark"] == "convolution" and row["problem"]["RADIUS"] == 4:
                row["size"] = {key: 2 * value for key, value in row["size"].items()}
            if row["benchmark"] == "laplacian" and row["problem"]["POINTS"] == 5:
                row["size"] = {key: 2 * value for key, value in row["size"].items()}

    out = os.path.join(tmp, "out")
    report([changed(tmp, "complete", part)], out)
    check(out, {"bars": 2, "speedup": 1, "heatmap": 12, "padding": 6})
    points = data_of(out, picture(out, "speedup-convolution-RADIUS"))
    assert [point[2] for point in points] == ["1", "2", "3"]
    assert all(point[7:9] == ["0", "1"] for point in points), points


def padding_labels(tmp):
    """Rows of a padding picture are named by what tells them apart; what all share is in the title."""

    def widen(run):
        for row in rows_of(run, "local", RADIUS=1):
            row["params"].update({f"SHARED_BY_ALL_{n}": n for n in range(8)})
            row["params"].update({name: 100 * row["params"]["TILE"] for name in ("WWW", "MMM", "GGG", "OOO")})

    out = os.path.join(tmp, "out")
    report([changed(tmp, "complete", widen)], out)
    name = picture(out, "padding-convolution-local-RADIUS-1")
    points = data_of(out, name)
    rows = {point[0]: point[2] for point in points}
    assert sorted(rows.values()) == \
        [f"TILE={tile} " + " ".join(f"{name}={100 * tile}" for name in ("WWW", "MMM", "GGG", "OOO")) for tile in (16, 8)]
    assert len(edge_colours(os.path.join(out, "figures", name + ".png"))) == 1, "a name runs out of its picture"
    title = " ".join(svg_texts(os.path.join(out, "figures", name + ".svg")))
    for word in ("all with SHARED_BY_ALL_0=0", "SHARED_BY_ALL_1=1", "SHARED_BY_ALL_7=7"):
        assert word in title, f"{word} is not in {title}"


def padding_intervals(tmp):
    """Few noisy visits: intervals that the edge cuts say so; one visit has no interval; equal visits have a known one."""

    def disturb(run):
        rows = {tuple(row["params"].values()): row["time"] for row in rows_of(run, "local", RADIUS=1)}
        middle = rows[16, 0]["median_ns"]
        for time in rows.values():
            time["visits"] = [[middle]] * 5
        rows[8, 1]["visits"] = [[middle // 5], [middle], [5 * middle], [middle], [middle]]
        rows[8, 2]["visits"] = [[middle]]
        for time in rows.values():
            time["workers"] = time["workers"][:len(time["visits"])]
            time["fresh_from"] = len(time["visits"])

    out = os.path.join(tmp, "out")
    report([changed(tmp, "complete", disturb)], out)
    name = picture(out, "padding-convolution-local-RADIUS-1")
    ends = sorted(point[5:7] for point in data_of(out, name))
    assert ends[0] == ["-", "-"] and ["1", "1"] in ends, ends
    texts = svg_texts(os.path.join(out, "figures", name + ".svg"))
    for word in ("(an arrow: the interval goes on beyond the edge)", "interval not known", "95 % interval"):
        assert word in texts, f"{word} is not in {texts}"
    with_all = svg_texts(os.path.join(out, "figures", picture(out, "padding-convolution-local-RADIUS-2") + ".svg"))
    assert "interval not known" not in with_all and not any("arrow" in text for text in with_all), with_all


def one_visit(tmp):
    """What a single visit says has no interval and is drawn hollow: its bar, and the point of its speed-up."""

    def cut(run):
        for row in rows_of(run, "local", RADIUS=1) + rows_of(run, "naive", RADIUS=1):
            time = row["time"]
            time.update(visits=time["visits"][:1], workers=time["workers"][:1], fresh_from=1)

    out = os.path.join(tmp, "out")
    report([changed(tmp, "complete", cut)], out)
    # 8 bars and the key's two are filled but for the hollow ones; gnuplot's own name of a hollow circle.
    for part, low, hollow, mark, marks in (("bars-convolution", 4, 2, "<polygon fill = 'rgb(", 10 - 2),
                                           ("speedup-convolution-RADIUS", 5, 1, "'#gpPt5' transform", 1 + 1)):
        name = picture(out, part)
        ends = [fields[low:low + 2] for fields in data_of(out, name)]
        assert ends.count(["-", "-"]) == hollow, ends
        svg = os.path.join(out, "figures", name + ".svg")
        assert "interval not known" in svg_texts(svg) and read(svg).count(mark) == marks, (name, read(svg).count(mark))
    assert "interval not known" not in svg_texts(os.path.join(out, "figures", picture(out, "bars-laplacian") + ".svg"))
    whole = os.path.join(tmp, "whole")
    report([results("complete")], whole)
    name = picture(whole, "speedup-convolution-RADIUS")
    assert "interval not known" not in svg_texts(os.path.join(whole, "figures", name + ".svg"))


def per_element(tmp):
    """A staged side that does twice the work a launch is compared per element, and the axis says so."""

    def fuse(run):
        for row in run["rows"]:
            if row["benchmark"] == "convolution" and row["work"]["elements"]:
                row["work"]["elements"] *= 2 if row["staged"] else 1

    out = os.path.join(tmp, "out")
    report([changed(tmp, "complete", fuse)], out)
    for axis, words in (("convolution-RADIUS", "time per element"), ("laplacian-POINTS", "time")):
        texts = svg_texts(os.path.join(out, "figures", picture(out, f"speedup-{axis}") + ".svg"))
        assert f"(best plain / best staged {words})" in texts, texts


def drift(tmp):
    """Noise of a fraction of a percent is drawn as it is; the caption says what a cross is."""

    def look(run):
        run["sentinel"] = [{"at_ms": 1000 * i, "copy_ns": 1000000 + 1234 * (i % 3) + 400000 * (i == 9),
                            "fma_ns": 2000000 + 777 * (i % 2), "worker": 0, "excursion": i == 9} for i in range(12)]

    out = os.path.join(tmp, "out")
    report([changed(tmp, "single", look)], out)
    page = check(out, {"bars": 1, "drift": 1})
    assert "1 of 12 looks are excursions (crossed): more than 5 %" in page.text, page.text
    assert len(edge_colours(os.path.join(out, "figures", picture(out, "drift") + ".png"))) == 1, "the label is cut"
    points = data_of(out, picture(out, "drift"))
    assert len(points) == 12 and len({point[1] for point in points}) == 4, points
    assert [point[3] for point in points] == ["0"] * 9 + ["1", "0", "0"], points


def crowded(tmp):
    """Long names of cases, times of very different size, one side alone: all stays readable."""

    def crowd(run):
        for row in run["rows"]:
            if row["benchmark"] == "convolution":
                at = row["problem"]["RADIUS"] - 1
                row["problem"] = {"DIM": 2 + at // 2, "RADIUS": 1 + at % 2, "BOX": 0}
                row["size"] = {"W": 256, "H": 256, "D": 256} if at // 2 else {"W": 4096, "H": 4096, "D": 1}
                if row["time"] and at // 2 == 1:
                    row["time"]["visits"] = [[50 * sample for sample in visit] for visit in row["time"]["visits"]]
        run["rows"] = [row for row in run["rows"] if row["benchmark"] == "convolution" or row["staged"]]

    out = os.path.join(tmp, "out")
    report([changed(tmp, "complete", crowd)], out)
    for part in ("speedup-convolution-RADIUS", "bars-convolution"):
        colours = edge_colours(os.path.join(out, "figures", picture(out, part) + ".png"))
        assert len(colours) == 1, f"{part} runs out of its picture"
    texts = svg_texts(os.path.join(out, "figures", picture(out, "bars-convolution") + ".svg"))
    for word in ("(logarithmic)", "DIM=2 RADIUS=1", "W=4096 H=4096", "0.01", "10"):
        assert word in texts, f"{word} is not in {texts}"
    texts = svg_texts(os.path.join(out, "figures", picture(out, "bars-laplacian") + ".svg"))
    assert "laplacian: best staged configuration of each case" in texts and "best plain" not in texts, texts
    assert "(logarithmic)" not in texts, texts


def failures(tmp):
    long_log = "".join(f"line {n} <b>\n" for n in range(1, 61))

    def fail(run):
        for at, row in enumerate([row for row in run["rows"] if row["status"] == "ok"][:70]):
            row.update(status="build-failed", time=None, check=None,
                       reason={"code": "CL_BUILD_PROGRAM_FAILURE", "text": f"it does not build & {at}"})
            row["build"]["log"] = long_log if at % 2 else "error: no such <thing>"

    out = os.path.join(tmp, "out")
    report([changed(tmp, "complete", fail)], out)
    page = Page(os.path.join(out, "index.html"))
    found = re.search(r"and (\d+) more\n", page.text)
    assert found and int(found.group(1)) >= 20, "the number of rows left out is not told"
    assert page.text.count("it does not build &") <= 50 and "it does not build & 3" in page.text
    assert page.tags.count("pre") == 2 and page.text.count("error: no such <thing>") == 1
    assert "line 40 <b>" in page.text and "line 41 <b>" not in page.text
    assert "and 20 more lines" in page.text and "and 34 more configurations" in page.text


def shared_memory(tmp):
    """That local memory is global memory is said once."""

    def share(run):
        run["device"]["limits"]["LOCAL_MEM_TYPE"] = "global"

    out = os.path.join(tmp, "out")
    report([changed(tmp, "complete", share)], out)
    assert Page(os.path.join(out, "index.html")).text.count("CL_DEVICE_LOCAL_MEM_TYPE") == 1


def several_runs(tmp):
    report([results("complete"), results("one-by-n"), results("all-skipped")], tmp)
    page = check(tmp, {"bars": 3, "speedup": 2, "heatmap": 14, "padding": 6})
    assert page.tags.count("section") == 3
    assert [link for link in page.links if link.startswith("#")] == ["#run1", "#run2", "#run3"]
    assert re.search(r'<a href="#run1">Example GPU: laplacian W=\d+ H=\d+; convolution .*\(20', read(tmp, "index.html"))


def by_hand(tmp):
    """The command that the page tells draws the picture again, from another folder too."""
    report([results("complete")], tmp)
    for script, part in (("heatmap", "heatmap-laplacian-local-POINTS-9"), ("bars", "bars-laplacian"),
                         ("speedup", "speedup-laplacian"), ("padding", "padding-laplacian-local-POINTS-9")):
        stem = os.path.join("figures", "data", picture(tmp, part))
        made = os.path.join(tmp, f"by-hand-{script}.png")
        subprocess.run(["gnuplot", "-d", "-c", os.path.join(SRC, "scripts", "plot", script + ".gnuplot"),
                        stem + ".tsv", stem + ".labels.tsv", made], cwd=tmp, check=True, stderr=subprocess.PIPE)
        assert variety(made) > 40


def locale(tmp):
    report([results("complete")], tmp, LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8")
    check(tmp, {"bars": 2, "speedup": 2, "heatmap": 12, "padding": 6})
    for cell in data_of(tmp, picture(tmp, "bars-laplacian")):
        assert re.fullmatch(r"\d+(\.\d+)?", cell[3]), cell


def bench(tmp):
    """scripts/bench keeps the reports of its runs apart, and nothing of an earlier one beside a new one."""
    made, bin_ = os.path.join(tmp, "build"), os.path.join(tmp, "bin")
    for folder in (made, bin_, os.path.join(tmp, "scripts")):
        os.mkdir(folder)
    shutil.copy(os.path.join(SRC, "scripts", "bench"), os.path.join(tmp, "scripts"))
    pretend = 'if [ "$1" = run ]; then while [ "$1" != -o ]; do shift; done; cp "$RESULTS" "$2"; exit; fi\n'
    for path, text in ((os.path.join(tmp, "scripts", "setup"), ""), (os.path.join(bin_, "ninja"), ""),
                       (os.path.join(made, "build.ninja"), ""),
                       (os.path.join(made, "tilesweep"), f'{pretend}exec "{program}" "$@"')):
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text + "\n")
        os.chmod(path, 0o755)

    def run(recorded, *options):
        done = subprocess.run([os.path.join(tmp, "scripts", "bench"), *options], cwd=tmp, check=True,
                              stdout=subprocess.PIPE, env=environment(PATH=bin_ + ":" + os.environ["PATH"],
                                                                      RESULTS=results(recorded)))
        page = done.stdout.decode().split("report:")[1].strip()
        return os.path.relpath(os.path.dirname(page), os.path.join(tmp, "results", "local"))

    local = os.path.join(tmp, "results", "local")
    assert re.fullmatch(r"report-quick-\d{8}T\d{6}Z", run("one-by-n"))
    assert run("one-by-n", "-o", "a.json") == "report-a"
    check(os.path.join(local, "report-a"), {"bars": 1, "heatmap": 2})
    assert run("single", "-o", "a.json") == "report-a"
    check(os.path.join(local, "report-a"), {"bars": 1})
    assert len([name for name in os.listdir(local) if name.startswith("report-")]) == 2


def used_folder(tmp):
    """A second report leaves no picture of the first that its page does not show, and removes nothing that is not ours."""
    out, victim = os.path.join(tmp, "out"), os.path.join(tmp, "victim.png")
    report([results("complete")], out)
    first = {name for folder, _, names in os.walk(out) for name in names}
    for path in (victim, os.path.join(out, "figures", "mine.png"), os.path.join(out, "mine.html")):
        with open(path, "w", encoding="utf-8") as file:
            file.write("mine")
    changed_name = os.path.join(out, "figures", "data", names_in(out, ".svg")[0] + ".tsv")
    with open(changed_name, "a", encoding="utf-8") as file:
        file.write("# a note\n")
    os.symlink(victim, os.path.join(out, "figures", "link.png"))
    with open(os.path.join(out, "figures", "written.tsv"), "a+", encoding="utf-8") as file:
        file.seek(0)
        digest = next(line.split("\t")[0] for line in file if "\t" in line)
        # What no report wrote: a way out of the folder, another content, a link.
        file.write(f"{digest}\t../../victim.png\n{digest}\tmine.png\n{digest}\tlink.png\n{digest}\twritten.tsv\nrubbish\n\t\n")
    said = report([results("single")], out)
    assert "of an earlier report" in said, said
    there = {os.path.relpath(os.path.join(folder, name), out) for folder, _, names in os.walk(out) for name in names}
    page = read(out, "index.html")
    for name in there - {"index.html", "mine.html", "figures/mine.png", "figures/link.png", "figures/written.tsv",
                         os.path.relpath(changed_name, out)}:
        assert name in page, f"{name} is left, and the page does not show it"
    for path in (victim, os.path.join(out, "figures", "mine.png"), os.path.join(out, "mine.html"), changed_name):
        assert os.path.exists(path), f"{path} was removed"
    assert os.path.islink(os.path.join(out, "figures", "link.png"))
    assert not report([results("single")], out), "something was told the second time"
    assert len(first) > len(there), (first, there)


def strays(out):
    """Files in the folder that its page does not show."""
    page = read(out, "index.html")
    there = {os.path.relpath(os.path.join(folder, name), out) for folder, _, names in os.walk(out) for name in names}
    return {name for name in there if name not in page} - {"index.html", "figures/written.tsv"}


def ended_half_way(tmp):
    """Wherever a report ended, the next knows what it wrote, and takes nothing else away."""
    out, again = os.path.join(tmp, "out"), os.path.join(tmp, "again")
    report([results("complete")], again)
    names_of_complete = names_in(again, ".png")
    # All pictures are there, the page cannot be written.
    os.makedirs(os.path.join(out, "index.html"))
    report([results("complete")], out, status=4)
    assert names_in(out, ".png") == names_of_complete
    os.rmdir(os.path.join(out, "index.html"))
    said = report([results("single")], out)
    assert "of an earlier report" in said and not strays(out), (said, strays(out))
    # In the middle of the data, and of the pictures.
    for place in (f"data/{names_of_complete[9]}.labels.tsv", f"{names_of_complete[9]}.svg"):
        blocked = os.path.join(out, "figures", place)
        os.mkdir(blocked)
        said = report([results("complete")], out, status=4)
        assert blocked in said, said
        os.rmdir(blocked)
        said = report([results("single")], out)
        assert "of an earlier report" in said and not strays(out), (said, strays(out))
    # Killed while it draws over a whole one: in the first figure, in a later one, two times in a row.
    real = shutil.which("gnuplot")
    for number, (file, at) in enumerate((("complete", 1), ("complete", 9), ("one-by-n", 2))):
        at_work = os.path.join(tmp, f"kill{number}")
        os.makedirs(at_work)
        path = fake_gnuplot(at_work, f'echo >> "{at_work}/count"; [ $(wc -l < "{at_work}/count") -lt {at} ] || kill -9 $PPID\n'
                            f'exec "{real}" -d -c "$script" "$data" "$labels" "$@"')
        done = subprocess.run([program, "report", results(file), "-o", out], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=environment(PATH=path, TMPDIR=at_work))
        assert done.returncode == -9, done
    # A name that the killed one would have given: another file of it is not a report's.
    mine = os.path.join(out, "figures", names_of_complete[-1] + ".png")
    assert not os.path.exists(mine)
    with open(mine, "w", encoding="utf-8") as file:
        file.write("mine")
    report([results("single")], out)
    assert strays(out) == {os.path.relpath(mine, out)}, strays(out)
    assert not report([results("single")], out), "something was told the second time"


def drawn_elsewhere(tmp):
    """No drawing is left in the folder for temporary files, whatever its name; a link of a picture's name is replaced."""
    drawings, out, victim = os.path.join(tmp, "dra w`touch PWNED`'\"ings"), os.path.join(tmp, "out"), os.path.join(tmp, "v")
    os.mkdir(drawings)
    report([results("one-by-n")], out, cwd=tmp, TMPDIR=drawings)
    check(out, {"bars": 1, "heatmap": 2})
    path = os.path.join(out, "figures", names_in(out, ".png")[0] + ".png")
    with open(victim, "w", encoding="utf-8") as file:
        file.write("mine")
    os.unlink(path)
    os.symlink(victim, path)
    report([results("one-by-n")], out, cwd=tmp, TMPDIR=os.path.relpath(drawings, tmp))
    check(out, {"bars": 1, "heatmap": 2})
    assert read(victim) == "mine" and not os.path.islink(path)
    os.mkdir(os.path.join(tmp, "broken"))
    report([results("complete")], out, status=4, cwd=tmp, TMPDIR=drawings,
           PATH=fake_gnuplot(os.path.join(tmp, "broken"), 'for f; do : > "$f"; done; exit 1'))
    assert not os.listdir(drawings) and "PWNED" not in os.listdir(tmp), os.listdir(drawings)
    report([results("single")], out, TMPDIR=os.path.join(tmp, "none"))


def foreign_list(tmp):
    """Behind a link lies what is not ours, and a list of that name that no report wrote stays as it is."""
    for kind in ("text", "link", "pipe"):
        out, notes = os.path.join(tmp, kind), os.path.join(tmp, kind + ".txt")
        path = os.path.join(out, "figures", "written.tsv")
        os.makedirs(os.path.dirname(path))
        if kind == "pipe":
            os.mkfifo(path)
        else:
            with open(notes if kind == "link" else path, "w", encoding="utf-8") as file:
                file.write("mine\n")
        if kind == "link":
            os.symlink(notes, path)
        said = report([results("single")], out)
        assert "is not of a report" in said, said
        if kind != "pipe":
            with open(path, encoding="utf-8") as file:
                assert file.read() == "mine\n", "written over"
    out, elsewhere = os.path.join(tmp, "out"), os.path.join(tmp, "elsewhere")
    report([results("complete")], out)
    os.rename(os.path.join(out, "figures", "data"), elsewhere)
    os.symlink(elsewhere, os.path.join(out, "figures", "data"))
    before = set(os.listdir(elsewhere))
    report([results("single")], out)
    assert before <= set(os.listdir(elsewhere)), "removed behind a link"


def missing_gnuplot(tmp):
    empty, out = os.path.join(tmp, "bin"), os.path.join(tmp, "out")
    os.mkdir(empty)
    said = report([results("single")], out, status=4, PATH=empty)
    assert "gnuplot-nox" in said, said
    assert not os.path.exists(os.path.join(out, "index.html"))


def fake_gnuplot(tmp, drawing):
    """A folder for PATH whose gnuplot answers the question for its terminals, then runs `drawing`."""
    folder = os.path.join(tmp, "bin")
    os.mkdir(folder)
    path = os.path.join(folder, "gnuplot")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n"
                   "case $2 in -e) echo '5.4 patchlevel 4'; echo ' png pngcairo svg '; exit 0;; esac\n"
                   "script=$3 data=$4 labels=$5; shift 5\n" + drawing + "\n")
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return folder + ":" + os.environ["PATH"]


def no_pictures(out):
    assert not os.path.exists(os.path.join(out, "index.html"))
    left = [name for name in os.listdir(os.path.join(out, "figures")) if name not in ("data", "written.tsv")]
    assert not left, f"left behind: {left}"


def failing_gnuplot(tmp):
    path = fake_gnuplot(tmp, 'for f; do : > "$f"; done; echo "it broke here" >&2; exit 1')
    out = os.path.join(tmp, "out")
    said = report([results("complete")], out, status=4, PATH=path)
    assert "it broke here" in said and "exit status 1" in said, said
    no_pictures(out)


def killed_gnuplot(tmp):
    path = fake_gnuplot(tmp, 'for f; do echo part > "$f"; done; kill -SEGV $$')
    out = os.path.join(tmp, "out")
    said = report([results("single")], out, status=4, PATH=path)
    assert "139" in said, said
    no_pictures(out)


def interrupted(tmp):
    """While gnuplot draws, and while it is asked what it can: nothing of it is left, no page is written."""
    for number, (sent, status, drawing) in enumerate(((signal.SIGINT, 130, True), (signal.SIGTERM, 143, True),
                                                      (signal.SIGHUP, 129, True), (signal.SIGTERM, 143, False))):
        work = os.path.join(tmp, str(number))
        drawings, out, begun = (os.path.join(work, name) for name in ("drawings", "out", "begun"))
        os.makedirs(drawings)
        path = fake_gnuplot(work, f'for f; do echo part > "$f"; done; : > "{begun}"; exec sleep 60')
        if not drawing:
            with open(os.path.join(work, "bin", "gnuplot"), "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\n: > "{begun}"; exec sleep 60\n')
        child = subprocess.Popen([program, "report", results("complete"), "-o", out], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, env=environment(PATH=path, TMPDIR=drawings),
                                 preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # under nohup, too
        while not os.path.exists(begun) and child.poll() is None:
            time.sleep(0.01)
        begun_s = time.monotonic()
        child.send_signal(sent)
        said = child.communicate()[1].decode()
        assert child.returncode == status and "interrupted" in said, (child.returncode, said)
        assert time.monotonic() - begun_s < 30, "it waited for gnuplot"
        assert not os.listdir(drawings), os.listdir(drawings)
        if drawing:
            no_pictures(out)


def empty_pictures(tmp):
    """gnuplot exits 0 and has drawn nothing."""
    path = fake_gnuplot(tmp, 'for f; do : > "$f"; done; exit 0')
    out = os.path.join(tmp, "out")
    report([results("single")], out, status=4, PATH=path)
    no_pictures(out)


def axes_only(tmp):
    """A picture with axes and no data is refused although it has content."""
    path = fake_gnuplot(tmp, "exec " + shutil.which("gnuplot") + " -d -e \"set terminal pngcairo; set output '$1'; "
                        "set xrange [0:1]; set yrange [0:1]; plot NaN notitle; "
                        "set terminal svg; set output '$2'; replot\"")
    out = os.path.join(tmp, "out")
    report([results("single")], out, status=4, PATH=path)
    no_pictures(out)


def unwritable(tmp):
    blocked = os.path.join(tmp, "file")
    with open(blocked, "w", encoding="utf-8") as file:
        file.write("not a folder")
    said = report([results("single")], os.path.join(blocked, "out"), status=4)
    assert "file" in said, said


def damaged(tmp):
    said = report([os.path.join(tmp, "nowhere.json")], os.path.join(tmp, "out"), status=2)
    assert "nowhere.json" in said, said
    assert not os.path.exists(os.path.join(tmp, "out"))


TESTS = (complete, single, one_by_n, all_skipped, names, hostile_benchmark, confirmed, requested, lone_points, padding_labels,
         padding_intervals, one_visit, per_element, crowded, drift, failures, shared_memory, several_runs, by_hand, locale, bench,
         used_folder, ended_half_way, drawn_elsewhere, foreign_list, missing_gnuplot, failing_gnuplot, killed_gnuplot, interrupted,
         empty_pictures, axes_only, unwritable, damaged)


def main():
    global program
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    failed = 0
    for test in TESTS:
        if options.names and test.__name__ not in options.names:
            continue
        tmp = tempfile.mkdtemp(prefix="tilesweep-report-")
        try:
            test(tmp)
            print(f"ok report/{test.__name__}", flush=True)
        except Exception as fault:  # a test that breaks is a failed test
            failed += 1
            lines = [line for line in traceback.format_exc().splitlines() if f"in {test.__name__}" in line]
            print(f"not ok report/{test.__name__}: {fault} ({''.join(lines).strip()})", flush=True)
        finally:
            shutil.rmtree(tmp)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
