"""What the runners of this folder share: a sweep on a folder that the preloaded library knows (machine.c), against the
fake worker or on PoCL."""

import json
import os
import shutil
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "run")]
import devices  # noqa: E402
import harness  # noqa: E402
from harness import Skipped, load_journal, load_results  # noqa: E402
from sweep import Sweep  # noqa: E402

SMALL = ("--quick", "-s", "TX=32", "-s", "TY=8", "-s", "POINTS=5", "-j", "1")


class Machine(Sweep):
    """A sweep whose results go to a folder of their own, which the preloaded library knows."""

    def __init__(self, options, folder, name):
        super().__init__(options, folder, name)
        self.library = os.path.abspath(options.library)
        self.disk = os.path.join(self.folder, "disk")
        os.makedirs(self.disk, exist_ok=True)
        self.file = os.path.join(self.disk, "r.json")
        self.part = self.file + ".part"
        self.met = os.path.join(self.folder, "met")
        self.plain = dict(self.env)

    def break_by(self, fault, where="parent"):
        if os.path.exists(self.met):
            os.unlink(self.met)
        self.env = dict(self.plain, LD_PRELOAD=self.library, TILESWEEP_MACHINE=fault, TILESWEEP_MACHINE_IN=where,
                        TILESWEEP_MACHINE_FOLDER=self.disk, TILESWEEP_MACHINE_MET=self.met,
                        TILESWEEP_MACHINE_USES=os.path.join(self.folder, "uses"))

    def mend(self):
        self.env = dict(self.plain)

    def uses(self):
        """How often a sweep without a fault uses each call."""
        self.break_by("fail none 0 0")
        self.run(*SMALL).expect_status(0)
        with open(os.path.join(self.folder, "uses"), encoding="ascii") as file:
            return {call: int(count) for call, count in (line.split() for line in file)}

    def empty_disk(self, old=None):
        shutil.rmtree(self.disk)
        os.makedirs(self.disk)
        self.forget()
        if old is not None:
            with open(self.file, "wb") as file:
                file.write(old)


def visits_in(path):
    """Visits that a document or a journal holds."""
    if path.endswith(".part"):
        return sum("visit" in line for line in load_journal(path))
    return sum(len(row["time"]["visits"]) for run in load_results(path)["runs"] for row in run["rows"] if row["time"])


GOOD = """__kernel void k(__global const float *src, __global float *dst, int n)
{
    const int i = (int)get_global_id(0);
    float x = i < n ? src[i] : 0.0f;
    for (int j = 0; j < 100; j++)
        x = x * 0.999f + 0.001f;
    if (i < n)
        dst[i] = x;
}
"""


def real(sweep):
    """Makes the sweep one on PoCL: its spec."""
    if devices.missing("pocl"):
        raise Skipped(devices.missing("pocl"))
    sweep.plain = devices.environment("pocl", sweep.folder)
    sweep.mend()
    spec = {
        "schema": "tilesweep.spec/1", "name": "k", "sources": ["k.cl"], "reference": {"variant": "k"},
        "sizes": [{"N": 1 << 18}], "check_sizes": [{"N": 33}], "params": {"G": [16, 64]},
        "args": [{"name": "src", "kind": "in", "type": "float", "shape": ["N"], "fill": "random"},
                 {"name": "dst", "kind": "out", "type": "float", "shape": ["N"]},
                 {"name": "n", "kind": "scalar", "type": "int", "value": "N"}],
        "variants": [{"name": "k", "kernel": "k", "params": ["G"], "baseline": True}],
        "global": ["round_up(N,G)"], "local": ["G"]}
    with open(os.path.join(sweep.folder, "k.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(spec))
    with open(os.path.join(sweep.folder, "k.cl"), "w", encoding="utf-8") as file:
        file.write(GOOD)
    return [sweep.program, "run", os.path.join(sweep.folder, "k.json"), "-o", sweep.file, "-j", "1"]
