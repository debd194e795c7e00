#!/usr/bin/env python3
"""Mutants of the built-in kernels: a barrier removed, the halo shrunk, a return before the barrier, an index off by one.
Each must be found by `run` on PoCL, by `check`, or by both, and docs/checking.md says by which.

    tests/check/mutants.py [--program FILE] [--keep FOLDER] [--bless] [NAME...]

--bless rewrites the page's table by what was seen; with NAMEs, of those. Prints `ok NAME`, `not ok NAME: why` or `skip NAME:
why` a test; status 1 when one failed."""

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

# Of each benchmark, or one of its variants: the variant, one configuration, and sizes that no tile divides, a few work-groups
# large.
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
    "matmul blocked": {
        "words": ["--variant", "blocked", "--no-baseline", "-s", "TRANS=0", "-s", "BM=64", "-s", "BN=64", "-s", "BK=16",
                  "-s", "WM=8", "-s", "WN=8", "-s", "VEC=4", "-s", "WIDTH=4", "-s", "PIPELINE=1", "-s", "PAD=4",
                  "-s", "LANES=0"],
        "sizes": [{"M": 64, "N": 68, "K": 36}]},
    "matmul packed": {
        "words": ["--variant", "packed", "--no-baseline", "-s", "TRANS=0", "-s", "BM=64", "-s", "BN=64", "-s", "BK=128",
                  "-s", "WM=8", "-s", "WN=16,32", "-s", "VEC=16"],
        "sizes": [{"M": 19, "N": 43, "K": 133}]},
    "gray_scott": {
        "words": ["--variant", "local", "-s", "DIM=2", "-s", "RADIUS=1", "-s", "BOX=0", "-s", "LX=32", "-s", "LY=4",
                  "-s", "LZ=1", "-s", "VEC=1", "-s", "PAD=0"],
        "sizes": [{"W": 37, "H": 9, "D": 1}]},
    "gray_scott fused": {
        "words": ["--variant", "fused", "--no-baseline", "-s", "DIM=2", "-s", "RADIUS=1", "-s", "BOX=0", "-s", "LX=32",
                  "-s", "STEPS=2", "-s", "GROUPS=4"],
        "sizes": [{"W": 21, "H": 5, "D": 1}]},
    "gray_scott planes": {
        "words": ["--variant", "planes", "--no-baseline", "-s", "DIM=3", "-s", "RADIUS=1", "-s", "BOX=0", "-s", "LX=16",
                  "-s", "LY=8", "-s", "VEC=4", "-s", "ROWS=1"],
        "sizes": [{"W": 69, "H": 9, "D": 5}]},
    "laplacian3d": {
        "words": ["--variant", "local", "-s", "POINTS=7", "-s", "TX=8", "-s", "TY=4", "-s", "VEC=1", "-s", "ROWS=1",
                  "-s", "DEPTH=2", "-s", "PAD=0"],
        "sizes": [{"W": 21, "H": 7, "D": 5}]},
    "reduction": {
        "words": ["--variant", "local", "-s", "TX=64", "-s", "GROUPS=16", "-s", "VEC=1", "-s", "TREE=1"],
        "sizes": [{"N": 1003}]},
    "scan": {
        "words": ["--variant", "local", "-s", "CHUNK=16", "-s", "VEC=4", "-s", "TX=64", "-s", "ROUNDS=1", "-s", "PAD=0"],
        "sizes": [{"N": 1003}]},
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
    ("matmul blocked", "no barrier before the tiles change", BARRIER + r" /\* all have read the tiles", "/* "),
    ("matmul blocked", "no barrier before the next product", BARRIER + r" /\* the next tiles are whole", "/* "),
    ("matmul packed", "no barrier before the product", BARRIER + r"  /\* the tile is whole", "/* "),
    ("matmul packed", "no barrier before the tile changes", BARRIER + r" /\* all have read it ", "/* "),
    ("gray_scott", "barrier removed", BARRIER + r" /\* every work-item", "/* "),
    ("gray_scott", "halo shrunk", r"#define TILE_H \(CORE_H \+ 2 \* HALO_Y\)", "#define TILE_H (CORE_H + 2 * HALO_Y - 1)"),
    ("gray_scott", "return before the barrier", BARRIER + r" /\* every work-item",
     r"if ((corner.x + own.x) * VEC >= w) return; \g<0>"),
    ("gray_scott", "index off by one", r"sides_staged\(tile_b \+ at\)", "sides_staged(tile_b + at + 1)"),
    ("gray_scott fused", "barrier removed", BARRIER + r"(\s+next_line)", r"\1"),
    ("gray_scott fused", "one slot for both lines", r"told\[\(i \+ u\) % 2\]", "told[0]"),
    ("gray_scott fused", "margin shrunk", r"#define MARGIN \(STEPS \* RADIUS\)", "#define MARGIN (STEPS * RADIUS - 2)"),
    ("gray_scott fused", "return before the barrier", r"for \(int i = 0; i < STEPS \* WINDOW", r"if (x >= w) return; \g<0>"),
    ("gray_scott fused", "index off by one", r"min\(lx \+ 1, LX - 1\)", "min(lx + 1, LX)"),
    ("gray_scott planes", "barrier removed", BARRIER + r"(\s+ahead = next_index)", r"\1"),
    ("gray_scott planes", "one slot for both planes", r"tile_a\[u % 2\]", "tile_a[0]"),
    ("gray_scott planes", "halo shrunk", r"#define RING \(LIDS \+ CORE_H \* 2 \* HALO_X\)",
     "#define RING (LIDS + CORE_H * 2 * HALO_X - 1)"),
    ("gray_scott planes", "return before the barrier", r"for \(int i = 0; i < planes", r"if (x >= w) return; \g<0>"),
    ("gray_scott planes", "index off by one", r"p\[\(j\)\*TILE_ROW \+ \(i\)\]", "p[(j)*TILE_ROW + (i) + 1]"),
    ("laplacian3d", "barrier removed", BARRIER, ""),
    ("laplacian3d", "halo shrunk", r"#define TILE_H \(CORE_H \+ 2\)", "#define TILE_H (CORE_H + 1)"),
    ("laplacian3d", "return before the barrier", BARRIER, r"if (x >= w) return; \g<0>"),
    ("laplacian3d", "index off by one", r"FIRST_CELL\(p\[1\]\)", "FIRST_CELL(p[2])"),
    ("reduction", "barrier removed", BARRIER, ""),
    ("reduction", "return before the barrier", r"tile\[item\] = sum_strided",
     r"if (get_global_id(0) >= (size_t)n) return; \g<0>"),
    ("reduction", "index off by one", r"tile\[\(item\) \+ apart\]", "tile[(item) + apart + 1]"),
    ("scan", "first barrier removed", r"(apart \*= 2\) \{\s+\\\s+)" + BARRIER + r"(\s+\\)", r"\1\2"),
    ("scan", "barrier removed before the root is cleared", r"(all = tile\[AT\(TX - 1\)\];\s+\\\s+)" + BARRIER, r"\1"),
    ("scan", "return before the barrier", r"float all;\s+tile\[AT\(item\)\] = LAST", r"if (i >= n) return; \g<0>"),
    ("scan", "index off by one", r"if \(i <= n - VEC\)(\s+return)", r"if (i <= n - VEC + 1)\1"),
]


def spec_of(name):
    """The spec's name, of that or of a variant: "matmul blocked"."""
    return name.split()[0]


def kernel_file(folder, name):
    return os.path.join(folder, "kernels", spec_of(name) + ".cl")


def mutate(text, name, old, new):
    changed, count = re.subn(old, new, text)
    expect(count > 0 and changed != text, f"nothing in kernels/{spec_of(name)}.cl is like {old}: this mutant must be made anew")
    return changed


def prepare(folder):
    """A copy of specs and kernels, the specs with small sizes only."""
    for part in ("bench", "kernels"):
        shutil.copytree(os.path.join(harness.SRC, part), os.path.join(folder, part))
    for name, benchmark in BENCHMARKS.items():
        with open(os.path.join(harness.SRC, "bench", spec_of(name) + ".json"), encoding="utf-8") as file:
            spec = json.load(file)
        spec.update(sizes=benchmark["sizes"], check_sizes=benchmark["sizes"])
        spec.pop("quick_sizes", None)
        with open(os.path.join(folder, "bench", name + ".json"), "w", encoding="utf-8") as file:
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
        path = kernel_file(self.folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        changed = mutate(text, name, old, new)
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
    lines = re.findall(r"^\| ([\w ]+) \| ([^|]+?) \| ([^|]*?) \| ([^|]*?) \|$", text, re.M)
    nothing = {"nothing": ""}
    return text, {(name, what): (nothing.get(run.strip("`"), run.strip("`")), nothing.get(check, check))
                  for name, what, run, check in lines if name in BENCHMARKS}


def write_page(text, told):
    lines = [f"| {name} | {what} | {'`' + told[name, what][0] + '`' if told[name, what][0] else 'nothing'} | "
             f"{told[name, what][1] or 'nothing'} |\n" for name, what, _, _ in MUTANTS if (name, what) in told]
    new = re.sub(r"(\| benchmark \|.*\n\| ---.*\n)(\|.*\n)*", lambda m: m.group(1) + "".join(lines), text)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(new)


# ---- without a device ----

def match():
    """Every mutation still finds what it replaces, and every benchmark has one."""
    for name, what, old, new in MUTANTS:
        expect(name in BENCHMARKS, f"{name}, {what}: no entry in BENCHMARKS")
        with open(kernel_file(harness.SRC, name), encoding="utf-8") as file:
            mutate(file.read(), name, old, new)
    specs = {name[:-5] for name in os.listdir(os.path.join(harness.SRC, "bench")) if name.endswith(".json")}
    mutated = {spec_of(name) for name, _, _, _ in MUTANTS}
    expect(mutated == specs, f"without mutants: {sorted(specs - mutated)}; without a spec: {sorted(mutated - specs)}")


def page_is_whole(page):
    """Each mutant once, and a line of the page for each."""
    keys = [(name, what) for name, what, _, _ in MUTANTS]
    expect(len(set(keys)) == len(keys), "a mutant twice")
    expect(list(page) == keys, f"{os.path.basename(PAGE)} lacks {sorted(set(keys) - set(page))}, has "
                               f"{sorted(set(page) - set(keys))} beside them, or another order: --bless")


def main():
    options = harness.arguments(__doc__, (("--bless",), {"action": "store_true"}))
    report = harness.Report(options.only)
    text, page = read_page()
    report.run("mutants_match", match)
    if not options.bless:
        report.run("mutants_page", page_is_whole, page)
    missing = "oclgrind" if not shutil.which("oclgrind") else "PoCL" if devices.missing("pocl") else None
    if missing:
        report.tell("skip", "mutants", f"no {missing}")
        return report.finish()
    with harness.Folder(options.keep) as folder:
        prepare(folder)
        mutants = Mutants(options.program, folder)
        for name in BENCHMARKS:
            report.run(f"mutant_{name.replace(' ', '_')}_none", mutants.unchanged, name)
        for name, what, old, new in MUTANTS:
            report.run(f"mutant_{name}_{what}".replace(" ", "_"), mutants.mutant, name, what, old, new,
                       None if options.bless else page)
        if options.bless:
            write_page(text, {**page, **mutants.seen})
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
