#!/usr/bin/env python3
"""Every configuration that a built-in spec offers a GPU gets past the #error lines of its kernels.

A kernel refuses by #error what it cannot be built for, and the spec's `where` must say the same: what `where` admits
and the kernel refuses is a row `build-failed` on somebody's GPU. The device of these sweeps is the fake one, with 48
KiB of local memory of its own, so that what only a GPU is offered is looked at where there is none. The preprocessor
of the C compiler does for OpenCL C what is asked here."""

import concurrent.futures
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sweep import SLOW_S, Sweep, expect, harness  # noqa: E402

BENCH = os.path.join(harness.SRC, "bench")


def refusal(sources, options):
    """What #error says, or None."""
    defines = [word for word in options.split() if word.startswith("-D")]
    text = "".join(f'#include "{source}"\n' for source in sources)
    done = subprocess.run(["cc", "-E", "-x", "c", *defines, "-o", os.devnull, "-"], input=text, capture_output=True,
                          text=True, timeout=SLOW_S)
    lines = [line for line in done.stderr.splitlines() if "error:" in line]
    return lines[0] if done.returncode else None


def guards(options, folder, name):
    sweep = Sweep(options, folder, name)
    path = os.path.join(BENCH, name + ".json")
    with open(path, encoding="utf-8") as file:
        sources = [os.path.join(BENCH, source) for source in json.load(file)["sources"]]
    sweep.run("-q", "--visits", "1", "--samples", "1", "--precision", "50%", spec=name,
              worker=["--local-mem-size", "49152"], timeout_s=5 * SLOW_S).expect_status(0)
    tried = sorted({job["options"] for job in sweep.log() if job["do"] == "prove"})
    expect(tried, "no configuration was proven")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for options_tried, why in zip(tried, pool.map(lambda words: refusal(sources, words), tried)):
            expect(not why, f"{options_tried}: {why}")


def main():
    options = harness.arguments(__doc__)
    report = harness.Report(options.only)
    with harness.Folder(options.keep) as folder:
        for file in sorted(os.listdir(BENCH)):
            name = file.removesuffix(".json")
            report.run(name, guards, options, folder, name)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
