#!/usr/bin/env python3
"""Mutants of the built-in kernels: a barrier removed, the halo shrunk, a return before the barrier, an index off by one.
Each must be found by `run` on PoCL, by `check`, or by both, and docs/checking.md says by which.

    tests/check/mutants.py [--program FILE] [--keep FOLDER] [--bless] [NAME...]

--bless rewrites the page's table by what was seen. Prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` a test; status 1
when one failed."""

import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import devices  # noqa: E402
import harness  # noqa: E402
from harness import expect  # noqa: E402

PAGE = os.path.join(harness.SRC, "docs", "checking.md")
BARRIER = r"barrier\(CLK_LOCAL_MEM_FENCE\);"

# Of each benchmark: the variant, one configuration, and sizes that no tile divides, a few work-groups large.
BENCHMARKS = {
    "laplacian": {
        "words": ["--variant", "local", "-s", "POINTS=5", "-s", "TX=8", "-s", "TY=4", "-s", "VEC=1", "-s", "ROWS=1",
                  "-s", "PAD=0", "-s", "LOAD=0", "-s", "LAYOUT=0"],
        "sizes": [{"W": 21, "H": 11}]},
    "transpose": {
        "words": ["--variant", "local", "-s", "TILE=16", "-s", "ROWS=4", "-s", "VEC=1", "-s", "ORDER=0",
                  "-s", "PAD=0"],
        "sizes": [{"W": 37, "H": 21}]},
    "convolution": {
        "words": ["--variant", "local", "-s", "RADIUS=2", "-s", "TX=16", "-s", "TY=8", "-s", "VEC=1", "-s", "ROWS=1",
                  "-s", "WALK=0", "-s", "PAD=0", "-s", "TAPS=0", "-s", "BALLAST=0"],
        "sizes": [{"W": 37, "H": 19}]},
    "separable": {
        "words": ["--variant", "local", "-s", "RADIUS=2", "-s", "TX=16", "-s", "TY=8", "-s", "VEC=4", "-s", "ROWS=4",
                  "-s", "TILE=1", "-s", "PAD=0"],
        "sizes": [{"W": 70, "H": 41}]},
    "matmul": {
        "words": ["--variant", "tiled", "-s", "TRANS=0", "-s", "TILE=8", "-s", "ORDER=1", "-s", "PAD=0"],
        "sizes": [{"M": 19, "N": 13, "K": 21}]},
    "gray_scott": {
        "words": ["--variant", "local", "-s", "DIM=2", "-s", "RADIUS=1", "-s", "BOX=0", "-s", "LX=32", "-s", "LY=4",
                  "-s", "LZ=1", "-s", "VEC=1", "-s", "PAD=0"],
        "sizes": [{"W": 37, "H": 9, "D": 1}]},
}

# benchmark, mutation, what is replaced (a regular expression for the kernel's text), by what
MUTANTS = [
    ("laplacian", "barrier removed", BARRIER, ""),
    ("laplacian", "halo shrunk", r"#define TILE_H \(TY \* ROWS \+ 2\)", "#define TILE_H (TY * ROWS + 1)"),
    ("laplacian", "return before the barrier", BARRIER, r"if (t.left + (int)get_local_id(0) + 1 >= t.w) return; \g<0>"),
    ("laplacian", "index off by one", r"here = tile_line\(tile, x, y\);", "here = tile_line(tile, x + 1, y);"),
    ("transpose", "barrier removed", BARRIER, ""),
    ("transpose", "return before the barrier", BARRIER, r"if (left + lx >= w) return; \g<0>"),
    ("transpose", "index off by one", r"at \+ i < length\)(\s+each)", r"at + i <= length)\1"),
    ("convolution", "barrier removed", BARRIER, ""),
    ("convolution", "halo shrunk", r"#define TILE_H \(TY \* ROWS \+ 2 \* RADIUS\)",
     "#define TILE_H (TY * ROWS + 2 * RADIUS - 1)"),
    ("convolution", "return before the barrier", BARRIER, r"if (left + REACH + lx * VEC >= w) return; \g<0>"),
    ("convolution", "index off by one", r"inside \? y : clamp\(y, 0, h - 1\)", "inside ? y : clamp(y, 0, h)"),
    ("separable", "first barrier removed", BARRIER + r" /\* the tile is whole", "/* "),
    ("separable", "second barrier removed", BARRIER + r" /\* the sums are", "/* "),
    ("separable", "halo shrunk", r"#define TILE_H \(TY \* ROWS \+ 2 \* RADIUS\)",
     "#define TILE_H (TY * ROWS + 2 * RADIUS - 1)"),
    ("separable", "return before the barrier", BARRIER + r" /\* the sums are", r"if (x >= w) return; \g<0>"),
    ("separable", "index off by one", r"clamp\(top \+ y, 0, h - 1\)", "clamp(top + y, 0, h)"),
    ("matmul", "first barrier removed", BARRIER + r" /\* the tiles are whole", "/* "),
    ("matmul", "second barrier removed", BARRIER + r" /\* all have read", "/* "),
    ("matmul", "return before the barrier", r"float sum = 0\.0f;\s+for \(int start",
     r"if (top + row >= m || left + column >= n) return; \g<0>"),
    ("matmul", "index off by one", r"y < rows && x < columns", "y <= rows && x < columns"),
    ("gray_scott", "barrier removed", BARRIER, ""),
]


def prepare(folder):
    """A copy of specs and kernels, the specs with small sizes only."""
    for part in ("bench", "kernels"):
        shutil.copytree(os.path.join(harness.SRC, part), os.path.join(folder, part))
    for name, benchmark in BENCHMARKS.items():
        path = os.path.join(folder, "bench", name + ".json")
        with open(path, encoding="utf-8") as file:
            spec = json.load(file)
        spec.update(sizes=benchmark["sizes"], check_sizes=benchmark["sizes"])
        spec.pop("quick_sizes", None)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(spec, file)


class Mutants:
    def __init__(self, program, folder):
        self.program, self.folder, self.seen = program, folder, {}
        self.env = devices.environment("pocl", folder)

    def rows(self, command, name, *words):
        """The rows of the staged variant; its document is read from standard output."""
        ended = harness.run([self.program, command, os.path.join(self.folder, "bench", name + ".json"), "-q", "-o", "-",
                             "--timeout", "30s", *BENCHMARKS[name]["words"], *words], self.env, self.folder, 300)
        ended.expect_status(0, 1)
        document = harness.parse(ended.out)
        rows = document["rows"] if "rows" in document else document["runs"][0]["rows"]
        staged = [row for row in rows if row["variant"] == BENCHMARKS[name]["words"][1]]
        expect(len(staged) == 1, f"{len(staged)} rows of the mutant")
        return staged[0]

    def look(self, name):
        """(what run says, what check says); "" for nothing."""
        row = self.rows("run", name, "--visits", "1", "--samples", "1")
        by_run = "" if row["status"] == "ok" else harness.outcome(row)
        row = self.rows("check", name, "--format", "json")
        by_check = ", ".join(sorted({finding["kind"] for finding in row["findings"]}))
        if row["status"] == "not-checked":
            by_check = "not checked"
        return by_run, by_check

    def unchanged(self, name):
        expect(self.look(name) == ("", ""), f"run, check say {self.look(name)} of the kernel as it is")

    def mutant(self, name, what, old, new, page):
        path = os.path.join(self.folder, "kernels", name + ".cl")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        changed, count = re.subn(old, new, text)
        expect(count > 0, f"nothing in kernels/{name}.cl is like {old}: this mutant must be made anew")
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(changed)
            by_run, by_check = self.look(name)
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        self.seen[name, what] = by_run, by_check
        expect(by_run or by_check not in ("", "not checked"), "found by nobody")
        if page is not None:
            told = page.get((name, what))
            expect(told, f"no line in {PAGE}: --bless")
            # What a driver makes of a kernel without meaning is its own affair: whether it is seen is not.
            expect((bool(by_run), by_check) == (told[0] != "", told[1]), f"run: {by_run or 'nothing'}, check: "
                   f"{by_check or 'nothing'}; {os.path.basename(PAGE)} says {told}")


def read_page():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    lines = re.findall(r"^\| (\w+) \| ([^|]+?) \| ([^|]*?) \| ([^|]*?) \|$", text, re.M)
    nothing = {"nothing": ""}
    return text, {(name, what): (nothing.get(run.strip("`"), run.strip("`")), nothing.get(check, check))
                  for name, what, run, check in lines if name in BENCHMARKS}


def write_page(text, seen):
    lines = [f"| {name} | {what} | {'`' + run + '`' if run else 'nothing'} | {check or 'nothing'} |\n"
             for (name, what), (run, check) in seen.items()]
    new = re.sub(r"(\| benchmark \|.*\n\| ---.*\n)(\|.*\n)*", lambda m: m.group(1) + "".join(lines), text)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(new)


def main():
    options = harness.arguments(__doc__, (("--bless",), {"action": "store_true"}))
    report = harness.Report(options.only)
    missing = "oclgrind" if not shutil.which("oclgrind") else "PoCL" if devices.missing("pocl") else None
    if missing:
        report.tell("skip", "mutants", f"no {missing}")
        return 0
    text, page = read_page()
    with harness.Folder(options.keep) as folder:
        prepare(folder)
        mutants = Mutants(options.program, folder)
        for name in BENCHMARKS:
            report.run(f"mutant_{name}_none", mutants.unchanged, name)
        for name, what, old, new in MUTANTS:
            report.run(f"mutant_{name}_{what.replace(' ', '_')}", mutants.mutant, name, what, old, new,
                       None if options.bless else page)
        if options.bless:
            write_page(text, mutants.seen)
        elif not options.only:
            report.run("mutants_page", lambda: expect(set(page) == set(mutants.seen), "the page has other lines"))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
